//! Unslotted CSMA/CA with acknowledgements and retransmissions (IEEE 802.15.4-2020, 6.2.5.1 and 6.7.4), for a device
//! that senses the channel once for each frame it is given and does nothing more by itself.

use super::timing::PhyTiming;
use crate::netdev::{CsmaParams, FRAME_LEN_MAX, TxOutcome, TxReport};
use crate::rng::Rng;
use crate::time::{Duration, Instant};

/// The largest back-off exponent that the standard allows (`macMaxBe`, IEEE 802.15.4-2020, table 8-94): larger
/// parameters count as this one.
const EXPONENT_MAX: u8 = 8;

/// Everything that medium access can be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CsmaConfig {
    /// How to back off and how often to try.
    pub params: CsmaParams,
    /// Times of the physical layer.
    pub timing: PhyTiming,
}

impl CsmaConfig {
    /// The empty value, for tables of interfaces: all-zero bits, and no configuration that would work.
    pub const ZERO: Self = Self {
        params: CsmaParams {
            min_be: 0,
            max_be: 0,
            max_backoffs: 0,
            max_retries: 0,
            retry_delay_max: Duration::ZERO,
            retry_busy: false,
        },
        timing: PhyTiming {
            unit_backoff: Duration::ZERO,
            ack_wait: Duration::ZERO,
            sifs: Duration::ZERO,
            lifs: Duration::ZERO,
            sifs_len_max: 0,
        },
    };
}

/// What whoever drives [`Csma`] has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// Call [`Csma::timer`] at this instant; it takes the place of any instant named before.
    Wait(Instant),
    /// Ask the device to sense the channel once and to send the frame if it is clear; then call [`Csma::transmitted`].
    Transmit {
        /// The device was asked to send this frame before.
        again: bool,
    },
    /// The frame is done with, and the next one may be started.
    Finished(TxReport),
}

impl CsmaConfig {
    /// About how long a frame of full length takes from the moment that it may be sent to the moment that the next one
    /// may: a mean first back-off, the frame with its acknowledgement, and the pause after it.
    pub fn frame_time(&self) -> Duration {
        let back_off_units = (1 << self.params.min_be.min(EXPONENT_MAX)) / 2;
        let timing = &self.timing;
        timing.unit_backoff.times(back_off_units)
            + timing.on_air(FRAME_LEN_MAX)
            + timing.ack_wait
            + timing.lifs
    }
}

/// Where the frame in hand stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// There is no frame.
    #[default]
    Idle,
    /// Backing off, until the deadline.
    BackOff,
    /// The device was asked to sense the channel and to send.
    Asked,
    /// The frame was sent; its acknowledgement may come until the deadline.
    AckWait,
}

/// Medium access for one frame at a time: a state machine that holds no frame, reads no clock and sets no timer.
///
/// [`start`](Self::start) says that there is a frame to send. From then on each call returns the next [`Step`], which
/// the caller carries out: a timer to set, the device to ask, or the end of the frame. Calls that come early, late,
/// repeatedly or in a phase in which they mean nothing do no harm: they return `None`, or for a timer that is not due,
/// its instant again. Time is expected not to run backwards; where it does, waits get longer, and nothing else happens.
///
/// For each frame the device is asked at most (`max_retries` + 1) * (`max_backoffs` + 1) times; at most 255 attempts
/// are made, whatever `max_retries` says. An attempt is a frame on the air, or with `retry_busy` also a channel that was
/// always busy. The empty value, no frame in hand, is all-zero bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Csma {
    phase: Phase,
    /// NB of the standard: back-offs of the present attempt after its first.
    backoffs: u8,
    /// How often the frame was put on the air.
    attempts: u8,
    /// Attempts that failed, those included that never came to the air.
    failed: u8,
    /// How often the channel was found busy.
    busy: u8,
    /// The sequence number of the acknowledgement that the frame asks for.
    acknowledgement: Option<u8>,
    /// The pause that the frame leaves behind it.
    interframe_space: Duration,
    /// The end of the back-off or of the wait for the acknowledgement.
    deadline: Instant,
    /// The end of the pause after the last frame or its acknowledgement.
    quiet_until: Instant,
}

impl Csma {
    /// No frame in hand, and no pause to be kept.
    pub const fn new() -> Self {
        Self {
            phase: Phase::Idle,
            backoffs: 0,
            attempts: 0,
            failed: 0,
            busy: 0,
            acknowledgement: None,
            interframe_space: Duration::ZERO,
            deadline: Instant::ZERO,
            quiet_until: Instant::ZERO,
        }
    }

    /// Whether there is no frame in hand.
    pub const fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    /// Begins with a frame that asks for an acknowledgement of this sequence number, or for none. A frame still in hand
    /// is forgotten.
    ///
    /// The back-off begins when the pause after the last frame is over (IEEE 802.15.4-2020, 6.2.4).
    pub fn start(
        &mut self,
        now: Instant,
        acknowledgement: Option<u8>,
        config: &CsmaConfig,
        rng: &mut Rng,
    ) -> Step {
        self.backoffs = 0;
        self.attempts = 0;
        self.failed = 0;
        self.busy = 0;
        self.acknowledgement = acknowledgement;
        self.back_off(now, now.max(self.quiet_until), config, rng)
    }

