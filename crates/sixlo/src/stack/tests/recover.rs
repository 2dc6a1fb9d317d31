//! Recoverable fragments (RFC 8931) over chains of nodes, with everything lost that can be.

use std::boxed::Box;
use std::vec::Vec;

use super::net::{IFACE, Net, eui, global};
use crate::congure::Kind;
use crate::lowpan::{Gap, Strategy};
use crate::netdev::{RxInfo, TxInfo, TxOutcome, TxReport};
use crate::netif::Mark;
use crate::stack::{Config, Opt, Target};
use crate::time::Duration;
use crate::trace::{Event, FragmentFate, Reason, Told};
use crate::wire::addr::LinkAddr;
use crate::wire::ieee802154::Header;
use crate::wire::lowpan::rfrag::{Bitmap, Rfrag, RfragAck};

mod told;

pub(super) const PORT: u16 = 5000;

/// Nodes 1 to `n` in a row, all of which recover fragments.
pub(super) fn chain(n: usize, change: impl Fn(&mut Config)) -> Net {
    Net::chain_with(n, change, |iface| {
        iface.strategy = Strategy::Recover;
        iface.fragment_gap = Gap::Fixed(Duration::ZERO);
    })
}

pub(super) fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + 3) as u8).collect()
}

/// The payload of a frame.
fn body(frame: &[u8]) -> &[u8] {
    Header::parse(frame).expect("a frame").1
}

/// The recoverable fragments that node `k` sent.
pub(super) fn fragments_of(net: &Net, k: usize) -> Vec<Rfrag> {
    let of_node = net.air.iter().filter(|(sender, _)| *sender == k);
    let parsed = of_node.filter_map(|(_, frame)| Rfrag::parse(body(frame)).ok());
    parsed.map(|(fragment, _)| fragment).collect()
}

/// The acknowledgements that node `k` sent.
pub(super) fn acks_of(net: &Net, k: usize) -> Vec<RfragAck> {
    let of_node = net.air.iter().filter(|(sender, _)| *sender == k);
    of_node
        .filter_map(|(_, frame)| RfragAck::parse(body(frame)).ok())
        .collect()
}

/// Long after: no table has an entry, no byte is left, no timer is armed.
pub(super) fn assert_forgotten(net: &mut Net) {
    net.pass(Duration::from_secs(200));
    net.assert_idle();
    for node in &net.nodes {
        for option in [Opt::Forwards, Opt::Transfers, Opt::Reassemblies] {
            assert_eq!(node.stack.get(Target::Stack, option), Ok(0), "{option:?}");
        }
        assert_eq!(node.stack.next_deadline(net.now), None, "a timer is left");
    }
}

/// Sends a datagram from node 1 to the last one; gives what came of it.
fn transfer(net: &mut Net, len: usize) -> Option<Vec<u8>> {
    let last = net.nodes.len();
    let (from, to) = (net.bind(1, PORT), net.bind(last, PORT));
    net.send(1, from, (global(last), PORT), &payload(len));
    net.pass(Duration::from_secs(100));
    let received = net.receive(last, to);
    assert_eq!(net.receive(last, to), None, "it arrived twice");
    received
}

/// The frames that node `k` would send for a datagram; its link says that they arrive.
pub(super) fn frames_of(net: &mut Net, k: usize, to: usize, len: usize) -> Vec<Vec<u8>> {
    let socket = net.bind(k, 7000);
    net.send(k, socket, (global(to), PORT), &payload(len));
    let now = net.now;
    let mut frames = Vec::new();
    loop {
        let node = net.node(k);
        node.stack.poll(now, &mut node.log);
        let mut frame = [0; 127];
        let info = node.stack.transmit(now, IFACE, &mut frame, &mut node.log);
        let Some(TxInfo { len, .. }) = info else { break };
        let report = TxReport {
            outcome: TxOutcome::Acked,
            attempts: 1,
            busy: 0,
        };
        node.stack.transmitted(now, IFACE, report, &mut node.log);
        frames.push(frame[..len].to_vec());
    }
    let node = net.node(k);
    assert!(node.stack.close(now, socket, &mut node.log));
    frames
}

/// Node `to` hears a payload from node `from`.
pub(super) fn put(net: &mut Net, from: usize, to: usize, payload: &[u8]) {
    net.injected += 1;
    let addr = |k| LinkAddr::Extended(eui(k));
    let mut frame = [0; 127];
    // Numbers that differ, so that the link does not take one for the other.
    let header = Header::data(net.injected as u8, 0x23, addr(to), addr(from));
    let len = header.emit(&mut frame).expect("it fits");
    frame[len..len + payload.len()].copy_from_slice(payload);
    let now = net.now;
    let node = net.node(to);
    let frame = &frame[..len + payload.len()];
    node.stack
        .frame(now, IFACE, frame, RxInfo::default(), &mut node.log);
    net.settle();
}

