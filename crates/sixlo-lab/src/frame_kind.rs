//! What a frame carries, as people who look at a mesh tell frames apart.

use sixlo::netdev::FCS_LEN;
use sixlo::wire::ieee802154::{FrameType, Header};
use sixlo::wire::iphc::{self, Contexts, Link};
use sixlo::wire::ipv6::{self, NextHeader};
use sixlo::wire::lowpan::{self, Dispatch};

/// Room for the headers of one frame, uncompressed.
const HEADERS_MAX: usize = 256;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum FrameKind {
    /// An acknowledgement of the link layer.
    Ack,
    /// A whole UDP datagram.
    Udp,
    /// A whole TCP segment.
    Tcp,
    /// A whole ICMPv6 message.
    Icmpv6,
    /// The first fragment of a datagram (RFC 4944 section 5.3), which carries its headers.
    FirstFragment,
    /// A fragment behind the first (RFC 4944 section 5.3).
    NextFragment,
    /// A recoverable fragment (RFC 8931 section 5.1).
    RecoverableFragment,
    /// The acknowledgement of recoverable fragments (RFC 8931 section 5.2).
    RecoverableAck,
    /// A fragment of IPv6 (RFC 8200 section 4.5) in a frame of its own.
    Ipv6Fragment,
    /// Anything else.
    Other,
}

impl FrameKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Ack,
        Self::Udp,
        Self::Tcp,
        Self::Icmpv6,
        Self::FirstFragment,
        Self::NextFragment,
        Self::RecoverableFragment,
        Self::RecoverableAck,
        Self::Ipv6Fragment,
        Self::Other,
    ];

    /// The word for it in a trace.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ack => "ack",
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Icmpv6 => "icmpv6",
            Self::FirstFragment => "first-fragment",
            Self::NextFragment => "next-fragment",
            Self::RecoverableFragment => "recoverable-fragment",
            Self::RecoverableAck => "recoverable-ack",
            Self::Ipv6Fragment => "ipv6-fragment",
            Self::Other => "other",
        }
    }

    /// The kind that a trace calls so.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of a frame that ends in its check sequence.
    pub fn of(frame: &[u8], contexts: &Contexts<'_>) -> Self {
        let frame = frame.split_last_chunk::<FCS_LEN>().map(|(frame, _)| frame);
        let Some(Ok((header, payload))) = frame.map(Header::parse) else {
            return Self::Other;
        };
        match header.frame_type {
            FrameType::Ack => return Self::Ack,
            FrameType::Data if header.security.is_none() => {}
            _ => return Self::Other,
        }
        match lowpan::strip(payload) {
            Ok((Dispatch::Frag1, ..)) => Self::FirstFragment,
            Ok((Dispatch::FragN, ..)) => Self::NextFragment,
            Ok((Dispatch::Rfrag, ..)) => Self::RecoverableFragment,
            Ok((Dispatch::RfragAck, ..)) => Self::RecoverableAck,
            Ok((Dispatch::Ipv6, packet, _)) => of_packet(packet.get(1..).unwrap_or_default()),
            Ok((Dispatch::Iphc, packet, _)) => {
                let link = Link {
                    src: header.src,
                    dst: header.dst,
                };
                let mut headers = [0; HEADERS_MAX];
                match iphc::decompress(packet, &link, contexts, None, &mut headers) {
                    Ok(_) => of_packet(&headers),
                    Err(_) => Self::Other,
                }
            }
            _ => Self::Other,
        }
    }
}

/// The kind of a packet by its first header.
fn of_packet(packet: &[u8]) -> FrameKind {
    let Some(Ok(header)) = packet.first_chunk().map(ipv6::Header::parse) else {
        return FrameKind::Other;
    };
    match header.next_header {
        NextHeader::UDP => FrameKind::Udp,
        NextHeader::TCP => FrameKind::Tcp,
        NextHeader::ICMPV6 => FrameKind::Icmpv6,
        NextHeader::FRAGMENT => FrameKind::Ipv6Fragment,
        _ => FrameKind::Other,
    }
}

#[cfg(test)]
mod tests;
