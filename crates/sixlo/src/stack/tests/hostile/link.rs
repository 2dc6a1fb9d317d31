//! XL: frames.

use super::*;
use crate::netdev::FCS_LEN;
use crate::wire::ieee802154::Header;

/// A payload that is delivered wherever its frame is taken.
fn greeting() -> Vec<u8> {
    let packet = udp_packet(global(FOE), global(1), b"hello");
    [&[lowpan::IPV6][..], &packet].concat()
}

#[test]
fn xl1_short_frames_of_every_type_are_taken_or_counted() {
    let mut victim = Victim::new();
    let stack = &mut victim.stack;
    stack.frame(victim.now, IFACE, &[], RxInfo::default(), &mut ());
    let mut frames = 1;
    for control in 0..=u16::MAX {
        for len in 1..=20 {
            // Zeroes, and ones, of which broadcast addresses are made.
            for fill in [0, 0xff] {
                let mut frame = [fill; 20];
                frame[..2].copy_from_slice(&control.to_le_bytes());
                let info = RxInfo::default();
                stack.frame(victim.now, IFACE, &frame[..len], info, &mut ());
                frames += 1;
            }
        }
    }
    let refused = [
        Reason::FrameMalformed,
        Reason::FrameUnsupported,
        Reason::FrameForeign,
        Reason::FrameOwn,
        Reason::FrameDuplicate,
    ];
    let refused: u32 = refused.iter().map(|reason| stack.drops(*reason)).sum();
    let counters = *stack.counters(IFACE).expect("an interface");
    assert_eq!(refused + counters.stray_acks + counters.frames_in, frames);
    assert!(counters.stray_acks > 0);
    victim.counted = Reason::ALL
        .iter()
        .map(|reason| victim.stack.drops(*reason))
        .collect();
    victim.assert_alive();
    victim.assert_idle();
}

/// A device that leaves CSMA and acknowledgements to the stack, with a frame on the air.
fn waiting_for_an_acknowledgement() -> (Victim, u8) {
    let mut victim = Victim::new();
    let config = IfaceConfig {
        caps: Caps {
            csma: false,
            fcs: true,
        },
        ..IfaceConfig::new(eui(1))
    };
    victim.stack.bring_up(IFACE, config).expect("nothing waits in it");
    let (now, to) = (victim.now, (global(FRIEND), PORT));
    victim
        .stack
        .udp_send_to(now, victim.socket, to, b"to be acknowledged", &mut victim.log)
        .expect("room");
    while !victim.stack.wants_transmit(IFACE) {
        victim.now = victim.stack.next_deadline(victim.now).expect("a back-off");
        victim.stack.poll(victim.now, &mut victim.log);
    }
    let info = victim
        .stack
        .transmit(victim.now, IFACE, &mut victim.device, &mut victim.log);
    assert!(info.is_some_and(|info| info.ack_request));
    let sequence = victim.device[2];
    let report = TxReport {
        outcome: TxOutcome::Sent,
        attempts: 1,
        busy: 0,
    };
    victim
        .stack
        .transmitted(victim.now, IFACE, report, &mut victim.log);
    (victim, sequence)
}

#[test]
fn xl2_an_acknowledgement_that_is_longer_or_not_ours_acknowledges_nothing_and_is_no_data() {
    let (mut victim, sequence) = waiting_for_an_acknowledgement();
    let live = victim.stack.buffer().live();
    let tail = greeting();
    for len in 1..=tail.len() {
        let longer = [&[0x02, 0x00, sequence][..], &tail[..len]].concat();
        victim.feed(&longer).is_drop(Reason::FrameMalformed);
    }
    for other in (0..=255).filter(|other| *other != sequence) {
        assert_eq!(victim.feed(&[0x02, 0x00, other]), Answer::default());
    }
    let counters = victim.stack.counters(IFACE).expect("an interface");
    assert_eq!((counters.stray_acks, counters.frames_in), (255, 0));
    assert_eq!(
        victim.stack.buffer().live(),
        live,
        "the frame is still waited for"
    );
    assert_eq!(victim.feed(&[0x02, 0x00, sequence]), Answer::default());
    assert_eq!(victim.stack.buffer().live(), 0, "it is sent");
    // The same once more is stray.
    assert_eq!(victim.feed(&[0x02, 0x00, sequence]), Answer::default());
    assert_eq!(
        victim.stack.counters(IFACE).map(|counters| counters.stray_acks),
        Some(256)
    );
    victim.assert_idle();
}

