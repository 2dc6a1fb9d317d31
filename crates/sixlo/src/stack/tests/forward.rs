//! Fragments that are forwarded one by one (RFC 8930), over chains of nodes and with everything lost that can be.

use std::boxed::Box;
use std::vec::Vec;

use super::net::{IFACE, Net, eui, global};
use crate::lowpan::{Eviction, Gap, Strategy};
use crate::netdev::{RxInfo, TxInfo, TxOutcome, TxReport};
use crate::stack::{Config, Opt, Target};
use crate::time::Duration;
use crate::trace::{Event, FragmentFate, Reason};
use crate::wire::addr::LinkAddr;
use crate::wire::ieee802154::Header;
use crate::wire::lowpan::frag::Fragment;

mod remembered;

pub(super) use remembered::take_all_packets;

const PORT: u16 = 5000;

fn as_rfc(_: &mut Config) {}

/// As in Lenders et al. 2021, section IV.
fn as_paper(config: &mut Config) {
    config.lowpan.forward.fallback = true;
    config.lowpan.reassembly.eviction = Eviction::Never;
}

fn chain(n: usize, change: impl Fn(&mut Config)) -> Net {
    Net::chain_with(n, change, |iface| {
        iface.strategy = Strategy::Forward;
        iface.fragment_gap = Gap::Fixed(Duration::ZERO);
    })
}

fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + 3) as u8).collect()
}

/// The fragment header in a frame and what it carries, if it carries a fragment.
fn fragment(frame: &[u8]) -> Option<(Fragment, Vec<u8>)> {
    let (_, payload) = Header::parse(frame).expect("our own frame");
    Fragment::parse(payload)
        .ok()
        .map(|(fragment, data)| (fragment, data.to_vec()))
}

fn fragments_of(net: &Net, k: usize) -> Vec<(Fragment, Vec<u8>)> {
    let of_node = net.air.iter().filter(|(sender, _)| *sender == k);
    of_node.filter_map(|(_, frame)| fragment(frame)).collect()
}

fn assert_forgotten(net: &mut Net) {
    net.pass(Duration::from_secs(70));
    net.assert_idle();
    for node in &net.nodes {
        assert_eq!(
            node.stack.get(Target::Stack, Opt::Forwards).expect("an option"),
            0
        );
        assert_eq!(node.stack.next_deadline(net.now), None, "a timer is left");
    }
}

/// Sends a datagram of `len` bytes from node 1 to the last one.
fn transfer(net: &mut Net, len: usize) -> Option<Vec<u8>> {
    let last = net.nodes.len();
    let (from, to) = (net.bind(1, PORT), net.bind(last, PORT));
    net.send(1, from, (global(last), PORT), &payload(len));
    net.pass(Duration::from_secs(2));
    let received = net.receive(last, to);
    assert_eq!(net.receive(last, to), None, "it arrived twice");
    received
}

#[test]
fn a_datagram_of_any_size_crosses_three_hops_without_being_put_together_on_the_way() {
    for len in (8..=1232).step_by(24) {
        let mut net = chain(4, as_rfc);
        assert_eq!(transfer(&mut net, len), Some(payload(len)), "{len} bytes");
        for k in [2, 3] {
            let fates = net.node(k).log.0.iter().filter_map(|(_, event)| match event {
                Event::FragmentIn { fate, .. } => Some(*fate),
                _ => None,
            });
            assert!(
                fates.into_iter().all(|fate| fate == FragmentFate::Forwarded),
                "{len} bytes"
            );
        }
        assert_forgotten(&mut net);
    }
}

