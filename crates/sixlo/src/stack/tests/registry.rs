//! Who receives what, and in which order: registry, several receivers, priorities (claim G6).

use std::vec::Vec;

use super::net::{Log, Net, global, link_local};
use super::packets::{header, packet, udp_packet};
use crate::netapi::{Msg, Ty};
use crate::sock::OpenError;
use crate::time::Instant;
use crate::trace::{Event, Module, Reason};
use crate::wire::ipv6::NextHeader;

/// All IPv6 packets on their way up, whatever interface they came over.
const SNIFFED: Msg = Msg::up(Ty::Ipv6, 0);
/// A protocol of the application's own.
const OWN: NextHeader = NextHeader(99);

fn hops(log: &Log) -> Vec<(Module, Module, bool)> {
    let hop = |(_, event): &(Instant, Event)| match *event {
        Event::Hop { from, to, queued, .. } => Some((from, to, queued)),
        _ => None,
    };
    log.0.iter().filter_map(hop).collect()
}

#[test]
fn g6_two_sockets_on_one_port_each_get_the_datagram() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    let (b, c, other) = (net.bind(2, 5001), net.bind(2, 5001), net.bind(2, 5002));
    net.send(1, a, (global(2), 5001), b"for both");
    net.settle();
    assert_eq!(net.receive(2, b).as_deref(), Some(&b"for both"[..]));
    assert_eq!(net.receive(2, c).as_deref(), Some(&b"for both"[..]));
    assert_eq!(net.receive(2, other), None, "another port");
    net.assert_idle();
}

#[test]
fn g6_a_packet_shared_by_receivers_lies_in_the_buffer_once() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    for _ in 0..3 {
        net.bind(2, 5001);
    }
    net.send(1, a, (global(2), 5001), &[7; 40]);
    net.settle();
    let buf = net.node(2).stack.buffer();
    assert_eq!(buf.live(), 3, "a slot a receiver");
    // IPv6 and UDP header, payload, chunk header.
    assert_eq!(buf.used(), 40 + 8 + 40 + 4, "and the bytes once");
    buf.check();
}

#[test]
fn g6_an_application_receives_and_sends_a_protocol_of_its_own() {
    let mut net = Net::chain(2);
    let own = Msg::up(Ty::Transport, u16::from(OWN.0));
    let mailbox = net.listen(2, own, false);
    let now = net.now;
    let node = net.node(1);
    node.stack
        .send_transport(now, global(2), OWN, b"mine", &mut node.log)
        .expect("room");
    net.settle();
    assert_eq!(net.take(2, mailbox), Some((own, b"mine".to_vec())));
    net.assert_idle();
}

#[test]
fn g6_receivers_are_entered_and_removed_while_packets_flow() {
    let mut net = Net::chain(2);
    let raw = packet(header(link_local(2), link_local(1), OWN), b"raw");
    let own = Msg::up(Ty::Transport, u16::from(OWN.0));
    net.inject(1, 2, &raw);
    net.settle();
    assert_eq!(net.node(1).log.drops(), [Reason::NextHeaderUnknown]);

    let mailbox = net.listen(1, own, false);
    net.inject(1, 2, &raw);
    net.settle();
    assert_eq!(net.take(1, mailbox), Some((own, b"raw".to_vec())));

    let node = net.node(1);
    assert!(node.stack.unregister(mailbox, own));
    assert!(!node.stack.unregister(mailbox, own), "it stands there no more");
    net.inject(1, 2, &raw);
    net.settle();
    assert_eq!(net.node(1).log.drops(), [Reason::NextHeaderUnknown; 2]);
    assert_eq!(net.take(1, mailbox), None);
    net.assert_idle();
}

#[test]
fn g6_closing_a_mailbox_removes_it_from_all_messages_and_ends_what_waits() {
    let mut net = Net::chain(2);
    let mailbox = net.listen(1, SNIFFED, true);
    let own = Msg::up(Ty::Transport, u16::from(OWN.0));
    net.node(1).stack.register(mailbox, own, false).unwrap();
    let raw = packet(header(link_local(2), link_local(1), OWN), b"raw");
    net.inject(1, 2, &raw);
    net.settle();
    let now = net.now;
    let node = net.node(1);
    assert_eq!(node.stack.waiting(mailbox), 2);
    assert!(node.stack.close(now, mailbox, &mut node.log));
    assert_eq!(node.log.drops(), [Reason::TornDown; 2]);
    assert!(!node.stack.close(now, mailbox, &mut node.log));
    net.inject(1, 2, &raw);
    net.settle();
    assert_eq!(net.node(1).log.drops()[2..], [Reason::NextHeaderUnknown]);
    net.assert_idle();
}

