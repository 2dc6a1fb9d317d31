//! IPv6 packets that are larger than the MTU of their interface: fragments at the source, an error to it elsewhere.

use super::Modules;
use crate::ground::Cx;
use crate::ipv6::fragment;
use crate::netapi::{Msg, Next, Ty};
use crate::netdev::IfaceId;
use crate::pktbuf::Pkt;
use crate::trace::{End, Event, Module, Reason, Sink};
use crate::wire::icmpv6::ErrorMessage;

/// Where the source address stands in an IPv6 header, in bytes (RFC 8200 section 3).
const SOURCE_AT: usize = 8;

impl<'a> Modules<'a> {
    /// Hands a packet to its interface, in fragments if it has to be.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn send_down<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>, msg: Msg, packet: Pkt) -> Next {
        let iface = cx.core.buf.meta(&packet).iface;
        let fits = |mtu| cx.core.buf.len(&packet) <= usize::from(mtu);
        match self.netif.mtu(iface) {
            Some(mtu) if msg.ty == Ty::Ipv6 && !fits(mtu) => {
                // RFC 8200 section 5: only the source may cut a packet.
                let src = cx.core.buf.read_at::<16>(&packet, SOURCE_AT);
                if src.is_some_and(|src| self.ipv6.owns(&src.into())) {
                    match fragment::HERE {
                        true => self.send_fragments(cx, packet, iface, mtu),
                        false => Next::Drop(packet, Reason::PacketTooBig),
                    }
                } else {
                    Next::Refuse(packet, Reason::PacketTooBig, ErrorMessage::packet_too_big(mtu))
                }
            }
            _ => self.netif.send(cx, msg, packet),
        }
    }

    /// Sends a packet in IPv6 fragments (RFC 8200 section 4.5). If the interface refuses one, those behind it are not made.
    fn send_fragments<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, 'a, S>,
        packet: Pkt,
        iface: IfaceId,
        mtu: u16,
    ) -> Next {
        // RFC 7739 section 5.3: nobody can foretell it.
        let identification = cx.core.rng.next_u32();
        let mut next = Some(0);
        while let Some(offset) = next {
            let piece = match fragment::cut(&mut cx.core.buf, &packet, offset, mtu, identification) {
                Ok((piece, behind)) => {
                    next = behind;
                    piece
                }
                Err(reason) => return Next::Drop(packet, reason),
            };
            let id = cx.core.buf.id(&piece);
            cx.event(Event::Share {
                id,
                module: Module::Netif,
            });
            match self
                .netif
                .send(cx, Msg::down(Ty::Ipv6, u16::from(iface.0)), piece)
            {
                Next::Drop(piece, reason) => {
                    let _ended = cx.drop(piece, Module::Netif, reason);
                    return Next::Drop(packet, reason);
                }
                taken => drop(taken),
            }
        }
        Next::Taken(cx.end(packet, Module::Ipv6, End::Consumed))
    }
}