/// RFC 8930 section 5: a forwarder assigns a tag of its own, the same for all fragments of a datagram.
#[test]
fn each_hop_swaps_the_tag() {
    let mut net = chain(3, as_rfc);
    assert!(transfer(&mut net, 600).is_some());
    let tags = |k| -> Vec<u16> {
        fragments_of(&net, k)
            .iter()
            .map(|(f, _)| f.datagram_tag)
            .collect()
    };
    let (sent, forwarded) = (tags(1), tags(2));
    assert_eq!(sent.len(), forwarded.len());
    assert!(sent.iter().all(|tag| *tag == sent[0]) && forwarded.iter().all(|tag| *tag == forwarded[0]));
    assert_ne!(sent[0], forwarded[0]);
}

/// RFC 8930 section 6 leaves room for headers that grow; Lenders et al. 2021, section III-B: the sender's first fragment
/// carries headers only.
#[test]
fn the_first_fragment_of_the_sender_carries_headers_only() {
    let mut net = chain(4, as_rfc);
    assert!(transfer(&mut net, 300).is_some());
    let sent = fragments_of(&net, 1);
    assert_eq!(sent[1].0.start(), 48, "the fixed header and that of UDP");
    let grown = fragments_of(&net, 2)[0].1.len() - sent[0].1.len();
    // The interface identifier of the source, and a hop limit that is not 64 any more.
    assert_eq!(grown, 9);
}

/// Every byte of the datagram is sent on once, whatever the first fragment had to carry.
#[test]
fn a_full_first_fragment_that_grows_is_cut_in_two() {
    let mut net = chain(4, as_rfc);
    // Node 1 cuts as between hops: its first fragment is full.
    set_strategy(&mut net, 1, Strategy::HopWise);
    assert_eq!(transfer(&mut net, 300), Some(payload(300)));
    let (sent, forwarded) = (fragments_of(&net, 1), fragments_of(&net, 2));
    assert_eq!(forwarded.len(), sent.len() + 1);
    let starts: Vec<_> = forwarded.iter().map(|(f, _)| f.start()).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    assert_forgotten(&mut net);
}

/// RFC 8930 section 5: fragments without the state of a first one are dropped; the state of a lost one goes.
#[test]
fn whichever_frame_is_lost_the_rest_of_the_datagram_is_not_sent_on() {
    let mut count = chain(4, as_rfc);
    assert!(transfer(&mut count, 500).is_some());
    for lost in 0..count.air.len() {
        let mut net = chain(4, as_rfc);
        net.arrives = Box::new(move |number| number != lost);
        assert_eq!(transfer(&mut net, 500), None, "without frame {lost}");
        let (victim, frame) = net.air[lost].clone();
        let (missing, _) = fragment(&frame).expect("a fragment");
        // Whoever sent the lost frame sends no fragment behind it.
        let after = fragments_of(&net, victim);
        assert!(
            after.iter().all(|(f, _)| f.start() <= missing.start()),
            "without frame {lost}"
        );
        assert_forgotten(&mut net);
    }
}

#[test]
fn a_fragment_that_was_lost_unnoticed_ends_the_datagram_at_the_next_hop() {
    // The link believes that it delivered the frame: the loss shows in the offset only.
    let mut net = chain(3, as_rfc);
    let socket = net.bind(1, PORT);
    net.send(1, socket, (global(3), PORT), &payload(500));
    let now = net.now;
    let mut frames = Vec::new();
    loop {
        let node = net.node(1);
        node.stack.poll(now, &mut node.log);
        let Some(frame) = into_void(&mut net, 1) else {
            break;
        };
        frames.push(frame);
    }
    for (number, frame) in frames.iter().enumerate() {
        if number != 2 {
            put(&mut net, frame);
        }
    }
    net.pass(Duration::from_secs(1));
    assert_eq!(fragments_of(&net, 2).len(), 2, "those before the gap");
    let broken = net.node(2).stack.drops(Reason::FragmentBroken);
    assert_eq!(broken as usize, frames.len() - 3);
    assert_forgotten(&mut net);
}

