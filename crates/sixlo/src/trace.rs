//! What happened to a packet, told to a sink.
//!
//! Every packet that comes into being starts with [`Event::Start`] or [`Event::Share`] and ends in exactly one
//! [`Event::End`]; in between, events tell its way through the modules. The sink is a generic argument of the calls that
//! drive the stack; `()` costs nothing.

use crate::netdev::{IfaceId, TxOutcome};
use crate::time::{Duration, Instant};
use crate::wire::addr::LinkAddr;
use crate::wire::tcp::Flags;

/// The identity of a datagram, the same in all of its packets, fragments and copies, on every node that it passes.
///
/// It takes no room unless the feature `trace` is on. Between nodes it travels beside the frame, never in it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PktId(#[cfg(feature = "trace")] u32);

impl PktId {
    /// No identity: nothing is known about where the bytes come from.
    pub const NONE: Self = Self::new(0);

    /// The identity with this number.
    #[cfg(feature = "trace")]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The identity with this number (without the feature `trace`: the only one there is).
    #[cfg(not(feature = "trace"))]
    pub const fn new(_number: u32) -> Self {
        Self()
    }

    /// The number of this identity, 0 if there is none.
    pub const fn number(self) -> u32 {
        #[cfg(feature = "trace")]
        return self.0;
        #[cfg(not(feature = "trace"))]
        return 0;
    }
}

impl core::fmt::Debug for PktId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "#{}", self.number())
    }
}

/// A module of the stack. The order is the priority: a lower layer goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Module {
    /// Interfaces and medium access.
    Netif = 0,
    /// 6LoWPAN: header compression, fragmentation, reassembly.
    Lowpan = 1,
    /// IPv6: extension headers, forwarding, neighbours, routes.
    Ipv6 = 2,
    /// ICMPv6: echo and errors.
    Icmpv6 = 3,
    /// UDP.
    Udp = 4,
    /// TCP.
    Tcp = 5,
    /// The application: a socket or a mailbox of its own.
    App = 6,
}

impl Module {
    /// All modules, in the order of their priority.
    pub const ALL: [Self; 7] = [
        Self::Netif,
        Self::Lowpan,
        Self::Ipv6,
        Self::Icmpv6,
        Self::Udp,
        Self::Tcp,
        Self::App,
    ];

    /// The name that traces and reports show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Netif => "netif",
            Self::Lowpan => "6lowpan",
            Self::Ipv6 => "ipv6",
            Self::Icmpv6 => "icmpv6",
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::App => "app",
        }
    }
}