/// Node 2 hears the frame of node 1 again, under another sequence number of the link.
pub(super) fn put_frame(net: &mut Net, frame: &[u8]) {
    put(net, 1, 2, body(frame));
}

#[test]
fn a_datagram_of_any_size_crosses_three_hops_without_being_put_together_on_the_way() {
    for len in (8..=1232).step_by(24) {
        let mut net = chain(4, |_| {});
        assert_eq!(transfer(&mut net, len), Some(payload(len)), "{len} bytes");
        for k in [2, 3] {
            let mut fates = net.node(k).log.0.iter().filter_map(|(_, event)| match event {
                Event::RecoverableIn { fate, .. } => Some(*fate),
                _ => None,
            });
            assert!(fates.all(|fate| fate == FragmentFate::Forwarded), "{len} bytes");
        }
        let fragments = fragments_of(&net, 1);
        // A datagram that fits a frame of node 1 may not fit one of node 2, which then is the first to cut it.
        if let Some(last) = fragments.last() {
            assert_eq!(fragments.len(), fragments_of(&net, 3).len());
            // RFC 8931 section 6: on the last fragment, and with this window on no other.
            let asking = fragments.iter().filter(|fragment| fragment.ack_request);
            assert!(asking.eq([last]));
            // And one answer, which every hop passes on.
            for k in [4, 3, 2] {
                let acks = acks_of(&net, k);
                assert!(acks.iter().map(|ack| ack.bitmap).eq([Bitmap::FULL]));
            }
        }
        assert_forgotten(&mut net);
    }
}

/// RFC 8931 section 4.4.
#[test]
fn xr15_where_headers_grow_all_sizes_and_offsets_behind_shift_by_as_much() {
    let mut net = chain(4, |_| {});
    assert!(transfer(&mut net, 400).is_some());
    let (sent, forwarded, last) = (
        fragments_of(&net, 1),
        fragments_of(&net, 2),
        fragments_of(&net, 3),
    );
    // Node 2 cannot elide the source, and the hop limit is not 64 any more.
    for (before, after) in sent.iter().zip(&forwarded) {
        assert_eq!(after.offset - before.offset, 9);
        assert_ne!(after.tag, before.tag);
        assert_eq!(after.sequence, before.sequence);
    }
    assert_eq!(forwarded[0].size - sent[0].size, 9);
    // RFC 8931 section 4.1: just what the slack is for.
    assert_eq!(forwarded[0].size, sent[1].size);
    // On the last link the destination is elided: all shrink.
    assert_eq!(forwarded.len(), last.len());
    for (before, after) in forwarded.iter().zip(&last) {
        assert_eq!(before.offset - after.offset, 8);
    }
}

/// The frames that a datagram over three nodes takes if nothing is lost.
fn usual_frames(len: usize) -> usize {
    let mut net = chain(3, |_| {});
    assert!(transfer(&mut net, len).is_some());
    net.air.len()
}

#[test]
fn whichever_frame_is_lost_the_datagram_arrives_once_and_unchanged() {
    for unnoticed in [false, true] {
        // All fragments and acknowledgements of both hops.
        for lost in 0..usual_frames(400) {
            let mut net = chain(3, |_| {});
            net.unnoticed = unnoticed;
            net.arrives = Box::new(move |number| number != lost);
            assert_eq!(
                transfer(&mut net, 400),
                Some(payload(400)),
                "without frame {lost}"
            );
            assert_forgotten(&mut net);
        }
    }
}

#[test]
fn whichever_two_frames_are_lost_the_datagram_arrives_once_or_ends_with_a_reason() {
    for unnoticed in [false, true] {
        let frames = usual_frames(300) + 6;
        let mut given_up = 0;
        for first in 0..frames {
            for second in first + 1..frames {
                let mut net = chain(3, |_| {});
                net.unnoticed = unnoticed;
                net.arrives = Box::new(move |number| number != first && number != second);
                match transfer(&mut net, 300) {
                    Some(received) => assert_eq!(received, payload(300)),
                    None => {
                        assert_eq!(net.node(1).stack.drops(Reason::RecoverGivenUp), 1);
                        given_up += 1;
                    }
                }
                assert_forgotten(&mut net);
            }
        }
        // RFC 8931 section 6.1.2: only where both attempts lose their first fragment.
        assert!(given_up <= 4, "{given_up}");
    }
}

