//! AT86RF231 and AT86RF233: one frame buffer behind an SPI bus, and CSMA/CA with retries in hardware.
//!
//! Reception is that of `RX_AACK`: frames for others are filtered and acknowledgements sent by the radio. Transmission
//! is that of `TX_ARET`, or with the CSMA/CA of the stack, one channel assessment and the frame.

use std::collections::VecDeque;

use sixlo::netdev::{TxOutcome, TxReport};

use super::{Cx, Readiness};
use crate::air::Deaf;
use crate::config;
use crate::frames::{Frames, Slot};
use crate::medium::Signal;
use crate::phy;
use crate::time::Time;

/// Bytes that an access to the frame buffer moves beside the frame: the command and the PHY header.
const SPI_OVERHEAD_BYTES: u64 = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// `RX_AACK_ON`.
    #[default]
    Listening,
    /// The frame is copied into the buffer.
    Preparing,
    BackingOff,
    Sensing {
        since: Time,
    },
    Sending,
    AwaitingAck,
    /// The driver handles the end of a transmission.
    Settling,
    /// A received frame has taken the place of the one to send.
    Displaced,
}

/// See [`config::At86rf23x`].
#[derive(Debug)]
pub struct At86rf23x {
    config: config::At86rf23x,
    state: State,
    generation: u32,
    received: VecDeque<(Slot, Signal)>,
    acknowledging: bool,
    /// The frame to send.
    slot: Slot,
    /// The buffer holds it.
    loaded: bool,
    /// Its last transmission asked for an acknowledgement that the stack waits for.
    awaiting: bool,
    /// Back-offs of this attempt after its first.
    backoffs: u8,
    attempts: u8,
    busy: u8,
    /// The end of the interframe space.
    quiet_until: Time,
}

impl At86rf23x {
    pub(super) fn new(config: &config::At86rf23x) -> Self {
        Self {
            config: config.clone(),
            state: State::Listening,
            generation: 0,
            received: VecDeque::new(),
            acknowledging: false,
            slot: 0,
            loaded: false,
            awaiting: false,
            backoffs: 0,
            attempts: 0,
            busy: 0,
            quiet_until: Time::ZERO,
        }
    }

    fn copy_time(&self, frame_bytes: usize) -> Time {
        let bytes = frame_bytes as u64 + SPI_OVERHEAD_BYTES;
        Time::ns(bytes * 1_000_000 / u64::from(self.config.spi_kbytes_per_s.max(1)))
    }

    /// Tells the ear what the state means for it.
    fn update(&self, cx: &mut Cx<'_>) {
        let hardware = self.config.hardware_csma;
        let buffer_full = self.config.one_buffer && self.config.protect_buffer && !self.received.is_empty();
        let cause = match self.state {
            _ if self.acknowledging => Some(Deaf::Acknowledging),
            State::Preparing => Some(Deaf::Preparing),
            State::BackingOff | State::Sensing { .. } if hardware && self.config.deaf_in_backoff => {
                Some(Deaf::BackingOff)
            }
            State::Sending => Some(Deaf::Transmitting),
            State::AwaitingAck => Some(Deaf::AwaitingAck),
            State::Settling => Some(Deaf::Busy),
            _ if buffer_full => Some(Deaf::BufferFull),
            _ => None,
        };
        cx.ear.set(cx.now, cause);
    }

    fn timer_at(&mut self, cx: &mut Cx<'_>, at: Time) {
        self.generation = self.generation.wrapping_add(1);
        cx.timer(at, self.generation);
    }

    pub(super) fn readiness(&self, cx: &Cx<'_>) -> Readiness {
        if self.state != State::Listening {
            Readiness::Busy
        } else if self.acknowledging && self.config.when_receiving == config::WhenReceiving::Abort {
            // What is being acknowledged has been received: there is nothing to abort.
            Readiness::Busy
        } else if self.acknowledging || cx.is_receiving() {
            Readiness::Receiving(self.config.when_receiving)
        } else {
            Readiness::Ready
        }
    }

    pub(super) fn begin(&mut self, cx: &mut Cx<'_>, slot: Slot, again: bool) -> Time {
        self.slot = slot;
        self.awaiting = false;
        self.backoffs = 0;
        self.attempts = 0;
        self.busy = 0;
        let copy = !(again && self.loaded);
        self.prepare(cx, copy)
    }

    /// Copies the frame into the buffer, over whatever is there, and goes on.
    fn prepare(&mut self, cx: &mut Cx<'_>, copy: bool) -> Time {
        let time = if copy {
            self.copy_time(cx.frames.get(self.slot).mpdu_len())
        } else {
            Time::ZERO
        };
        if copy && self.config.one_buffer {
            cx.overwritten
                .extend(self.received.drain(..).map(|(slot, _)| slot));
        }
        self.loaded = true;
        self.state = State::Preparing;
        self.timer_at(cx, cx.now + time);
        self.update(cx);
        time
    }

    pub(super) fn timer(&mut self, cx: &mut Cx<'_>, generation: u32) -> Option<TxReport> {
        if generation != self.generation {
            return None;
        }
        let report = match self.state {
            State::Preparing if self.config.hardware_csma => {
                self.back_off(cx);
                None
            }
            State::Preparing => {
                self.sense(cx);
                None
            }
            State::BackingOff => {
                if self.acknowledging || !self.loaded {
                    self.state = State::Displaced;
                } else {
                    self.sense(cx);
                }
                None
            }
            State::Sensing { since } => self.sensed(cx, since),
            State::AwaitingAck => self.not_acknowledged(cx),
            State::Settling => {
                self.state = State::Listening;
                None
            }
            State::Listening | State::Sending | State::Displaced => None,
        };
        self.update(cx);
        report
    }

