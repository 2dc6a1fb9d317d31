//! The way down: source address, route, next hop, and the checksum that needs the addresses.

use core::net::Ipv6Addr;

use super::{Ipv6, checksum_offset};
use crate::ground::Cx;
use crate::netapi::{Msg, Next, Ty};
use crate::netdev::IfaceId;
use crate::pktbuf::{Pkt, PktBuf};
use crate::trace::{Reason, Sink};
use crate::udp;
use crate::wire::addr::LinkAddr;
use crate::wire::checksum::Checksum;
use crate::wire::ipv6::{self, HEADER_LEN, Kind, NextHeader};

/// The way to a destination.
pub(super) struct Hop {
    pub(super) iface: IfaceId,
    pub(super) link: LinkAddr,
}

impl Ipv6<'_> {
    /// The way to a destination; for a multicast one and a link-local one, by the interface `iface`.
    pub(super) fn next_hop(&self, dst: &Ipv6Addr, iface: IfaceId) -> Result<Hop, Reason> {
        let (iface, next_hop) = match ipv6::kind(dst) {
            // RFC 4944 section 9: multicast goes as a broadcast of the PAN where there is no mesh underneath.
            Kind::Multicast => {
                return Ok(Hop {
                    iface,
                    link: LinkAddr::BROADCAST,
                });
            }
            Kind::LinkLocal => (iface, dst),
            _ => self.tables.route(dst).ok_or(Reason::NoRoute)?,
        };
        let link = self.tables.link_addr(iface, next_hop).ok_or(Reason::NoNeighbor)?;
        Ok(Hop { iface, link })
    }

    /// The interface and the next hop for a packet with a header, as they are now.
    pub fn way_of(&self, buf: &PktBuf<'_>, packet: &Pkt) -> Option<(IfaceId, LinkAddr)> {
        let header = udp::ipv6_header(buf, packet)?;
        let Hop { iface, link } = self.next_hop(&header.dst, buf.meta(packet).iface).ok()?;
        Some((iface, link))
    }

    /// The interface and the next hop towards a destination; for a link-local one by the interface `iface`.
    pub fn way_to(&self, dst: &Ipv6Addr, iface: IfaceId) -> Option<(IfaceId, LinkAddr)> {
        let Hop { iface, link } = self.next_hop(dst, iface).ok()?;
        Some((iface, link))
    }

    /// The interface towards a destination and the address to send from; for a link-local one by the interface `iface`.
    pub fn source_for(&self, dst: &Ipv6Addr, iface: IfaceId) -> Result<(IfaceId, Ipv6Addr), Reason> {
        if self.tables.owns(dst) {
            // RFC 6724 section 5, rule 1.
            return Ok((iface, *dst));
        }
        let Hop { iface, .. } = self.next_hop(dst, iface)?;
        let src = self.tables.select_source(iface, dst);
        Ok((iface, *src.ok_or(Reason::Ipv6Address)?))
    }

    /// Sends a packet that begins with an IPv6 header in the making: destination and next header are set; source and hop
    /// limit are chosen here if they are zero. Behind it comes the transport header, whose checksum field holds the sum over header and payload.
    /// The metadata names the interface for destinations that do not tell it.
    pub fn send<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, packet: Pkt) -> Next {
        match self.finish_headers(&mut cx.core.buf, &packet) {
            Ok(message) => Next::To(message, packet),
            Err(reason) => Next::Drop(packet, reason),
        }
    }

    fn finish_headers(&self, buf: &mut PktBuf<'_>, packet: &Pkt) -> Result<Msg, Reason> {
        let (len, iface) = (buf.len(packet), buf.meta(packet).iface);
        // Where it lies: most of it is there already. A packet without a whole one is malformed.
        let header = buf.write_at::<HEADER_LEN>(packet, 0);
        let header = header.map_err(|no_room| match len {
            0..HEADER_LEN => Reason::Ipv6Malformed,
            _ => no_room.reason(),
        })?;
        let [
            version,
            _,
            _,
            _,
            len_high,
            len_low,
            next_header,
            hop_limit,
            addresses @ ..,
        ] = header;
        let (Some(own), Some(dst)) = (addresses.first_chunk::<16>(), addresses.last_chunk::<16>()) else {
            return Err(Reason::Ipv6Malformed);
        };
        if *version >> 4 != 6 {
            return Err(Reason::Ipv6Malformed);
        }
        let (own, dst) = (Ipv6Addr::from_octets(*own), Ipv6Addr::from_octets(*dst));
        let to_self = self.tables.owns(&dst);
        let hop = if to_self {
            Hop {
                iface,
                link: LinkAddr::None,
            }
        } else {
            self.next_hop(&dst, iface)?
        };
        if len > Self::mtu(hop.iface) {
            return Err(Reason::PacketTooBig);
        }
        if own.is_unspecified() {
            // RFC 6724 section 5, rule 1: the destination itself, if it is ours.
            let src = match to_self {
                true => Some(&dst),
                false => self.tables.select_source(hop.iface, &dst),
            };
            if let Some(place) = addresses.first_chunk_mut() {
                *place = src.ok_or(Reason::Ipv6Address)?.octets();
            }
        }
        // It fits, because the MTU does.
        let payload_len = len - HEADER_LEN;
        [*len_high, *len_low] = (payload_len as u16).to_be_bytes();
        if *hop_limit == 0 {
            *hop_limit = self.config.hop_limit;
        }
        let next_header = NextHeader(*next_header);
        if let Some(offset) = checksum_offset(next_header) {
            if payload_len < offset + 2 {
                return Err(Reason::Ipv6Malformed);
            }
            let mut checksum = Checksum::pseudo_header_of(addresses, next_header, payload_len as u32);
            let sum = buf.write_at::<2>(packet, HEADER_LEN + offset)?;
            checksum.add_word(u16::from_be_bytes(*sum));
            // All ones stands for zero in every protocol here: in UDP it must (RFC 8200 section 8.1), in ICMPv6 it may.
            *sum = checksum.finish_udp().to_be_bytes();
        }
        let meta = buf.meta_mut(packet);
        meta.iface = hop.iface;
        meta.link_dst = hop.link;
        let context = u16::from(hop.iface.0);
        Ok(if to_self {
            Msg::up(Ty::Ipv6, context)
        } else {
            Msg::down(Ty::Ipv6, context)
        })
    }
}
