use sixlo::netdev::{IfaceId, TxOutcome};
use sixlo::time::Duration;
use sixlo::trace::{End, Event, FragmentFate, Module, PktId, Reason, Told};
use sixlo::wire::addr::LinkAddr;

use super::*;

const IFACE: IfaceId = IfaceId(0);

fn id(number: u32) -> PktId {
    PktId::new(number)
}

/// One event of each kind of the stack, all of datagram 7.
fn all_events() -> Vec<Event> {
    let (id7, peer) = (id(7), LinkAddr::Short(2));
    let fragment = |fate| Event::FragmentIn {
        id: id7,
        from: peer,
        tag: 5,
        size: 200,
        offset: 96,
        len: 96,
        fate,
    };
    vec![
        Event::Start {
            id: id7,
            module: Module::App,
            len: 160,
            cause: PktId::NONE,
        },
        Event::Share {
            id: id7,
            module: Module::Udp,
        },
        Event::Hop {
            id: id7,
            from: Module::App,
            to: Module::Udp,
            queued: false,
        },
        Event::Hop {
            id: id7,
            from: Module::Udp,
            to: Module::Ipv6,
            queued: true,
        },
        Event::FrameIn {
            id: id7,
            iface: IFACE,
            from: peer,
            len: 100,
            sequence: 255,
        },
        Event::FrameDropped {
            id: id7,
            iface: IFACE,
            reason: Reason::FrameDuplicate,
        },
        Event::Decompressed {
            id: id7,
            compressed_len: 60,
            len: 90,
        },
        fragment(FragmentFate::Started),
        fragment(FragmentFate::InOrder),
        fragment(FragmentFate::OutOfOrder),
        fragment(FragmentFate::Completed),
        fragment(FragmentFate::Dropped(Reason::ReassemblyFull)),
        Event::Queued {
            id: id7,
            iface: IFACE,
            to: peer,
            ahead: 3,
        },
        Event::Compressed {
            id: id7,
            to: peer,
            header_len: 48,
            compressed_len: 7,
        },
        Event::FragmentOut {
            id: id7,
            to: peer,
            tag: 5,
            size: 200,
            offset: 0,
            len: 96,
        },
        Event::FrameOut {
            id: id7,
            iface: IFACE,
            to: LinkAddr::BROADCAST,
            len: 100,
            sequence: 1,
            attempt: 2,
        },
        Event::FrameDone {
            id: id7,
            iface: IFACE,
            outcome: TxOutcome::NoAck,
            attempts: 4,
            busy: 1,
        },
        Event::End {
            id: id7,
            module: Module::Lowpan,
            end: End::Dropped(Reason::ReassemblyTimeout),
        },
        fragment(FragmentFate::Forwarded),
        fragment(FragmentFate::FellBack),
        Event::Window {
            id: id7,
            tag: 5,
            window: 2,
            interval: Some(Duration::from_millis(170)),
            told: Told::Start,
        },
        Event::Window {
            id: id7,
            tag: 5,
            window: 1,
            interval: None,
            told: Told::TimedOut,
        },
        Event::RecoverableOut {
            id: id7,
            to: peer,
            tag: 5,
            sequence: 1,
            offset: 85,
            len: 94,
            ack_request: true,
        },
        Event::RecoverableIn {
            id: id7,
            from: peer,
            tag: 5,
            sequence: 1,
            offset: 85,
            len: 94,
            ack_request: true,
            congested: true,
            fate: FragmentFate::InOrder,
        },
        Event::RecoverableIn {
            id: id7,
            from: peer,
            tag: 5,
            sequence: 0,
            offset: 0,
            len: 0,
            ack_request: false,
            congested: false,
            fate: FragmentFate::Dropped(Reason::RecoverAborted),
        },
        Event::RecoverableAckOut {
            id: id7,
            to: peer,
            tag: 5,
            bitmap: 0xa000_0001,
            congested: true,
        },
        Event::RecoverableAckIn {
            id: id7,
            from: peer,
            tag: 5,
            bitmap: u32::MAX,
            congested: false,
        },
        Event::RecoverableAckIn {
            id: id7,
            from: peer,
            tag: 5,
            bitmap: 0,
            congested: false,
        },
        Event::Start {
            id: id(8),
            module: Module::Icmpv6,
            len: 100,
            cause: id7,
        },
    ]
}

