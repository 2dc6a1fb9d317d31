//! Sockets and mailboxes as an application uses them.

use std::vec::Vec;

use super::*;
use crate::stack::tests::net::{Log, Net, global, link_local};
use crate::stack::tests::packets::udp_packet;
use crate::trace::Event;

fn ends(log: &Log) -> Vec<End> {
    let end = |(_, event): &(crate::time::Instant, Event)| match *event {
        Event::End { end, .. } => Some(end),
        _ => None,
    };
    log.0.iter().filter_map(end).collect()
}

#[test]
fn a_datagram_tells_where_it_came_from_and_went_to() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    net.send(1, a, (link_local(2), 5001), b"hello");
    net.settle();
    let mut out = [0; 16];
    let now = net.now;
    let node = net.node(2);
    let received = node.stack.udp_receive(now, b, &mut out, &mut node.log);
    let id = received.expect("delivered").id;
    let expected = Received {
        len: 5,
        src: link_local(1),
        src_port: 5000,
        dst: link_local(2),
        hop_limit: 64,
        id,
    };
    assert_eq!(received, Some(expected));
    assert_eq!(out[..6], *b"hello\0");
    assert_eq!(ends(&node.log), [End::Delivered]);
}

#[test]
fn an_answer_to_source_and_port_arrives() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    net.send(1, a, (global(2), 5001), b"ask");
    net.settle();
    let now = net.now;
    let node = net.node(2);
    let received = node
        .stack
        .udp_receive(now, b, &mut [0; 3], &mut node.log)
        .unwrap();
    net.send(2, b, (received.src, received.src_port), b"answer");
    net.settle();
    assert_eq!(net.receive(1, a).as_deref(), Some(&b"answer"[..]));
}

#[test]
fn a_buffer_that_is_too_short_gets_the_beginning_and_the_whole_length_is_told() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    net.send(1, a, (global(2), 5001), b"0123456789");
    net.settle();
    let mut out = [0xff; 4];
    let now = net.now;
    let node = net.node(2);
    let received = node.stack.udp_receive(now, b, &mut out, &mut node.log).unwrap();
    assert_eq!((received.len, out), (10, *b"0123"));
    assert!(
        node.stack.udp_receive(now, b, &mut out, &mut node.log).is_none(),
        "the rest is gone"
    );
    net.assert_idle();
}

#[test]
fn a_datagram_without_payload_is_one() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    net.send(1, a, (global(2), 5001), b"");
    net.settle();
    assert_eq!(net.receive(2, b), Some(Vec::new()));
    assert_eq!(net.receive(2, b), None);
}

#[test]
fn datagrams_wait_in_order_up_to_the_bound_and_the_rest_is_dropped() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    let b = net.node(2).stack.udp_bind(5001, 3).unwrap();
    for number in 0..5 {
        net.send(1, a, (global(2), 5001), &[number]);
    }
    net.settle();
    let node = net.node(2);
    assert_eq!(node.stack.waiting(b), 3);
    assert_eq!(node.stack.drops(Reason::SocketFull), 2);
    assert_eq!(node.log.drops(), [Reason::SocketFull; 2]);
    for number in 0..3 {
        assert_eq!(net.receive(2, b), Some(std::vec![number]));
    }
    net.send(1, a, (global(2), 5001), b"again");
    net.settle();
    assert_eq!(
        net.receive(2, b).as_deref(),
        Some(&b"again"[..]),
        "there is room again"
    );
}

#[test]
fn two_sockets_on_one_port_have_queues_of_their_own() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    let narrow = net.node(2).stack.udp_bind(5001, 1).unwrap();
    let wide = net.node(2).stack.udp_bind(5001, 9).unwrap();
    for _ in 0..4 {
        net.send(1, a, (global(2), 5001), b"x");
    }
    net.settle();
    let node = net.node(2);
    assert_eq!((node.stack.waiting(narrow), node.stack.waiting(wide)), (1, 4));
    assert_eq!(node.stack.drops(Reason::SocketFull), 3);
}

#[test]
fn closing_one_of_two_sockets_on_a_port_leaves_the_other() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    let (one, other) = (net.bind(2, 5001), net.bind(2, 5001));
    let now = net.now;
    let node = net.node(2);
    assert!(node.stack.close(now, one, &mut node.log));
    net.send(1, a, (global(2), 5001), b"x");
    net.settle();
    assert_eq!(net.receive(2, one), None);
    assert_eq!(net.receive(2, other).as_deref(), Some(&b"x"[..]));
}

#[test]
fn a_closed_socket_neither_sends_nor_receives_and_its_place_is_free() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    let now = net.now;
    let node = net.node(1);
    assert!(node.stack.close(now, a, &mut node.log));
    let to = (global(2), 5001);
    let sent = node.stack.udp_send_to(now, a, to, b"x", &mut node.log);
    assert_eq!(sent, Err(SendError::NotOpen));
    assert!(node.stack.udp_receive(now, a, &mut [], &mut node.log).is_none());
    assert_eq!(node.stack.waiting(a), 0);
    assert_eq!(node.stack.udp_bind(6000, 1), Ok(a), "the first free place");
    net.inject(1, 2, &udp_packet((global(2), 1), (global(1), 5000), b"x"));
    assert_eq!(net.node(1).log.drops(), [Reason::PortUnreachable]);
}

