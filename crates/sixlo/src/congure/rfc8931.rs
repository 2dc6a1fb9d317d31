//! The simple control of RFC 8931, appendix C, as Lenders et al. 2021 (section V-D) used it.

use super::{Batch, Facts, Mechanism, Params};
use crate::time::Instant;

/// A window that only shrinks. "Congestion on the forward path is assumed in case of packet loss, and packet loss is
/// assumed upon timeout": so a loss that an acknowledgment tells of changes nothing. The window is not opened again
/// within a transfer, and there is no pacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendixC {
    window: u32,
}

impl AppendixC {
    /// No transfer.
    pub(super) const EMPTY: Self = Self { window: 0 };

    /// "The next datagram starts with the configured `Window_Size` again."
    pub fn new(params: &Params) -> Self {
        Self {
            window: params.start_window(),
        }
    }
}

impl Mechanism for AppendixC {
    fn window(&self) -> u32 {
        self.window
    }

    fn acked(&mut self, _facts: &Facts<'_>, _batch: &Batch) {}

    fn lost(&mut self, _facts: &Facts<'_>, _batch: &Batch) {}

    /// Halves the window, the appendix's "good compromise".
    fn timed_out(&mut self, facts: &Facts<'_>, _batch: &Batch) {
        self.window = (self.window / 2)
            .max(facts.params.minimum())
            .min(self.window.max(1));
    }

    /// "The window SHOULD be reduced at least by 1 and at max to 1."
    fn ecn(&mut self, facts: &Facts<'_>, _sent_at: Instant) {
        let less = self.window.saturating_sub(facts.params.unit());
        self.window = less.max(facts.params.minimum()).min(self.window.max(1));
    }
}

#[cfg(test)]
mod tests;