/// All orders of `n` things.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = [Vec::new()].to_vec();
    for thing in 0..n {
        let mut longer = Vec::new();
        for order in &all {
            for place in 0..=order.len() {
                let mut order: Vec<usize> = order.clone();
                order.insert(place, thing);
                longer.push(order);
            }
        }
        all = longer;
    }
    all
}

#[test]
fn fragments_in_any_order_and_twice_make_one_datagram() {
    // Headers of 48 bytes, compressed to 7 and more.
    for (n, len) in [(2, 150), (3, 250), (4, 350), (5, 440)] {
        let mut sender = chain(2, |_| {});
        let frames = frames_of(&mut sender, 1, 2, len);
        assert_eq!(frames.len(), n);
        for order in orders(n) {
            let mut net = chain(2, |_| {});
            let to = net.bind(2, PORT);
            // RFC 8931 section 6.1.2: what comes before the first fragment is refused, and sent again.
            let first = order.iter().position(|at| *at == 0).expect("it is there");
            for at in &order {
                put_frame(&mut net, &frames[*at]);
                put_frame(&mut net, &frames[*at]);
            }
            assert_eq!(net.receive(2, to).is_some(), first == 0, "{order:?}");
            let refused = acks_of(&net, 2)
                .iter()
                .filter(|ack| ack.bitmap == Bitmap::NULL)
                .count();
            assert_eq!(refused, 2 * first);
            for at in &order[..first] {
                put_frame(&mut net, &frames[*at]);
            }
            assert_eq!(net.receive(2, to).is_some(), first != 0, "{order:?}");
            assert_eq!(net.receive(2, to), None);
            assert_forgotten(&mut net);
        }
    }
}

/// RFC 8931 sections 6 and 6.2.
#[test]
fn late_fragments_are_absorbed_for_a_while_and_those_that_ask_get_the_full_bitmap() {
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    let frames = frames_of(&mut chain(2, |_| {}), 1, 2, 300);
    for frame in &frames {
        put_frame(&mut net, frame);
    }
    assert_eq!(net.receive(2, to), Some(payload(300)));
    let before = acks_of(&net, 2);
    assert!(before.iter().map(|ack| ack.bitmap).eq([Bitmap::FULL]));
    for frame in &frames {
        put_frame(&mut net, frame);
    }
    // One more, for the last one, which asks.
    assert_eq!(acks_of(&net, 2), [before[0], before[0]]);
    net.pass(Duration::from_secs(5));
    put_frame(&mut net, &frames[1]);
    assert_eq!(acks_of(&net, 2)[2].bitmap, Bitmap::NULL);
    assert_eq!(net.receive(2, to), None);
    assert_forgotten(&mut net);
}

#[test]
fn fragments_that_come_after_the_time_of_reassembly_deliver_nothing() {
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    let frames = frames_of(&mut chain(2, |_| {}), 1, 2, 300);
    put_frame(&mut net, &frames[0]);
    net.pass(Duration::from_secs(61));
    assert_eq!(net.node(2).stack.drops(Reason::ReassemblyTimeout), 1);
    for frame in &frames[1..] {
        put_frame(&mut net, frame);
    }
    assert_eq!(net.receive(2, to), None);
    assert!(acks_of(&net, 2).iter().all(|ack| ack.bitmap == Bitmap::NULL));
    assert_forgotten(&mut net);
}

/// RFC 8931 section 6.
#[test]
fn with_a_window_each_of_its_last_fragments_asks_and_is_answered() {
    for window in 1..=5 {
        let mut net = chain(3, |config| config.lowpan.recover.window = window);
        assert_eq!(transfer(&mut net, 700), Some(payload(700)));
        let fragments = fragments_of(&net, 1);
        for (at, fragment) in fragments.iter().enumerate() {
            let ends_window = (at + 1) % usize::from(window) == 0;
            let last = at + 1 == fragments.len();
            assert_eq!(
                fragment.ack_request,
                ends_window || last,
                "window {window}, fragment {at}"
            );
        }
        assert_eq!(acks_of(&net, 3).len(), fragments.len().div_ceil(window.into()));
        assert_forgotten(&mut net);
    }
}

