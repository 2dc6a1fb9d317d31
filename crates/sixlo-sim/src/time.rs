//! Simulated time: integer nanoseconds since the start of the run.

use std::ops::{Add, AddAssign, Sub};

use sixlo::time::Instant;

/// A point in time or a span of it, in nanoseconds. 584 years fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the run, or no time at all.
    pub const ZERO: Self = Self(0);

    /// Later than anything.
    pub const NEVER: Self = Self(u64::MAX);

    /// So many nanoseconds.
    pub const fn ns(ns: u64) -> Self {
        Self(ns)
    }

    /// So many microseconds; [`NEVER`](Self::NEVER) if they are more than fit.
    pub const fn us(us: u64) -> Self {
        Self(us.saturating_mul(1_000))
    }

    /// So many milliseconds; [`NEVER`](Self::NEVER) if they are more than fit.
    pub const fn ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// In nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// In seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span since `earlier`, zero if that lies later.
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// As the stack counts time: whole microseconds.
    pub const fn to_stack(self) -> Instant {
        Instant::from_micros(self.0 / 1_000)
    }

    /// From the stack's time.
    pub const fn from_stack(instant: Instant) -> Self {
        Self::us(instant.as_micros())
    }
}

impl Add for Time {
    type Output = Self;

    #[inline]
    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, span: Self) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Self;

    #[inline]
    fn sub(self, span: Self) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}
