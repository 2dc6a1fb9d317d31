//! The bytes of the packet buffer: reference-counted chunks of any size, cut from one arena.
//!
//! The arena is counted in units of 4 bytes. Each chunk begins with one unit of header and is named by the unit behind
//! it, so that 0 names no chunk. Free chunks form a list sorted by address; neighbours are merged. The chunk freed last
//! stays out of that list until something else is freed or asked for: a packet of the same size takes it at once.

mod tail;

use super::Class;
use crate::wire::copy;
use tail::Open;

/// Bytes in a unit. Chunks begin at multiples of it and their sizes are multiples of it.
const UNIT: usize = 4;

/// As many units as a size field can count.
const UNITS_MAX: u16 = 0x7fff;

/// Bit of the size field of a chunk that is in use.
const IN_USE: u16 = 0x8000;

/// Bit of the reference count of a chunk that belongs to [`Class::Transmit`].
const TRANSMIT: u16 = 0x8000;

/// What debug builds write over bytes that are new to their owner.
#[cfg(debug_assertions)]
pub(super) const STALE: u8 = 0xa5;

/// The arena with its free list and its accounts. Sizes are in units.
pub(super) struct Arena<'a> {
    units: &'a mut [[u8; UNIT]],
    total: u16,
    /// The first chunk of the free list.
    free: u16,
    /// The chunk freed last, not in the list, or 0.
    last: u16,
    used: [u16; 2],
    reserve: [u16; 2],
    high_water: u16,
    open: Open,
}

impl<'a> Arena<'a> {
    /// An arena over `bytes`, of which the last one to three are left over and no more than 131,068 are used. None if the
    /// reserves, in bytes by class, do not fit.
    pub(super) fn new(bytes: &'a mut [u8], reserve: [usize; 2]) -> Option<Self> {
        let (units, _) = bytes.as_chunks_mut::<UNIT>();
        let total = u16::try_from(units.len()).map_or(UNITS_MAX, |units| units.min(UNITS_MAX));
        let [receive, transmit] = reserve.map(|bytes| bytes.div_ceil(UNIT));
        if receive.saturating_add(transmit) > usize::from(total) {
            return None;
        }
        let mut arena = Self {
            units,
            total,
            free: 0,
            last: 0,
            used: [0; 2],
            reserve: [receive as u16, transmit as u16],
            high_water: 0,
            open: Open::NONE,
        };
        if total > 0 {
            arena.set_head(1, total, 0);
            arena.free = 1;
            arena.make_stale(1);
        }
        Some(arena)
    }

