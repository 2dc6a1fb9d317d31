//! Round-trip time and retransmission timer: RFC 6298.

use super::Batch;
use crate::time::{Duration, Instant};

/// Doublings of the timer after which it no longer grows: 2^10 times the shortest timer is past every maximum.
const BACK_OFFS_MAX: u8 = 10;

/// Bounds of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttLimits {
    /// The timer before the first measurement (RFC 6298 (2.1); `OptARQTimeOut` in RFC 8931 section 7.1).
    pub initial: Duration,
    /// The clock granularity G (RFC 6298 section 4).
    pub granularity: Duration,
    /// The shortest timer (RFC 6298 (2.4); `MinARQTimeOut` in RFC 8931 section 7.1).
    pub minimum: Duration,
    /// The longest timer (RFC 6298 (2.5); `MaxARQTimeOut` in RFC 8931 section 7.1).
    pub maximum: Duration,
}

impl RttLimits {
    /// The values of RFC 6298: 1 s at first (2.1) and at least (2.4), at most 60 s (2.5), a clock of 1 ms.
    pub const RFC6298: Self = Self {
        initial: Duration::from_secs(1),
        granularity: Duration::from_millis(1),
        minimum: Duration::from_secs(1),
        maximum: Duration::from_secs(60),
    };
}

impl Default for RttLimits {
    fn default() -> Self {
        Self::RFC6298
    }
}

/// The estimate of a round-trip time. Times are in microseconds and stop at 71 minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rtt {
    /// SRTT; 0 before the first measurement.
    smoothed_us: u32,
    /// RTTVAR.
    variation_us: u32,
    /// How often the timer was doubled since the last measurement.
    back_offs: u8,
}

impl Rtt {
    /// Nothing was measured.
    pub const EMPTY: Self = Self {
        smoothed_us: 0,
        variation_us: 0,
        back_offs: 0,
    };

    /// Takes a measurement (RFC 6298 (2.2) and (2.3), alpha 1/8 and beta 1/4). The timer is no longer backed off
    /// (section 5).
    pub fn sample(&mut self, rtt: Duration) {
        // A measured round trip takes some time: 0 stands for "not measured".
        let rtt_us = micros(rtt).max(1);
        if self.smoothed_us == 0 {
            self.smoothed_us = rtt_us;
            self.variation_us = rtt_us / 2;
        } else {
            // The variation first: it is taken from the old mean (2.3).
            let deviation_us = self.smoothed_us.abs_diff(rtt_us);
            self.variation_us = self.variation_us - self.variation_us / 4 + deviation_us / 4;
            self.smoothed_us = (self.smoothed_us - self.smoothed_us / 8 + rtt_us / 8).max(1);
        }
        self.back_offs = 0;
    }

    /// Takes the measurement that an acknowledgment gives: none if a message was sent more than once, because nobody
    /// knows which of the two is acknowledged (Karn's algorithm, RFC 6298 section 3).
    pub fn acked(&mut self, now: Instant, batch: &Batch) -> Option<Duration> {
        if batch.resent {
            return None;
        }
        let rtt = now.since(batch.newest);
        self.sample(rtt);
        Some(rtt)
    }

    /// The timer expired: the next runs twice as long (RFC 6298 (5.5)).
    pub const fn back_off(&mut self) {
        if self.back_offs < BACK_OFFS_MAX {
            self.back_offs += 1;
        }
    }

    /// The timer runs as if it had not expired: another transfer begins.
    pub const fn reset_back_off(&mut self) {
        self.back_offs = 0;
    }

    /// SRTT, the smoothed round-trip time; `None` before the first measurement.
    pub const fn smoothed(&self) -> Option<Duration> {
        match self.smoothed_us {
            0 => None,
            us => Some(Duration::from_micros(us as u64)),
        }
    }

    /// RTTVAR, the variation of the round-trip time.
    pub const fn variation(&self) -> Duration {
        Duration::from_micros(self.variation_us as u64)
    }

    /// SRTT + max(G, 4 * RTTVAR), what every timer of RFC 6298 and RFC 9002 is made of; `None` before the first
    /// measurement.
    pub fn spread(&self, granularity: Duration) -> Option<Duration> {
        Some(self.smoothed()? + self.variation().times(4).max(granularity))
    }

    /// RTO: how long to wait for an acknowledgment before a message is sent again (RFC 6298 section 2 and (5.5)).
    pub fn timeout(&self, limits: &RttLimits) -> Duration {
        let timer = self
            .spread(limits.granularity)
            .map_or(limits.initial, |timer| timer.max(limits.minimum));
        timer
            .times(1 << self.back_offs.min(BACK_OFFS_MAX))
            .min(limits.maximum)
    }
}

/// The span in microseconds, at most 71 minutes.
pub(super) fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
