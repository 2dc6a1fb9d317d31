//! The report as a page: everything in one file, no script, nothing loaded.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Provenance;
use super::advice::advice;
use super::figures::Figure;
use super::table::Table;
use crate::campaign::PointResult;
use crate::scenario::Scenario;

pub(crate) const STYLE: &str = include_str!("page.css");

/// The whole page.
pub(super) fn page(
    scenario: &Scenario,
    points: &[PointResult],
    figures: &[Figure],
    provenance: &Provenance,
) -> Markup {
    // An odd number of narrow figures leaves the last one alone in its row.
    let narrow = || figures.iter().enumerate().filter(|(_, figure)| !figure.wide);
    let lonely = narrow()
        .next_back()
        .map(|(number, _)| number)
        .filter(|_| narrow().count() % 2 == 1);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (scenario.title) " · sixlo" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    header {
                        p.kicker { "sixlo · report of a campaign" }
                        h1 { (scenario.title) }
                        @for paragraph in paragraphs(&scenario.description) { p.lead { (paragraph) } }
                        (facts(scenario, points))
                    }
                    (results(scenario, points))
                    section.figures {
                        @for (number, figure) in figures.iter().enumerate() {
                            (drawn(number + 1, figure, lonely == Some(number)))
                        }
                    }
                    (definitions())
                    (origin(scenario, provenance))
                }
            }
        }
    }
}

fn paragraphs(text: &str) -> Vec<String> {
    text.split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|paragraph| !paragraph.is_empty())
        .collect()
}

fn facts(scenario: &Scenario, points: &[PointResult]) -> Markup {
    let runs = || points.iter().flat_map(|point| &point.runs);
    let simulated_h = runs().map(|run| run.simulated_s).sum::<f64>() / 3600.0;
    let nodes = points.iter().map(|point| point.nodes.len()).max().unwrap_or(0);
    let sources = points
        .iter()
        .map(|point| point.nodes.iter().filter(|node| node.sent > 0).count())
        .max()
        .unwrap_or(0);
    let facts = [
        (nodes.to_string(), "nodes"),
        (sources.to_string(), "sources"),
        (runs().map(|run| run.sent).sum::<u64>().to_string(), "datagrams"),
        (
            format!("{} × {}", points.len(), scenario.seeds.len()),
            "points × seeds",
        ),
        (format!("{simulated_h:.1} h"), "simulated"),
    ];
    html! {
        dl.facts { @for (value, name) in facts { div { dt { (name) } dd { (value) } } } }
    }
}

fn results(scenario: &Scenario, points: &[PointResult]) -> Markup {
    let table = Table::new(scenario, points);
    html! {
        section {
            h2 { "Results" }
            @if let Some(advice) = advice(scenario, points) {
                @for line in advice.lines() { p.lead { (line.trim()) } }
            }
            div.scroll {
                table {
                    thead {
                        tr { @for (name, unit) in &table.titles { th { (name) @if !unit.is_empty() { small { (unit) } } } } }
                    }
                    tbody {
                        @for row in &table.rows {
                            tr {
                                @for cell in row {
                                    td { (cell.value) @if !cell.interval.is_empty() { small { (cell.interval) } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(crate) fn drawn(number: usize, figure: &Figure, lonely: bool) -> Markup {
    html! {
        figure.wide[figure.wide] .lonely[lonely] id=(figure.name) {
            h2 { (figure.title) }
            (figure.svg)
            figcaption { b { "Figure " (number) ". " } (figure.caption) }
        }
    }
}

fn definitions() -> Markup {
    html! {
        section.notes {
            h2 { "How to read this" }
            ul {
                li { b { "PDR" } ", the packet delivery ratio: distinct datagrams delivered to the receiver's socket over \
                     datagrams that the application wanted to send. What the sender's own stack refused counts as lost." }
                li { b { "Latency" } ": from the application's call to the delivery, over delivered datagrams. Median and \
                     percentile are taken in each run, then averaged over the runs." }
                li { b { "95 % CI" } ": two-sided Student-t interval over the runs. A run is one observation; datagrams of \
                     one run are none, since they share its network and its start times." }
                li { b { "Link retransmissions" } ": frames sent again because no acknowledgement came, mean over the nodes." }
            }
            p { "The numbers behind the figures are in " code { "summary.csv" } ", " code { "runs.csv" } ", "
                code { "datagrams.csv" } ", " code { "nodes.csv" } " and " code { "losses.csv" }
                "; each run has a folder of its own in " code { "runs" } ". "
                code { "sixlo trace RUN" } " prints the whole history of a datagram." }
        }
    }
}

fn origin(scenario: &Scenario, provenance: &Provenance) -> Markup {
    let seeds: Vec<String> = scenario.seeds.iter().map(u64::to_string).collect();
    html! {
        section.notes {
            h2 { "Where this comes from" }
            p { "sixlo " (env!("CARGO_PKG_VERSION")) ", build " code { (provenance.build) } ", seeds " (seeds.join(", "))
                ". The same scenario, seeds and build give the same bytes:" }
            pre { code { (provenance.command) } }
            details { summary { "The scenario" } pre { code { (scenario.text) } } }
        }
    }
}
