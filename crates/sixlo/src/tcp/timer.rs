//! Deadlines of connections. One timer of the stack serves them all: it is armed for the earliest, and each connection's
//! own deadlines decide.

use crate::time::Instant;

/// A deadline that may not be set, aligned to four bytes so that a connection has no holes. The empty value is all-zero
/// bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Deadline([u32; 2]);

impl Deadline {
    /// Not set.
    pub(super) const NONE: Self = Self([0; 2]);

    /// Set to this instant.
    pub(super) const fn at(at: Instant) -> Self {
        // One more than the time, so that 0 is free.
        let stored = at.as_micros().saturating_add(1);
        Self([(stored >> 32) as u32, stored as u32])
    }

    /// When, if it is set.
    pub(super) const fn get(self) -> Option<Instant> {
        let stored = (self.0[0] as u64) << 32 | self.0[1] as u64;
        match stored {
            0 => None,
            stored => Some(Instant::from_micros(stored - 1)),
        }
    }

    /// Whether it is set.
    pub(super) const fn is_set(self) -> bool {
        self.0[0] | self.0[1] != 0
    }

    /// Whether it is set and has come.
    pub(super) fn is_due(self, now: Instant) -> bool {
        self.get().is_some_and(|at| at <= now)
    }
}
