//! ICMPv6 errors about segments of ours (RFC 9293 section 3.9.2.2, RFC 5927).

use super::Tcp;
use super::connection::Endpoints;
use super::error::TcpError;
use super::state::State;
use crate::ground::Cx;
use crate::pktbuf::Pkt;
use crate::trace::Sink;
use crate::wire::icmpv6::{self, Message, Problem, Unreachable};
use crate::wire::ipv6::{self, NextHeader};
use crate::wire::tcp::seq::Seq;

/// Bytes of a quoted segment that are looked at: ports and sequence number.
const QUOTED_LEN: usize = 8;

impl Tcp<'_> {
    /// Learns from an ICMPv6 message whose checksum is right, if it is an error about a segment of a connection; says whether
    /// it was. The cursor of the packet stands at the message.
    ///
    /// An error only counts if it quotes a number that is under way (RFC 5927 section 4.1), so that who does not see the
    /// segments cannot forge one. None ends a connection that is established (section 5.2). Packet too big has nothing to
    /// say: no packet of ours is longer than 1280 bytes, and less is none of a path's business (RFC 8201 section 4).
    pub fn heed_error<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, packet: &Pkt) -> bool {
        let buf = &cx.core.buf;
        let Some((head, ends, seq)) = buf.read::<{ icmpv6::HEADER_LEN }>(packet).and_then(|head| {
            let outer = buf.read_at::<{ ipv6::HEADER_LEN }>(packet, icmpv6::HEADER_LEN)?;
            let quoted = buf.read_at::<QUOTED_LEN>(packet, icmpv6::HEADER_LEN + ipv6::HEADER_LEN)?;
            let (ends, seq) = quoted_ends(&outer, quoted)?;
            Some((head, ends, seq))
        }) else {
            return false;
        };
        let Ok((header, _)) = icmpv6::Header::parse(&head) else {
            return false;
        };
        if !header.message.is_error() {
            return false;
        }
        let place = self.find(&ends);
        let Some(connection) = place.and_then(|place| self.connections.get_mut(place)) else {
            return false;
        };
        if !seq.is_in(connection.una, connection.max - connection.una) {
            return false;
        }
        let refused = match header.message {
            Message::DestinationUnreachable(code) => {
                connection.flags.unreachable = true;
                matches!(code, Unreachable::Port | Unreachable::Prohibited)
            }
            Message::ParameterProblem { problem, .. } => problem == Problem::NextHeader,
            _ => false,
        };
        if refused && connection.state == State::SynSent {
            connection.finish(cx, Some(TcpError::Refused));
            self.changed = true;
        }
        true
    }
}

/// The connection that a quoted segment of ours belongs to, and its sequence number.
fn quoted_ends(outer: &[u8; ipv6::HEADER_LEN], quoted: [u8; QUOTED_LEN]) -> Option<(Endpoints, Seq)> {
    let outer = ipv6::Header::parse(outer).ok()?;
    if outer.next_header != NextHeader::TCP {
        return None;
    }
    let [a, b, c, d, e, f, g, h] = quoted;
    let ends = Endpoints {
        local: outer.src,
        remote: outer.dst,
        local_port: u16::from_be_bytes([a, b]),
        remote_port: u16::from_be_bytes([c, d]),
    };
    Some((ends, Seq(u32::from_be_bytes([e, f, g, h]))))
}
