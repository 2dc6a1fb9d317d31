//! The way up, and onwards: what is for this node, and what is forwarded.

use super::{Ipv6, fragment, output::Hop};
use crate::ground::{Core, Cx};
use crate::netapi::{Msg, Next, Ty};
use crate::pktbuf::{NoRoom, Pkt, PktBuf};
use crate::time::Instant;
use crate::trace::{Reason, Sink};
use crate::udp;
use crate::wire::icmpv6::{ErrorMessage, Exceeded, Problem, Unreachable};
use crate::wire::ipv6::{self, HEADER_LEN, Header, Kind, is_valid_destination, is_valid_source};

/// Where the hop limit stands in the fixed header (RFC 8200 section 3).
const HOP_LIMIT_AT: usize = 7;

/// Why a packet goes no further, and what its source is to be told.
pub(super) struct Refusal {
    pub(super) reason: Reason,
    pub(super) message: Option<ErrorMessage>,
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Self {
            reason,
            message: None,
        }
    }
}

impl From<NoRoom> for Refusal {
    fn from(no_room: NoRoom) -> Self {
        Self::from(no_room.reason())
    }
}

impl Refusal {
    pub(super) const fn telling(reason: Reason, message: ErrorMessage) -> Self {
        Self {
            reason,
            message: Some(message),
        }
    }

    /// A parameter problem (RFC 4443 section 3.4) at an offset from the beginning of the packet.
    pub(super) const fn problem(reason: Reason, problem: Problem, pointer: usize) -> Self {
        // A packet has no more bytes than that.
        Self::telling(reason, ErrorMessage::problem(problem, pointer as u16))
    }

    pub(super) fn about(self, packet: Pkt) -> Next {
        match self.message {
            Some(message) => Next::Refuse(packet, self.reason, message),
            None => Next::Drop(packet, self.reason),
        }
    }
}

impl Ipv6<'_> {
    /// Takes a packet from a link.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn receive<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, packet: Pkt) -> Next {
        match self.route_in(cx.now, cx.core, &packet) {
            // A packet in fragments goes through here once more when it is whole.
            Ok(Msg {
                ty: Ty::Fragment,
                context: named_at,
                ..
            }) if fragment::HERE => self.fragments.insert(cx, packet, usize::from(named_at)),
            Ok(message) => Next::To(message, packet),
            Err(refusal) => refusal.about(packet),
        }
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn route_in(&mut self, now: Instant, core: &mut Core<'_>, packet: &Pkt) -> Result<Msg, Refusal> {
        let Some(header) = udp::ipv6_header(&core.buf, packet) else {
            return Err(Reason::Ipv6Malformed.into());
        };
        accept(&mut core.buf, packet, &header)?;
        let meta = core.buf.meta(packet);
        if !meta.link_dst.is_empty() && self.is_spoofed(&header, meta.iface) {
            return Err(Reason::BorderSource.into());
        }
        if self.is_for_me(&header.dst) {
            return self.deliver(core, packet, &header);
        }
        if header.dst.is_multicast() {
            // No multicast routing here: groups that nobody joined end silently.
            return Err(Reason::Ipv6Address.into());
        }
        self.forward(now, &mut core.buf, packet, &header)
    }

    /// Sends a packet on to its next hop.
    fn forward(
        &mut self,
        now: Instant,
        buf: &mut PktBuf<'_>,
        packet: &Pkt,
        header: &Header,
    ) -> Result<Msg, Refusal> {
        if !self.config.forwarding {
            return Err(Reason::NotForwarding.into());
        }
        // RFC 4291 sections 2.5.2, 2.5.3, 2.5.6: neither unspecified, loopback nor link-local addresses are forwarded; a
        // packet that came to many nodes by the link is not for one of them to forward.
        let src = ipv6::kind(&header.src);
        let is_local = ipv6::kind(&header.dst) == Kind::LinkLocal;
        if src == Kind::Unspecified || is_local || buf.meta(packet).multicast {
            return Err(Reason::Ipv6Address.into());
        }
        if src == Kind::LinkLocal {
            let message = ErrorMessage::unreachable(Unreachable::BeyondScope);
            return Err(Refusal::telling(Reason::Ipv6Address, message));
        }
        // RFC 8200 section 3: decremented by each node that forwards, and not forwarded with zero.
        let hop_limit = match header.hop_limit {
            0 | 1 => {
                let message = ErrorMessage::time_exceeded(Exceeded::HopLimit);
                return Err(Refusal::telling(Reason::HopLimit, message));
            }
            hop_limit => hop_limit - 1,
        };
        let Hop { iface, link } = self
            .next_hop(&header.dst, buf.meta(packet).iface)
            .map_err(|reason| {
                let code = if reason == Reason::NoRoute {
                    Unreachable::NoRoute
                } else {
                    Unreachable::Address
                };
                Refusal::telling(reason, ErrorMessage::unreachable(code))
            })?;
        if self.meets_border(buf.meta(packet).iface, iface) {
            self.cross(now, buf, packet, header, iface)?;
        }
        let mtu = Self::mtu(iface);
        if buf.len(packet) > mtu {
            return Err(Refusal::telling(
                Reason::PacketTooBig,
                ErrorMessage::packet_too_big(mtu as u16),
            ));
        }
        buf.write_bytes(packet, HOP_LIMIT_AT, &[hop_limit])?;
        let meta = buf.meta_mut(packet);
        meta.iface = iface;
        meta.link_dst = link;
        Ok(Msg::down(Ty::Ipv6, u16::from(iface.0)))
    }
}

/// Whether packet and addresses are in order. What the link put behind the packet is cut off.
fn accept(buf: &mut PktBuf<'_>, packet: &Pkt, header: &Header) -> Result<(), Reason> {
    let available = buf.len(packet) - HEADER_LEN;
    header.check_len(available).map_err(|_| Reason::Ipv6Malformed)?;
    let payload_len = usize::from(header.payload_len);
    if payload_len < available {
        buf.truncate(packet, HEADER_LEN + payload_len);
    }
    // A packet to itself crosses no link; there, the loopback address may stand (RFC 4291 section 2.5.3).
    let from_link = !buf.meta(packet).link_dst.is_empty();
    if from_link && !(is_valid_source(&header.src) && is_valid_destination(&header.dst)) {
        Err(Reason::Ipv6Address)
    } else {
        Ok(())
    }
}
