//! XR: what nodes remember of recoverable fragments (RFC 8931), and that nothing else decides about it.

use super::super::forward::take_all_packets;
use super::super::net::{IFACE, Net, eui, global, link_local};
use super::super::packets::udp_packet;
use super::super::recover::{PORT, acks_of, assert_forgotten, chain, fragments_of, payload, put};
use super::recoverable::{abort, ack, bodies, changed, drops, tag_of};
use crate::ipv6::Route;
use crate::lowpan::{Eviction, Gap, Strategy};
use crate::stack::{Opt, Target};
use crate::time::Duration;
use crate::trace::Reason;
use crate::wire::addr::LinkAddr;
use crate::wire::ieee802154::Header;
use crate::wire::lowpan::IPV6;
use crate::wire::lowpan::rfrag::{Bitmap, Rfrag};
use std::vec::Vec;

/// The frames that node `k` sent.
fn frames_by(net: &Net, k: usize) -> Vec<(Header<'_>, Vec<u8>)> {
    let of_node = net.air.iter().filter(|(sender, _)| *sender == k);
    let parsed = of_node.map(|(_, frame)| Header::parse(frame).expect("a frame"));
    parsed.map(|(header, body)| (header, body.to_vec())).collect()
}

fn forwards(net: &mut Net, k: usize) -> u64 {
    net.node(k)
        .stack
        .get(Target::Stack, Opt::Forwards)
        .expect("an option")
}

