//! The largest TCP segment towards a destination: that which fills a number of frames.

use super::Modules;
use crate::ipv6::Ipv6;
use crate::lowpan::Lowpan;
use crate::netdev::IfaceId;
use crate::netif::{LinkKind, Netif};
use crate::tcp::{Endpoints, Path, TcpConfig};
use crate::wire::iphc::Link;
use crate::wire::ipv6::{self, Ecn, NextHeader, TrafficClass};
use crate::wire::tcp;

/// What tells how large a segment may be.
pub(super) struct Ways<'m, 'a> {
    netif: &'m Netif<'a>,
    lowpan: &'m Lowpan<'a>,
    ipv6: &'m Ipv6<'a>,
}

impl<'a> Modules<'a> {
    /// TCP, and what it asks about a path.
    pub(super) fn tcp_and_ways(&mut self) -> (&mut crate::tcp::Tcp<'a>, Ways<'_, 'a>) {
        let Self {
            netif,
            lowpan,
            ipv6,
            tcp,
            ..
        } = self;
        (tcp, Ways { netif, lowpan, ipv6 })
    }
}

impl Path for Ways<'_, '_> {
    /// Without options: those take from the data (RFC 6691 section 2). Never more than the interface carries in one packet,
    /// which never is more than every path does (RFC 8200 section 5).
    fn segment_size(&self, iface: IfaceId, ends: &Endpoints, config: &TcpConfig) -> u16 {
        const HEADERS_LEN: usize = ipv6::HEADER_LEN + tcp::HEADER_LEN;
        let way = self.ipv6.way_to(&ends.remote, iface);
        let (iface, neighbor) = way.unwrap_or((iface, crate::wire::addr::LinkAddr::None));
        let mtu = usize::from(self.netif.mtu(iface).unwrap_or(crate::netif::MTU)).min(ipv6::MTU_MIN);
        let mut len = mtu;
        if config.mss_frames > 0
            && self.netif.link(iface) == Some(LinkKind::Ieee802154)
            && let Some(src) = self.netif.source(iface)
            && let Some(room) = self.netif.room(iface, neighbor)
            && let Some(strategy) = self.netif.config(iface).map(|config| config.strategy)
        {
            // As a segment with data has it.
            let ecn = if config.ecn {
                Ecn::Capable0
            } else {
                Ecn::NotCapable
            };
            let header = ipv6::Header {
                traffic_class: TrafficClass::new(0, ecn),
                flow_label: 0,
                payload_len: 0,
                next_header: NextHeader::TCP,
                hop_limit: self.ipv6.config().hop_limit,
                src: ends.local,
                dst: ends.remote,
            };
            let link = Link { src, dst: neighbor };
            let frames = usize::from(config.mss_frames);
            let filled = self.lowpan.packet_len(&header, &link, strategy, room, frames);
            len = len.min(filled);
        }
        len.saturating_sub(HEADERS_LEN) as u16
    }
}