#[test]
fn xl3_a_data_frame_without_source_or_destination_is_dropped() {
    let mut victim = Victim::new();
    let payload = greeting();
    let (me, foe) = (LinkAddr::Extended(eui(1)), LinkAddr::Extended(eui(FOE)));
    for (dst, src) in [
        (LinkAddr::None, foe),
        (me, LinkAddr::None),
        (LinkAddr::BROADCAST, LinkAddr::None),
    ] {
        let mut bytes = [0; FRAME_LEN_MAX];
        let header = Header {
            dst_pan: (!dst.is_empty()).then_some(0x23),
            src_pan: (!src.is_empty()).then_some(0x23),
            ..Header::data(1, 0x23, dst, src)
        };
        let len = header.emit(&mut bytes).expect("a header");
        let frame = [&bytes[..len], &payload].concat();
        victim.feed(&frame).is_drop(Reason::FrameMalformed);
    }
    // Without both, in the version that can do so.
    let frame = [&[0x41, 0x20, 1, 0x23, 0][..], &payload].concat();
    victim.feed(&frame).is_drop(Reason::FrameMalformed);
    victim.assert_idle();
}

#[test]
fn xl4_a_pan_identifier_that_is_missing_or_another_keeps_a_frame_out() {
    let mut victim = Victim::new();
    let payload = greeting();
    let (me, foe) = (LinkAddr::Extended(eui(1)), LinkAddr::Extended(eui(FOE)));
    let reversed = |addr: LinkAddr| match addr {
        LinkAddr::Extended(mut bytes) => {
            bytes.reverse();
            bytes.to_vec()
        }
        _ => vec![0xff, 0xff],
    };
    let frame = |control: u16, pans: &[u8], dst: LinkAddr| {
        let [low, high] = control.to_le_bytes();
        [&[low, high, 7], pans, &reversed(dst), &reversed(foe), &payload].concat()
    };
    // Compression, but no destination whose PAN it could be (IEEE 802.15.4-2020, 7.2.2.6).
    let lonely = [&[0x41, 0xd0, 7][..], &reversed(foe), &payload].concat();
    victim.feed(&lonely).is_drop(Reason::FrameMalformed);
    // Version 2015 between extended addresses need not name a PAN, and then it is every one's.
    victim.feed(&frame(0xec41, &[], me)).is_delivery(b"hello");
    victim.now += Duration::from_secs(1);
    victim.feed(&frame(0xdc41, &[0x23, 0], me)).is_delivery(b"hello");
    victim.now += Duration::from_secs(1);
    victim
        .feed(&frame(0xdc41, &[0xff, 0xff], me))
        .is_delivery(b"hello");
    for pan in [0x22_u8, 0x24, 0] {
        victim
            .feed(&frame(0xdc41, &[pan, 0], me))
            .is_drop(Reason::FrameForeign);
    }
    // RFC 4944 section 3: a broadcast is heeded in the PAN that it names, and in no other.
    for pan in [[0xff, 0xff], [0x24, 0]] {
        victim
            .feed(&frame(0xd841, &pan, LinkAddr::BROADCAST))
            .is_drop(Reason::FrameForeign);
    }
    victim.assert_idle();
}

#[test]
fn xl5_frames_of_reserved_and_other_types_are_counted_and_dropped() {
    let mut victim = Victim::new();
    let good = {
        let payload = greeting();
        victim.frame(FOE, &payload)
    };
    let control = u16::from_le_bytes([good[0], good[1]]);
    let mut with = |control: u16| {
        let mut frame = good.clone();
        frame[..2].copy_from_slice(&control.to_le_bytes());
        victim.feed(&frame)
    };
    for kind in 4..8 {
        with(control & !7 | kind).is_drop(Reason::FrameMalformed);
    }
    with(control | 3 << 12).is_drop(Reason::FrameMalformed);
    for mode in [10, 14] {
        with(control & !(3 << mode) | 1 << mode).is_drop(Reason::FrameMalformed);
    }
    for kind in [0, 3] {
        with(control & !7 | kind).is_drop(Reason::FrameUnsupported);
    }
    with(control).is_delivery(b"hello");
    victim.assert_idle();
}

