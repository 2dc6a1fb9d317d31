//! The same table for datagrams that come in recoverable fragments (RFC 8931), whose bounds are any, may overlap, and
//! whose datagrams are told from each other elsewhere.

use super::entry::{Key, Reassembly};
use super::{Fragment, Label, Reassembler, give_up, pair};
use crate::ground::Cx;
use crate::lowpan::vrb::Side;
use crate::pktbuf::Pkt;
use crate::trace::{FragmentFate, Reason, Sink};

impl Label {
    /// That of `len` bytes from `offset` on of a datagram of `size` bytes that comes in recoverable fragments.
    pub(in crate::lowpan) fn recoverable(from: Side, size: u16, offset: u16, len: u16) -> Self {
        Self {
            key: Key::recoverable(from),
            name: pair(from.tag, size),
            place: pair(offset, len),
        }
    }
}

impl Reassembler<'_> {
    /// Entries that are under way, and how many there are.
    pub(in crate::lowpan) fn fill(&self) -> (usize, usize) {
        (self.active(), self.table.len())
    }

    /// Whether a datagram is being put together.
    pub(in crate::lowpan) fn is_open(&self, label: &Label) -> bool {
        let entry = self.find_label(label).and_then(|index| self.table.get(index));
        entry.is_some_and(Reassembly::is_active)
    }

    /// The first bytes of a part that are not there yet: where they begin and end. `None` if there are none, or the
    /// datagram is not being put together.
    pub(in crate::lowpan) fn gap<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        label: &Label,
    ) -> Option<(u16, u16)> {
        self.expire(cx);
        let index = self.find_label(label)?;
        let entry = self.table.get(index).filter(|entry| entry.is_active())?;
        let (mut from, mut end) = (label.offset().max(entry.contiguous), label.end());
        // Each round passes one that waits, if there is any more.
        while let Some((start, len)) = cx
            .core
            .buf
            .piled(&entry.waiting)
            .find(|(start, len)| *start <= from && from < start + len)
        {
            from = start + len;
        }
        for (start, _) in cx.core.buf.piled(&entry.waiting) {
            if start > from {
                end = end.min(start);
            }
        }
        (from < end).then_some((from, end))
    }

    /// Stores bytes that are not there yet, none of them beyond the datagram; the first ones open its reassembly. Gives
    /// the datagram if it is complete now: then nothing remains of it here; and what the bytes were to those before.
    ///
    /// # Errors
    ///
    /// Why they could not be stored; then the datagram is given up.
    pub(in crate::lowpan) fn insert_part<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        label: &Label,
        part: &Fragment<'_>,
    ) -> Result<(Option<Pkt>, FragmentFate), Reason> {
        let (index, left) = self.admit(cx, label)?;
        let fate = self.fate(index, left, label);
        let packet = self.take(cx, index, left, label, part)?;
        if packet.is_some()
            && let Some(entry) = self.table.get_mut(index)
        {
            *entry = Reassembly::EMPTY;
        }
        Ok((packet, fate))
    }

    /// Gives a datagram up; nothing remains of it here.
    pub(in crate::lowpan) fn discard<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        label: &Label,
        reason: Reason,
    ) {
        self.expire(cx);
        let index = self.find_label(label);
        if let Some(entry) = index.and_then(|index| self.table.get_mut(index)) {
            give_up(cx, entry, 0, reason);
            *entry = Reassembly::EMPTY;
        }
    }
}
