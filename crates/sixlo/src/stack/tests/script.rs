//! Small exchanges, told event by event.

use std::string::String;
use std::vec::Vec;

use super::net::{IFACE, Log, Net, link_local};
use super::packets::icmpv6_packet;
use crate::time::Duration;
use crate::trace::{Event, FragmentFate};
use crate::wire::icmpv6::Message;

/// One line an event: its time in microseconds, and what distinguishes it.
fn told(log: &Log) -> Vec<String> {
    let line = |(now, event): &(crate::time::Instant, Event)| {
        let what = match *event {
            Event::Start { module, len, .. } => std::format!("start {} {len}", module.name()),
            Event::Share { module, .. } => std::format!("share {}", module.name()),
            Event::Hop { from, to, queued, .. } => {
                let wait = if queued { " waits" } else { "" };
                std::format!("hop {} {}{wait}", from.name(), to.name())
            }
            Event::FrameIn { len, .. } => std::format!("frame in {len}"),
            Event::FrameDropped { reason, .. } => std::format!("frame dropped {}", reason.name()),
            Event::Decompressed {
                compressed_len, len, ..
            } => {
                std::format!("decompressed {compressed_len} to {len}")
            }
            Event::FragmentIn {
                offset, len, fate, ..
            } => {
                let fate = match fate {
                    FragmentFate::Dropped(reason) => reason.name(),
                    FragmentFate::Started => "started",
                    FragmentFate::InOrder => "in order",
                    FragmentFate::OutOfOrder => "out of order",
                    FragmentFate::Completed => "completed",
                    FragmentFate::Forwarded => "forwarded",
                    FragmentFate::FellBack => "fell back",
                };
                std::format!("fragment in {offset}+{len} {fate}")
            }
            Event::Queued { ahead, .. } => std::format!("queued behind {ahead}"),
            Event::Compressed {
                header_len,
                compressed_len,
                ..
            } => {
                std::format!("compressed {header_len} to {compressed_len}")
            }
            Event::FragmentOut { offset, len, .. } => std::format!("fragment out {offset}+{len}"),
            Event::FrameOut { len, attempt, .. } => std::format!("frame out {len} attempt {attempt}"),
            Event::FrameDone {
                outcome, attempts, ..
            } => std::format!("frame done {outcome:?} {attempts}"),
            Event::RecoverableIn { sequence, fate, .. } => std::format!("recoverable in {sequence} {fate:?}"),
            Event::RecoverableOut {
                sequence,
                ack_request,
                ..
            } => std::format!("recoverable out {sequence} {ack_request}"),
            Event::RecoverableAckIn { bitmap, .. } => std::format!("acknowledgement in {bitmap:08x}"),
            Event::RecoverableAckOut { bitmap, .. } => std::format!("acknowledgement out {bitmap:08x}"),
            Event::Window { window, told, .. } => std::format!("window {window} {}", told.name()),
            Event::CongestionWindow { window, told, .. } => {
                std::format!("congestion window {window} {}", told.name())
            }
            Event::SegmentOut { seq, len, .. } => std::format!("segment out {seq}+{len}"),
            Event::End { module, end, .. } => std::format!("end {} {end:?}", module.name()),
        };
        std::format!("{} {what}", now.as_micros())
    };
    log.0.iter().map(line).collect()
}

#[test]
fn a_datagram_in_one_frame_told_event_by_event() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 0xf0b1), net.bind(2, 0xf0b2));
    net.send(1, a, (link_local(2), 0xf0b2), &[0; 8]);
    net.pass(Duration::from_micros(500));
    assert!(net.receive(2, b).is_some());
    let sender = [
        "1000 start app 56",
        "1000 hop app udp",
        "1000 hop udp ipv6",
        "1000 hop ipv6 netif",
        "1000 queued behind 0",
        // IPv6 header to two bytes, UDP header to NHC, ports and checksum.
        "1000 compressed 48 to 6",
        "1000 frame out 35 attempt 0",
        "1000 frame done Acked 1",
        "1000 end netif Sent",
    ];
    let receiver = [
        "1000 frame in 35",
        "1000 start 6lowpan 56",
        "1000 decompressed 14 to 56",
        "1000 hop 6lowpan ipv6",
        "1000 hop ipv6 udp",
        "1000 hop udp app",
        "1500 end app Delivered",
    ];
    assert_eq!(told(&net.nodes[0].log), sender);
    assert_eq!(told(&net.nodes[1].log), receiver);
    let (sent, taken) = (&net.nodes[0].stack, &net.nodes[1].stack);
    let (sent, taken) = (sent.counters(IFACE).unwrap(), taken.counters(IFACE).unwrap());
    assert_eq!(
        (sent.frames_out, sent.transmissions, sent.retransmissions),
        (1, 1, 0)
    );
    assert_eq!((taken.frames_in, taken.frames_out), (1, 0));
}