    /// The timer went off.
    pub fn timer(&mut self, now: Instant, config: &CsmaConfig, rng: &mut Rng) -> Option<Step> {
        match self.phase {
            Phase::Idle | Phase::Asked => None,
            Phase::BackOff | Phase::AckWait if now < self.deadline => Some(Step::Wait(self.deadline)),
            Phase::BackOff => Some(self.ask()),
            Phase::AckWait => Some(self.not_acknowledged(now, config, rng)),
        }
    }

    /// The device is done with what it was asked for: `now` is the end of the frame on the air, or of the channel
    /// assessment if the channel was busy. The frame had `len` bytes, frame check sequence included.
    pub fn transmitted(
        &mut self,
        now: Instant,
        len: usize,
        outcome: TxOutcome,
        config: &CsmaConfig,
        rng: &mut Rng,
    ) -> Option<Step> {
        if self.phase != Phase::Asked {
            return None;
        }
        if matches!(outcome, TxOutcome::Sent | TxOutcome::Acked | TxOutcome::NoAck) {
            self.attempts = self.attempts.saturating_add(1);
            self.interframe_space = config.timing.interframe_space(len);
            self.quiet_until = now + self.interframe_space;
        }
        Some(match outcome {
            TxOutcome::Sent if self.acknowledgement.is_some() => {
                self.phase = Phase::AckWait;
                self.deadline = now + config.timing.ack_wait;
                Step::Wait(self.deadline)
            }
            TxOutcome::Sent | TxOutcome::Acked | TxOutcome::Refused => self.finish(outcome),
            TxOutcome::NoAck => self.not_acknowledged(now, config, rng),
            TxOutcome::ChannelBusy => self.channel_busy(now, config, rng),
        })
    }

    /// An acknowledgement of this sequence number came in; `now` is its end. One that comes after its time, but before
    /// [`timer`](Self::timer) was called, still counts: it was late on the way from the device, not on the air.
    pub fn acknowledged(&mut self, now: Instant, sequence: u8) -> Option<Step> {
        if self.phase != Phase::AckWait || self.acknowledgement != Some(sequence) {
            return None;
        }
        self.quiet_until = now + self.interframe_space;
        Some(self.finish(TxOutcome::Acked))
    }

    /// The channel was busy: another back-off from a range twice as large, until there were too many of them, which
    /// ends not only the attempt but the frame (IEEE 802.15.4-2020, 6.2.5.1: "channel access failure"), unless such
    /// attempts are to be followed by others.
    fn channel_busy(&mut self, now: Instant, config: &CsmaConfig, rng: &mut Rng) -> Step {
        self.busy = self.busy.saturating_add(1);
        if self.backoffs >= config.params.max_backoffs {
            if !config.params.retry_busy || self.is_last(config) {
                return self.finish(TxOutcome::ChannelBusy);
            }
            self.backoffs = 0;
            return self.back_off(now, now, config, rng);
        }
        self.backoffs += 1;
        self.back_off(now, now, config, rng)
    }

    /// The acknowledgement did not come: the frame is sent again, with CSMA/CA from its start, or given up after
    /// `max_retries` such retransmissions (IEEE 802.15.4-2020, 6.7.4.3).
    ///
    /// The random delay that comes before keeps two hidden senders from colliding again (Kumar et al., NSDI 2020,
    /// section 7.1).
    fn not_acknowledged(&mut self, now: Instant, config: &CsmaConfig, rng: &mut Rng) -> Step {
        if self.is_last(config) {
            return self.finish(TxOutcome::NoAck);
        }
        self.backoffs = 0;
        let delay_max = u32::try_from(config.params.retry_delay_max.as_micros()).unwrap_or(u32::MAX);
        let delay = rng.below(delay_max.saturating_add(1));
        let from = now + Duration::from_micros(u64::from(delay));
        self.back_off(now, from.max(self.quiet_until), config, rng)
    }

    /// One more attempt has failed. Whether there is no other.
    fn is_last(&mut self, config: &CsmaConfig) -> bool {
        self.failed = self.failed.saturating_add(1);
        self.failed >= config.params.max_retries.saturating_add(1)
    }

    /// Backs off from the instant `from` (IEEE 802.15.4-2020, 6.2.5.1): uniform in 0..2^BE unit periods, where BE grows
    /// by one with each back-off of the attempt.
    fn back_off(&mut self, now: Instant, from: Instant, config: &CsmaConfig, rng: &mut Rng) -> Step {
        let CsmaParams { min_be, max_be, .. } = config.params;
        let exponent = min_be.saturating_add(self.backoffs).min(max_be).min(EXPONENT_MAX);
        let units = rng.below(1 << exponent);
        self.deadline = from + config.timing.unit_backoff.times(u64::from(units));
        if self.deadline <= now {
            return self.ask();
        }
        self.phase = Phase::BackOff;
        Step::Wait(self.deadline)
    }

    fn ask(&mut self) -> Step {
        self.phase = Phase::Asked;
        Step::Transmit {
            again: self.attempts > 0 || self.busy > 0,
        }
    }

    fn finish(&mut self, outcome: TxOutcome) -> Step {
        self.phase = Phase::Idle;
        Step::Finished(TxReport {
            outcome,
            attempts: self.attempts,
            busy: self.busy,
        })
    }
}

#[cfg(test)]
mod tests;