/// RFC 8930 section 5: no state, no forwarding.
#[test]
fn xf8_a_fragment_without_a_first_one_is_dropped_or_put_together_as_configured() {
    for (fallback, delivered) in [(false, false), (true, true)] {
        let mut net = chain(3, if fallback { as_paper } else { as_rfc });
        let (from, to) = (net.bind(1, PORT), net.bind(3, PORT));
        net.send(1, from, (global(3), PORT), &payload(200));
        let now = net.now;
        let mut frames = Vec::new();
        loop {
            let node = net.node(1);
            node.stack.poll(now, &mut node.log);
            let Some(frame) = into_void(&mut net, 1) else {
                break;
            };
            frames.push(frame);
        }
        frames.rotate_left(1);
        for frame in &frames {
            put(&mut net, frame);
        }
        net.pass(Duration::from_secs(2));
        assert_eq!(net.receive(3, to).is_some(), delivered);
        assert_eq!(fallbacks(&mut net) > 0, fallback);
        assert_forgotten(&mut net);
    }
}

#[test]
fn without_room_in_the_table_a_datagram_is_dropped_or_put_together_as_configured() {
    for (fallback, delivered) in [(false, 4), (true, 5)] {
        let mut net = chain(3, if fallback { as_paper } else { as_rfc });
        let to = net.bind(3, PORT);
        // Five datagrams whose first fragments all come before the others; there are four places.
        let frames: Vec<Vec<Vec<u8>>> = (0..5)
            .map(|n| datagram_in_frames(&mut net, 1, 3, 200, n))
            .collect();
        for at in 0..frames[0].len() {
            for frames in &frames {
                put(&mut net, &frames[at]);
            }
        }
        net.pass(Duration::from_secs(2));
        let mut received = 0;
        while net.receive(3, to).is_some() {
            received += 1;
        }
        // The socket holds four.
        assert_eq!(received, delivered.min(4));
        assert_eq!(fallbacks(&mut net), usize::from(fallback));
        assert_eq!(
            net.node(2).stack.drops(Reason::ForwardFull) as usize,
            usize::from(!fallback)
        );
        assert_forgotten(&mut net);
    }
}

/// A datagram of many fragments falls back once, and one for which there is no room at all does not.
#[test]
fn a_fall_back_is_counted_once_a_datagram_and_only_where_the_datagram_was_put_together() {
    let mut net = chain(3, as_paper);
    // Four places to forward and four to put together for ten datagrams of which no fragment is the last.
    let datagrams: Vec<_> = (0..10)
        .map(|n| datagram_in_frames(&mut net, 1, 3, 500, n))
        .collect();
    for at in 0..datagrams[0].len() - 1 {
        for frames in &datagrams {
            put(&mut net, &frames[at]);
        }
    }
    assert!(datagrams[0].len() > 4);
    assert_eq!(net.node(2).stack.reassemblies(), 4);
    assert_eq!(fallbacks(&mut net), 4);
    assert_forgotten(&mut net);
}

/// XF9 with forwarding: a flood of first fragments stops no datagram that comes in order.
#[test]
fn xf9_a_flood_of_first_fragments_gives_way_to_honest_datagrams() {
    let mut net = chain(3, as_rfc);
    let to = net.bind(3, PORT);
    for round in 0..40 {
        let frames = datagram_in_frames(&mut net, 1, 3, 200, round);
        put(&mut net, &frames[0]);
        net.pass(Duration::from_millis(200));
    }
    net.pass(Duration::from_millis(600));
    let frames = datagram_in_frames(&mut net, 1, 3, 200, 50);
    for frame in &frames {
        put(&mut net, frame);
    }
    net.pass(Duration::from_secs(1));
    assert!(net.receive(3, to).is_some());
    assert_forgotten(&mut net);
}

