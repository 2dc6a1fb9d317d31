//! Claim F12: a congestion control of our own, against the four of the paper at three loads.

use sixlo_sim::config::Control;

use super::claims_congestion::{Course, FOUR};
use super::section_v::{DOUBLE, HALF, LOAD, NO_GAP};
use super::view::shown;
use crate::repro::Findings;
use crate::repro::ledger::{Claim, Part};
use crate::repro::verdict::{Order, RUNS_MIN, Verdict, order};

/// How often the own control is above and below another one, and of how many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Score {
    pub(super) above: usize,
    pub(super) below: usize,
    pub(super) all: usize,
}

impl Score {
    fn of(orders: impl Iterator<Item = Order>) -> Self {
        let mut score = Self::default();
        for order in orders.filter(|order| *order != Order::Missing) {
            score.all += 1;
            score.above += usize::from(order == Order::Above);
            score.below += usize::from(order == Order::Below);
        }
        score
    }

    fn told(self) -> String {
        format!("above at {} of {}, below at {}", self.above, self.all, self.below)
    }

    /// Above at ten of twelve and below at none; undecided if what cannot be told apart might make up for it.
    pub(super) fn verdict(self) -> Verdict {
        let needed = (self.all * 10).div_ceil(12);
        match self {
            Self { all: 0, .. } => Verdict::NotMeasured,
            Self { below, .. } if below > 0 => Verdict::NotReproduced,
            Self { above, .. } if above >= needed => Verdict::Reproduced,
            _ => Verdict::Undecided,
        }
    }
}

/// By counts of fragments.
fn delivery(course: &Course<'_>, other: Control) -> Score {
    let payloads = course.payloads().into_iter();
    Score::of(
        payloads.map(|(_, payload)| order(&course.pdr(Control::Calm, payload), &course.pdr(other, payload))),
    )
}

/// Median latencies against those of QUIC, by counts of fragments and hops: pairs for which ten runs of both delivered.
fn latency(course: &Course<'_>) -> Score {
    let of = |control, payload, hops| {
        let runs = course.at(control, payload).map(|point| point.hops.as_slice());
        let rows = runs.unwrap_or_default().iter().flatten();
        let medians = rows.filter(|row| row.hops == hops);
        medians.filter_map(|row| row.latency_p50_ms).collect::<Vec<f64>>()
    };
    let pairs = course.payloads().into_iter().flat_map(|(_, payload)| {
        (2..=4).filter_map(move |hops| {
            let both = (of(Control::Calm, payload, hops), of(Control::Quic, payload, hops));
            (both.0.len().min(both.1.len()) >= RUNS_MIN).then_some(both)
        })
    });
    Score::of(pairs.map(|(own, quic)| order(&own, &quic)))
}

/// The claim.
pub(super) fn claim(findings: &Findings<'_>) -> Claim {
    let mut parts = Vec::new();
    for name in [LOAD, HALF, DOUBLE] {
        let course = Course::new(findings, name);
        parts.extend(FOUR.map(|other| against(findings, &course, name, other)));
        parts.push(latency_part(&course, name));
    }
    Claim {
        id: "F12",
        title: "A control of our own for lossy networks",
        parts,
    }
}

fn against(findings: &Findings<'_>, course: &Course<'_>, name: &str, other: Control) -> Part {
    let score = delivery(course, other);
    let mut measured = format!("{} counts", score.told());
    if name == LOAD {
        let free = delivery(&Course::new(findings, NO_GAP), other);
        measured.push_str(&format!("; without a gap {}", free.told()));
    }
    Part {
        name: format!("{}, {name}", other.name()),
        published: "open; aim: PDR above it at 10 or more of 12 counts of fragments, below at none"
            .to_owned(),
        measured,
        verdict: score.verdict(),
    }
}

fn latency_part(course: &Course<'_>, name: &str) -> Part {
    let score = latency(course);
    let payload = course.payloads().first().map_or(0, |(_, payload)| *payload);
    let air = |control| shown(&course.values(control, payload, |run| run.air_us_per_byte), 1.0);
    let verdict = match score {
        // Not even at 2 fragments did all runs deliver over some route.
        Score { all: 0, .. } if course.payloads().is_empty() => Verdict::NotMeasured,
        Score { all: 0, .. } => Verdict::Undecided,
        Score { above, .. } => Verdict::exact(above == 0),
    };
    Part {
        name: format!("latency, {name}"),
        published: "aim: median at equal hop count no higher than that of paced QUIC".to_owned(),
        measured: format!(
            "{} pairs of count and hops; air time a delivered byte at 2 fragments: calm {}, quic {} us",
            score.told(),
            air(Control::Calm),
            air(Control::Quic)
        ),
        verdict,
    }
}
