//! What the window of TCP (RFC 5681) and that of QUIC (RFC 9002) have in common.

use super::{Params, Saved};
use crate::time::Instant;

/// A point in time, or never, aligned to four bytes so that a transfer's state has no holes. The empty value is
/// all-zero bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark([u32; 2]);

impl Mark {
    /// Never.
    pub(super) const NEVER: Self = Self([0; 2]);

    pub(super) const fn at(now: Instant) -> Self {
        // One more than the time, so that 0 is free.
        let stored = now.as_micros().saturating_add(1);
        Self([(stored >> 32) as u32, stored as u32])
    }

    const fn stored(self) -> u64 {
        ((self.0[0] as u64) << 32) | self.0[1] as u64
    }

    /// It was set, and `at` is no later.
    pub(super) const fn covers(self, at: Instant) -> bool {
        at.as_micros() < self.stored()
    }

    pub(super) const fn is_set(self) -> bool {
        self.stored() != 0
    }
}

/// Additive increase, multiplicative decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aimd {
    /// cwnd.
    pub(super) window: u32,
    /// ssthresh.
    pub(super) threshold: u32,
    /// Units acknowledged in congestion avoidance that did not open the window yet: `bytes_acked` of RFC 3465, section
    /// 2.1.
    credit: u32,
    /// When the window was last reduced. What was sent until then tells of congestion that was reacted to: RFC 6582,
    /// section 3.2, step 2, and RFC 9002, section 7.3.2, in terms of time.
    pub(super) recovery: Mark,
}

impl Aimd {
    /// In slow start, with a threshold that nothing reaches (RFC 5681 section 3.1, RFC 9002 section 7.3.1).
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn new(params: &Params) -> Self {
        Self {
            window: params.start_window(),
            threshold: u32::MAX,
            credit: 0,
            recovery: Mark::NEVER,
        }
    }

    pub(super) const fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// Opens the window: by `slow_start` below the threshold, by one full-sized message for each window acknowledged
    /// above it (RFC 5681 section 3.1 and RFC 9002 section 7.3.3, counted as in RFC 3465 section 2.1).
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn grow(&mut self, params: &Params, acked: u32, slow_start: u32) {
        let more = if self.in_slow_start() {
            slow_start
        } else {
            self.credit = self.credit.saturating_add(acked);
            if self.credit < self.window {
                return;
            }
            // More than one window in one acknowledgment opens it by one message all the same.
            self.credit = (self.credit - self.window).min(self.window);
            params.unit()
        };
        let most = params.maximum_window.max(self.window);
        self.window = self.window.saturating_add(more).min(most);
    }

    pub(super) const fn save(&self) -> Saved {
        Saved {
            window: self.window,
            threshold: self.threshold,
        }
    }

    /// The reduction was not called for.
    pub(super) fn restore(&mut self, saved: &Saved) {
        self.window = self.window.max(saved.window);
        self.threshold = saved.threshold;
        self.recovery = Mark::NEVER;
    }

    /// Reduces the window at `now`; the threshold is set by the caller.
    pub(super) fn reduce(&mut self, now: Instant, window: u32) {
        self.window = window;
        self.credit = 0;
        self.recovery = Mark::at(now);
    }
}