    /// Uniform in 0..2^BE unit periods (IEEE 802.15.4-2020, 6.2.5.1), after the interframe space.
    fn back_off(&mut self, cx: &mut Cx<'_>) {
        let exponent = cx
            .mac
            .min_be
            .saturating_add(self.backoffs)
            .min(cx.mac.max_be)
            .min(8);
        let units = cx.rng.below(1 << exponent);
        let from = cx.now.max(self.quiet_until);
        self.state = State::BackingOff;
        self.timer_at(cx, from + Time::ns(phy::BACKOFF_PERIOD.as_ns() * units));
    }

    fn sense(&mut self, cx: &mut Cx<'_>) {
        self.state = State::Sensing { since: cx.now };
        self.timer_at(cx, cx.now + phy::CCA);
    }

    fn sensed(&mut self, cx: &mut Cx<'_>, since: Time) -> Option<TxReport> {
        let clear = cx.is_clear(since) && !self.acknowledging;
        if clear && self.loaded {
            self.state = State::Sending;
            cx.send(self.slot);
            return None;
        }
        if clear {
            self.state = State::Displaced;
            return None;
        }
        self.busy = self.busy.saturating_add(1);
        if !self.config.hardware_csma || self.backoffs >= cx.mac.max_backoffs {
            return self.finish(cx, TxOutcome::ChannelBusy);
        }
        self.backoffs += 1;
        self.back_off(cx);
        None
    }

    pub(super) fn sent(&mut self, cx: &mut Cx<'_>, slot: Slot) -> Option<TxReport> {
        let report = if self.state == State::Sending && slot == self.slot {
            self.attempts = self.attempts.saturating_add(1);
            self.quiet_until = cx.now + phy::interframe_space(cx.frames.get(slot).mpdu_len());
            let ack_request = cx.frames.get(slot).ack_request;
            if self.config.hardware_csma && ack_request {
                self.state = State::AwaitingAck;
                self.timer_at(cx, cx.now + phy::ACK_WAIT);
                None
            } else {
                self.awaiting = ack_request;
                self.finish(cx, TxOutcome::Sent)
            }
        } else {
            self.acknowledging = false;
            None
        };
        self.update(cx);
        report
    }

    fn not_acknowledged(&mut self, cx: &mut Cx<'_>) -> Option<TxReport> {
        if self.attempts > cx.mac.max_retries {
            return self.finish(cx, TxOutcome::NoAck);
        }
        self.backoffs = 0;
        if self.config.retry_restarts_csma {
            self.back_off(cx);
        } else {
            self.sense(cx);
        }
        None
    }

    fn finish(&mut self, cx: &mut Cx<'_>, outcome: TxOutcome) -> Option<TxReport> {
        match self.config.busy_after_frame_us {
            0 => self.state = State::Listening,
            us => {
                self.state = State::Settling;
                self.timer_at(cx, cx.now + Time::us(u64::from(us)));
            }
        }
        Some(TxReport {
            outcome,
            attempts: self.attempts,
            busy: self.busy,
        })
    }

    pub(super) fn heard(&mut self, cx: &mut Cx<'_>, slot: Slot, signal: Signal, keep: bool) {
        if keep {
            self.keep(cx, slot, signal);
        }
        if cx.frames.get(slot).ack_request {
            self.acknowledging = true;
            cx.acknowledge(slot);
        }
        self.update(cx);
    }

    /// Puts a received frame into the buffer, over whatever is there if there is but one.
    fn keep(&mut self, cx: &mut Cx<'_>, slot: Slot, signal: Signal) {
        if self.config.one_buffer {
            cx.overwritten
                .extend(self.received.drain(..).map(|(slot, _)| slot));
            self.loaded = false;
        }
        cx.frames.hold(slot);
        self.received.push_back((slot, signal));
    }

    pub(super) fn awaits_ack(&self) -> bool {
        self.awaiting || self.state == State::AwaitingAck
    }

    /// In `TX_ARET` the radio compares the sequence number itself; else the stack does.
    pub(super) fn heard_ack(&mut self, cx: &mut Cx<'_>, slot: Slot, signal: Signal) -> Option<TxReport> {
        let mut report = None;
        if self.state == State::AwaitingAck {
            if cx.frames.get(slot).sequence == cx.frames.get(self.slot).sequence {
                self.quiet_until = cx.now + phy::interframe_space(cx.frames.get(self.slot).mpdu_len());
                report = self.finish(cx, TxOutcome::Acked);
            }
        } else {
            self.awaiting = false;
            self.keep(cx, slot, signal);
        }
        self.update(cx);
        report
    }

    /// The interrupt at the end of a reception comes when the acknowledgement was sent.
    pub(super) fn received(&self, frames: &Frames) -> Option<Time> {
        let &(slot, _) = self.received.front().filter(|_| !self.acknowledging)?;
        let busy = Time::us(u64::from(self.config.busy_after_frame_us));
        Some(self.copy_time(frames.get(slot).mpdu_len()) + busy)
    }

    pub(super) fn read(&mut self, cx: &mut Cx<'_>) -> Option<(Slot, Signal)> {
        let read = self.received.pop_front();
        self.update(cx);
        read
    }

    pub(super) fn copy_again(&mut self, cx: &mut Cx<'_>) -> Option<Time> {
        if self.state != State::Displaced || self.acknowledging || !self.received.is_empty() {
            return None;
        }
        cx.counters.copied_again += 1;
        Some(self.prepare(cx, true))
    }

    pub(super) fn switch_off(&mut self) -> Vec<Slot> {
        let generation = self.generation.wrapping_add(1);
        let before = std::mem::replace(self, Self::new(&self.config.clone()));
        self.generation = generation;
        before.received.into_iter().map(|(slot, _)| slot).collect()
    }
}
