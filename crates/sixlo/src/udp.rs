//! UDP (RFC 768, over IPv6 as RFC 8200 section 8.1 has it).

use crate::ground::Cx;
use crate::netapi::{Msg, Next, Ty};
use crate::pktbuf::{Pkt, PktBuf};
use crate::trace::{Reason, Sink};
use crate::wire::checksum::Checksum;
use crate::wire::ipv6::{self, NextHeader};
use crate::wire::udp::{HEADER_LEN, Header};

/// A datagram on its way up: to the receivers of its port. `Err(PortUnreachable)` if there are none.
///
/// The cursor stands at the UDP header, and the IPv6 header at the beginning of the packet.
pub fn receive<S: Sink>(cx: &mut Cx<'_, '_, S>, packet: &Pkt) -> Result<Msg, Reason> {
    let buf = &mut cx.core.buf;
    let available = buf.len(packet);
    let header = Header::parse(&buf.read(packet).ok_or(Reason::UdpMalformed)?);
    header.payload_len(available).map_err(|_| Reason::UdpMalformed)?;
    let len = usize::from(header.len);
    // RFC 8200 section 8.1: over IPv6 a datagram without a checksum must be discarded.
    if !header.has_checksum() {
        return Err(Reason::UdpChecksum);
    }
    if len < available {
        buf.truncate(packet, len);
    }
    let addresses = ipv6_header(buf, packet).ok_or(Reason::UdpMalformed)?;
    let mut checksum = Checksum::pseudo_header(&addresses.src, &addresses.dst, NextHeader::UDP, len as u32);
    for piece in buf.pieces(packet, 0) {
        checksum.add(piece);
    }
    if !checksum.is_valid() {
        return Err(Reason::UdpChecksum);
    }
    let message = Msg::up(Ty::Udp, header.dst_port);
    if !cx.core.registry.knows(message) {
        return Err(Reason::PortUnreachable);
    }
    cx.core.buf.mark(packet, HEADER_LEN);
    Ok(message)
}

/// A datagram on its way down: an IPv6 header in the making, a UDP header with its ports, the payload. Sets the length,
/// and in the checksum field the sum that the IPv6 layer completes.
pub fn send<S: Sink>(cx: &mut Cx<'_, '_, S>, packet: Pkt) -> Next {
    match prepare(&mut cx.core.buf, &packet) {
        Ok(()) => Next::To(Msg::down(Ty::Transport, u16::from(NextHeader::UDP.0)), packet),
        Err(reason) => Next::Drop(packet, reason),
    }
}

fn prepare(buf: &mut PktBuf<'_>, packet: &Pkt) -> Result<(), Reason> {
    let at = ipv6::HEADER_LEN;
    let mut header = Header::parse(&buf.read_at(packet, at).ok_or(Reason::UdpMalformed)?);
    header.len = u16::try_from(buf.len(packet) - at).map_err(|_| Reason::PacketTooBig)?;
    header.checksum = 0;
    let mut checksum = Checksum::new();
    checksum.add(&header.emit());
    for piece in buf.pieces(packet, at + HEADER_LEN) {
        checksum.add(piece);
    }
    header.checksum = !checksum.finish();
    *buf.write_at(packet, at)? = header.emit();
    Ok(())
}

/// The IPv6 header at the beginning of a packet whose cursor has moved on.
pub(crate) fn ipv6_header(buf: &PktBuf<'_>, packet: &Pkt) -> Option<ipv6::Header> {
    let bytes = buf.read_back::<{ ipv6::HEADER_LEN }>(packet, buf.marked(packet))?;
    ipv6::Header::parse(&bytes).ok()
}