/// XF13 with forwarding: datagrams whose rest was lost on the way here do not keep others out for ever.
#[test]
fn xf13_datagrams_that_got_no_further_give_way() {
    let mut net = chain(3, as_rfc);
    let to = net.bind(3, PORT);
    for number in 0..4 {
        let frames = datagram_in_frames(&mut net, 1, 3, 400, number);
        for frame in &frames[..3] {
            put(&mut net, frame);
        }
    }
    let frames = datagram_in_frames(&mut net, 1, 3, 200, 50);
    put(&mut net, &frames[0]);
    assert_eq!(
        net.node(2).stack.drops(Reason::ForwardFull),
        1,
        "they make progress"
    );
    net.pass(Duration::from_millis(600));
    for frame in &datagram_in_frames(&mut net, 1, 3, 200, 51) {
        put(&mut net, frame);
    }
    net.pass(Duration::from_secs(1));
    assert_eq!(net.receive(3, to), Some(payload(200)));
    assert_forgotten(&mut net);
}

#[test]
fn xf5_a_repeated_fragment_is_not_sent_on_again() {
    let mut net = chain(3, as_rfc);
    let to = net.bind(3, PORT);
    for frame in datagram_in_frames(&mut net, 1, 3, 400, 0) {
        put(&mut net, &frame);
        let again = renumbered(&frame, 99);
        put(&mut net, &again);
    }
    net.pass(Duration::from_secs(1));
    assert!(net.receive(3, to).is_some());
    assert_eq!(fragments_of(&net, 2).len(), 6);
    assert_forgotten(&mut net);
}

#[test]
fn xf7_a_fragment_of_another_size_under_a_live_tag_is_not_one_of_the_datagram() {
    let mut net = chain(3, as_rfc);
    let to = net.bind(3, PORT);
    let mut frames = datagram_in_frames(&mut net, 1, 3, 400, 0);
    let at = frames[2].len() - Header::parse(&frames[2]).expect("ours").1.len();
    frames[2][at + 1] ^= 1;
    for frame in frames {
        put(&mut net, &frame);
    }
    net.pass(Duration::from_secs(1));
    assert_eq!(net.receive(3, to), None);
    assert_eq!(net.node(2).stack.drops(Reason::FragmentInvalid), 1);
    assert_forgotten(&mut net);
}

/// RFC 4944 section 5.3: the first fragment of another datagram under the tag, after a reboot or where tags wrap.
#[test]
fn xf11_a_tag_that_is_used_anew_for_another_size_begins_another_datagram() {
    let mut net = chain(3, as_rfc);
    let to = net.bind(3, PORT);
    let old = datagram_in_frames(&mut net, 1, 3, 400, 0);
    let (tag, _) = fragment(&old[0]).expect("a fragment");
    put(&mut net, &old[0]);
    for mut frame in datagram_in_frames(&mut net, 1, 3, 200, 1) {
        let at = frame.len() - Header::parse(&frame).expect("ours").1.len();
        frame[at + 2..at + 4].copy_from_slice(&tag.datagram_tag.to_be_bytes());
        put(&mut net, &frame);
    }
    net.pass(Duration::from_secs(1));
    assert_eq!(net.receive(3, to), Some(payload(200)));
    assert_forgotten(&mut net);
}

/// RFC 8930 section 5: if the first fragment cannot be forwarded, the state must be removed.
#[test]
fn where_the_first_fragment_fails_on_the_link_nothing_is_remembered() {
    let mut net = chain(3, as_rfc);
    let frames = datagram_in_frames(&mut net, 1, 3, 400, 0);
    net.arrives = Box::new(|_| false);
    put(&mut net, &frames[0]);
    assert_eq!(net.node(2).stack.get(Target::Stack, Opt::Forwards), Ok(0));
    put(&mut net, &frames[1]);
    assert_eq!(net.node(2).stack.drops(Reason::FragmentUnknown), 1);
    assert_forgotten(&mut net);
}

