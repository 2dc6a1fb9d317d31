//! The way of a datagram of which only the first fragment is here (RFC 8930 section 5).

use super::{Ipv6, output::Hop};
use crate::netdev::IfaceId;
use crate::pktbuf::Meta;
use crate::wire::addr::LinkAddr;
use crate::wire::ipv6::{HEADER_LEN, Header, NextHeader, is_valid_destination, is_valid_source};

impl Ipv6<'_> {
    /// The interface and the next hop for a datagram of `size` bytes that begins with `head`, if it can be forwarded by
    /// its header alone. `None` where it is for this node, or where something has to be done about it for which it is
    /// needed whole: an error to its source, or hop-by-hop options.
    pub fn relay(&self, head: &[u8], size: usize, meta: &Meta) -> Option<(IfaceId, LinkAddr)> {
        let header = Header::parse(head.first_chunk::<HEADER_LEN>()?).ok()?;
        let (src, dst) = (&header.src, &header.dst);
        let can_be_forwarded = self.config.forwarding
            && !meta.multicast
            && !dst.is_multicast()
            && is_valid_source(src)
            && is_valid_destination(dst)
            // RFC 4291 section 2.5.6.
            && !src.is_unspecified()
            && !src.is_unicast_link_local()
            && !dst.is_unicast_link_local();
        // RFC 8200 sections 3 and 4.3: a hop limit that runs out and options for every hop are for `receive`.
        let needs_no_more = header.hop_limit > 1
            && header.next_header != NextHeader::HOP_BY_HOP
            && HEADER_LEN + usize::from(header.payload_len) == size;
        if !can_be_forwarded || !needs_no_more || self.is_for_me(dst) {
            return None;
        }
        let Hop { iface, link } = self.next_hop(dst, meta.iface).ok()?;
        // What crosses a border is judged as a whole.
        (size <= Self::mtu(iface) && !self.meets_border(meta.iface, iface)).then_some((iface, link))
    }
}
