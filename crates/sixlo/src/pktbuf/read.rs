//! What only looks at a packet, or moves its cursor.

use super::arena::Arena;
use super::{Pkt, PktBuf, Seg};
use crate::wire::copy;

impl<'a> PktBuf<'a> {
    /// Bytes from the cursor to the end.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub fn len(&self, p: &Pkt) -> usize {
        let slot = &self.slots[p.link()];
        usize::from(slot.total - slot.cursor)
    }

    /// Whether there is no byte behind the cursor.
    pub fn is_empty(&self, p: &Pkt) -> bool {
        self.len(p) == 0
    }

    /// Bytes before the cursor.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub fn marked(&self, p: &Pkt) -> usize {
        usize::from(self.slots[p.link()].cursor)
    }

    /// The `N` bytes at the cursor, or none if the packet is shorter.
    #[inline(always)]
    pub fn read<const N: usize>(&self, p: &Pkt) -> Option<[u8; N]> {
        self.read_at(p, 0)
    }

    /// The `N` bytes that begin `offset` bytes behind the cursor, or none if the packet is shorter.
    #[inline(always)]
    pub fn read_at<const N: usize>(&self, p: &Pkt, offset: usize) -> Option<[u8; N]> {
        self.read_from(p, self.marked(p).saturating_add(offset))
    }

    /// The `N` bytes that begin `back` bytes before the cursor, or none if not as many are marked.
    #[inline(always)]
    pub fn read_back<const N: usize>(&self, p: &Pkt, back: usize) -> Option<[u8; N]> {
        self.read_from(p, self.marked(p).checked_sub(back)?)
    }

    /// Moves the cursor forward over a header of `n` bytes. False, and nothing done, if the packet is shorter.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn mark(&mut self, p: &Pkt, n: usize) -> bool {
        let fits = n <= self.len(p);
        if fits {
            self.slots[p.link()].cursor += n as u16;
        }
        fits
    }

    /// Moves the cursor back by `n` bytes. False, and nothing done, if not as many are marked.
    pub fn unmark(&mut self, p: &Pkt, n: usize) -> bool {
        let fits = n <= self.marked(p);
        if fits {
            self.slots[p.link()].cursor -= n as u16;
        }
        fits
    }

    /// The bytes from the cursor to the end of the segment in which it stands.
    pub fn contiguous(&self, p: &Pkt) -> &[u8] {
        self.pieces(p, 0).next().unwrap_or_default()
    }

    /// Copies bytes from `offset` behind the cursor on, as many as there are and fit; says how many.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn copy_out(&self, p: &Pkt, offset: usize, out: &mut [u8]) -> usize {
        self.copy_from(p, self.marked(p).saturating_add(offset), out)
    }

    /// The bytes from `offset` behind the cursor to the end, piece by piece, none empty.
    pub fn pieces<'s>(&'s self, p: &Pkt, offset: usize) -> Pieces<'s, 'a> {
        self.pieces_from(p, self.marked(p).saturating_add(offset))
    }

    /// The pieces from byte `pos` of the packet on, marked ones counted.
    #[cfg_attr(target_os = "none", inline(never))]
    fn pieces_from<'s>(&'s self, p: &Pkt, pos: usize) -> Pieces<'s, 'a> {
        Pieces {
            buf: self,
            seg: Some(&self.slots[p.link()].first),
            skip: pos,
        }
    }

    /// The `N` bytes that begin at byte `pos`, marked ones counted.
    #[inline(always)]
    fn read_from<const N: usize>(&self, p: &Pkt, pos: usize) -> Option<[u8; N]> {
        let mut out = [0; N];
        (self.copy_from(p, pos, &mut out) == N).then_some(out)
    }

    /// Copies bytes from byte `pos` on, marked ones counted: mostly headers, all in the first segment.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn copy_from(&self, p: &Pkt, pos: usize, out: &mut [u8]) -> usize {
        let first = &self.slots[p.link()].first;
        let len = out.len();
        if pos.saturating_add(len) > usize::from(first.len) {
            return self.copy_pieces(p, pos, out);
        }
        let at = Arena::address(first.chunk, first.start) + pos;
        match self.arena.bytes(at, len).get(..len) {
            Some(bytes) => out.copy_from_slice(bytes),
            // A loan, or an error of the stack itself.
            None => return self.copy_pieces(p, pos, out),
        }
        len
    }

    /// Copies where the bytes do not all lie in the first segment, or are fewer.
    #[inline(never)]
    fn copy_pieces(&self, p: &Pkt, pos: usize, out: &mut [u8]) -> usize {
        let len = out.len();
        let mut rest = out;
        for piece in self.pieces_from(p, pos) {
            let filled = copy(rest, piece);
            rest = rest.get_mut(filled..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
        }
        len - rest.len()
    }
}

/// The pieces of a packet.
pub struct Pieces<'s, 'a> {
    buf: &'s PktBuf<'a>,
    /// The next one, if there is one.
    seg: Option<&'s Seg>,
    /// Bytes of it, and of those behind it, that are passed over.
    skip: usize,
}

impl<'s> Iterator for Pieces<'s, '_> {
    type Item = &'s [u8];

    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn next(&mut self) -> Option<&'s [u8]> {
        loop {
            let here = self.seg?;
            self.seg = match here.next {
                0 => None,
                next => Some(&self.buf.segs[next]),
            };
            let at = Arena::address(here.chunk, here.start);
            let mut bytes = self.buf.arena.bytes(at, usize::from(here.len));
            if bytes.is_empty() && here.len > 0 {
                bytes = self.buf.arena.lent(here.chunk, here.start, here.len.into());
            }
            match bytes.get(self.skip..) {
                Some(piece) if !piece.is_empty() => {
                    self.skip = 0;
                    return Some(piece);
                }
                _ => self.skip -= bytes.len(),
            }
        }
    }
}
