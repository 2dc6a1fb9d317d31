//! How the grid of a campaign becomes charts: one axis runs from left to right, the others make lines.

use crate::campaign::PointResult;

/// The grid as charts show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The number of the axis that runs from left to right; none if nothing varies.
    pub(super) x: Option<usize>,
    /// Its values.
    pub(super) x_labels: Vec<String>,
    /// The lines: a name, and the number of the point at each value (none if the grid has a hole there).
    pub(super) lines: Vec<(String, Vec<usize>)>,
}

impl Layout {
    /// The layout of a grid: the axis with the most numbers for values runs from left to right, else the first one.
    pub(super) fn of(axes: &[String], points: &[PointResult]) -> Self {
        let values = |axis: usize| {
            let mut values: Vec<String> = Vec::new();
            for point in points {
                if !values.contains(&point.labels[axis]) {
                    values.push(point.labels[axis].clone());
                }
            }
            values
        };
        let numeric = |axis: &usize| {
            let values = values(*axis);
            values.len() > 1 && values.iter().all(|value| value.parse::<f64>().is_ok())
        };
        let several = |axis: &usize| values(*axis).len() > 1;
        // The axis with the most values reads best as a line; of equals the first.
        let longest = (0..axes.len())
            .rev()
            .filter(numeric)
            .max_by_key(|axis| values(*axis).len());
        let x = longest.or_else(|| (0..axes.len()).find(several));
        let mut lines: Vec<(String, Vec<usize>)> = Vec::new();
        for (number, point) in points.iter().enumerate() {
            let others = (0..axes.len()).filter(|axis| Some(*axis) != x && several(axis));
            let name = others
                .map(|axis| with_unit(&axes[axis], &point.labels[axis]))
                .collect::<Vec<_>>()
                .join(", ");
            match lines.iter_mut().find(|(line, _)| *line == name) {
                Some((_, numbers)) => numbers.push(number),
                None => lines.push((name, vec![number])),
            }
        }
        Self {
            x,
            x_labels: x.map(values).unwrap_or_default(),
            lines,
        }
    }
}

/// Units at the end of keys, and how people write them.
const UNITS: [(&str, &str); 10] = [
    ("_bytes", "bytes"),
    ("_ms", "ms"),
    ("_us", "µs"),
    ("_ns", "ns"),
    ("_m", "m"),
    ("_dbm", "dBm"),
    ("_db", "dB"),
    ("_ma", "mA"),
    ("_s", "s"),
    ("_v", "V"),
];

/// A key as a title: its last part in words, its unit in brackets.
pub(super) fn title(key: &str) -> String {
    let (words, unit) = words(key);
    let mut letters = words.chars();
    let words: String = letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default();
    match unit {
        Some(unit) => format!("{words} ({unit})"),
        None => words,
    }
}

/// A value with its unit, or if it has none with its key: `512 bytes`, `max retries 3`.
pub(super) fn with_unit(key: &str, label: &str) -> String {
    let (words, unit) = words(key);
    match unit {
        Some(unit) => format!("{label} {unit}"),
        None if label.parse::<f64>().is_ok() || label == "true" || label == "false" => {
            format!("{words} {label}")
        }
        None => label.to_owned(),
    }
}

fn words(key: &str) -> (String, Option<&'static str>) {
    let last = key.rsplit('.').next().unwrap_or(key);
    let found = UNITS
        .iter()
        .find_map(|(ending, unit)| last.strip_suffix(ending).map(|stem| (stem, *unit)));
    let (stem, unit) = found.map_or((last, None), |(stem, unit)| (stem, Some(unit)));
    (stem.replace('_', " "), unit)
}

/// The values of all axes at a point in words; `all datagrams` if nothing varies.
pub(super) fn point_name(axes: &[String], point: &PointResult) -> String {
    let parts: Vec<_> = axes
        .iter()
        .zip(&point.labels)
        .map(|(axis, label)| with_unit(axis, label))
        .collect();
    if parts.is_empty() {
        "all runs".to_owned()
    } else {
        parts.join(", ")
    }
}

/// At most `count` of the numbers below `total`, evenly spread, first and last among them.
pub(super) fn some_of(total: usize, count: usize) -> Vec<usize> {
    if total <= count {
        return (0..total).collect();
    }
    (0..count).map(|i| i * (total - 1) / (count - 1).max(1)).collect()
}
