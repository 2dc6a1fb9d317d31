//! XF: fragments of RFC 4944.

use super::*;
use crate::lowpan::{Eviction, ReassemblyConfig};

/// The same text for each node, so that payloads tell senders apart.
fn datagram(from: usize, len: usize) -> Vec<u8> {
    let payload: Vec<u8> = pattern(len)
        .iter()
        .map(|byte| byte.wrapping_add(from as u8))
        .collect();
    udp_packet(global(from), global(1), &payload)
}

/// The payload of a packet of [`datagram`].
fn payload(packet: &[u8]) -> &[u8] {
    &packet[48..]
}

#[test]
fn xf1_fragments_shorter_than_their_header_are_dropped() {
    let mut victim = Victim::new();
    for first in (0xc0..0xc8).chain(0xe0..0xe8) {
        for len in 1..=5 {
            let answer = victim.payload(FOE, &[first, 200, 1, 2, 3][..len]);
            match (first < 0xe0, len) {
                // Whole headers, and nothing behind them: no first fragment without the header of its datagram.
                (true, 4) => answer.is_drop(Reason::LowpanDispatch),
                // What stands behind is no header.
                (true, 5) => answer.is_drop(Reason::LowpanDispatch),
                (false, 5) if first < 0xe5 => answer.is_drop(Reason::FragmentInvalid),
                (false, 5) => answer.is_drop(Reason::DatagramTooLarge),
                _ => answer.is_drop(Reason::FragmentInvalid),
            }
        }
    }
    assert_eq!(victim.stack.reassemblies(), 0);
    victim.assert_idle();
}

#[test]
fn xf2_datagram_sizes_that_no_datagram_has_open_nothing() {
    let mut victim = Victim::new();
    let packet = datagram(FOE, 100);
    for size in [0, 1, 8, 39] {
        let first = fragment(size, size, 0, &packet[..STEP]);
        victim.payload(FOE, &first).is_drop(Reason::FragmentInvalid);
        let next = fragment(size, size, 8, &packet[8..16]);
        victim.payload(FOE, &next).is_drop(Reason::FragmentInvalid);
    }
    for size in [1281, 2046, 2047] {
        let first = fragment(size, size, 0, &packet[..STEP]);
        victim.payload(FOE, &first).is_drop(Reason::DatagramTooLarge);
        let next = fragment(size, size, STEP as u16, &packet[..STEP]);
        victim.payload(FOE, &next).is_drop(Reason::DatagramTooLarge);
    }
    assert_eq!(victim.stack.reassemblies(), 0);
    victim.assert_idle();
}

#[test]
fn xf3_xf4_fragments_beyond_the_end_or_between_units_open_nothing() {
    let mut victim = Victim::new();
    let data = pattern(STEP);
    for (size, offset, len) in [
        (200, 200, 8),
        (200, 208, 8),
        (200, 2040, 96),
        (1280, 2040, 96),
        (1280, 1272, 16),
        (200, 192, 16),
        (200, 120, 88),
        // Lengths that are no multiples of 8, but for the last fragment's.
        (200, 0, 95),
        (200, 96, 90),
        (200, 96, 1),
    ] {
        let hostile = fragment(9, size, offset, &data[..len]);
        victim.payload(FOE, &hostile).is_drop(Reason::FragmentInvalid);
    }
    assert_eq!(victim.stack.reassemblies(), 0);
    // Nor do they disturb a datagram that is under way.
    let packet = datagram(FOE, 152);
    let pieces = fragments(9, &packet);
    victim.payload(FOE, &pieces[0]);
    let beyond = fragment(9, 200, 192, &data[..16]);
    victim.payload(FOE, &beyond).is_drop(Reason::FragmentInvalid);
    victim.payload(FOE, &pieces[1]);
    victim.payload(FOE, &pieces[2]).is_delivery(payload(&packet));
    victim.assert_idle();
}

