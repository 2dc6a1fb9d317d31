//! The reassembling endpoint of RFC 8931: which fragments of a datagram came in, and what is acknowledged.
//!
//! The bytes are the reassembler's affair. Here is what the acknowledgements need, and what remains of a datagram for a
//! while when it is complete.

use super::HERE;
use crate::lowpan::vrb::Side;
use crate::netdev::IfaceId;
use crate::time::{Instant, earliest, place_of_earliest};
use crate::wire::addr::LinkAddr;
use crate::wire::lowpan::rfrag::Bitmap;

/// What an entry stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum State {
    /// Nothing: the place is free.
    #[default]
    Free,
    /// A datagram that is being put together.
    Open,
    /// One that was received in full (RFC 8931 section 6).
    Full,
}

/// A datagram that comes in in recoverable fragments. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inbound {
    pub(super) state: State,
    iface: IfaceId,
    tag: u8,
    /// A fragment that met congestion came in since the last acknowledgement.
    pub(super) congested: bool,
    src: LinkAddr,
    /// Bytes of the datagram, its headers expanded.
    pub(super) size: u16,
    /// Bytes that the headers have more than when they are compressed.
    pub(super) shift: i16,
    pub(super) received: Bitmap,
    /// When it is forgotten.
    pub(super) deadline: Instant,
}

const _: () = assert!(size_of::<Inbound>() <= 32);

impl Inbound {
    /// A free place.
    pub const EMPTY: Self = Self {
        state: State::Free,
        iface: IfaceId(0),
        tag: 0,
        congested: false,
        src: LinkAddr::None,
        size: 0,
        shift: 0,
        received: Bitmap::NULL,
        deadline: Instant::ZERO,
    };

    /// A datagram of which nothing was stored yet.
    pub(super) const fn new(from: Side, size: u16, shift: i16, deadline: Instant) -> Self {
        Self {
            state: State::Open,
            iface: from.iface,
            // The tags of RFC 8931 have 8 bits.
            tag: from.tag as u8,
            src: from.addr,
            size,
            shift,
            deadline,
            ..Self::EMPTY
        }
    }

    /// Where its fragments come from.
    pub(super) const fn from(&self) -> Side {
        Side {
            iface: self.iface,
            addr: self.src,
            tag: self.tag as u16,
        }
    }

    /// Whether congestion is to be echoed: at most once for each that was told (RFC 8931 section 6).
    pub(super) const fn take_echo(&mut self) -> bool {
        core::mem::replace(&mut self.congested, false)
    }
}

/// The table.
pub(in crate::lowpan) struct Inbounds<'a> {
    table: &'a mut [Inbound],
    changed: bool,
}

impl<'a> Inbounds<'a> {
    /// Takes the table over and empties it.
    pub(in crate::lowpan) fn new(table: &'a mut [Inbound]) -> Self {
        table.fill(Inbound::EMPTY);
        Self {
            table,
            changed: false,
        }
    }

    /// The table, without entries where nothing is recovered.
    const fn table(&mut self) -> &mut [Inbound] {
        if HERE { self.table } else { &mut [] }
    }

    /// Gives the table back.
    pub(in crate::lowpan) fn into_table(self) -> &'a mut [Inbound] {
        self.table
    }

    pub(in crate::lowpan) fn changed(&mut self) -> bool {
        HERE && core::mem::take(&mut self.changed)
    }

    /// When the next one is forgotten.
    pub(in crate::lowpan) fn deadline(&self) -> Option<Instant> {
        let used = self
            .table
            .iter()
            .filter(|entry| HERE && entry.state != State::Free);
        earliest(used.map(|entry| entry.deadline))
    }

    /// Forgets those whose time is over.
    pub(in crate::lowpan) fn expire(&mut self, now: Instant) {
        for entry in self.table().iter_mut().filter(|entry| entry.deadline <= now) {
            *entry = Inbound::EMPTY;
        }
    }

    /// Forgets all.
    pub(in crate::lowpan) fn clear(&mut self) {
        self.table.fill(Inbound::EMPTY);
        self.changed = true;
    }

    /// The datagram that a fragment from there belongs to.
    pub(super) fn find(&self, from: Side) -> Option<usize> {
        let same = |entry: &Inbound| entry.state != State::Free && entry.from() == from;
        self.table.iter().position(same)
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Inbound> {
        self.table.get_mut(place)
    }

    /// Enters a datagram: in a free place, in that of one of which there is nothing any more (`is_gone`), or of the one
    /// that was complete first. `None` if there is no such place.
    pub(super) fn enter(&mut self, inbound: Inbound, is_gone: impl Fn(&Inbound) -> bool) -> Option<usize> {
        let free =
            |entry: &Inbound| entry.state == State::Free || (entry.state == State::Open && is_gone(entry));
        let place = self.table.iter().position(free).or_else(|| {
            let full = self.table.iter().enumerate();
            let full = full.filter(|(_, entry)| entry.state == State::Full);
            place_of_earliest(full.map(|(place, entry)| (place, entry.deadline)))
        })?;
        *self.table.get_mut(place)? = inbound;
        self.changed = true;
        Some(place)
    }

    /// Forgets one.
    pub(super) fn free(&mut self, place: usize) {
        if let Some(entry) = self.table.get_mut(place) {
            *entry = Inbound::EMPTY;
        }
        self.changed = true;
    }

    /// One is complete: it is remembered until then.
    pub(super) fn fill(&mut self, place: usize, until: Instant) {
        if let Some(entry) = self.table.get_mut(place) {
            entry.state = State::Full;
            entry.deadline = until;
        }
        self.changed = true;
    }
}

#[cfg(test)]
mod tests;
