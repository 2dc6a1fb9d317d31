//! The border of a mesh: what a node lets through that joins it to another network.
//!
//! Nothing enters that is addressed elsewhere, comes in disguise or brings routing headers of the mesh's own, and no more than
//! the mesh can carry; nothing leaves that does not come from a node of the mesh.

use core::net::Ipv6Addr;

use super::Ipv6;
use super::input::Refusal;
use crate::netdev::IfaceId;
use crate::pktbuf::{Pkt, PktBuf};
use crate::time::{Duration, Instant};
use crate::trace::Reason;
use crate::wire::addr::common_prefix_len;
use crate::wire::icmpv6::{ErrorMessage, Unreachable};
use crate::wire::ipv6::{HEADER_LEN, Header, NextHeader};
use crate::wire::ipv6_ext::options::{Opt, Options, Placed};
use crate::wire::ipv6_ext::routing::RoutingType;
use crate::wire::ipv6_ext::{Extension, fragment};

/// Bytes of a packet behind its fixed header that are looked at; what has longer extension headers does not cross.
const HEADERS_LEN_MAX: usize = 128;

/// The interfaces and rules of a border router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BorderConfig {
    /// The interface to the other network. All others are the mesh's.
    pub outside: IfaceId,
    /// The addresses of the mesh begin with this.
    pub prefix: Ipv6Addr,
    /// Bits of the prefix that count, 0 to 128.
    pub prefix_len: u8,
    /// Time that must pass for each byte that enters the mesh; zero: no limit. 32 us are the 250 kb/s of the radio.
    pub time_per_byte: Duration,
    /// After a quiet time so much of that time may be taken in advance: 500 ms of 32 us a byte are 15,625 bytes at once.
    pub in_advance: Duration,
}

impl BorderConfig {
    fn is_inside(&self, addr: &Ipv6Addr) -> bool {
        common_prefix_len(&self.prefix.octets(), &addr.octets()) >= u32::from(self.prefix_len)
    }
}

impl Ipv6<'_> {
    /// Whether a packet comes from outside with the address of a node inside, or of this node (RFC 2827 section 3): not even
    /// this node takes that.
    pub(super) fn is_spoofed(&self, header: &Header, iface: IfaceId) -> bool {
        self.config.border.is_some_and(|border| {
            iface == border.outside && (border.is_inside(&header.src) || self.tables.owns(&header.src))
        })
    }

    /// Whether a packet from one interface to another crosses the border or, more than that, turns round before it.
    pub(super) fn meets_border(&self, from: IfaceId, to: IfaceId) -> bool {
        self.config
            .border
            .is_some_and(|border| from == border.outside || to == border.outside)
    }

    /// Judges a packet that [meets the border](Self::meets_border).
    #[cold]
    #[inline(never)]
    pub(super) fn cross(
        &mut self,
        now: Instant,
        buf: &PktBuf<'_>,
        packet: &Pkt,
        header: &Header,
        to: IfaceId,
    ) -> Result<(), Refusal> {
        let Some(border) = self.config.border else {
            return Ok(());
        };
        let inward = to != border.outside;
        if border.is_inside(&header.dst) != inward || buf.meta(packet).iface == to {
            // For an address of the mesh there is no way but through it, and for others none: the default route of either
            // side would send it to and fro.
            let message = ErrorMessage::unreachable(Unreachable::NoRoute);
            return Err(Refusal::telling(Reason::NoRoute, message));
        }
        if !inward && !border.is_inside(&header.src) {
            // RFC 2827 section 3. Nobody is told: the source that is named is not who sent it.
            return Err(Reason::BorderSource.into());
        }
        if has_routing_of_mesh(buf, packet, header) {
            return Err(Reason::BorderHeader.into());
        }
        // What is too long for the way does not go it.
        let len = buf.len(packet);
        if inward && len <= Self::mtu(to) && !self.admit(now, len, &border) {
            return Err(Reason::BorderRate.into());
        }
        Ok(())
    }

    /// Takes the time of so many bytes, if there is enough: a token bucket whose tokens are time.
    fn admit(&mut self, now: Instant, len: usize, border: &BorderConfig) -> bool {
        let due = self.border_due.max(now);
        let free = due.since(now) <= border.in_advance;
        if free {
            // A packet has at most 1280 bytes.
            let time = border.time_per_byte.as_micros().saturating_mul(len as u64);
            self.border_due = due + Duration::from_micros(time);
        }
        free
    }
}

/// Whether a packet has headers by which the nodes of a mesh route, and which must not cross its border in either direction:
/// source routes (RFC 6554 section 5; type 0 of RFC 5095 with them) and the option of RPL (RFC 6553 section 3 leaves it to
/// nodes inside). True, too, if there is more than can be looked at.
fn has_routing_of_mesh(buf: &PktBuf<'_>, packet: &Pkt, header: &Header) -> bool {
    let mut bytes = [0; HEADERS_LEN_MAX];
    let len = buf.copy_out(packet, HEADER_LEN, &mut bytes);
    let (mut next, mut rest) = (header.next_header, bytes.get(..len).unwrap_or_default());
    loop {
        match next {
            NextHeader::HOP_BY_HOP | NextHeader::ROUTING | NextHeader::DESTINATION | NextHeader::MOBILITY => {
                let Ok((extension, behind)) = Extension::parse(rest) else {
                    return true;
                };
                if is_of_mesh(next, &extension) {
                    return true;
                }
                (next, rest) = (extension.next_header, behind);
            }
            NextHeader::FRAGMENT => {
                let Some((head, behind)) = rest.split_first_chunk() else {
                    return true;
                };
                let fragment = fragment::Header::parse(head);
                // What follows later fragments is no header.
                if fragment.offset != 0 {
                    return false;
                }
                (next, rest) = (fragment.next_header, behind);
            }
            _ => return false,
        }
    }
}

/// Whether one extension header is of that kind, or its options cannot be read.
fn is_of_mesh(kind: NextHeader, extension: &Extension<'_>) -> bool {
    match kind {
        NextHeader::ROUTING => {
            let kind = extension.body.first().copied().map(RoutingType);
            matches!(kind, Some(RoutingType::SOURCE_ROUTE | RoutingType::RPL))
        }
        NextHeader::HOP_BY_HOP => Options::new(extension).any(|option| {
            option.is_err()
                || matches!(
                    option,
                    Ok(Placed {
                        option: Opt::Rpl(_),
                        ..
                    })
                )
        }),
        _ => false,
    }
}
