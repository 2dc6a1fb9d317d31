//! Claims F9 and F12: congestion control for selective fragment recovery.

use sixlo::congure::{Kind, Params};
use sixlo_sim::config::Control;

use super::setups::{F_B, F_B_PAYLOADS, LOAD};
use super::view::shown;
use crate::repro::Findings;
use crate::repro::ledger::{Claim, Part};
use crate::repro::verdict::{self, Order, Verdict, above, not_above, order};
use crate::results::Run;
use crate::stats::mean;

/// The four of the paper.
const FOUR: [Control; 4] = [Control::Rfc8931, Control::Reno, Control::Abe, Control::Quic];

/// What the runs of one control found at a payload.
fn values(
    findings: &Findings<'_>,
    control: Control,
    payload: u16,
    value: fn(&Run) -> Option<f64>,
) -> Vec<f64> {
    let point = findings.at(&[F_B, LOAD, control.name(), &payload.to_string()]);
    let runs = point.map(|point| point.runs.as_slice()).unwrap_or_default();
    runs.iter().filter_map(value).collect()
}

fn pdr(findings: &Findings<'_>, control: Control, payload: u16) -> Vec<f64> {
    values(findings, control, payload, |run| run.pdr)
}

/// The payloads that were run, with the number of their fragments.
fn payloads(findings: &Findings<'_>) -> Vec<(usize, u16)> {
    let all = F_B_PAYLOADS.into_iter().enumerate();
    let run = all.filter(|(_, payload)| !pdr(findings, Control::Quic, *payload).is_empty());
    run.map(|(number, payload)| (number + 2, payload)).collect()
}

/// The mean delivery of each seed over some counts of fragments.
fn over(findings: &Findings<'_>, control: Control, wanted: impl Fn(usize) -> bool) -> Vec<f64> {
    let all: Vec<Vec<f64>> = payloads(findings)
        .into_iter()
        .filter(|(count, _)| wanted(*count))
        .map(|(_, payload)| pdr(findings, control, payload))
        .collect();
    let runs = all.iter().map(Vec::len).min().unwrap_or(0);
    let of_seed = |seed: usize| mean(&all.iter().map(|values| values[seed]).collect::<Vec<f64>>());
    (0..runs).filter_map(of_seed).collect()
}

fn each(controls: &[Control], values: impl Fn(Control) -> Vec<f64>) -> String {
    let one = |control: &Control| format!("{} {}", control.name(), shown(&values(*control), 100.0));
    format!("{} %", controls.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn part(name: &str, published: &str, measured: String, verdict: Verdict) -> Part {
    Part {
        name: name.to_owned(),
        published: published.to_owned(),
        measured,
        verdict,
    }
}

/// Both claims.
pub(super) fn all(findings: &Findings<'_>) -> Vec<Claim> {
    vec![four(findings), own(findings)]
}

fn four(findings: &Findings<'_>) -> Claim {
    let at = |control, payload| pdr(findings, control, payload);
    let [two, three, six] = [112, 208, 496];
    let about_two = FOUR.map(|control| match mean(&at(control, two)) {
        Some(share) => Verdict::exact((0.01..=0.04).contains(&share)),
        None => Verdict::NotMeasured,
    });
    let whole = |control| over(findings, control, |_| true);
    let others = [Control::Rfc8931, Control::Reno, Control::Abe];
    let tcp = [Control::Reno, Control::Abe];
    let odd = over(findings, Control::Rfc8931, |count| count % 2 == 1);
    let even = over(findings, Control::Rfc8931, |count| count % 2 == 0);
    let alike = match order(&whole(Control::Reno), &whole(Control::Abe)) {
        Order::Unknown => Verdict::Reproduced,
        Order::Above | Order::Below => Verdict::NotReproduced,
        Order::Missing => Verdict::NotMeasured,
    };
    let windows = [Kind::Reno, Kind::Abe].map(|kind| Params::fragments(kind).initial_window);
    Claim {
        id: "F9",
        title: "Congestion control for SFR, four kinds",
        parts: vec![
            part(
                "2 fragments",
                "about 2 % PDR for all (here: 1 to 4 %)",
                each(&FOUR, |control| at(control, two)),
                verdict::all(about_two),
            ),
            part(
                "QUIC",
                "paced QUIC the best (here: mean over all counts)",
                each(&FOUR, whole),
                verdict::all(others.map(|other| above(&whole(Control::Quic), &whole(other)))),
            ),
            part(
                "appendix C at few fragments",
                "ahead of both TCP kinds (here: 3 fragments)",
                each(&others, |control| at(control, three)),
                verdict::all(tcp.map(|other| above(&at(Control::Rfc8931, three), &at(other, three)))),
            ),
            part(
                "appendix C at 6 fragments",
                "comparable to the TCP kinds or below",
                each(&others, |control| at(control, six)),
                verdict::all(tcp.map(|other| not_above(&at(Control::Rfc8931, six), &at(other, six)))),
            ),
            part(
                "saw-tooth",
                "with appendix C odd counts of fragments beat even ones (here: the means of both)",
                format!("odd {}, even {} %", shown(&odd, 100.0), shown(&even, 100.0)),
                above(&odd, &even),
            ),
            part("Reno and ABE", "about equal", each(&tcp, whole), alike),
            part(
                "first window",
                "4 with Reno and ABE",
                format!("{} and {}", windows[0], windows[1]),
                Verdict::exact(windows == [4, 4]),
            ),
            Part::not_measured("ECN", "of little effect", "not run without ECN yet"),
        ],
    }
}

fn own(findings: &Findings<'_>) -> Claim {
    let counts = payloads(findings);
    let wins = |other: Control| {
        let orders = counts.iter().map(|(_, payload)| {
            order(
                &pdr(findings, Control::Calm, *payload),
                &pdr(findings, other, *payload),
            )
        });
        let orders: Vec<Order> = orders.collect();
        let of = |wanted: Order| orders.iter().filter(|order| **order == wanted).count();
        (of(Order::Above), of(Order::Below))
    };
    let delivery = FOUR.map(|other| {
        let (above, below) = wins(other);
        // 10 of 12 counts of fragments, or as many of those that were run.
        let verdict = if counts.is_empty() {
            Verdict::NotMeasured
        } else {
            Verdict::exact(above * 12 >= counts.len() * 10 && below == 0)
        };
        part(
            other.name(),
            "open; aim: PDR above it at 10 or more of 12 counts of fragments, below at none",
            format!("above at {above} of {} counts, below at {below}", counts.len()),
            verdict,
        )
    });
    let latency = |control| {
        let payload = counts.last().map_or(0, |(_, payload)| *payload);
        values(findings, control, payload, |run| run.latency_p50_ms)
    };
    let air = |control| {
        let payload = counts.first().map_or(0, |(_, payload)| *payload);
        shown(
            &values(findings, control, payload, |run| run.air_us_per_byte),
            1.0,
        )
    };
    let mut parts: Vec<Part> = delivery.into();
    parts.push(part(
        "latency",
        "aim: median no higher than that of paced QUIC (here: the most fragments)",
        format!(
            "calm {}, quic {} ms; air time a delivered byte at 2 fragments: calm {}, quic {} us",
            shown(&latency(Control::Calm), 1.0),
            shown(&latency(Control::Quic), 1.0),
            air(Control::Calm),
            air(Control::Quic)
        ),
        not_above(&latency(Control::Calm), &latency(Control::Quic)),
    ));
    parts.push(Part::not_measured(
        "other loads",
        "the same at half and double load",
        "not run yet",
    ));
    Claim {
        id: "F12",
        title: "A control of our own for lossy networks",
        parts,
    }
}