/// A trace of all events: one a microsecond, at node 3.
fn written() -> String {
    let mut writer = Writer::new(Vec::new(), [(LinkAddr::Short(2), 2)]).unwrap();
    for (us, event) in (1_000..).step_by(1_000).zip(all_events()) {
        writer.stack(us, 3, &event).unwrap();
    }
    let air = [
        Air::Sent {
            to: Peer::Node(3),
            carries: FrameKind::FirstFragment,
            kind: "data",
            len: 127,
            airtime_ns: 4_256_000,
        },
        Air::Received {
            from: 3,
            kind: "data",
        },
        Air::Lost {
            from: 3,
            kind: "ack",
            cause: "collision",
        },
    ];
    for event in air {
        writer.air(2_000_000, 2, 7, event).unwrap();
    }
    let overwritten = Air::LostInRadio {
        cause: "radio-overwritten",
    };
    writer.air(2_000_000, 2, 7, overwritten).unwrap();
    let lost = |last| App::Lost {
        cause: "no-buffer",
        last,
    };
    let delivered = App::Delivered {
        latency_ns: 1_234_567,
        payload_bytes: 100,
    };
    for event in [
        App::Sent,
        App::Refused,
        delivered,
        App::Received {
            stream: 2,
            bytes: 462,
        },
        lost("no-buffer"),
        lost("collision"),
    ] {
        writer.app(3_000_000, 1, 7, event).unwrap();
    }
    writer.app(3_000_000, 1, 77, App::Sent).unwrap();
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[test]
fn every_line_of_a_trace_has_the_seven_columns() {
    let text = written();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(COLUMNS));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), all_events().len() + 11);
    for line in lines {
        assert_eq!(line.split(',').count(), COLUMNS.split(',').count(), "{line}");
        let read = Line::parse(line).unwrap();
        assert_eq!(Line::datagram_of(line), Some(read.datagram));
    }
}

#[test]
fn a_line_tells_what_the_event_told() {
    let text = written();
    let line = text.lines().nth(12).unwrap();
    let read = Line::parse(line).unwrap();
    assert_eq!((read.time_ns, read.node, read.datagram), (12_000, 3, 7));
    assert_eq!(
        (read.layer, read.event, read.peer),
        ("6lowpan", "fragment-in", "2")
    );
    assert_eq!(read.word("tag"), Some("5"));
    assert_eq!(read.word("fate"), Some("dropped"));
    assert_eq!(read.word("reason"), Some("reassembly-full"));
    assert_eq!(read.word("nothing"), None);
    let hop = Line::parse(text.lines().nth(4).unwrap()).unwrap();
    assert_eq!((hop.word("to"), hop.word("queued")), (Some("ipv6"), Some("")));
}

#[test]
fn an_address_that_belongs_to_no_node_stays_readable() {
    let mut writer = Writer::new(Vec::new(), []).unwrap();
    writer.stack(0, 1, &all_events()[4]).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    assert!(
        text.ends_with("0,1,7,netif,frame-in,0002,len=100 seq=255\n"),
        "{text}"
    );
}

#[test]
fn what_is_no_line_is_refused() {
    for text in [
        "",
        COLUMNS,
        "1,2,3",
        "1,2,3,a,b,c",
        "-1,2,3,a,b,c,d",
        "1,99999,3,a,b,c,d",
    ] {
        assert_eq!(Line::parse(text), Err(BadLine), "{text}");
    }
}

