//! Interfaces that carry packets as they are, and nodes between such a link and IEEE 802.15.4.

use super::*;
use crate::lowpan::{Gap, Peer, Strategy, Vrb};
use crate::stack::tests::packets::{header, icmpv6_packet};
use crate::wire::icmpv6::Message;
use crate::wire::lowpan::frag::Fragment;

/// Node 1 with an interface of packets as [`IFACE`], of which node 2 is the other end.
fn rig() -> Rig {
    Rig::new(IfaceConfig::packets(eui(1)))
}

/// The packet that the device is given, from a buffer of `room` bytes.
fn packet_out(rig: &mut Rig, room: usize) -> Option<Vec<u8>> {
    let mut out = std::vec![0; room];
    let info = rig.stack.transmit(rig.now, IFACE, &mut out, &mut rig.log)?;
    assert!(!info.ack_request && !info.again);
    assert!(!rig.stack.wants_transmit(IFACE), "the device has it");
    rig.report(TxOutcome::Sent);
    out.truncate(info.len);
    Some(out)
}

#[test]
fn a_packet_comes_and_goes_as_it_is() {
    let mut rig = rig();
    let echo = |message| icmpv6_packet(link_local(2), link_local(1), message, &[7; 1200]);
    let (identifier, sequence) = (3, 4);
    rig.frame_in(IFACE, &echo(Message::EchoRequest { identifier, sequence }));
    let reply = packet_out(&mut rig, 1280).expect("an answer");
    let message = Message::EchoReply { identifier, sequence };
    assert_eq!(
        reply,
        icmpv6_packet(link_local(1), link_local(2), message, &[7; 1200])
    );
    assert_eq!((rig.counters().frames_in, rig.counters().frames_out), (1, 1));
    rig.assert_idle();
}

#[test]
fn a_neighbour_without_link_address_is_reached_by_its_link_local_one() {
    let mut rig = rig();
    rig.stack.add_address(IFACE, global(1)).unwrap();
    rig.stack
        .add_route(Route::default_via(IFACE, link_local(2)))
        .unwrap();
    rig.send(global(9), 1000);
    rig.send(ALL_NODES, 10);
    let sent = packet_out(&mut rig, 1280).unwrap();
    assert_eq!(
        sent,
        udp_packet((global(1), 5000), (global(9), 5001), &[0x5a; 1000])
    );
    let to_all = packet_out(&mut rig, 1280).unwrap();
    assert_eq!(to_all, {
        let mut packet = udp_packet((link_local(1), 5000), (ALL_NODES, 5001), &[0x5a; 10]);
        packet[7] = to_all[7];
        packet
    });
    rig.assert_idle();
}

#[test]
fn the_queue_gives_one_packet_for_each_report() {
    let mut rig = rig();
    for len in [10, 20, 30] {
        rig.send(link_local(2), len);
    }
    assert_eq!(rig.stack.queue_len(IFACE), 2);
    for len in [58, 68, 78] {
        assert!(rig.stack.wants_transmit(IFACE));
        assert_eq!(packet_out(&mut rig, 1280).map(|packet| packet.len()), Some(len));
    }
    assert!(!rig.stack.wants_transmit(IFACE));
    assert_eq!(packet_out(&mut rig, 1280), None);
    let sent = [(TxOutcome::Sent, 1, 0); 3];
    assert_eq!(rig.done(), sent);
    rig.assert_idle();
}

#[test]
fn a_packet_for_which_the_device_has_no_room_ends() {
    let mut rig = rig();
    rig.send(link_local(2), 500);
    rig.send(link_local(2), 20);
    assert_eq!(
        packet_out(&mut rig, 300).map(|packet| packet.len()),
        Some(68),
        "the next one"
    );
    assert_eq!(rig.stack.drops(Reason::LinkRefused), 1);
    rig.assert_idle();
}

#[test]
fn what_is_no_packet_or_too_long_is_dropped() {
    let mut rig = rig();
    let good = udp_packet((link_local(2), 1), (link_local(1), 5000), &[1; 1232]);
    assert_eq!(good.len(), 1280);
    rig.frame_in(IFACE, &good);
    assert_eq!(rig.stack.waiting(rig.socket), 1);
    let longer = udp_packet((link_local(2), 1), (link_local(1), 5000), &[1; 1233]);
    rig.frame_in(IFACE, &longer);
    assert_eq!(rig.stack.drops(Reason::FrameMalformed), 1);
    for len in 0..48 {
        rig.frame_in(IFACE, &good[..len]);
    }
    assert_eq!(rig.stack.drops(Reason::Ipv6Malformed), 48);
    // IPv4, and frames of IEEE 802.15.4.
    rig.frame_in(IFACE, &[0x45; 60]);
    rig.frame_in(IFACE, &frame(PEER, ME, 1, &[&[IPV6], &good[..60]].concat()));
    assert_eq!(rig.stack.drops(Reason::Ipv6Malformed), 50);
    assert_eq!(rig.stack.waiting(rig.socket), 1);
}

