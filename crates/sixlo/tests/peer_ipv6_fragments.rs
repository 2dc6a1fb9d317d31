//! Fragments of IPv6 (RFC 8200 section 4.5) against scapy, both ways, and tshark: packets that scapy cuts arrive whole
//! at our socket, and what our socket sends over an interface with an MTU of 124 bytes is put together by both.
//!
//! Frames are compressed and restored by our own LOWPAN_IPHC, which other tests hold against scapy: scapy drops
//! extension headers under compression, the fragment header among them. tshark reads the frames as they are.

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::Ipv6Addr;

use sixlo::lowpan::Strategy;
use sixlo::netdev::{Caps, FRAME_LEN_MAX, IfaceId, RxInfo, TxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::sock::MailboxId;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::time::Instant;
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::ieee802154::Header;
use sixlo::wire::iphc::{Contexts, Link, compress, decompress};
use support::{hex, scapy, tshark, unhex};

const IFACE: IfaceId = IfaceId(0);
const NOW: Instant = Instant::from_micros(1_000_000);
const PORTS: [u16; 2] = [5000, 5001];

/// What two frames' worth of header compression leaves of a frame (Lenders et al. 2021, section IV-A), in bytes.
const MTU: u16 = 124;

/// Payloads in bytes: of one packet, at the edges of fragments, and up to the 1280 bytes of the packet that all take.
const SIZES: [usize; 10] = [1, 68, 69, 132, 133, 200, 500, 777, 1000, 1232];

type Memory = Fixed<8192, 64, 2, 2, 2>;

const fn eui(last: u8) -> [u8; 8] {
    [2, 0, 0, 0, 0, 0, 0, last]
}

fn link_local(last: u8) -> Ipv6Addr {
    Ipv6Addr::from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last])
}

const LINK: Link = Link {
    src: LinkAddr::Extended(eui(1)),
    dst: LinkAddr::Extended(eui(2)),
};

fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 11 + at / 256) as u8).collect()
}

/// A node with a socket on its own port.
fn node(memory: &mut Memory, last: u8) -> (Stack<'_>, MailboxId) {
    let mut stack = Stack::new(memory.lend(), &Config::new(last.into())).expect("the memory suffices");
    let iface = IfaceConfig {
        caps: Caps {
            csma: true,
            fcs: true,
        },
        strategy: Strategy::EndToEnd,
        mtu: MTU,
        queue_capacity: 32,
        ..IfaceConfig::new(eui(last))
    };
    stack.bring_up(IFACE, iface).expect("there is an interface");
    let socket = stack
        .udp_bind(PORTS[usize::from(last) - 1], 4)
        .expect("a free socket");
    (stack, socket)
}

/// The frames in which node 1 sends a datagram of this size to node 2.
fn sent(len: usize) -> Vec<Vec<u8>> {
    let mut memory = Memory::new();
    let (mut stack, socket) = node(&mut memory, 1);
    let to = (link_local(2), PORTS[1]);
    stack
        .udp_send_to(NOW, socket, to, &payload(len), &mut ())
        .expect("room");
    let (mut frames, mut frame) = (Vec::new(), [0; FRAME_LEN_MAX]);
    loop {
        stack.poll(NOW, &mut ());
        let Some(TxInfo { len, .. }) = stack.transmit(NOW, IFACE, &mut frame, &mut ()) else {
            return frames;
        };
        frames.push(frame[..len].to_vec());
        let report = TxReport {
            outcome: TxOutcome::Acked,
            attempts: 1,
            busy: 0,
        };
        stack.transmitted(NOW, IFACE, report, &mut ());
    }
}

/// The IPv6 packet in a frame.
fn restored(frame: &[u8]) -> Vec<u8> {
    let (_, body) = Header::parse(frame).expect("our own frame");
    let mut out = [0; 128];
    let len = body.len();
    let done = decompress(body, &LINK, &Contexts(&[]), None, &mut out).expect("our own headers");
    [&out[..done.written], &body[done.consumed..len]].concat()
}

/// The frame that carries an IPv6 packet, compressed if it would be too long as it is.
fn frame(sequence: u8, packet: &[u8]) -> Vec<u8> {
    let mut frame = [0; FRAME_LEN_MAX];
    let header = Header::data(sequence, 0x23, LINK.dst, LINK.src);
    let at = header.emit(&mut frame).expect("it fits");
    let mut bytes = frame[..at].to_vec();
    if at + 1 + packet.len() <= FRAME_LEN_MAX - 2 {
        // RFC 4944 section 5.1: an uncompressed packet.
        bytes.push(0x41);
        bytes.extend(packet);
    } else {
        let done = compress(packet, &LINK, &Contexts(&[]), &mut frame[at..]).expect("it fits");
        bytes.extend(&frame[at..at + done.written]);
        bytes.extend(&packet[done.consumed..]);
        assert!(bytes.len() <= FRAME_LEN_MAX - 2);
    }
    bytes
}

