//! What a stack tells while it runs: to the ledger, to the counters of its node, and to whoever watches.

use sixlo::time::Instant;
use sixlo::trace::{Event, FragmentFate, PktId, Sink};

use crate::ledger::Ledger;
use crate::observer::Observer;
use crate::result::StackCounters;
use crate::time::Time;

pub(super) struct Tap<'w, O> {
    pub(super) now: Time,
    pub(super) node: u16,
    pub(super) ledger: &'w mut Ledger,
    pub(super) counters: &'w mut StackCounters,
    pub(super) observer: &'w mut O,
    /// Messages between modules so far.
    pub(super) messages: u32,
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
