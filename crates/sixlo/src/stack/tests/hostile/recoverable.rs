//! XR: recoverable fragments and their acknowledgements (RFC 8931), over chains of whole stacks.

use std::boxed::Box;
use std::vec::Vec;

use super::super::net::{IFACE, Net, global};
use super::super::recover::{PORT, acks_of, assert_forgotten, chain, fragments_of, frames_of, payload, put};
use crate::stack::{Opt, Target};
use crate::time::Duration;
use crate::trace::{Event, FragmentFate, Reason};
use crate::wire::ieee802154::Header;
use crate::wire::lowpan::frag;
use crate::wire::lowpan::rfrag::{Bitmap, Rfrag, RfragAck};

/// The payloads of the frames of a datagram from node 1 to `to`.
pub(super) fn bodies(to: usize, len: usize) -> Vec<Vec<u8>> {
    let mut net = chain(to, |_| {});
    let frames = frames_of(&mut net, 1, to, len);
    let body = |frame: &Vec<u8>| Header::parse(frame).expect("a frame").1.to_vec();
    frames.iter().map(body).collect()
}

/// A fragment with its header changed.
pub(super) fn changed(body: &[u8], change: impl Fn(&mut Rfrag)) -> Vec<u8> {
    let (mut header, data) = Rfrag::parse(body).expect("a fragment");
    change(&mut header);
    let mut bytes = [0; 6].to_vec();
    header.emit(&mut bytes).expect("it fits");
    bytes.extend(data);
    bytes
}

/// An abort of the datagram of a fragment.
pub(super) fn abort(body: &[u8], ack_request: bool) -> Vec<u8> {
    let (header, _) = Rfrag::parse(body).expect("a fragment");
    let mut bytes = [0; 6].to_vec();
    let abort = Rfrag {
        ack_request,
        ..Rfrag::abort(header.tag)
    };
    abort.emit(&mut bytes).expect("it fits");
    bytes
}

pub(super) fn ack(tag: u8, bitmap: u32) -> [u8; 6] {
    RfragAck {
        congested: false,
        tag,
        bitmap: Bitmap(bitmap),
    }
    .emit()
}

pub(super) fn tag_of(body: &[u8]) -> u8 {
    Rfrag::parse(body).expect("a fragment").0.tag
}

pub(super) fn drops(net: &mut Net, k: usize, reason: Reason) -> u32 {
    net.node(k).stack.drops(reason)
}

/// Begins a datagram at node 1 and lets nothing arrive, so that the test is the other end; gives its tag.
fn begun(net: &mut Net, len: usize) -> u8 {
    let from = net.bind(1, PORT);
    let last = net.nodes.len();
    net.arrives = Box::new(|_| false);
    net.unnoticed = true;
    net.send(1, from, (global(last), PORT), &payload(len));
    net.settle();
    fragments_of(net, 1).last().expect("a fragment").tag
}

#[test]
fn xr1_what_is_shorter_than_its_header_is_dropped_without_an_answer() {
    let mut net = chain(2, |_| {});
    for dispatch in 0xe8..=0xeb_u8 {
        for len in 1..=5 {
            put(&mut net, 1, 2, &[dispatch, 7, 0x80, 1, 2][..len]);
        }
    }
    assert_eq!(drops(&mut net, 2, Reason::FragmentInvalid), 20);
    assert!(net.air.is_empty());
    assert_forgotten(&mut net);
}

#[test]
fn xr2_a_fragment_that_carries_more_or_less_than_it_says_changes_nothing() {
    let bodies = bodies(2, 300);
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    for body in &bodies {
        let len = body.len();
        put(&mut net, 1, 2, &body[..len - 1]);
        // The first and the last one leave room in their frames.
        if len < 100 {
            put(&mut net, 1, 2, &[body, &[0][..]].concat());
        }
        put(&mut net, 1, 2, body);
    }
    assert_eq!(
        drops(&mut net, 2, Reason::FragmentInvalid),
        bodies.len() as u32 + 2
    );
    assert_eq!(net.receive(2, to), Some(payload(300)));
    assert_forgotten(&mut net);
}

