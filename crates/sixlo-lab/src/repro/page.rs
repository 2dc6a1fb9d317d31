//! The report of a study as a page.

use std::fs;
use std::io;
use std::path::Path;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Study;
use super::ledger::{self, Claim};
use crate::files::replace;
use crate::report::{Figure, Provenance, STYLE, drawn, write_plots};
use crate::results;

/// Writes `report.html`, `plots/*.svg` and `claims.csv` into the folder of a study.
pub fn write(
    folder: &Path,
    study: &Study,
    claims: &[Claim],
    figures: &[Figure],
    provenance: &Provenance,
) -> io::Result<()> {
    write_plots(folder, figures)?;
    replace(&folder.join("claims.csv"), |path| {
        results::write_rows(path, &ledger::entries(claims))
    })?;
    let page = page(study, claims, figures, provenance).into_string();
    replace(&folder.join("report.html"), |path| fs::write(path, page))
}

fn page(study: &Study, claims: &[Claim], figures: &[Figure], provenance: &Provenance) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (study.title) " · sixlo" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    header {
                        p.kicker { "sixlo · reproduction of a study" }
                        h1 { (study.title) }
                        p.lead { (study.paper) }
                    }
                    (claims_table(claims))
                    section.figures {
                        @for (number, figure) in figures.iter().enumerate() { (drawn(number + 1, figure, false)) }
                    }
                    (choices(study))
                    (origin(provenance))
                }
            }
        }
    }
}

fn claims_table(claims: &[Claim]) -> Markup {
    html! {
        section {
            h2 { "Published, measured, verdict" }
            div.scroll {
                table.claims {
                    thead { tr { th { "claim" } th { "published" } th { "measured" } th { "verdict" } } }
                    tbody {
                        @for claim in claims {
                            tr.claim { th { (claim.id) } td colspan="2" { (claim.title) } td { b { (claim.verdict().name()) } } }
                            @for part in &claim.parts {
                                tr { td { (part.name) } td { (part.published) } td { (part.measured) } td { (part.verdict.name()) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn choices(study: &Study) -> Markup {
    html! {
        section.notes {
            h2 { "What the paper leaves open" }
            ul { @for choice in (study.choices)() { li { (choice) } } }
            p { "A pair counts as ordered when its 95 % intervals (Student's t over the runs) are apart over at least 10 runs; \
                 else it is undecided. Figures that follow from arithmetic have to be exact." }
        }
    }
}

fn origin(provenance: &Provenance) -> Markup {
    html! {
        section.notes {
            h2 { "Where this comes from" }
            p { "sixlo " (env!("CARGO_PKG_VERSION")) ", build " code { (provenance.build) } ". The same build gives the same bytes:" }
            pre { code { (provenance.command) } }
        }
    }
}
