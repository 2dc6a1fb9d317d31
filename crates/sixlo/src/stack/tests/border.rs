//! A border router: node 1, whose first interface is that to the mesh and whose second one carries packets to the outside.
//!
//! The mesh is fd00::/64, with node 2 as the neighbour by whom all of it is reached; outside is everything else.

use core::net::Ipv6Addr;
use std::vec::Vec;

use super::net::{IFACE, Log, PREFIX, eui, global, lent, link_local};
use super::packets::{frame, header, icmpv6_packet, packet, udp, udp_packet};
use crate::ipv6::{Address, BorderConfig, Route};
use crate::lowpan::Reassembly;
use crate::mac::duplicates::Seen;
use crate::netdev::{Caps, FRAME_LEN_MAX, IfaceId, RxInfo, TxOutcome, TxReport};
use crate::netif::{IfaceConfig, Interface};
use crate::netreg::Entry;
use crate::pktbuf::{Seg, Slot};
use crate::sock::Mailbox;
use crate::stack::{Config, Memory, Stack};
use crate::time::{Duration, Instant};
use crate::timers::Timer;
use crate::trace::Reason;
use crate::wire::addr::LinkAddr;
use crate::wire::icmpv6::{self, Exceeded, Message, Unreachable};
use crate::wire::ipv6::{ALL_NODES, Header, NextHeader};
use crate::wire::lowpan::IPV6;

const OUTSIDE: IfaceId = IfaceId(1);
/// This node on the link to the outside, and the host at its other end.
const ROUTER: Ipv6Addr = Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 2);
const HOST: Ipv6Addr = Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 1);
/// Somewhere in the Internet.
const FAR: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
/// A node of the mesh, behind node 2.
const NODE: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 9);
const MTU: u16 = 1500;

struct Router {
    stack: Stack<'static>,
    log: Log,
    now: Instant,
    sequence: u8,
}

impl Router {
    fn new(time_per_byte: Duration) -> Self {
        let mut config = Config::new(1);
        config.ipv6.border = Some(BorderConfig {
            outside: OUTSIDE,
            prefix: PREFIX,
            prefix_len: 64,
            time_per_byte,
            in_advance: Duration::from_millis(100),
        });
        let memory = Memory {
            bytes: lent(16_384, || 0),
            segs: lent(32, || Seg::EMPTY),
            slots: lent(64, || Slot::EMPTY),
            receivers: lent(4, || Entry::EMPTY),
            timers: lent(2 + Memory::OWN_TIMERS, || Timer::EMPTY),
            ifaces: lent(2, || Interface::EMPTY),
            seen: lent(4, || Seen::EMPTY),
            reassemblies: lent(2, || Reassembly::EMPTY),
            contexts: &mut [],
            vrbs: &mut [],
            peers: &mut [],
            transfers: &mut [],
            inbounds: &mut [],
            addresses: lent(6, || Address::EMPTY),
            neighbors: &mut [],
            routes: lent(4, || Route::EMPTY),
            partials: &mut [],
            mailboxes: lent(2, || Mailbox::EMPTY),
            connections: &mut [],
            listeners: &mut [],
            backlog: &mut [],
            tcp_receive: &mut [],
            loans: &mut [],
        };
        let mut stack = Stack::new(memory, &config).expect("it suffices");
        let mesh = IfaceConfig {
            caps: Caps {
                csma: true,
                fcs: true,
            },
            ..IfaceConfig::new(eui(1))
        };
        stack.bring_up(IFACE, mesh).expect("a place");
        let outside = IfaceConfig {
            mtu: MTU,
            ..IfaceConfig::packets(eui(0x101))
        };
        stack.bring_up(OUTSIDE, outside).expect("a place");
        stack.add_address(IFACE, global(1)).expect("room");
        stack.add_address(OUTSIDE, ROUTER).expect("room");
        stack
            .add_route(Route::via(PREFIX, 64, IFACE, link_local(2)))
            .expect("room");
        stack
            .add_route(Route::default_via(OUTSIDE, link_local(0x102)))
            .expect("room");
        Self {
            stack,
            log: Log::default(),
            now: Instant::from_micros(1_000_000),
            sequence: 0,
        }
    }

    /// A packet comes in from outside.
    fn outside(&mut self, packet: &[u8]) -> Answer {
        let before = self.log.drops().len();
        self.stack
            .frame(self.now, OUTSIDE, packet, RxInfo::default(), &mut self.log);
        self.settle(before)
    }

    /// A packet comes in from node 2: uncompressed, in one frame.
    fn mesh(&mut self, packet: &[u8]) -> Answer {
        let before = self.log.drops().len();
        self.sequence += 1;
        let (src, dst) = (LinkAddr::Extended(eui(2)), LinkAddr::Extended(eui(1)));
        let bytes = frame(src, dst, self.sequence, &[&[IPV6], packet].concat());
        self.stack
            .frame(self.now, IFACE, &bytes, RxInfo::default(), &mut self.log);
        self.settle(before)
    }