#[test]
fn xr3_sequence_numbers_need_not_follow_each_other_and_another_first_fragment_begins_anew() {
    let bodies = bodies(2, 300);
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    put(&mut net, 1, 2, &bodies[0]);
    // RFC 8931 section 5.1: sequence numbers say nothing of the order. 31 is as good as 1.
    for (body, sequence) in bodies[1..].iter().zip([31, 2, 17]) {
        put(
            &mut net,
            1,
            2,
            &changed(body, |header| header.sequence = sequence),
        );
    }
    assert_eq!(net.receive(2, to), Some(payload(300)));
    assert_forgotten(&mut net);

    // The same tag, number 0, another size: the datagram of before is over.
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    put(&mut net, 1, 2, &bodies[0]);
    put(&mut net, 1, 2, &changed(&bodies[0], |header| header.offset += 1));
    assert_eq!(drops(&mut net, 2, Reason::ReassemblyConflict), 1);
    assert_eq!(net.node(2).stack.reassemblies(), 1);
    for body in &bodies {
        put(&mut net, 1, 2, body);
    }
    assert_eq!(net.receive(2, to), Some(payload(300)));
    assert_forgotten(&mut net);
}

#[test]
fn xr4_offsets_that_overlap_or_lie_beyond_the_end_do_no_harm() {
    let bodies = bodies(2, 300);
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    put(&mut net, 1, 2, &bodies[0]);
    // Beyond the datagram, and into its compressed header.
    for offset in [Rfrag::parse(&bodies[0]).expect("ours").0.offset, 400, 0xff00] {
        put(
            &mut net,
            1,
            2,
            &changed(&bodies[2], |header| header.offset = offset),
        );
    }
    assert_eq!(drops(&mut net, 2, Reason::FragmentInvalid), 3);
    // RFC 8931 section 6.1.2: pieces of 3 under other numbers, 2 among them, overlap what comes then.
    let (header, data) = Rfrag::parse(&bodies[2]).expect("ours");
    for (sequence, from, to) in [(9, 10, 40), (10, 60, 80), (11, 0, 20)] {
        let mut piece = [0; 6].to_vec();
        let header = Rfrag {
            sequence,
            offset: header.offset + from as u16,
            size: (to - from) as u16,
            ..header
        };
        header.emit(&mut piece).expect("it fits");
        piece.extend(&data[from..to]);
        put(&mut net, 1, 2, &piece);
    }
    for body in &bodies[1..] {
        put(&mut net, 1, 2, body);
    }
    assert_eq!(net.receive(2, to), Some(payload(300)));
    assert_forgotten(&mut net);
}

#[test]
fn xr5_a_first_fragment_without_a_whole_header_is_refused() {
    let bodies = bodies(3, 300);
    for last in [2, 3] {
        let mut net = chain(last, |_| {});
        for len in 1..6 {
            let mut cut = bodies[0][..6 + len].to_vec();
            cut[3] = len as u8;
            put(&mut net, 1, 2, &cut);
        }
        let acks = acks_of(&net, 2);
        assert_eq!(acks.len(), 5);
        assert!(acks.iter().all(|ack| ack.bitmap == Bitmap::NULL));
        assert_eq!(net.node(2).stack.get(Target::Stack, Opt::Forwards), Ok(0));
        assert_forgotten(&mut net);
    }
}

#[test]
fn xr6_acknowledgements_that_lie_or_come_from_elsewhere_or_late_change_nothing() {
    let mut net = chain(3, |_| {});
    let tag = begun(&mut net, 500);
    let sent = fragments_of(&net, 1).len();
    // Another tag; another neighbour; fragments that there are not.
    put(&mut net, 2, 1, &ack(tag.wrapping_add(1), u32::MAX));
    put(&mut net, 3, 1, &ack(tag, u32::MAX));
    put(&mut net, 3, 1, &ack(tag, 0));
    assert_eq!(drops(&mut net, 1, Reason::FragmentUnknown), 3);
    put(&mut net, 2, 1, &ack(tag, 0x8000_0001));
    assert_eq!(drops(&mut net, 1, Reason::RecoverLie), 1);
    assert_eq!((fragments_of(&net, 1).len(), acks_of(&net, 1).len()), (sent, 0));
    assert_eq!(net.node(1).stack.get(Target::Stack, Opt::Transfers), Ok(1));
    put(&mut net, 2, 1, &ack(tag, u32::MAX));
    assert_eq!(net.node(1).stack.get(Target::Stack, Opt::Transfers), Ok(0));
    // After the end it is as unknown as any other.
    put(&mut net, 2, 1, &ack(tag, 0));
    assert_eq!(drops(&mut net, 1, Reason::FragmentUnknown), 4);
    assert_eq!(fragments_of(&net, 1).len(), sent);
    assert_forgotten(&mut net);
}

