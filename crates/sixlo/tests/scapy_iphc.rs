//! Header compression against scapy, both ways, for what it knows of RFC 6282: all forms of LOWPAN_IPHC, and UDP.
//!
//! Left out or corrected, because scapy deviates from RFC 6282:
//!
//! - The traffic class is carried with ECN first (section 3.2.1); scapy takes the byte as it is. Corrected when
//!   reading, left out when writing.
//! - Contexts are not known to scapy: of addresses that need one, what is carried in line is compared.
//! - `0x7f` is LOWPAN_IPHC (section 5); scapy takes it for ESC of RFC 4944.
//! - Extension headers are dropped when reading and not written.

mod support;

use std::fmt::Write as _;
use std::net::Ipv6Addr;

use sixlo::wire::addr::LinkAddr;
use sixlo::wire::iphc::{Context, Contexts, Link, compress, decompress};
use sixlo::wire::ipv6::{self, NextHeader, TrafficClass};
use sixlo::wire::udp;
use support::{hex, scapy, unhex};

const EXTENDED: Link = Link {
    src: LinkAddr::Extended([0x1a, 0x2b, 0x3c, 4, 5, 6, 7, 8]),
    dst: LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 1]),
};
const SHORT: Link = Link {
    src: LinkAddr::Short(0x1234),
    dst: LinkAddr::Short(0x5678),
};

/// A data frame of IEEE 802.15.4 (2006) around a payload, without frame check sequence.
fn mac_frame(link: &Link, payload: &[u8]) -> Vec<u8> {
    let mut frame = match link.src {
        LinkAddr::Extended(_) => vec![0x41, 0xdc, 1, 0xcd, 0xab],
        _ => vec![0x41, 0x98, 1, 0xcd, 0xab],
    };
    for addr in [link.dst, link.src] {
        match addr {
            LinkAddr::None => {}
            LinkAddr::Short(short) => frame.extend(short.to_le_bytes()),
            LinkAddr::Extended(eui) => frame.extend(eui.iter().rev()),
        }
    }
    frame.extend(payload);
    frame
}

/// Reads frames in hexadecimal digits, one a line, and writes the IPv6 packet that scapy restores.
const READ: &str = r#"
import sys
from scapy.config import conf
conf.dot15d4_protocol = "sixlowpan"
from scapy.layers.dot15d4 import Dot15d4
from scapy.layers.inet6 import IPv6
from scapy.layers.sixlowpan import LoWPAN_IPHC
for line in sys.stdin:
    packet = Dot15d4(bytes.fromhex(line))
    print(bytes(packet[IPv6]).hex())
"#;

/// Reads lines of base and IPv6 packet, and writes the frame payload that scapy makes of it with the modes of that
/// base.
const WRITE: &str = r#"
import sys
from scapy.layers.inet6 import IPv6
from scapy.layers.sixlowpan import LoWPAN_IPHC, LoWPAN_NHC
for line in sys.stdin:
    base, packet = line.split()
    base = int(base, 16)
    iphc = LoWPAN_IPHC(tf=base >> 11 & 3, nh=base >> 10 & 1, hlim=base >> 8 & 3, cid=base >> 7 & 1, sac=base >> 6 & 1,
                       sam=base >> 4 & 3, m=base >> 3 & 1, dac=base >> 2 & 1, dam=base & 3)
    if base >> 10 & 1:
        iphc = iphc / LoWPAN_NHC()
    print(bytes(iphc / IPv6(bytes.fromhex(packet))).hex())
"#;

/// Runs a script over lines and gives its lines.
fn run(script: &str, lines: &str) -> Option<Vec<Vec<u8>>> {
    let out = scapy(script, lines.as_bytes())?;
    let out = String::from_utf8(out).expect("hexadecimal digits");
    Some(out.lines().map(unhex).collect())
}

/// Bytes in line of the source and of the destination, `None` for reserved modes.
fn inline_lens(second: u8) -> Option<(usize, usize)> {
    let src = [16, 8, 2, 0, 0, 8, 2, 0][usize::from(second >> 4 & 7)];
    match second & 15 {
        4 | 13.. => None,
        dst => Some((src, [16, 8, 2, 0, 0, 8, 2, 0, 16, 6, 4, 1, 6][usize::from(dst)])),
    }
}

/// Frames of every valid second byte, with the first bytes that take turns.
fn frames() -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut turn = 0_u8;
    for second in 0..=255_u8 {
        let Some((src_len, dst_len)) = inline_lens(second) else {
            continue;
        };
        for _ in 0..2 {
            turn = (turn + 1) % 31;
            let first = 0x60 | turn;
            let mut frame = vec![first, second];
            if second & 0x80 != 0 {
                frame.push(0x5a);
            }
            frame.extend(&[0x6e, 0x0a, 0xbc, 0xde][..[4, 3, 1, 0][usize::from(first >> 3 & 3)]]);
            if first & 4 == 0 {
                frame.push(NextHeader::NONE.0);
            }
            if first & 3 == 0 {
                frame.push(77);
            }
            frame.extend((0..src_len + dst_len).map(|i| 0x40 + i as u8));
            if first & 4 != 0 {
                frame.push(0xf0 | (turn / 4) & 3);
                let ports = [4, 3, 3, 1][usize::from((turn / 4) & 3)];
                frame.extend(&[0x12, 0x34, 0x56, 0x78][..ports]);
                frame.extend([0xab, 0xcd]);
            }
            frame.extend([1, 2, 3]);
            frames.push(frame);
        }
    }
    frames
}

