//! How late events happened.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest lateness that is told apart, in microseconds: an hour.
const MAX_US: u64 = 3_600_000_000;

/// The distribution of the time from when an event was due to when it had happened.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

impl Lateness {
    /// No event yet. Two digits of each value are kept.
    pub fn new() -> Self {
        Self(Histogram::new_with_max(MAX_US, 2).expect("the bounds are in order"))
    }

    /// An event was so late.
    pub fn note(&mut self, late: Duration) {
        self.0.saturating_record(late.as_micros() as u64);
    }

    /// How many events there were.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// What a share of the events, 0 to 1, did not exceed.
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_micros(self.0.value_at_quantile(share))
    }

    /// The latest.
    pub fn max(&self) -> Duration {
        Duration::from_micros(self.0.max())
    }
}

impl Default for Lateness {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, most] = [0.5, 0.99].map(|share| self.quantile(share));
        write!(f, "median {median:?}, 99 % {most:?}, max {:?}", self.max())
    }
}