#[test]
fn xf5_xf8_fragments_in_any_order_and_twice_make_one_delivery() {
    let mut victim = Victim::new();
    for (tag, rotation) in (0..12).zip((0..6).cycle()) {
        let packet = datagram(FOE, 500);
        let mut pieces = fragments(tag, &packet);
        pieces.rotate_left(rotation);
        if tag >= 6 {
            pieces.reverse();
        }
        let (last, others) = pieces.split_last().expect("six");
        for piece in others {
            assert_eq!(victim.payload(FOE, piece), Answer::default());
            victim.payload(FOE, piece).is_drop(Reason::FragmentDuplicate);
        }
        victim.payload(FOE, last).is_delivery(payload(&packet));
        victim.payload(FOE, last).is_drop(Reason::FragmentLate);
    }
    victim.assert_idle();
}

#[test]
fn xf6_xf7_an_overlap_or_another_size_discards_what_came_and_starts_anew() {
    let mut victim = Victim::new();
    let packet = datagram(FOE, 300);
    let pieces = fragments(7, &packet);
    let longer = datagram(FOE, 400);
    for conflict in [
        fragment(7, 348, 88, &packet[88..104]),
        fragment(7, 348, 96, &packet[96..104]),
        fragments(7, &longer).swap_remove(1),
    ] {
        victim.payload(FOE, &pieces[0]);
        victim.payload(FOE, &pieces[1]);
        victim.payload(FOE, &conflict).is_drop(Reason::ReassemblyConflict);
        assert_eq!(victim.stack.reassemblies(), 1, "the newest fragment begins");
        victim.pass(Duration::from_secs(61));
    }
    // From the newest fragment on, the datagram of another size comes whole.
    let longer_pieces = fragments(7, &longer);
    victim.payload(FOE, &pieces[0]);
    victim
        .payload(FOE, &longer_pieces[0])
        .is_drop(Reason::ReassemblyConflict);
    let (last, others) = longer_pieces.split_last().expect("five");
    for piece in &others[1..] {
        assert_eq!(victim.payload(FOE, piece), Answer::default());
    }
    victim.payload(FOE, last).is_delivery(payload(&longer));
    victim.assert_idle();
}

/// A forger who knows link addresses and tag. By RFC 4944 section 5.3 it can end the datagram that it hits. It cannot put a
/// mixed one past the checksum of UDP, and the next datagram is not touched.
#[test]
fn xf10_forged_fragments_end_one_datagram_and_deliver_nothing_mixed() {
    let mut victim = Victim::new();
    let packet = datagram(FRIEND, 460);
    let forged_data = [0xee; STEP];
    let (mut lost, mut mixed) = (0, 0);
    let mut tag = 0;
    for position in 0..6 {
        for (offset, len) in [(96, 96), (192, 96), (480, 28), (88, 96), (96, 88), (504, 4)] {
            tag += 1;
            let forged = fragment(tag, 508, offset, &forged_data[..len]);
            let mut answer = Answer::default();
            for (number, piece) in fragments(tag, &packet).iter().enumerate() {
                if number == position {
                    answer = answer.and(victim.payload(FRIEND, &forged));
                }
                answer = answer.and(victim.payload(FRIEND, piece));
            }
            match &answer.delivered[..] {
                [] => lost += 1,
                [whole] => assert_eq!(whole, payload(&packet)),
                more => panic!("{} deliveries", more.len()),
            }
            mixed += usize::from(answer.drops.contains(&Reason::UdpChecksum));
            // The damage ends with the datagram.
            let tag = 0x8000 | tag;
            let mut answer = Answer::default();
            for piece in fragments(tag, &packet) {
                answer = answer.and(victim.payload(FRIEND, &piece));
            }
            assert_eq!(answer.delivered, [payload(&packet)]);
            victim.pass(Duration::from_secs(61));
        }
    }
    // Of 36 forgeries, 18 have the bounds of a true fragment: 11 come before it, and the checksum tells; 7 come behind it and
    // are duplicates. The others are conflicts, of which one is harmless, because the true first fragment comes behind it.
    assert_eq!((lost, mixed), (11 + 17, 11));
    victim.assert_idle();
}

