//! Bytes that came in order and wait for the application, in a ring over memory that is handed in.

use crate::wire::copy;

/// The places of a ring. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ring {
    start: u16,
    len: u16,
}

impl Ring {
    pub(super) const EMPTY: Self = Self { start: 0, len: 0 };

    pub(super) const fn len(&self) -> u16 {
        self.len
    }

    pub(super) fn room(&self, storage_len: usize) -> u16 {
        let most = u16::try_from(storage_len).unwrap_or(u16::MAX);
        most.saturating_sub(self.len)
    }

    /// Adds bytes behind those that wait; says how many fitted.
    pub(super) fn push(&mut self, storage: &mut [u8], bytes: &[u8]) -> usize {
        let fits = bytes.len().min(usize::from(self.room(storage.len())));
        let bytes = bytes.get(..fits).unwrap_or_default();
        let at = (usize::from(self.start) + usize::from(self.len)) % storage.len().max(1);
        let (front, back) = storage.split_at_mut(at);
        let copied = copy(back, bytes);
        copy(front, bytes.get(copied..).unwrap_or_default());
        self.len += fits as u16;
        fits
    }

    /// The bytes that wait, as far as they lie in one piece.
    pub(super) fn front<'s>(&self, storage: &'s [u8]) -> &'s [u8] {
        let start = usize::from(self.start);
        let end = (start + usize::from(self.len)).min(storage.len());
        storage.get(start..end).unwrap_or_default()
    }

    /// Takes bytes away.
    pub(super) fn consume(&mut self, storage_len: usize, n: u16) {
        let n = n.min(self.len);
        self.len -= n;
        self.start = ((usize::from(self.start) + usize::from(n)) % storage_len.max(1)) as u16;
    }
}
