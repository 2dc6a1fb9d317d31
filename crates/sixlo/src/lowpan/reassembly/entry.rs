//! An entry of the reassembly table, and what is compared with it.

use crate::lowpan::vrb::Side;
use crate::netdev::IfaceId;
use crate::pktbuf::{Kept, Meta, Pile};
use crate::wire::addr::LinkAddr;

/// Between whom, and over which interface, a fragment travelled: three words, because in words it is compared fastest.
///
/// An interface takes frames to its own extended address and to no other, so that one is not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    /// The link source.
    src: [u32; 2],
    /// The link destination if it is a short address, the interface, and of what kind both addresses are.
    ends: u32,
}

impl Key {
    pub(super) const EMPTY: Self = Self { src: [0; 2], ends: 0 };

    pub(super) fn of(meta: &Meta) -> Self {
        let IfaceId(iface) = meta.iface;
        let (src, src_kind) = match meta.link_src {
            LinkAddr::None => ([0; 2], 0),
            LinkAddr::Short(short) => ([u32::from(short), 0], 1),
            LinkAddr::Extended([a, b, c, d, e, f, g, h]) => (
                [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])],
                2,
            ),
        };
        let dst = match meta.link_dst {
            LinkAddr::None => 0,
            LinkAddr::Short(short) => u32::from(short) << 16 | 1,
            LinkAddr::Extended(_) => 2,
        };
        Self {
            src,
            ends: dst | u32::from(iface) << 8 | src_kind << 4,
        }
    }

    /// That of recoverable fragments, which is no other's.
    pub(super) fn recoverable(from: Side) -> Self {
        let meta = Meta {
            iface: from.iface,
            link_src: from.addr,
            ..Meta::EMPTY
        };
        let key = Self::of(&meta);
        Self {
            ends: key.ends | 8,
            ..key
        }
    }

    /// Whether both have the same link source.
    pub(super) fn same_src(&self, other: &Self) -> bool {
        self.src == other.src && (self.ends ^ other.ends) & 0xf0 == 0
    }

    /// Zero if the other one is the same.
    #[inline(always)]
    pub(super) const fn difference(&self, other: &Self) -> u32 {
        let [a, b] = self.src;
        let [c, d] = other.src;
        (a ^ c) | (b ^ d) | (self.ends ^ other.ends)
    }

    /// Whether both are the same: one branch.
    pub(super) const fn is(&self, other: &Self) -> bool {
        self.difference(other) == 0
    }
}

/// One reassembly, in 32 bytes: free, under way, or over and only remembered. The empty value is all-zero bits.
#[derive(Default)]
pub struct Reassembly {
    pub(super) key: Key,
    /// The size of the datagram in bytes; 0 if this place is free.
    pub(super) size: u16,
    pub(super) tag: u16,
    /// Bytes from the beginning on that are in `head`.
    pub(super) contiguous: u16,
    /// Bytes of each fragment in `head` but the first; 0 while there is only that.
    pub(super) step: u16,
    /// The beginning of the datagram. The context of its message is the length of the first fragment.
    pub(super) head: Option<Kept>,
    /// Fragments behind a gap, and those of other lengths than `step`; the context of each packet's message is its offset
    /// in bytes.
    pub(super) waiting: Pile,
    /// When it is given up or, if it is over, forgotten: the lower 32 bits of microseconds.
    pub(super) deadline: u32,
    /// When the last fragment came in, as `deadline`.
    pub(super) last: u32,
}

const _: () = assert!(size_of::<Reassembly>() == 32);

impl Reassembly {
    /// A free place.
    pub const EMPTY: Self = Self {
        key: Key::EMPTY,
        size: 0,
        tag: 0,
        contiguous: 0,
        step: 0,
        head: None,
        waiting: Pile::EMPTY,
        deadline: 0,
        last: 0,
    };

    pub(super) const fn is_free(&self) -> bool {
        self.size == 0
    }

    /// Whether it is under way: a reassembly has a fragment.
    pub(super) fn is_active(&self) -> bool {
        self.head.is_some() || !self.waiting.is_empty()
    }

    /// Whether its time is over: to be given up, or to be forgotten.
    pub(super) const fn is_due(&self, now: u32) -> bool {
        now.wrapping_sub(self.deadline).cast_signed() >= 0
    }

    /// Whether the first fragment came in and another one.
    pub(super) fn has_several(&self) -> bool {
        self.head.is_some() && (self.step != 0 || !self.waiting.is_empty())
    }

    /// Whether a fragment can be added to `head`, where all but the first and the last one are of one length: so it is
    /// known of each where it began, without a note for each.
    pub(super) const fn is_regular(&self, len: u16, end: u16) -> bool {
        self.step == 0 || self.step == len || end == self.size
    }

    /// Notes the length of a fragment behind the first.
    pub(super) const fn note_step(&mut self, len: u16) {
        if self.step == 0 {
            self.step = len;
        }
    }

    /// Whether bytes `offset..end`, which begin within `head`, are exactly one fragment that came in before, `first_len`
    /// being the length of the first one.
    pub(super) const fn is_one_fragment(&self, offset: u16, end: u16, first_len: u16) -> bool {
        if offset == 0 {
            return end == first_len;
        }
        let (Some(behind), Some(len)) = (offset.checked_sub(first_len), end.checked_sub(offset)) else {
            return false;
        };
        let starts = matches!(behind.checked_rem(self.step), Some(0));
        starts && len == self.step
    }
}
