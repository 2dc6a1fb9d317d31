//! XI7 and XI8: errors that are not sent, and errors about what is malformed.

use super::*;

/// A packet that is refused whoever sends it.
fn to_no_port(src: Ipv6Addr, dst: Ipv6Addr) -> Vec<u8> {
    ipv6_packet(src, dst, NextHeader::UDP, &udp_datagram(src, dst, 9, b"?"))
}

/// RFC 4443 section 2.4 (e).
#[test]
fn xi7_no_error_answers_an_error_a_redirect_or_what_may_hide_one() {
    let mut victim = Victim::new();
    for kind in 0..=255_u8 {
        // Forwarded with a hop limit that has run out.
        let far = Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 5);
        let about = with_hop_limit(&icmp_packet(global(FOE), far, kind, 0, &[0; 8]), 1);
        let answer = victim.packet(&about);
        if kind < 128 || kind == 137 {
            answer.is_drop(Reason::HopLimit);
        } else {
            answer.is_refusal(Reason::HopLimit, (3, 0, 0), &about);
        }
        // Behind options, where it is found as well.
        let message = icmp_packet(global(FOE), far, kind, 0, &[0; 8]).split_off(40);
        let body = [&[58, 0, 1, 4, 0, 0, 0, 0][..], &message].concat();
        let about = ipv6_packet(global(FOE), far, NextHeader::DESTINATION, &body);
        let about = with_hop_limit(&about, 1);
        let answer = victim.packet(&about);
        if kind < 128 || kind == 137 {
            answer.is_drop(Reason::HopLimit);
        } else {
            answer.is_refusal(Reason::HopLimit, (3, 0, 0), &about);
        }
        victim.now += Duration::from_secs(1);
    }
    victim.assert_idle();
}

#[test]
fn xi7_no_error_answers_what_went_to_many_or_came_from_none() {
    let mut victim = Victim::new();
    // To a multicast address, in a frame for this node or for all.
    let many = to_no_port(global(FOE), ipv6::ALL_NODES);
    victim.packet(&many).is_drop(Reason::PortUnreachable);
    // To this node's address, in a frame for all.
    for packet in [&many, &to_no_port(global(FOE), global(1))] {
        let payload = [&[lowpan::IPV6][..], packet].concat();
        let src = LinkAddr::Extended(eui(FOE));
        let frame = victim.frame_between(src, LinkAddr::BROADCAST, &payload);
        victim.feed(&frame).is_drop(Reason::PortUnreachable);
    }
    // From no one node.
    let nobody = Ipv6Addr::UNSPECIFIED;
    victim
        .packet(&to_no_port(nobody, global(1)))
        .is_drop(Reason::PortUnreachable);
    for src in [ipv6::ALL_NODES, Ipv6Addr::LOCALHOST] {
        victim
            .packet(&to_no_port(src, global(1)))
            .is_drop(Reason::Ipv6Address);
    }
    // And the same from a node is answered.
    let packet = to_no_port(global(FOE), global(1));
    victim
        .packet(&packet)
        .is_refusal(Reason::PortUnreachable, (1, 4, 0), &packet);
    victim.assert_idle();
}

/// RFC 4443 section 2.4 (f): ten at once, and then one each 100 ms.
#[test]
fn xi7_errors_are_sent_at_a_limited_rate_whatever_comes() {
    let mut victim = Victim::new();
    let packets = [
        to_no_port(global(FOE), global(1)),
        ipv6_packet(global(FOE), global(1), NextHeader(200), b"?"),
        with_hop_limit(
            &to_no_port(global(FOE), Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 5)),
            1,
        ),
    ];
    let mut sent = Vec::new();
    for number in 0..2000_u64 {
        let packet = &packets[number as usize % 3];
        let answer = victim.packet(packet);
        assert_eq!(answer.drops.len(), 1, "counted, told or not");
        sent.extend(answer.sent.iter().map(|_| victim.now));
        victim.now += Duration::from_millis(5);
    }
    // In the ten seconds of the flood: the burst, and what time has given.
    assert_eq!(sent.len(), 10 + 99);
    for (earlier, later) in sent.iter().skip(10).zip(sent.iter().skip(20)) {
        assert!(later.since(*earlier) >= Duration::from_millis(990));
    }
    // The burst is back after a second of quiet.
    victim.now += Duration::from_secs(1);
    let at_once = (0..50)
        .filter(|_| !victim.packet(&packets[0]).sent.is_empty())
        .count();
    assert_eq!(at_once, 10);
    victim.assert_idle();
}

/// Contiki lost count where it built an error about a bad extension header.
#[test]
fn xi8_an_error_about_a_packet_cut_anywhere_quotes_what_came() {
    let mut victim = Victim::new();
    let mut chain = Vec::new();
    chain.extend([60, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    chain.extend([43, 0, 1, 4, 0, 0, 0, 0]);
    chain.extend([
        44, 2, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);
    chain.extend([17, 0, 0, 0, 0, 0, 0, 1]);
    chain.extend(udp_datagram(global(FOE), global(1), 9, b"?"));
    // Headers of 16, 8, 24 and 8 bytes, and then UDP.
    for cut in 0..=chain.len() {
        let packet = ipv6_packet(global(FOE), global(1), NextHeader::HOP_BY_HOP, &chain[..cut]);
        let answer = victim.packet(&packet);
        let is_too_long_at = |pointer| answer.is_refusal(Reason::Ipv6Malformed, (4, 0, pointer), &packet);
        match cut {
            // Not even a length.
            0 | 1 | 16 | 17 | 24 | 25 | 48..56 => answer.is_drop(Reason::Ipv6Malformed),
            2..16 => is_too_long_at(41),
            18..24 => is_too_long_at(57),
            26..48 => is_too_long_at(65),
            56..65 => answer.is_drop(Reason::UdpMalformed),
            _ => answer.is_refusal(Reason::PortUnreachable, (1, 4, 0), &packet),
        }
        victim.now += Duration::from_secs(1);
    }
    victim.assert_idle();
}

#[test]
fn xi8_errors_that_come_in_are_dropped_whatever_they_quote() {
    let mut victim = Victim::new();
    let quoted = udp_packet(global(1), global(FOE), b"what I sent");
    for kind in 1..=4 {
        for len in 0..=quoted.len() {
            let body = [&[0, 0, 0, 48][..], &quoted[..len]].concat();
            let packet = icmp_packet(global(FOE), global(1), kind, 0, &body);
            victim.packet(&packet).is_drop(Reason::Icmpv6Unhandled);
        }
        // Shorter than the head of an error, down to nothing.
        for len in 0..4 {
            let packet = icmp_packet(global(FOE), global(1), kind, 0, &[0; 4][..len]);
            victim.packet(&packet).is_drop(Reason::Icmpv6Malformed);
        }
    }
    for len in 0..4 {
        let packet = ipv6_packet(global(FOE), global(1), NextHeader::ICMPV6, &[1, 0, 0, 0][..len]);
        victim.packet(&packet).is_drop(Reason::Icmpv6Malformed);
    }
    victim.assert_idle();
}

#[test]
fn xi8_an_error_about_the_longest_packet_is_no_longer_than_the_minimum_mtu() {
    let mut victim = Victim::new();
    for len in (1180..=1232).step_by(4) {
        let src = global(FOE);
        let udp = udp_datagram(src, global(1), 9, &pattern(len));
        let packet = ipv6_packet(src, global(1), NextHeader::UDP, &udp);
        victim
            .packet(&packet)
            .is_refusal(Reason::PortUnreachable, (1, 4, 0), &packet);
        victim.now += Duration::from_secs(1);
    }
    victim.assert_idle();
}