/// RFC 8931 sections 4.2 and 7.1.
#[test]
fn recoverable_fragments_keep_the_gap_at_every_node() {
    let gap = Duration::from_millis(30);
    let mut net = Net::chain_with(
        3,
        |_| (),
        |iface| {
            iface.strategy = Strategy::Recover;
            iface.fragment_gap = Gap::Fixed(gap);
        },
    );
    assert_eq!(transfer(&mut net, 500), Some(payload(500)));
    for k in 1..=2 {
        let times = net.node(k).log.0.iter().filter_map(|(at, event)| match event {
            Event::RecoverableOut { .. } | Event::RecoverableAckOut { .. } => Some(*at),
            _ => None,
        });
        let times: Vec<_> = times.collect();
        assert!(times.len() >= 6);
        assert!(
            times.windows(2).all(|pair| pair[1] >= pair[0] + gap),
            "node {k}: {times:?}"
        );
    }
    assert_forgotten(&mut net);
}

#[test]
fn what_congestion_control_does_is_told_and_done() {
    for kind in Kind::ALL {
        let mut net = chain(3, |config| config.lowpan.recover.control = Some(kind));
        net.unnoticed = true;
        // The second fragment on the first hop.
        net.arrives = Box::new(|number| number != 2);
        assert_eq!(transfer(&mut net, 700), Some(payload(700)), "{kind:?}");
        let told = net.node(1).log.0.iter().filter_map(|(_, event)| match event {
            Event::Window { told, window, .. } => Some((*told, *window)),
            _ => None,
        });
        let told: Vec<_> = told.collect();
        assert_eq!(told[0].0, Told::Start, "{kind:?}");
        assert!(
            told.iter()
                .any(|(told, _)| matches!(told, Told::Acked | Told::Lost | Told::TimedOut))
        );
        assert!(told.iter().all(|(_, window)| (1..=32).contains(window)));
        assert_forgotten(&mut net);
    }
}

/// A chain of four whose second node marks by this rule, and hears a window before it can send on.
fn congested(rule: Mark, change: impl Fn(&mut Net)) -> Net {
    let mut net = chain(4, |config| config.lowpan.recover.control = Some(Kind::Reno));
    let iface = Target::Iface(IFACE);
    for (option, value) in [(Opt::QueueCapacity, 3), (Opt::Mark, rule as u64)] {
        net.node(2).stack.set(iface, option, value).expect("an option");
    }
    let (from, to) = (net.bind(1, PORT), net.bind(4, PORT));
    net.send(1, from, (global(4), PORT), &payload(500));
    let frames: Vec<_> = (0..3).filter_map(|_| net.transmit(1)).collect();
    assert_eq!(frames.len(), 3);
    change(&mut net);
    net.transmit(1).expect("the last of the window");
    net.pass(Duration::from_secs(20));
    assert_eq!(net.receive(4, to), Some(payload(500)));
    net
}

/// RFC 8931 sections 4.3 and 6: marked on the way, echoed at most once, and obeyed.
#[test]
fn congestion_on_the_way_comes_back_to_the_sender() {
    let later = |net: &mut Net| net.now += Duration::from_millis(200);
    let now = |_: &mut Net| ();
    let nets = [
        congested(Mark::HalfFull, now),
        congested(Mark::Waiting, later),
        congested(Mark::Red, |net| {
            // A queue of one packet is a long one, on average as at once.
            let options = [(Opt::RedWeight, 0), (Opt::RedMin, 0), (Opt::RedMax, 33)];
            for (option, value) in options {
                net.node(2)
                    .stack
                    .set(Target::Iface(IFACE), option, value)
                    .expect("an option");
            }
        }),
    ];
    for mut net in nets {
        assert!(fragments_of(&net, 1).iter().all(|fragment| !fragment.congested));
        let [marked, carried] = [2, 3].map(|k| {
            let fragments = fragments_of(&net, k);
            fragments.iter().filter(|fragment| fragment.congested).count()
        });
        assert!(marked > 0);
        assert_eq!(carried, marked);
        let echoes = acks_of(&net, 4).iter().filter(|ack| ack.congested).count();
        assert!(echoes > 0 && echoes <= marked);
        let told = |event: &Event| matches!(event, Event::Window { told: Told::Ecn, .. });
        assert!(net.node(1).log.0.iter().any(|(_, event)| told(event)));
        assert_forgotten(&mut net);
    }
    // In time nothing is marked.
    let mut net = congested(Mark::Waiting, now);
    assert!(fragments_of(&net, 2).iter().all(|fragment| !fragment.congested));
    assert_forgotten(&mut net);
}

