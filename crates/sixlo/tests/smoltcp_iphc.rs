//! Header compression against smoltcp 0.14, both ways, for the subset that both know:
//!
//! - Decompression: addresses without context in all modes, unicast and multicast; the unspecified source; addresses
//!   with a context of 64 bits, carried in 64 bits or elided, where the context is named; hop limit and next header
//!   in all modes; ECN, DSCP and the lower 16 bits of the flow label; UDP ports and checksum; extension headers.
//! - Compression: the same without contexts and without traffic class and flow label.
//!
//! Left out, because smoltcp deviates from RFC 6282:
//!
//! - A context that is not named (section 3.1.1: then it is context 0) is an error there.
//! - An address with a context and 16 bits in line (section 3.1.1: `0000:00ff:fe00:XXXX`) lacks the `ff:fe` there.
//! - A multicast address carried whole is written with DAM 11 there (section 3.1.1: 00).
//! - Two ports of 4 bits each are written as the bits that both share, and the destination is read with the bits of
//!   the source; a destination of 8 bits behind a source of 16 is read at the place of the source (section 4.3.3).
//! - Multicast addresses with a context are not known there.

use std::net::Ipv6Addr;

use sixlo::wire::addr::LinkAddr;
use sixlo::wire::iphc::{Context, Contexts, Link, compress, decompress};
use sixlo::wire::ipv6::{self, NextHeader, TrafficClass};
use sixlo::wire::udp;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    Ieee802154Address, IpProtocol, SixlowpanAddressContext, SixlowpanExtHeaderPacket, SixlowpanExtHeaderRepr,
    SixlowpanIphcPacket, SixlowpanIphcRepr, SixlowpanNextHeader, SixlowpanUdpNhcPacket, SixlowpanUdpNhcRepr,
    UdpRepr,
};

const LINKS: [Link; 3] = [
    Link {
        src: LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 2]),
        dst: LinkAddr::Extended([0x1a, 0x2b, 3, 4, 5, 6, 7, 8]),
    },
    Link {
        src: LinkAddr::Short(0x1234),
        dst: LinkAddr::Short(0x5678),
    },
    Link {
        src: LinkAddr::Short(0x1234),
        dst: LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 2]),
    },
];

fn smoltcp_addr(addr: LinkAddr) -> Option<Ieee802154Address> {
    match addr {
        LinkAddr::None => None,
        LinkAddr::Short(short) => Some(Ieee802154Address::Short(short.to_be_bytes())),
        LinkAddr::Extended(eui) => Some(Ieee802154Address::Extended(eui)),
    }
}

/// The prefixes of 16 contexts.
fn prefixes() -> Vec<[u8; 8]> {
    (0..16).map(|i| [0x20, 1, 0x0d, 0xb8, 0, i, 0, 1]).collect()
}

/// Bytes in line of the source and of the destination.
fn inline_lens(second: u8) -> (usize, usize) {
    let src = [16, 8, 2, 0, 0, 8, 2, 0][usize::from(second >> 4 & 7)];
    let dst = [16, 8, 2, 0, 0, 8, 2, 0, 16, 6, 4, 1, 6, 0, 0, 0][usize::from(second & 15)];
    (src, dst)
}

/// Whether smoltcp reads the addresses of this base as RFC 6282 says.
fn is_common(second: u8) -> bool {
    let (sac, sam) = (second >> 6 & 1, second >> 4 & 3);
    let (m, dac, dam) = (second >> 3 & 1, second >> 2 & 1, second & 3);
    let is_named = second & 0x80 != 0;
    let src = sac == 0 || sam == 0 || (is_named && sam != 2);
    let dst = dac == 0 || (m == 0 && is_named && (dam == 1 || dam == 3));
    src && dst
}

