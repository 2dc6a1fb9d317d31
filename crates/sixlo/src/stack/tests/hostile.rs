//! Hostile inputs: what went wrong in other stacks of this field, as frames for a whole stack.
//!
//! Each test bears the identifier of its case: XL the link, XH header compression, XF fragments, XI IPv6 and ICMPv6, XR recoverable
//! fragments (those over several nodes). Every
//! frame goes through [`Victim::feed`], which holds what all have in common: no panic (overflow checks are on), bounded work,
//! no packet lost (the audit equals what lives), and nothing dropped that is not counted for its reason. The tests add what
//! the stack is to answer. That the formats themselves refuse such bytes is tested beside them, in `wire`.

use core::net::Ipv6Addr;
use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

use super::net::{self, IFACE, Log, eui, global, link_local};
use crate::ipv6::Route;
use crate::lowpan::Reassembly;
use crate::mac::duplicates::Seen;
use crate::netdev::{Caps, FRAME_LEN_MAX, RxInfo, TxInfo, TxOutcome, TxReport};
use crate::netif::{IfaceConfig, Interface};
use crate::netreg::Entry;
use crate::pktbuf::{Seg, Slot};
use crate::sock::{Mailbox, MailboxId};
use crate::stack::{Config, Memory, Stack};
use crate::time::{Duration, Instant};
use crate::timers::Timer;
use crate::trace::{End, Event, FragmentFate, Reason};
use crate::wire::addr::LinkAddr;
use crate::wire::checksum::Checksum;
use crate::wire::ieee802154::Header;
use crate::wire::iphc::{self, Context, Contexts, Link};
use crate::wire::ipv6::{self, NextHeader, TrafficClass};
use crate::wire::lowpan::frag::Fragment;
use crate::wire::lowpan::{self, Dispatch};
use crate::wire::{icmpv6, udp};

mod flood;
mod forward;
mod fragments;
mod headers;
mod icmp;
mod ipv6_in;
mod link;
mod listed;
mod recoverable;
mod remembered;

/// The node that sends what is hostile, by its number.
const FOE: usize = 9;
/// An honest node.
const FRIEND: usize = 2;
/// The port that the victim listens on.
const PORT: u16 = 5000;
/// The longest payload of a frame between extended addresses, in bytes.
const PAYLOAD_MAX: usize = FRAME_LEN_MAX - 2 - 21;
/// Bytes of a datagram that each fragment of these tests carries.
const STEP: usize = 96;
/// More events than one frame may cause: a datagram's worth of fragments that are given up, or sent.
const EVENTS_MAX: usize = 100;
/// More calls of `poll` than one frame may cause.
const POLLS_MAX: usize = 16;

/// What a stack did.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    /// Why frames, fragments and packets were dropped, in order.
    drops: Vec<Reason>,
    /// Payloads that the application received.
    delivered: Vec<Vec<u8>>,
    /// IPv6 packets that were sent, and to whom.
    sent: Vec<(LinkAddr, Vec<u8>)>,
}

impl Answer {
    /// Dropped for this reason, and nothing else.
    #[track_caller]
    fn is_drop(&self, reason: Reason) {
        assert_eq!(self.drops, [reason]);
        assert_eq!((&self.delivered[..], &self.sent[..]), (&[][..], &[][..]));
    }

    /// Delivered, and nothing else.
    #[track_caller]
    fn is_delivery(&self, payload: &[u8]) {
        assert_eq!(self.delivered, [payload]);
        assert_eq!((&self.drops[..], &self.sent[..]), (&[][..], &[][..]));
    }