#[test]
fn xl6_a_frame_longer_than_the_phy_carries_is_dropped_at_every_length() {
    let mut victim = Victim::new();
    let packet = udp_packet(global(FOE), global(1), &[7; PAYLOAD_MAX - 49]);
    let longest = victim.frame(FOE, &[&[lowpan::IPV6][..], &packet].concat());
    assert_eq!(longest.len(), FRAME_LEN_MAX - FCS_LEN);
    for more in (1..300).chain([1000, 65_535 - longest.len(), 100_000]) {
        let mut frame = longest.clone();
        frame.resize(longest.len() + more, 0);
        victim.feed(&frame).is_drop(Reason::FrameMalformed);
    }
    victim.feed(&longest).is_delivery(&[7; PAYLOAD_MAX - 49]);
    victim.assert_idle();
}

#[test]
fn xl7_secured_frames_are_dropped_and_never_read_as_data() {
    let mut victim = Victim::new();
    let payload = greeting();
    let good = victim.frame(FOE, &payload);
    for level in 0..8_u8 {
        for len in 0..20 {
            let mut frame = good[..21].to_vec();
            frame[0] |= 1 << 3;
            // Key identifier mode 0: a control octet and a frame counter, then payload and integrity code.
            frame.extend([level, 1, 0, 0, 0]);
            frame.extend(&payload[..len]);
            let answer = victim.feed(&frame);
            let code_len = [0, 4, 8, 16][usize::from(level & 3)];
            match level {
                0 | 4 => assert!(matches!(
                    answer.drops[..],
                    [Reason::FrameMalformed | Reason::FrameUnsupported]
                )),
                _ if len < code_len => answer.is_drop(Reason::FrameMalformed),
                _ => answer.is_drop(Reason::FrameUnsupported),
            }
        }
    }
    victim.feed(&good).is_delivery(b"hello");
    victim.assert_idle();
}

#[test]
fn xl8_a_sequence_number_that_comes_again_is_a_duplicate_only_by_the_rule_of_the_mac() {
    let mut victim = Victim::new();
    let to = |payload: &[u8]| {
        let packet = udp_packet(global(FOE), global(1), payload);
        [&[lowpan::IPV6][..], &packet].concat()
    };
    let (me, foe) = (LinkAddr::Extended(eui(1)), LinkAddr::Extended(eui(FOE)));
    let first = frame(7, foe, me, &to(b"first"));
    victim.feed(&first).is_delivery(b"first");
    victim.feed(&first).is_drop(Reason::FrameDuplicate);
    // Other content of another length is another frame.
    victim
        .feed(&frame(7, foe, me, &to(b"second!")))
        .is_delivery(b"second!");
    // So is another source.
    let other = LinkAddr::Extended(eui(FRIEND));
    victim
        .feed(&frame(7, other, me, &to(b"third")))
        .is_delivery(b"third");
    // And after the longest time that retransmissions take, however many came in between.
    victim.feed(&first).is_delivery(b"first");
    for _ in 0..10 {
        victim.now += Duration::from_millis(49);
        victim.feed(&first).is_drop(Reason::FrameDuplicate);
    }
    victim.now += Duration::from_millis(10);
    victim.feed(&first).is_delivery(b"first");
    victim.assert_idle();
}

#[test]
fn xl9_a_broadcast_that_asks_for_an_acknowledgement_is_taken_and_nothing_sent() {
    let mut victim = Victim::new();
    let packet = udp_packet(link_local(FOE), ipv6::ALL_NODES, b"to all");
    let payload = [&[lowpan::IPV6][..], &packet].concat();
    let mut frame = victim.frame_between(LinkAddr::Extended(eui(FOE)), LinkAddr::BROADCAST, &payload);
    frame[0] |= 1 << 5;
    victim.feed(&frame).is_delivery(b"to all");
    victim.assert_idle();
}

#[test]
fn xl10_a_frame_from_this_node_or_from_all_is_dropped() {
    let mut victim = Victim::new();
    let config = IfaceConfig {
        short: Some(0x1234),
        caps: Caps {
            csma: true,
            fcs: true,
        },
        ..IfaceConfig::new(eui(1))
    };
    victim.stack.bring_up(IFACE, config).expect("nothing waits in it");
    let payload = greeting();
    let me = LinkAddr::Extended(eui(1));
    for src in [me, LinkAddr::Short(0x1234), LinkAddr::BROADCAST] {
        for dst in [me, LinkAddr::Short(0x1234), LinkAddr::BROADCAST] {
            let frame = victim.frame_between(src, dst, &payload);
            victim.feed(&frame).is_drop(Reason::FrameOwn);
        }
    }
    let frame = victim.frame_between(LinkAddr::Short(0x1235), LinkAddr::Short(0x1234), &payload);
    victim.feed(&frame).is_delivery(b"hello");
    victim.assert_idle();
}
