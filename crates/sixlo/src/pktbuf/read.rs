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
    pub fn read<const N: usize>(&self, p: &Pkt) -> Option<[u8; N]> {
        self.read_at(p, 0)
    }

    /// The `N` bytes that begin `offset` bytes behind the cursor, or none if the packet is shorter.
    pub fn read_at<const N: usize>(&self, p: &Pkt, offset: usize) -> Option<[u8; N]> {
        self.read_from(p, self.marked(p).saturating_add(offset))
    }

    /// The `N` bytes that begin `back` bytes before the cursor, or none if not as many are marked.
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
        let slot = &self.slots[p.link()];
        let pos = usize::from(slot.cursor);
        let (seg, before) = if slot.cursor < slot.first.len {
            (&slot.first, 0)
        } else {
            let (at, before) = self.find(p, pos);
            (self.seg(p, at), before)
        };
        self.bytes(seg).get(pos - before..).unwrap_or_default()
    }

    /// Copies bytes from `offset` behind the cursor on, as many as there are and fit; says how many.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn copy_out(&self, p: &Pkt, offset: usize, out: &mut [u8]) -> usize {
        self.copy_from(p, self.marked(p).saturating_add(offset), out)
    }

    /// The bytes from `offset` behind the cursor to the end, piece by piece, none empty.
    pub fn pieces<'s>(&'s self, p: &Pkt, offset: usize) -> impl Iterator<Item = &'s [u8]> + use<'s, 'a> {
        self.pieces_from(p, self.marked(p).saturating_add(offset))
    }

    /// The pieces from byte `pos` of the packet on, marked ones counted.
    fn pieces_from<'s>(&'s self, p: &Pkt, pos: usize) -> impl Iterator<Item = &'s [u8]> + use<'s, 'a> {
        let mut skip = pos;
        let mut seg = Some(&self.slots[p.link()].first);
        core::iter::from_fn(move || {
            loop {
                let here = seg?;
                seg = match here.next {
                    0 => None,
                    next => Some(&self.segs[next]),
                };
                match self.bytes(here).get(skip..) {
                    Some(piece) if !piece.is_empty() => {
                        skip = 0;
                        return Some(piece);
                    }
                    _ => skip -= usize::from(here.len),
                }
            }
        })
    }

    fn copy_from(&self, p: &Pkt, pos: usize, out: &mut [u8]) -> usize {
        let first = &self.slots[p.link()].first;
        if let Some(piece) = self.bytes(first).get(pos..)
            && (first.next == 0 || piece.len() >= out.len())
        {
            return copy(out, piece);
        }
        self.copy_pieces(p, pos, out)
    }

    /// Copies from several segments.
    #[cold]
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

    /// The `N` bytes that begin at byte `pos`, marked ones counted.
    fn read_from<const N: usize>(&self, p: &Pkt, pos: usize) -> Option<[u8; N]> {
        if let Some(bytes) = self.in_first(p, pos, N) {
            return bytes.first_chunk().copied();
        }
        let mut out = [0; N];
        self.read_straddling(p, pos, &mut out).then_some(out)
    }

    /// The `n` bytes from byte `pos` on, marked ones counted, if all lie in the first segment.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn in_first(&self, p: &Pkt, pos: usize, n: usize) -> Option<&[u8]> {
        let first = &self.slots[p.link()].first;
        let fits = pos.saturating_add(n) <= usize::from(first.len);
        fits.then(|| {
            self.arena
                .bytes(Arena::address(first.chunk, first.start) + pos, n)
        })
    }

    /// Reads where the bytes do not all lie in the first segment.
    #[cold]
    #[inline(never)]
    fn read_straddling(&self, p: &Pkt, pos: usize, out: &mut [u8]) -> bool {
        self.copy_pieces(p, pos, out) == out.len()
    }

    /// The bytes of a segment.
    #[inline]
    fn bytes(&self, seg: &Seg) -> &[u8] {
        let at = Arena::address(seg.chunk, seg.start);
        self.arena.bytes(at, usize::from(seg.len))
    }
}
