//! What a sender tells congestion control, and what the ends tell each other.

use super::*;

/// What the control of node 1 was told, with the window and the gap after it.
fn told(net: &mut Net) -> Vec<(Told, u16, Option<Duration>)> {
    let events = net.node(1).log.0.iter();
    let told = events.filter_map(|(_, event)| match event {
        Event::Window {
            told,
            window,
            interval,
            ..
        } => Some((*told, *window, *interval)),
        _ => None,
    });
    told.collect()
}

fn controlled(kind: Kind) -> Net {
    chain(2, |config| {
        config.lowpan.recover.control = Some(kind);
        config.lowpan.recover.adaptive = false;
    })
}

fn events(told: &[(Told, u16, Option<Duration>)]) -> Vec<Told> {
    told.iter().map(|(told, ..)| *told).collect()
}

/// RFC 5681 section 3.1: slow start from 4 fragments, one more for each acknowledgement.
#[test]
fn acknowledgements_open_the_window() {
    let mut net = controlled(Kind::Reno);
    assert!(transfer(&mut net, 1_000).is_some());
    let windows: Vec<_> = told(&mut net)
        .iter()
        .map(|(told, window, _)| (*told, *window))
        .collect();
    let expected = [
        (Told::Start, 4),
        (Told::Acked, 5),
        (Told::Acked, 6),
        (Told::Acked, 7),
    ];
    assert_eq!(windows, expected);
}

/// RFC 9002 section 7.8: a sender that did not fill its window learns nothing of how large it may be.
#[test]
fn a_window_that_was_not_filled_is_not_opened() {
    let mut net = controlled(Kind::Quic);
    assert!(transfer(&mut net, 220).is_some());
    let windows: Vec<_> = told(&mut net)
        .iter()
        .map(|(told, window, _)| (*told, *window))
        .collect();
    assert_eq!(fragments_of(&net, 1).len(), 3);
    assert_eq!(windows, [(Told::Start, 2), (Told::Acked, 4), (Told::Acked, 4)]);
}

#[test]
fn a_loss_is_told_once_whether_the_link_or_an_answer_tells_of_it() {
    for unnoticed in [false, true] {
        let mut net = controlled(Kind::Reno);
        net.unnoticed = unnoticed;
        net.arrives = Box::new(|number| number != 1);
        assert!(transfer(&mut net, 300).is_some());
        let lost = events(&told(&mut net))
            .into_iter()
            .filter(|told| *told == Told::Lost);
        assert_eq!(lost.count(), 1, "{unnoticed}");
    }
}

/// RFC 6298 section 3 (Karn): what was sent twice gives no round-trip time, so that the gap follows the first guess (RFC
/// 9002 sections 6.2.2 and 7.7).
#[test]
fn a_time_out_is_told_and_the_answer_after_it_gives_no_round_trip_time() {
    let mut net = controlled(Kind::Quic);
    net.unnoticed = true;
    net.arrives = Box::new(|number| number != 1);
    assert!(transfer(&mut net, 150).is_some());
    let told = told(&mut net);
    assert_eq!(events(&told), [Told::Start, Told::TimedOut, Told::Acked]);
    let (_, window, gap) = told[2];
    assert_eq!(
        gap,
        Some(Duration::from_micros(333_000 * 4 / (5 * u64::from(window))))
    );
}

/// RFC 8931 section 6: congestion is echoed in the next acknowledgement, whichever fragment met it, and once.
#[test]
fn congestion_that_any_fragment_met_is_echoed_once() {
    let frames = frames_of(&mut chain(2, |_| {}), 1, 2, 300);
    for marked in 0..3 {
        let mut net = chain(2, |_| {});
        let to = net.bind(2, PORT);
        for (number, frame) in frames[..3].iter().enumerate() {
            let (mut header, data) = Rfrag::parse(body(frame)).expect("a fragment");
            header.congested = number == marked;
            header.ack_request = number == 2;
            let mut bytes = [0; 6].to_vec();
            header.emit(&mut bytes).expect("it fits");
            bytes.extend(data);
            put(&mut net, 1, 2, &bytes);
        }
        put(&mut net, 1, 2, body(&frames[3]));
        let echoes: Vec<_> = acks_of(&net, 2).iter().map(|ack| ack.congested).collect();
        assert_eq!(echoes, [true, false], "{marked}");
        assert_eq!(net.receive(2, to), Some(payload(300)));
        assert_forgotten(&mut net);
    }
}

/// RFC 8931 section 6: also what came before met congestion on its way.
#[test]
fn congestion_that_a_repeated_fragment_met_is_echoed() {
    let frames = frames_of(&mut chain(2, |_| {}), 1, 2, 300);
    let mut net = chain(2, |_| {});
    put_frame(&mut net, &frames[0]);
    let (header, data) = Rfrag::parse(body(&frames[0])).expect("a fragment");
    let again = Rfrag {
        congested: true,
        ack_request: true,
        ..header
    };
    let mut bytes = [0; 6].to_vec();
    again.emit(&mut bytes).expect("it fits");
    bytes.extend(data);
    put(&mut net, 1, 2, &bytes);
    assert!(acks_of(&net, 2).iter().map(|ack| ack.congested).eq([true]));
    assert_forgotten(&mut net);
}