#[test]
fn xr6_the_full_bitmap_before_the_last_fragment_was_sent_is_no_truth() {
    let mut net = chain(2, |config| config.lowpan.recover.window = 2);
    let tag = begun(&mut net, 500);
    assert_eq!(fragments_of(&net, 1).len(), 2);
    put(&mut net, 2, 1, &ack(tag, u32::MAX));
    assert_eq!(drops(&mut net, 1, Reason::RecoverLie), 1);
    put(&mut net, 2, 1, &ack(tag, 0xc000_0000));
    assert_eq!(fragments_of(&net, 1).len(), 4);
    assert_forgotten(&mut net);
}

#[test]
fn xr7_an_abort_frees_all_entries_on_the_path() {
    let bodies = bodies(4, 500);
    for cut in 1..bodies.len() {
        let mut net = chain(4, |_| {});
        for body in &bodies[..cut] {
            put(&mut net, 1, 2, body);
        }
        assert_eq!(net.node(4).stack.reassemblies(), 1);
        put(&mut net, 1, 2, &abort(&bodies[0], false));
        for k in [2, 3] {
            assert_eq!(
                net.node(k).stack.get(Target::Stack, Opt::Forwards),
                Ok(0),
                "node {k}"
            );
        }
        assert_eq!(net.node(4).stack.reassemblies(), 0);
        assert!(drops(&mut net, 4, Reason::RecoverAborted) > 0);
        assert_eq!(acks_of(&net, 4), []);
        net.assert_idle();
        // RFC 8931 section 6.1.2: what follows is unknown.
        put(&mut net, 1, 2, &bodies[cut]);
        assert_eq!(acks_of(&net, 2).last().expect("an answer").bitmap, Bitmap::NULL);
        assert_forgotten(&mut net);
    }
}

/// RFC 8931 section 6.3: with a request, the abort is acknowledged, and that cleans up.
#[test]
fn xr7_an_abort_that_asks_is_answered_and_the_answer_frees_the_path() {
    let bodies = bodies(4, 500);
    let mut net = chain(4, |_| {});
    put(&mut net, 1, 2, &bodies[0]);
    put(&mut net, 1, 2, &abort(&bodies[0], true));
    for k in [4, 3, 2] {
        assert!(
            acks_of(&net, k).iter().map(|ack| ack.bitmap).eq([Bitmap::NULL]),
            "node {k}"
        );
        assert_eq!(net.node(k).stack.get(Target::Stack, Opt::Forwards), Ok(0));
    }
    net.assert_idle();
    // An abort for somebody else's datagram has no effect.
    put(&mut net, 1, 2, &bodies[0]);
    let other = changed(&abort(&bodies[0], false), |header| header.tag ^= 1);
    put(&mut net, 1, 2, &other);
    put(&mut net, 3, 2, &abort(&bodies[0], false));
    assert_eq!(net.node(2).stack.get(Target::Stack, Opt::Forwards), Ok(1));
    assert_forgotten(&mut net);
}

