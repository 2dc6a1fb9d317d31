//! The receive buffer: a ring over lent bytes in which data that came out of order lies where it will be read.
//!
//! One bit a byte, at the end of the same bytes, says what came out of order (Kumar et al. 2020, section 5.2.2: "in-place
//! reassembly queue"). From the bits come the blocks of a selective acknowledgement (RFC 2018 section 4). Of bytes that come
//! twice the first ones stay, whatever the later ones are.

mod bits;

use crate::wire::tcp::options::{Block, Blocks, SACK_BLOCKS_MAX};
use crate::wire::tcp::seq::Seq;

#[cfg(test)]
mod tests;

/// The most bytes that a window without scaling can tell of (RFC 9293 section 3.1).
const CAPACITY_MAX: usize = u16::MAX as usize;

/// Bytes of data for which a store of `len` bytes has room: eight ninths, the rest are the bits.
#[cfg_attr(target_os = "none", inline(never))]
pub const fn capacity(len: usize) -> usize {
    // More is of no use, and what is left does not overflow.
    const USED_MAX: usize = (CAPACITY_MAX * 9).div_ceil(8);
    let used = if len < USED_MAX { len } else { USED_MAX };
    used * 8 / 9
}

/// A store taken apart.
struct Ring<'s> {
    data: &'s mut [u8],
    /// Bit `n % 8` of byte `n / 8`: the byte `n` of the data came out of order, and waits for what is before it.
    bits: &'s mut [u8],
}

impl<'s> Ring<'s> {
    fn of(store: &'s mut [u8]) -> Self {
        let capacity = capacity(store.len());
        let (data, bits) = store.split_at_mut(capacity);
        Self { data, bits }
    }
}

/// What became of the data of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Bytes by which the next expected sequence number moved on.
    pub advanced: u32,
    /// An acknowledgement is due at once (RFC 5681 section 4.2): the data was out of order, filled a gap or a part of one, was
    /// there already, or found no room.
    pub acknowledge: bool,
}

/// Writes the bytes of a segment's data from an offset on into a slice.
pub type Fill<'f> = &'f mut dyn FnMut(usize, &mut [u8]);

/// The receive buffer of a connection. Its bytes are a store that every call is given, always the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receive {
    /// The next sequence number that is expected (RCV.NXT).
    next: Seq,
    /// Of the data that came last, what had been there before, not reported so far: the first such run (RFC 2883 section 4). Empty
    /// if there is none.
    duplicate: Block,
    /// Places in the ring of bytes that came out of order, in different blocks, the last one first. One whose bit is no
    /// longer set means nothing.
    recent: [u16; SACK_BLOCKS_MAX],
    /// The place in the ring of the first byte that was not read.
    start: u16,
    /// Bytes in order that were not read.
    len: u16,
    /// Bytes from `next` to the end of what came out of order, 0 if nothing did.
    ahead: u16,
}

impl Receive {
    /// A buffer of no connection.
    pub const EMPTY: Self = Self {
        next: Seq(0),
        duplicate: Block {
            left: Seq(0),
            right: Seq(0),
        },
        recent: [0; SACK_BLOCKS_MAX],
        start: 0,
        len: 0,
        ahead: 0,
    };

    /// An empty buffer in `store`, the next byte of which is `next`.
    pub fn new(store: &mut [u8], next: Seq) -> Self {
        Ring::of(store).bits.fill(0);
        Self {
            next,
            ..Self::default()
        }
    }

    /// The next sequence number that is expected (RCV.NXT).
    #[inline]
    pub const fn next(&self) -> Seq {
        self.next
    }

    /// Bytes in order that wait for the application.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether nothing waits for the application.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the next segment should say something of what came out of order or twice.
    #[inline]
    pub const fn has_news(&self) -> bool {
        self.ahead != 0 || self.duplicate.left.offset_from(self.duplicate.right) != 0
    }

    /// Whether there is data behind a gap.
    #[inline]
    pub const fn has_gap(&self) -> bool {
        self.ahead != 0
    }

