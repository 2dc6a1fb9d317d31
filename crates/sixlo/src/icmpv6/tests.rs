//! Echo, errors and their limits (RFC 4443), by packets that come in.

use core::net::Ipv6Addr;
use std::vec::Vec;

use super::*;
use crate::netapi::{Msg, Ty};
use crate::sock::MailboxId;
use crate::stack::tests::net::{IFACE, Net, global, link_local};
use crate::stack::tests::packets::{checksum, header, icmpv6_packet, packet, udp, udp_packet};
use crate::wire::addr::LinkAddr;
use crate::wire::icmpv6::{Header, Message, Unreachable};
use crate::wire::ipv6::{ALL_NODES, Ecn, TrafficClass};

const REQUEST: Message = Message::EchoRequest {
    identifier: 0x1234,
    sequence: 0x5678,
};
const REPLY: Message = Message::EchoReply {
    identifier: 0x1234,
    sequence: 0x5678,
};

/// Node 2 gets packets from node 1, and what it answers is read there.
struct Rig {
    net: Net,
    back: MailboxId,
}

impl Rig {
    fn new() -> Self {
        let mut net = Net::chain(2);
        let back = net.listen(1, Msg::up(Ty::Ipv6, 0), true);
        Self { net, back }
    }

    fn put(&mut self, packet: &[u8]) -> Option<(ipv6::Header, Vec<u8>)> {
        self.put_to(LinkAddr::Extended(crate::stack::tests::net::eui(2)), packet)
    }

    /// Puts a packet into node 2 and gives header and body of its answer, whose checksum must be right.
    fn put_to(&mut self, dst: LinkAddr, packet: &[u8]) -> Option<(ipv6::Header, Vec<u8>)> {
        self.net.inject_to(2, 1, dst, packet);
        self.net.settle();
        let (_, bytes) = self.net.take(1, self.back)?;
        let (fixed, body) = bytes.split_first_chunk().unwrap();
        let header = ipv6::Header::parse(fixed).unwrap();
        assert!(checksum(header.src, header.dst, header.next_header, body).is_valid());
        Some((header, body.to_vec()))
    }

    fn drops(&self, reason: Reason) -> u32 {
        self.net.nodes[1].stack.drops(reason)
    }
}

fn message(body: &[u8]) -> (Message, &[u8]) {
    let (header, rest) = Header::parse(body).unwrap();
    (header.message, rest)
}

/// RFC 4443 section 4.2.
#[test]
fn an_echo_request_of_any_length_is_answered_with_the_same_bytes() {
    for len in (0..=1232).step_by(77).chain([1, 1231, 1232]) {
        let data: Vec<u8> = (0..len).map(|i| (i * 3) as u8).collect();
        let mut rig = Rig::new();
        let answer = rig.put(&icmpv6_packet(global(1), global(2), REQUEST, &data));
        let (head, body) = answer.expect("a reply");
        assert_eq!((head.src, head.dst, head.hop_limit), (global(2), global(1), 64));
        assert_eq!(message(&body), (REPLY, &data[..]), "{len} bytes");
        let buf = rig.net.node(2).stack.buffer();
        assert_eq!((buf.live(), buf.used()), (0, 0));
    }
}

/// RFC 4443 section 4.2: the reply to a multicast request comes from a unicast address of the interface.
#[test]
fn an_echo_request_to_all_nodes_is_answered_from_an_own_address() {
    let request = icmpv6_packet(link_local(1), ALL_NODES, REQUEST, b"x");
    let (head, body) = Rig::new().put_to(LinkAddr::BROADCAST, &request).expect("a reply");
    assert_eq!((head.src, head.dst), (link_local(2), link_local(1)));
    assert_eq!(message(&body).0, REPLY);
}

/// RFC 3168 section 5: the mark of congestion is the network's, not the answerer's.
#[test]
fn a_reply_keeps_the_service_of_its_request_and_starts_without_congestion() {
    let head = ipv6::Header {
        traffic_class: TrafficClass::new(0x2e, Ecn::Congestion),
        ..header(global(1), global(2), NextHeader::ICMPV6)
    };
    let body = crate::stack::tests::packets::icmpv6(global(1), global(2), REQUEST, b"x");
    let (head, _) = Rig::new().put(&packet(head, &body)).expect("a reply");
    assert_eq!(head.traffic_class, TrafficClass::new(0x2e, Ecn::NotCapable));
}

#[test]
fn an_echo_request_behind_extension_headers_is_answered_without_them() {
    let body = crate::stack::tests::packets::icmpv6(global(1), global(2), REQUEST, b"x");
    let options = [NextHeader::ICMPV6.0, 0, 1, 4, 0, 0, 0, 0];
    let head = header(global(1), global(2), NextHeader::DESTINATION);
    let (head, body) = Rig::new()
        .put(&packet(head, &[&options[..], &body].concat()))
        .expect("a reply");
    assert_eq!((head.next_header, message(&body).0), (NextHeader::ICMPV6, REPLY));
}

