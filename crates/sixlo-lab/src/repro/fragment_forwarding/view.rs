//! What was found at one medium, by variant and payload.

use super::setups::{DEFAULT_GROUND, F_A, GROUNDS};
use crate::campaign::PointResult;
use crate::repro::Findings;
use crate::repro::ledger::Part;
use crate::repro::verdict::Verdict;
use crate::results::Run;
use crate::stats::{Estimate, mean};

/// The runs of set-up F-A over one medium.
#[derive(Clone, Copy)]
pub(super) struct View<'f> {
    findings: &'f Findings<'f>,
    ground: &'static str,
}

/// The values of the runs of a point.
pub(super) type Values = Vec<f64>;

impl<'f> View<'f> {
    /// The runs of set-up F-A over a medium.
    pub(super) const fn new(findings: &'f Findings<'f>, ground: &'static str) -> Self {
        Self { findings, ground }
    }

    pub(super) fn at(&self, variant: &str, payload: u16) -> Option<&'f PointResult> {
        self.findings
            .at(&[F_A, self.ground, variant, &payload.to_string()])
    }

    /// What each run found.
    pub(super) fn values(&self, variant: &str, payload: u16, value: impl Fn(&Run) -> Option<f64>) -> Values {
        let runs = self.at(variant, payload).map(|point| point.runs.as_slice());
        runs.unwrap_or_default().iter().filter_map(value).collect()
    }

    pub(super) fn pdr(&self, variant: &str, payload: u16) -> Values {
        self.values(variant, payload, |run| run.pdr)
    }

    pub(super) fn latency(&self, variant: &str, payload: u16) -> Values {
        self.values(variant, payload, |run| run.latency_p50_ms)
    }

    /// The median latency of each run over routes of one length.
    pub(super) fn latency_at(&self, variant: &str, payload: u16, hops: u16) -> Values {
        let point = self.at(variant, payload);
        let runs = point.map(|point| point.hops.as_slice()).unwrap_or_default();
        let of = |run: &Vec<crate::results::Hops>| {
            let row = run.iter().find(|row| row.hops == hops)?;
            row.latency_p50_ms
        };
        runs.iter().filter_map(of).collect()
    }

    pub(super) fn retransmissions(&self, variant: &str, payload: u16) -> Values {
        self.values(variant, payload, |run| Some(run.link_retransmissions_per_node))
    }

    pub(super) fn buffer(&self, variant: &str, payload: u16) -> Values {
        self.values(variant, payload, |run| Some(run.buffer_mean_bytes))
    }

    pub(super) fn busy(&self, variant: &str, payload: u16) -> Values {
        self.values(variant, payload, |run| Some(run.radio_busy_losses as f64))
    }

    /// Of all frames that were lost, the share that a busy radio lost.
    pub(super) fn busy_share(&self, variant: &str, payload: u16) -> Option<f64> {
        let point = self.at(variant, payload)?;
        let busy: u64 = point.runs.iter().map(|run| run.radio_busy_losses).sum();
        let radio = point.losses.iter().filter(|((kind, _), _)| kind == "radio");
        let all: u64 = radio.map(|(_, count)| count).sum();
        (all > 0).then(|| busy as f64 / all as f64)
    }

    pub(super) fn fallbacks(&self, variant: &str, payload: u16) -> Option<u64> {
        let point = self.at(variant, payload)?;
        Some(point.runs.iter().map(|run| run.fallbacks).sum())
    }

    /// Datagrams delivered over at least so many hops, in all runs.
    pub(super) fn delivered_from(&self, variant: &str, payload: u16, hops_min: u16) -> Option<u64> {
        let point = self.at(variant, payload)?;
        let rows = point.hops.iter().flatten();
        Some(
            rows.filter(|row| row.hops >= hops_min)
                .map(|row| row.delivered)
                .sum(),
        )
    }
}

/// A part of a claim, decided at the default medium; the measured text names the media at which it holds.
pub(super) fn part(
    findings: &Findings<'_>,
    name: &str,
    published: &str,
    check: impl Fn(&View<'_>) -> (Verdict, String),
) -> Part {
    let of = |ground| check(&View::new(findings, ground));
    let (verdict, measured) = of(DEFAULT_GROUND);
    let holds: Vec<&str> = GROUNDS
        .iter()
        .map(|ground| ground.name)
        .filter(|ground| of(ground).0 == Verdict::Reproduced)
        .collect();
    let where_it_holds = match (holds.len(), verdict) {
        (_, Verdict::NotMeasured) => String::new(),
        (0, _) => "; holds at none of the media".to_owned(),
        (count, _) if count == GROUNDS.len() => "; holds at all media".to_owned(),
        _ => format!("; holds at {}", holds.join(", ")),
    };
    Part {
        name: name.to_owned(),
        published: published.to_owned(),
        measured: format!("{measured}{where_it_holds}"),
        verdict,
    }
}

/// A mean with its interval, in units of `scale`: `12.3 (11.0 to 13.6)`.
pub(super) fn shown(values: &[f64], scale: f64) -> String {
    let Some(estimate) = Estimate::of(values) else {
        return "nothing".to_owned();
    };
    let digits = |value: f64| match (value * scale).abs() {
        size if size >= 99.95 => format!("{:.0}", value * scale),
        size if size >= 9.995 => format!("{:.1}", value * scale),
        _ => format!("{:.2}", value * scale),
    };
    match (estimate.low(f64::MIN), estimate.high(f64::MAX)) {
        (Some(low), Some(high)) => {
            format!("{} ({} to {})", digits(estimate.mean), digits(low), digits(high))
        }
        _ => digits(estimate.mean),
    }
}

/// The values, each times a factor.
pub(super) fn times(values: &[f64], factor: f64) -> Values {
    values.iter().map(|value| value * factor).collect()
}

/// Whether the mean of the runs lies below a limit, interval included.
pub(super) fn below_limit(values: &[f64], limit: f64) -> Verdict {
    let Some(estimate) = Estimate::of(values) else {
        return Verdict::NotMeasured;
    };
    match (estimate.low(f64::MIN), estimate.high(f64::MAX)) {
        (_, Some(high)) if high < limit => Verdict::Reproduced,
        (Some(low), _) if low > limit => Verdict::NotReproduced,
        _ => Verdict::Undecided,
    }
}

/// Whether two means are no further apart than `most`.
pub(super) fn alike(first: &[f64], second: &[f64], most: f64) -> Verdict {
    match (mean(first), mean(second)) {
        (Some(a), Some(b)) => Verdict::exact((a - b).abs() <= most),
        _ => Verdict::NotMeasured,
    }
}
