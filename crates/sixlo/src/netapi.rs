//! Messages between modules: what a packet is, which way it goes, and where a handler sends it next.

use crate::pktbuf::{Done, Pkt};
use crate::trace::Reason;
use crate::wire::icmpv6::ErrorMessage;

/// What a packet is to the module that it goes to next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Ty {
    /// The payload of one link-layer frame. Context, on its way down: the tag of the fragment that it carries.
    #[default]
    Link = 0,
    /// A whole IPv6 packet. Context: the interface.
    Ipv6 = 1,
    /// What follows the IPv6 headers. Context: the next header.
    Transport = 2,
    /// An ICMPv6 message. Context: its type.
    Icmpv6 = 3,
    /// The payload of a UDP datagram. Context: the destination port.
    Udp = 4,
    /// The rest of an IPv6 packet whose beginning lies in fragments already; the cursor stands before it. Context: the
    /// tag of the fragments. On its way up: an IPv6 fragment for this node, the cursor before its fragment header, which is
    /// named as many bytes from the beginning as the context says.
    Fragment = 5,
    /// An IPv6 packet that is sent in recoverable fragments. Context: its place among the transfers.
    Recover = 6,
}

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Dir {
    /// From the link towards the application.
    #[default]
    Up = 0,
    /// From the application towards the link.
    Down = 1,
}

/// What the registry looks receivers up by, and what a packet in a mailbox carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Msg {
    /// Which way.
    pub dir: Dir,
    /// What it is.
    pub ty: Ty,
    /// The demultiplexing context: an interface, a next header, a message type, a port.
    pub context: u16,
}

impl Msg {
    /// A packet on its way up.
    pub const fn up(ty: Ty, context: u16) -> Self {
        Self {
            dir: Dir::Up,
            ty,
            context,
        }
    }

    /// A packet on its way down.
    pub const fn down(ty: Ty, context: u16) -> Self {
        Self {
            dir: Dir::Down,
            ty,
            context,
        }
    }
}

/// Where a handler sends its packet. Each variant asks for the packet or for the proof that it was taken.
#[must_use]
pub enum Next {
    /// To all receivers that the registry knows for this message.
    To(Msg, Pkt),
    /// Nowhere: it ends here.
    Drop(Pkt, Reason),
    /// Nowhere: it ends here, and its source is told by an ICMPv6 error where RFC 4443 allows one.
    Refuse(Pkt, Reason, ErrorMessage),
    /// It was kept, queued or ended by the handler.
    Taken(Done),
}