/// What waits behind a fragment that failed is not sent any more.
#[test]
fn fragments_that_wait_at_the_interface_are_not_sent_after_one_that_failed() {
    let mut net = chain(3, as_rfc);
    let frames = datagram_in_frames(&mut net, 1, 3, 400, 0);
    assert!(frames.len() > 4);
    let now = net.now;
    for frame in &frames {
        let node = net.node(2);
        node.stack
            .frame(now, IFACE, frame, RxInfo::default(), &mut node.log);
    }
    net.arrives = Box::new(|number| number != 1);
    net.settle();
    assert_eq!(
        fragments_of(&net, 2).len(),
        2,
        "the first, and the one that failed"
    );
    let broken = net.node(2).stack.drops(Reason::FragmentBroken) as usize;
    assert_eq!(broken, frames.len() - 2);
    assert_forgotten(&mut net);
}

#[test]
fn each_fragment_renews_the_time_for_which_a_datagram_is_remembered() {
    let mut net = chain(3, as_rfc);
    let frames = datagram_in_frames(&mut net, 1, 3, 400, 0);
    for (number, frame) in frames.iter().take(3).enumerate() {
        put(&mut net, frame);
        assert_eq!(fragments_of(&net, 2).len(), number + 1);
        net.pass(Duration::from_secs(50));
    }
    assert_eq!(net.node(2).stack.get(Target::Stack, Opt::Forwards), Ok(1));
    net.pass(Duration::from_secs(15));
    assert_eq!(net.node(2).stack.get(Target::Stack, Opt::Forwards), Ok(0));
    assert_forgotten(&mut net);
}

/// RFC 4944 section 5.3: offsets count units of eight bytes, so all but the last are cut there.
#[test]
fn fragments_that_are_too_long_for_the_next_link_are_cut_at_units_of_eight_bytes() {
    // Node 1 sends from a short address: six bytes more for the payload than node 2 has.
    let mut wide = Net::chain_with(3, as_rfc, |iface| {
        iface.strategy = Strategy::Forward;
        iface.fragment_gap = Gap::Fixed(Duration::ZERO);
        (iface.short, iface.send_from_short) = (Some(1), true);
    });
    let frames = datagram_in_frames(&mut wide, 1, 3, 500, 0);
    let mut net = chain(3, as_rfc);
    let to = net.bind(3, PORT);
    for frame in &frames {
        put(&mut net, frame);
    }
    net.pass(Duration::from_secs(1));
    assert!(fragments_of(&net, 2).len() > frames.len());
    assert_eq!(net.receive(3, to), Some(payload(500)));
    assert_forgotten(&mut net);
}

/// RFC 4443 section 3.3: an error needs the datagram, so it is put together where the hop limit ends.
#[test]
fn a_datagram_whose_hop_limit_ends_on_the_way_is_reported_to_its_source() {
    let mut net = Net::chain_with(
        4,
        |config| config.ipv6.hop_limit = 2,
        |iface| {
            iface.strategy = Strategy::Forward;
            iface.fragment_gap = Gap::Fixed(Duration::ZERO);
        },
    );
    assert_eq!(transfer(&mut net, 300), None);
    assert_eq!(net.node(3).stack.drops(Reason::HopLimit), 1);
    assert_forgotten(&mut net);
}

/// RFC 8930 section 5: consecutive fragments are separated by a gap.
#[test]
fn fragments_keep_the_gap_at_the_sender_and_at_forwarders_and_whole_packets_do_not_wait_for_it() {
    let gap = Duration::from_millis(30);
    let mut net = Net::chain_with(
        3,
        |_| (),
        |iface| {
            iface.strategy = Strategy::Forward;
            iface.fragment_gap = Gap::Fixed(gap);
        },
    );
    let (from, to) = (net.bind(1, PORT), net.bind(3, PORT));
    net.send(1, from, (global(3), PORT), &payload(400));
    net.send(1, from, (global(3), PORT), b"short");
    net.pass(Duration::from_secs(2));
    assert_eq!(
        net.receive(3, to).as_deref(),
        Some(b"short".as_slice()),
        "it overtakes"
    );
    assert_eq!(net.receive(3, to), Some(payload(400)));
    for k in [1, 2] {
        let times = net.node(k).log.0.iter().filter_map(|(at, event)| match event {
            Event::FragmentOut { .. } => Some(*at),
            _ => None,
        });
        let times: Vec<_> = times.collect();
        assert!(
            times.windows(2).skip(1).all(|pair| pair[1] >= pair[0] + gap),
            "node {k}: {times:?}"
        );
    }
    assert_forgotten(&mut net);
}