/// RFC 8931 section 6.3 and Lenders et al. 2021, section III-C.
#[test]
fn xr8_without_room_to_forward_a_datagram_is_put_together_or_refused() {
    let bodies = bodies(3, 300);
    let mut net = chain(3, |_| {});
    let to = net.bind(3, PORT);
    // Four places to forward, then four to put together.
    for tag in 0..9 {
        put(&mut net, 1, 2, &changed(&bodies[0], |header| header.tag = tag));
    }
    assert_eq!(net.node(2).stack.get(Target::Stack, Opt::Forwards), Ok(4));
    assert_eq!(net.node(2).stack.reassemblies(), 4);
    let refused: Vec<_> = acks_of(&net, 2).iter().map(|ack| (ack.tag, ack.bitmap)).collect();
    assert_eq!(refused, [(8, Bitmap::NULL)]);
    // What was refused did not fall back.
    assert_eq!(net.node(2).stack.get(Target::Stack, Opt::Fallbacks), Ok(4));
    // One of each kind goes on to its end.
    for body in &bodies[1..] {
        for tag in [3, 4] {
            put(&mut net, 1, 2, &changed(body, |header| header.tag = tag));
        }
    }
    net.pass(Duration::from_secs(3));
    assert_eq!(net.receive(3, to), Some(payload(300)));
    assert_eq!(net.receive(3, to), Some(payload(300)));
    assert_forgotten(&mut net);
}

#[test]
fn xr9_a_tag_that_is_used_anew_begins_a_new_datagram_at_every_hop() {
    let (old, new) = (bodies(3, 300), bodies(3, 200));
    let tag = tag_of(&old[0]);
    let mut net = chain(3, |_| {});
    let to = net.bind(3, PORT);
    put(&mut net, 1, 2, &old[0]);
    put(&mut net, 1, 2, &old[1]);
    for body in &new {
        put(&mut net, 1, 2, &changed(body, |header| header.tag = tag));
    }
    assert_eq!(net.receive(3, to), Some(payload(200)));
    assert_eq!(net.receive(3, to), None);
    assert_forgotten(&mut net);
}

#[test]
fn xr10_a_fragment_that_comes_back_to_a_node_ends_by_its_hop_limit() {
    let mut net = chain(3, |_| {});
    // Node 3 sends back what is for node 4, which nobody is.
    let lost = global(4);
    for (k, next) in [(2, 3), (3, 2)] {
        let via = crate::ipv6::Route::via(lost, 128, IFACE, super::super::net::link_local(next));
        net.node(k).stack.add_route(via).expect("room");
    }
    let from = net.bind(1, PORT);
    let via = crate::ipv6::Route::via(lost, 128, IFACE, super::super::net::link_local(2));
    net.node(1).stack.add_route(via).expect("room");
    net.send(1, from, (lost, PORT), &payload(300));
    net.pass(Duration::from_secs(100));
    assert!(net.air.len() < 1_000, "{} frames", net.air.len());
    assert_forgotten(&mut net);
}

#[test]
fn xr11_a_next_hop_that_dies_ends_the_datagram_and_all_entries() {
    for alive in 0..6 {
        let mut net = chain(3, |_| {});
        let (from, to) = (net.bind(1, PORT), net.bind(3, PORT));
        net.send(1, from, (global(3), PORT), &payload(400));
        net.arrives = Box::new(move |number| number < alive);
        net.pass(Duration::from_secs(150));
        assert_eq!(net.receive(3, to), None);
        assert_eq!(drops(&mut net, 1, Reason::RecoverGivenUp), 1);
        assert_forgotten(&mut net);
    }
}

#[test]
fn xr12_without_a_way_back_the_sender_gives_up_in_bounded_time_and_frames() {
    let mut net = chain(3, |_| {});
    let (from, to) = (net.bind(1, PORT), net.bind(3, PORT));
    net.send(1, from, (global(3), PORT), &payload(400));
    net.unnoticed = true;
    // The first five frames are fragments; behind them, nobody hears node 2 any more.
    net.arrives = Box::new(|number| number < 5);
    net.pass(Duration::from_secs(150));
    assert_eq!(net.receive(3, to), None);
    assert_eq!(drops(&mut net, 1, Reason::RecoverGivenUp), 1);
    // Four time-outs of each of two attempts at most.
    assert!(fragments_of(&net, 1).len() <= 2 * (5 + 4));
    assert_forgotten(&mut net);
}

