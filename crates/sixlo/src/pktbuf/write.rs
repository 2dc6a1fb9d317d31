//! What changes the bytes of a packet.

use super::arena::Arena;
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
        let at = self.make_front(p, N)?;
        self.array_mut(at)
    }

    /// The `N` bytes that begin `offset` bytes behind the cursor, to be written.
    ///
    /// Segments whose chunk is shared, and several if the bytes straddle them, are copied into a chunk of their own first.
    ///
    /// # Errors
    ///
    /// [`NoRoom::Bytes`] if there are none for the copy, or if the packet is shorter.
    pub fn write_at<const N: usize>(&mut self, p: &Pkt, offset: usize) -> Result<&mut [u8; N], NoRoom> {
        let at = self.make_writable(p, offset, N)?;
        self.array_mut(at)
    }

    /// All bytes from the cursor on in one piece, to be written. Segments are copied as for [`write_at`](Self::write_at).
    ///
    /// # Errors
    ///
    /// [`NoRoom::Bytes`] if there are none for the copy.
    pub fn bytes_mut(&mut self, p: &Pkt) -> Result<&mut [u8], NoRoom> {
        let len = self.len(p);
        let at = self.make_writable(p, 0, len)?;
        Ok(self.arena.bytes_mut(at, len))
    }

    /// Writes `from` at `offset` bytes behind the cursor, copying segments whose chunk is shared first.
    ///
    /// # Errors
    ///
    /// [`NoRoom::Bytes`] if there are none for the copies, or if the packet is shorter. Then nothing is written.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn write_bytes(&mut self, p: &Pkt, offset: usize, from: &[u8]) -> Result<(), NoRoom> {
        let Some(at) = self.first_unshared(p, offset, from.len()) else {
            return self.write_elsewhere(p, offset, from);
        };
        copy(self.arena.bytes_mut(at, from.len()), from);
        Ok(())
    }

    /// Writes where the bytes do not all lie in the first segment, or are shared.
    #[cold]
    fn write_elsewhere(&mut self, p: &Pkt, offset: usize, from: &[u8]) -> Result<(), NoRoom> {
        let start = self.span(p, offset, from.len())?;
        let end = start + from.len();
        // First all copies, so that a failure among them leaves the bytes as they were.
        let (first, before) = self.find(p, start);
        let mut at = first;
        let mut pos = before;
        while pos < end {
            let seg = *self.seg(p, at);
            if seg.len > 0 && self.arena.is_shared(seg.chunk) {
                self.gather(p, at, usize::from(seg.len))?;
            }
            pos += usize::from(seg.len);
            at = seg.next;
        }
        let mut at = first;
        let mut skip = start - before;
        let mut rest = from;
        while !rest.is_empty() {
            let seg = *self.seg(p, at);
            let to = Arena::address(seg.chunk, seg.start) + skip;
            let written = copy(self.arena.bytes_mut(to, usize::from(seg.len) - skip), rest);
            rest = rest.get(written..).unwrap_or_default();
            (skip, at) = (0, seg.next);
        }
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
        let total = usize::from(self.slots[p.link()].total).saturating_add(n);
        if total > BYTES_MAX {
            return Err(NoRoom::Bytes);
        }
        let tail = self.tail(p);
        let last = *self.seg(p, tail);
        let end = usize::from(last.start) + usize::from(last.len);
        let address = if end + n <= BYTES_MAX && self.arena.extend(last.chunk, end + n) {
            self.seg_mut(p, tail).len += n as u16;
            Arena::address(last.chunk, 0) + end
        } else {
            if self.free_seg == 0 {
                return Err(NoRoom::Segments);
            }
            let class = self.arena.class(last.chunk);
            let chunk = self.arena.alloc(class, n).ok_or(NoRoom::Bytes)?;
            let next = self.take_seg(Seg {
                chunk,
                len: n as u16,
                ..Seg::EMPTY
            });
            self.seg_mut(p, tail).next = next.ok_or(NoRoom::Segments)?;
            Arena::address(chunk, 0)
        };
        self.slots[p.link()].total = total as u16;
        Ok(self.fresh(address, n))
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
            let from = &self.slots[p.link()];
            // A first segment that is not needed any more makes room for the next one in the slot.
            let gives_one_back = from.cursor >= from.first.len;
            if self.free_seg == 0 && !gives_one_back {
                return Err(p);
            }
            self.trim_front(&p);
            let first = core::mem::take(&mut self.slots[p.link()].first);
            let tail = self.tail(to);
            if let Some(at) = self.take_seg(first) {
                self.seg_mut(to, tail).next = at;
                self.slots[to.link()].total = total as u16;
            }
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

    /// Makes `n` bytes in front of the cursor part of the packet and drops what was marked; says where they lie.
    #[cfg_attr(target_os = "none", inline(never))]
    fn make_front(&mut self, p: &Pkt, n: usize) -> Result<usize, NoRoom> {
        if self.len(p).saturating_add(n) > BYTES_MAX {
            return Err(NoRoom::Bytes);
        }
        let slot = &mut self.slots[p.link()];
        let room = usize::from(slot.first.start) + usize::from(slot.cursor);
        let at = if slot.cursor <= slot.first.len && n <= room && !self.arena.is_shared(slot.first.chunk) {
            slot.first.start = (room - n) as u16;
            slot.first.len = slot.first.len - slot.cursor + n as u16;
            slot.total = slot.total - slot.cursor + n as u16;
            slot.cursor = 0;
            Arena::address(slot.first.chunk, slot.first.start)
        } else {
            self.make_front_chunk(p, n)?
        };
        self.fresh(at, n);
        Ok(at)
    }

    /// The same in a chunk of its own.
    #[cold]
    fn make_front_chunk(&mut self, p: &Pkt, n: usize) -> Result<usize, NoRoom> {
        let slot = &self.slots[p.link()];
        let gives_one_back = slot.cursor > 0 && slot.cursor >= slot.first.len && slot.first.next != 0;
        if self.free_seg == 0 && !gives_one_back {
            return Err(NoRoom::Segments);
        }
        let class = self.arena.class(slot.first.chunk);
        let chunk = self.arena.alloc(class, n).ok_or(NoRoom::Bytes)?;
        self.discard_marked(p);
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
        Ok(Arena::address(chunk, 0))
    }

    /// The place, in the packet with what is marked, of `n` bytes at `offset` behind the cursor.
    fn span(&self, p: &Pkt, offset: usize, n: usize) -> Result<usize, NoRoom> {
        if offset.saturating_add(n) > self.len(p) {
            return Err(NoRoom::Bytes);
        }
        Ok(self.marked(p) + offset)
    }

    /// Makes sure that `n` bytes at `offset` behind the cursor lie in one piece that is nobody else's; says where.
    fn make_writable(&mut self, p: &Pkt, offset: usize, n: usize) -> Result<usize, NoRoom> {
        match self.first_unshared(p, offset, n) {
            Some(at) => Ok(at),
            None => self.make_writable_elsewhere(p, offset, n),
        }
    }

    /// Where `n` bytes at `offset` behind the cursor lie, if all are in the first segment and nobody else's: the usual
    /// place of headers, and of all of a packet that was not put together from several.
    #[cfg_attr(target_os = "none", inline(never))]
    fn first_unshared(&self, p: &Pkt, offset: usize, n: usize) -> Option<usize> {
        let slot = &self.slots[p.link()];
        let pos = usize::from(slot.cursor).saturating_add(offset);
        let fits = pos.saturating_add(n) <= usize::from(slot.first.len);
        let found = fits && !self.arena.is_shared(slot.first.chunk);
        found.then(|| Arena::address(slot.first.chunk, slot.first.start) + pos)
    }

    #[cold]
    fn make_writable_elsewhere(&mut self, p: &Pkt, offset: usize, n: usize) -> Result<usize, NoRoom> {
        let pos = self.span(p, offset, n)?;
        let (at, before) = self.find(p, pos);
        let seg = *self.seg(p, at);
        let skip = pos - before;
        if skip + n > usize::from(seg.len) || self.arena.is_shared(seg.chunk) {
            self.gather(p, at, skip + n)?;
        }
        let seg = self.seg(p, at);
        Ok(Arena::address(seg.chunk, seg.start) + skip)
    }

    /// Copies a segment, and as many behind it as it takes to hold `needed` bytes, into one chunk of its own.
    #[cold]
    fn gather(&mut self, p: &Pkt, from: u16, needed: usize) -> Result<(), NoRoom> {
        let class = self.arena.class(self.seg(p, from).chunk);
        let (mut len, mut at) = (0, from);
        loop {
            let seg = self.seg(p, at);
            len += usize::from(seg.len);
            if len >= needed || seg.next == 0 {
                break;
            }
            at = seg.next;
        }
        let chunk = self.arena.alloc(class, len).ok_or(NoRoom::Bytes)?;
        let mut whole = Seg {
            chunk,
            start: 0,
            len: 0,
            next: from,
        };
        let mut seg = *self.seg(p, from);
        loop {
            let to = Arena::address(chunk, whole.len);
            self.arena
                .copy(Arena::address(seg.chunk, seg.start), to, usize::from(seg.len));
            self.arena.release(seg.chunk);
            whole.len += seg.len;
            whole.next = seg.next;
            if usize::from(whole.len) == len {
                break;
            }
            seg = self.segs[seg.next];
            self.put_seg(whole.next);
        }
        *self.seg_mut(p, from) = whole;
        Ok(())
    }

    /// The number of the last segment.
    pub(super) fn tail(&self, p: &Pkt) -> u16 {
        self.find(p, usize::MAX).0
    }

    /// Bytes that are new to their owner.
    fn fresh(&mut self, at: usize, n: usize) -> &mut [u8] {
        let bytes = self.arena.bytes_mut(at, n);
        #[cfg(debug_assertions)]
        bytes.fill(super::arena::STALE);
        bytes
    }

    fn array_mut<const N: usize>(&mut self, at: usize) -> Result<&mut [u8; N], NoRoom> {
        let bytes = self.arena.bytes_mut(at, N);
        bytes.first_chunk_mut().ok_or(NoRoom::Bytes)
    }
}
