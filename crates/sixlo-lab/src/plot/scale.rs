//! Scales: from values to pixels, with ticks at round numbers.

/// A linear or logarithmic scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    step: f64,
    logarithmic: bool,
    percent: bool,
}

impl Scale {
    /// From 0 to a round number that is at least `max`, with about `count` steps.
    pub fn from_zero(max: f64, count: usize) -> Self {
        Self::linear(0.0, max, count)
    }

    /// From 0 to 100 %, for shares from 0 to 1.
    pub fn share() -> Self {
        Self {
            low: 0.0,
            high: 1.0,
            step: 0.2,
            logarithmic: false,
            percent: true,
        }
    }

    /// From 0 to a round share that is at least `max`, shown in per cent.
    pub fn share_up_to(max: f64) -> Self {
        let scale = Self::linear(0.0, max.min(1.0), 5);
        Self {
            high: scale.high.min(1.0),
            percent: true,
            ..scale
        }
    }

    /// Between round numbers around `min` and `max`.
    pub fn linear(min: f64, max: f64, count: usize) -> Self {
        let span = if max > min { max - min } else { max.abs().max(1.0) };
        let step = round_step(span / count.max(1) as f64);
        let low = (min / step).floor() * step;
        let high = (max / step - 1e-9).ceil() * step;
        Self {
            low,
            high: if high > low { high } else { low + step },
            step,
            logarithmic: false,
            percent: false,
        }
    }

    /// Between powers of ten, or twice or five times such a power, around `min` and `max`; both above 0.
    pub fn logarithmic(min: f64, max: f64) -> Self {
        let min = min.max(1e-6);
        let max = max.max(min * 2.0);
        Self {
            low: *rounds(min / 10.0, min).last().unwrap_or(&min),
            high: *rounds(max, max * 10.0).first().unwrap_or(&max),
            step: 1.0,
            logarithmic: true,
            percent: false,
        }
    }

    /// The lowest value.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The highest value.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Where a value lies if the lowest is at `start` and the highest at `end`. Values outside lie at the edge.
    pub fn at(&self, value: f64, start: f64, end: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.logarithmic {
            libm::log(value / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        start + (end - start) * share
    }

    /// Round values, from the lowest to the highest.
    pub fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let all = rounds(self.low, self.high);
            if all.len() <= 7 {
                return all;
            }
            return all
                .into_iter()
                .filter(|value| leading_digit(*value) == 1)
                .collect();
        }
        let steps = ((self.high - self.low) / self.step).round() as usize;
        (0..=steps).map(|i| self.low + self.step * i as f64).collect()
    }

    /// How a tick is labelled.
    pub fn label(&self, value: f64) -> String {
        if self.percent {
            let text = format!("{:.1}", value * 100.0);
            return format!("{} %", text.trim_end_matches('0').trim_end_matches('.'));
        }
        plain(value)
    }
}

/// The horizontal axis of a chart: a scale, or places with names.
#[derive(Clone, Debug, PartialEq)]
pub enum Horizontal {
    /// Numbers; ticks at these values where there is room, else at round ones.
    Numbers(Scale, Vec<f64>),
    /// Names, evenly spaced; a value is the number of its name.
    Names(Vec<String>),
}

impl Horizontal {
    /// An axis for values with these labels: numbers, if all of them are.
    pub fn of(labels: &[String]) -> Self {
        let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
        match numbers {
            Some(numbers) if numbers.iter().all(|number| number.is_finite()) && numbers.len() > 1 => {
                let max = numbers.iter().copied().fold(f64::MIN, f64::max);
                let min = numbers.iter().copied().fold(f64::MAX, f64::min);
                let low = if min >= 0.0 && min < max / 2.0 { 0.0 } else { min };
                Self::Numbers(Scale::linear(low, max, 6), numbers)
            }
            _ => Self::Names(labels.to_vec()),
        }
    }

    /// The value of the label with this number.
    pub fn value(&self, number: usize) -> f64 {
        match self {
            Self::Numbers(_, values) => values.get(number).copied().unwrap_or_default(),
            Self::Names(_) => number as f64,
        }
    }

    /// Where a value lies.
    pub fn at(&self, value: f64, left: f64, right: f64) -> f64 {
        match self {
            Self::Numbers(scale, _) => scale.at(value, left, right),
            Self::Names(names) => left + (right - left) * (value + 0.5) / names.len().max(1) as f64,
        }
    }

    /// Ticks with their labels.
    pub(super) fn ticks(&self, left: f64, right: f64) -> Vec<(f64, String)> {
        match self {
            Self::Names(names) => {
                let place = |(i, name): (usize, &String)| (self.at(i as f64, left, right), name.clone());
                names.iter().enumerate().map(place).collect()
            }
            Self::Numbers(scale, values) => {
                let mut sorted = values.clone();
                sorted.sort_by(f64::total_cmp);
                let roomy = sorted
                    .windows(2)
                    .all(|pair| scale.at(pair[1], left, right) - scale.at(pair[0], left, right) >= 34.0);
                let ticks = if roomy { sorted } else { scale.ticks() };
                let place = |value| (scale.at(value, left, right), plain(value));
                ticks.into_iter().map(place).collect()
            }
        }
    }
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

/// 1, 2 or 5 times a power of ten, at least `least`.
fn round_step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(least)));
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// All of 1, 2 and 5 times a power of ten between two values.
fn rounds(low: f64, high: f64) -> Vec<f64> {
    let first = libm::floor(libm::log10(low)) as i32;
    let last = libm::ceil(libm::log10(high)) as i32;
    (first..=last)
        .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * libm::pow(10.0, f64::from(power))))
        .filter(|value| *value >= low * (1.0 - 1e-9) && *value <= high * (1.0 + 1e-9))
        .collect()
}

fn leading_digit(value: f64) -> u8 {
    let power = libm::pow(10.0, libm::floor(libm::log10(value) + 1e-9));
    (value / power).round() as u8
}