#[test]
fn a_full_packet_buffer_is_told() {
    let mut rig = rig();
    let packet = udp_packet((link_local(2), 1), (link_local(1), 5000), &[1; 1200]);
    for _ in 0..5 {
        rig.frame_in(IFACE, &packet);
    }
    assert_eq!(rig.stack.waiting(rig.socket), 3);
    assert_eq!(rig.stack.drops(Reason::NoBuffer), 2);
}

/// A router between packets ([`IFACE`], from node 2) and IEEE 802.15.4 ([`OTHER`], to node 3), which forwards fragments.
fn router() -> Rig {
    let memory = Memory {
        vrbs: lent(4, || Vrb::EMPTY),
        peers: lent(4, || Peer::EMPTY),
        ..memory()
    };
    let mut stack = Stack::new(memory, &Config::new(1)).unwrap();
    stack.bring_up(IFACE, IfaceConfig::packets(eui(1))).unwrap();
    let mut radio = IfaceConfig::new(eui(9));
    radio.caps.csma = true;
    radio.strategy = Strategy::Forward;
    radio.fragment_gap = Gap::Fixed(Duration::ZERO);
    stack.bring_up(OTHER, radio).unwrap();
    stack
        .add_route(Route::via(global(2), 128, IFACE, link_local(2)))
        .unwrap();
    stack
        .add_route(Route::via(global(3), 128, OTHER, link_local(3)))
        .unwrap();
    let socket = stack.udp_bind(5000, 4).unwrap();
    Rig {
        stack,
        log: Log::default(),
        now: Instant::from_micros(1_000),
        out: [0; FRAME_LEN_MAX],
        socket,
        software_fcs: false,
    }
}

#[test]
fn a_router_takes_packets_to_the_radio_in_fragments() {
    let mut rig = router();
    rig.frame_in(IFACE, &udp_packet((global(2), 1), (global(3), 2), &[9; 600]));
    let mut sizes = Vec::new();
    while rig.stack.wants_transmit(OTHER) {
        let info = rig
            .stack
            .transmit(rig.now, OTHER, &mut rig.out, &mut rig.log)
            .unwrap();
        let (_, payload) = Header::parse(&rig.out[..info.len]).unwrap();
        sizes.push(Fragment::parse(payload).unwrap().0.datagram_size);
        let (outcome, attempts, busy) = (TxOutcome::Acked, 1, 0);
        let report = TxReport {
            outcome,
            attempts,
            busy,
        };
        rig.stack.transmitted(rig.now, OTHER, report, &mut rig.log);
        rig.pass(10_000);
    }
    assert!(sizes.len() > 6 && sizes.iter().all(|size| *size == 648));
    rig.pass(100_000);
    assert_eq!(rig.stack.buffer().live(), 0);
}

#[test]
fn fragments_for_a_link_of_packets_are_put_together() {
    let mut rig = router();
    let datagram = udp_packet((global(3), 1), (global(2), 2), &[9; 152]);
    let hop = |limit: u8| {
        let mut packet = datagram.clone();
        packet[7] = limit;
        packet
    };
    let (from, to) = (LinkAddr::Extended(eui(3)), LinkAddr::Extended(eui(9)));
    for (number, piece) in hop(64).chunks(80).enumerate() {
        let fragment = Fragment {
            datagram_size: datagram.len() as u16,
            datagram_tag: 5,
            datagram_offset: 10 * number as u8,
        };
        let mut payload = [0; 100];
        let len = fragment.emit(&mut payload).unwrap();
        let dispatch: &[u8] = if number == 0 { &[IPV6] } else { &[] };
        let payload = [&payload[..len], dispatch, piece].concat();
        rig.frame_in(OTHER, &frame(from, to, number as u8, &payload));
    }
    assert_eq!(packet_out(&mut rig, 1280), Some(hop(63)));
    rig.pass(100_000);
    assert_eq!(rig.stack.buffer().live(), 0);
}

/// RFC 4291 section 2.7: a packet to many is for none of them to forward.
#[test]
fn multicast_packets_are_taken_and_not_forwarded() {
    let mut rig = router();
    rig.frame_in(IFACE, &udp_packet((link_local(2), 1), (ALL_NODES, 5000), b"x"));
    assert_eq!(rig.stack.waiting(rig.socket), 1);
    let group = core::net::Ipv6Addr::new(0xff0e, 0, 0, 0, 0, 0, 0, 0x1234);
    rig.frame_in(IFACE, &udp_packet((global(2), 1), (group, 5000), b"x"));
    assert_eq!(rig.stack.drops(Reason::Ipv6Address), 1);
    assert!(!rig.stack.wants_transmit(OTHER) && !rig.stack.wants_transmit(IFACE));
    // The source is told nothing of what nobody listens to at a group.
    rig.frame_in(
        IFACE,
        &packet(header(global(2), ALL_NODES, NextHeader(200)), &[0; 8]),
    );
    assert!(!rig.stack.wants_transmit(IFACE));
}
