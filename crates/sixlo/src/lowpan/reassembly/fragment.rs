//! A fragment on its way into the table.

use super::entry::Key;
use crate::pktbuf::Meta;
use crate::trace::{PktId, Reason};
use crate::wire::lowpan::frag::{self, DATAGRAM_SIZE_MAX};

/// A fragment as it came in, with its compressed header expanded.
pub(in super::super) struct Fragment<'f> {
    /// Link addresses and what else the interface knows of the frame.
    pub(in super::super) meta: &'f Meta,
    /// The fragment header.
    pub(in super::super) header: frag::Fragment,
    /// The expanded headers of the datagram (first fragment), or nothing.
    pub(in super::super) expanded: &'f [u8],
    /// The bytes behind them.
    pub(in super::super) data: &'f [u8],
    /// The identity of the datagram.
    pub(in super::super) id: PktId,
}

impl Fragment<'_> {
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn label(&self) -> Label {
        Label::of(self)
    }

    /// Whether RFC 4944 section 5.3 allows it: it lies within the datagram, is not empty, and a multiple of eight bytes
    /// unless it is the last.
    pub(super) fn judge(&self, label: &Label) -> Result<(), Reason> {
        if label.size() > DATAGRAM_SIZE_MAX {
            return Err(Reason::DatagramTooLarge);
        }
        let checked = self.header.check(label.len().into());
        checked.map_err(|_| Reason::FragmentInvalid)
    }
}

/// What a fragment is compared by.
pub(in super::super) struct Label {
    pub(super) key: Key,
    /// The datagram's tag and size.
    pub(super) name: u32,
    /// Where the fragment begins in the datagram, and how long it is, in bytes.
    pub(super) place: u32,
}

impl Label {
    /// That of a fragment of RFC 4944 section 5.3.
    #[inline(always)]
    pub(super) fn of(fragment: &Fragment<'_>) -> Self {
        // A frame has fewer bytes than a u16 can count, and so have expanded headers.
        let len = (fragment.expanded.len() + fragment.data.len()) as u16;
        let header = &fragment.header;
        Self {
            key: Key::of(fragment.meta),
            name: pair(header.datagram_tag, header.datagram_size),
            place: pair(header.start() as u16, len),
        }
    }

    /// Zero if the other one is the same.
    #[inline(always)]
    pub(super) const fn difference(&self, other: &Self) -> u32 {
        self.key.difference(&other.key) | (self.name ^ other.name) | (self.place ^ other.place)
    }

    pub(super) const fn tag(&self) -> u16 {
        (self.name >> 16) as u16
    }

    /// Bytes of the whole datagram.
    pub(super) const fn size(&self) -> u16 {
        self.name as u16
    }

    pub(super) const fn offset(&self) -> u16 {
        (self.place >> 16) as u16
    }

    pub(super) const fn len(&self) -> u16 {
        self.place as u16
    }

    /// Where it ends in the datagram. To be asked only of what was checked.
    pub(super) const fn end(&self) -> u16 {
        self.offset() + self.len()
    }
}

/// Two numbers as one word.
pub(super) const fn pair(high: u16, low: u16) -> u32 {
    (high as u32) << 16 | low as u32
}
