//! Statistics over runs: means with Student-t intervals, and quantiles.
//!
//! A run is one observation. Datagrams of one run share its random topology, shadowing and start times and are no
//! independent observations, so an interval over a ratio is taken over the ratios of the runs, never over datagrams.

/// The arithmetic mean, none of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation (divisor n - 1), none of fewer than two values.
pub fn sample_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// A mean over runs with its two-sided 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number of runs.
    pub runs: usize,
    /// The mean of the runs' values.
    pub mean: f64,
    /// Half the width of the interval: t(0.975, runs - 1) * deviation / sqrt(runs). A single run has none.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// Estimates the mean of the population from which the runs' values are drawn; none of no runs.
    pub fn of(values: &[f64]) -> Option<Self> {
        let runs = values.len();
        Some(Self {
            runs,
            mean: mean(values)?,
            half_width: sample_deviation(values)
                .map(|deviation| student_t_975(runs - 1) * deviation / (runs as f64).sqrt()),
        })
    }

    /// The lower end of the interval, not below `floor`.
    pub fn low(&self, floor: f64) -> Option<f64> {
        self.half_width.map(|half| (self.mean - half).max(floor))
    }

    /// The upper end of the interval, not above `ceiling`.
    pub fn high(&self, ceiling: f64) -> Option<f64> {
        self.half_width.map(|half| (self.mean + half).min(ceiling))
    }
}

/// The quantile at `p` (0..=1) of values that are sorted in ascending order, none of nothing.
///
/// Linear interpolation between order statistics at position p * (n - 1): definition 7 of Hyndman and Fan (1996), the
/// default of R and NumPy.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = p.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let share = position - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * share)
}

/// The 0.975 quantile of Student's t distribution with `freedom` degrees of freedom, at least 1.
pub fn student_t_975(freedom: usize) -> f64 {
    let freedom = freedom.max(1);
    // P(|T| <= t) grows with t. The first bracket that holds 0.95 is halved until no number lies between its ends.
    let mut high = 2.0;
    while student_t_within(high, freedom) < 0.95 {
        high *= 2.0;
    }
    let mut low = 0.0;
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if student_t_within(middle, freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// P(|T| <= t), by the finite series for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn student_t_within(t: f64, freedom: usize) -> f64 {
    let n = freedom as f64;
    let sine = t / (n + t * t).sqrt();
    let cosine_squared = n / (n + t * t);
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine_squared.sqrt() } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    // Terms up to cos^(freedom - 2); each is the last one times cos^2 * (k - 1) / k.
    let mut k = if odd { 3 } else { 2 };
    while k + 2 <= freedom {
        term *= cosine_squared * (k - 1) as f64 / k as f64;
        sum += term;
        k += 2;
    }
    if odd {
        let angle = libm::atan(t / n.sqrt());
        (angle + sine * sum) * core::f64::consts::FRAC_2_PI
    } else {
        sine * sum
    }
}

#[cfg(test)]
mod tests;