    /// Dropped for this reason, and an ICMPv6 error was sent: its type, code and second word. Its quote is the beginning
    /// of `packet`.
    #[track_caller]
    fn is_refusal(&self, reason: Reason, error: (u8, u8, u32), packet: &[u8]) {
        assert_eq!(self.drops, [reason]);
        assert!(self.delivered.is_empty());
        let [(_, sent)] = &self.sent[..] else {
            panic!("one error is sent, not {:02x?}", self.sent);
        };
        let (header, body) = sent.split_at(ipv6::HEADER_LEN);
        let header = ipv6::Header::parse(header.try_into().expect("40 bytes")).expect("an IPv6 header");
        assert_eq!(header.next_header, NextHeader::ICMPV6);
        assert!(checksum(&header.src, &header.dst, NextHeader::ICMPV6, body).is_valid());
        assert!(sent.len() <= ipv6::MTU_MIN);
        let word = u32::from_be_bytes(body[4..8].try_into().expect("four bytes"));
        assert_eq!((body[0], body[1], word), error);
        let quote = &body[icmpv6::HEADER_LEN..];
        assert_eq!(quote, &packet[..packet.len().min(icmpv6::QUOTE_LEN_MAX)]);
    }

    fn and(mut self, more: Self) -> Self {
        self.drops.extend(more.drops);
        self.delivered.extend(more.delivered);
        self.sent.extend(more.sent);
        self
    }
}

/// Node 1, with a socket, a router (node 2) behind which everything else lies, and nobody to trust.
struct Victim {
    stack: Stack<'static>,
    log: Log,
    now: Instant,
    socket: MailboxId,
    device: [u8; FRAME_LEN_MAX],
    sequence: u8,
    /// Frames that were sent.
    air: Vec<Vec<u8>>,
    /// Drops as the counters said after the last frame.
    counted: Vec<u32>,
}

/// Memory of any size.
fn memory(bytes: usize, packets: usize, reassemblies: usize) -> Memory<'static> {
    // What a reused static may hold.
    Memory {
        bytes: vec![0xa5; bytes].leak(),
        segs: vec![Seg::EMPTY; packets].leak(),
        slots: vec![Slot::EMPTY; packets].leak(),
        receivers: vec![Entry::EMPTY; 16].leak(),
        timers: vec![Timer::EMPTY; 1 + Memory::OWN_TIMERS].leak(),
        ifaces: vec![Interface::EMPTY].leak(),
        seen: vec![Seen::EMPTY; 4].leak(),
        reassemblies: (0..reassemblies)
            .map(|_| Reassembly::EMPTY)
            .collect::<Vec<_>>()
            .leak(),
        contexts: vec![Context::EMPTY; 16].leak(),
        vrbs: &mut [],
        peers: &mut [],
        transfers: &mut [],
        inbounds: &mut [],
        addresses: vec![crate::ipv6::Address::EMPTY; 4].leak(),
        neighbors: vec![crate::ipv6::Neighbor::EMPTY; 4].leak(),
        routes: vec![Route::EMPTY; 4].leak(),
        partials: &mut [],
        mailboxes: (0..4).map(|_| Mailbox::EMPTY).collect::<Vec<_>>().leak(),
        connections: &mut [],
        listeners: &mut [],
        backlog: &mut [],
        tcp_receive: &mut [],
        loans: &mut [],
    }
}

impl Victim {
    fn new() -> Self {
        Self::with(memory(8192, 64, 4), &Config::new(1))
    }

    fn with(memory: Memory<'static>, config: &Config) -> Self {
        let mut stack = Stack::new(memory, config).expect("the memory suffices");
        let iface = IfaceConfig {
            caps: Caps {
                csma: true,
                fcs: true,
            },
            ..IfaceConfig::new(eui(1))
        };
        stack.bring_up(IFACE, iface).expect("there is an interface");
        stack.add_address(IFACE, global(1)).expect("there is room");
        assert!(stack.set_context(0, Some(Context::new(net::PREFIX.octets(), 64))));
        let router = link_local(FRIEND);
        stack
            .add_route(Route::default_via(IFACE, router))
            .expect("there is room");
        let socket = stack.udp_bind(PORT, 4).expect("a socket");
        Self {
            stack,
            log: Log::default(),
            now: Instant::from_micros(1_000_000),
            socket,
            device: [0; FRAME_LEN_MAX],
            sequence: 0,
            air: Vec::new(),
            counted: vec![0; Reason::ALL.len()],
        }
    }