#[test]
fn g6_a_sniffer_sees_whole_packets_and_the_socket_still_gets_its_payload() {
    let mut net = Net::chain(2);
    let sniffer = net.listen(2, SNIFFED, true);
    let socket = net.bind(2, 5001);
    let whole = udp_packet((link_local(1), 5000), (link_local(2), 5001), b"seen twice");
    net.inject(2, 1, &whole);
    net.settle();
    assert_eq!(net.take(2, sniffer), Some((SNIFFED, whole)));
    assert_eq!(net.receive(2, socket).as_deref(), Some(&b"seen twice"[..]));
    net.assert_idle();
}

#[test]
fn g6_a_listener_on_the_way_down_sees_what_the_node_sends() {
    let mut net = Net::chain(2);
    let listener = net.listen(1, Msg::down(Ty::Udp, 0), true);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    net.send(1, a, (global(2), 5001), b"outwards");
    net.settle();
    let (msg, bytes) = net.take(1, listener).expect("a copy");
    assert_eq!(msg, Msg::down(Ty::Udp, 5001));
    assert_eq!(bytes[48..], *b"outwards");
    assert_eq!(net.receive(2, b).as_deref(), Some(&b"outwards"[..]));
    net.assert_idle();
}

/// The forwarder writes the hop limit into bytes that it shares with the sniffer.
#[test]
fn g6_copy_on_write_leaves_a_sniffer_the_packet_as_it_came_in() {
    let mut net = Net::chain(3);
    let sniffer = net.listen(2, SNIFFED, true);
    let receiver = net.listen(3, SNIFFED, true);
    let socket = net.bind(3, 5001);
    let whole = udp_packet((global(1), 5000), (global(3), 5001), &[0x55; 300]);
    net.inject(2, 1, &whole);
    net.settle();
    assert_eq!(
        net.take(2, sniffer),
        Some((SNIFFED, whole.clone())),
        "the hop limit of before"
    );
    let (_, forwarded) = net.take(3, receiver).expect("forwarded");
    let mut expected = whole;
    expected[7] = 63;
    assert_eq!(forwarded, expected);
    assert_eq!(net.receive(3, socket).as_deref(), Some(&[0x55; 300][..]));
    net.assert_idle();
}

#[test]
fn g6_a_copy_for_which_no_slot_is_left_is_on_record_and_the_others_are_served() {
    let mut net = Net::chain(2);
    let sockets = [5001; 4].map(|port| net.bind(2, port));
    let hoard = net.node(2).stack.open_mailbox(100).unwrap();
    let own = Msg::up(Ty::Transport, u16::from(OWN.0));
    net.node(2).stack.register(hoard, own, false).unwrap();
    // 64 slots: all but 3 are taken, so that a packet and two more of four find one.
    let small = packet(header(link_local(1), link_local(2), OWN), b"");
    for _ in 0..61 {
        net.inject(2, 1, &small);
    }
    assert_eq!(net.node(2).stack.waiting(hoard), 61);
    net.inject(
        2,
        1,
        &udp_packet((link_local(1), 5000), (link_local(2), 5001), b"copies"),
    );
    net.settle();
    let node = net.node(2);
    let got = sockets.map(|socket| node.stack.waiting(socket));
    assert_eq!(got, [1, 1, 0, 1], "the last receiver gets the original");
    assert_eq!(node.stack.drops(Reason::NoSlot), 1);
    assert_eq!(node.log.drops(), [Reason::NoSlot]);
    // Every start or share has its end, or is still there.
    let begun = |(_, event): &&(Instant, Event)| matches!(event, Event::Start { .. } | Event::Share { .. });
    let ended = |(_, event): &&(Instant, Event)| matches!(event, Event::End { .. });
    let (begun, ended) = (
        node.log.0.iter().filter(begun).count(),
        node.log.0.iter().filter(ended).count(),
    );
    assert_eq!(begun, ended + node.stack.buffer().live());
}

