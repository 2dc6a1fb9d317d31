//! The IPv6 module, by packets that come in, go through and go out.

use core::net::Ipv6Addr;
use std::vec::Vec;

use super::*;
use crate::netapi::{Msg, Ty};
use crate::sock::{MailboxId, SendError};
use crate::stack::tests::net::{IFACE, Net, eui, global, link_local};
use crate::stack::tests::packets::{header, packet, udp, udp_packet};
use crate::stack::{Opt, Target};
use crate::trace::Reason;
use crate::wire::addr::LinkAddr;
use crate::wire::icmpv6::{self, Exceeded, Message, Problem, Unreachable};
use crate::wire::ipv6::Header;

mod extensions;
mod tables;

/// Nodes 1, 2, 3 in a chain. Packets are put into node 2, and what comes back to node 1 or on to node 3 is read there.
struct Rig {
    net: Net,
    back: MailboxId,
    onwards: MailboxId,
}

impl Rig {
    fn new() -> Self {
        let mut net = Net::chain(3);
        let whole = Msg::up(Ty::Ipv6, 0);
        let (back, onwards) = (net.listen(1, whole, true), net.listen(3, whole, true));
        Self { net, back, onwards }
    }

    /// Puts a packet into node 2 as from node 1; gives what came back to node 1 and went on to node 3.
    fn put(&mut self, packet: &[u8]) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        self.put_to(LinkAddr::Extended(eui(2)), packet)
    }

    fn put_to(&mut self, dst: LinkAddr, packet: &[u8]) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        self.net.inject_to(2, 1, dst, packet);
        self.net.settle();
        let back = self.net.take(1, self.back).map(|(_, bytes)| bytes);
        (back, self.net.take(3, self.onwards).map(|(_, bytes)| bytes))
    }

    /// Puts a packet into node 2 that it must answer with this error, quoting all of it, and drop for this reason.
    #[track_caller]
    fn refuses(&mut self, packet: &[u8], message: Message, reason: Reason) {
        let before = self.net.node(2).stack.drops(reason);
        let (back, onwards) = self.put(packet);
        assert_eq!(onwards, None);
        let error = back.expect("an error");
        assert_eq!(read_error(&error), (message, packet.to_vec()));
        assert_eq!(self.net.node(2).stack.drops(reason), before + 1);
    }

    /// Puts a packet into node 2 that it must drop for this reason without a word.
    #[track_caller]
    fn drops(&mut self, packet: &[u8], reason: Reason) {
        self.drops_to(LinkAddr::Extended(eui(2)), packet, reason);
    }

    #[track_caller]
    fn drops_to(&mut self, dst: LinkAddr, packet: &[u8], reason: Reason) {
        let before = self.net.node(2).stack.drops(reason);
        assert_eq!(self.put_to(dst, packet), (None, None));
        assert_eq!(self.net.node(2).stack.drops(reason), before + 1);
    }

    fn set(&mut self, option: Opt, value: u64) {
        self.net.node(2).stack.set(Target::Stack, option, value).unwrap();
    }
}

/// What an error says and quotes. Its checksum must be right.
#[track_caller]
fn read_error(bytes: &[u8]) -> (Message, Vec<u8>) {
    let (fixed, body) = bytes.split_first_chunk().expect("a header");
    let header = Header::parse(fixed).expect("IPv6");
    assert_eq!(header.next_header, NextHeader::ICMPV6);
    assert_eq!(usize::from(header.payload_len), body.len());
    let sum = crate::stack::tests::packets::checksum(header.src, header.dst, NextHeader::ICMPV6, body);
    assert!(sum.is_valid(), "RFC 4443 section 2.3");
    let (head, quote) = icmpv6::Header::parse(body).expect("a message");
    (head.message, quote.to_vec())
}

fn addresses(bytes: &[u8]) -> (Ipv6Addr, Ipv6Addr) {
    let header = Header::parse(bytes.first_chunk().expect("a header")).expect("IPv6");
    (header.src, header.dst)
}

#[test]
fn a_packet_for_another_node_goes_on_with_one_hop_less() {
    let mut rig = Rig::new();
    let mut sent = udp_packet((global(1), 1), (global(3), 2), b"through");
    let (back, onwards) = rig.put(&sent);
    // RFC 8200 section 3: the hop limit is decremented; nothing else changes.
    sent[7] -= 1;
    assert_eq!(
        (back.is_some(), onwards),
        (true, Some(sent)),
        "node 3 answers: no such port"
    );
    rig.net.settle();
}