    /// A frame comes in; everything that follows from it happens.
    #[track_caller]
    fn feed(&mut self, frame: &[u8]) -> Answer {
        self.log.0.clear();
        let info = RxInfo::default();
        self.stack.frame(self.now, IFACE, frame, info, &mut self.log);
        self.settle()
    }

    /// The payload of a frame comes in from a node.
    #[track_caller]
    fn payload(&mut self, from: usize, payload: &[u8]) -> Answer {
        let frame = self.frame(from, payload);
        self.feed(&frame)
    }

    /// A frame from a node to this one, with the next sequence number.
    fn frame(&mut self, from: usize, payload: &[u8]) -> Vec<u8> {
        self.frame_between(LinkAddr::Extended(eui(from)), LinkAddr::Extended(eui(1)), payload)
    }

    fn frame_between(&mut self, src: LinkAddr, dst: LinkAddr, payload: &[u8]) -> Vec<u8> {
        self.sequence = self.sequence.wrapping_add(1);
        frame(self.sequence, src, dst, payload)
    }

    /// An IPv6 packet comes in from the foe, as it is: in one frame if it fits, else in fragments.
    #[track_caller]
    fn packet(&mut self, packet: &[u8]) -> Answer {
        self.packet_from(FOE, packet)
    }

    #[track_caller]
    fn packet_from(&mut self, from: usize, packet: &[u8]) -> Answer {
        if packet.len() < PAYLOAD_MAX {
            return self.payload(from, &[&[lowpan::IPV6][..], packet].concat());
        }
        let tag = u16::from(self.sequence);
        let mut answer = Answer::default();
        for payload in fragments(tag, packet) {
            answer = answer.and(self.payload(from, &payload));
        }
        answer
    }

    /// Lets the stack do what there is to do, and takes what it delivers and sends.
    #[track_caller]
    fn settle(&mut self) -> Answer {
        let mut polls = 0;
        loop {
            let again = self.stack.poll(self.now, &mut self.log);
            let transmitted = self.transmit();
            if !transmitted && again.is_none_or(|at| at > self.now) {
                break;
            }
            polls += usize::from(!transmitted);
            assert!(polls <= POLLS_MAX, "no end of work");
        }
        assert!(self.log.0.len() <= EVENTS_MAX, "{} events", self.log.0.len());
        let mut delivered = Vec::new();
        let mut out = [0; 1280];
        while let Some(received) = self
            .stack
            .udp_receive(self.now, self.socket, &mut out, &mut self.log)
        {
            delivered.push(out[..received.len].to_vec());
        }
        self.check();
        let drops = self.drops();
        let sent = decode(&core::mem::take(&mut self.air));
        Answer {
            drops,
            delivered,
            sent,
        }
    }

    /// Lets the device send a frame, which arrives.
    fn transmit(&mut self) -> bool {
        let info = self
            .stack
            .transmit(self.now, IFACE, &mut self.device, &mut self.log);
        let Some(TxInfo { len, ack_request, .. }) = info else {
            return false;
        };
        assert!(len <= FRAME_LEN_MAX - 2, "a frame of {len} bytes");
        self.air.push(self.device[..len].to_vec());
        let outcome = if ack_request {
            TxOutcome::Acked
        } else {
            TxOutcome::Sent
        };
        let report = TxReport {
            outcome,
            attempts: 1,
            busy: 0,
        };
        self.stack.transmitted(self.now, IFACE, report, &mut self.log);
        true
    }