/// For each line of fragments, writes the packet that scapy makes of them, and the one that it would have sent itself
/// with the length of payload in front.
const JOIN: &str = r#"
import sys
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, UDP, defragment6
for line in sys.stdin:
    size, *fragments = line.split()
    packets = [IPv6(bytes.fromhex(f)) for f in fragments]
    for p in packets:
        assert bytes(p)[:40] == bytes.fromhex(fragments[packets.index(p)])[:40]
    joined = defragment6(packets) if len(packets) > 1 else packets[0]
    payload = bytes((at * 11 + at // 256) & 255 for at in range(int(size)))
    own = IPv6(src="fe80::1", dst="fe80::2", hlim=64) / UDP(sport=5000, dport=5001) / payload
    print(bytes(joined).hex(), bytes(own).hex())
"#;

#[test]
fn scapy_puts_what_we_cut_together_to_the_packet_that_it_would_have_sent() {
    let mut lines = String::new();
    for len in SIZES {
        let mut packets: Vec<_> = sent(len).iter().map(|frame| restored(frame)).collect();
        let count = packets.len();
        assert_eq!(count > 1, len + 48 > usize::from(MTU), "{len} bytes");
        assert!(packets.iter().all(|packet| packet.len() <= usize::from(MTU)));
        // Every other size the wrong way round.
        if len % 2 == 0 {
            packets.reverse();
        }
        write!(lines, "{len}").unwrap();
        for packet in &packets {
            write!(lines, " {}", hex(packet)).unwrap();
        }
        lines.push('\n');
    }
    let Some(out) = scapy(JOIN, lines.as_bytes()) else {
        return;
    };
    let out = String::from_utf8(out).expect("hexadecimal digits");
    assert_eq!(out.lines().count(), SIZES.len());
    for (line, len) in out.lines().zip(SIZES) {
        let (joined, own) = line.split_once(' ').expect("two packets");
        assert_eq!(joined, own, "{len} bytes");
        assert_eq!(unhex(joined).len(), 48 + len);
    }
}

/// For each line of length of payload, MTU, and whether options stand in front of and behind the fragment header,
/// writes the fragments that scapy cuts.
const CUT: &str = r#"
import sys
from scapy.layers.inet6 import *
for number, line in enumerate(sys.stdin):
    size, mtu, options = map(int, line.split())
    payload = bytes((at * 11 + at // 256) & 255 for at in range(size))
    packet = IPv6(src="fe80::1", dst="fe80::2", hlim=64)
    if options:
        packet /= IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))])
    packet /= IPv6ExtHdrFragment(id=0x1000 + number)
    if options:
        packet /= IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(12))])
    fragments = fragment6(packet / UDP(sport=5000, dport=5001) / payload, mtu)
    print(*(bytes(f).hex() for f in fragments))
"#;

#[test]
fn packets_that_scapy_cuts_arrive_whole_in_any_order() {
    let mut lines = String::new();
    let mut cases = Vec::new();
    for len in SIZES {
        for (mtu, options) in [(96, 0), (MTU, 0), (96, 1)] {
            // The largest with options stays below the 1500 bytes that every node takes (RFC 8200 section 5).
            writeln!(lines, "{len} {mtu} {options}").unwrap();
            cases.push((len, mtu));
        }
    }
    let Some(out) = scapy(CUT, lines.as_bytes()) else {
        return;
    };
    let out = String::from_utf8(out).expect("hexadecimal digits");
    assert_eq!(out.lines().count(), cases.len());
    let mut counts = BTreeSet::new();
    for (line, (len, mtu)) in out.lines().zip(cases) {
        let packets: Vec<_> = line.split(' ').map(unhex).collect();
        assert!(packets.iter().all(|packet| packet.len() <= usize::from(mtu)));
        counts.insert(packets.len());
        for order in 0..3 {
            let mut packets = packets.clone();
            match order {
                0 => {}
                1 => packets.reverse(),
                // Those with odd numbers first.
                _ => {
                    let numbered = packets.iter().enumerate();
                    let (even, odd): (Vec<_>, Vec<_>) = numbered.partition(|(at, _)| at % 2 == 0);
                    packets = odd
                        .iter()
                        .chain(&even)
                        .map(|(_, packet)| (*packet).clone())
                        .collect();
                }
            }
            let mut memory = Memory::new();
            let (mut stack, socket) = node(&mut memory, 2);
            let mut out = [0; 2048];
            for (at, packet) in packets.iter().enumerate() {
                assert!(
                    stack.udp_receive(NOW, socket, &mut out, &mut ()).is_none(),
                    "too early"
                );
                let frame = frame(at as u8, packet);
                stack.frame(NOW, IFACE, &frame, RxInfo::default(), &mut ());
                stack.poll(NOW, &mut ());
            }
            let received = stack.udp_receive(NOW, socket, &mut out, &mut ());
            let received = received.unwrap_or_else(|| panic!("{len} bytes in order {order}"));
            assert_eq!(
                (received.src, received.src_port, received.dst),
                (link_local(1), PORTS[0], link_local(2))
            );
            assert_eq!(out[..received.len], payload(len), "{len} bytes in order {order}");
            assert_eq!((stack.buffer().live(), stack.buffer().used()), (0, 0));
        }
    }
    assert!(counts.len() > 6, "packets of many sizes: {counts:?}");
}

#[test]
fn tshark_puts_what_we_cut_together() {
    let names = [
        "ipv6.fragment.error",
        "ipv6.fragment.count",
        "ipv6.reassembled.length",
        "ipv6.dst",
        "udp.dstport",
        "udp.length",
        "udp.checksum.status",
        "udp.payload",
    ];
    for len in SIZES.into_iter().filter(|len| len + 48 > usize::from(MTU)) {
        let frames = sent(len);
        let Some(found) = tshark(&frames, &names) else {
            return;
        };
        let expected = format!(
            ",{},{},fe80::2,5001,{},1,{}",
            frames.len(),
            8 + len,
            8 + len,
            hex(&payload(len))
        );
        assert_eq!(found.last(), Some(&expected), "{len} bytes");
    }
}
