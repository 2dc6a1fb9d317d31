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
        // The complement: so the instant that never comes is all-zero bits.
        let stored = !at.as_micros();
        Self([(stored >> 32) as u32, stored as u32])
    }

    /// When, if it is set.
    pub(super) fn get(self) -> Option<Instant> {
        self.or_never().unless_never()
    }

    /// When, or never if it is not set: later than anything.
    pub(super) const fn or_never(self) -> Instant {
        Instant::from_micros(!((self.0[0] as u64) << 32 | self.0[1] as u64))
    }

    /// Whether it is set.
    pub(super) const fn is_set(self) -> bool {
        self.0[0] | self.0[1] != 0
    }

    /// Whether it is set and has come.
    pub(super) fn is_due(self, now: Instant) -> bool {
        self.or_never() <= now
    }
}