/// RFC 8200 section 3, RFC 4443 section 3.3.
#[test]
fn a_hop_limit_that_runs_out_is_told_to_the_source() {
    for hop_limit in [0, 1] {
        let mut rig = Rig::new();
        let mut sent = udp_packet((global(1), 1), (global(3), 2), b"x");
        sent[7] = hop_limit;
        let message = Message::TimeExceeded(Exceeded::HopLimit);
        rig.refuses(&sent, message, Reason::HopLimit);
    }
    let mut rig = Rig::new();
    let mut sent = udp_packet((global(1), 1), (global(3), 2), b"x");
    sent[7] = 2;
    assert_eq!(rig.put(&sent).1.expect("forwarded")[7], 1);
}

/// RFC 8200 section 3: a node that is not a router may take a packet with hop limit 0.
#[test]
fn the_hop_limit_does_not_matter_at_the_destination() {
    let mut rig = Rig::new();
    let socket = rig.net.bind(2, 5000);
    let mut sent = udp_packet((global(1), 1), (global(2), 5000), b"x");
    sent[7] = 0;
    rig.put(&sent);
    assert_eq!(rig.net.receive(2, socket).as_deref(), Some(&b"x"[..]));
}

/// RFC 4443 section 3.1, code 0.
#[test]
fn a_destination_without_a_route_is_told_to_the_source() {
    let sent = udp_packet((global(1), 1), (global(77), 2), b"x");
    let message = Message::DestinationUnreachable(Unreachable::NoRoute);
    Rig::new().refuses(&sent, message, Reason::NoRoute);
}

/// RFC 4443 section 3.1, code 3.
#[test]
fn a_next_hop_without_link_address_is_told_to_the_source() {
    let mut rig = Rig::new();
    let route = Route::via(global(77), 128, IFACE, Ipv6Addr::UNSPECIFIED);
    rig.net.node(2).stack.add_route(route).unwrap();
    let sent = udp_packet((global(1), 1), (global(77), 2), b"x");
    let message = Message::DestinationUnreachable(Unreachable::Address);
    rig.refuses(&sent, message, Reason::NoNeighbor);
}

/// RFC 4443 section 3.1, code 2; RFC 4291 section 2.5.6.
#[test]
fn a_link_local_source_does_not_leave_its_link() {
    let sent = udp_packet((link_local(1), 1), (global(3), 2), b"x");
    let message = Message::DestinationUnreachable(Unreachable::BeyondScope);
    Rig::new().refuses(&sent, message, Reason::Ipv6Address);
}

/// RFC 4291 sections 2.5.2, 2.5.3, 2.5.6 and 2.7.
#[test]
fn addresses_that_must_not_stand_there_are_dropped_silently() {
    let here = global(2);
    let any = Ipv6Addr::UNSPECIFIED;
    let pairs = [
        (Ipv6Addr::LOCALHOST, here),
        (global(1), Ipv6Addr::LOCALHOST),
        (global(1), any),
        (ALL_NODES, here),
        (any, global(3)),
        (global(1), link_local(3)),
        (link_local(1), link_local(3)),
        // Scopes 0 and 1 are never on a link.
        (global(1), Ipv6Addr::new(0xff01, 0, 0, 0, 0, 0, 0, 1)),
        (global(1), Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 1)),
    ];
    for (src, dst) in pairs {
        let sent = udp_packet((src, 1), (dst, 2), b"x");
        Rig::new().drops(&sent, Reason::Ipv6Address);
    }
}

#[test]
fn what_came_to_many_nodes_by_the_link_is_not_forwarded() {
    let sent = udp_packet((global(1), 1), (global(3), 2), b"x");
    Rig::new().drops_to(LinkAddr::BROADCAST, &sent, Reason::Ipv6Address);
}

#[test]
fn a_node_that_does_not_forward_drops_what_is_for_others() {
    let mut rig = Rig::new();
    rig.set(Opt::Forwarding, 0);
    rig.drops(
        &udp_packet((global(1), 1), (global(3), 2), b"x"),
        Reason::NotForwarding,
    );
}

#[test]
fn packets_whose_header_contradicts_their_bytes_are_dropped() {
    let good = udp_packet((global(1), 1), (global(2), 2), b"payload");
    let mut rig = Rig::new();
    for version in [0, 4, 5, 7, 15] {
        let mut bad = good.clone();
        bad[0] = version << 4;
        rig.drops(&bad, Reason::Ipv6Malformed);
    }
    // RFC 8200 section 3: the payload length is that of the rest of the packet.
    let mut longer = good.clone();
    longer[5] += 1;
    rig.drops(&longer, Reason::Ipv6Malformed);
    rig.drops(&good[..39], Reason::Ipv6Malformed);
}

