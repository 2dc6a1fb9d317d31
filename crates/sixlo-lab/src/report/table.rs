//! The table of results, a row a point: for the terminal and the report.

use crate::campaign::PointResult;
use crate::scenario::Scenario;
use crate::stats::Estimate;

/// A cell: the value, and beside it in small print its interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The value.
    pub value: String,
    /// The ends of its 95 % interval; empty if it has none.
    pub interval: String,
}

/// The results as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The titles of the columns, each with its unit below.
    pub titles: Vec<(String, String)>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Cell {
    fn plain(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            interval: String::new(),
        }
    }

    /// An estimate in the unit `scale` times its own.
    fn estimate(estimate: Option<Estimate>, scale: f64, ceiling: f64) -> Self {
        let Some(estimate) = estimate else {
            return Self::plain("-");
        };
        let shown = |value: f64| decimals(value * scale);
        let interval = match (estimate.low(0.0), estimate.high(ceiling)) {
            (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
            _ => String::new(),
        };
        Self {
            value: shown(estimate.mean),
            interval,
        }
    }
}

/// Three significant digits or so, enough to compare by.
fn decimals(value: f64) -> String {
    // The limits lie where rounding would add a digit.
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

impl Table {
    /// The results of a campaign.
    pub fn new(scenario: &Scenario, points: &[PointResult]) -> Self {
        let title = |name: &str, unit: &str| (name.to_owned(), unit.to_owned());
        let mut titles: Vec<_> = scenario
            .axes
            .iter()
            .map(|axis| title(axis.rsplit('.').next().unwrap_or(axis), ""))
            .collect();
        titles.extend([
            title("PDR", "% (95 % CI)"),
            title("latency median", "ms (95 % CI)"),
            title("90th percentile", "ms (95 % CI)"),
            title("link retransmissions", "a node and run (95 % CI)"),
            title("lost", "by reason, all runs"),
        ]);
        Self {
            titles,
            rows: points.iter().map(row).collect(),
        }
    }

    /// The table for a terminal: columns with two spaces between them, the last one as long as it is.
    pub fn for_terminal(&self) -> String {
        let mut lines: Vec<Vec<String>> = vec![
            self.titles.iter().map(|(name, _)| name.clone()).collect(),
            self.titles.iter().map(|(_, unit)| unit.clone()).collect(),
        ];
        lines.extend(
            self.rows
                .iter()
                .map(|row| row.iter().map(Cell::in_line).collect()),
        );
        let width = |column: usize| {
            lines
                .iter()
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.titles.len()).map(width).collect();
        let mut text = String::new();
        for line in &lines {
            let mut row = String::new();
            for (cell, width) in line.iter().zip(&widths) {
                row.push_str(&format!("{cell:<width$}  "));
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }
}

impl Cell {
    fn in_line(&self) -> String {
        if self.interval.is_empty() {
            self.value.clone()
        } else {
            format!("{} ({})", self.value, self.interval)
        }
    }
}

fn row(point: &PointResult) -> Vec<Cell> {
    let estimates = &point.estimates;
    let mut cells: Vec<Cell> = point.labels.iter().map(Cell::plain).collect();
    cells.extend([
        Cell::estimate(estimates.pdr, 100.0, 1.0),
        Cell::estimate(estimates.latency_p50_ms, 1.0, f64::INFINITY),
        Cell::estimate(estimates.latency_p90_ms, 1.0, f64::INFINITY),
        Cell::estimate(estimates.link_retransmissions_per_node, 1.0, f64::INFINITY),
        Cell::plain(lost(point)),
    ]);
    cells
}

/// The reasons in words: `reassembly-timeout 12, link-no-ack 3`.
fn lost(point: &PointResult) -> String {
    if point.lost.is_empty() {
        return "none".to_owned();
    }
    let reasons: Vec<_> = point
        .lost
        .iter()
        .map(|(reason, count)| format!("{reason} {count}"))
        .collect();
    reasons.join(", ")
}