    /// Lets the stack send all that it has to send.
    fn settle(&mut self, drops_before: usize) -> Answer {
        let mut answer = Answer::default();
        let mut out = [0; MTU as usize];
        for _ in 0..10_000 {
            self.stack.poll(self.now, &mut self.log);
            let mut sent = false;
            for (iface, len) in [(IFACE, FRAME_LEN_MAX), (OUTSIDE, out.len())] {
                let room = &mut out[..len];
                let Some(info) = self.stack.transmit(self.now, iface, room, &mut self.log) else {
                    continue;
                };
                sent = true;
                if iface == IFACE {
                    answer.frames += 1;
                } else {
                    answer.outward.push(out[..info.len].to_vec());
                }
                let report = TxReport {
                    outcome: TxOutcome::Sent,
                    attempts: 1,
                    busy: 0,
                };
                self.stack.transmitted(self.now, iface, report, &mut self.log);
            }
            if !sent {
                answer.drops = self.log.drops().split_off(drops_before);
                return answer;
            }
        }
        panic!("it does not settle");
    }
}

/// What became of a packet.
#[derive(Debug, Default)]
struct Answer {
    /// Frames into the mesh.
    frames: usize,
    outward: Vec<Vec<u8>>,
    drops: Vec<Reason>,
}

impl Answer {
    fn is_silence(&self, reason: Reason) {
        assert_eq!(
            (self.frames, &self.outward[..], &self.drops[..]),
            (0, &[][..], &[reason][..])
        );
    }

    /// It went into the mesh, and nothing else happened.
    fn entered(&self) -> bool {
        self.frames > 0 && self.outward.is_empty() && self.drops.is_empty()
    }

    /// It went out, with one hop less, and nothing else happened.
    fn left(&self, packet: &[u8]) {
        let mut expected = packet.to_vec();
        expected[7] -= 1;
        assert_eq!((self.frames, &self.drops[..]), (0, &[][..]));
        assert_eq!(self.outward, [expected]);
    }

    /// The source outside was told, by the address of that side.
    fn told_outside(&self, reason: Reason, about: Message) {
        assert_eq!((self.frames, &self.drops[..]), (0, &[reason][..]));
        let [told] = &self.outward[..] else {
            panic!("{self:?}");
        };
        let (head, rest) = told.split_first_chunk().expect("a header");
        let head = Header::parse(head).expect("IPv6");
        assert_eq!(head.src, ROUTER);
        assert_eq!(icmpv6::Header::parse(rest).expect("ICMPv6").0.message, about);
    }
}

fn datagram(src: Ipv6Addr, dst: Ipv6Addr) -> Vec<u8> {
    udp_packet((src, 1000), (dst, 2000), &[1; 8])
}

/// The same behind extension headers.
fn behind(src: Ipv6Addr, dst: Ipv6Addr, first: NextHeader, headers: &[u8]) -> Vec<u8> {
    let body = [headers, &udp((src, 1000), (dst, 2000), &[1; 8])].concat();
    packet(header(src, dst, first), &body)
}

fn with_hop_limit(mut packet: Vec<u8>, hop_limit: u8) -> Vec<u8> {
    packet[7] = hop_limit;
    packet
}

fn router() -> Router {
    Router::new(Duration::ZERO)
}

#[test]
fn what_is_in_order_passes_in_both_directions() {
    let mut router = router();
    for src in [HOST, FAR] {
        assert!(router.outside(&datagram(src, NODE)).entered());
        let packet = datagram(NODE, src);
        router.mesh(&packet).left(&packet);
    }
}

#[test]
fn each_side_reaches_the_router_itself_by_either_address() {
    let mut router = router();
    let (identifier, sequence) = (1, 2);
    for own in [ROUTER, global(1)] {
        let request = icmpv6_packet(HOST, own, Message::EchoRequest { identifier, sequence }, b"x");
        let answer = router.outside(&request);
        assert_eq!(
            (answer.frames, answer.outward.len(), answer.drops),
            (0, 1, Vec::new())
        );
        let request = icmpv6_packet(NODE, own, Message::EchoRequest { identifier, sequence }, b"x");
        assert!(router.mesh(&request).entered(), "the reply goes back in");
    }
}

/// RFC 2827 section 3: no address of the mesh comes from outside, be it for a node, the router or all.
#[test]
fn no_host_outside_speaks_for_a_node() {
    let mut router = router();
    for src in [NODE, global(1), ROUTER, link_local(1)] {
        for dst in [NODE, global(1), ROUTER, ALL_NODES, FAR] {
            router
                .outside(&datagram(src, dst))
                .is_silence(Reason::BorderSource);
        }
    }
}