#[test]
fn a_packet_for_one_receiver_is_followed_and_for_several_goes_through_the_mailboxes() {
    let mut net = Net::chain(2);
    let socket = net.bind(2, 5001);
    let whole = udp_packet((link_local(1), 5000), (link_local(2), 5001), b"x");
    net.inject(2, 1, &whole);
    use Module::{App, Ipv6, Lowpan, Udp};
    let followed = [(Lowpan, Ipv6, false), (Ipv6, Udp, false), (Udp, App, false)];
    assert_eq!(hops(&net.node(2).log), followed);
    assert_eq!(net.node(2).stack.waiting(socket), 1, "delivered within the call");

    net.node(2).log.0.clear();
    net.listen(2, SNIFFED, true);
    net.inject(2, 1, &whole);
    let handed_out = [(Lowpan, Ipv6, true), (Lowpan, App, true)];
    assert_eq!(hops(&net.node(2).log), handed_out);
    assert_eq!(net.node(2).stack.waiting(socket), 1, "not yet");
    net.settle();
    assert_eq!(net.node(2).stack.waiting(socket), 2);
}

/// DESIGN: the dispatcher runs on with a packet at once, unless something of higher priority waits.
#[test]
fn a_packet_that_waits_for_a_lower_layer_goes_first() {
    let mut net = Net::chain(2);
    net.listen(1, SNIFFED, true);
    let (a, port) = (net.bind(1, 5000), 5001);
    net.inject(
        1,
        2,
        &udp_packet((link_local(2), 5001), (link_local(1), 5000), b"in"),
    );
    // The packet waits for IPv6 now, because the sniffer got a copy. What the application sends has to wait for UDP.
    net.node(1).log.0.clear();
    net.send(1, a, (link_local(2), port), b"out");
    use Module::{App, Ipv6, Netif, Udp};
    assert_eq!(hops(&net.node(1).log), [(App, Udp, true)]);
    assert!(!net.node(1).stack.wants_transmit(super::net::IFACE));
    let now = net.now;
    let node = net.node(1);
    assert!(node.stack.step(now, &mut node.log));
    assert_eq!(hops(&node.log)[1..], [(Ipv6, Udp, true)], "the lower layer first");
    assert!(node.stack.step(now, &mut node.log));
    let outwards = [(Udp, Ipv6, false), (Ipv6, Netif, false)];
    assert_eq!(hops(&node.log)[2..], outwards, "then who came first to UDP");
    assert!(node.stack.step(now, &mut node.log));
    assert_eq!(hops(&node.log)[4..], [(Udp, App, false)]);
    assert!(!node.stack.step(now, &mut node.log), "nothing is left to do");
}

#[test]
fn poll_takes_a_bounded_number_of_steps_and_then_asks_to_be_called_at_once() {
    let mut net = Net::chain(2);
    let sniffer = net.listen(1, SNIFFED, true);
    let socket = net.node(1).stack.udp_bind(5000, 100).unwrap();
    for number in 0..11 {
        let whole = udp_packet((link_local(2), 5001), (link_local(1), 5000), &[number]);
        net.inject(1, 2, &whole);
    }
    let now = net.now;
    let node = net.node(1);
    assert_eq!(node.stack.waiting(sniffer), 11);
    // Eight steps a call. First IPv6 takes all 11, which then wait for UDP, of the higher layer.
    assert_eq!(node.stack.poll(now, &mut node.log), Some(now));
    assert_eq!(node.stack.waiting(socket), 0);
    assert_eq!(node.stack.poll(now, &mut node.log), Some(now));
    assert_eq!(node.stack.waiting(socket), 16 - 11);
    assert_eq!(node.stack.poll(now, &mut node.log), None);
    for number in 0..11 {
        assert_eq!(
            net.receive(1, socket),
            Some(std::vec![number]),
            "none overtakes another"
        );
    }
}

#[test]
fn mailboxes_and_registry_lines_that_run_out_are_said_so() {
    let mut net = Net::chain(1);
    let stack = &mut net.node(1).stack;
    let first = stack.udp_bind(1000, 1).unwrap();
    let mut taken = |context| stack.register(first, Msg::up(Ty::Icmpv6, context), false).is_ok();
    assert!((0..100).take_while(|context| taken(100 + *context)).count() < 100);
    assert_eq!(
        stack.register(first, Msg::up(Ty::Icmpv6, 9), false),
        Err(OpenError::RegistryFull)
    );
    assert_eq!(stack.udp_bind(1001, 1), Err(OpenError::RegistryFull));
    for _ in 0..7 {
        stack
            .open_mailbox(1)
            .expect("a bind that failed keeps no mailbox");
    }
    assert_eq!(stack.open_mailbox(1), Err(OpenError::NoMailbox));
    assert_eq!(stack.udp_bind(0, 1), Err(OpenError::PortZero));
    let closed = crate::sock::MailboxId(99);
    assert_eq!(
        stack.register(closed, Msg::up(Ty::Icmpv6, 9), false),
        Err(OpenError::NoMailbox)
    );
}