#[test]
fn xf11_a_tag_that_comes_again_after_a_reboot_delivers_the_new_datagram_or_nothing() {
    let mut victim = Victim::new();
    let old = datagram(FRIEND, 400);
    for (new, tag) in [(datagram(FRIEND, 300), 1), (datagram(FRIEND, 400), 2)] {
        // The sender went down in the middle of a datagram, and begins again with the same tag.
        for piece in &fragments(tag, &old)[..2] {
            victim.payload(FRIEND, piece);
        }
        victim.now += Duration::from_secs(5);
        let mut answer = Answer::default();
        for piece in fragments(tag, &new) {
            answer = answer.and(victim.payload(FRIEND, &piece));
        }
        assert_eq!(answer.delivered, [payload(&new)]);
        victim.pass(Duration::from_secs(61));
    }
    // Other bytes of the same length: what has come of the old one counts as duplicate, and the checksum tells.
    let other = udp_packet(global(FRIEND), global(1), &[0x77; 400]);
    for piece in &fragments(3, &old)[..2] {
        victim.payload(FRIEND, piece);
    }
    let mut answer = Answer::default();
    for piece in fragments(3, &other) {
        answer = answer.and(victim.payload(FRIEND, &piece));
    }
    assert_eq!(answer.delivered, [[0; 0]; 0]);
    assert_eq!(answer.drops.last(), Some(&Reason::UdpChecksum));
    // The first tag of a stack is a random one, so that this is rare.
    let first_tag = |seed| {
        let mut sender = Victim::with(memory(4096, 8, 1), &Config::new(seed));
        let now = sender.now;
        let to = (global(FRIEND), PORT);
        sender
            .stack
            .udp_send_to(now, sender.socket, to, &[0; 300], &mut sender.log)
            .expect("room");
        assert!(sender.transmit());
        [sender.device[23], sender.device[24]]
    };
    let tags: std::collections::BTreeSet<_> = (0..50).map(first_tag).collect();
    assert!(tags.len() >= 49);
    victim.assert_idle();
}

#[test]
fn xf11_tags_wrap_and_every_datagram_arrives() {
    let mut sender = Victim::new();
    let mut victim = Victim::new();
    let config = IfaceConfig {
        caps: Caps {
            csma: true,
            fcs: true,
        },
        ..IfaceConfig::new(eui(FRIEND))
    };
    sender.stack.bring_up(IFACE, config).expect("nothing waits in it");
    assert!(sender.stack.remove_address(global(1)));
    let to = (link_local(1), PORT);
    let mut out = [0; 200];
    for number in 0..0x1_0010_u32 {
        let mut data = [0x5a; 120];
        data[..4].copy_from_slice(&number.to_be_bytes());
        let now = victim.now;
        sender
            .stack
            .udp_send_to(now, sender.socket, to, &data, &mut ())
            .expect("room");
        while let Some(info) = sender.stack.transmit(now, IFACE, &mut sender.device, &mut ()) {
            let frame = &sender.device[..info.len];
            victim.stack.frame(now, IFACE, frame, RxInfo::default(), &mut ());
            let report = TxReport {
                outcome: TxOutcome::Acked,
                attempts: 1,
                busy: 0,
            };
            sender.stack.transmitted(now, IFACE, report, &mut ());
        }
        let received = victim.stack.udp_receive(now, victim.socket, &mut out, &mut ());
        assert_eq!(received.map(|received| received.len), Some(120), "{number}");
        assert_eq!(out[..4], number.to_be_bytes());
        victim.now += Duration::from_millis(10);
    }
    victim.assert_idle();
}

