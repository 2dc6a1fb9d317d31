//! Claim F10: window and gap over time, for transfers of 12 fragments (Fig. 19).

use std::path::Path;

use sixlo_sim::config::Control;

use super::claims_congestion::FOUR;
use super::section_v::{self, F_B, LOAD, NO_GAP};
use crate::campaign::RunError;
use crate::plot::{Mark, WindowPanel, WindowPanels};
use crate::report::Figure;
use crate::repro::ledger::{Claim, Part};
use crate::repro::transfers::{self, Transfer, Wanted, Watched};
use crate::repro::verdict::{self, Verdict};
use crate::repro::{Extent, Findings};

/// The payload with 12 fragments.
const TWELVE: u16 = 1_072;

/// Where transfers are looked for: the first in which there is one shows it.
const COURSES: [&str; 2] = [LOAD, NO_GAP];

/// Finds a transfer that succeeds and one that is given up, for each of the four.
pub(super) fn watch(extent: &Extent, folder: &Path) -> Result<Watched, RunError> {
    let mut found: Vec<Transfer> = Vec::new();
    for control in FOUR {
        for name in COURSES {
            let mut missing = vec![true, false];
            missing.retain(|succeeded| !found.iter().any(|one| is(one, (control, *succeeded))));
            if missing.is_empty() {
                continue;
            }
            let wanted = Wanted {
                labels: super::setups::labels(F_B, name, control.name(), TWELVE),
                config: section_v::config(name, control, TWELVE),
                seeds: extent.deciding(),
                outcomes: missing,
                name: format!("fig-19-{}-{}", control.name(), name.replace(' ', "-")),
            };
            found.extend(transfers::watch(&wanted, folder)?);
        }
    }
    Ok(Watched {
        transfers: found,
        streams: Vec::new(),
    })
}

fn is(transfer: &Transfer, (control, succeeded): (Control, bool)) -> bool {
    transfer.labels.get(2).map(String::as_str) == Some(control.name()) && transfer.succeeded == succeeded
}

fn find<'f>(findings: &Findings<'f>, control: Control, succeeded: bool) -> Option<&'f Transfer> {
    findings
        .watched()
        .transfers
        .iter()
        .find(|one| is(one, (control, succeeded)))
}

/// Where a transfer was seen.
fn course(transfer: &Transfer) -> &str {
    transfer.labels.get(1).map_or("", String::as_str)
}

fn outcome(succeeded: bool) -> &'static str {
    if succeeded { "succeeds" } else { "times out" }
}

/// The claim.
pub(super) fn claim(findings: &Findings<'_>) -> Claim {
    let panel = |(control, succeeded): (Control, bool)| {
        let name = format!("{} {}", control.name(), outcome(succeeded));
        let published = "a transfer of 12 fragments, at the load of the paper";
        let Some(transfer) = find(findings, control, succeeded) else {
            return match findings.watched().transfers.as_slice() {
                [] => Part::not_measured(&name, published, "not run"),
                _ => Part {
                    name,
                    published: published.to_owned(),
                    measured: "none".to_owned(),
                    verdict: Verdict::NotReproduced,
                },
            };
        };
        Part {
            name,
            published: published.to_owned(),
            measured: format!("{}; {}", told(transfer), transfer.file),
            verdict: Verdict::exact(course(transfer) == LOAD),
        }
    };
    let mut parts: Vec<Part> = FOUR
        .iter()
        .flat_map(|control| [(*control, true), (*control, false)])
        .map(panel)
        .collect();
    parts.push(appendix_c(findings));
    Claim {
        id: "F10",
        title: "Window and gap over time around losses, time-outs and ECN marks",
        parts,
    }
}