#[test]
fn nodes_with_different_strategies_and_no_table_understand_each_other() {
    for hop_wise in 1..=4 {
        let mut net = chain(4, as_rfc);
        set_strategy(&mut net, hop_wise, Strategy::HopWise);
        assert_eq!(transfer(&mut net, 700), Some(payload(700)), "node {hop_wise}");
        assert_forgotten(&mut net);
    }
}

/// RFC 4944 section 5.3 and RFC 8930 section 5: a reboot of a forwarder ends what it forwarded, and nothing is left.
#[test]
fn xr18_a_reboot_of_a_forwarder_ends_the_datagram() {
    let mut net = chain(3, as_rfc);
    let to = net.bind(3, PORT);
    let frames = datagram_in_frames(&mut net, 1, 3, 400, 0);
    for frame in &frames[..3] {
        put(&mut net, frame);
    }
    net.nodes[1] = chain(3, as_rfc).nodes.remove(1);
    for frame in &frames[3..] {
        put(&mut net, frame);
    }
    net.pass(Duration::from_secs(1));
    assert_eq!(net.receive(3, to), None);
    assert!(net.node(2).stack.drops(Reason::FragmentUnknown) > 0);
    assert_forgotten(&mut net);
}

/// The frames of a datagram that node `from` would send to `to`, each with a sequence number of its own.
fn datagram_in_frames(net: &mut Net, from: usize, to: usize, len: usize, number: u16) -> Vec<Vec<u8>> {
    let socket = net.bind(from, 6000 + number);
    net.send(from, socket, (global(to), PORT), &payload(len));
    let now = net.now;
    let mut frames = Vec::new();
    loop {
        let node = net.node(from);
        node.stack.poll(now, &mut node.log);
        let Some(frame) = into_void(net, from) else { break };
        frames.push(frame);
    }
    let node = net.node(from);
    assert!(node.stack.close(now, socket, &mut node.log));
    frames
}

/// Node `k` sends a frame that nobody hears, though the link says that it arrived.
fn into_void(net: &mut Net, k: usize) -> Option<Vec<u8>> {
    let now = net.now;
    let node = net.node(k);
    let mut frame = [0; 127];
    let TxInfo { len, .. } = node.stack.transmit(now, IFACE, &mut frame, &mut node.log)?;
    let report = TxReport {
        outcome: TxOutcome::Acked,
        attempts: 1,
        busy: 0,
    };
    node.stack.transmitted(now, IFACE, report, &mut node.log);
    Some(frame[..len].to_vec())
}

/// Node 2 hears a frame.
fn put(net: &mut Net, frame: &[u8]) {
    let now = net.now;
    let node = net.node(2);
    node.stack
        .frame(now, IFACE, frame, RxInfo::default(), &mut node.log);
    net.settle();
}

fn set_strategy(net: &mut Net, k: usize, strategy: Strategy) {
    let stack = &mut net.node(k).stack;
    stack
        .set(Target::Iface(IFACE), Opt::Strategy, strategy as u64)
        .expect("an option");
}

/// Datagrams that node 2 put together because it could not forward them.
fn fallbacks(net: &mut Net) -> usize {
    let fallbacks = net.node(2).stack.get(Target::Stack, Opt::Fallbacks);
    fallbacks.expect("an option") as usize
}

/// The same frame under another sequence number.
fn renumbered(frame: &[u8], sequence: u8) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[2] = sequence;
    assert_eq!(
        Header::parse(&frame).expect("ours").0.dst,
        LinkAddr::Extended(eui(2))
    );
    frame
}
