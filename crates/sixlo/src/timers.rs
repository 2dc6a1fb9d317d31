//! One-shot timers, each armed at most once, in one table that cannot be full.
//!
//! A timer is named by its place in the table; its owner, a module's entry, keeps the meaning. There is no periodic
//! tick: with nothing armed, the next deadline is `None` (GNRC's fault of dropped timer messages, Lenders 2016, cannot
//! happen: arming writes a place that exists from the start).

use crate::time::Instant;

/// One place of the timer table. The empty value, all-zero bits, is "not armed".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timer(u64);

impl Timer {
    /// Not armed.
    pub const EMPTY: Self = Self(0);
}

/// The name of a timer: its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerId(pub u8);

/// All timers of a stack. The earliest is looked for when it is asked for: a stack has one for each interface and hardly
/// more, and they are armed and disarmed far more often than one is due.
pub struct Timers<'a> {
    table: &'a mut [Timer],
}

impl<'a> Timers<'a> {
    /// Takes the table over and disarms all.
    pub fn new(table: &'a mut [Timer]) -> Self {
        table.fill(Timer::EMPTY);
        Self { table }
    }

    /// Gives the table back.
    pub fn into_table(self) -> &'a mut [Timer] {
        self.table
    }

    /// Arms a timer for `at`, in place of what it was armed for before.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn arm(&mut self, id: TimerId, at: Instant) {
        let timer = self.table.get_mut(usize::from(id.0));
        debug_assert!(timer.is_some(), "a timer without a place in the table");
        if let Some(timer) = timer {
            timer.0 = at.as_micros().saturating_add(1);
        }
    }

    /// Arms a timer, or disarms it where there is no instant.
    pub fn set(&mut self, id: TimerId, at: Option<Instant>) {
        match at {
            Some(at) => self.arm(id, at),
            None => self.disarm(id),
        }
    }

    /// Disarms a timer; nothing happens if it is not armed.
    pub fn disarm(&mut self, id: TimerId) {
        if let Some(timer) = self.table.get_mut(usize::from(id.0)) {
            *timer = Timer::EMPTY;
        }
    }

    /// When the next timer is due, `None` if nothing is armed.
    pub fn next(&self) -> Option<Instant> {
        self.earliest().map(|(_, at)| at)
    }

    /// Takes one timer that is due at `now` and disarms it: the earliest, of equal ones the first in the table.
    pub fn expire(&mut self, now: Instant) -> Option<TimerId> {
        let (id, _) = self.earliest().filter(|(_, at)| *at <= now)?;
        self.disarm(id);
        Some(id)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn earliest(&self) -> Option<(TimerId, Instant)> {
        // Nothing armed is later than everything.
        let (mut place, mut earliest) = (0, u64::MAX);
        for (at, timer) in self.table.iter().enumerate() {
            let due = timer.0.wrapping_sub(1);
            if due < earliest {
                (place, earliest) = (at, due);
            }
        }
        let armed = earliest != u64::MAX;
        armed.then(|| (TimerId(place as u8), Instant::from_micros(earliest)))
    }
}

#[cfg(test)]
mod tests;