    /// Bytes from [`next`](Self::next) on for which a store of `store_len` bytes has room: the largest window to offer.
    #[inline]
    pub const fn room(&self, store_len: usize) -> u32 {
        capacity(store_len).saturating_sub(self.len as usize) as u32
    }

    /// Takes in the data of a segment: `len` bytes from `seq` on, which `fill` gives. What lies outside the window is passed
    /// over, what is there already stays as it is.
    pub fn insert(&mut self, store: &mut [u8], seq: Seq, len: u32, fill: Fill<'_>) -> Taken {
        if len == 0 {
            return Taken::default();
        }
        let room = self.room(store.len());
        let mut ring = Ring::of(store);
        if seq == self.next && self.ahead == 0 && len <= room {
            // What nearly every segment is.
            let place = self.place(&ring, 0);
            write(ring.data, place, len as usize, 0, fill);
            self.len += len as u16;
            self.next += len;
            return Taken {
                advanced: len,
                acknowledge: false,
            };
        }
        Taken {
            advanced: self.insert_elsewhere(&mut ring, room, seq, len, fill),
            acknowledge: true,
        }
    }

    /// As [`insert`](Self::insert), for data that is not simply the next. Gives the bytes by which `next` moved on.
    #[inline(never)]
    fn insert_elsewhere(
        &mut self,
        ring: &mut Ring<'_>,
        room: u32,
        seq: Seq,
        len: u32,
        fill: Fill<'_>,
    ) -> u32 {
        let old = if seq.lt(self.next) {
            (self.next - seq).min(len)
        } else {
            0
        };
        self.duplicate = Block {
            left: seq,
            right: seq + old,
        };
        // Offsets from `next`: `from` to `end` is in the window and maybe new.
        let from = if seq.lt(self.next) { 0 } else { seq - self.next };
        let end = from.saturating_add(len - old).min(room);
        if from >= end {
            return 0;
        }
        let (from, end) = (from as usize, end as usize);
        let mut at = from;
        while at < end {
            let gap_end = self.run_end(ring, at, end, false);
            if gap_end > at {
                let place = self.place(ring, at);
                write(ring.data, place, gap_end - at, old as usize + at - from, fill);
            }
            at = self.run_end(ring, gap_end, end, true);
            if at > gap_end && self.duplicate.left == self.duplicate.right {
                self.duplicate = self.block(gap_end, at);
            }
        }
        let ahead = usize::from(self.ahead).max(end);
        if from > 0 {
            let place = self.place(ring, from);
            bits::set(ring.bits, ring.data.len(), place, end - from, true);
            self.ahead = ahead as u16;
            self.remember(ring, from);
            return 0;
        }
        let advanced = self.run_end(ring, end, ahead, true);
        let place = self.place(ring, 0);
        bits::set(ring.bits, ring.data.len(), place, advanced, false);
        self.len += advanced as u16;
        self.next += advanced as u32;
        self.ahead = (ahead - advanced) as u16;
        advanced as u32
    }

    /// The selective acknowledgement for the next segment that goes out, in the order of RFC 2018 section 4: what came last
    /// first. If data came twice, that goes before it, once (RFC 2883 section 4).
    pub fn selective_acknowledgement(&mut self, store: &mut [u8]) -> Blocks {
        let mut blocks = Blocks::EMPTY;
        if self.duplicate.left != self.duplicate.right {
            blocks.push(self.duplicate);
            self.duplicate = Block::default();
        }
        if self.ahead == 0 {
            return blocks;
        }
        let ring = Ring::of(store);
        let mut recent = [None; SACK_BLOCKS_MAX];
        let mut others = Blocks::EMPTY;
        let mut at = 0;
        while let Some((from, end)) = self.next_run(&ring, at) {
            at = end;
            let block = self.block(from, end);
            let inside = |&place: &u16| self.is_between(&ring, place, from, end);
            match self.recent.iter().position(inside) {
                Some(rank) => recent[rank] = Some(block),
                None => others.push(block),
            }
        }
        for &block in recent.iter().flatten().chain(others.as_slice()) {
            blocks.push(block);
        }
        blocks
    }

