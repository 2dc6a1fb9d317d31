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

/// All timers of a stack.
pub struct Timers<'a> {
    table: &'a mut [Timer],
    /// The earliest deadline in the table, plus one; 0 if nothing is armed.
    earliest: u64,
}

impl<'a> Timers<'a> {
    /// Takes the table over and disarms all.
    pub fn new(table: &'a mut [Timer]) -> Self {
        table.fill(Timer::EMPTY);
        Self { table, earliest: 0 }
    }

    /// Gives the table back.
    pub fn into_table(self) -> &'a mut [Timer] {
        self.table
    }

    /// Arms a timer for `at`, in place of what it was armed for before.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn arm(&mut self, id: TimerId, at: Instant) {
        let stored = at.as_micros().saturating_add(1);
        let Some(timer) = self.table.get_mut(usize::from(id.0)) else {
            debug_assert!(false, "a timer without a place in the table");
            return;
        };
        let before = core::mem::replace(&mut timer.0, stored);
        if self.earliest == 0 || stored < self.earliest {
            self.earliest = stored;
        } else if before == self.earliest {
            self.find_earliest();
        }
    }

    /// Disarms a timer; nothing happens if it is not armed.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn disarm(&mut self, id: TimerId) {
        if let Some(timer) = self.table.get_mut(usize::from(id.0)) {
            let before = core::mem::take(&mut timer.0);
            if before != 0 && before == self.earliest {
                self.find_earliest();
            }
        }
    }

    /// When the next timer is due, `None` if nothing is armed.
    pub const fn next(&self) -> Option<Instant> {
        match self.earliest {
            0 => None,
            stored => Some(Instant::from_micros(stored - 1)),
        }
    }

    /// Takes one timer that is due at `now` and disarms it: the earliest, of equal ones the first in the table.
    pub fn expire(&mut self, now: Instant) -> Option<TimerId> {
        if self.earliest == 0 || self.earliest > now.as_micros().saturating_add(1) {
            return None;
        }
        let place = self.table.iter().position(|timer| timer.0 == self.earliest)?;
        self.table[place] = Timer::EMPTY;
        self.find_earliest();
        u8::try_from(place).ok().map(TimerId)
    }

    fn find_earliest(&mut self) {
        self.earliest = self
            .table
            .iter()
            .map(|timer| timer.0)
            .filter(|at| *at != 0)
            .min()
            .unwrap_or(0);
    }
}

#[cfg(test)]
mod tests;