#[test]
fn an_echo_request_from_nobody_is_not_answered() {
    let mut rig = Rig::new();
    let from_nobody = icmpv6_packet(Ipv6Addr::UNSPECIFIED, global(2), REQUEST, b"x");
    assert_eq!(rig.put(&from_nobody), None);
    assert_eq!(rig.drops(Reason::Ipv6Address), 1);
}

#[test]
fn a_message_with_a_wrong_checksum_or_cut_off_is_dropped() {
    let mut rig = Rig::new();
    let good = icmpv6_packet(global(1), global(2), REQUEST, b"x");
    for bit in 8 * ipv6::HEADER_LEN..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(rig.put(&bad), None, "bit {bit}");
    }
    let flipped = 8 * (good.len() - ipv6::HEADER_LEN) as u32;
    assert_eq!(rig.drops(Reason::Icmpv6Malformed), flipped);
    for len in 0..8_u32 {
        // A checksum that is right does not make it longer.
        let mut body = std::vec![0; len as usize];
        if let Some(kind) = body.first_mut() {
            *kind = 128;
        }
        if len >= 4 {
            let sum = checksum(global(1), global(2), NextHeader::ICMPV6, &body).finish();
            body[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        let short = packet(header(global(1), global(2), NextHeader::ICMPV6), &body);
        assert_eq!(rig.put(&short), None);
        assert_eq!(rig.drops(Reason::Icmpv6Malformed), flipped + 1 + len);
    }
}

#[test]
fn messages_go_to_whoever_registered_for_their_type() {
    let mut rig = Rig::new();
    let listener = rig.net.listen(2, Msg::up(Ty::Icmpv6, 155), false);
    let message = |kind| Message::Other { kind, code: 3 };
    rig.put(&icmpv6_packet(global(1), global(2), message(155), b"rpl"));
    rig.put(&icmpv6_packet(global(1), global(2), message(156), b"other"));
    let (msg, body) = rig.net.take(2, listener).expect("a message");
    assert_eq!(msg, Msg::up(Ty::Icmpv6, 155));
    assert_eq!((body[..2].to_vec(), &body[4..]), (std::vec![155, 3], &b"rpl"[..]));
    assert_eq!(rig.net.take(2, listener), None);
    assert_eq!(rig.drops(Reason::Icmpv6Unhandled), 1);
}

/// RFC 4443 section 2.4 (c): as much of the packet as fits the minimum MTU.
#[test]
fn an_error_quotes_the_packet_up_to_the_minimum_mtu() {
    for len in [0, 1, 500, 1183, 1184, 1185, 1232] {
        let sent = udp_packet((global(1), 1), (global(2), 9), &std::vec![0x77; len]);
        let (head, body) = Rig::new().put(&sent).expect("an error");
        let (kind, quote) = message(&body);
        assert_eq!(kind, Message::DestinationUnreachable(Unreachable::Port));
        let quoted = sent.len().min(1280 - 40 - 8);
        assert_eq!(quote, &sent[..quoted], "{len} bytes of payload");
        assert_eq!(usize::from(head.payload_len), 8 + quoted);
    }
}

/// RFC 4443 section 2.4 (e).
#[test]
fn no_error_is_sent_about_what_must_not_be_answered() {
    let error = Message::DestinationUnreachable(Unreachable::Port);
    let quoted = udp_packet((global(2), 1), (global(9), 1), b"");
    let nowhere = global(77);
    let cases = [
        // (e.1) an error, and (e.2) a redirect.
        icmpv6_packet(global(1), nowhere, error, &quoted),
        icmpv6_packet(global(1), nowhere, Message::Other { kind: 100, code: 0 }, b""),
        icmpv6_packet(
            global(1),
            nowhere,
            Message::Other { kind: 137, code: 0 },
            &[0; 36],
        ),
        // (e.3) to a multicast address.
        udp_packet((global(1), 1), (ALL_NODES, 9), b""),
        // (e.6) from a source that is not one node.
        udp_packet((Ipv6Addr::UNSPECIFIED, 1), (global(2), 9), b""),
    ];
    for sent in &cases {
        let mut rig = Rig::new();
        assert_eq!(rig.put(sent), None);
        let total: u32 = Reason::ALL.iter().map(|reason| rig.drops(*reason)).sum();
        assert_eq!(total, 1, "it is on record all the same");
    }
    // (e.4), (e.5): to one address, but by a frame to all.
    let sent = udp_packet((global(1), 1), (global(2), 9), b"");
    assert_eq!(Rig::new().put_to(LinkAddr::BROADCAST, &sent), None);
    // Other messages that are not errors are answered.
    let other = Message::Other { kind: 200, code: 0 };
    assert!(
        Rig::new()
            .put(&icmpv6_packet(global(1), nowhere, other, b""))
            .is_some()
    );
}

#[test]
fn an_error_behind_extension_headers_is_still_an_error() {
    let quoted = udp_packet((global(2), 1), (global(9), 1), b"");
    let error = Message::DestinationUnreachable(Unreachable::Port);
    let body = crate::stack::tests::packets::icmpv6(global(1), global(77), error, &quoted);
    for count in [1, 20] {
        // Twenty go on beyond what is looked at: then silence is the safe side.
        let mut options = [NextHeader::DESTINATION.0, 0, 1, 4, 0, 0, 0, 0].repeat(count);
        options[8 * (count - 1)] = NextHeader::ICMPV6.0;
        let head = header(global(1), global(77), NextHeader::DESTINATION);
        let sent = packet(head, &[&options[..], &body].concat());
        assert_eq!(Rig::new().put(&sent), None, "{count} headers");
    }
}

/// RFC 4443 section 2.4 (f): a token bucket, by default of 10 and one more each 100 ms.
#[test]
fn errors_are_limited_in_their_rate() {
    let mut rig = Rig::new();
    let sent = udp_packet((global(1), 1), (global(2), 9), b"");
    let burst = |rig: &mut Rig| (0..20).filter(|_| rig.put(&sent).is_some()).count();
    assert_eq!(burst(&mut rig), 10);
    for (ms, answered) in [(99, 0), (1, 1), (0, 0), (250, 2), (50, 1), (100_000, 10)] {
        rig.net.pass(Duration::from_millis(ms));
        assert_eq!(burst(&mut rig), answered, "after {ms} ms more");
    }
    let answered = 10 + 1 + 2 + 1 + 10;
    assert_eq!(rig.drops(Reason::PortUnreachable), 7 * 20, "each is on record");
    assert_eq!(rig.net.frames_of(2), answered);
}

#[test]
fn a_bucket_never_holds_more_than_its_burst_and_none_if_that_is_zero() {
    let config = Icmpv6Config {
        error_interval: Duration::from_millis(10),
        error_burst: 3,
        answer_echo: true,
    };
    let mut icmpv6 = Icmpv6::new(config);
    let tokens = |icmpv6: &mut Icmpv6, ms: u64| {
        let now = Instant::from_micros(ms * 1_000);
        (0..9).filter(|_| icmpv6.take_token(now)).count()
    };
    for (ms, expected) in [(0, 3), (1_000, 3), (1_009, 0), (1_010, 1), (1_035, 2), (1_040, 1)] {
        assert_eq!(tokens(&mut icmpv6, ms), expected, "at {ms} ms");
    }
    icmpv6.config_mut().error_burst = 0;
    assert_eq!(tokens(&mut icmpv6, 5_000), 0);
    icmpv6.config_mut().error_burst = 2;
    icmpv6.config_mut().error_interval = Duration::ZERO;
    assert_eq!(tokens(&mut icmpv6, 5_000), 9, "no interval, no limit");
}

#[test]
fn an_error_for_which_there_is_no_memory_is_not_sent_and_nothing_leaks() {
    let mut net = Net::chain(2);
    // 64 slots, of which a mailbox takes 63.
    let own = Msg::up(Ty::Transport, 99);
    let hoard = net.node(2).stack.open_mailbox(100).unwrap();
    net.node(2).stack.register(hoard, own, false).unwrap();
    let small = packet(header(link_local(1), link_local(2), NextHeader(99)), b"");
    for _ in 0..63 {
        net.inject(2, 1, &small);
    }
    net.inject(2, 1, &udp_packet((link_local(1), 1), (link_local(2), 9), b""));
    net.settle();
    let node = net.node(2);
    assert_eq!(node.log.drops(), [Reason::PortUnreachable]);
    assert_eq!(node.stack.audit(), 63);
    assert!(!node.stack.wants_transmit(IFACE));
}

#[test]
fn a_whole_error_is_parsed_by_whoever_sent_the_packet() {
    let mut net = Net::chain(3);
    let errors = net.listen(1, Msg::up(Ty::Icmpv6, 1), false);
    let a = net.bind(1, 5000);
    net.send(1, a, (global(3), 9), b"is anybody there?");
    net.settle();
    let (_, body) = net.take(1, errors).expect("it came back over two hops");
    let (kind, quoted) = message(&body);
    assert_eq!(kind, Message::DestinationUnreachable(Unreachable::Port));
    let quote = crate::wire::icmpv6::Quote::parse(quoted).unwrap();
    let datagram = udp((global(1), 5000), (global(3), 9), b"is anybody there?");
    assert_eq!(
        (quote.header.src, quote.header.dst, quote.payload),
        (global(1), global(3), &datagram[..])
    );
    net.assert_idle();
}
