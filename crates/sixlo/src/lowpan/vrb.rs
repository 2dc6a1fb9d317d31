//! The virtual reassembly buffer (RFC 8930 section 6): where the fragments of a datagram go that this node forwards
//! without putting it together. An entry maps (interface, link source, tag) of what comes in to (interface, next hop, tag)
//! of what goes out, and for the acknowledgements of RFC 8931 back.

use super::forward;
use super::peers::{PeerId, Peers};
use crate::netdev::IfaceId;
use crate::time::{Duration, Instant, earliest};
use crate::wire::addr::LinkAddr;

/// What an entry is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// Nothing: the place is free.
    #[default]
    Free,
    /// Fragments of RFC 4944.
    Plain,
    /// Fragments of RFC 4944 of a datagram of which one was lost: the rest is dropped.
    Broken,
    /// Recoverable fragments (RFC 8931).
    Recover,
    /// Recoverable fragments of a datagram that was received in full at its end (RFC 8931 section 6.2).
    Full,
}

impl Kind {
    /// Whether fragments of RFC 8931 belong to it. Their tags are apart from those of RFC 4944.
    const fn is_recoverable(self) -> bool {
        matches!(self, Self::Recover | Self::Full)
    }
}

/// One entry. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vrb {
    pub(super) kind: Kind,
    pub(super) in_iface: IfaceId,
    pub(super) out_iface: IfaceId,
    in_peer: PeerId,
    out_peer: PeerId,
    /// Frames with its fragments that wait at the interface.
    pub(super) queued: u8,
    /// More than the first fragment was forwarded.
    pub(super) progressed: bool,
    pub(super) in_tag: u16,
    pub(super) out_tag: u16,
    /// Size of the datagram in bytes, as it came in.
    pub(super) size: u16,
    /// Plain: where the next fragment begins, in bytes. Recoverable: what is added to offsets (RFC 8931 section 4.4), as
    /// two's complement.
    pub(super) next: u16,
    deadline: Instant,
}

const _: () = assert!(size_of::<Vrb>() == 24);

impl Vrb {
    /// A free place.
    pub const EMPTY: Self = Self {
        kind: Kind::Free,
        in_iface: IfaceId(0),
        out_iface: IfaceId(0),
        in_peer: PeerId::NONE,
        out_peer: PeerId::NONE,
        queued: 0,
        progressed: false,
        in_tag: 0,
        out_tag: 0,
        size: 0,
        next: 0,
        deadline: Instant::ZERO,
    };

    /// Whether all of a plain datagram has been taken.
    const fn is_whole(&self) -> bool {
        self.next >= self.size
    }
}

/// One end of an entry: between which nodes, and under which tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) iface: IfaceId,
    pub(super) addr: LinkAddr,
    pub(super) tag: u16,
}

/// The table.
pub(super) struct Vrbs<'a> {
    table: &'a mut [Vrb],
    pub(super) peers: Peers<'a>,
    /// [`deadline`](Self::deadline) may be another than when it was last asked for.
    changed: bool,
}

impl<'a> Vrbs<'a> {
    /// Takes the tables over and empties them.
    pub(super) fn new(table: &'a mut [Vrb], peers: Peers<'a>) -> Self {
        table.fill(Vrb::EMPTY);
        Self {
            table,
            peers,
            changed: false,
        }
    }

    /// The table, without entries where nothing is forwarded.
    const fn table(&self) -> &[Vrb] {
        if forward::HERE { self.table } else { &[] }
    }

    /// Gives the tables back.
    pub(super) fn into_parts(self) -> (&'a mut [Vrb], Peers<'a>) {
        (self.table, self.peers)
    }

    /// Entries in use.
    pub(super) fn used(&self) -> usize {
        let used = self.table().iter().filter(|entry| entry.kind != Kind::Free);
        used.count()
    }

    /// Opens an entry. If the table is full, one gives way whose datagram is broken or done; else, if `evict` is set, one of
    /// the same kind of which nothing was heard for this long, those first of which there was no more than the first
    /// fragment. `None` if none is left.
    pub(super) fn open(
        &mut self,
        now: Instant,
        kind: Kind,
        (from, to): (Side, Side),
        size: u16,
        timeout: Duration,
        evict: Option<Duration>,
    ) -> Option<usize> {
        let index = self.place(now, kind, timeout, evict)?;
        let in_peer = self.peers.intern(from.addr)?;
        let Some(out_peer) = self.peers.intern(to.addr) else {
            self.peers.release(in_peer);
            return None;
        };
        self.table[index] = Vrb {
            kind,
            in_iface: from.iface,
            out_iface: to.iface,
            in_peer,
            out_peer,
            queued: 0,
            progressed: false,
            in_tag: from.tag,
            out_tag: to.tag,
            size,
            next: 0,
            deadline: now + timeout,
        };
        self.changed = true;
        Some(index)
    }