#[test]
fn xr13_requests_in_every_fragment_get_one_answer_each_and_no_more() {
    let bodies = bodies(2, 700);
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    let asking: Vec<_> = bodies
        .iter()
        .map(|body| changed(body, |header| header.ack_request = true))
        .collect();
    for _ in 0..20 {
        for body in &asking {
            put(&mut net, 1, 2, body);
        }
    }
    assert_eq!(net.receive(2, to), Some(payload(700)));
    assert_eq!(net.receive(2, to), None);
    assert_eq!(acks_of(&net, 2).len(), 20 * asking.len());
    // What is not known is answered as often.
    let unknown = changed(&asking[1], |header| header.tag ^= 0x55);
    for _ in 0..20 {
        put(&mut net, 1, 2, &unknown);
    }
    assert_eq!(acks_of(&net, 2).len(), 20 * asking.len() + 20);
    assert_forgotten(&mut net);
}

/// RFC 8931 section 6: echoed at most once each, and the window stays within 1 and 32 (section 7.1).
#[test]
fn xr14_storms_of_congestion_keep_the_window_within_its_bounds() {
    let bodies = bodies(2, 700);
    let mut net = chain(2, |_| {});
    let marked = |body: &Vec<u8>| {
        changed(body, |header| {
            header.congested = true;
            header.ack_request = true;
        })
    };
    put(&mut net, 1, 2, &marked(&bodies[0]));
    put(
        &mut net,
        1,
        2,
        &changed(&bodies[1], |header| header.ack_request = true),
    );
    let echoes: Vec<_> = acks_of(&net, 2).iter().map(|ack| ack.congested).collect();
    assert_eq!(echoes, [true, false]);
    for kind in crate::congure::Kind::ALL {
        let mut net = chain(2, |config| config.lowpan.recover.control = Some(kind));
        let tag = begun(&mut net, 1200);
        for round in 1..=13_u32 {
            let storm = RfragAck {
                congested: true,
                tag,
                bitmap: Bitmap::first(round as u8),
            };
            put(&mut net, 2, 1, &storm.emit());
        }
        let windows = net.node(1).log.0.iter().filter_map(|(_, event)| match event {
            Event::Window { window, .. } => Some(*window),
            _ => None,
        });
        assert!(windows.into_iter().all(|window| (1..=32).contains(&window)));
        assert_forgotten(&mut net);
    }
}

#[test]
fn xr15_a_first_fragment_that_no_frame_holds_any_more_is_refused_in_both_directions() {
    // No slack is left, and node 2 has to write out the source.
    let mut net = chain(4, |config| config.lowpan.recover.slack_len = 0);
    let (from, to) = (net.bind(1, PORT), net.bind(4, PORT));
    net.send(1, from, (global(4), PORT), &payload(400));
    net.pass(Duration::from_secs(60));
    assert_eq!(net.receive(4, to), None);
    assert_eq!(drops(&mut net, 2, Reason::PacketTooBig), 2);
    assert!(acks_of(&net, 2).iter().all(|ack| ack.bitmap == Bitmap::NULL));
    assert_eq!(drops(&mut net, 1, Reason::RecoverGivenUp), 1);
    assert_eq!(fragments_of(&net, 2), []);
    assert_forgotten(&mut net);
}

#[test]
fn xr16_fragments_of_both_kinds_with_one_tag_are_two_datagrams() {
    let bodies = bodies(2, 300);
    let tag = tag_of(&bodies[0]);
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    // A datagram of RFC 4944 between the same nodes, under the same tag.
    let plain = {
        let mut other = chain(2, |_| {});
        let option = (Target::Iface(IFACE), Opt::Strategy);
        other.node(1).stack.set(option.0, option.1, 0).expect("an option");
        frames_of(&mut other, 1, 2, 290)
    };
    let retagged: Vec<Vec<u8>> = plain
        .iter()
        .map(|frame| {
            let (mut header, data) =
                frag::Fragment::parse(Header::parse(frame).expect("ours").1).expect("ours");
            header.datagram_tag = tag.into();
            let mut bytes = [0; 5];
            let len = header.emit(&mut bytes).expect("it fits");
            [&bytes[..len], data].concat()
        })
        .collect();
    for (at, body) in bodies.iter().enumerate() {
        put(&mut net, 1, 2, body);
        if let Some(other) = retagged.get(at) {
            put(&mut net, 1, 2, other);
        }
    }
    let mut received = [net.receive(2, to), net.receive(2, to)].map(|payload| payload.map(|p| p.len()));
    received.sort();
    assert_eq!(received, [Some(290), Some(300)]);
    assert_forgotten(&mut net);
}