    /// The drops that the events tell, which are those that the counters tell.
    #[track_caller]
    fn drops(&mut self) -> Vec<Reason> {
        let reason = |(_, event): &(Instant, Event)| match *event {
            Event::FrameDropped { reason, .. }
            | Event::FragmentIn {
                fate: FragmentFate::Dropped(reason),
                ..
            }
            | Event::End {
                end: End::Dropped(reason),
                ..
            } => Some(reason),
            _ => None,
        };
        let drops: Vec<Reason> = self.log.0.iter().filter_map(reason).collect();
        let counters: Vec<u32> = Reason::ALL
            .iter()
            .map(|reason| self.stack.drops(*reason))
            .collect();
        for (reason, (now, before)) in Reason::ALL.iter().zip(counters.iter().zip(&self.counted)) {
            let told = drops.iter().filter(|drop| *drop == reason).count();
            assert_eq!((now - before) as usize, told, "{reason:?} is counted and told");
        }
        self.counted = counters;
        drops
    }

    /// No packet is in hand, and every one that lives is in a table or a queue.
    #[track_caller]
    fn check(&self) {
        let buf = self.stack.buffer();
        assert_eq!((self.stack.audit(), buf.in_hand()), (buf.live(), 0), "a leak");
        buf.check();
    }

    /// Lets time pass, with every timer at its time.
    #[track_caller]
    fn pass(&mut self, span: Duration) -> Answer {
        let end = self.now + span;
        let mut answer = Answer::default();
        loop {
            self.log.0.clear();
            match self.stack.next_deadline(self.now) {
                Some(at) if at <= end => self.now = self.now.max(at),
                _ => break,
            }
            answer = answer.and(self.settle());
        }
        self.now = end;
        answer
    }

    /// After the longest time-out nothing is left, and no timer runs.
    #[track_caller]
    fn assert_idle(&mut self) {
        self.pass(Duration::from_secs(61));
        let buf = self.stack.buffer();
        assert_eq!((buf.live(), buf.used(), self.stack.reassemblies()), (0, 0, 0));
        assert_eq!(self.stack.next_deadline(self.now), None);
    }

    /// An honest datagram is delivered.
    #[track_caller]
    fn assert_alive(&mut self) {
        let packet = udp_packet(global(FRIEND), global(1), b"still there?");
        self.packet_from(FRIEND, &packet).is_delivery(b"still there?");
    }
}

/// A frame of the PAN.
fn frame(sequence: u8, src: LinkAddr, dst: LinkAddr, payload: &[u8]) -> Vec<u8> {
    let mut bytes = [0; FRAME_LEN_MAX];
    let len = Header::data(sequence, 0x23, dst, src)
        .emit(&mut bytes)
        .expect("a header");
    [&bytes[..len], payload].concat()
}

/// The payloads of frames that carry a packet, uncompressed, in fragments.
fn fragments(tag: u16, packet: &[u8]) -> Vec<Vec<u8>> {
    let pieces = packet.chunks(STEP).zip((0..).step_by(STEP));
    pieces
        .map(|(piece, offset)| fragment(tag, packet.len() as u16, offset, piece))
        .collect()
}

/// The payload of a frame with a fragment; the first fragment's content is uncompressed.
fn fragment(tag: u16, size: u16, offset: u16, data: &[u8]) -> Vec<u8> {
    let header = Fragment {
        datagram_size: size,
        datagram_tag: tag,
        datagram_offset: (offset / 8) as u8,
    };
    let mut bytes = [0; 8];
    let len = header.emit(&mut bytes).expect("a size of 11 bits");
    let dispatch = if offset == 0 { &[lowpan::IPV6][..] } else { &[] };
    [&bytes[..len], dispatch, data].concat()
}

/// An IPv6 packet.
fn ipv6_packet(src: Ipv6Addr, dst: Ipv6Addr, next: NextHeader, payload: &[u8]) -> Vec<u8> {
    let header = ipv6::Header {
        traffic_class: TrafficClass(0),
        flow_label: 0,
        payload_len: payload.len() as u16,
        next_header: next,
        hop_limit: 64,
        src,
        dst,
    };
    [&header.emit()[..], payload].concat()
}

