//! How time passes: to the end of a run, or as far as the clock of whoever drives the world.

use super::World;
use crate::host::Host;
use crate::observer::Observer;
use crate::time::Time;

impl<H: Host, O: Observer> World<'_, H, O> {
    /// Lets all happen, until nothing is left to happen or the end has come.
    pub fn run(&mut self) {
        while let Some((time, event)) = self.queue.pop() {
            if time > self.end {
                break;
            }
            self.now = time;
            self.happen(event);
            self.settle();
            if self.is_over() {
                return;
            }
        }
        // The clock stands where the configuration says, or where the last thing happened.
        if self.end != Time::NEVER {
            self.now = self.end;
        }
    }

    /// All is sent and has met its end, and no end was prescribed.
    fn is_over(&self) -> bool {
        self.active_flows == 0
            && self.active_streams == 0
            && self.ledger.live() == 0
            && self.plan.config.end_ms.is_none()
            && !(self.flows.is_empty() && self.streams.is_empty())
    }

    /// Lets happen what is to happen up to a time, which then is the present, but no more than so many events: then the
    /// present is that of the last one. Tells `done` of each event when it was due. No end is heeded: the world goes on as
    /// long as somebody drives it.
    pub fn run_until(&mut self, until: Time, events_max: usize, mut done: impl FnMut(Time)) {
        for _ in 0..events_max {
            let Some(due) = self.queue.next_time().filter(|due| *due <= until) else {
                self.now = self.now.max(until);
                return;
            };
            let Some((_, event)) = self.queue.pop() else {
                return;
            };
            self.now = due;
            self.happen(event);
            self.settle();
            done(due);
        }
    }

    /// When the next event is due.
    pub fn next_deadline(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// The present.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Who watches.
    pub const fn observer(&mut self) -> &mut O {
        self.observer
    }
}