#[test]
fn xf12_the_time_out_is_exact_and_late_fragments_open_nothing() {
    let mut victim = Victim::new();
    let packet = datagram(FOE, 300);
    let pieces = fragments(1, &packet);
    victim.payload(FOE, &pieces[0]);
    let deadline = victim.now + Duration::from_secs(60);
    assert_eq!(victim.stack.next_deadline(victim.now), Some(deadline));
    let quiet = victim.pass(Duration::from_micros(59_999_999));
    assert_eq!((quiet.drops.len(), victim.stack.reassemblies()), (0, 1));
    victim
        .pass(Duration::from_micros(1))
        .is_drop(Reason::ReassemblyTimeout);
    assert_eq!(victim.stack.buffer().used(), 0);
    for piece in &pieces[1..] {
        victim.payload(FOE, piece).is_drop(Reason::FragmentLate);
    }
    // Completed ones are remembered in the same way, and then no longer.
    let pieces = fragments(2, &packet);
    for piece in &pieces[..3] {
        victim.payload(FOE, piece);
    }
    victim.payload(FOE, &pieces[3]).is_delivery(payload(&packet));
    for _ in 0..3 {
        for piece in &pieces {
            victim.payload(FOE, piece).is_drop(Reason::FragmentLate);
        }
        assert_eq!(victim.stack.reassemblies(), 0);
        victim.now += Duration::from_millis(100);
    }
    // Whoever comes later still finds a place, but not for ever.
    victim.now += Duration::from_secs(1);
    victim.payload(FOE, &pieces[1]);
    assert_eq!(victim.stack.reassemblies(), 1);
    victim.assert_idle();
}

#[test]
fn xf13_a_full_table_evicts_or_refuses_and_every_victim_is_counted() {
    for eviction in [Eviction::Stalest, Eviction::Never] {
        let mut config = Config::new(1);
        config.lowpan.reassembly = ReassemblyConfig {
            eviction,
            ..ReassemblyConfig::default()
        };
        let mut victim = Victim::with(memory(8192, 64, 4), &config);
        for number in 0..300_usize {
            let packet = datagram(100 + number, 300);
            let answer = victim.payload(100 + number, &fragments(number as u16, &packet)[0]);
            match (eviction, number) {
                (_, ..4) => assert_eq!(answer, Answer::default()),
                (Eviction::Stalest, _) => answer.is_drop(Reason::ReassemblyEvicted),
                (Eviction::Never, _) => answer.is_drop(Reason::ReassemblyFull),
            }
            assert_eq!(victim.stack.reassemblies(), (number + 1).min(4));
        }
        victim.assert_alive();
        victim.assert_idle();
    }
}

#[test]
fn xf13_the_smallest_memory_takes_what_fits_and_counts_the_rest() {
    for (bytes, packets, entries) in [(0, 0, 0), (64, 1, 1), (128, 2, 1), (400, 2, 1), (1400, 1, 1)] {
        let mut victim = Victim::with(memory(bytes, packets, entries), &Config::new(1));
        for (tag, len) in [(1, 20), (2, 200), (3, 1200)] {
            let packet = datagram(FRIEND, len);
            let answer = victim.packet_from(FRIEND, &packet);
            let fits =
                packets > 0 && bytes >= packet.len() + 4 && (entries > 0 || packet.len() < PAYLOAD_MAX);
            let delivered = usize::from(fits);
            assert_eq!(answer.delivered.len(), delivered, "{bytes} bytes, datagram {tag}");
            assert_eq!(answer.drops.is_empty(), fits);
            victim.now += Duration::from_secs(1);
        }
        victim.assert_idle();
    }
}

/// First fragments that fill the buffer, or take every packet, do not keep whole datagrams out for a minute.
#[test]
fn xf13_stale_reassemblies_give_way_to_a_datagram_in_one_frame() {
    for (bytes, packets) in [(460, 64), (8192, 4)] {
        for eviction in [Eviction::Stalest, Eviction::Never] {
            let mut config = Config::new(1);
            config.lowpan.reassembly.eviction = eviction;
            let mut victim = Victim::with(memory(bytes, packets, 8), &config);
            for number in 0..4 {
                let first = fragments(7, &datagram(100 + number, 300)).swap_remove(0);
                assert_eq!(victim.payload(100 + number, &first), Answer::default());
            }
            let packet = datagram(FRIEND, 40);
            let answer = victim.packet_from(FRIEND, &packet);
            if eviction == Eviction::Stalest {
                assert_eq!(answer.drops, [Reason::ReassemblyEvicted]);
                assert_eq!(answer.delivered, [payload(&packet)]);
                assert_eq!(victim.stack.reassemblies(), 3);
            } else {
                let reason = if packets == 4 {
                    Reason::NoSlot
                } else {
                    Reason::NoBuffer
                };
                answer.is_drop(reason);
            }
            victim.assert_idle();
        }
    }
}