#[test]
fn what_is_addressed_elsewhere_does_not_enter_nor_turn_round() {
    let mut router = router();
    let code = Message::DestinationUnreachable(Unreachable::NoRoute);
    let elsewhere = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 9);
    for dst in [FAR, elsewhere] {
        router
            .outside(&datagram(HOST, dst))
            .told_outside(Reason::NoRoute, code);
    }
    // Even if there is a route for it into the mesh.
    router
        .stack
        .add_route(Route::via(elsewhere, 64, IFACE, link_local(2)))
        .expect("room");
    router
        .outside(&datagram(HOST, elsewhere))
        .told_outside(Reason::NoRoute, code);
    // Nor does what a node sends to a node without a route leave.
    assert!(router.stack.remove_route(PREFIX, 64));
    let back = Route::via(NODE, 128, IFACE, link_local(2));
    router.stack.add_route(back).expect("room");
    let answer = router.mesh(&datagram(NODE, global(8)));
    assert_eq!((answer.outward.len(), answer.drops[0]), (0, Reason::NoRoute));
}

#[test]
fn xb1_a_packet_larger_than_the_mesh_takes_is_told_its_mtu() {
    let mut router = router();
    let of = |len: usize| udp_packet((HOST, 1000), (NODE, 2000), &std::vec![1; len - 48]);
    assert!(router.outside(&of(1280)).entered());
    for len in [1281, 1400, 1500] {
        let mtu = 1280;
        router
            .outside(&of(len))
            .told_outside(Reason::PacketTooBig, Message::PacketTooBig { mtu });
    }
}

/// RFC 6554 section 5, RFC 6553, and the source routes that RFC 5095 deprecates.
#[test]
fn xb2_headers_by_which_the_mesh_routes_do_not_cross_in_either_direction() {
    let mut router = router();
    let rpi = [17, 0, 0x63, 4, 0, 0, 1, 0];
    let rpi_of_rfc9008 = [17, 0, 0x23, 4, 0, 0, 1, 0];
    let padded = [17, 0, 1, 4, 0, 0, 0, 0];
    let alert = [17, 0, 5, 2, 0, 0, 1, 0];
    let mut route = [0; 24];
    route[0..4].copy_from_slice(&[17, 2, 3, 1]);
    let mut old_route = route;
    old_route[2] = 0;
    let mut other_route = route;
    other_route[2] = 4;
    let mut hidden = [0; 32];
    hidden[0..8].copy_from_slice(&[43, 0, 1, 4, 0, 0, 0, 0]);
    hidden[8..].copy_from_slice(&route);
    let long = {
        let mut long = [0; 136];
        long[0..4].copy_from_slice(&[17, 16, 1, 132]);
        long
    };
    let cases: [(NextHeader, &[u8], bool); 9] = [
        (NextHeader::HOP_BY_HOP, &rpi, false),
        (NextHeader::HOP_BY_HOP, &rpi_of_rfc9008, false),
        (NextHeader::HOP_BY_HOP, &padded, true),
        (NextHeader::HOP_BY_HOP, &alert, true),
        (NextHeader::ROUTING, &route, false),
        (NextHeader::ROUTING, &old_route, false),
        (NextHeader::ROUTING, &other_route, true),
        (NextHeader::DESTINATION, &hidden, false),
        // More than is looked at.
        (NextHeader::DESTINATION, &long, false),
    ];
    for (first, headers, passes) in cases {
        let inward = router.outside(&behind(FAR, NODE, first, headers));
        if passes {
            assert!(inward.entered(), "{first:?} {headers:?}: {inward:?}");
        } else {
            inward.is_silence(Reason::BorderHeader);
        }
        let packet = behind(NODE, FAR, first, headers);
        if packet.len() > 90 {
            continue;
        }
        let outward = router.mesh(&packet);
        if passes {
            outward.left(&packet);
        } else {
            outward.is_silence(Reason::BorderHeader);
        }
    }
    // Headers that end too early, and the piece of a packet behind its first.
    for cut in 41..48 {
        let whole = behind(FAR, NODE, NextHeader::HOP_BY_HOP, &padded);
        let mut piece = whole[..cut].to_vec();
        piece[4..6].copy_from_slice(&((cut - 40) as u16).to_be_bytes());
        router.outside(&piece).is_silence(Reason::BorderHeader);
    }
    let later_piece = [17, 0, 0, 8, 0, 0, 0, 1];
    assert!(
        router
            .outside(&behind(FAR, NODE, NextHeader::FRAGMENT, &later_piece))
            .entered()
    );
    let first_piece = [&[43, 0, 0, 1, 0, 0, 0, 1], &route[..]].concat();
    router
        .outside(&behind(FAR, NODE, NextHeader::FRAGMENT, &first_piece))
        .is_silence(Reason::BorderHeader);
}

