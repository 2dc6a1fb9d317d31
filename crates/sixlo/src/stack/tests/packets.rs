//! Packets made by hand, put into a node as if a neighbour had sent them, and packets taken out as they came in.

use core::net::Ipv6Addr;
use std::vec::Vec;

use super::net::{IFACE, Net, eui};
use crate::netapi::Msg;
use crate::netdev::RxInfo;
use crate::sock::MailboxId;
use crate::wire::addr::LinkAddr;
use crate::wire::checksum::Checksum;
use crate::wire::icmpv6;
use crate::wire::ieee802154::Header;
use crate::wire::ipv6::{self, NextHeader, TrafficClass};
use crate::wire::lowpan::IPV6;
use crate::wire::lowpan::frag::Fragment;
use crate::wire::udp;

/// Bytes of an uncompressed packet that go into one frame or fragment by [`Net::inject`].
const PIECE_LEN: usize = 80;

/// A header with hop limit 64 and everything else zero.
pub(crate) fn header(src: Ipv6Addr, dst: Ipv6Addr, next_header: NextHeader) -> ipv6::Header {
    ipv6::Header {
        traffic_class: TrafficClass(0),
        flow_label: 0,
        payload_len: 0,
        next_header,
        hop_limit: 64,
        src,
        dst,
    }
}

/// A whole packet: the header, with its length set, and what follows it.
pub(crate) fn packet(header: ipv6::Header, payload: &[u8]) -> Vec<u8> {
    let payload_len = payload.len() as u16;
    let header = ipv6::Header {
        payload_len,
        ..header
    };
    [&header.emit()[..], payload].concat()
}

/// The checksum over pseudo-header and `upper`, whose checksum field is zero (RFC 8200 section 8.1).
pub(crate) fn checksum(src: Ipv6Addr, dst: Ipv6Addr, next_header: NextHeader, upper: &[u8]) -> Checksum {
    let mut sum = Checksum::pseudo_header(&src, &dst, next_header, upper.len() as u32);
    sum.add(upper);
    sum
}

/// A UDP datagram between these ports, to be put behind an IPv6 header.
pub(crate) fn udp(src: (Ipv6Addr, u16), dst: (Ipv6Addr, u16), payload: &[u8]) -> Vec<u8> {
    let mut header = udp::Header {
        src_port: src.1,
        dst_port: dst.1,
        len: (udp::HEADER_LEN + payload.len()) as u16,
        checksum: 0,
    };
    let bytes = [&header.emit()[..], payload].concat();
    header.checksum = checksum(src.0, dst.0, NextHeader::UDP, &bytes).finish_udp();
    [&header.emit()[..], payload].concat()
}

/// An ICMPv6 message, to be put behind an IPv6 header.
pub(crate) fn icmpv6(src: Ipv6Addr, dst: Ipv6Addr, message: icmpv6::Message, body: &[u8]) -> Vec<u8> {
    let mut head = [0; icmpv6::HEADER_LEN];
    let len = icmpv6::Header { message, checksum: 0 }
        .emit(&mut head)
        .expect("room");
    let mut bytes = [&head[..len], body].concat();
    let sum = checksum(src, dst, NextHeader::ICMPV6, &bytes).finish();
    bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// A whole packet with a UDP datagram.
pub(crate) fn udp_packet(src: (Ipv6Addr, u16), dst: (Ipv6Addr, u16), payload: &[u8]) -> Vec<u8> {
    packet(header(src.0, dst.0, NextHeader::UDP), &udp(src, dst, payload))
}

/// A whole packet with an ICMPv6 message.
pub(crate) fn icmpv6_packet(src: Ipv6Addr, dst: Ipv6Addr, message: icmpv6::Message, body: &[u8]) -> Vec<u8> {
    packet(
        header(src, dst, NextHeader::ICMPV6),
        &icmpv6(src, dst, message, body),
    )
}

/// A data frame within the PAN.
pub(crate) fn frame(src: LinkAddr, dst: LinkAddr, sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = [0; 127];
    let len = Header::data(sequence, 0x0023, dst, src)
        .emit(&mut bytes)
        .expect("room");
    [&bytes[..len], payload].concat()
}

impl Net {
    /// A frame with this payload comes in at node `k`, from node `from` to `dst`.
    pub(crate) fn inject_frame(&mut self, k: usize, from: usize, dst: LinkAddr, payload: &[u8]) {
        self.injected += 1;
        let frame = frame(LinkAddr::Extended(eui(from)), dst, self.injected as u8, payload);
        let now = self.now;
        let node = self.node(k);
        node.stack
            .frame(now, IFACE, &frame, RxInfo::default(), &mut node.log);
    }

    /// An IPv6 packet comes in at node `k`, from node `from`: uncompressed, in fragments if it is long.
    pub(crate) fn inject(&mut self, k: usize, from: usize, packet: &[u8]) {
        self.inject_to(k, from, LinkAddr::Extended(eui(k)), packet);
    }

    /// The same with this link destination.
    pub(crate) fn inject_to(&mut self, k: usize, from: usize, dst: LinkAddr, packet: &[u8]) {
        if packet.len() <= PIECE_LEN {
            self.inject_frame(k, from, dst, &[&[IPV6], packet].concat());
            return;
        }
        self.tag += 1;
        for (number, piece) in packet.chunks(PIECE_LEN).enumerate() {
            let fragment = Fragment {
                datagram_size: packet.len() as u16,
                datagram_tag: self.tag,
                datagram_offset: (number * PIECE_LEN / 8) as u8,
            };
            let mut head = [0; 6];
            let mut len = fragment.emit(&mut head).expect("room");
            if number == 0 {
                head[len] = IPV6;
                len += 1;
            }
            self.inject_frame(k, from, dst, &[&head[..len], piece].concat());
        }
    }

    /// Opens a mailbox at node `k` for these messages.
    pub(crate) fn listen(&mut self, k: usize, msg: Msg, any: bool) -> MailboxId {
        let stack = &mut self.node(k).stack;
        let mailbox = stack.open_mailbox(16).expect("a free mailbox");
        stack.register(mailbox, msg, any).expect("a free line");
        mailbox
    }

    /// The first packet in a mailbox, from its cursor on.
    pub(crate) fn take(&mut self, k: usize, mailbox: MailboxId) -> Option<(Msg, Vec<u8>)> {
        let mut out = [0; 2048];
        let now = self.now;
        let node = self.node(k);
        let (msg, len) = node
            .stack
            .mailbox_receive(now, mailbox, &mut out, &mut node.log)?;
        Some((msg, out[..len].to_vec()))
    }
}
