//! TCP's congestion control: RFC 5681 with the recovery of RFC 6582 and the ECN reaction of RFC 3168.

use super::aimd::Aimd;
use super::{Batch, Facts, Mechanism, Params, Saved};
use crate::time::Instant;

/// IW, the largest initial window for segments of `smss` units (RFC 5681, section 3.1).
pub const fn initial_window(smss: u32) -> u32 {
    let segments = match smss {
        0..=1095 => 4,
        1096..=2190 => 3,
        _ => 2,
    };
    segments * if smss > u32::MAX / 4 { u32::MAX / 4 } else { smss }
}

/// Slow start, congestion avoidance and recovery in units of the user.
///
/// How a loss is found (three duplicate acknowledgments, selective ones, a bitmap) is the user's matter. A message that
/// is acknowledged or lost is no longer under way, so the window is not inflated while recovery lasts (RFC 5681,
/// section 4.3); it is the threshold from its start to its end (RFC 6582, section 3.2, step 3, second choice).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reno {
    pub(super) aimd: Aimd,
}

impl Reno {
    /// Starts with the initial window of the settings.
    pub fn new(params: &Params) -> Self {
        Self {
            aimd: Aimd::new(params),
        }
    }

    /// FlightSize, no more than the window (RFC 8511 section 3.1).
    pub(super) fn flight(&self, facts: &Facts<'_>) -> u32 {
        facts.flight.min(self.aimd.window)
    }

    /// Reacts to congestion that a message sent at `sent_at` met, once for all messages that were under way then (RFC
    /// 3168 section 6.1.2, RFC 6582 section 3.2): ssthresh = max(`share`, 2 * SMSS), where `share` is that part of
    /// FlightSize which is left, and the window is no more than that.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn congestion(&mut self, facts: &Facts<'_>, sent_at: Instant, share: u32) {
        if self.aimd.recovery.covers(sent_at) {
            return;
        }
        self.aimd.threshold = at_least_two(facts, share);
        self.aimd
            .reduce(facts.now, self.aimd.window.min(self.aimd.threshold));
    }
}

/// The lower bound of RFC 5681 equation (4).
fn at_least_two(facts: &Facts<'_>, share: u32) -> u32 {
    share.max(facts.params.unit().saturating_mul(2))
}

impl Mechanism for Reno {
    fn window(&self) -> u32 {
        self.aimd.window
    }

    /// RFC 5681 section 3.1, equation (2). One report for each acknowledgment, however much it covers.
    fn acked(&mut self, facts: &Facts<'_>, batch: &Batch) {
        if !self.aimd.recovery.covers(batch.newest) {
            let slow_start = batch.size.min(facts.params.unit());
            self.aimd.grow(facts.params, batch.size, slow_start);
        }
    }

    /// RFC 5681 section 3.2, step 2.
    fn lost(&mut self, facts: &Facts<'_>, batch: &Batch) {
        self.congestion(facts, batch.newest, self.flight(facts) / 2);
    }

    /// RFC 5681 section 3.1: the threshold is held where the message was sent again before, and the window is one
    /// segment, the loss window. RFC 6582 section 3.2, step 4: recovery covers all that was sent until now.
    fn timed_out(&mut self, facts: &Facts<'_>, batch: &Batch) {
        if !batch.resent && !self.aimd.recovery.covers(batch.newest) {
            self.aimd.threshold = at_least_two(facts, self.flight(facts) / 2);
        }
        self.aimd
            .reduce(facts.now, facts.params.unit().min(self.aimd.window));
    }

    /// RFC 3168 section 6.1.2: as a loss. (With a window of one segment, the sender has to wait for its timer as well:
    /// that is the user's.)
    fn ecn(&mut self, facts: &Facts<'_>, sent_at: Instant) {
        self.congestion(facts, sent_at, self.flight(facts) / 2);
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