/// RFC 8931 section 6: the datagram is complete, though nobody asked.
#[test]
fn a_datagram_that_is_complete_is_acknowledged_unasked() {
    let mut frames = frames_of(&mut chain(2, |_| {}), 1, 2, 300);
    frames.swap(1, 3);
    let mut net = chain(2, |_| {});
    let to = net.bind(2, PORT);
    for frame in &frames {
        put_frame(&mut net, frame);
    }
    let asks = frames
        .iter()
        .map(|frame| Rfrag::parse(body(frame)).expect("ours").0.ack_request);
    assert!(asks.eq([false, true, false, false]));
    assert_eq!(acks_of(&net, 2).last().map(|ack| ack.bitmap), Some(Bitmap::FULL));
    assert_eq!(net.receive(2, to), Some(payload(300)));
    assert_forgotten(&mut net);
}

/// A first fragment of more than any datagram of 6LoWPAN holds.
#[test]
fn a_datagram_that_no_adaptation_layer_holds_is_refused() {
    let frames = frames_of(&mut chain(2, |_| {}), 1, 2, 300);
    let (header, data) = Rfrag::parse(body(&frames[0])).expect("a fragment");
    for (offset, refused) in [(1_200, false), (1_281, true), (0xffff, true)] {
        let mut bytes = [0; 6].to_vec();
        Rfrag { offset, ..header }.emit(&mut bytes).expect("it fits");
        bytes.extend(data);
        let mut net = chain(2, |_| {});
        put(&mut net, 1, 2, &bytes);
        assert_eq!(
            net.node(2).stack.drops(Reason::DatagramTooLarge),
            u32::from(refused)
        );
        assert_eq!(net.node(2).stack.reassemblies(), usize::from(!refused));
        assert_forgotten(&mut net);
    }
}

/// The datagrams under recovery of a forwarder are more than half of what it has places for.
#[test]
fn transfers_that_fill_their_table_by_half_are_congestion() {
    for (transfers, marked) in [(2, false), (3, true)] {
        let mut net = chain(3, |_| {});
        let (iface, rule) = (Target::Iface(IFACE), Mark::HalfFull as u64);
        net.node(2).stack.set(iface, Opt::Mark, rule).expect("an option");
        net.arrives = Box::new(|_| false);
        net.unnoticed = true;
        let from = net.bind(2, PORT);
        for _ in 0..transfers {
            net.send(2, from, (global(3), PORT), &payload(300));
            net.settle();
        }
        let before = fragments_of(&net, 2).len();
        let frames = frames_of(&mut chain(3, |_| {}), 1, 3, 500);
        put_frame(&mut net, &frames[0]);
        let forwarded: Vec<_> = fragments_of(&net, 2)[before..]
            .iter()
            .map(|f| f.congested)
            .collect();
        assert_eq!(forwarded, [marked], "{transfers}");
        assert_forgotten(&mut net);
    }
}

/// Over another next hop headers are of another length, so that no offset is right any more: it begins anew under
/// another tag.
#[test]
fn a_path_on_which_headers_are_of_another_length_needs_another_attempt() {
    use crate::ipv6::Route;
    use crate::stack::tests::net::link_local;
    let mut net = chain(3, |_| {});
    let (from, to) = (net.bind(1, PORT), net.bind(3, PORT));
    net.arrives = Box::new(|_| false);
    net.unnoticed = true;
    net.send(1, from, (global(3), PORT), &payload(300));
    net.settle();
    let direct = Route::via(global(3), 128, IFACE, link_local(3));
    net.node(1).stack.add_route(direct).expect("it replaces one");
    net.arrives = Box::new(|_| true);
    net.pass(Duration::from_secs(30));
    let tags: Vec<_> = fragments_of(&net, 1)
        .iter()
        .map(|fragment| fragment.tag)
        .collect();
    assert_ne!(tags.first(), tags.last());
    assert_eq!(net.receive(3, to), Some(payload(300)));
    assert_eq!(net.receive(3, to), None);
    assert_forgotten(&mut net);
}

/// RFC 8931 section 5: while datagrams are under way their tags are not given again.
#[test]
fn tags_that_wrap_pass_over_those_that_are_under_way() {
    let mut net = chain(2, |config| {
        config.lowpan.recover.adaptive = false;
        config.lowpan.recover.arq_timeout = Duration::from_secs(10);
    });
    let (from, to) = (net.bind(1, PORT), net.bind(2, PORT));
    net.arrives = Box::new(|_| false);
    net.unnoticed = true;
    net.send(1, from, (global(2), PORT), &payload(200));
    net.settle();
    let held = fragments_of(&net, 1)[0].tag;
    net.arrives = Box::new(|_| true);
    // All before the time-out of the first.
    for round in 0..300 {
        net.send(1, from, (global(2), PORT), &payload(200));
        net.pass(Duration::from_millis(20));
        assert_eq!(net.receive(2, to), Some(payload(200)), "{round}");
    }
    let again = fragments_of(&net, 1)
        .iter()
        .filter(|fragment| fragment.tag == held)
        .count();
    assert_eq!(again, fragments_of(&net, 1).len() / 301);
    net.pass(Duration::from_secs(60));
    assert_eq!(net.receive(2, to), Some(payload(200)), "the first one");
    assert_forgotten(&mut net);
}
