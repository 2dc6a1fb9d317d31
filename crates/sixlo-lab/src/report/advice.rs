//! Which of several strategies a network should use, and why the others lose.

use crate::campaign::PointResult;
use crate::scenario::Scenario;
use crate::stats::{Estimate, mean};

/// The key whose values are compared.
const KEY: &str = "stack.strategy";

/// What one strategy reached over all other parameters.
struct Summary<'r> {
    name: &'r str,
    pdr: Estimate,
    retransmissions: f64,
    busy: f64,
    air_us_per_byte: Option<f64>,
    /// Why datagrams were lost, with the share of all that were: the two most frequent causes.
    causes: Vec<(String, f64)>,
}

/// The advice, a sentence a line; none if the campaign does not compare strategies.
pub fn advice(scenario: &Scenario, points: &[PointResult]) -> Option<String> {
    let axis = scenario.axes.iter().position(|axis| axis == KEY)?;
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.labels[axis].as_str()) {
            names.push(&point.labels[axis]);
        }
    }
    let mut all: Vec<Summary<'_>> = Vec::new();
    for name in names {
        let own: Vec<&PointResult> = points.iter().filter(|point| point.labels[axis] == name).collect();
        all.extend(summary(name, &own));
    }
    all.sort_by(|a, b| b.pdr.mean.total_cmp(&a.pdr.mean));
    let (best, others) = all.split_first().filter(|(_, others)| !others.is_empty())?;
    let is_payload = |axis: &String| axis == KEY || axis == "traffic.payload_bytes";
    let over = match scenario.axes.iter().all(is_payload) {
        true => "payloads",
        false => "points of the sweep",
    };
    let mut text = format!(
        "Use {}: over all {over} it delivers {} of the datagrams{}.\n",
        best.name,
        shown(&best.pdr),
        air(best)
    );
    for other in others {
        text.push_str(&why(best, other));
    }
    Some(text)
}

/// Means over the parameters that vary beside the strategy, run by run.
fn summary<'r>(name: &'r str, points: &[&PointResult]) -> Option<Summary<'r>> {
    let runs = points.iter().map(|point| point.runs.len()).min()?;
    let over = |value: &dyn Fn(&crate::results::Run) -> Option<f64>| {
        let of_seed = |seed: usize| {
            let values: Vec<f64> = points
                .iter()
                .filter_map(|point| value(&point.runs[seed]))
                .collect();
            mean(&values)
        };
        (0..runs).filter_map(of_seed).collect::<Vec<f64>>()
    };
    let total: u64 = points
        .iter()
        .flat_map(|point| &point.lost)
        .map(|(_, count)| count)
        .sum();
    let mut causes: Vec<(String, f64)> = Vec::new();
    for (cause, count) in points.iter().flat_map(|point| &point.lost) {
        let share = *count as f64 / total.max(1) as f64;
        match causes.iter_mut().find(|(known, _)| known == cause) {
            Some((_, sum)) => *sum += share,
            None => causes.push((cause.clone(), share)),
        }
    }
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    causes.truncate(2);
    Some(Summary {
        name,
        pdr: Estimate::of(&over(&|run| run.pdr))?,
        retransmissions: mean(&over(&|run| Some(run.link_retransmissions_per_node)))?,
        busy: mean(&over(&|run| Some(run.radio_busy_losses as f64)))?,
        air_us_per_byte: mean(&over(&|run| run.air_us_per_byte)),
        causes,
    })
}

fn shown(estimate: &Estimate) -> String {
    let percent = |value: f64| format!("{:.1}", value * 100.0);
    match (estimate.low(0.0), estimate.high(1.0)) {
        (Some(low), Some(high)) => {
            format!(
                "{} % ({} to {})",
                percent(estimate.mean),
                percent(low),
                percent(high)
            )
        }
        _ => format!("{} %", percent(estimate.mean)),
    }
}

fn air(one: &Summary<'_>) -> String {
    one.air_us_per_byte.map_or(String::new(), |air| {
        format!(", with {air:.0} us of radio time a byte")
    })
}

/// Why one of them loses against the best.
fn why(best: &Summary<'_>, other: &Summary<'_>) -> String {
    let causes: Vec<String> = other
        .causes
        .iter()
        .map(|(cause, share)| format!("{cause} ({:.0} %)", share * 100.0))
        .collect();
    let apart = match (best.pdr.low(0.0), other.pdr.high(1.0)) {
        (Some(low), Some(high)) => low > high,
        _ => false,
    };
    let verdict = if apart {
        ""
    } else {
        ", which these runs cannot tell from it"
    };
    format!(
        "  {} delivers {}{verdict}{}. Its datagrams end by {}. A busy radio lost {:.0} frames a run (with {} {:.0}), and a \
         node sent {:.0} frames again ({:.0}).\n",
        other.name,
        shown(&other.pdr),
        air(other),
        causes.join(" and "),
        other.busy,
        best.name,
        best.busy,
        other.retransmissions,
        best.retransmissions
    )
}
