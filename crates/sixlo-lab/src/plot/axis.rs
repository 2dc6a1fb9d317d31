//! Axes: a range of values, round places in it, and what stands there.

use std::ops::Range;

use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::{KeyPointHint, KeyPointWeight, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;

/// What the numbers of an axis count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Whatever its title says.
    Number,
    /// Shares of a whole, from 0 to 1, shown in per cent.
    Share,
}

impl Unit {
    /// How a value is shown.
    pub(super) fn label(self, value: f64) -> String {
        match self {
            Self::Number => plain(value),
            Self::Share => {
                let text = format!("{:.1}", value * 100.0);
                format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

/// What runs from left to right in a chart.
#[derive(Clone, Debug, PartialEq)]
pub enum Horizontal {
    /// Numbers, at their places.
    Numbers(Vec<f64>),
    /// Names, evenly spaced; a value is the number of its name.
    Names(Vec<String>),
}

impl Horizontal {
    /// An axis for values with these labels: numbers, if all of them are.
    pub fn of(labels: &[String]) -> Self {
        let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
        match numbers {
            Some(numbers) if numbers.iter().all(|number| number.is_finite()) && numbers.len() > 1 => {
                Self::Numbers(numbers)
            }
            _ => Self::Names(labels.to_vec()),
        }
    }

    /// The value of the label with this number.
    pub fn value(&self, number: usize) -> f64 {
        match self {
            Self::Numbers(values) => values.get(number).copied().unwrap_or_default(),
            Self::Names(_) => number as f64,
        }
    }
}

/// An axis of a chart as the library draws it.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    range: Range<f64>,
    ticks: Vec<(f64, String)>,
    logarithmic: bool,
}

/// Ticks of an axis, about.
const TICKS: usize = 6;

impl Axis {
    /// A range without anything standing at it.
    pub(super) fn bare(range: Range<f64>) -> Self {
        Self {
            range,
            ticks: Vec::new(),
            logarithmic: false,
        }
    }

    /// From 0 to a round number that is at least `max`.
    pub(super) fn from_zero(unit: Unit, max: f64) -> Self {
        let max = if max > 0.0 { max } else { 1.0 };
        let step = match round_values(0.0..max)[..] {
            [first, second, ..] => second - first,
            _ => max,
        };
        let steps = (max / step - 1e-9).ceil() as u32;
        let ticks = (0..=steps).map(|i| f64::from(i) * step);
        Self {
            range: 0.0..f64::from(steps) * step,
            ticks: ticks.map(|value| (value, unit.label(value))).collect(),
            logarithmic: false,
        }
    }

    /// The same with no more than three ticks, for a low chart.
    pub(super) fn low_from_zero(unit: Unit, max: f64) -> Self {
        let mut axis = Self::from_zero(unit, max);
        let last = axis.ticks.len().saturating_sub(1);
        let mut place = 0..;
        axis.ticks.retain(|_| {
            let place = place.next().unwrap_or(0);
            place == 0 || place == last || (last.is_multiple_of(2) && place == last / 2)
        });
        axis
    }

    /// Around numbers, with a tick at each of them where there is room, else at round ones.
    pub(super) fn around(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let (min, max) = match values[..] {
            [] => (0.0, 1.0),
            [lone] => (lone - 1.0, lone + 1.0),
            [min, .., max] => (min, max),
        };
        let span = max - min;
        let range = min - span * 0.05..max + span * 0.05;
        let roomy = values.windows(2).all(|pair| pair[1] - pair[0] >= span * 0.08);
        let ticks = if roomy {
            values
        } else {
            round_values(range.clone())
        };
        Self {
            range,
            ticks: ticks.into_iter().map(|value| (value, plain(value))).collect(),
            logarithmic: false,
        }
    }

    /// For names; each has the place of its number.
    pub(super) fn names(names: &[String]) -> Self {
        let ticks = names.iter().enumerate();
        Self {
            range: -0.5..names.len().max(1) as f64 - 0.5,
            ticks: ticks.map(|(place, name)| (place as f64, name.clone())).collect(),
            logarithmic: false,
        }
    }

    /// Logarithmic, between powers of ten, or twice or five times such a power, around `min` and `max`; both above 0.
    pub(super) fn logarithmic(min: f64, max: f64) -> Self {
        let min = min.max(1e-6);
        let max = max.max(min * 2.0);
        let low = *one_two_five(min / 10.0..min).last().unwrap_or(&min);
        let high = *one_two_five(max..max * 10.0).first().unwrap_or(&max);
        // The library labels powers of ten only, of which a short range holds one or none.
        let mut ticks = one_two_five(low..high);
        if ticks.len() > 8 {
            ticks = LogCoord::from((low..high).log_scale()).key_points(TICKS);
        }
        Self {
            range: low..high,
            ticks: ticks.into_iter().map(|value| (value, plain(value))).collect(),
            logarithmic: true,
        }
    }

    /// The same from top to bottom.
    pub(super) fn reversed(mut self) -> Self {
        self.range = self.range.end..self.range.start;
        self
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let range = self.range.clone();
        if self.logarithmic {
            LogCoord::from(range.log_scale()).map(value, limit)
        } else {
            RangedCoordf64::from(range).map(value, limit)
        }
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight() {
            KeyPointWeight::Bold => self.ticks.iter().map(|(value, _)| *value).collect(),
            KeyPointWeight::Any => Vec::new(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let found = self.ticks.iter().find(|(tick, _)| tick == value);
        found.map_or_else(String::new, |(_, label)| label.clone())
    }
}

/// The least and the greatest of the finite numbers among `values`.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.fold(None, |found, value| {
        let (min, max) = found.unwrap_or((value, value));
        Some((value.min(min), value.max(max)))
    })
}

/// Round values in a range.
fn round_values(range: Range<f64>) -> Vec<f64> {
    RangedCoordf64::from(range).key_points(TICKS)
}

/// All of 1, 2 and 5 times a power of ten in a range, its end included.
pub(super) fn one_two_five(range: Range<f64>) -> Vec<f64> {
    let first = libm::floor(libm::log10(range.start)) as i32;
    let last = libm::ceil(libm::log10(range.end)) as i32;
    (first..=last)
        .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * libm::pow(10.0, f64::from(power))))
        .filter(|value| *value >= range.start * (1.0 - 1e-9) && *value <= range.end * (1.0 + 1e-9))
        .collect()
}

/// A number without needless digits, with spaces between thousands.
pub(super) fn plain(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 1.0 => 2,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, digits) = whole
        .strip_prefix('-')
        .map_or(("", whole), |digits| ("-", digits));
    if digits.len() <= 4 {
        return text.to_owned();
    }
    let mut spaced = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            spaced.push('\u{202f}');
        }
        spaced.push(digit);
    }
    format!("{sign}{spaced}{rest}")
}
