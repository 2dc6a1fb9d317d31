//! The bytes of the packet buffer: reference-counted chunks of any size, cut from one arena.
//!
//! The arena is counted in units of 4 bytes. Each chunk begins with one unit of header and is named by the unit behind
//! it, so that 0 names no chunk. The chunks fill the arena from its first unit to its last, and there is no other list
//! of those that are free: who looks for room goes from chunk to chunk and takes the first free chunks in a row that
//! are large enough together. In front of all that lies a mark before which nothing is free.

mod loans;
mod tail;

use super::Class;
use crate::wire::copy;
pub use loans::Loan;
pub(super) use loans::is_lent;
use tail::Open;

/// Bytes in a unit. Chunks begin at multiples of it and their sizes are multiples of it.
const UNIT: usize = 4;

/// As many units as a size field can count.
const UNITS_MAX: usize = 0x7fff;

/// Bit of the size field of a chunk that is in use.
const IN_USE: usize = 0x8000;

/// Bit of the reference count of a chunk that belongs to [`Class::Transmit`].
const TRANSMIT: usize = 0x8000;

/// What debug builds write over bytes that are new to their owner.
#[cfg(debug_assertions)]
pub(super) const STALE: u8 = 0xa5;

/// The arena with its accounts. Sizes are in units.
pub(super) struct Arena<'a> {
    units: &'a mut [[u8; UNIT]],
    /// No chunk before this one is free.
    low: usize,
    used: [usize; 2],
    reserve: [usize; 2],
    high_water: usize,
    open: Open,
    loans: &'a mut [Loan],
}

impl<'a> Arena<'a> {
    /// An arena over `bytes`, of which the last one to three are left over and no more than 131,068 are used. None if the
    /// reserves, in bytes by class, do not fit.
    pub(super) fn new(bytes: &'a mut [u8], reserve: [usize; 2]) -> Option<Self> {
        let (units, _) = bytes.as_chunks_mut::<UNIT>();
        let total = units.len().min(UNITS_MAX);
        let units = units.get_mut(..total).unwrap_or_default();
        let reserve @ [receive, transmit] = reserve.map(|bytes| bytes.div_ceil(UNIT));
        if receive.saturating_add(transmit) > total {
            return None;
        }
        let mut arena = Self {
            units,
            low: 1,
            used: [0; 2],
            reserve,
            high_water: 0,
            open: Open::NONE,
            loans: &mut [],
        };
        arena.set_head(1, total, 0);
        arena.make_stale(1);
        Some(arena)
    }