#[test]
fn xf14_datagrams_of_8_senders_come_through_interleaved() {
    let mut victim = Victim::with(memory(16 << 10, 64, 8), &Config::new(1));
    let packets: Vec<_> = (0..8).map(|sender| datagram(20 + sender, 700 + sender)).collect();
    let pieces: Vec<_> = packets.iter().map(|packet| fragments(7, packet)).collect();
    let mut delivered = Vec::new();
    for round in 0..8 {
        for (sender, pieces) in pieces.iter().enumerate() {
            if let Some(piece) = pieces.get(round) {
                let answer = victim.payload(20 + sender, piece);
                assert!(answer.drops.is_empty());
                delivered.extend(answer.delivered);
            }
        }
    }
    let expected: Vec<_> = packets.iter().map(|packet| payload(packet).to_vec()).collect();
    assert_eq!(delivered, expected);
    victim.assert_idle();
}

#[test]
fn xf15_a_fragment_within_a_fragment_is_dropped_and_one_within_a_datagram_is_payload() {
    let mut victim = Victim::new();
    let inner = fragments(8, &datagram(FOE, 300)).swap_remove(0);
    for inner in [&inner[..60], &fragment(8, 348, 96, &inner[..48])] {
        let mut outer = fragment(7, 348, 0, &[]);
        outer.pop();
        outer.extend(inner);
        victim.payload(FOE, &outer).is_drop(Reason::LowpanDispatch);
    }
    assert_eq!(victim.stack.reassemblies(), 0);
    // The payload of a datagram is never looked at as a frame's.
    let packet = udp_packet(global(FOE), global(1), &inner.repeat(3));
    let answer = victim.packet(&packet);
    answer.is_delivery(&inner.repeat(3));
    assert_eq!(victim.stack.reassemblies(), 0);
    victim.assert_idle();
}

/// Memory of a reused buffer is full of 0xa5, which no honest byte here is.
#[test]
fn xf16_bytes_that_nobody_sent_are_never_delivered() {
    let clean = |len: usize| -> Vec<u8> { (0..len).map(|i| (i % 0xa5) as u8).collect() };
    let packet = udp_packet(global(FOE), global(1), &clean(500));
    let mut victim = Victim::new();
    for missing in 0..6 {
        let tag = 10 + missing as u16;
        let pieces = fragments(tag, &packet);
        let mut answer = Answer::default();
        for piece in pieces.iter().enumerate().filter(|(number, _)| *number != missing) {
            answer = answer.and(victim.payload(FOE, piece.1));
        }
        // Around the hole, into it, and at the end.
        let offset = (missing * STEP) as u16;
        answer = answer.and(victim.payload(FOE, &fragment(tag, 548, offset, &[])));
        if missing > 0 {
            answer = answer.and(victim.payload(FOE, &fragment(tag, 548, offset + 8, &packet[..8])));
        }
        assert!(answer.delivered.is_empty());
        answer = answer.and(victim.pass(Duration::from_secs(61)));
        assert!(answer.delivered.is_empty());
    }
    // A header that announces more than the datagram holds does not make it longer, nor does UDP.
    let mut long = packet.clone();
    long[4..6].copy_from_slice(&600_u16.to_be_bytes());
    assert!(victim.packet(&long).delivered.is_empty());
    let mut long = packet.clone();
    long[44..46].copy_from_slice(&600_u16.to_be_bytes());
    victim.now += Duration::from_secs(1);
    assert!(victim.packet(&long).delivered.is_empty());
    victim.now += Duration::from_secs(1);
    victim.packet(&packet).is_delivery(&clean(500));
    victim.assert_idle();
}
