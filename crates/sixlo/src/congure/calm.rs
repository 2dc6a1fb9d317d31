//! A control for lossy multi-hop links, after what Lenders et al. 2021 (sections V-D and VIII) leave open: the smallest
//! initial window, conservative growth, pacing always.
//!
//! **Pace.** Messages are spread over the round-trip time as in RFC 9002 section 7.7, and `stretch` times further apart
//! after congestion, never closer than the gap that the air needs. So the rate of one transfer falls by itself where
//! queues make the round trip long, whatever the window.
//!
//! **Noise or load.** On a link that loses frames to noise, the round trip takes as long as ever while messages get
//! lost; where queues lose them, the round trip grew first. So a loss counts as congestion only if recent round trips
//! took half as long again as the shortest one, or if nothing at all is known. Otherwise neither window nor pace change.
//! ECN marks count always; so does a round trip of twice the shortest, without any loss; and so do two time-outs in a
//! row, because silence hides the round trip.
//!
//! **Memory.** A datagram of 2 to 13 fragments is over before much is learned. So a transfer inherits the stretch and
//! the round-trip times of an earlier one over the same path ([`super::Congestion::follow`]), but not its window.

use super::aimd::Mark;
use super::quic::pace;
use super::rtt::micros;
use super::{Batch, Facts, Mechanism, Params, Rtt};
use crate::time::{Duration, Instant};

/// Stretch of 1.
const STRETCH_MIN: u32 = 16;

/// Stretch of 16: one message in 16 round trips.
const STRETCH_MAX: u32 = 256;

/// An acknowledgment without a sign of load makes the rate, 1/stretch, greater by 1/512: by a 32nd of the full rate.
const STRETCH_RATE: u32 = 512;

/// Time-outs in a row that count as congestion.
const SILENCE: u8 = 2;

/// What round trips say about the queues on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Load {
    /// They take about as long as the shortest one.
    Low,
    /// They take at least half as long again, or none was ever measured.
    Rising,
    /// They take at least twice as long.
    High,
}

/// Delay tells load from noise; the window starts minimal, the pace is always kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calm {
    /// The window in units.
    window: u32,
    /// Units acknowledged that did not open the window yet.
    credit: u32,
    /// The round trip without queues, in microseconds; 0 if none was measured.
    base_us: u32,
    /// Mean of the last round trips, each half as heavy as the one after it, in microseconds.
    recent_us: u32,
    /// How much slower than the window allows, in 16ths.
    stretch: u16,
    /// Time-outs since the last acknowledgment.
    silent: u8,
    /// When congestion was last reacted to.
    recovery: Mark,
}

impl Calm {
    /// Starts with the initial window of the settings, at its full pace.
    pub fn new(params: &Params) -> Self {
        Self {
            window: params.start_window(),
            credit: 0,
            base_us: 0,
            recent_us: 0,
            stretch: STRETCH_MIN as u16,
            silent: 0,
            recovery: Mark::NEVER,
        }
    }

    /// Takes over what an earlier transfer learned about the path.
    pub(super) fn inherit(&mut self, earlier: &Self) {
        self.base_us = earlier.base_us;
        self.recent_us = earlier.recent_us;
        self.stretch = earlier.stretch;
    }

    fn load(&self) -> Load {
        let (base_us, recent_us) = (u64::from(self.base_us), u64::from(self.recent_us));
        if base_us == 0 || (recent_us >= base_us + base_us / 2 && recent_us < 2 * base_us) {
            Load::Rising
        } else if recent_us < 2 * base_us {
            Load::Low
        } else {
            Load::High
        }
    }

    /// Takes a measured round trip.
    fn measure(&mut self, rtt: Duration) {
        let rtt_us = micros(rtt).max(1);
        if self.base_us == 0 {
            (self.base_us, self.recent_us) = (rtt_us, rtt_us);
            return;
        }
        self.recent_us = self.recent_us / 2 + rtt_us / 2;
        if rtt_us < self.base_us {
            self.base_us = rtt_us;
        } else {
            // The path may have become longer: the shortest round trip is forgotten, a 64th of the difference at a time.
            self.base_us += (rtt_us - self.base_us) / 64;
        }
    }

    /// Halves the rate and closes the window, once for all messages that were under way when it last did.
    #[cfg_attr(target_os = "none", inline(never))]
    fn congestion(&mut self, facts: &Facts<'_>, sent_at: Instant) {
        if self.recovery.covers(sent_at) {
            return;
        }
        self.recovery = Mark::at(facts.now);
        self.credit = 0;
        self.window = self.window.min(facts.params.minimum());
        self.stretch = (u32::from(self.stretch) * 2).min(STRETCH_MAX) as u16;
    }

    /// An acknowledgment without any sign of load: first the pace, then the window.
    fn relax(&mut self, params: &Params, acked: u32) {
        if u32::from(self.stretch) > STRETCH_MIN {
            // Adds a constant to the rate, which is the inverse of the stretch: transfers that share a path come to
            // equal shares, as with the additive increase of a window.
            let (old, sum) = (u32::from(self.stretch), STRETCH_RATE + u32::from(self.stretch));
            let stretch = (old * STRETCH_RATE + sum / 2) / sum;
            self.stretch = stretch.max(STRETCH_MIN) as u16;
            return;
        }
        // Half as fast as congestion avoidance: one message more for two windows.
        self.credit = self.credit.saturating_add(acked);
        let wanted = self.window.saturating_mul(2);
        if self.credit >= wanted {
            self.credit = 0;
            let most = params.maximum_window.max(self.window);
            self.window = self.window.saturating_add(params.unit()).min(most);
        }
    }
}

impl Mechanism for Calm {
    fn window(&self) -> u32 {
        self.window
    }

    fn interval(&self, params: &Params, rtt: &Rtt, size: u32) -> Option<Duration> {
        let paced = pace(params, rtt, size, self.window).times(u64::from(self.stretch));
        let stretched = Duration::from_micros(paced.as_micros() / u64::from(STRETCH_MIN));
        Some(stretched.max(params.gap))
    }

    fn acked(&mut self, facts: &Facts<'_>, batch: &Batch) {
        self.silent = 0;
        if let Some(rtt) = facts.sample {
            self.measure(rtt);
        }
        match self.load() {
            Load::High => self.congestion(facts, batch.newest),
            Load::Rising => {}
            Load::Low if facts.limited || self.recovery.covers(batch.newest) => {}
            Load::Low => self.relax(facts.params, batch.size),
        }
    }

    fn lost(&mut self, facts: &Facts<'_>, batch: &Batch) {
        if self.load() != Load::Low {
            self.congestion(facts, batch.newest);
        }
    }

    fn timed_out(&mut self, facts: &Facts<'_>, batch: &Batch) {
        self.silent = self.silent.saturating_add(1);
        if self.silent >= SILENCE {
            self.congestion(facts, batch.newest);
        } else {
            self.lost(facts, batch);
        }
    }

    fn ecn(&mut self, facts: &Facts<'_>, sent_at: Instant) {
        self.congestion(facts, sent_at);
    }
}

#[cfg(test)]
mod tests;