    /// The bytes, in whole units.
    pub(super) fn into_bytes(self) -> &'a mut [u8] {
        self.units.as_flattened_mut()
    }

    /// Bytes there are.
    pub(super) fn capacity(&self) -> usize {
        self.units.len() * UNIT
    }

    /// Bytes of all chunks in use, headers included.
    pub(super) fn used(&self) -> usize {
        (self.used[0] + self.used[1] - self.slack()) * UNIT
    }

    /// The most bytes that were ever in use.
    pub(super) fn high_water(&self) -> usize {
        self.used().max(self.high_water * UNIT)
    }

    /// A chunk with room for `bytes`, which are no more than 65,535, referenced once.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn alloc(&mut self, class: Class, bytes: usize) -> Option<u16> {
        self.close();
        let need = 1 + bytes.div_ceil(UNIT);
        let count = match class {
            Class::Receive => 1,
            Class::Transmit => 1 | TRANSMIT,
        };
        let mut chunk = self.low;
        while !self.claim(chunk, 0, need, count) {
            let free = self.free_at(chunk, usize::MAX);
            // What is not free has a size, but for the end of the arena.
            let passed = self.head(chunk + free).0 & !IN_USE;
            if passed == 0 {
                return None;
            }
            if free == 0 && chunk == self.low {
                self.low += passed;
            }
            chunk += free + passed;
        }
        self.make_stale(chunk);
        Some(chunk as u16)
    }

    /// One more reference to a chunk. There are at most as many as segments, which are fewer than the count can take.
    pub(super) fn share(&mut self, chunk: u16) {
        if is_lent(chunk) {
            return self.share_loan(chunk);
        }
        let chunk = usize::from(chunk);
        let (size, count) = self.head(chunk);
        debug_assert!(size & IN_USE != 0, "share of a free chunk");
        self.set_head(chunk, size, count + 1);
    }

    /// One reference less; without any the chunk is free.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn release(&mut self, chunk: u16) {
        if is_lent(chunk) {
            return self.release_loan(chunk);
        }
        self.close();
        let chunk = usize::from(chunk);
        let (mut size, mut count) = self.head(chunk);
        debug_assert!(
            size & IN_USE != 0 && count & !TRANSMIT != 0,
            "release of a free chunk"
        );
        let last = count & !TRANSMIT == 1;
        if last {
            size &= !IN_USE;
            self.used[class_of(count) as usize] -= size;
            self.low = self.low.min(chunk);
        }
        count -= 1;
        self.set_head(chunk, size, count);
        if last {
            self.make_stale(chunk);
        }
    }

    /// Whether the chunk has more than one reference, or is none of the arena: it must not be written to.
    #[inline]
    pub(super) fn is_shared(&self, chunk: u16) -> bool {
        self.head(chunk.into()).1 & !TRANSMIT != 1
    }

    /// The class that the chunk is charged to.
    pub(super) fn class(&self, chunk: u16) -> Class {
        if is_lent(chunk) {
            return Class::Transmit;
        }
        class_of(self.head(chunk.into()).1)
    }

    /// Makes a chunk that is not shared large enough for `bytes`, no more than 65,535, by taking from the free chunks
    /// behind it if need be; false if that cannot be.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn extend(&mut self, chunk: u16, bytes: usize) -> bool {
        self.close();
        let chunk = usize::from(chunk);
        let (size, count) = self.head(chunk);
        let (size, need) = (size & !IN_USE, 1 + bytes.div_ceil(UNIT));
        count & !TRANSMIT == 1 && (need <= size || self.claim(chunk, size, need - size, count))
    }

    /// Adds `more` of the free units behind a chunk of `size` to it, or makes a chunk of them if `size` is 0. False, and
    /// nothing done, if there are not as many or they are reserved for the other class.
    #[cfg_attr(target_os = "none", inline(never))]
    fn claim(&mut self, chunk: usize, size: usize, more: usize, count: usize) -> bool {
        let free = self.free_at(chunk + size, more);
        let class = class_of(count) as usize;
        let (own, other) = (self.used[class] + more, self.used[1 - class]);
        if free < more || own + other.max(self.reserve[1 - class]) > self.units.len() {
            return false;
        }
        let size = size + more;
        if free > more {
            self.set_head(chunk + size, free - more, 0);
        }
        self.set_head(chunk, size | IN_USE, count);
        // If the mark stood at the free chunk, there is none now.
        self.low = self.low.min(chunk);
        self.used[class] = own;
        self.high_water = self.high_water.max(own + other);
        true
    }

    /// Units that are free in a row from a chunk on, or `enough` of them at least: whole chunks.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn free_at(&self, chunk: usize, enough: usize) -> usize {
        let mut free = 0;
        while free < enough {
            match self.head(chunk + free).0 {
                0 | IN_USE.. => break,
                size => free += size,
            }
        }
        free
    }

    /// Where byte `start` of a chunk lies in the arena.
    #[inline]
    pub(super) fn address(chunk: u16, start: u16) -> usize {
        usize::from(chunk) * UNIT + usize::from(start)
    }

    /// `len` bytes from the [`address`](Self::address) `at` on; no bytes if they are not all there.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn bytes(&self, at: usize, len: usize) -> &[u8] {
        let bytes = self.units.as_flattened();
        bytes.get(at..at.wrapping_add(len)).unwrap_or_default()
    }

    /// The same, to be written.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn bytes_mut(&mut self, at: usize, len: usize) -> &mut [u8] {
        let bytes = self.units.as_flattened_mut();
        bytes.get_mut(at..at.wrapping_add(len)).unwrap_or_default()
    }

    /// Copies `len` bytes from one chunk to another.
    pub(super) fn copy(&mut self, from: usize, to: usize, len: usize) {
        // Split, because a copy that might overlap costs 1.5 KB of code.
        let (low_at, high_at) = (from.min(to), from.max(to));
        let bytes = self.units.as_flattened_mut();
        let Some((low, high)) = bytes.split_at_mut_checked(high_at) else {
            return;
        };
        let (Some(low), Some(high)) = (low.get_mut(low_at..), high.get_mut(..len)) else {
            return;
        };
        if from < to {
            copy(high, low);
        } else {
            copy(low, high);
        }
    }

    /// The header of a chunk: its size with [`IN_USE`], and its references. Both are 0 at the end of the arena.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn head(&self, chunk: usize) -> (usize, usize) {
        let unit = self.units.get(chunk.wrapping_sub(1));
        let head = unit.map_or(0, |unit| u32::from_le_bytes(*unit));
        (head as usize & 0xffff, head as usize >> 16)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn set_head(&mut self, chunk: usize, size: usize, count: usize) {
        let head = count << 16 | size;
        if let Some(unit) = self.units.get_mut(chunk.wrapping_sub(1)) {
            *unit = (head as u32).to_le_bytes();
        }
    }

    /// Overwrites the bytes of a chunk, in debug builds, so that nobody lives on what another left behind.
    fn make_stale(&mut self, chunk: usize) {
        #[cfg(debug_assertions)]
        if let Some(size) = (self.head(chunk).0 & !IN_USE).checked_sub(1) {
            self.units[chunk..][..size].fill([STALE; UNIT]);
        }
        #[cfg(not(debug_assertions))]
        let _ = chunk;
    }
}

/// The class in a reference count.
fn class_of(count: usize) -> Class {
    if count & TRANSMIT == 0 {
        Class::Receive
    } else {
        Class::Transmit
    }
}

#[cfg(any(test, debug_assertions))]
impl Arena<'_> {
    /// Bytes that the chunk has room for.
    pub(super) fn room(&self, chunk: u16) -> usize {
        ((self.head(chunk.into()).0 & !IN_USE) - 1) * UNIT
    }

    /// Panics unless chunks, reference counts and accounts agree; `references` counts those to a chunk.
    pub(super) fn check(&self, references: impl Fn(u16) -> usize) {
        let mut used = [0; 2];
        let mut at = 1;
        while at <= self.units.len() {
            let (size, count) = self.head(at);
            let len = size & !IN_USE;
            assert!(len > 0, "chunk {at} has no size");
            if size & IN_USE != 0 {
                let counted = count & !TRANSMIT;
                assert_eq!(counted, references(at as u16), "references to chunk {at}");
                used[class_of(count) as usize] += len;
            } else {
                assert_eq!(references(at as u16), 0, "free chunk {at} is referenced");
                assert!(at >= self.low, "free chunk {at} lies before {}", self.low);
            }
            at += len;
        }
        assert_eq!(at, self.units.len() + 1, "the chunks do not fill the arena");
        assert_eq!(used, self.used, "units in use by class");
    }
}
