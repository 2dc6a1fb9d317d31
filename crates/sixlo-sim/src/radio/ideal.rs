//! A radio with a buffer for each direction and no copy times.

use std::collections::VecDeque;

use sixlo::netdev::{TxOutcome, TxReport};

use super::{Cx, Readiness};
use crate::air::Deaf;
use crate::frames::{Frames, Slot};
use crate::medium::Signal;
use crate::phy;
use crate::time::Time;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Listening,
    Sensing {
        slot: Slot,
        since: Time,
    },
    Sending {
        slot: Slot,
    },
}

/// See [`crate::config::Ideal`].
#[derive(Debug, Default)]
pub struct Ideal {
    state: State,
    generation: u32,
    acknowledging: bool,
    /// The last frame asked for an acknowledgement that has not come in.
    awaiting: bool,
    received: VecDeque<(Slot, Signal)>,
}

const fn report(outcome: TxOutcome, attempts: u8, busy: u8) -> Option<TxReport> {
    Some(TxReport {
        outcome,
        attempts,
        busy,
    })
}

impl Ideal {
    pub(super) fn readiness(&self, _cx: &Cx<'_>) -> Readiness {
        if self.state == State::Listening && !self.acknowledging {
            Readiness::Ready
        } else {
            Readiness::Busy
        }
    }

    /// One channel assessment, then the frame.
    pub(super) fn begin(&mut self, cx: &mut Cx<'_>, slot: Slot, _again: bool) -> Time {
        self.awaiting = false;
        self.state = State::Sensing { slot, since: cx.now };
        self.generation = self.generation.wrapping_add(1);
        cx.timer(cx.now + phy::CCA, self.generation);
        Time::ZERO
    }

    pub(super) fn timer(&mut self, cx: &mut Cx<'_>, generation: u32) -> Option<TxReport> {
        let State::Sensing { slot, since } = self.state else {
            return None;
        };
        if generation != self.generation {
            return None;
        }
        // A frame that ended within the assessment, and is being acknowledged now, was on the air in it.
        if !cx.is_clear(since) || self.acknowledging {
            self.state = State::Listening;
            return report(TxOutcome::ChannelBusy, 0, 1);
        }
        self.state = State::Sending { slot };
        cx.ear.set(cx.now, Some(Deaf::Transmitting));
        cx.send(slot);
        None
    }

    pub(super) fn sent(&mut self, cx: &mut Cx<'_>, slot: Slot) -> Option<TxReport> {
        cx.ear.set(cx.now, None);
        if self.state == (State::Sending { slot }) {
            self.state = State::Listening;
            self.awaiting = cx.frames.get(slot).ack_request;
            report(TxOutcome::Sent, 1, 0)
        } else {
            self.acknowledging = false;
            None
        }
    }

    pub(super) fn heard(&mut self, cx: &mut Cx<'_>, slot: Slot, signal: Signal, keep: bool) {
        if keep {
            cx.frames.hold(slot);
            self.received.push_back((slot, signal));
        }
        if cx.frames.get(slot).ack_request {
            self.acknowledging = true;
            cx.ear.set(cx.now, Some(Deaf::Acknowledging));
            cx.acknowledge(slot);
        }
    }

    pub(super) const fn awaits_ack(&self) -> bool {
        self.awaiting
    }

    /// The stack waits for it: it is handed up like any frame.
    pub(super) fn heard_ack(&mut self, cx: &mut Cx<'_>, slot: Slot, signal: Signal) -> Option<TxReport> {
        self.awaiting = false;
        cx.frames.hold(slot);
        self.received.push_back((slot, signal));
        None
    }

    pub(super) fn received(&self, _frames: &Frames) -> Option<Time> {
        if self.received.is_empty() {
            None
        } else {
            Some(Time::ZERO)
        }
    }

    pub(super) fn read(&mut self, _cx: &mut Cx<'_>) -> Option<(Slot, Signal)> {
        self.received.pop_front()
    }

    pub(super) fn switch_off(&mut self) -> Vec<Slot> {
        let generation = self.generation.wrapping_add(1);
        let before = std::mem::take(self);
        self.generation = generation;
        before.received.into_iter().map(|(slot, _)| slot).collect()
    }
}