#[test]
fn a_datagram_in_three_fragments_told_event_by_event() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 0xf0b1), net.bind(2, 0xf0b2));
    net.send(1, a, (link_local(2), 0xf0b2), &[0; 250]);
    net.settle();
    assert!(net.receive(2, b).is_some());
    // 104 bytes of frame payload: 4 of header and 6 compressed stand for 48, and 88 more make 136; then 96 each.
    let sender = [
        "1000 start app 298",
        "1000 hop app udp",
        "1000 hop udp ipv6",
        "1000 hop ipv6 netif",
        "1000 queued behind 0",
        "1000 fragment out 0+136",
        "1000 frame out 119 attempt 0",
        "1000 frame done Acked 1",
        "1000 fragment out 136+96",
        "1000 frame out 122 attempt 0",
        "1000 frame done Acked 1",
        "1000 fragment out 232+66",
        "1000 frame out 92 attempt 0",
        "1000 frame done Acked 1",
        "1000 end netif Sent",
    ];
    let receiver = [
        "1000 frame in 119",
        "1000 start 6lowpan 136",
        "1000 fragment in 0+136 started",
        "1000 frame in 122",
        "1000 fragment in 136+96 in order",
        "1000 frame in 92",
        "1000 fragment in 232+66 completed",
        "1000 hop 6lowpan ipv6",
        "1000 hop ipv6 udp",
        "1000 hop udp app",
        "1000 end app Delivered",
    ];
    assert_eq!(told(&net.nodes[0].log), sender);
    assert_eq!(told(&net.nodes[1].log), receiver);
}

#[test]
fn an_echo_request_told_event_by_event() {
    let mut net = Net::chain(2);
    let request = Message::EchoRequest {
        identifier: 1,
        sequence: 2,
    };
    net.inject(
        1,
        2,
        &icmpv6_packet(link_local(2), link_local(1), request, b"ping"),
    );
    net.settle();
    let answerer = [
        "1000 frame in 74",
        "1000 start 6lowpan 52",
        "1000 decompressed 53 to 52",
        "1000 hop 6lowpan ipv6",
        "1000 hop ipv6 icmpv6",
        "1000 end icmpv6 Consumed",
        "1000 start icmpv6 52",
        "1000 hop icmpv6 ipv6",
        "1000 hop ipv6 netif",
        "1000 queued behind 0",
        "1000 compressed 40 to 3",
        "1000 frame out 36 attempt 0",
        "1000 frame done Acked 1",
        "1000 end netif Sent",
    ];
    assert_eq!(told(&net.nodes[0].log), answerer);
    assert_eq!(
        told(&net.nodes[1].log).last().unwrap(),
        "1000 end icmpv6 Dropped(Icmpv6Unhandled)"
    );
}

#[test]
fn a_frame_that_is_not_for_us_leaves_one_event_and_one_count() {
    let mut net = Net::chain(2);
    let foreign = crate::wire::addr::LinkAddr::Extended([9; 8]);
    net.inject_frame(1, 2, foreign, &[0x41]);
    assert_eq!(told(&net.nodes[0].log), ["1000 frame dropped frame-foreign"]);
    let drops = |reason: &&crate::trace::Reason| net.nodes[0].stack.drops(**reason) != 0;
    let counted: Vec<_> = crate::trace::Reason::ALL.iter().filter(drops).collect();
    assert_eq!(counted, [&crate::trace::Reason::FrameForeign]);
}