#[test]
fn xr17_a_last_fragment_that_is_lost_with_its_request_is_sent_again() {
    let mut net = chain(3, |_| {});
    let (from, to) = (net.bind(1, PORT), net.bind(3, PORT));
    net.unnoticed = true;
    net.send(1, from, (global(3), PORT), &payload(300));
    // The fourth frame of node 1 is that of the last fragment; frames go one by one from node to node.
    let usual = bodies(3, 300).len();
    net.arrives = Box::new(move |number| number != 2 * (usual - 1));
    net.pass(Duration::from_secs(20));
    assert_eq!(net.receive(3, to), Some(payload(300)));
    let sent: Vec<_> = fragments_of(&net, 1)
        .iter()
        .map(|fragment| fragment.sequence)
        .collect();
    assert_eq!(sent.len(), usual + 1);
    assert_eq!(sent.last(), sent.get(usual - 1));
    assert_forgotten(&mut net);
}

#[test]
fn xr18_a_forwarder_that_reboots_costs_an_attempt_and_no_more() {
    let mut net = chain(3, |config| config.lowpan.recover.window = 2);
    let (from, to) = (net.bind(1, PORT), net.bind(3, PORT));
    net.send(1, from, (global(3), PORT), &payload(500));
    net.arrives = Box::new(|number| number < 4);
    net.settle();
    net.nodes[1] = chain(3, |_| {}).nodes.remove(1);
    net.arrives = Box::new(|_| true);
    net.pass(Duration::from_secs(60));
    assert_eq!(net.receive(3, to), Some(payload(500)));
    assert_eq!(net.receive(3, to), None);
    assert_forgotten(&mut net);
}

#[test]
fn xr19_when_the_reassembling_node_dies_no_half_is_delivered_and_the_sender_knows() {
    let mut net = chain(2, |_| {});
    let from = net.bind(1, PORT);
    net.send(1, from, (global(2), PORT), &payload(500));
    net.arrives = Box::new(|number| number < 3);
    net.unnoticed = true;
    net.settle();
    net.nodes[1] = chain(2, |_| {}).nodes.remove(1);
    net.arrives = Box::new(|_| true);
    let to = net.bind(2, PORT);
    net.pass(Duration::from_secs(60));
    // The reboot shows by a NULL bitmap, and the datagram goes again as a whole.
    assert_eq!(net.receive(2, to), Some(payload(500)));
    let fates = net.node(2).log.0.iter().filter_map(|(_, event)| match event {
        Event::RecoverableIn { fate, .. } => Some(*fate),
        _ => None,
    });
    assert!(
        fates
            .into_iter()
            .any(|fate| fate == FragmentFate::Dropped(Reason::FragmentUnknown))
    );
    assert_forgotten(&mut net);
}

#[test]
fn xr20_clocks_that_drift_leave_nothing_behind() {
    // The forwarder's clock is fast by 100 ppm and more: its entry is gone while the sender still waits.
    let mut net = chain(3, |config| {
        config.lowpan.recover.adaptive = false;
        config.lowpan.recover.arq_timeout = Duration::from_secs(10);
    });
    let (from, to) = (net.bind(1, PORT), net.bind(3, PORT));
    net.node(2)
        .stack
        .set(Target::Stack, Opt::ForwardTimeout, 9_999_000)
        .expect("an option");
    net.unnoticed = true;
    net.send(1, from, (global(3), PORT), &payload(300));
    // The last fragment is lost behind node 2; its entry ends a moment before the sender asks again.
    let lost = 2 * bodies(3, 300).len() - 1;
    net.arrives = Box::new(move |number| number != lost);
    net.pass(Duration::from_secs(60));
    assert_eq!(net.receive(3, to), Some(payload(300)));
    assert_eq!(net.receive(3, to), None);
    assert_forgotten(&mut net);
}
