//! What changes the bytes of a packet.

use super::arena::{Arena, is_lent};
use super::slot::Owner;
use super::{Done, NoRoom, Pkt, PktBuf, Seg};
use crate::wire::copy;

/// The most bytes that a packet, a segment or an offset in a chunk can count.
const BYTES_MAX: usize = u16::MAX as usize;

impl PktBuf<'_> {
    /// Keeps the `len` bytes behind the cursor and what is marked, and gives back the segments behind.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn truncate(&mut self, p: &Pkt, len: usize) {
        if len >= self.len(p) {
            return;
        }
        let total = self.marked(p) + len;
        let (at, before) = self.find(p, total.saturating_sub(1));
        let seg = self.seg_mut(p, at);
        seg.len = (total - before) as u16;
        let rest = core::mem::take(&mut seg.next);
        self.release_chain(rest);
        self.slots[p.link()].total = total as u16;
    }

    /// Drops what is marked for good. In an unshared chunk it becomes room in front.
    pub fn discard_marked(&mut self, p: &Pkt) {
        if self.marked(p) > 0 {
            self.trim_front(p);
        }
    }

    /// `N` bytes in front of the cursor, to be written; the cursor stands before them. What was marked is dropped.
    ///
    /// They lie in front of the first segment if its chunk is not shared and has room there, else in a new chunk.
    ///
    /// # Errors
    ///
    /// Bytes or segments for a new chunk.
    pub fn prepend<const N: usize>(&mut self, p: &Pkt) -> Result<&mut [u8; N], NoRoom> {
        self.make_front(p, N)?;
        self.write_at(p, 0)
    }

    /// Puts bytes in front of the cursor, as [`prepend`](Self::prepend) does: for as many as are known at run time only.
    ///
    /// # Errors
    ///
    /// Bytes or segments for a new chunk.
    pub fn prepend_bytes(&mut self, p: &Pkt, bytes: &[u8]) -> Result<(), NoRoom> {
        self.make_front(p, bytes.len())?;
        self.write_bytes(p, 0, bytes)
    }

    /// A packet over `len` bytes of another, from `offset` behind its cursor on. Nothing is marked in it.
    ///
    /// # Errors
    ///
    /// [`NoRoom::Slots`], [`NoRoom::Segments`] if the bytes lie in several, [`NoRoom::Bytes`] if the packet is shorter.
    pub fn window(&mut self, p: &Pkt, offset: usize, len: usize) -> Result<Pkt, NoRoom> {
        if offset.saturating_add(len) > self.len(p) {
            return Err(NoRoom::Bytes);
        }
        if self.free_slot == 0 {
            return Err(NoRoom::Slots);
        }
        let (mut at, before) = self.find(p, self.marked(p) + offset);
        let mut skip = (self.marked(p) + offset - before) as u16;
        let (mut first, mut tail, mut left) = (Seg::EMPTY, 0, len as u16);
        loop {
            let seg = *self.seg(p, at);
            let piece = Seg {
                start: seg.start + skip,
                len: (seg.len - skip).min(left),
                next: 0,
                ..seg
            };
            (skip, left) = (0, left - piece.len);
            if first.chunk == 0 {
                first = piece;
            } else if let Some(next) = self.take_seg(piece) {
                match tail {
                    0 => first.next = next,
                    tail => self.segs[tail].next = next,
                }
                tail = next;
            } else {
                self.arena.release(first.chunk);
                self.release_chain(first.next);
                return Err(NoRoom::Segments);
            }
            self.arena.share(piece.chunk);
            at = seg.next;
            if left == 0 || at == 0 {
                break;
            }
        }
        let window = self.take_slot(first)?;
        self.slots[window.link()].total = len as u16 - left;
        Ok(window)
    }

    /// Hangs bytes that are lent for ever behind those of `p`, or makes a packet of them if there is none; in any case no
    /// byte is copied. Gives the packet if one was made.
    ///
    /// # Errors
    ///
    /// [`NoRoom::Slots`] or [`NoRoom::Segments`], also where the table of loans is full; [`NoRoom::Bytes`] if a packet
    /// would exceed 65,535 bytes.
    pub fn lend(&mut self, p: Option<&Pkt>, bytes: &'static [u8]) -> Result<Option<Pkt>, NoRoom> {
        let total = p.map_or(0, |p| usize::from(self.slots[p.link()].total));
        if total.saturating_add(bytes.len()) > BYTES_MAX {
            return Err(NoRoom::Bytes);
        }
        let free = if p.is_some() {
            self.free_seg
        } else {
            self.free_slot
        };
        if free == 0 {
            return Err(NoRoom::Slots);
        }
        let lent = Seg {
            chunk: self.arena.lend(bytes).ok_or(NoRoom::Segments)?,
            start: 0,
            len: bytes.len() as u16,
            next: 0,
        };
        let Some(p) = p else {
            return self.take_slot(lent).map(Some);
        };
        let (tail, _) = self.find(p, usize::MAX);
        if let Some(at) = self.take_seg(lent) {
            self.seg_mut(p, tail).next = at;
            self.slots[p.link()].total += lent.len;
        }
        Ok(None)
    }

    /// The `n` bytes that begin `offset` bytes behind the cursor, to be written. Segments are copied as for
    /// [`write_at`](Self::write_at).
    ///
    /// # Errors
    ///
    /// [`NoRoom::Bytes`] if there are none for the copy, or if the packet is shorter.
    pub fn piece_mut(&mut self, p: &Pkt, offset: usize, n: usize) -> Result<&mut [u8], NoRoom> {
        self.writable(p, offset, n).ok_or(NoRoom::Bytes)
    }

    /// The `N` bytes that begin `offset` bytes behind the cursor, to be written.
    ///
    /// Segments whose chunk is shared, and several if the bytes straddle them, are copied into a chunk of their own first.
    ///
    /// # Errors
    ///
    /// [`NoRoom::Bytes`] if there are none for the copy, or if the packet is shorter.
    #[inline(always)]
    pub fn write_at<const N: usize>(&mut self, p: &Pkt, offset: usize) -> Result<&mut [u8; N], NoRoom> {
        let bytes = self.writable(p, offset, N);
        bytes.and_then(<[u8]>::first_chunk_mut).ok_or(NoRoom::Bytes)
    }

    /// All bytes from the cursor on in one piece, to be written. Segments are copied as for [`write_at`](Self::write_at).
    ///
    /// # Errors
    ///
    /// [`NoRoom::Bytes`] if there are none for the copy.
    pub fn bytes_mut(&mut self, p: &Pkt) -> Result<&mut [u8], NoRoom> {
        self.writable(p, 0, self.len(p)).ok_or(NoRoom::Bytes)
    }

    /// Writes `from` at `offset` bytes behind the cursor. Segments are copied as for [`write_at`](Self::write_at).
    ///
    /// # Errors
    ///
    /// [`NoRoom::Bytes`] if there are none for the copy, or if the packet is shorter. Then nothing is written.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn write_bytes(&mut self, p: &Pkt, offset: usize, from: &[u8]) -> Result<(), NoRoom> {
        let place = self.writable(p, offset, from.len());
        copy(place.ok_or(NoRoom::Bytes)?, from);
        Ok(())
    }

    /// `n` more bytes at the end, in one piece, to be written: in place if the last chunk is not shared and has room
    /// behind, or a free neighbour, else in a new chunk.
    ///
    /// # Errors
    ///
    /// Bytes or segments for a new chunk; [`NoRoom::Bytes`] if the packet would exceed 65,535 bytes.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn grow(&mut self, p: &Pkt, n: usize) -> Result<&mut [u8], NoRoom> {
        let slot = &mut self.slots[p.link()];
        let total = usize::from(slot.total).saturating_add(n);
        if total > BYTES_MAX {
            return Err(NoRoom::Bytes);
        }
        let mut last = &mut slot.first;
        while last.next != 0 {
            let next = last.next;
            last = &mut self.segs[next];
        }
        let end = usize::from(last.start) + usize::from(last.len);
        let address = if end + n <= BYTES_MAX && self.arena.extend(last.chunk, end + n) {
            last.len += n as u16;
            Arena::address(last.chunk, 0) + end
        } else {
            let like = last.chunk;
            self.grow_elsewhere(p, like, n)?
        };
        self.slots[p.link()].total = total as u16;
        Ok(self.fresh(address, n))
    }

    /// A segment more at the end, in a new chunk of the same class as `like`; says where its `n` bytes lie.
    #[cold]
    fn grow_elsewhere(&mut self, p: &Pkt, like: u16, n: usize) -> Result<usize, NoRoom> {
        if self.free_seg == 0 {
            return Err(NoRoom::Segments);
        }
        let class = self.arena.class(like);
        let chunk = self.arena.alloc(class, n).ok_or(NoRoom::Bytes)?;
        let (tail, _) = self.find(p, usize::MAX);
        let next = self.take_seg(Seg {
            chunk,
            len: n as u16,
            ..Seg::EMPTY
        });
        self.seg_mut(p, tail).next = next.ok_or(NoRoom::Segments)?;
        Ok(Arena::address(chunk, 0))
    }

    /// Hangs the bytes of `p` from its cursor on behind those of `to`, without copying; the slot of `p` is released.
    ///
    /// # Errors
    ///
    /// The packet `p`, unchanged, if a segment is missing or `to` would exceed 65,535 bytes.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn append(&mut self, to: &Pkt, p: Pkt) -> Result<Done, Pkt> {
        debug_assert_ne!(to.link(), p.link(), "a packet behind itself");
        let more = self.len(&p);
        let total = usize::from(self.slots[to.link()].total) + more;
        if total > BYTES_MAX {
            return Err(p);
        }
        if more > 0 {
            if !self.has_seg_for(&p) {
                return Err(p);
            }
            self.trim_front(&p);
            let first = self.slots[p.link()].first;
            let (tail, _) = self.find(to, usize::MAX);
            if let Some(at) = self.take_seg(first) {
                self.seg_mut(to, tail).next = at;
                self.slots[to.link()].total = total as u16;
            }
            self.hand_over(&p, Owner::Hand, Owner::Nobody);
            return Ok(self.put_slot(p));
        }
        Ok(self.release(p))
    }

    /// Drops what is marked, and segments in front that hold nothing behind it.
    fn trim_front(&mut self, p: &Pkt) {
        loop {
            let slot = &mut self.slots[p.link()];
            let first = slot.first;
            if slot.cursor < first.len || first.next == 0 {
                slot.first.start += slot.cursor;
                slot.first.len -= slot.cursor;
                slot.total -= slot.cursor;
                slot.cursor = 0;
                return;
            }
            slot.cursor -= first.len;
            slot.total -= first.len;
            slot.first = self.segs[first.next];
            self.arena.release(first.chunk);
            self.put_seg(first.next);
        }
    }

    /// Makes `n` bytes in front of the cursor part of the packet and drops what was marked.
    #[cfg_attr(target_os = "none", inline(never))]
    fn make_front(&mut self, p: &Pkt, n: usize) -> Result<(), NoRoom> {
        if self.len(p).saturating_add(n) > BYTES_MAX {
            return Err(NoRoom::Bytes);
        }
        let slot = &mut self.slots[p.link()];
        let room = usize::from(slot.first.start) + usize::from(slot.cursor);
        if slot.cursor <= slot.first.len && n <= room && !self.arena.is_shared(slot.first.chunk) {
            slot.first.start = (room - n) as u16;
            slot.first.len = slot.first.len - slot.cursor + n as u16;
            slot.total = slot.total - slot.cursor + n as u16;
            slot.cursor = 0;
        } else {
            self.make_front_chunk(p, n)?;
        }
        let first = self.slots[p.link()].first;
        self.fresh(Arena::address(first.chunk, first.start), n);
        Ok(())
    }

    /// The same in a chunk of its own.
    #[cold]
    fn make_front_chunk(&mut self, p: &Pkt, n: usize) -> Result<(), NoRoom> {
        if !self.has_seg_for(p) {
            return Err(NoRoom::Segments);
        }
        let class = self.arena.class(self.slots[p.link()].first.chunk);
        let chunk = self.arena.alloc(class, n).ok_or(NoRoom::Bytes)?;
        self.trim_front(p);
        let first = self.slots[p.link()].first;
        let next = self.take_seg(first).ok_or(NoRoom::Segments)?;
        let slot = &mut self.slots[p.link()];
        slot.first = Seg {
            chunk,
            start: 0,
            len: n as u16,
            next,
        };
        slot.total += n as u16;
        Ok(())
    }

    /// Whether there is an entry for what is left of the first segment when what is marked is dropped: a free one, or the
    /// one of the next segment, which takes the first one's place in the slot if that is marked whole.
    fn has_seg_for(&self, p: &Pkt) -> bool {
        let slot = &self.slots[p.link()];
        self.free_seg != 0 || (slot.cursor >= slot.first.len && slot.first.next != 0)
    }

    /// The `n` bytes at `offset` behind the cursor, in one piece that is nobody else's. Mostly they lie in the first
    /// segment: headers, and all of a packet that was not put together from several.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn writable(&mut self, p: &Pkt, offset: usize, n: usize) -> Option<&mut [u8]> {
        let slot = &self.slots[p.link()];
        let pos = usize::from(slot.cursor).saturating_add(offset);
        let fits = pos.saturating_add(n) <= usize::from(slot.first.len);
        let at = if fits && !self.arena.is_shared(slot.first.chunk) {
            Arena::address(slot.first.chunk, slot.first.start) + pos
        } else {
            self.make_writable(p, pos, n)?
        };
        Some(self.arena.bytes_mut(at, n))
    }

    /// Sees to it that `n` bytes from byte `pos` on, marked ones counted, are in one piece that is nobody else's; says
    /// where.
    #[cold]
    #[inline(never)]
    fn make_writable(&mut self, p: &Pkt, pos: usize, n: usize) -> Option<usize> {
        if pos.saturating_add(n) > usize::from(self.slots[p.link()].total) {
            return None;
        }
        let (at, before) = self.find(p, pos);
        let seg = self.seg(p, at);
        let skip = pos - before;
        if skip + n > usize::from(seg.len) || self.arena.is_shared(seg.chunk) {
            self.gather(p, at, skip + n)?;
        }
        let seg = self.seg(p, at);
        Some(Arena::address(seg.chunk, seg.start) + skip)
    }

    /// Copies a segment, and as many behind it as it takes to hold `needed` bytes, into one chunk of its own.
    fn gather(&mut self, p: &Pkt, from: u16, needed: usize) -> Option<()> {
        let mut whole = *self.seg(p, from);
        let class = self.arena.class(whole.chunk);
        while usize::from(whole.len) < needed && whole.next != 0 {
            let seg = &self.segs[whole.next];
            whole.len += seg.len;
            whole.next = seg.next;
        }
        whole.chunk = self.arena.alloc(class, usize::from(whole.len))?;
        whole.start = 0;
        let mut to = Arena::address(whole.chunk, 0);
        let first = core::mem::replace(self.seg_mut(p, from), whole);
        let mut seg = first;
        loop {
            let len = usize::from(seg.len);
            if is_lent(seg.chunk) {
                self.arena.copy_loan(seg.chunk, seg.start, to, len);
            } else {
                self.arena.copy(Arena::address(seg.chunk, seg.start), to, len);
            }
            self.arena.release(seg.chunk);
            to += len;
            let at = seg.next;
            if at == whole.next {
                return Some(());
            }
            seg = self.segs[at];
            self.put_seg(at);
        }
    }

    /// Bytes that are new to their owner.
    fn fresh(&mut self, at: usize, n: usize) -> &mut [u8] {
        let bytes = self.arena.bytes_mut(at, n);
        #[cfg(debug_assertions)]
        bytes.fill(super::arena::STALE);
        bytes
    }
}
