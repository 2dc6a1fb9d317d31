//! What a comparison found, as a table, a recommendation in words, and a file.

use serde::{Deserialize, Serialize};

use super::{Comparison, Ranked, overlap};
use crate::results::Row;
use crate::stats::Estimate;

/// A row of `compare.csv`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The setting.
    pub setting: String,
    /// Runs.
    pub runs: usize,
    /// Packet delivery ratio, and the ends of its 95 % interval.
    pub pdr_mean: f64,
    /// See `pdr_mean`.
    pub pdr_ci95_low: Option<f64>,
    /// See `pdr_mean`.
    pub pdr_ci95_high: Option<f64>,
    /// Mean of the runs' median latencies.
    pub latency_p50_ms_mean: Option<f64>,
    /// Time on the air over the payload delivered.
    pub air_us_per_byte_mean: Option<f64>,
    /// The most that any node used of its packet buffer, mean over the runs.
    pub buffer_max_bytes_mean: Option<f64>,
    /// It came to the last round.
    pub finalist: bool,
    /// It is recommended.
    pub recommended: bool,
}

impl Row for Entry {
    const COLUMNS: &'static [&'static str] = &[
        "setting",
        "runs",
        "pdr_mean",
        "pdr_ci95_low",
        "pdr_ci95_high",
        "latency_p50_ms_mean",
        "air_us_per_byte_mean",
        "buffer_max_bytes_mean",
        "finalist",
        "recommended",
    ];
}

/// The comparison as rows.
pub fn entries(comparison: &Comparison) -> Vec<Entry> {
    let mean = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.mean);
    let row = |(place, one): (usize, &Ranked)| Entry {
        setting: one.name.clone(),
        runs: one.runs,
        pdr_mean: one.pdr.mean,
        pdr_ci95_low: one.pdr.low(0.0),
        pdr_ci95_high: one.pdr.high(1.0),
        latency_p50_ms_mean: mean(one.latency_ms),
        air_us_per_byte_mean: mean(one.air_us_per_byte),
        buffer_max_bytes_mean: mean(one.buffer_bytes),
        finalist: one.finalist,
        recommended: place == comparison.recommended,
    };
    comparison.ranked.iter().enumerate().map(row).collect()
}

/// A mean with its interval: `12.3 (11.0 to 13.6)`.
fn shown(estimate: Option<Estimate>, scale: f64, most: f64) -> String {
    let Some(estimate) = estimate else {
        return "-".to_owned();
    };
    let digits = |value: f64| match (value * scale).abs() {
        size if size >= 99.95 => format!("{:.0}", value * scale),
        size if size >= 9.995 => format!("{:.1}", value * scale),
        _ => format!("{:.2}", value * scale),
    };
    match (estimate.low(0.0), estimate.high(most)) {
        (Some(low), Some(high)) => format!("{} ({} to {})", digits(estimate.mean), digits(low), digits(high)),
        _ => digits(estimate.mean),
    }
}

/// The table for a terminal: the finalists, then what fell behind.
pub fn for_terminal(comparison: &Comparison) -> String {
    let mut lines = vec![[
        "setting".to_owned(),
        "runs".to_owned(),
        "PDR % (95 % CI)".to_owned(),
        "latency median ms".to_owned(),
        "air us a byte".to_owned(),
        "packet buffer bytes".to_owned(),
    ]];
    let line = |one: &Ranked| {
        [
            one.name.clone(),
            one.runs.to_string(),
            shown(Some(one.pdr), 100.0, 1.0),
            shown(one.latency_ms, 1.0, f64::INFINITY),
            shown(one.air_us_per_byte, 1.0, f64::INFINITY),
            shown(one.buffer_bytes, 1.0, f64::INFINITY),
        ]
    };
    lines.extend(comparison.ranked.iter().map(line));
    let widths: [usize; 6] = std::array::from_fn(|column| {
        lines
            .iter()
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let finalist = number
            .checked_sub(1)
            .and_then(|place| comparison.ranked.get(place));
        if number > 1 && finalist.is_some_and(|one| !one.finalist) && comparison.ranked[number - 2].finalist {
            text.push_str("fell behind:\n");
        }
        let cells = line
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// What to use, and how sure that is.
pub fn advice(comparison: &Comparison) -> String {
    let Some(chosen) = comparison.ranked.get(comparison.recommended) else {
        return "Nothing was compared.".to_owned();
    };
    let others = comparison.ranked.iter().enumerate();
    let like: Vec<&str> = others
        .filter(|(place, one)| {
            *place != comparison.recommended && one.finalist && overlap(&one.pdr, &chosen.pdr)
        })
        .map(|(_, one)| one.name.as_str())
        .collect();
    let delivers = shown(Some(chosen.pdr), 100.0, 1.0);
    let mut text = format!(
        "Use {}: it delivers {delivers} % of the datagrams.\n",
        chosen.name
    );
    if like.is_empty() {
        text.push_str("No other setting delivers as much: their intervals lie below.\n");
    } else {
        text.push_str(&format!(
            "By delivery {} runs cannot tell it from: {}.\nOf what delivers as much within half a point, it takes the least \
             radio time.\n",
            chosen.runs,
            like.join("; ")
        ));
    }
    text
}