/// RFC 8931 section 7.1, UseECN.
#[test]
fn congestion_that_comes_back_is_not_obeyed_where_that_is_off() {
    let mut net = congested(Mark::HalfFull, |net| {
        let off = net.node(1).stack.set(Target::Stack, Opt::RecoverEcn, 0);
        assert_eq!(off, Ok(()));
    });
    assert!(acks_of(&net, 2).iter().any(|ack| ack.congested));
    let told = |event: &Event| matches!(event, Event::Window { told: Told::Ecn, .. });
    assert!(!net.node(1).log.0.iter().any(|(_, event)| told(event)));
    assert_forgotten(&mut net);
}

/// Lenders et al. 2021, section V-A: the tables count as the queue does.
#[test]
fn reassemblies_that_fill_their_table_by_half_are_congestion() {
    let cases = [
        (Mark::HalfFull, 2, false),
        (Mark::HalfFull, 3, true),
        (Mark::Red, 3, false),
    ];
    for (rule, reassemblies, marked) in cases {
        let mut net = chain(3, |_| {});
        let iface = Target::Iface(IFACE);
        net.node(2)
            .stack
            .set(iface, Opt::Mark, rule as u64)
            .expect("an option");
        // Datagrams for node 2 of which the rest does not come, by RFC 4944: its table has four places.
        for tag in 0..reassemblies {
            let piece = [0xe0, 60, 0, tag, 1, 0, 0, 0, 0, 0, 0, 0, 0];
            net.inject_frame(2, 9, LinkAddr::Extended(eui(2)), &piece);
        }
        let under_way = net.node(2).stack.get(Target::Stack, Opt::Reassemblies);
        assert_eq!(under_way, Ok(reassemblies.into()));
        let frames = frames_of(&mut net, 1, 3, 500);
        net.inject_frame(2, 1, LinkAddr::Extended(eui(2)), body(&frames[0]));
        net.settle();
        let found: Vec<_> = fragments_of(&net, 2)
            .iter()
            .map(|first| first.congested)
            .collect();
        assert_eq!(found, [marked]);
        assert_forgotten(&mut net);
    }
}

#[test]
fn a_node_that_cannot_keep_one_more_datagram_drops_it_with_a_reason() {
    let mut net = chain(2, |_| {});
    net.arrives = Box::new(|_| false);
    net.unnoticed = true;
    let from = net.bind(1, PORT);
    for _ in 0..5 {
        net.send(1, from, (global(2), PORT), &payload(300));
        net.settle();
    }
    assert_eq!(net.node(1).stack.get(Target::Stack, Opt::Transfers), Ok(4));
    assert_eq!(net.node(1).stack.drops(Reason::RecoverFull), 1);
    assert_forgotten(&mut net);
    assert_eq!(net.node(1).stack.drops(Reason::RecoverGivenUp), 4);
}

#[test]
fn what_goes_to_many_goes_in_fragments_of_rfc_4944() {
    let mut net = chain(2, |_| {});
    let (from, to) = (net.bind(1, PORT), net.bind(2, PORT));
    net.send(
        1,
        from,
        ("ff02::1".parse().expect("an address"), PORT),
        &payload(300),
    );
    net.pass(Duration::from_secs(1));
    assert_eq!(net.receive(2, to), Some(payload(300)));
    assert_eq!(fragments_of(&net, 1), []);
    assert_forgotten(&mut net);
}

#[test]
fn nodes_with_different_strategies_understand_each_other() {
    for other in [Strategy::HopWise, Strategy::Forward] {
        for k in 1..=4 {
            let mut net = chain(4, |_| {});
            let option = (Target::Iface(IFACE), Opt::Strategy);
            net.node(k)
                .stack
                .set(option.0, option.1, other as u64)
                .expect("an option");
            assert_eq!(transfer(&mut net, 700), Some(payload(700)), "{other:?} at {k}");
            assert_forgotten(&mut net);
        }
    }
}

#[test]
fn many_datagrams_at_once_all_arrive() {
    let mut net = chain(3, |_| {});
    // What is put together on the way for want of a place waits for the interface as a whole.
    net.node(2)
        .stack
        .set(Target::Iface(IFACE), Opt::QueueCapacity, 64)
        .expect("an option");
    let (a, c) = (net.bind(1, PORT), net.bind(3, PORT));
    for _ in 0..3 {
        net.send(1, a, (global(3), PORT), &payload(600));
        net.send(3, c, (global(1), PORT), &payload(500));
    }
    net.pass(Duration::from_secs(60));
    for k in 1..=3 {
        std::eprintln!("{k} {:?}", net.node(k).log.drops());
    }
    for _ in 0..3 {
        assert_eq!(net.receive(3, c), Some(payload(600)));
        assert_eq!(net.receive(1, a), Some(payload(500)));
    }
    assert_forgotten(&mut net);
}