#[test]
fn padding_behind_a_packet_is_cut_off_before_it_is_forwarded() {
    let mut rig = Rig::new();
    let mut sent = udp_packet((global(1), 1), (global(3), 2), b"x");
    let len = sent.len();
    sent.extend([0xee; 9]);
    let (_, onwards) = rig.put(&sent);
    sent.truncate(len);
    sent[7] -= 1;
    assert_eq!(onwards, Some(sent));
}

/// RFC 4291 section 2.8: what every node, and what every router has to listen to.
#[test]
fn a_node_listens_to_its_multicast_addresses_and_to_no_other() {
    let solicited = |addr: &str| addr.parse::<Ipv6Addr>().unwrap();
    let groups = [
        (ALL_NODES, true, true),
        (ALL_ROUTERS, true, false),
        ("ff05::2".parse().unwrap(), true, false),
        // Section 2.7.1: ff02::1:ffXX:XXXX with the last 24 bits of fd00::2 and fe80::2.
        (solicited("ff02::1:ff00:2"), true, true),
        (solicited("ff02::1:ff00:3"), false, false),
        (solicited("ff02::fb"), false, false),
        (solicited("ff05::1"), false, false),
    ];
    for (forwarding, number) in [(1, 0), (0, 1)] {
        let mut rig = Rig::new();
        rig.set(Opt::Forwarding, forwarding);
        let socket = rig.net.bind(2, 5000);
        for (group, as_router, as_host) in groups {
            let taken = [as_router, as_host][number];
            let sent = udp_packet((link_local(1), 1), (group, 5000), b"x");
            assert_eq!(rig.put_to(LinkAddr::BROADCAST, &sent), (None, None), "{group}");
            assert_eq!(rig.net.receive(2, socket).is_some(), taken, "{group}");
        }
    }
}

#[test]
fn a_multicast_packet_goes_out_as_a_broadcast_and_reaches_all_neighbours() {
    let mut net = Net::chain(3);
    let a = net.bind(1, 5000);
    let others = [net.bind(2, 5001), net.bind(3, 5001)];
    net.send(1, a, (ALL_NODES, 5001), b"to all");
    net.settle();
    // RFC 4944 section 9: to the short address 0xffff.
    let (frame, _) = crate::wire::ieee802154::Header::parse(&net.air[0].1).unwrap();
    assert_eq!(frame.dst, LinkAddr::BROADCAST);
    for (k, socket) in [(2, others[0]), (3, others[1])] {
        assert_eq!(
            net.receive(k, socket).as_deref(),
            Some(&b"to all"[..]),
            "node {k}"
        );
    }
    assert_eq!(net.air.len(), 1, "nobody forwards it");
    net.assert_idle();
}

#[test]
fn a_packet_to_an_own_address_never_sees_the_link() {
    let mut net = Net::chain(1);
    let (a, b) = (net.bind(1, 5000), net.bind(1, 5001));
    // RFC 4291 section 2.5.3: the loopback address is among them.
    for dst in [global(1), link_local(1), Ipv6Addr::LOCALHOST] {
        net.send(1, a, (dst, 5001), b"to myself");
        net.settle();
        let now = net.now;
        let node = net.node(1);
        let mut out = [0; 16];
        let received = node
            .stack
            .udp_receive(now, b, &mut out, &mut node.log)
            .expect("delivered");
        assert_eq!(
            (received.src, received.dst, &out[..received.len]),
            (dst, dst, &b"to myself"[..])
        );
    }
    assert_eq!(net.air.len(), 0);
    net.assert_idle();
}

#[test]
fn an_own_port_that_nobody_listens_on_answers_within_the_node() {
    let mut net = Net::chain(1);
    let a = net.bind(1, 5000);
    let errors = net.listen(1, Msg::up(Ty::Icmpv6, 1), false);
    net.send(1, a, (global(1), 9), b"x");
    net.settle();
    let (_, error) = net.take(1, errors).expect("an error");
    assert_eq!(error[..2], [1, 4], "port unreachable");
    assert_eq!(net.air.len(), 0);
    net.assert_idle();
}

#[test]
fn sending_without_a_way_or_a_source_address_is_on_record() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    let route = Route::via(global(77), 128, IFACE, global(78));
    net.node(1).stack.add_route(route).unwrap();
    for dst in [global(66), global(77)] {
        net.send(1, a, (dst, 1), b"x");
    }
    let stack = &mut net.node(1).stack;
    assert!(stack.remove_address(global(1)) && stack.remove_address(link_local(1)));
    net.send(1, a, (global(2), 1), b"x");
    let drops = [Reason::NoRoute, Reason::NoNeighbor, Reason::Ipv6Address];
    assert_eq!(net.node(1).log.drops(), drops);
    net.assert_idle();
}