/// What happened in a transfer, in words.
fn told(transfer: &Transfer) -> String {
    let windows = || transfer.steps.iter().map(|step| step.window);
    let gaps = || transfer.steps.iter().map(|step| step.gap_ms);
    format!(
        "datagram {} of node {}, {}, seed {}: {:.1} s, window {} to {}, gap {:.0} to {:.0} ms, {} acknowledgements, {} losses, {} \
         time-outs, {} marks",
        transfer.datagram,
        transfer.source,
        course(transfer),
        transfer.seed,
        transfer.duration_s,
        windows().min().unwrap_or(0),
        windows().max().unwrap_or(0),
        gaps().fold(f64::INFINITY, f64::min),
        gaps().fold(0.0, f64::max),
        transfer.count("acked"),
        transfer.count("lost"),
        transfer.count("timed-out"),
        transfer.count("ecn"),
    )
}

/// "The expected decrease of the congestion window on timeout, while on ACK it stays at 2."
fn appendix_c(findings: &Findings<'_>) -> Part {
    let both = [true, false].map(|succeeded| find(findings, Control::Rfc8931, succeeded));
    let seen = |told: &str| -> Vec<u32> {
        let steps = both.iter().flatten().flat_map(|transfer| &transfer.steps);
        let after = steps.filter(|step| step.told == told);
        after.map(|step| step.window).collect()
    };
    let (timed_out, acked) = (seen("timed-out"), seen("acked"));
    let verdict = if timed_out.is_empty() || acked.is_empty() {
        Verdict::NotMeasured
    } else {
        verdict::all([
            Verdict::exact(timed_out.iter().all(|window| *window == 1)),
            Verdict::exact(acked.iter().all(|window| *window == 2)),
        ])
    };
    let range = |windows: &[u32]| match (windows.iter().min(), windows.iter().max()) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "-".to_owned(),
    };
    Part {
        name: "appendix C".to_owned(),
        published: "1 after a time-out, still 2 after an acknowledgement".to_owned(),
        measured: format!(
            "{} after {} time-outs, {} after {} acknowledgements, which carry marks here",
            range(&timed_out),
            timed_out.len(),
            range(&acked),
            acked.len()
        ),
        verdict,
    }
}

/// The figure.
pub(super) fn figure(findings: &Findings<'_>) -> Figure {
    let panels = FOUR
        .iter()
        .flat_map(|control| [(*control, true), (*control, false)])
        .map(|(control, succeeded)| panel(findings, control, succeeded));
    let chart = WindowPanels {
        title: "Window and gap over time".to_owned(),
        panels: panels.collect(),
    };
    let files: Vec<&str> = findings
        .watched()
        .transfers
        .as_slice()
        .iter()
        .map(|one| one.file.as_str())
        .collect();
    Figure {
        name: "fig-19-windows",
        title: "Fig. 19: window and gap over time".to_owned(),
        caption: format!(
            "Transfers of 12 fragments, one that succeeds and one that times out for each control, 100 datagrams a source. \
             Chosen in the order of the paper: at least two time-outs where it fails, changes of the gap, ECN marks, and \
             then the most events. Where none succeeds with the gap of 170 ms, one without it is shown. Behind it: {}.",
            files.join(", ")
        ),
        wide: true,
        svg: chart.draw(),
    }
}

fn panel(findings: &Findings<'_>, control: Control, succeeded: bool) -> WindowPanel {
    let title = format!("{}, {}", control.name(), outcome(succeeded));
    let Some(transfer) = find(findings, control, succeeded) else {
        return WindowPanel {
            title,
            subtitle: "none".to_owned(),
            ..WindowPanel::default()
        };
    };
    let mark = |told: &str| match told {
        "acked" => Some(Mark::Acked),
        "lost" => Some(Mark::Lost),
        "timed-out" => Some(Mark::TimedOut),
        "ecn" => Some(Mark::Ecn),
        _ => None,
    };
    let steps = || transfer.steps.iter();
    WindowPanel {
        title,
        subtitle: format!(
            "{}, seed {}, datagram {} of node {}",
            course(transfer),
            transfer.seed,
            transfer.datagram,
            transfer.source
        ),
        steps: steps()
            .map(|step| (step.time_s, f64::from(step.window), step.gap_ms))
            .collect(),
        end_s: transfer.duration_s,
        marks: steps()
            .filter_map(|step| Some((step.time_s, mark(&step.told)?)))
            .collect(),
    }
}