#[test]
fn a_mailbox_that_is_no_socket_cannot_send_datagrams() {
    let mut net = Net::chain(1);
    let now = net.now;
    let node = net.node(1);
    let mailbox = node.stack.open_mailbox(1).unwrap();
    let sent = node
        .stack
        .udp_send_to(now, mailbox, (global(1), 1), b"", &mut node.log);
    assert_eq!(sent, Err(SendError::NotOpen));
    let nowhere = MailboxId(200);
    let sent = node
        .stack
        .udp_send_to(now, nowhere, (global(1), 1), b"", &mut node.log);
    assert_eq!(sent, Err(SendError::NotOpen));
    assert!(
        node.stack
            .mailbox_receive(now, nowhere, &mut [], &mut node.log)
            .is_none()
    );
}

#[test]
fn what_is_no_datagram_stays_for_the_call_that_can_take_it() {
    let mut net = Net::chain(2);
    let whole = udp_packet((link_local(2), 1), (link_local(1), 5000), b"x");
    let sniffed = Msg::up(Ty::Ipv6, 0);
    let mailbox = net.listen(1, sniffed, true);
    net.bind(1, 5000);
    net.inject(1, 2, &whole);
    net.settle();
    assert_eq!(net.receive(1, mailbox), None);
    assert_eq!(net.take(1, mailbox), Some((sniffed, whole)));
}

#[test]
fn a_mailbox_for_all_ports_receives_datagrams_like_a_socket() {
    let mut net = Net::chain(2);
    let mailbox = net.listen(1, Msg::up(Ty::Udp, 0), true);
    for port in [1, 0xffff] {
        net.inject(
            1,
            2,
            &udp_packet((link_local(2), port), (link_local(1), port), b"any"),
        );
        let mut out = [0; 8];
        let now = net.now;
        let node = net.node(1);
        let received = node
            .stack
            .udp_receive(now, mailbox, &mut out, &mut node.log)
            .unwrap();
        assert_eq!((received.src_port, &out[..3]), (port, &b"any"[..]));
    }
}

#[test]
fn a_datagram_for_which_there_is_no_room_is_refused_with_its_reason() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    net.node(1)
        .stack
        .set(
            crate::stack::Target::Iface(crate::stack::tests::net::IFACE),
            crate::stack::Opt::QueueCapacity,
            100,
        )
        .unwrap();
    let to = (link_local(2), 5001);
    let now = net.now;
    let node = net.node(1);
    let mut send = |len| {
        node.stack
            .udp_send_to(now, a, to, &[0; 1232][..len], &mut node.log)
            .map(|_| ())
    };
    // 8192 bytes: six of 1284 leave 488.
    for _ in 0..6 {
        assert_eq!(send(1232), Ok(()));
    }
    assert_eq!(send(1232), Err(SendError::NoRoom(Reason::NoBuffer)));
    assert_eq!(send(400), Ok(()), "a shorter one finds room");
    assert_eq!(
        send(0),
        Err(SendError::NoRoom(Reason::NoBuffer)),
        "32 bytes are left"
    );
    assert_eq!(node.log.drops(), [], "a datagram that was refused never began");
    net.settle();
    assert_eq!(net.node(1).stack.buffer().live(), 0);
}

#[test]
fn ports_and_payload_lengths_at_their_limits_are_carried() {
    let mut net = Net::chain(2);
    for (src, dst) in [(1, 0xffff), (0xffff, 1), (0xf0b0, 0xf0bf), (0xf000, 0xf0ff)] {
        let (a, b) = (net.bind(1, src), net.bind(2, dst));
        for len in [0, UDP_PAYLOAD_LEN_MAX] {
            let payload = std::vec![0xff; len];
            net.send(1, a, (global(2), dst), &payload);
            net.settle();
            assert_eq!(net.receive(2, b), Some(payload), "{src} to {dst}");
        }
        for (k, socket) in [(1, a), (2, b)] {
            let now = net.now;
            let node = net.node(k);
            assert!(node.stack.close(now, socket, &mut node.log));
        }
    }
    net.assert_idle();
}

/// RFC 8200 section 8.1: a checksum that comes out as zero is sent as all ones.
#[test]
fn a_checksum_of_zero_goes_out_as_all_ones_and_is_accepted() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    let down = net.listen(1, Msg::down(Ty::Ipv6, 0), true);
    // Two bytes of payload take all values, so one of them makes the sum zero.
    let mut ones = 0;
    for word in 0..=0xffff_u16 {
        let expected = udp_packet((global(1), 5000), (global(2), 5001), &word.to_be_bytes());
        if expected[46..48] != [0xff, 0xff] {
            continue;
        }
        net.send(1, a, (global(2), 5001), &word.to_be_bytes());
        net.settle();
        let (_, sent) = net.take(1, down).unwrap();
        assert_eq!(sent, expected);
        assert_eq!(net.receive(2, b), Some(word.to_be_bytes().to_vec()));
        ones += 1;
    }
    assert!(ones >= 1);
}