/// RFC 6724 section 5: rule 1 same address, rule 2 appropriate scope, rule 8 longest matching prefix.
#[test]
fn the_source_address_fits_the_destination() {
    let other: Ipv6Addr = "fd00:0:0:1::1".parse().unwrap();
    let far: Ipv6Addr = "fd00:0:0:1::99".parse().unwrap();
    let cases = [
        (link_local(2), link_local(1)),
        (ALL_NODES, link_local(1)),
        (global(2), global(1)),
        (far, other),
        ("2001:db8::1".parse().unwrap(), global(1)),
        ("ff05::99".parse().unwrap(), global(1)),
    ];
    for (dst, src) in cases {
        let mut net = Net::chain(2);
        let a = net.bind(1, 5000);
        let stack = &mut net.node(1).stack;
        stack.add_address(IFACE, other).unwrap();
        stack.add_route(Route::default_via(IFACE, link_local(2))).unwrap();
        let down = net.listen(1, Msg::down(Ty::Ipv6, 0), true);
        net.send(1, a, (dst, 5001), b"x");
        let (_, bytes) = net.take(1, down).expect("it goes down");
        let (chosen, _) = addresses(&bytes);
        // Of two that are as good (rule 8 says no more), either will do.
        let common = |addr: Ipv6Addr| (addr.to_bits() ^ dst.to_bits()).leading_zeros();
        let as_good =
            !src.is_unicast_link_local() && !chosen.is_unicast_link_local() && common(chosen) == common(src);
        assert!(chosen == src || as_good, "{dst}: {chosen} instead of {src}");
        net.settle();
    }
}

#[test]
fn errors_come_from_the_address_that_was_asked_for_or_one_of_the_interface() {
    // RFC 4443 section 2.2 (a): to one of our addresses: from that one.
    let mut rig = Rig::new();
    let (error, _) = rig.put(&udp_packet((global(1), 1), (global(2), 9), b"x"));
    assert_eq!(addresses(&error.unwrap()), (global(2), global(1)));
    let (error, _) = rig.put(&udp_packet((link_local(1), 1), (link_local(2), 9), b"x"));
    assert_eq!(addresses(&error.unwrap()), (link_local(2), link_local(1)));
    // Section 2.2 (b): to another: from one of ours.
    let (error, _) = rig.put(&udp_packet((global(1), 1), (global(77), 9), b"x"));
    assert_eq!(addresses(&error.unwrap()), (global(2), global(1)));
}

#[test]
fn a_payload_too_long_for_the_network_is_refused_at_once() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    let now = net.now;
    let node = net.node(1);
    let long = [0; 1233];
    let sent = node
        .stack
        .udp_send_to(now, a, (global(2), 1), &long, &mut node.log);
    assert_eq!(sent, Err(SendError::TooLong));
    let own = NextHeader(99);
    let sent = node
        .stack
        .send_transport(now, global(2), own, &[0; 1241], &mut node.log);
    assert_eq!(sent, Err(SendError::TooLong));
    assert_eq!(node.stack.buffer().live(), 0);
}

#[test]
fn a_flow_label_and_a_traffic_class_cross_the_node_unchanged() {
    let mut rig = Rig::new();
    let head = Header {
        traffic_class: crate::wire::ipv6::TrafficClass(0xa7),
        flow_label: 0xc_5a5a,
        ..header(global(1), global(3), NextHeader::UDP)
    };
    let sent = packet(head, &udp((global(1), 1), (global(3), 2), b"x"));
    let (_, onwards) = rig.put(&sent);
    let onwards = onwards.expect("forwarded");
    assert_eq!(onwards[..7], sent[..7]);
}

/// RFC 4443 section 3.4, code 1: the pointer is where the header is named.
#[test]
fn a_next_header_that_nobody_takes_is_told_to_the_source() {
    let sent = packet(header(global(1), global(2), NextHeader(200)), b"whatever");
    let message = Message::ParameterProblem {
        problem: Problem::NextHeader,
        pointer: 6,
    };
    Rig::new().refuses(&sent, message, Reason::NextHeaderUnknown);
}

/// RFC 8200 section 4.7.
#[test]
fn a_packet_with_no_next_header_ends_silently() {
    let sent = packet(header(global(1), global(2), NextHeader::NONE), b"ignored");
    Rig::new().drops(&sent, Reason::NextHeaderUnknown);
}
