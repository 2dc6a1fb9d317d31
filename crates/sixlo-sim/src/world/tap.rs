//! What a stack tells while it runs: to the ledger, to the counters of its node, and to whoever watches.

use sixlo::time::Instant;
use sixlo::trace::{Event, FragmentFate, PktId, Sink, Told};

use super::streams::Account;
use crate::ledger::Ledger;
use crate::observer::Observer;
use crate::result::StackCounters;
use crate::stream::{self, Window};
use crate::time::Time;

pub(super) struct Tap<'w, O> {
    pub(super) now: Time,
    pub(super) node: u16,
    pub(super) ledger: &'w mut Ledger,
    pub(super) accounts: &'w mut [Account],
    pub(super) counters: &'w mut StackCounters,
    pub(super) observer: &'w mut O,
    /// Messages between modules so far.
    pub(super) messages: u32,
}

impl<O> Tap<'_, O> {
    /// The congestion window of a connection, which may be that of a transfer.
    fn window(&mut self, from_port: u16, bytes: u32, told: Told) {
        let number = stream::of_port(from_port).map(usize::from);
        if let Some(account) = number.and_then(|number| self.accounts.get_mut(number)) {
            let at = self.now;
            account.note_window(self.node, Window { at, bytes, told });
        }
    }
}

impl<O: Observer> Sink for Tap<'_, O> {
    #[inline]
    fn event(&mut self, _now: Instant, event: &Event) {
        match *event {
            Event::Hop { .. } => self.messages += 1,
            Event::FrameDone {
                outcome,
                attempts,
                busy,
                ..
            } => self.counters.frame_done(outcome, attempts, busy),
            Event::FrameDropped { reason, .. }
            | Event::FragmentIn {
                fate: FragmentFate::Dropped(reason),
                ..
            }
            | Event::RecoverableIn {
                fate: FragmentFate::Dropped(reason),
                ..
            }
            | Event::End {
                end: sixlo::trace::End::Dropped(reason),
                ..
            } => self.counters.drops[reason.place()] += 1,
            Event::FragmentIn {
                fate: FragmentFate::FellBack,
                ..
            }
            | Event::RecoverableIn {
                fate: FragmentFate::FellBack,
                ..
            } => self.counters.fallbacks += 1,
            Event::CongestionWindow {
                from_port,
                window,
                told,
                ..
            } => self.window(from_port, window, told),
            _ => {}
        }
        self.ledger.event(event);
        if O::ON {
            self.observer.stack(self.now, self.node, event);
        }
    }

    fn identity(&mut self) -> PktId {
        self.ledger.identity()
    }
}
