//! What the runs say of the claims T1 to T10 and T18.

use super::setups::At;
use super::{claims_hops, claims_one_hop, claims_stack};
use crate::repro::Findings;
use crate::repro::ledger::{Claim, Part};
use crate::repro::verdict::Verdict;
use crate::results::Transfer;
use crate::stats::mean;

/// Decides all claims.
pub(super) fn all(findings: &Findings<'_>) -> Vec<Claim> {
    vec![
        claims_stack::state(),
        claims_stack::memory(findings),
        claims_one_hop::segment_size(findings),
        claims_one_hop::buffers(findings),
        claims_one_hop::bound(findings),
        claims_hops::delays(findings),
        claims_hops::windows(findings),
        claims_hops::models(findings),
        claims_one_hop::one_segment(findings),
        claims_stack::features(),
        claims_stack::timers(),
    ]
}

/// The transfers at a point, one a run.
pub(super) fn runs<'r>(findings: &Findings<'r>, at: At) -> Vec<&'r Transfer> {
    let labels = at.labels();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let point = findings.at(&labels);
    point.map_or_else(Vec::new, |point| point.transfers.iter().flatten().collect())
}

/// A value of each run at a point.
fn values(findings: &Findings<'_>, at: At, of: impl Fn(&Transfer) -> f64) -> Vec<f64> {
    runs(findings, at).into_iter().map(of).collect()
}

/// The goodputs at a point in kb/s.
pub(super) fn goodputs(findings: &Findings<'_>, at: At) -> Vec<f64> {
    values(findings, at, |run| run.goodput_kbps.unwrap_or(0.0))
}

/// The shares of segments that were lost.
pub(super) fn losses(findings: &Findings<'_>, at: At) -> Vec<f64> {
    values(findings, at, |run| {
        run.segments_lost as f64 / run.segments.max(1) as f64
    })
}

/// The mean round-trip times in ms.
pub(super) fn round_trips(findings: &Findings<'_>, at: At) -> Vec<f64> {
    let runs = runs(findings, at);
    runs.into_iter().filter_map(|run| run.rtt_mean_ms).collect()
}

/// The shares of time in which the congestion window held nothing back.
pub(super) fn full_windows(findings: &Findings<'_>, at: At) -> Vec<f64> {
    let runs = runs(findings, at);
    runs.into_iter().filter_map(|run| run.window_full_share).collect()
}

/// Losses that were repaired by acknowledgements, in 100 s, without those that were none.
pub(super) fn fast_retransmits(findings: &Findings<'_>, at: At) -> Vec<f64> {
    values(findings, at, |run| in_100_s(run, run.fast_retransmits))
}

/// Time-outs in 100 s.
pub(super) fn time_outs(findings: &Findings<'_>, at: At) -> Vec<f64> {
    values(findings, at, |run| in_100_s(run, run.time_outs))
}

fn in_100_s(run: &Transfer, count: u64) -> f64 {
    let open_s = run.last_s.unwrap_or(0.0) - run.opened_s.unwrap_or(0.0);
    if open_s > 0.0 {
        count as f64 * 100.0 / open_s
    } else {
        0.0
    }
}

/// Bytes of data in a segment, mean over all that were sent for the first time.
pub(super) fn mean_segment(runs: &[&Transfer]) -> Option<f64> {
    let bytes: u64 = runs.iter().map(|run| run.bytes).sum();
    let segments: u64 = runs.iter().map(|run| run.segments - run.segments_again).sum();
    (segments > 0).then(|| bytes as f64 / segments as f64)
}

pub(super) fn times(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| value * factor).collect()
}

/// As many times a value as there are runs, to compare them with.
pub(super) fn bar(runs: &[f64], value: f64) -> Vec<f64> {
    vec![value; runs.len()]
}

fn shown(values: &[f64], unit: &str, decimals: usize) -> String {
    mean(values).map_or("nothing".to_owned(), |mean| format!("{mean:.decimals$} {unit}"))
}

pub(super) fn kbps(values: &[f64]) -> String {
    shown(values, "kb/s", 1)
}

pub(super) fn ms(values: &[f64]) -> String {
    shown(values, "ms", 0)
}

pub(super) fn percent(values: &[f64]) -> String {
    shown(&times(values, 100.0), "%", 1)
}

pub(super) fn count(values: &[f64]) -> String {
    shown(values, "", 1).trim_end().to_owned()
}

/// How many times as much the first is.
pub(super) fn ratio(first: &[f64], second: &[f64]) -> String {
    match (mean(first), mean(second)) {
        (Some(first), Some(second)) if second > 0.0 => format!("{:.1} times", first / second),
        _ => "nothing".to_owned(),
    }
}

pub(super) fn part(name: &str, published: &str, measured: String, verdict: Verdict) -> Part {
    Part {
        name: name.to_owned(),
        published: published.to_owned(),
        measured,
        verdict,
    }
}

pub(super) const fn claim(id: &'static str, title: &'static str, parts: Vec<Part>) -> Claim {
    Claim { id, title, parts }
}