    /// The data in order from the first unread byte to the end of the store, where the rest of it may begin anew.
    pub fn peek<'s>(&self, store: &'s [u8]) -> &'s [u8] {
        let start = usize::from(self.start);
        let end = (start + self.len()).min(capacity(store.len()));
        store.get(start..end).unwrap_or_default()
    }

    /// Drops the first `bytes` bytes in order, or all if there are fewer, and says how many: they were read.
    pub fn consume(&mut self, store_len: usize, bytes: usize) -> usize {
        let bytes = bytes.min(self.len());
        let start = usize::from(self.start) + bytes;
        let capacity = capacity(store_len);
        self.start = if start < capacity { start } else { start - capacity } as u16;
        self.len -= bytes as u16;
        bytes
    }

    /// Copies data in order, drops it here, and says how many bytes.
    pub fn read(&mut self, store: &[u8], out: &mut [u8]) -> usize {
        let mut done = 0;
        // The data lies in one piece or two.
        for _ in 0..2 {
            let bytes = crate::wire::copy(&mut out[done..], self.peek(store));
            done += self.consume(store.len(), bytes);
        }
        done
    }

    /// The place in the ring of the byte `offset` bytes behind `next`, at most the capacity.
    fn place(&self, ring: &Ring<'_>, offset: usize) -> usize {
        let place = usize::from(self.start) + usize::from(self.len) + offset;
        wrapped(wrapped(place, ring.data.len()), ring.data.len())
    }

    /// The first offset from `from` on whose bit is not `value`; `end` if there is none before.
    fn run_end(&self, ring: &Ring<'_>, from: usize, end: usize, value: bool) -> usize {
        if from >= end {
            return from;
        }
        let place = self.place(ring, from);
        from + bits::run(ring.bits, ring.data.len(), place, end - from, value)
    }

    /// The first run of data behind a gap at or after an offset.
    fn next_run(&self, ring: &Ring<'_>, from: usize) -> Option<(usize, usize)> {
        let ahead = usize::from(self.ahead);
        let from = self.run_end(ring, from, ahead, false);
        (from < ahead).then(|| (from, self.run_end(ring, from, ahead, true)))
    }

    /// Whether a place in the ring lies between two offsets.
    fn is_between(&self, ring: &Ring<'_>, place: u16, from: usize, end: usize) -> bool {
        let (place, begin) = (usize::from(place), self.place(ring, from));
        let place = if place < begin {
            place + ring.data.len()
        } else {
            place
        };
        place - begin < end - from
    }

    /// Puts the block with the byte at this offset in front of the recent ones.
    fn remember(&mut self, ring: &Ring<'_>, offset: usize) {
        let mut at = 0;
        while let Some((from, end)) = self.next_run(ring, at) {
            at = end;
            if offset >= end {
                continue;
            }
            // What is left of the table names the same block once more, and so nothing.
            let mut recent = [self.place(ring, offset) as u16; SACK_BLOCKS_MAX];
            let mut room = recent.iter_mut().skip(1);
            for &place in &self.recent {
                if bits::get(ring.bits, place.into())
                    && !self.is_between(ring, place, from, end)
                    && let Some(room) = room.next()
                {
                    *room = place;
                }
            }
            self.recent = recent;
            return;
        }
    }

    /// The sequence numbers of two offsets.
    fn block(&self, from: usize, end: usize) -> Block {
        Block {
            left: self.next + from as u32,
            right: self.next + end as u32,
        }
    }
}

/// A place that may lie behind the end of the ring by less than its length.
const fn wrapped(place: usize, capacity: usize) -> usize {
    if place < capacity { place } else { place - capacity }
}

/// Writes `len` bytes of a segment's data from `offset` on to a place in the ring.
fn write(data: &mut [u8], place: usize, len: usize, offset: usize, fill: Fill<'_>) {
    let (begin, end) = data.split_at_mut_checked(place).unwrap_or_default();
    let to_end = end.len().min(len);
    fill(offset, &mut end[..to_end]);
    if let Some(rest) = begin.get_mut(..len - to_end)
        && !rest.is_empty()
    {
        fill(offset + to_end, rest);
    }
}