/// Declares the reasons for which a packet can be dropped, each with its name in traces and tables.
macro_rules! reasons {
    ($(#[$first_doc:meta])* $first:ident => $first_name:literal, $($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// Why a packet was dropped, or a frame was not taken.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Reason {
            // From 1, so that no reason is all-zero bits in a table.
            $(#[$first_doc])* $first = 1,
            $($(#[$doc])* $variant,)*
        }

        impl Reason {
            /// All reasons, in the order of their numbers.
            pub const ALL: &'static [Self] = &[Self::$first, $(Self::$variant,)*];

            /// The place in [`ALL`](Self::ALL).
            pub const fn place(self) -> usize {
                self as usize - 1
            }

            /// The name that traces, tables and counters show.
            pub const fn name(self) -> &'static str {
                match self { Self::$first => $first_name, $(Self::$variant => $name,)* }
            }
        }
    };
}

reasons! {
    /// A frame that is no frame of IEEE 802.15.4, or whose check sequence is wrong.
    FrameMalformed => "frame-malformed",
    /// A frame of a type, version or security level that is not handled here.
    FrameUnsupported => "frame-unsupported",
    /// A frame for another PAN or another node.
    FrameForeign => "frame-foreign",
    /// A frame whose source is this node.
    FrameOwn => "frame-own",
    /// A link-layer retransmission of a frame that came in already.
    FrameDuplicate => "frame-duplicate",
    /// No room in the packet buffer.
    NoBuffer => "no-buffer",
    /// No free packet descriptor.
    NoSlot => "no-slot",
    /// The transmit queue of the interface is full.
    QueueFull => "queue-full",
    /// The receive queue of the socket is full.
    SocketFull => "socket-full",
    /// The interface does not exist or cannot carry the packet.
    NoInterface => "no-interface",
    /// No acknowledgement from the next hop, after all retries.
    LinkNoAck => "link-no-ack",
    /// The channel was busy at every assessment.
    LinkChannelBusy => "link-channel-busy",
    /// The device refused the frame.
    LinkRefused => "link-refused",
    /// A 6LoWPAN dispatch that is unknown or not ours (RFC 4944 section 5.1, NALP).
    LowpanDispatch => "6lowpan-dispatch",
    /// A compressed header that cannot be read.
    LowpanHeader => "6lowpan-header",
    /// A compressed header that refers to a context that is not set.
    LowpanContext => "6lowpan-context",
    /// An elided UDP checksum, which nobody authorised (RFC 6282 section 4.3.2).
    LowpanChecksumElided => "6lowpan-checksum-elided",
    /// A critical 6LoRH that is not known (RFC 8138 section 4).
    LowpanCriticalHeader => "6lowpan-critical-header",
    /// A mesh header: there is no mesh-under forwarding here.
    LowpanMesh => "6lowpan-mesh",
    /// A fragment whose size and offset contradict each other or the data.
    FragmentInvalid => "fragment-invalid",
    /// The same fragment once more.
    FragmentDuplicate => "fragment-duplicate",
    /// A fragment of a datagram that is complete already, or of one that was given up.
    FragmentLate => "fragment-late",
    /// A fragment of a datagram of which the first one was not seen (RFC 8930 section 5).
    FragmentUnknown => "fragment-unknown",
    /// The rest of a datagram of which a fragment was lost or refused.
    FragmentBroken => "fragment-broken",
    /// The virtual reassembly buffer is full.
    ForwardFull => "forward-full",
    /// The reassembly table is full.
    ReassemblyFull => "reassembly-full",
    /// The reassembly was evicted in favour of a newer datagram.
    ReassemblyEvicted => "reassembly-evicted",
    /// Not all fragments came in time.
    ReassemblyTimeout => "reassembly-timeout",
    /// A fragment overlapped another with different bounds, or another datagram size (RFC 4944 section 5.3).
    ReassemblyConflict => "reassembly-conflict",
    /// The table of datagrams under recovery is full, or all tags are taken (RFC 8931).
    RecoverFull => "recover-full",
    /// The other end did not acknowledge a datagram after all retries, or refused it (RFC 8931 section 6).
    RecoverGivenUp => "recover-given-up",
    /// An acknowledgement of fragments that were never sent (RFC 8931).
    RecoverLie => "recover-lie",
    /// The sender gave a datagram up, and said so (RFC 8931 section 6.3).
    RecoverAborted => "recover-aborted",
    /// The datagram is larger than any node takes, or than the reassembled header says.
    DatagramTooLarge => "datagram-too-large",
    /// An IPv6 header that is malformed or whose lengths contradict the data.
    Ipv6Malformed => "ipv6-malformed",
    /// A source or destination address that must not stand there.
    Ipv6Address => "ipv6-address",
    /// The hop limit ran out.
    HopLimit => "hop-limit",
    /// No route to the destination.
    NoRoute => "no-route",
    /// The link-layer address of the next hop is not known.
    NoNeighbor => "no-neighbor",
    /// Not for this node, and this node does not forward.
    NotForwarding => "not-forwarding",
    /// At the border of a mesh: a source address from the other side of it.
    BorderSource => "border-source",
    /// At the border of a mesh: headers by which only the nodes inside route.
    BorderHeader => "border-header",
    /// At the border of a mesh: more than may enter at this time.
    BorderRate => "border-rate",
    /// Larger than the link to the next hop takes.
    PacketTooBig => "packet-too-big",
    /// An extension header or option that had to be understood and was not.
    Ipv6Option => "ipv6-option",
    /// A next header that nobody here takes.
    NextHeaderUnknown => "next-header-unknown",
    /// A malformed ICMPv6 message, or one with a wrong checksum.
    Icmpv6Malformed => "icmpv6-malformed",
    /// An ICMPv6 message that nobody here takes.
    Icmpv6Unhandled => "icmpv6-unhandled",
    /// A malformed UDP datagram.
    UdpMalformed => "udp-malformed",
    /// A wrong or missing UDP checksum.
    UdpChecksum => "udp-checksum",
    /// A malformed TCP segment.
    TcpMalformed => "tcp-malformed",
    /// A TCP segment with a wrong checksum.
    TcpChecksum => "tcp-checksum",
    /// A TCP segment of no connection and for no listener.
    TcpRefused => "tcp-refused",
    /// A TCP segment whose numbers or flags its connection does not accept.
    TcpUnacceptable => "tcp-unacceptable",
    /// A connection that a peer opens finds no place.
    TcpBacklogFull => "tcp-backlog-full",
    /// No socket listens on the port.
    PortUnreachable => "port-unreachable",
    /// The node was rebooted or the socket closed while the packet was kept.
    TornDown => "torn-down",
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The application took it.
    Delivered,
    /// A module of this node has done with it what it asked for: an echo request answered, an error noted, a
    /// fragment merged into the datagram it belongs to.
    Consumed,
    /// The link took all of it: it is with the next hop, or lost on the air.
    Sent,
    /// It was dropped.
    Dropped(Reason),
}

/// What became of a fragment at the reassembler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentFate {
    /// It opened a reassembly.
    Started,
    /// It continued at the tail: the fast path.
    InOrder,
    /// It was kept out of order.
    OutOfOrder,
    /// It completed the datagram.
    Completed,
    /// It goes on to the next hop without being put together here.
    Forwarded,
    /// It should have been forwarded and could not: the datagram is put together here instead.
    FellBack,
    /// It was ignored or refused.
    Dropped(Reason),
}

/// What a congestion control was told when its window or its interval changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing yet: a transfer begins.
    Start,
    /// Messages timed out.
    TimedOut,
    /// Messages were lost.
    Lost,
    /// A message was acknowledged.
    Acked,
    /// A message met congestion on its way.
    Ecn,
    /// The last loss was none, and what had been done about it was undone (RFC 4015).
    Undone,
}