#[test]
fn xb3_no_node_speaks_for_the_internet() {
    let mut router = router();
    for src in [FAR, HOST, ROUTER] {
        router.mesh(&datagram(src, FAR)).is_silence(Reason::BorderSource);
    }
}

#[test]
fn xb4_a_flood_is_held_back_in_favour_of_what_comes_after_it() {
    // 32 us a byte, and 100 ms in advance: 3125 bytes, of which the last packet may pass by what it has.
    let mut router = Router::new(Duration::from_micros(32));
    let packet = udp_packet((FAR, 1000), (NODE, 2000), &[1; 952]);
    let mut entered = 0;
    for _ in 0..1_000 {
        let answer = router.outside(&packet);
        if answer.entered() {
            entered += 1;
        } else {
            answer.is_silence(Reason::BorderRate);
        }
    }
    assert_eq!(entered, 4);
    assert_eq!(router.stack.drops(Reason::BorderRate), 996);
    assert_eq!(router.stack.buffer().live(), 0);
    // What leaves the mesh is not counted, and what the flood did is over after as long as it takes.
    let answer = datagram(NODE, FAR);
    router.mesh(&answer).left(&answer);
    router.now += Duration::from_millis(28);
    assert!(router.outside(&packet).entered());
    router.outside(&packet).is_silence(Reason::BorderRate);
    router.now += Duration::from_secs(3600);
    let at_once = (0..1_000).filter(|_| router.outside(&packet).entered()).count();
    assert_eq!(at_once, 4, "a quiet hour earns no more");
}

#[test]
fn xb4_a_flood_of_what_is_refused_costs_others_nothing_and_few_answers() {
    let mut router = Router::new(Duration::from_micros(32));
    let mut told = 0;
    for number in 0..10_000_u32 {
        let dst = Ipv6Addr::from_bits(FAR.to_bits() | u128::from(number) << 16);
        told += router.outside(&datagram(HOST, dst)).outward.len();
    }
    assert_eq!(told, 10, "RFC 4443 section 2.4 (f)");
    assert!(router.outside(&datagram(HOST, NODE)).entered());
}

#[test]
fn xb5_a_read_of_any_length_is_delivered_or_dropped_with_a_reason() {
    let mut router = router();
    let huge = {
        let mut huge = datagram(HOST, NODE);
        huge.resize(65_535, 0);
        huge
    };
    let before = router.stack.drops(Reason::FrameMalformed);
    for len in [1501, 4096, 65_535] {
        let answer = router.outside(&huge[..len]);
        assert_eq!((answer.frames, answer.outward.len()), (0, 0));
    }
    assert_eq!(router.stack.drops(Reason::FrameMalformed), before + 3);
    for len in 0..1500 {
        router.outside(&huge[..len]);
    }
    assert_eq!(router.stack.buffer().live(), 0);
}

#[test]
fn xb6_the_hop_limit_counts_both_ways() {
    let mut router = router();
    let exceeded = Message::TimeExceeded(Exceeded::HopLimit);
    for hop_limit in [0, 1] {
        router
            .outside(&with_hop_limit(datagram(HOST, NODE), hop_limit))
            .told_outside(Reason::HopLimit, exceeded);
        let answer = router.mesh(&with_hop_limit(datagram(NODE, HOST), hop_limit));
        assert!(answer.frames > 0 && answer.outward.is_empty(), "the node is told");
        assert_eq!(answer.drops, [Reason::HopLimit]);
    }
    assert!(router.outside(&with_hop_limit(datagram(HOST, NODE), 2)).entered());
    let packet = with_hop_limit(datagram(NODE, HOST), 2);
    router.mesh(&packet).left(&packet);
}

/// RFC 8200 section 5 and RFC 8021: an MTU below 1280 changes nothing in what a node sends.
#[test]
fn xi17_packet_too_big_below_1280_makes_no_atomic_fragments() {
    let mut router = router();
    let socket = router.stack.udp_bind(1000, 2).expect("a socket");
    let send = |router: &mut Router| {
        let dst = (FAR, 2000);
        router
            .stack
            .udp_send_to(router.now, socket, dst, &[1; 1000], &mut router.log)
            .expect("room");
        router.settle(0).outward
    };
    let before = send(&mut router);
    assert_eq!(before.len(), 1);
    for mtu in [0, 40, 68, 600, 1279] {
        let told = icmpv6_packet(HOST, ROUTER, Message::PacketTooBig { mtu }, &before[0][..1000]);
        router.outside(&told);
        assert_eq!(send(&mut router), before, "MTU {mtu}");
    }
}
