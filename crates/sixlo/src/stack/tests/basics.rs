use std::vec::Vec;

use super::net::{IFACE, Net, global, link_local};
use crate::netdev::{RxInfo, TxOutcome, TxReport};
use crate::time::Duration;
use crate::trace::{End, Event, Module, Reason};

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + 3) as u8).collect()
}

#[test]
fn a_datagram_crosses_one_hop_whole_at_every_length() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    for len in (0..=1232).step_by(7).chain([1231, 1232]) {
        let payload = pattern(len);
        net.send(1, a, (global(2), 5001), &payload);
        net.settle();
        assert_eq!(
            net.receive(2, b).as_deref(),
            Some(&payload[..]),
            "payload of {len} bytes"
        );
        net.assert_idle();
    }
}

#[test]
fn a_fragmented_datagram_crosses_four_hops_and_comes_back() {
    let mut net = Net::chain(5);
    let (a, b) = (net.bind(1, 5000), net.bind(5, 5001));
    let payload = pattern(1232);
    net.send(1, a, (global(5), 5001), &payload);
    net.settle();
    assert_eq!(net.receive(5, b).as_deref(), Some(&payload[..]));
    assert_eq!(net.frames_of(2), net.frames_of(3));
    net.send(5, b, (global(1), 5000), &payload);
    net.settle();
    assert_eq!(net.receive(1, a).as_deref(), Some(&payload[..]));
    net.assert_idle();
}

#[test]
fn link_local_addresses_need_neither_route_nor_neighbour() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 0xf0b1), net.bind(2, 0xf0b2));
    net.send(1, a, (link_local(2), 0xf0b2), b"hello");
    net.settle();
    assert_eq!(net.receive(2, b).as_deref(), Some(&b"hello"[..]));
    // MAC header 21, IPHC 2, UDP NHC 1 + 1 + 2, payload 5: both addresses and the ports' upper bits are elided.
    assert_eq!(net.air[0].1.len(), 21 + 2 + 4 + 5);
}

/// G5: between two fragments, frames that came in go first.
#[test]
fn g5_a_received_frame_is_delivered_before_the_next_fragment_is_cut() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    net.send(2, b, (global(1), 5000), b"in between");
    let incoming = net.transmit(2).expect("a frame");
    net.node(1).log.0.clear();
    // The frame that node 2 sent has arrived by the fixture; take it out again and start over with it in hand.
    assert_eq!(net.receive(1, a).as_deref(), Some(&b"in between"[..]));
    net.send(1, a, (global(2), 5001), &pattern(500));
    let now = net.now;
    let node = net.node(1);
    let mut frame = [0; 127];
    let first = node
        .stack
        .transmit(now, IFACE, &mut frame, &mut node.log)
        .expect("the first fragment");
    assert!(first.len > 100);
    let mut fresh = incoming.clone();
    fresh[2] = fresh[2].wrapping_add(1);
    node.stack
        .frame(now, IFACE, &fresh, RxInfo::default(), &mut node.log);
    assert_eq!(
        node.stack.waiting(a),
        1,
        "delivered while the datagram is being fragmented"
    );
    let report = TxReport {
        outcome: TxOutcome::Acked,
        attempts: 1,
        busy: 0,
    };
    node.stack.transmitted(now, IFACE, report, &mut node.log);
    let cut_before_delivery = node
        .log
        .0
        .iter()
        .filter(|(_, event)| matches!(event, Event::FragmentOut { .. }))
        .count();
    assert_eq!(
        cut_before_delivery, 1,
        "no second fragment exists until the device asks for it"
    );
    assert_eq!(
        node.stack.buffer().live(),
        2,
        "one datagram being sent, one received, and no fragment"
    );
}

/// G8: no periodic wake-up.
#[test]
fn g8_an_idle_stack_has_no_deadline() {
    let mut net = Net::chain(2);
    let now = net.now;
    let node = net.node(1);
    assert_eq!(node.stack.poll(now, &mut node.log), None);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    net.send(1, a, (global(2), 5001), &pattern(700));
    net.settle();
    assert!(net.receive(2, b).is_some());
    for k in [1, 2] {
        let now = net.now;
        let node = net.node(k);
        assert_eq!(node.stack.poll(now, &mut node.log), None, "node {k}");
    }
}

#[test]
fn a_lost_fragment_ends_the_datagram_at_the_sender_and_later_at_the_receiver() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    net.arrives = std::boxed::Box::new(|number| number != 2);
    net.send(1, a, (global(2), 5001), &pattern(1000));
    net.settle();
    assert_eq!(net.frames_of(1), 3, "what follows a lost fragment is not sent");
    assert_eq!(net.node(1).log.drops(), [Reason::LinkNoAck]);
    assert_eq!(net.receive(2, b), None);
    assert_eq!(net.node(2).stack.reassemblies(), 1);
    net.pass(Duration::from_millis(59_999));
    assert_eq!(net.node(2).stack.reassemblies(), 1, "RFC 4944 section 5.3: 60 s");
    net.pass(Duration::from_millis(2));
    assert_eq!(net.node(2).log.drops(), [Reason::ReassemblyTimeout]);
    net.assert_idle();
}

#[test]
fn a_reboot_ends_every_packet_and_gives_clean_memory() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    for _ in 0..3 {
        net.send(1, a, (global(2), 5001), &pattern(300));
    }
    let now = net.now;
    let node = net.nodes.remove(0);
    let mut log = node.log;
    let memory = node.stack.into_memory(now, &mut log);
    assert_eq!(log.drops(), [Reason::TornDown; 3]);
    let stack = crate::stack::Stack::new(memory, &crate::stack::Config::new(9)).expect("the same memory");
    assert_eq!((stack.buffer().live(), stack.buffer().used()), (0, 0));
}

#[test]
fn every_event_of_a_datagram_tells_its_module() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    net.send(1, a, (global(2), 5001), b"x");
    net.settle();
    assert!(net.receive(2, b).is_some());
    let hops = |log: &super::net::Log| -> Vec<(Module, Module)> {
        let hop = |(_, event): &(_, Event)| match *event {
            Event::Hop { from, to, .. } => Some((from, to)),
            _ => None,
        };
        log.0.iter().filter_map(hop).collect()
    };
    use Module::{App, Ipv6, Lowpan, Netif, Udp};
    assert_eq!(hops(&net.nodes[0].log), [(App, Udp), (Udp, Ipv6), (Ipv6, Netif)]);
    assert_eq!(hops(&net.nodes[1].log), [(Lowpan, Ipv6), (Ipv6, Udp), (Udp, App)]);
    let last = net.nodes[1].log.0.last().map(|(_, event)| *event);
    assert!(matches!(
        last,
        Some(Event::End {
            end: End::Delivered,
            ..
        })
    ));
}
