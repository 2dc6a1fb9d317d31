//! Handles and the table entries behind them.

use core::num::NonZeroU16;

use super::Meta;
use crate::netapi::{Msg, Ty};
use crate::trace::PktId;

/// A packet in hand. It cannot be copied, and nothing happens when it goes out of scope: whoever owns one hands it on or
/// ends it, and [`PktBuf::in_hand`](super::PktBuf::in_hand) finds who does not.
#[must_use]
#[derive(Debug)]
pub struct Pkt(NonZeroU16);

impl Pkt {
    /// The handle of a slot, counted from 1; none for 0.
    pub(super) fn from_link(link: u16) -> Option<Self> {
        NonZeroU16::new(link).map(Self)
    }

    /// The number of the slot, counted from 1.
    pub(super) fn link(&self) -> u16 {
        self.0.get()
    }
}

/// A packet in a table of a module. `None` of an `Option<Kept>` is all-zero bits.
#[must_use]
#[derive(Debug)]
pub struct Kept(pub(super) Pkt);

impl Kept {
    /// The packet, for all that only looks at it or writes into it.
    pub fn pkt(&self) -> &Pkt {
        &self.0
    }
}

/// The proof that a packet was taken: kept, queued, appended or ended. Only what consumes a [`Pkt`] makes one.
#[must_use]
#[derive(Debug)]
pub struct Done(pub(super) ());

/// A first-in first-out queue of packets. The links lie in the packets themselves: it cannot be full.
#[derive(Debug, Default)]
pub struct Queue {
    pub(super) head: Option<Pkt>,
    pub(super) tail: u16,
    pub(super) len: u16,
}

impl Queue {
    /// A queue without packets: all-zero bits.
    pub const EMPTY: Self = Self {
        head: None,
        tail: 0,
        len: 0,
    };

    /// Packets in the queue.
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// The packet that [`PktBuf::pop`](super::PktBuf::pop) gives next.
    pub fn front(&self) -> Option<&Pkt> {
        self.head.as_ref()
    }
}

/// Packets of one owner in no order that matters: in a table entry, 2 bytes. `Pile::EMPTY` is all-zero bits.
#[derive(Debug, Default)]
pub struct Pile(pub(super) u16);

impl Pile {
    /// A pile without packets.
    pub const EMPTY: Self = Self(0);

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

/// An entry of the segment table: a piece of a packet, which is a part of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seg {
    /// The chunk, or 0.
    pub(super) chunk: u16,
    /// Where the piece starts in the chunk, in bytes.
    pub(super) start: u16,
    /// Bytes of the piece.
    pub(super) len: u16,
    /// The entry that holds the next piece, counted from 1, or 0. In a free entry the next free one.
    pub(super) next: u16,
}

impl Seg {
    /// The empty entry: all-zero bits.
    pub const EMPTY: Self = Self {
        chunk: 0,
        start: 0,
        len: 0,
        next: 0,
    };
}

/// Who has the packet of a slot; only debug builds note it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Owner {
    /// Nobody: the slot is free.
    #[default]
    Nobody = 0,
    /// The step that is running.
    Hand = 1,
    /// A table of a module.
    Table = 2,
    /// A queue.
    Queue = 3,
}

/// An entry of the slot table: a packet of one owner.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// The first piece.
    pub(super) first: Seg,
    /// Bytes of all pieces.
    pub(super) total: u16,
    /// Bytes before the cursor.
    pub(super) cursor: u16,
    /// The slot behind this one in its queue or among the free ones, counted from 1, or 0.
    pub(super) link: u16,
    pub(super) msg: Msg,
    pub(super) id: PktId,
    #[cfg(any(test, debug_assertions))]
    pub(super) owner: Owner,
    pub(super) meta: Meta,
}

impl Slot {
    /// The empty entry: all-zero bits.
    pub const EMPTY: Self = Self {
        first: Seg::EMPTY,
        total: 0,
        cursor: 0,
        link: 0,
        msg: Msg::up(Ty::Link, 0),
        id: PktId::NONE,
        #[cfg(any(test, debug_assertions))]
        owner: Owner::Nobody,
        meta: Meta::EMPTY,
    };
}