    /// The bytes, in whole units.
    pub(super) fn into_bytes(self) -> &'a mut [u8] {
        self.units.as_flattened_mut()
    }

    /// Bytes there are.
    pub(super) fn capacity(&self) -> usize {
        usize::from(self.total) * UNIT
    }

    /// Bytes of all chunks in use, headers included.
    pub(super) fn used(&self) -> usize {
        usize::from(self.used[0] + self.used[1] - self.slack()) * UNIT
    }

    /// The most bytes that were ever in use.
    pub(super) fn high_water(&self) -> usize {
        self.used().max(usize::from(self.high_water) * UNIT)
    }

    /// A chunk with room for `bytes`, referenced once.
    pub(super) fn alloc(&mut self, class: Class, bytes: usize) -> Option<u16> {
        let need = u16::try_from(1 + bytes.div_ceil(UNIT)).ok()?;
        self.close();
        if !self.allows(class, need) {
            return None;
        }
        let chunk = if self.last != 0 && self.head(self.last).0 == need {
            core::mem::take(&mut self.last)
        } else {
            self.settle();
            self.first_fit(need)?
        };
        let count = match class {
            Class::Receive => 1,
            Class::Transmit => 1 | TRANSMIT,
        };
        self.set_head(chunk, need | IN_USE, count);
        self.charge(class, need);
        self.make_stale(chunk);
        Some(chunk)
    }

    /// One more reference to a chunk. There are at most as many as segments, which are fewer than the count can take.
    pub(super) fn share(&mut self, chunk: u16) {
        let (size, count) = self.head(chunk);
        debug_assert!(size & IN_USE != 0, "share of a free chunk");
        self.set_head(chunk, size, count + 1);
    }

    /// One reference less; without any the chunk is free.
    pub(super) fn release(&mut self, chunk: u16) {
        self.close();
        let (size, count) = self.head(chunk);
        debug_assert!(
            size & IN_USE != 0 && count & !TRANSMIT != 0,
            "release of a free chunk"
        );
        if count & !TRANSMIT > 1 {
            self.set_head(chunk, size, count - 1);
            return;
        }
        let size = size & !IN_USE;
        self.used[class_of(count) as usize] -= size;
        self.settle();
        self.set_head(chunk, size, 0);
        self.make_stale(chunk);
        self.last = chunk;
    }

    /// Whether the chunk has more than one reference.
    #[inline]
    pub(super) fn is_shared(&self, chunk: u16) -> bool {
        self.head(chunk).1 & !TRANSMIT > 1
    }

    /// The class that the chunk is charged to.
    pub(super) fn class(&self, chunk: u16) -> Class {
        class_of(self.head(chunk).1)
    }

    /// Makes a chunk that is not shared large enough for `bytes`, by taking from the free chunk behind it if need be;
    /// false if that cannot be.
    pub(super) fn extend(&mut self, chunk: u16, bytes: usize) -> bool {
        self.close();
        let (size, count) = self.head(chunk);
        let room = usize::from((size & !IN_USE) - 1) * UNIT;
        if count & !TRANSMIT > 1 {
            return false;
        }
        bytes <= room || self.take_behind(chunk, size, count, (bytes - room).div_ceil(UNIT))
    }

    /// Adds `more` units of the free chunk behind to a chunk with this header.
    fn take_behind(&mut self, chunk: u16, size: u16, count: u16, more: usize) -> bool {
        let Ok(more) = u16::try_from(more) else {
            return false;
        };
        let behind = chunk + (size & !IN_USE);
        if behind > self.total || !self.allows(class_of(count), more) {
            return false;
        }
        if behind == self.last {
            self.settle();
        }
        let (free, next) = self.head(behind);
        if free & IN_USE != 0 || free < more {
            return false;
        }
        let rest = self.cut(behind, more, free, next);
        self.relink(behind, rest);
        self.set_head(chunk, size + more, count);
        self.charge(class_of(count), more);
        true
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
        let bytes = self.units.as_flattened().get(at..);
        bytes.and_then(|bytes| bytes.get(..len)).unwrap_or_default()
    }

    /// The same, to be written.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn bytes_mut(&mut self, at: usize, len: usize) -> &mut [u8] {
        let bytes = self.units.as_flattened_mut().get_mut(at..);
        bytes.and_then(|bytes| bytes.get_mut(..len)).unwrap_or_default()
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

    /// Units that the class may have without touching what is reserved for the other.
    fn allowance(&self, class: Class) -> u16 {
        let other = 1 - class as usize;
        let held = self.reserve[other].saturating_sub(self.used[other]);
        let free = self.total - self.used[0] - self.used[1];
        free.saturating_sub(held)
    }

    /// Whether the class may have `need` units.
    fn allows(&self, class: Class, need: u16) -> bool {
        need <= self.allowance(class)
    }

    fn charge(&mut self, class: Class, units: u16) {
        self.used[class as usize] += units;
        self.high_water = self.high_water.max(self.used[0] + self.used[1]);
    }

    /// Takes the first chunk of the list that is large enough; what is left of it stays in the list.
    fn first_fit(&mut self, need: u16) -> Option<u16> {
        let mut before = 0;
        let mut chunk = self.free;
        while chunk != 0 {
            let (size, next) = self.head(chunk);
            if size >= need {
                let rest = self.cut(chunk, need, size, next);
                self.link(before, rest);
                return Some(chunk);
            }
            before = chunk;
            chunk = next;
        }
        None
    }

    /// Cuts `need` units off the front of a free chunk; gives what takes its place in the list.
    fn cut(&mut self, chunk: u16, need: u16, size: u16, next: u16) -> u16 {
        if size == need {
            return next;
        }
        self.set_head(chunk + need, size - need, next);
        chunk + need
    }

    /// Puts the chunk freed last into the list and merges it with its neighbours.
    fn settle(&mut self) {
        let chunk = core::mem::take(&mut self.last);
        if chunk == 0 {
            return;
        }
        let mut before = 0;
        let mut next = self.free;
        while next != 0 && next < chunk {
            before = next;
            next = self.head(next).1;
        }
        let mut size = self.head(chunk).0;
        if chunk + size == next {
            let (more, behind) = self.head(next);
            size += more;
            next = behind;
        }
        if before != 0 {
            let in_front = self.head(before).0;
            if before + in_front == chunk {
                self.set_head(before, in_front + size, next);
                return;
            }
        }
        self.set_head(chunk, size, next);
        self.link(before, chunk);
    }

    /// Makes the list go to `to` where it went to `chunk`.
    fn relink(&mut self, chunk: u16, to: u16) {
        let mut before = 0;
        let mut at = self.free;
        while at != 0 && at != chunk {
            before = at;
            at = self.head(at).1;
        }
        self.link(before, to);
    }

    fn link(&mut self, before: u16, chunk: u16) {
        if before == 0 {
            self.free = chunk;
        } else {
            let size = self.head(before).0;
            self.set_head(before, size, chunk);
        }
    }

    /// The header of a chunk: its size with [`IN_USE`], and its references or, if it is free, the next free one.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn head(&self, chunk: u16) -> (u16, u16) {
        let unit = self.units.get(usize::from(chunk).wrapping_sub(1));
        debug_assert!(unit.is_some(), "no chunk {chunk}");
        let head = unit.map_or(0, |unit| u32::from_le_bytes(*unit));
        (head as u16, (head >> 16) as u16)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn set_head(&mut self, chunk: u16, size: u16, link: u16) {
        let head = u32::from(link) << 16 | u32::from(size);
        let unit = self.units.get_mut(usize::from(chunk).wrapping_sub(1));
        debug_assert!(unit.is_some(), "no chunk {chunk}");
        if let Some(unit) = unit {
            *unit = head.to_le_bytes();
        }
    }

    /// Overwrites the bytes of a chunk, in debug builds, so that nobody lives on what another left behind.
    fn make_stale(&mut self, chunk: u16) {
        #[cfg(debug_assertions)]
        {
            let size = usize::from((self.head(chunk).0 & !IN_USE) - 1);
            self.units[usize::from(chunk)..][..size].fill([STALE; UNIT]);
        }
        #[cfg(not(debug_assertions))]
        let _ = chunk;
    }
}

