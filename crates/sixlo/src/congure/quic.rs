//! QUIC's congestion control: RFC 9002, section 7 and appendix B, with pacing.

use super::aimd::{Aimd, Mark};
use super::rtt::micros;
use super::{Batch, Facts, Mechanism, Params, Rtt, Saved};
use crate::time::{Duration, Instant};

/// kInitialRtt (RFC 9002 section 6.2.2).
pub(super) const INITIAL_RTT: Duration = Duration::from_millis(333);

/// kPersistentCongestionThreshold (RFC 9002 section 7.6.1).
const PERSISTENT_THRESHOLD: u64 = 3;

/// kInitialWindow for datagrams of at most `unit` bytes (RFC 9002 section 7.2).
pub(super) const fn initial_window(unit: u32) -> u32 {
    let (two, ten) = (unit.saturating_mul(2), unit.saturating_mul(10));
    let limit = if two > 14_720 { two } else { 14_720 };
    if ten < limit { ten } else { limit }
}

/// The interval after a message of `size` units that spreads the window over the round-trip time: ( smoothed_rtt *
/// packet_size / congestion_window ) / N, N = 1.25 (RFC 9002 section 7.7).
#[cfg_attr(target_os = "none", inline(never))]
pub(super) fn pace(params: &Params, rtt: &Rtt, size: u32, window: u32) -> Duration {
    let smoothed = rtt.smoothed().unwrap_or(params.initial_rtt);
    // In 32 bits, as a division of 64 takes 1 KB of code on the chip: whole windows and what is left over apart. Exact up
    // to a message of 1500 bytes in a window of 140 KB.
    let (smoothed, five_fourths) = (micros(smoothed), window.max(1).saturating_mul(5));
    let fourfold = size.saturating_mul(4);
    let rest = (smoothed % five_fourths).saturating_mul(fourfold) / five_fourths;
    let whole = Duration::from_micros(u64::from(smoothed / five_fourths));
    whole.times(u64::from(fourfold)) + Duration::from_micros(u64::from(rest))
}

/// Slow start, recovery periods and congestion avoidance, persistent congestion, and an interval between messages that
/// spreads the window over the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quic {
    aimd: Aimd,
    /// `first_rtt_sample` (RFC 9002 appendix B.8).
    first_sample: Mark,
}

impl Quic {
    /// Starts with the initial window of the settings (RFC 9002 appendix B.3).
    pub fn new(params: &Params) -> Self {
        Self {
            aimd: Aimd::new(params),
            first_sample: Mark::NEVER,
        }
    }

    /// `OnCongestionEvent` (RFC 9002 appendix B.6), kLossReductionFactor 1/2.
    fn congestion(&mut self, facts: &Facts<'_>, sent_at: Instant) {
        if self.aimd.recovery.covers(sent_at) {
            return;
        }
        self.aimd.threshold = self.aimd.window / 2;
        let window = self.aimd.threshold.max(facts.params.minimum());
        self.aimd.reduce(facts.now, window.min(self.aimd.window));
    }

    /// `InPersistentCongestion` (RFC 9002 section 7.6): nothing came through for longer than three times what a
    /// round trip may take, all of it sent after the round-trip time was known.
    fn is_persistent(&self, facts: &Facts<'_>, batch: &Batch) -> bool {
        let known = self.first_sample.is_set() && !self.first_sample.covers(batch.oldest);
        let spread = facts.rtt.spread(facts.params.timer.granularity);
        known
            && spread
                .is_some_and(|spread| batch.newest.since(batch.oldest) > spread.times(PERSISTENT_THRESHOLD))
    }
}

impl Mechanism for Quic {
    fn window(&self) -> u32 {
        self.aimd.window
    }

    fn interval(&self, params: &Params, rtt: &Rtt, size: u32) -> Option<Duration> {
        Some(pace(params, rtt, size, self.aimd.window))
    }

    /// `OnPacketAcked` (RFC 9002 appendix B.5).
    fn acked(&mut self, facts: &Facts<'_>, batch: &Batch) {
        if facts.sample.is_some() && !self.first_sample.is_set() {
            self.first_sample = Mark::at(facts.now);
        }
        if !facts.limited && !self.aimd.recovery.covers(batch.newest) {
            self.aimd.grow(facts.params, batch.size, batch.size);
        }
    }

    /// `OnPacketsLost` (RFC 9002 appendix B.8). A message that timed out is a lost one.
    fn lost(&mut self, facts: &Facts<'_>, batch: &Batch) {
        self.congestion(facts, batch.newest);
        if self.is_persistent(facts, batch) {
            self.aimd.window = facts.params.minimum().min(self.aimd.window);
            self.aimd.recovery = Mark::NEVER;
        }
    }

    /// `ProcessECN` (RFC 9002 appendix B.7).
    fn ecn(&mut self, facts: &Facts<'_>, sent_at: Instant) {
        self.congestion(facts, sent_at);
    }

    fn save(&self) -> Saved {
        self.aimd.save()
    }

    fn restore(&mut self, saved: &Saved) {
        self.aimd.restore(saved);
    }
}

#[cfg(test)]
mod tests;
