//! Sequence numbers of TCP (RFC 9293 section 3.4).

use core::ops::{Add, AddAssign, Sub};

#[cfg(test)]
mod tests;

/// A sequence number: the place of a byte in a stream, modulo 2^32.
///
/// The order is that of the shorter way around the circle (RFC 9293 section 3.4). It holds among numbers that lie less than
/// 2^31 apart, as all that a window can hold do, and is no order over all of them; so there is no `Ord`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// How far `self` lies behind `other`, in bytes; negative if before it.
    #[inline]
    pub const fn offset_from(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }

    /// Whether `self` lies before `other`.
    #[inline]
    pub const fn lt(self, other: Self) -> bool {
        self.offset_from(other) < 0
    }

    /// Whether `self` is `other` or lies before it.
    #[inline]
    pub const fn le(self, other: Self) -> bool {
        self.offset_from(other) <= 0
    }

    /// Whether `self` lies behind `other`.
    #[inline]
    pub const fn gt(self, other: Self) -> bool {
        self.offset_from(other) > 0
    }

    /// Whether `self` is `other` or lies behind it.
    #[inline]
    pub const fn ge(self, other: Self) -> bool {
        self.offset_from(other) >= 0
    }

    /// The one of two that lies further on.
    #[inline]
    pub const fn max(self, other: Self) -> Self {
        if self.lt(other) { other } else { self }
    }

    /// The one of two that comes first.
    #[inline]
    pub const fn min(self, other: Self) -> Self {
        if self.gt(other) { other } else { self }
    }

    /// Whether `self` is one of the `len` numbers from `start` on.
    #[inline]
    pub const fn is_in(self, start: Self, len: u32) -> bool {
        self.0.wrapping_sub(start.0) < len
    }
}

impl Add<u32> for Seq {
    type Output = Self;

    #[inline]
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl AddAssign<u32> for Seq {
    #[inline]
    fn add_assign(&mut self, bytes: u32) {
        *self = *self + bytes;
    }
}

impl Sub<u32> for Seq {
    type Output = Self;

    #[inline]
    fn sub(self, bytes: u32) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }
}

/// Bytes from the right number on to the left one: for numbers of which is known that they lie in this order.
impl Sub for Seq {
    type Output = u32;

    #[inline]
    fn sub(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }
}