/// The class in a reference count.
fn class_of(count: u16) -> Class {
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
        usize::from((self.head(chunk).0 & !IN_USE) - 1) * UNIT
    }

    /// Panics unless chunks, free list, reference counts and accounts agree; `references` counts those to a chunk.
    pub(super) fn check(&self, references: impl Fn(u16) -> usize) {
        let mut used = [0; 2];
        let mut listed = self.free;
        let mut merged_up_to = 0;
        let mut at = 1;
        while at <= self.total {
            let (size, link) = self.head(at);
            let len = size & !IN_USE;
            assert!(len > 0, "chunk {at} has no size");
            if size & IN_USE != 0 {
                assert_eq!(
                    usize::from(link & !TRANSMIT),
                    references(at),
                    "references to chunk {at}"
                );
                used[class_of(link) as usize] += len;
            } else {
                assert_eq!(references(at), 0, "free chunk {at} is referenced");
                if at != self.last {
                    assert_eq!(at, listed, "free chunk not in the list, or not in order");
                    assert_ne!(at, merged_up_to, "free neighbours were not merged");
                    listed = link;
                    merged_up_to = at + len;
                }
            }
            at += len;
        }
        assert_eq!(at, self.total + 1, "the chunks do not fill the arena");
        assert_eq!(listed, 0, "the free list goes on");
        assert_eq!(used, self.used, "units in use by class");
    }
}
