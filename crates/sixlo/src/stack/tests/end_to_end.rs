//! IPv6 fragments end to end, over interfaces whose MTU is that of a frame (Lenders et al. 2021, section IV-A).

use std::vec::Vec;

use super::net::{IFACE, Net, global};
use crate::lowpan::Strategy;
use crate::stack::{Opt, Target};
use crate::time::Duration;
use crate::trace::Reason;
use crate::wire::ieee802154::Header;
use crate::wire::lowpan::{self, Dispatch};

const PORT: u16 = 5000;

/// The 102 bytes that a frame between extended addresses holds, and the 22 that header compression saves.
const MTU: u16 = 124;

fn chain(n: usize) -> Net {
    Net::chain_with(
        n,
        |_| (),
        |iface| {
            iface.strategy = Strategy::EndToEnd;
            iface.mtu = MTU;
            iface.queue_capacity = 32;
        },
    )
}

fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 5 + 1) as u8).collect()
}

#[test]
fn a_datagram_of_any_size_arrives_and_no_frame_carries_a_fragment_of_6lowpan() {
    for len in (8..=1200).step_by(64) {
        let mut net = chain(4);
        let (from, to) = (net.bind(1, PORT), net.bind(4, PORT));
        net.send(1, from, (global(4), PORT), &payload(len));
        net.pass(Duration::from_secs(2));
        assert_eq!(net.receive(4, to), Some(payload(len)), "{len} bytes");
        for (_, frame) in &net.air {
            let (_, payload) = Header::parse(frame).expect("our own frame");
            let (dispatch, ..) = lowpan::strip(payload).expect("a dispatch");
            assert_eq!(dispatch, Dispatch::Iphc, "{len} bytes");
        }
        net.assert_idle();
        for node in &net.nodes {
            assert_eq!(node.stack.next_deadline(net.now), None);
        }
    }
}

/// F2: one packet below 80 bytes of payload, two below 144, three below 224, four below 288.
#[test]
fn f2_fragments_end_to_end_by_payload() {
    for (len, fragments) in [
        (72, 1),
        (80, 2),
        (136, 2),
        (144, 3),
        (208, 3),
        (224, 4),
        (280, 4),
        (288, 5),
    ] {
        let mut net = chain(3);
        let from = net.bind(1, PORT);
        net.send(1, from, (global(3), PORT), &payload(len));
        net.pass(Duration::from_secs(1));
        assert_eq!(net.frames_of(1), fragments, "{len} bytes");
    }
}

#[test]
fn whichever_fragment_is_lost_nothing_is_delivered_and_after_a_minute_nothing_is_left() {
    for lost in 0..12 {
        let mut net = chain(4);
        net.arrives = std::boxed::Box::new(move |number| number != lost);
        let (from, to) = (net.bind(1, PORT), net.bind(4, PORT));
        net.send(1, from, (global(4), PORT), &payload(250));
        net.pass(Duration::from_secs(1));
        assert_eq!(net.receive(4, to), None);
        net.pass(Duration::from_secs(61));
        net.assert_idle();
        assert!(
            net.nodes
                .iter()
                .all(|node| node.stack.next_deadline(net.now).is_none())
        );
    }
}

/// RFC 8200 section 5: a router cuts nothing, the source is told.
#[test]
fn a_router_tells_the_source_of_a_packet_that_its_next_link_does_not_take() {
    let mut net = chain(3);
    let node = &mut net.node(1).stack;
    node.set(Target::Iface(IFACE), Opt::Mtu, 1280).expect("an option");
    let (from, to) = (net.bind(1, PORT), net.bind(3, PORT));
    net.send(1, from, (global(3), PORT), &payload(400));
    net.pass(Duration::from_secs(1));
    assert_eq!(net.receive(3, to), None);
    assert_eq!(net.node(2).stack.drops(Reason::PacketTooBig), 1);
    // The error quotes no more than its own link takes in one packet, or comes in fragments itself.
    assert!(net.frames_of(2) > 0);
    net.assert_idle();
}

#[test]
fn an_interface_that_takes_no_more_fragments_ends_the_packet() {
    let mut net = chain(2);
    net.node(1)
        .stack
        .set(Target::Iface(IFACE), Opt::QueueCapacity, 2)
        .expect("an option");
    let (from, to) = (net.bind(1, PORT), net.bind(2, PORT));
    net.send(1, from, (global(2), PORT), &payload(1000));
    net.pass(Duration::from_secs(1));
    assert_eq!(net.receive(2, to), None);
    assert!(net.node(1).stack.drops(Reason::QueueFull) > 0);
    net.pass(Duration::from_secs(61));
    net.assert_idle();
}
