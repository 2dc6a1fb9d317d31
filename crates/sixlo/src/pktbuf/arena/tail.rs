//! The open chunk: room behind the content of one chunk into which its packet grows at the price of a copy.
//!
//! What is behind the content is nobody's yet: it counts as free, and whoever asks for bytes, or gives some back, takes it
//! from the chunk first. So a packet that grows piece by piece occupies just what it holds, and yet no header of a chunk
//! is touched for each piece.

use super::{Arena, IN_USE, TRANSMIT, UNIT, class_of};

/// An open chunk. Places are in bytes from the beginning of the arena.
#[derive(Default)]
pub(super) struct Open {
    /// The chunk, or 0.
    chunk: u16,
    /// Where its content ends.
    tail: u32,
    /// How far its content may go.
    limit: u32,
}

impl Open {
    pub(super) const NONE: Self = Self {
        chunk: 0,
        tail: 0,
        limit: 0,
    };
}

impl Arena<'_> {
    /// Opens a chunk whose content ends at its byte `end`, for as many more bytes as there are behind it, at most `more`.
    pub(in super::super) fn open(&mut self, chunk: u16, end: u16, more: u16) {
        self.close();
        let (size, count) = self.head(chunk.into());
        if count & !TRANSMIT > 1 {
            return;
        }
        let size = size & !IN_USE;
        let tail = Self::address(chunk, end);
        let wanted = tail + usize::from(more.min(u16::MAX - end));
        let mut behind = usize::from(chunk) + size;
        // What the class may have, as in `claim`.
        let class = class_of(count) as usize;
        let held = self.used[class] + self.used[1 - class].max(self.reserve[1 - class]);
        let allowed = self.units.len().saturating_sub(held);
        let missing = (wanted.div_ceil(UNIT) + 1).saturating_sub(behind);
        let units = missing.min(allowed).min(self.free_at(behind, missing));
        let high_water = self.high_water;
        if units > 0 && self.claim(chunk.into(), size, units, count) {
            behind += units;
        }
        self.high_water = high_water;
        self.open = Open {
            chunk,
            tail: tail as u32,
            limit: wanted.min((behind - 1) * UNIT) as u32,
        };
    }

    /// Adds `len` bytes to the content of the open chunk, and gives them to be written. `None`, and nothing done, if
    /// there is none with that much room.
    #[inline(always)]
    pub(in super::super) fn append_open(&mut self, len: usize) -> Option<&mut [u8]> {
        let start = self.open.tail as usize;
        // That it was no overflow spares a comparison below.
        let end = start.checked_add(len)?;
        if end > self.open.limit as usize {
            return None;
        }
        let room = self.units.as_flattened_mut().get_mut(start..end)?;
        self.open.tail = end as u32;
        Some(room)
    }

    /// Gives back what is behind the content of the open chunk.
    #[inline]
    pub(super) fn close(&mut self) {
        if self.open.chunk != 0 {
            self.close_it();
        }
    }

    #[cold]
    #[inline(never)]
    fn close_it(&mut self) {
        let rest = self.slack();
        let chunk = usize::from(core::mem::replace(&mut self.open, Open::NONE).chunk);
        let (size, count) = self.head(chunk);
        self.used[class_of(count) as usize] -= rest;
        self.high_water = self.high_water.max(self.used[0] + self.used[1]);
        if rest > 0 {
            let behind = chunk + (size & !IN_USE) - rest;
            self.set_head(chunk, size - rest, count);
            self.set_head(behind, rest, 0);
            self.low = self.low.min(behind);
            self.make_stale(behind);
        }
    }

    /// Units behind the content of the open chunk.
    pub(super) fn slack(&self) -> usize {
        let chunk = usize::from(self.open.chunk);
        if chunk == 0 {
            return 0;
        }
        let end = chunk + (self.head(chunk).0 & !IN_USE) - 1;
        end - (self.open.tail as usize).div_ceil(UNIT)
    }
}
