//! The way down: source address, route, next hop, and the checksum that needs the addresses.

use core::net::Ipv6Addr;

use super::{Ipv6, checksum_offset};
use crate::ground::Cx;
use crate::netapi::{Msg, Next, Ty};
use crate::netdev::IfaceId;
use crate::pktbuf::Pkt;
use crate::trace::{Reason, Sink};
use crate::wire::addr::LinkAddr;
use crate::wire::checksum::Checksum;
use crate::wire::ipv6::{HEADER_LEN, Header};

/// The way to a destination.
pub(super) struct Hop {
    pub(super) iface: IfaceId,
    pub(super) link: LinkAddr,
}

impl Ipv6<'_> {
    /// The way to a destination; for a multicast one and a link-local one, by the interface `iface`.
    pub(super) fn next_hop(&self, dst: &Ipv6Addr, iface: IfaceId) -> Result<Hop, Reason> {
        if dst.is_multicast() {
            // RFC 4944 section 9: multicast goes as a broadcast of the PAN where there is no mesh underneath.
            return Ok(Hop {
                iface,
                link: LinkAddr::BROADCAST,
            });
        }
        if dst.is_unicast_link_local() {
            let link = self.tables.link_addr(iface, dst).ok_or(Reason::NoNeighbor)?;
            return Ok(Hop { iface, link });
        }
        let (iface, next_hop) = self.tables.route(dst).ok_or(Reason::NoRoute)?;
        let link = self
            .tables
            .link_addr(iface, &next_hop)
            .ok_or(Reason::NoNeighbor)?;
        Ok(Hop { iface, link })
    }

    /// Sends a packet that begins with an IPv6 header in the making: destination and next header are set; source and hop
    /// limit are chosen here if they are zero. Behind it comes the transport header, whose checksum field holds the sum over header and payload.
    /// The metadata names the interface for destinations that do not tell it.
    pub fn send<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, packet: Pkt) -> Next {
        match self.finish_headers(cx, &packet) {
            Ok(message) => Next::To(message, packet),
            Err(reason) => Next::Drop(packet, reason),
        }
    }

    fn finish_headers<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, packet: &Pkt) -> Result<Msg, Reason> {
        let buf = &mut cx.core.buf;
        let len = buf.len(packet);
        let bytes = buf.read::<HEADER_LEN>(packet).ok_or(Reason::Ipv6Malformed)?;
        let mut header = Header::parse(&bytes).map_err(|_| Reason::Ipv6Malformed)?;
        let payload_len = u16::try_from(len - HEADER_LEN).map_err(|_| Reason::PacketTooBig)?;
        let to_self = self.tables.owns(&header.dst);
        let iface = buf.meta(packet).iface;
        let hop = if to_self {
            Hop {
                iface,
                link: LinkAddr::None,
            }
        } else {
            self.next_hop(&header.dst, iface)?
        };
        if len > Self::mtu(hop.iface) {
            return Err(Reason::PacketTooBig);
        }
        if header.src.is_unspecified() {
            header.src = self
                .tables
                .select_source(hop.iface, &header.dst)
                .ok_or(Reason::Ipv6Address)?;
        }
        header.payload_len = payload_len;
        if header.hop_limit == 0 {
            header.hop_limit = self.config.hop_limit;
        }
        *buf.write_at::<HEADER_LEN>(packet, 0)? = header.emit();
        if let Some(offset) = checksum_offset(header.next_header) {
            let place = HEADER_LEN + offset;
            let sum = buf.read_at::<2>(packet, place).ok_or(Reason::Ipv6Malformed)?;
            let len = u32::from(payload_len);
            let mut checksum = Checksum::pseudo_header(&header.src, &header.dst, header.next_header, len);
            checksum.add(&sum);
            // All ones stands for zero in every protocol here: in UDP it must (RFC 8200 section 8.1), in ICMPv6 it may.
            *buf.write_at::<2>(packet, place)? = checksum.finish_udp().to_be_bytes();
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
