//! What travels with a packet, and what asking for one can say.

use core::fmt;

use crate::netdev::IfaceId;
use crate::trace::Reason;
use crate::wire::addr::LinkAddr;

/// The interface header that is common to all links. It travels with the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The interface that the packet came in over, or goes out over.
    pub iface: IfaceId,
    /// The node on the link that sent it.
    pub link_src: LinkAddr,
    /// The node on the link that it is for: on the way down the next hop.
    pub link_dst: LinkAddr,
    /// Received signal strength in dBm, 0 where unknown.
    pub rssi_dbm: i8,
    /// Link quality indication, 0 (worst) to 255 (IEEE 802.15.4-2020, 10.2.6).
    pub lqi: u8,
    /// A lower layer saw congestion on the way (explicit congestion notification, RFC 8931 section 5.1).
    pub congested: bool,
    /// The frame was not for this node alone.
    pub multicast: bool,
}

impl Meta {
    /// Nothing known: all-zero bits.
    pub const EMPTY: Self = Self {
        iface: IfaceId(0),
        link_src: LinkAddr::None,
        link_dst: LinkAddr::None,
        rssi_dbm: 0,
        lqi: 0,
        congested: false,
        multicast: false,
    };
}

/// Who asks for bytes. For each class a number of bytes is reserved that the other cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// What comes in from a link.
    Receive = 0,
    /// What this node sends.
    Transmit = 1,
}

/// What there is none left of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// Bytes: in one piece, and not reserved for the other class. Also where a packet would exceed 65,535 bytes, or
    /// something is written past the end of one.
    Bytes,
    /// Segments.
    Segments,
    /// Slots.
    Slots,
}

impl NoRoom {
    /// The reason for which a packet is dropped that needed it.
    pub const fn reason(self) -> Reason {
        match self {
            Self::Bytes => Reason::NoBuffer,
            Self::Segments | Self::Slots => Reason::NoSlot,
        }
    }
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "no bytes left in the packet buffer",
            Self::Segments => "no segments left in the packet buffer",
            Self::Slots => "no slots left in the packet buffer",
        })
    }
}

impl core::error::Error for NoRoom {}

impl From<NoRoom> for Reason {
    fn from(no_room: NoRoom) -> Self {
        no_room.reason()
    }
}