/// A UDP datagram in an IPv6 packet, from port 5001 to the socket.
fn udp_packet(src: Ipv6Addr, dst: Ipv6Addr, payload: &[u8]) -> Vec<u8> {
    ipv6_packet(src, dst, NextHeader::UDP, &udp_datagram(src, dst, PORT, payload))
}

fn udp_datagram(src: Ipv6Addr, dst: Ipv6Addr, port: u16, payload: &[u8]) -> Vec<u8> {
    let mut header = udp::Header {
        src_port: 5001,
        dst_port: port,
        len: (udp::HEADER_LEN + payload.len()) as u16,
        checksum: 0,
    };
    let bytes = [&header.emit()[..], payload].concat();
    header.checksum = checksum(&src, &dst, NextHeader::UDP, &bytes).finish_udp();
    [&header.emit()[..], payload].concat()
}

/// An ICMPv6 message in an IPv6 packet.
fn icmp_packet(src: Ipv6Addr, dst: Ipv6Addr, kind: u8, code: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = [&[kind, code, 0, 0][..], body].concat();
    let sum = checksum(&src, &dst, NextHeader::ICMPV6, &bytes).finish();
    bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    ipv6_packet(src, dst, NextHeader::ICMPV6, &bytes)
}

fn checksum(src: &Ipv6Addr, dst: &Ipv6Addr, next: NextHeader, bytes: &[u8]) -> Checksum {
    let mut sum = Checksum::pseudo_header(src, dst, next, bytes.len() as u32);
    sum.add(bytes);
    sum
}

/// Sets the hop limit of a packet.
fn with_hop_limit(packet: &[u8], hop_limit: u8) -> Vec<u8> {
    let mut packet = packet.to_vec();
    packet[7] = hop_limit;
    packet
}

/// The IPv6 packets that frames carry, and to whom they go.
fn decode(frames: &[Vec<u8>]) -> Vec<(LinkAddr, Vec<u8>)> {
    let contexts = [Context::new(net::PREFIX.octets(), 64)];
    let mut partial: BTreeMap<u16, Vec<u8>> = BTreeMap::new();
    let mut packets = Vec::new();
    for frame in frames {
        let (header, payload) = Header::parse(frame).expect("a frame");
        let link = Link {
            src: header.src,
            dst: header.dst,
        };
        let whole = |payload: &[u8], size: Option<usize>| {
            let mut headers = [0; 512];
            let expanded = iphc::decompress(payload, &link, &Contexts(&contexts), size, &mut headers);
            let expanded = expanded.expect("a compressed header");
            [&headers[..expanded.written], &payload[expanded.consumed..]].concat()
        };
        let (dispatch, payload, _) = lowpan::strip(payload).expect("a dispatch");
        let packet = match dispatch {
            Dispatch::Iphc => whole(payload, None),
            Dispatch::Frag1 | Dispatch::FragN => {
                let (fragment, data) = Fragment::parse(payload).expect("a fragment");
                let size = usize::from(fragment.datagram_size);
                let tag = fragment.datagram_tag;
                let bytes = if fragment.is_first() {
                    whole(data, Some(size))
                } else {
                    let mut bytes = partial.remove(&tag).expect("in order");
                    assert_eq!(bytes.len(), fragment.start());
                    bytes.extend_from_slice(data);
                    bytes
                };
                if bytes.len() < size {
                    partial.insert(tag, bytes);
                    continue;
                }
                bytes
            }
            other => panic!("{other:?} is sent"),
        };
        packets.push((header.dst, packet));
    }
    assert!(partial.is_empty(), "whole datagrams are sent");
    packets
}

/// Bytes of which no two stretches are alike.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i ^ i >> 8).wrapping_mul(7) as u8).collect()
}