#[test]
fn what_both_decompress_is_the_same() {
    let contexts: Vec<Context> = prefixes()
        .iter()
        .map(|prefix| {
            let mut whole = [0; 16];
            whole[..8].copy_from_slice(prefix);
            Context::new(whole, 64)
        })
        .collect();
    let theirs: Vec<_> = prefixes().into_iter().map(SixlowpanAddressContext).collect();
    let mut compared = 0;
    for base in 0x6000..0x8000_u16 {
        let [first, second] = base.to_be_bytes();
        if !is_common(second) {
            continue;
        }
        let mut frame = vec![first, second];
        if second & 0x80 != 0 {
            frame.push(0x5a);
        }
        let tf = first >> 3 & 3;
        frame.extend(&[0x6e, 0x0a, 0xbc, 0xde][..[4, 3, 1, 0][usize::from(tf)]]);
        let is_compressed = first & 4 != 0;
        if !is_compressed {
            frame.push(IpProtocol::Ipv6NoNxt.into());
        }
        if first & 3 == 0 {
            frame.push(77);
        }
        let (src_len, dst_len) = inline_lens(second);
        frame.extend((0..src_len + dst_len).map(|i| 0x40 + i as u8));
        if is_compressed {
            frame.extend([0xf0, 0x12, 0x34, 0x56, 0x78, 0xab, 0xcd]);
        }
        frame.extend([1, 2, 3]);
        for link in LINKS {
            let mut out = [0; 64];
            decompress(&frame, &link, &Contexts(&contexts), None, &mut out).unwrap();
            let ours = ipv6::Header::parse(out.first_chunk().unwrap()).unwrap();
            let packet = SixlowpanIphcPacket::new_checked(&frame[..]).unwrap();
            let repr =
                SixlowpanIphcRepr::parse(&packet, smoltcp_addr(link.src), smoltcp_addr(link.dst), &theirs)
                    .unwrap();
            assert_eq!(
                (ours.src, ours.dst),
                (repr.src_addr, repr.dst_addr),
                "{base:#x} {link:?}"
            );
            assert_eq!(ours.hop_limit, repr.hop_limit, "{base:#x}");
            let next = match repr.next_header {
                SixlowpanNextHeader::Compressed => 17,
                SixlowpanNextHeader::Uncompressed(protocol) => protocol.into(),
            };
            assert_eq!(ours.next_header.0, next, "{base:#x}");
            assert_eq!(
                ours.traffic_class.ecn() as u8,
                repr.ecn.unwrap_or(0) >> 6,
                "{base:#x}"
            );
            assert_eq!(ours.traffic_class.dscp(), repr.dscp.unwrap_or(0), "{base:#x}");
            assert_eq!(ours.flow_label as u16, repr.flow_label.unwrap_or(0), "{base:#x}");
            compared += 1;
        }
    }
    // 32 forms of the first byte; 5 of sources and 8 of destinations where no context is named, else 7 and 10.
    assert_eq!(compared, 3 * 32 * (5 * 8 + 7 * 10));
}

/// Addresses that smoltcp can compress, and their peers.
fn addresses() -> Vec<Ipv6Addr> {
    [
        "fe80::2",
        "fe80::1a2b:304:506:708",
        "fe80::182b:304:506:708",
        "fe80::ff:fe00:1234",
        "fe80::ff:fe00:5678",
        "fe80::ff:fe00:1",
        "fe80::1:2:3",
        "2001:db8::1",
        "fe80:0:0:1::2",
        "ff02::1",
        "ff02::fb",
        "ff05::fb",
        "ff02::1:2",
        "ff02::1:ff12:3456",
        "ff0e::12:3456:789a",
        "::",
    ]
    .iter()
    .map(|text| text.parse().unwrap())
    .collect()
}

#[test]
fn what_both_compress_is_the_same() {
    for link in LINKS {
        for src in addresses().into_iter().filter(|src| !src.is_multicast()) {
            for dst in addresses().into_iter().filter(|dst| !dst.is_unspecified()) {
                for (hop_limit, next_header) in [(1, 59), (64, 17), (255, 58), (63, 59), (0, 6)] {
                    let header = ipv6::Header {
                        traffic_class: TrafficClass(0),
                        flow_label: 0,
                        payload_len: 0,
                        next_header: NextHeader(next_header),
                        hop_limit,
                        src,
                        dst,
                    };
                    let repr = SixlowpanIphcRepr {
                        src_addr: src,
                        ll_src_addr: smoltcp_addr(link.src),
                        dst_addr: dst,
                        ll_dst_addr: smoltcp_addr(link.dst),
                        next_header: SixlowpanNextHeader::Uncompressed(next_header.into()),
                        hop_limit,
                        ecn: None,
                        dscp: None,
                        flow_label: None,
                    };
                    let mut theirs = vec![0; repr.buffer_len()];
                    repr.emit(&mut SixlowpanIphcPacket::new_unchecked(&mut theirs[..]));
                    let mut ours = [0; 64];
                    let done = compress(&header.emit(), &link, &Contexts(&[]), &mut ours).unwrap();
                    assert_eq!(ours[..done.written], theirs, "{src} to {dst} over {link:?}");
                }
            }
        }
    }
}