/// What of a packet both know: the traffic class turned as the RFC has it, bytes that come from a context masked.
fn common(packet: &[u8], second: u8, is_scapy: bool) -> Vec<u8> {
    let mut packet = packet.to_vec();
    if is_scapy {
        let word = u32::from_be_bytes([packet[0], packet[1], packet[2], packet[3]]);
        let class = ((word >> 20) as u8).rotate_left(2);
        let word = word & 0xf00f_ffff | u32::from(class) << 20;
        packet[..4].copy_from_slice(&word.to_be_bytes());
    }
    let masked = |mode: u8| match mode {
        5 => 8,
        6 => 14,
        7 => 16,
        _ => 0,
    };
    packet[8..8 + masked(second >> 4 & 7)].fill(0);
    packet[24..24 + masked(second & 15)].fill(0);
    if second & 15 == 0b1100 {
        packet[27..36].fill(0);
    }
    packet
}

#[test]
fn scapy_restores_the_same_packets() {
    let contexts: Vec<Context> = (0..16)
        .map(|i| Context::new([0x20, 1, 0x0d, 0xb8, 0, i, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], 64))
        .collect();
    let cases: Vec<(Link, Vec<u8>)> = frames()
        .into_iter()
        .zip([EXTENDED, SHORT].into_iter().cycle())
        .map(|(f, l)| (l, f))
        .collect();
    let mut lines = String::new();
    for (link, frame) in &cases {
        writeln!(lines, "{}", hex(&mac_frame(link, frame))).unwrap();
    }
    let Some(theirs) = run(READ, &lines) else { return };
    assert_eq!(theirs.len(), cases.len());
    assert_eq!(cases.len(), 2 * 2 * 8 * 12, "two of each valid second byte");
    for ((link, frame), theirs) in cases.iter().zip(&theirs) {
        let mut out = [0; 64];
        let done = decompress(frame, link, &Contexts(&contexts), None, &mut out).unwrap();
        let ours = [&out[..done.written], &frame[done.consumed..]].concat();
        assert_eq!(
            common(&ours, frame[1], false),
            common(theirs, frame[1], true),
            "{frame:x?} over {link:?}"
        );
    }
}

/// Packets without traffic class.
fn packets() -> Vec<(Link, Vec<u8>)> {
    let mut packets = Vec::new();
    let addresses = [
        "fe80::182b:3c04:506:708",
        "fe80::1",
        "fe80::ff:fe00:1234",
        "fe80::ff:fe00:5678",
        "fe80::1:2:3",
        "2001:db8::1",
        "fe80:0:0:1::2",
        "::",
        "ff02::1",
        "ff05::12:3456",
        "ff02::1:ff12:3456",
        "ff3e:40:2001:db8::1",
    ]
    .map(|text| text.parse::<Ipv6Addr>().unwrap());
    let labels = [0, 0x1_2345];
    let ports = [
        (5683, 5684),
        (0xf012, 5684),
        (5683, 0xf034),
        (0xf0b1, 0xf0bc),
        (0xf012, 0xf034),
    ];
    let mut turn = 0;
    for src in addresses.into_iter().filter(|src| !src.is_multicast()) {
        for dst in addresses.into_iter().filter(|dst| !dst.is_unspecified()) {
            turn += 1;
            let (src_port, dst_port) = ports[turn % ports.len()];
            let is_udp = turn % 4 != 0;
            let header = ipv6::Header {
                traffic_class: TrafficClass(0),
                flow_label: labels[turn / 2 % 2],
                payload_len: if is_udp { 11 } else { 3 },
                next_header: if is_udp { NextHeader::UDP } else { NextHeader::NONE },
                hop_limit: [1, 64, 255, 63][turn / 3 % 4],
                src,
                dst,
            };
            let mut packet = header.emit().to_vec();
            if is_udp {
                packet.extend(
                    udp::Header {
                        src_port,
                        dst_port,
                        len: 11,
                        checksum: 0xabcd,
                    }
                    .emit(),
                );
            }
            packet.extend([1, 2, 3]);
            packets.push(([EXTENDED, SHORT][turn % 2], packet));
        }
    }
    packets
}

#[test]
fn scapy_writes_the_same_frames_in_the_modes_that_were_chosen() {
    let cases = packets();
    let mut lines = String::new();
    let mut ours = Vec::new();
    for (link, packet) in &cases {
        let mut out = [0; 64];
        let done = compress(packet, link, &Contexts(&[]), &mut out).unwrap();
        writeln!(lines, "{:02x}{:02x} {}", out[0], out[1], hex(packet)).unwrap();
        ours.push([&out[..done.written], &packet[done.consumed..]].concat());
    }
    let Some(theirs) = run(WRITE, &lines) else { return };
    assert_eq!(theirs.len(), cases.len());
    for ((ours, theirs), (link, packet)) in ours.iter().zip(&theirs).zip(&cases) {
        assert_eq!(ours, theirs, "{packet:x?} over {link:?}");
    }
}