fn history(datagram: u32, colour: bool) -> String {
    let lines = history::lines_of(written().as_bytes(), &[datagram].into()).unwrap();
    let lines = lines.get(&datagram).cloned().unwrap_or_default();
    let mut out = Vec::new();
    history::write(&mut out, &lines, datagram, history::Style { colour }).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_history_tells_every_event_of_the_datagram_and_no_other() {
    let expected = "        ms  node
     0.000  3     app      starts as a packet of 160 bytes
     0.001  3     udp      one more receiver gets it
     0.002  3     app > udp
     0.003  3     udp > ipv6 (in its mailbox)
     0.004  3     netif    frame from node 2, 100 bytes, sequence number 255
     0.005  3     netif    frame not taken: frame-duplicate
     0.006  3     6lowpan  decompressed from 60 to 90 bytes
     0.007  3     6lowpan  fragment 96..192 of 200 bytes (tag 5) from node 2: opens a reassembly
     0.008  3     6lowpan  fragment 96..192 of 200 bytes (tag 5) from node 2: appended
     0.009  3     6lowpan  fragment 96..192 of 200 bytes (tag 5) from node 2: kept out of order
     0.010  3     6lowpan  fragment 96..192 of 200 bytes (tag 5) from node 2: completes the datagram
     0.011  3     6lowpan  fragment 96..192 of 200 bytes (tag 5) from node 2: dropped, reassembly-full
     0.012  3     netif    waits for the radio to node 2, 3 ahead of it
     0.013  3     6lowpan  headers compressed from 48 to 7 bytes for node 2
     0.014  3     6lowpan  fragment 0..96 of 200 bytes (tag 5) cut for node 2
     0.015  3     netif    frame to all, 100 bytes, sequence number 1, retry 2
     0.016  3     netif    no acknowledgement, 4 transmissions, channel busy 1 time
     0.017  3     6lowpan  dropped: reassembly-timeout
     0.018  3     6lowpan  fragment 96..192 of 200 bytes (tag 5) from node 2: goes on to the next hop
     0.019  3     6lowpan  fragment 96..192 of 200 bytes (tag 5) from node 2: cannot be forwarded: opens a reassembly
     0.020  3     6lowpan  window 2, interval 170.000 ms, at the start (tag 5)
     0.021  3     6lowpan  window 1, after timed-out (tag 5)
     0.022  3     6lowpan  recoverable fragment 1, 85..179 (tag 5, asks for an acknowledgement) cut for node 2
     0.023  3     6lowpan  recoverable fragment 1, 85..179 (tag 5, asks for an acknowledgement, met congestion) from node 2: appended
     0.024  3     6lowpan  abort (tag 5) from node 2: dropped, recover-aborted
     0.025  3     6lowpan  acknowledgement of fragments 0 2 31 (tag 5, congestion was met) for node 2
     0.026  3     6lowpan  acknowledgement of the whole datagram (tag 5) from node 2
     0.027  3     6lowpan  acknowledgement of nothing: the datagram is given up (tag 5) from node 2
     0.028  3     icmpv6   starts as a packet of 100 bytes, in answer to datagram 7 [datagram 8]
     1.999    2     air      data frame of 127 bytes was on the air for 4.256 ms
     1.999    2     air      data frame from node 3 received
     1.999    2     air      ack frame from node 3 lost: collision
     1.999    2     air      lost in the radio: radio-overwritten
     2.999      1     source   the application sends it
     2.999      1     source   the stack refuses it
     2.999      1     sink     delivered after 1.235 ms, every byte right
     2.999      1     sink     462 bytes more of transfer 2, every one right
     2.999      1     end      nothing carries it any more: lost, no-buffer
     2.999      1     end      nothing carries it any more: lost, no-buffer; in the end collision
";
    assert_eq!(history(7, false), expected);
}

#[test]
fn hops_at_one_moment_are_one_line() {
    let mut writer = Writer::new(Vec::new(), []).unwrap();
    for event in &all_events()[2..4] {
        writer.stack(5, 3, event).unwrap();
    }
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    let mut out = Vec::new();
    history::write(&mut out, &lines, 7, history::Style::default()).unwrap();
    let told = String::from_utf8(out).unwrap();
    assert!(
        told.ends_with("3     app > udp > ipv6 (in its mailbox)\n"),
        "{told}"
    );
}

#[test]
fn colours_stand_only_where_they_are_asked_for() {
    assert!(!history(7, false).contains('\x1b'));
    let coloured = history(7, true);
    assert!(
        coloured.contains("\x1b[1;32m    1     sink     delivered"),
        "{coloured}"
    );
    assert!(
        coloured.contains("\x1b[1;31m3     6lowpan  dropped: reassembly-timeout\x1b[0m"),
        "{coloured}"
    );
}

#[test]
fn a_datagram_that_is_not_in_the_trace_is_said_to_be_unknown() {
    assert_eq!(history(99, false), "  nothing is recorded of datagram 99\n");
}

#[test]
fn a_history_begins_with_the_call_that_sent_the_datagram() {
    let mut writer = Writer::new(Vec::new(), []).unwrap();
    writer.stack(5, 3, &all_events()[0]).unwrap();
    writer.app(5, 3, 7, App::Sent).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let lines = history::lines_of(text.as_bytes(), &[7].into()).unwrap();
    let mut out = Vec::new();
    history::write(&mut out, &lines[&7], 7, history::Style::default()).unwrap();
    let told = String::from_utf8(out).unwrap();
    let source = told.find("the application sends it").unwrap();
    assert!(source < told.find("starts as a packet").unwrap(), "{told}");
}

#[test]
fn what_answers_a_datagram_belongs_to_its_history() {
    let mut writer = Writer::new(Vec::new(), []).unwrap();
    let hop = |number| Event::Hop {
        id: id(number),
        from: Module::Icmpv6,
        to: Module::Ipv6,
        queued: false,
    };
    let events = all_events();
    for event in [&events[0], &hop(8), events.last().unwrap(), &hop(8), &hop(9)] {
        writer.stack(5, 3, event).unwrap();
    }
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let lines = history::lines_of(text.as_bytes(), &[7].into()).unwrap();
    // From the answer's start on, and nothing of others.
    let numbers: Vec<_> = lines[&7]
        .iter()
        .map(|line| Line::datagram_of(line).unwrap())
        .collect();
    assert_eq!(numbers, [7, 8, 8]);
}