impl Told {
    /// The name that traces and reports show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::TimedOut => "timed-out",
            Self::Lost => "lost",
            Self::Acked => "acked",
            Self::Ecn => "ecn",
            Self::Undone => "undone",
        }
    }
}

/// Something that happened to a packet, a fragment or a frame. Lengths, sizes and offsets are in bytes.
#[expect(
    missing_docs,
    reason = "the fields are named in the sentence above each variant"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet came into being in a module; `cause` is the packet that it answers, if there is one.
    Start {
        id: PktId,
        module: Module,
        len: u16,
        cause: PktId,
    },
    /// Another receiver got a packet over the same bytes.
    Share { id: PktId, module: Module },
    /// A module handed the packet to another; `queued` if it had to wait in the mailbox.
    Hop {
        id: PktId,
        from: Module,
        to: Module,
        queued: bool,
    },
    /// A frame came in over an interface, `len` bytes without frame check sequence.
    FrameIn {
        id: PktId,
        iface: IfaceId,
        from: LinkAddr,
        len: u16,
        sequence: u8,
    },
    /// A frame came in and was not taken.
    FrameDropped {
        id: PktId,
        iface: IfaceId,
        reason: Reason,
    },
    /// A datagram came in whole, in one frame, and was decompressed.
    Decompressed {
        id: PktId,
        compressed_len: u16,
        len: u16,
    },
    /// A fragment came in: tag, size of the datagram, offset and length in bytes.
    FragmentIn {
        id: PktId,
        from: LinkAddr,
        tag: u16,
        size: u16,
        offset: u16,
        len: u16,
        fate: FragmentFate,
    },
    /// A packet waits in the transmit queue of an interface, behind `ahead` others.
    Queued {
        id: PktId,
        iface: IfaceId,
        to: LinkAddr,
        ahead: u16,
    },
    /// A datagram that fits one frame was compressed into it: header bytes before and after.
    Compressed {
        id: PktId,
        to: LinkAddr,
        header_len: u16,
        compressed_len: u16,
    },
    /// A fragment was cut into the device's frame.
    FragmentOut {
        id: PktId,
        to: LinkAddr,
        tag: u16,
        size: u16,
        offset: u16,
        len: u16,
    },
    /// A recoverable fragment, or an abort if it is empty, came in (RFC 8931). Its offset is that in the compressed datagram.
    RecoverableIn {
        id: PktId,
        from: LinkAddr,
        tag: u8,
        sequence: u8,
        offset: u16,
        len: u16,
        ack_request: bool,
        congested: bool,
        fate: FragmentFate,
    },
    /// An acknowledgement of recoverable fragments came in; the highest bit is that of the first fragment.
    RecoverableAckIn {
        id: PktId,
        from: LinkAddr,
        tag: u8,
        bitmap: u32,
        congested: bool,
    },
    /// One was written into the device's frame.
    RecoverableAckOut {
        id: PktId,
        to: LinkAddr,
        tag: u8,
        bitmap: u32,
        congested: bool,
    },
    /// A recoverable fragment, or an abort if it is empty, was cut into the device's frame (RFC 8931). Its offset
    /// is that in the compressed datagram.
    RecoverableOut {
        id: PktId,
        to: LinkAddr,
        tag: u8,
        sequence: u8,
        offset: u16,
        len: u16,
        ack_request: bool,
    },
    /// A frame was handed to the device, `attempt` counted from 0 by the stack's own MAC.
    FrameOut {
        id: PktId,
        iface: IfaceId,
        to: LinkAddr,
        len: u16,
        sequence: u8,
        attempt: u8,
    },
    /// The device or the MAC is done with a frame, after so many transmissions and busy channel assessments.
    FrameDone {
        id: PktId,
        iface: IfaceId,
        outcome: TxOutcome,
        attempts: u8,
        busy: u8,
    },
    /// A transfer begins, or its congestion control was told something: the window after that in units of the transfer
    /// (fragments), and the interval between messages if there is one. Neither need have changed.
    Window {
        id: PktId,
        tag: u16,
        window: u16,
        interval: Option<Duration>,
        told: Told,
    },
    /// TCP sent a segment with `len` bytes of data (RFC 9293 section 3.1).
    SegmentOut {
        id: PktId,
        from_port: u16,
        to_port: u16,
        flags: Flags,
        seq: u32,
        ack: u32,
        len: u16,
        window: u16,
    },
    /// A connection of TCP is established, or its congestion control was told something: the window after that and the bytes
    /// under way. Neither need have changed.
    CongestionWindow {
        from_port: u16,
        to_port: u16,
        window: u32,
        flight: u32,
        told: Told,
    },
    /// The packet ended in a module.
    End { id: PktId, module: Module, end: End },
}

/// Takes events. A binary uses one sink type.
pub trait Sink {
    /// Takes one event that happened at `now`.
    fn event(&mut self, now: Instant, event: &Event);

    /// A new identity for a packet that starts here. Identities are given by the sink, because only it can keep them
    /// distinct over all nodes.
    fn identity(&mut self) -> PktId {
        PktId::NONE
    }
}

impl Sink for () {
    #[inline(always)]
    fn event(&mut self, _now: Instant, _event: &Event) {}
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn event(&mut self, now: Instant, event: &Event) {
        (**self).event(now, event);
    }

    fn identity(&mut self) -> PktId {
        (**self).identity()
    }
}
