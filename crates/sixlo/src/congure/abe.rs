//! Alternative back-off with ECN: RFC 8511.

use super::reno::Reno;
use super::{Batch, Facts, Mechanism, Params, Saved};
use crate::time::Instant;

/// [`Reno`] with a milder reaction to ECN than to loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abe(Reno);

impl Abe {
    /// Starts with the initial window of the settings.
    pub fn new(params: &Params) -> Self {
        Self(Reno::new(params))
    }
}

impl Mechanism for Abe {
    fn window(&self) -> u32 {
        self.0.window()
    }

    fn acked(&mut self, facts: &Facts<'_>, batch: &Batch) {
        self.0.acked(facts, batch);
    }

    fn lost(&mut self, facts: &Facts<'_>, batch: &Batch) {
        self.0.lost(facts, batch);
    }

    fn timed_out(&mut self, facts: &Facts<'_>, batch: &Batch) {
        self.0.timed_out(facts, batch);
    }

    /// RFC 8511 section 3.1 decouples the reactions "in the congestion avoidance phase"; section 4 advises against it in
    /// slow start, where the reaction stays that of RFC 3168.
    fn ecn(&mut self, facts: &Facts<'_>, sent_at: Instant) {
        if self.0.aimd.in_slow_start() {
            self.0.ecn(facts, sent_at);
        } else {
            // beta_ecn = 0.8: four fifths, rounded down.
            let flight = self.0.flight(facts);
            self.0.congestion(facts, sent_at, flight - flight.div_ceil(5));
        }
    }

    fn save(&self) -> Saved {
        self.0.save()
    }

    fn restore(&mut self, saved: &Saved) {
        self.0.restore(saved);
    }
}

#[cfg(test)]
mod tests;
