//! When a claim counts as reproduced.

use crate::stats::Estimate;

/// What became of a claim, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It holds.
    Reproduced,
    /// It could not be measured yet.
    NotMeasured,
    /// The intervals overlap, or there are too few runs.
    Undecided,
    /// The contrary holds, or an exact figure differs.
    NotReproduced,
}

impl Verdict {
    /// All verdicts, the best first.
    pub const ALL: [Self; 4] = [
        Self::Reproduced,
        Self::NotMeasured,
        Self::Undecided,
        Self::NotReproduced,
    ];

    /// As ledger and tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotMeasured => "not yet measured",
            Self::Undecided => "undecided",
            Self::NotReproduced => "not reproduced",
        }
    }

    /// The verdict with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }

    /// For what either is exact or is not.
    pub const fn exact(holds: bool) -> Self {
        if holds {
            Self::Reproduced
        } else {
            Self::NotReproduced
        }
    }
}

/// A pair counts as ordered from so many runs on.
pub const RUNS_MIN: usize = 10;

/// Which of two conditions has the greater mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first: its 95 % interval lies above that of the second.
    Above,
    /// The second.
    Below,
    /// The intervals overlap, or fewer than [`RUNS_MIN`] runs were made of one of them.
    Unknown,
    /// One of them was not run.
    Missing,
}

/// The order of two conditions by the values of their runs.
pub fn order(first: &[f64], second: &[f64]) -> Order {
    let (Some(a), Some(b)) = (Estimate::of(first), Estimate::of(second)) else {
        return Order::Missing;
    };
    if a.runs.min(b.runs) < RUNS_MIN {
        return Order::Unknown;
    }
    let ends = |estimate: Estimate| Some((estimate.low(f64::MIN)?, estimate.high(f64::MAX)?));
    match (ends(a), ends(b)) {
        (Some((low, _)), Some((_, high))) if low > high => Order::Above,
        (Some((_, high)), Some((low, _))) if high < low => Order::Below,
        _ => Order::Unknown,
    }
}

/// Whether the first is above the second.
pub fn above(first: &[f64], second: &[f64]) -> Verdict {
    match order(first, second) {
        Order::Above => Verdict::Reproduced,
        Order::Below => Verdict::NotReproduced,
        Order::Unknown => Verdict::Undecided,
        Order::Missing => Verdict::NotMeasured,
    }
}

/// Whether the first is below the second.
pub fn below(first: &[f64], second: &[f64]) -> Verdict {
    above(second, first)
}

/// Whether enough runs were made to say that two conditions cannot be told apart, and they found something: of nothing
/// in all runs of both, nothing can be said.
fn comparable(first: &[f64], second: &[f64]) -> bool {
    let found = |values: &[f64]| values.iter().any(|value| *value != 0.0);
    first.len().min(second.len()) >= RUNS_MIN && (found(first) || found(second))
}

/// Whether the first is not above the second: reproduced if they cannot be told apart, too.
pub fn not_above(first: &[f64], second: &[f64]) -> Verdict {
    match order(first, second) {
        Order::Above => Verdict::NotReproduced,
        Order::Below => Verdict::Reproduced,
        Order::Unknown if comparable(first, second) => Verdict::Reproduced,
        Order::Unknown => Verdict::Undecided,
        Order::Missing => Verdict::NotMeasured,
    }
}

/// Whether the two cannot be told apart.
pub fn about_equal(first: &[f64], second: &[f64]) -> Verdict {
    match order(first, second) {
        Order::Above | Order::Below => Verdict::NotReproduced,
        Order::Unknown if comparable(first, second) => Verdict::Reproduced,
        Order::Unknown => Verdict::Undecided,
        Order::Missing => Verdict::NotMeasured,
    }
}

/// The verdict over several parts: the worst of them; without parts nothing was measured.
pub fn all(parts: impl IntoIterator<Item = Verdict>) -> Verdict {
    parts.into_iter().max().unwrap_or(Verdict::NotMeasured)
}