    /// A place for an entry.
    fn place(
        &mut self,
        now: Instant,
        kind: Kind,
        timeout: Duration,
        evict: Option<Duration>,
    ) -> Option<usize> {
        if let Some(free) = self.table().iter().position(|entry| entry.kind == Kind::Free) {
            return Some(free);
        }
        let is_over = |entry: &Vrb| matches!(entry.kind, Kind::Broken | Kind::Full) && entry.queued == 0;
        let stale = |entry: &Vrb| {
            // Each is given up this long after its last fragment.
            let silent_for = |span| entry.deadline + span <= now + timeout;
            entry.kind == kind && entry.queued == 0 && evict.is_some_and(silent_for)
        };
        let index = self.table().iter().position(is_over).or_else(|| {
            let stale = self.table().iter().enumerate().filter(|(_, entry)| stale(entry));
            stale
                .min_by_key(|(_, entry)| (entry.progressed, entry.deadline))
                .map(|(index, _)| index)
        })?;
        self.free(index);
        Some(index)
    }

    /// The entry for what comes in.
    pub(super) fn find_in(&self, recoverable: bool, from: Side) -> Option<usize> {
        self.table().iter().position(|entry| {
            entry.in_tag == from.tag
                && entry.kind != Kind::Free
                && entry.kind.is_recoverable() == recoverable
                && entry.in_iface == from.iface
                && self.peers.is(entry.in_peer, from.addr)
        })
    }

    /// The entry for what goes out under a tag, which is unique to this node and interface.
    pub(super) fn find_out(&self, recoverable: bool, iface: IfaceId, tag: u16) -> Option<usize> {
        self.table().iter().position(|entry| {
            entry.out_tag == tag
                && entry.kind != Kind::Free
                && entry.kind.is_recoverable() == recoverable
                && entry.out_iface == iface
        })
    }

    /// An entry.
    pub(super) fn entry(&self, index: usize) -> &Vrb {
        &self.table[index]
    }

    /// An entry, to be changed.
    pub(super) fn entry_mut(&mut self, index: usize) -> &mut Vrb {
        &mut self.table[index]
    }

    /// The node that an entry's fragments come from.
    pub(super) fn from(&self, index: usize) -> LinkAddr {
        self.peers.addr(self.table[index].in_peer)
    }

    /// The node that an entry's fragments go to.
    pub(super) fn to(&self, index: usize) -> LinkAddr {
        self.peers.addr(self.table[index].out_peer)
    }

    /// A fragment was heard: the time of its entry is over later. The timer goes off once too often for it.
    pub(super) fn heard(&mut self, index: usize, deadline: Instant) {
        self.table[index].progressed = true;
        self.table[index].deadline = deadline;
    }

    /// The time of an entry is over at this instant instead.
    pub(super) fn set_deadline(&mut self, index: usize, deadline: Instant) {
        self.table[index].deadline = deadline;
        self.changed = true;
    }

    /// Frees an entry.
    pub(super) fn free(&mut self, index: usize) {
        let entry = core::mem::take(&mut self.table[index]);
        if entry.kind != Kind::Free {
            self.peers.release(entry.in_peer);
            self.peers.release(entry.out_peer);
            self.changed = true;
        }
    }

    /// Frees a plain entry whose last fragment has been taken and sent.
    pub(super) fn free_if_done(&mut self, index: usize) {
        let entry = &self.table[index];
        if entry.queued == 0 && entry.is_whole() && matches!(entry.kind, Kind::Plain | Kind::Broken) {
            self.free(index);
        }
    }

    /// Frees all entries.
    pub(super) fn clear(&mut self) {
        for index in 0..self.table().len() {
            self.free(index);
        }
    }

    /// Whether [`deadline`](Self::deadline) may have changed since this was last asked.
    pub(super) fn changed(&mut self) -> bool {
        forward::HERE && core::mem::take(&mut self.changed)
    }

    /// When [`expire`](Self::expire) wants to be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let used = self.table().iter().filter(|entry| entry.kind != Kind::Free);
        earliest(used.map(|entry| entry.deadline))
    }

    /// Frees the entries whose time is over.
    pub(super) fn expire(&mut self, now: Instant) {
        for index in 0..self.table().len() {
            if self.table[index].kind != Kind::Free && self.table[index].deadline <= now {
                self.free(index);
            }
        }
    }
}

#[cfg(test)]
mod tests;
