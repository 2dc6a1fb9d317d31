//! UDP (RFC 768, over IPv6 as RFC 8200 section 8.1 has it).

use crate::ground::Cx;
use crate::netapi::{Msg, Next, Ty};
use crate::pktbuf::{Pkt, PktBuf};
use crate::trace::{Reason, Sink};
use crate::wire::checksum::Checksum;
use crate::wire::ipv6::{self, NextHeader};
use crate::wire::udp::{HEADER_LEN, Header};

/// A datagram on its way up: to the receivers of its port.
///
/// The cursor stands at the UDP header, and the IPv6 header at the beginning of the packet.
pub fn receive(buf: &mut PktBuf<'_>, packet: &Pkt) -> Result<Msg, Reason> {
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
    if !is_intact(buf, packet, NextHeader::UDP) {
        return Err(Reason::UdpChecksum);
    }
    buf.mark(packet, HEADER_LEN);
    Ok(Msg::up(Ty::Udp, header.dst_port))
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
    let bytes = buf.bytes_mut(packet)?;
    let datagram = bytes.get_mut(ipv6::HEADER_LEN..).ok_or(Reason::UdpMalformed)?;
    let len = u16::try_from(datagram.len()).map_err(|_| Reason::PacketTooBig)?;
    let [_, _, _, _, rest @ ..] = header(datagram)?;
    let [high, low] = len.to_be_bytes();
    *rest = [high, low, 0, 0];
    let mut checksum = Checksum::new();
    checksum.add(datagram);
    let [.., high, low] = header(datagram)?;
    [*high, *low] = (!checksum.finish()).to_be_bytes();
    Ok(())
}

/// The header at the beginning of a datagram.
fn header(datagram: &mut [u8]) -> Result<&mut [u8; HEADER_LEN], Reason> {
    datagram.first_chunk_mut().ok_or(Reason::UdpMalformed)
}

/// The IPv6 header at the beginning of a packet whose cursor has moved on.
#[inline]
pub(crate) fn ipv6_header(buf: &PktBuf<'_>, packet: &Pkt) -> Option<ipv6::Header> {
    ipv6::Header::parse(&header_bytes(buf, packet)?).ok()
}

/// Its bytes, whatever they are.
#[cfg_attr(target_os = "none", inline(never))]
#[cfg_attr(not(target_os = "none"), inline)]
pub(crate) fn header_bytes(buf: &PktBuf<'_>, packet: &Pkt) -> Option<[u8; ipv6::HEADER_LEN]> {
    buf.read_back(packet, buf.marked(packet))
}

/// Whether the checksum is right of a message that goes from the cursor to the end of its packet, of this protocol (RFC
/// 8200 section 8.1).
#[cfg_attr(target_os = "none", inline(never))]
#[cfg_attr(not(target_os = "none"), inline)]
pub(crate) fn is_intact(buf: &PktBuf<'_>, packet: &Pkt, next_header: NextHeader) -> bool {
    let Some([_, _, _, _, _, _, _, _, addresses @ ..]) = &header_bytes(buf, packet) else {
        return false;
    };
    let len = buf.len(packet) as u32;
    let checksum = Checksum::pseudo_header_of(addresses, next_header, len);
    sum(buf, packet, 0, checksum).is_valid()
}

/// Adds the bytes of a packet from an offset on to a checksum.
#[cfg_attr(target_os = "none", inline(never))]
#[cfg_attr(not(target_os = "none"), inline)]
pub(crate) fn sum(buf: &PktBuf<'_>, packet: &Pkt, offset: usize, mut checksum: Checksum) -> Checksum {
    for piece in buf.pieces(packet, offset) {
        checksum.add(piece);
    }
    checksum
}