/// A fragment of RFC 4944 from node 9 for node `k`, of a datagram that it does not complete.
fn piece(net: &mut Net, k: usize, tag: u8) {
    let piece = [0xe0, 60, 0, tag, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    net.inject_frame(k, 9, LinkAddr::Extended(eui(k)), &piece);
}

/// RFC 8931 section 6.2: only the next hop of the datagram acknowledges it.
#[test]
fn xr6_a_forwarder_passes_back_no_acknowledgement_but_that_of_the_next_hop() {
    for bitmap in [Bitmap::NULL, Bitmap::FULL, Bitmap::of(0)] {
        let bodies = bodies(3, 300);
        let mut net = chain(3, |_| {});
        let to = net.bind(3, PORT);
        put(&mut net, 1, 2, &bodies[0]);
        let tag = fragments_of(&net, 2)[0].tag;
        for (from, tag) in [(1, tag), (4, tag), (3, tag.wrapping_add(1))] {
            put(&mut net, from, 2, &ack(tag, bitmap.0));
        }
        assert_eq!(drops(&mut net, 2, Reason::FragmentUnknown), 3);
        assert_eq!((acks_of(&net, 2), forwards(&mut net, 2)), (Vec::new(), 1));
        for body in &bodies[1..] {
            put(&mut net, 1, 2, body);
        }
        assert_eq!(net.receive(3, to), Some(payload(300)));
        assert_forgotten(&mut net);
    }
}

/// RFC 8931 section 6.2: forwarders keep the full bitmap for a while, and answer with it themselves.
#[test]
fn xr6_a_forwarder_answers_late_fragments_itself_while_it_remembers_the_full_bitmap() {
    let bodies = bodies(3, 300);
    let last = bodies.last().expect("a fragment");
    let mut net = chain(3, |_| {});
    let _to = net.bind(3, PORT);
    let linger = net.node(2).stack.get(Target::Stack, Opt::RecoverLinger);
    let linger_us = linger.expect("an option");
    for body in &bodies {
        put(&mut net, 1, 2, body);
    }
    let sent = fragments_of(&net, 2).len();
    net.pass(Duration::from_micros(linger_us - 1));
    for late in [&bodies[0], last] {
        let asks = Rfrag::parse(late).expect("a fragment").0.ack_request;
        let before = acks_of(&net, 2).len();
        put(&mut net, 1, 2, late);
        let answers = acks_of(&net, 2).split_off(before);
        let expected = asks.then_some(Bitmap::FULL);
        assert!(
            answers.iter().map(|ack| ack.bitmap).eq(expected),
            "{asks}: {answers:?}"
        );
    }
    assert_eq!(drops(&mut net, 2, Reason::FragmentLate), 2);
    assert_eq!(fragments_of(&net, 2).len(), sent);
    assert_eq!(forwards(&mut net, 2), 1);
    net.pass(Duration::from_micros(1));
    assert_eq!(forwards(&mut net, 2), 0);
}

/// RFC 8931 section 7: a datagram is forgotten when nothing of it passed for a time, and not before.
#[test]
fn xr20_fragments_and_acknowledgements_that_pass_renew_the_time_of_a_datagram() {
    let bodies = bodies(3, 500);
    // Twice the longest time-out of a sender: 20 s.
    let short = Duration::from_secs(15);
    let mut net = chain(3, |_| {});
    put(&mut net, 1, 2, &bodies[0]);
    let tag = fragments_of(&net, 2)[0].tag;
    net.pass(short);
    put(&mut net, 1, 2, &bodies[1]);
    net.pass(short);
    assert_eq!(forwards(&mut net, 2), 1, "a fragment passed");
    put(&mut net, 3, 2, &ack(tag, Bitmap::of(0).0));
    net.pass(short);
    assert_eq!(forwards(&mut net, 2), 1, "an acknowledgement passed");
    net.pass(Duration::from_micros(4_999_999));
    assert_eq!(forwards(&mut net, 2), 1);
    net.pass(Duration::from_micros(1));
    assert_eq!(forwards(&mut net, 2), 0);
    assert_forgotten(&mut net);
}

#[test]
fn xr9_a_first_fragment_of_another_size_goes_on_under_another_tag() {
    let bodies = bodies(3, 300);
    let mut net = chain(3, |_| {});
    put(&mut net, 1, 2, &bodies[0]);
    put(&mut net, 1, 2, &bodies[0]);
    put(&mut net, 1, 2, &changed(&bodies[0], |header| header.offset += 8));
    let tags: Vec<_> = fragments_of(&net, 2).iter().map(|first| first.tag).collect();
    assert_eq!(tags[0], tags[1], "the path is made anew");
    assert_ne!(tags[1], tags[2], "another datagram");
    assert_eq!(forwards(&mut net, 2), 1);
    assert_forgotten(&mut net);
}

/// The tag is used anew for a datagram of the same size, whose headers are compressed otherwise.
#[test]
fn xr9_a_first_fragment_with_other_headers_begins_another_datagram() {
    let old = bodies(2, 300);
    let new: Vec<u8> = (0..300).map(|at| (at * 3) as u8).collect();
    let mut datagram = [IPV6].to_vec();
    datagram.extend(udp_packet((global(1), PORT), (global(2), PORT), &new));
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    put(&mut net, 1, 2, &old[0]);
    let (size, mut start) = (datagram.len() as u16, 0);
    for (sequence, data) in datagram.chunks(90).enumerate() {
        let header = Rfrag {
            congested: false,
            tag: tag_of(&old[0]),
            ack_request: false,
            sequence: sequence as u8,
            size: data.len() as u16,
            offset: if sequence == 0 { size } else { start },
        };
        start += data.len() as u16;
        let mut bytes = [0; 6].to_vec();
        header.emit(&mut bytes).expect("it fits");
        bytes.extend(data);
        put(&mut net, 1, 2, &bytes);
    }
    assert_eq!(net.receive(2, to), Some(new));
    assert_eq!(net.receive(2, to), None);
    assert_forgotten(&mut net);
}

/// RFC 8931 section 6.3: the state of a datagram that cannot go on is removed in both directions.
#[test]
fn xr15_a_later_fragment_that_no_frame_holds_ends_the_datagram_in_both_directions() {
    // The first fragment leaves room for what grows; the others fill the frames of node 1.
    let mut wide = chain(3, |config| config.lowpan.recover.slack_len = 11);
    let from = wide.bind(1, PORT);
    wide.send(1, from, (global(3), PORT), &payload(400));
    let frames: Vec<_> = (0..4).filter_map(|_| wide.transmit(1)).collect();
    let mut net = Net::chain_with(
        3,
        |_| {},
        |iface| {
            iface.strategy = Strategy::Recover;
            iface.fragment_gap = Gap::Fixed(Duration::ZERO);
            // Two bytes less for the payload.
            iface.pan_id_compression = false;
        },
    );
    for frame in &frames[..2] {
        super::super::recover::put_frame(&mut net, frame);
    }
    let sent = fragments_of(&net, 2);
    assert!(sent.len() == 2 && !sent[0].is_abort() && sent[1].is_abort());
    assert_eq!(sent[0].tag, sent[1].tag);
    assert!(acks_of(&net, 2).iter().map(|ack| ack.bitmap).eq([Bitmap::NULL]));
    assert_eq!(drops(&mut net, 2, Reason::PacketTooBig), 1);
    assert_eq!((forwards(&mut net, 2), net.node(3).stack.reassemblies()), (0, 0));
    wide.pass(Duration::from_secs(100));
    assert_forgotten(&mut net);
}

/// One answer to what many hear would be many answers.
#[test]
fn xr13_a_fragment_to_all_is_dropped_without_an_answer() {
    let mut net = chain(2, |_| {});
    for body in &bodies(2, 300) {
        net.inject_frame(2, 1, LinkAddr::BROADCAST, body);
        net.settle();
    }
    assert!(net.air.is_empty());
    assert_eq!(drops(&mut net, 2, Reason::FragmentInvalid), 4);
    assert_eq!(net.node(2).stack.reassemblies(), 0);
    assert_forgotten(&mut net);
}

#[test]
fn xr4_a_fragment_that_ends_one_byte_behind_the_datagram_changes_nothing() {
    let bodies = bodies(2, 300);
    let last = bodies.last().expect("a fragment");
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    put(&mut net, 1, 2, &bodies[0]);
    put(&mut net, 1, 2, &bodies[1]);
    put(&mut net, 1, 2, &bodies[1]);
    assert_eq!(drops(&mut net, 2, Reason::FragmentDuplicate), 1);
    put(&mut net, 1, 2, &changed(last, |header| header.offset += 1));
    assert_eq!(drops(&mut net, 2, Reason::FragmentInvalid), 1);
    for body in &bodies[2..] {
        put(&mut net, 1, 2, body);
    }
    assert_eq!(net.receive(2, to), Some(payload(300)));
    assert_forgotten(&mut net);
}

/// A datagram whose reassembly gave way is unknown, as often as it is asked for, and its place is free for another.
#[test]
fn xr8_what_gave_way_to_other_reassemblies_is_unknown_and_takes_no_place() {
    let bodies = bodies(2, 300);
    let mut net = chain(2, |_| {});
    for tag in 0..4 {
        put(&mut net, 1, 2, &changed(&bodies[0], |header| header.tag = tag));
    }
    net.pass(Duration::from_secs(1));
    for tag in 0..4 {
        piece(&mut net, 2, tag);
    }
    assert_eq!(drops(&mut net, 2, Reason::ReassemblyEvicted), 4);
    for _ in 0..2 {
        put(&mut net, 1, 2, &changed(&bodies[1], |header| header.tag = 3));
    }
    let answers = acks_of(&net, 2);
    assert!(answers.iter().map(|ack| ack.bitmap).eq([Bitmap::NULL; 2]));
    net.pass(Duration::from_secs(1));
    for tag in 4..8 {
        put(&mut net, 1, 2, &changed(&bodies[0], |header| header.tag = tag));
    }
    assert_eq!(acks_of(&net, 2).len(), 2, "there is a place for each");
    assert_eq!(net.node(2).stack.reassemblies(), 4);
    assert_forgotten(&mut net);
}

/// What could not be stored is not known afterwards: its sender may begin again when there is room.
#[test]
fn xr8_a_datagram_that_was_refused_may_begin_again_under_the_same_tag() {
    let bodies = bodies(2, 300);
    let mut net = chain(2, |config| {
        config.lowpan.reassembly.eviction = Eviction::Never;
        config.lowpan.reassembly.timeout = Duration::from_secs(1);
    });
    let to = net.bind(2, PORT);
    for tag in 0..4 {
        piece(&mut net, 2, tag);
    }
    let longer = net.node(2).stack.set(
        Target::Stack,
        Opt::ReassemblyTimeout,
        Duration::from_secs(60).as_micros(),
    );
    assert_eq!(longer, Ok(()));
    put(&mut net, 1, 2, &bodies[0]);
    assert!(acks_of(&net, 2).iter().map(|ack| ack.bitmap).eq([Bitmap::NULL]));
    net.pass(Duration::from_secs(3));
    for body in &bodies {
        put(&mut net, 1, 2, body);
    }
    assert_eq!(net.receive(2, to), Some(payload(300)));
    assert_forgotten(&mut net);
}

/// RFC 8931 section 6.3: forwarders wait for the answer to an abort that asks for one.
#[test]
fn xr7_an_abort_that_asks_is_remembered_until_its_answer() {
    let bodies = bodies(3, 300);
    let mut net = chain(3, |_| {});
    put(&mut net, 1, 2, &bodies[0]);
    let tag = fragments_of(&net, 2)[0].tag;
    net.arrives = std::boxed::Box::new(|_| false);
    net.unnoticed = true;
    put(&mut net, 1, 2, &abort(&bodies[0], true));
    assert_eq!(forwards(&mut net, 2), 1);
    put(&mut net, 3, 2, &ack(tag, 0));
    assert_eq!(forwards(&mut net, 2), 0);
    assert!(acks_of(&net, 2).iter().map(|ack| ack.bitmap).eq([Bitmap::NULL]));
    net.pass(Duration::from_secs(100));
    assert_forgotten(&mut net);
}

/// RFC 8931 section 6.1.1: where the route has changed, the path is made anew, and what was sent over the old one is
/// forgotten.
#[test]
fn xr9_after_a_change_of_the_route_a_first_fragment_makes_another_path() {
    let bodies = bodies(3, 300);
    let mut net = chain(3, |_| {});
    put(&mut net, 1, 2, &bodies[0]);
    let other = Route::via(global(3), 128, IFACE, link_local(4));
    net.node(2).stack.add_route(other).expect("it replaces one");
    put(&mut net, 1, 2, &bodies[0]);
    put(&mut net, 1, 2, &bodies[1]);
    let sent = fragments_of(&net, 2);
    assert!(sent[1].is_first() && sent[0].tag != sent[1].tag, "{sent:?}");
    assert_eq!(sent[1].tag, sent[2].tag);
    let to: Vec<_> = frames_by(&net, 2).iter().map(|(header, _)| header.dst).collect();
    assert_eq!(to, [3, 4, 4].map(|k| LinkAddr::Extended(eui(k))));
    assert_eq!(forwards(&mut net, 2), 1);
    // The old next hop has no say any more.
    put(&mut net, 3, 2, &ack(sent[0].tag, 0));
    assert_eq!(forwards(&mut net, 2), 1);
    net.pass(Duration::from_secs(200));
}

/// RFC 8931 section 7: the first fragment passes again, for as long as its sender hears nothing.
#[test]
fn xr20_a_first_fragment_that_passes_again_renews_the_time_of_a_datagram() {
    let bodies = bodies(3, 500);
    let mut net = chain(3, |_| {});
    for _ in 0..3 {
        put(&mut net, 1, 2, &bodies[0]);
        net.pass(Duration::from_secs(15));
    }
    assert_eq!(forwards(&mut net, 2), 1);
    let tags: Vec<_> = fragments_of(&net, 2).iter().map(|first| first.tag).collect();
    assert_eq!(tags, [tags[0]; 3]);
    net.pass(Duration::from_secs(5));
    assert_eq!(forwards(&mut net, 2), 0);
}

/// The time for which forwarders remember datagrams at most holds for those of RFC 8931, too.
#[test]
fn xr20_a_forwarder_remembers_no_datagram_for_longer_than_it_is_configured() {
    let bodies = bodies(3, 500);
    let mut net = chain(3, |config| config.lowpan.forward.timeout = Duration::from_secs(5));
    put(&mut net, 1, 2, &bodies[0]);
    net.pass(Duration::from_micros(4_999_999));
    assert_eq!(forwards(&mut net, 2), 1);
    net.pass(Duration::from_micros(1));
    assert_eq!(forwards(&mut net, 2), 0);
}

/// RFC 8930 section 5: if the first fragment cannot be forwarded, the state must be removed. RFC 8931 section 6.3: the same
/// for an abort, which nothing follows.
#[test]
fn xr7_xr8_where_no_packet_is_left_neither_a_first_fragment_nor_an_abort_leaves_anything() {
    let bodies = bodies(3, 300);
    for aborted in [false, true] {
        let mut net = Net::chain_with(
            3,
            |_| {},
            |iface| {
                iface.strategy = Strategy::Recover;
                iface.fragment_gap = Gap::Fixed(Duration::ZERO);
                iface.queue_capacity = 64;
            },
        );
        let body = if aborted {
            put(&mut net, 1, 2, &bodies[0]);
            assert_eq!(forwards(&mut net, 2), 1);
            abort(&bodies[0], true)
        } else {
            bodies[0].clone()
        };
        take_all_packets(&mut net, 2, 3);
        let before = drops(&mut net, 2, Reason::NoSlot);
        net.inject_frame(2, 1, LinkAddr::Extended(eui(2)), &body);
        assert_eq!(drops(&mut net, 2, Reason::NoSlot), before + 1);
        assert_eq!(forwards(&mut net, 2), 0);
        assert_forgotten(&mut net);
    }
}

/// The table gives up first what got no further than its first fragment.
#[test]
fn xr8_datagrams_of_which_more_passed_keep_their_places() {
    let bodies = bodies(3, 300);
    for acknowledged in [false, true] {
        let mut net = chain(3, |_| {});
        // The next hop says nothing.
        net.arrives = std::boxed::Box::new(|_| false);
        net.unnoticed = true;
        for tag in 0..4 {
            put(&mut net, 1, 2, &changed(&bodies[0], |header| header.tag = tag));
        }
        for tag in [0, 1, 3] {
            if acknowledged {
                let tag = fragments_of(&net, 2)[usize::from(tag)].tag;
                put(&mut net, 3, 2, &ack(tag, Bitmap::of(0).0));
            } else {
                put(&mut net, 1, 2, &changed(&bodies[1], |header| header.tag = tag));
            }
        }
        // The oldest is another one.
        net.pass(Duration::from_millis(100));
        put(&mut net, 1, 2, &changed(&bodies[0], |header| header.tag = 2));
        net.pass(Duration::from_secs(1));
        put(&mut net, 1, 2, &changed(&bodies[0], |header| header.tag = 4));
        assert_eq!(forwards(&mut net, 2), 4);
        let before = fragments_of(&net, 2).len();
        for tag in [0, 1, 3, 4] {
            put(&mut net, 1, 2, &changed(&bodies[2], |header| header.tag = tag));
        }
        assert_eq!(
            fragments_of(&net, 2).len(),
            before + 4,
            "all but the third are known"
        );
        put(&mut net, 1, 2, &changed(&bodies[2], |header| header.tag = 2));
        assert_eq!(fragments_of(&net, 2).len(), before + 4);
        assert_forgotten(&mut net);
    }
}

/// An offset that would be 0 at the next hop would be an abort there.
#[test]
fn xr4_an_offset_that_becomes_that_of_an_abort_is_not_sent_on() {
    let packet = udp_packet((global(1), PORT), (global(3), PORT), &payload(300));
    let datagram = [&[IPV6], &packet[..]].concat();
    let mut net = chain(3, |_| {});
    let header = |sequence, offset| Rfrag {
        congested: false,
        tag: 7,
        ack_request: false,
        sequence,
        size: 80,
        offset,
    };
    let body = |header: Rfrag, from: usize| {
        let mut bytes = [0; 6].to_vec();
        header.emit(&mut bytes).expect("it fits");
        bytes.extend(&datagram[from..from + 80]);
        bytes
    };
    put(&mut net, 1, 2, &body(header(0, datagram.len() as u16), 0));
    let shorter = 80 - fragments_of(&net, 2)[0].size;
    assert!(shorter > 1);
    put(&mut net, 1, 2, &body(header(1, shorter), 0));
    assert_eq!(drops(&mut net, 2, Reason::FragmentInvalid), 1);
    put(&mut net, 1, 2, &body(header(1, 80), 80));
    let sent = fragments_of(&net, 2);
    assert_eq!((sent.len(), sent[1].offset), (2, 80 - shorter));
    assert_forgotten(&mut net);
}

/// RFC 8931 section 6.3: the same behind the first forwarders, where headers keep their length.
#[test]
fn xr15_a_later_fragment_that_no_frame_holds_is_aborted_forward_wherever_it_is() {
    let mut wide = chain(5, |config| config.lowpan.recover.slack_len = 30);
    let (from, _to) = (wide.bind(1, PORT), wide.bind(5, PORT));
    wide.send(1, from, (global(5), PORT), &payload(400));
    wide.pass(Duration::from_secs(1));
    let bodies = frames_by(&wide, 2).into_iter().map(|(_, body)| body);
    let bodies: Vec<_> = bodies.filter(|body| Rfrag::parse(body).is_ok()).collect();
    let mut net = Net::chain_with(
        5,
        |_| {},
        |iface| {
            iface.strategy = Strategy::Recover;
            iface.fragment_gap = Gap::Fixed(Duration::ZERO);
            iface.pan_id_compression = false;
        },
    );
    for body in &bodies[..2] {
        put(&mut net, 2, 3, body);
    }
    let sent = fragments_of(&net, 3);
    assert_eq!(sent[0].size, Rfrag::parse(&bodies[0]).expect("a fragment").0.size);
    assert!(sent.len() == 2 && sent[1].is_abort(), "{sent:?}");
    assert_eq!(net.node(5).stack.reassemblies(), 0);
    assert_forgotten(&mut net);
}