/// A UDP packet between link-local addresses with its true checksum.
fn udp_packet(src_port: u16, dst_port: u16) -> (Ipv6Addr, Ipv6Addr, Vec<u8>) {
    let (src, dst): (Ipv6Addr, Ipv6Addr) = ("fe80::2".parse().unwrap(), "2001:db8::1".parse().unwrap());
    let payload = [1, 2, 3, 4, 5];
    let mut header = udp::Header {
        src_port,
        dst_port,
        len: 13,
        checksum: 0,
    };
    let mut sum = sixlo::wire::checksum::Checksum::pseudo_header(&src, &dst, NextHeader::UDP, 13);
    sum.add(&header.emit());
    sum.add(&payload);
    header.checksum = sum.finish_udp();
    let ip = ipv6::Header {
        traffic_class: TrafficClass(0),
        flow_label: 0,
        payload_len: 13,
        next_header: NextHeader::UDP,
        hop_limit: 64,
        src,
        dst,
    };
    let mut packet = ip.emit().to_vec();
    packet.extend(header.emit());
    packet.extend(payload);
    (src, dst, packet)
}

#[test]
fn both_compress_and_decompress_udp_and_its_checksum_alike() {
    let caps = ChecksumCapabilities::default();
    for src_port in [
        0, 5683, 0xefff, 0xf000, 0xf0af, 0xf0b0, 0xf0b7, 0xf0bf, 0xf0ff, 0xf100, 0xffff,
    ] {
        for dst_port in [0, 5684, 0xf000, 0xf0b0, 0xf0b3, 0xf0bf, 0xf0c0, 0xf100] {
            // Both ports of 4 bits: left out, see above.
            if src_port >> 4 == 0xf0b && dst_port >> 4 == 0xf0b {
                continue;
            }
            let (src, dst, packet) = udp_packet(src_port, dst_port);
            let mut ours = [0; 64];
            let done = compress(&packet, &LINKS[0], &Contexts(&[]), &mut ours).unwrap();
            // 2 of LOWPAN_IPHC, nothing of the source, 16 bytes of destination.
            let ours = [&ours[18..done.written], &packet[48..]].concat();

            let repr = SixlowpanUdpNhcRepr(UdpRepr { src_port, dst_port });
            let mut theirs = vec![0; repr.header_len() + 5];
            let mut nhc = SixlowpanUdpNhcPacket::new_unchecked(&mut theirs[..]);
            let emit_payload = |out: &mut [u8]| out.copy_from_slice(&packet[48..]);
            repr.emit(&mut nhc, &src, &dst, 5, emit_payload, &caps);
            assert_eq!(ours, theirs, "{src_port:#x} {dst_port:#x}");

            // A destination of 8 bits: left out, see above.
            if ours[0] == 0xf1 {
                continue;
            }
            let nhc = SixlowpanUdpNhcPacket::new_checked(&ours[..]).unwrap();
            let read = SixlowpanUdpNhcRepr::parse(&nhc, &src, &dst, &caps).expect("a right checksum");
            assert_eq!((read.src_port, read.dst_port), (src_port, dst_port));
        }
    }
}

#[test]
fn both_compress_extension_headers_alike() {
    // Not the fragment header: smoltcp takes its reserved byte for a length, which it is not (section 4.2).
    for (next, id) in [
        (NextHeader::HOP_BY_HOP, 0),
        (NextHeader::ROUTING, 1),
        (NextHeader::DESTINATION, 3),
    ] {
        for inner in [NextHeader::UDP, NextHeader::ICMPV6] {
            let (_, _, udp) = udp_packet(5683, 5683);
            let mut packet = udp[..40].to_vec();
            packet[5] += 16;
            packet[6] = next.0;
            packet.extend([inner.0, 1, 0x1e, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
            packet.extend(&udp[40..]);
            let mut ours = [0; 80];
            let done = compress(&packet, &LINKS[0], &Contexts(&[]), &mut ours).unwrap();
            let nhc = SixlowpanExtHeaderPacket::new_checked(&ours[18..done.written]).unwrap();
            assert_eq!(
                u8::from(IpProtocol::from(nhc.extension_header_id())),
                next.0,
                "EID {id}"
            );
            assert_eq!(nhc.payload(), &packet[42..56]);
            let repr = SixlowpanExtHeaderRepr::parse(&nhc).unwrap();
            let mut theirs = vec![0; repr.buffer_len()];
            repr.emit(&mut SixlowpanExtHeaderPacket::new_unchecked(&mut theirs[..]));
            assert_eq!(ours[18..18 + theirs.len()], theirs);
            let is_compressed = repr.next_header == SixlowpanNextHeader::Compressed;
            assert_eq!(is_compressed, inner == NextHeader::UDP);
        }
    }
}
