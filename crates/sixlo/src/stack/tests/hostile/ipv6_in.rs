//! XI: IPv6 packets and their extension headers.

use super::*;

/// A packet to the victim's socket with extension headers before UDP. The first is of type `first`, the last names UDP.
fn with_extensions(first: NextHeader, extensions: &[u8]) -> Vec<u8> {
    let udp = udp_datagram(global(FOE), global(1), PORT, b"hello");
    ipv6_packet(global(FOE), global(1), first, &[extensions, &udp].concat())
}

/// A header of options of 8 bytes that names `next`, with 6 bytes of options.
fn options(next: u8, options: [u8; 6]) -> Vec<u8> {
    [&[next, 0][..], &options].concat()
}

const PAD: [u8; 6] = [1, 4, 0, 0, 0, 0];

#[test]
fn xi1_other_versions_and_lengths_are_dropped() {
    let mut victim = Victim::new();
    let good = udp_packet(global(FOE), global(1), b"hello");
    for version in (0..16).filter(|version| *version != 6) {
        let mut packet = good.clone();
        packet[0] = version << 4;
        victim.packet(&packet).is_drop(Reason::Ipv6Malformed);
    }
    // Cut anywhere: the payload length is more than what came.
    for len in 0..good.len() {
        victim.packet(&good[..len]).is_drop(Reason::Ipv6Malformed);
    }
    for payload_len in 0..=300_u16 {
        let mut packet = good.clone();
        packet[4..6].copy_from_slice(&payload_len.to_be_bytes());
        let answer = victim.packet(&packet);
        match payload_len {
            13 => answer.is_delivery(b"hello"),
            // Less than UDP says of itself, none at all included.
            ..13 => answer.is_drop(Reason::UdpMalformed),
            _ => answer.is_drop(Reason::Ipv6Malformed),
        }
    }
    let mut packet = good;
    packet[4..6].copy_from_slice(&[0xff, 0xff]);
    victim.packet(&packet).is_drop(Reason::Ipv6Malformed);
    victim.assert_idle();
}

#[test]
fn xi1_what_follows_the_packet_in_its_frame_is_padding() {
    let mut victim = Victim::new();
    for more in 0..20 {
        let mut packet = udp_packet(global(FOE), global(1), b"hello");
        packet.resize(packet.len() + more, 0xee);
        victim.packet(&packet).is_delivery(b"hello");
        victim.now += Duration::from_secs(1);
    }
    victim.assert_idle();
}

#[test]
fn xi2_more_extension_headers_than_a_packet_needs_are_dropped_in_bounded_work() {
    let mut victim = Victim::new();
    let chain = |count: usize| {
        let mut chain = Vec::new();
        for left in (0..count).rev() {
            chain.extend(options(if left == 0 { 17 } else { 60 }, PAD));
        }
        with_extensions(NextHeader::DESTINATION, &chain)
    };
    for count in 1..=150 {
        let answer = victim.packet(&chain(count));
        if count <= 8 {
            answer.is_delivery(b"hello");
        } else {
            // RFC 8504 section 5.3 allows the bound, and to be silent about it.
            answer.is_drop(Reason::Ipv6Option);
        }
        victim.now += Duration::from_secs(1);
    }
    victim.assert_idle();
}

/// RFC 8200 section 4.1: hop-by-hop options stand directly behind the fixed header. Elsewhere their type is one that is not
/// recognised (section 4).
#[test]
fn xi2_hop_by_hop_options_that_are_not_first_are_refused() {
    let mut victim = Victim::new();
    let first = with_extensions(NextHeader::HOP_BY_HOP, &options(17, PAD));
    victim.packet(&first).is_delivery(b"hello");
    for before in [NextHeader::HOP_BY_HOP, NextHeader::DESTINATION] {
        let chain = [options(0, PAD), options(17, PAD)].concat();
        let packet = with_extensions(before, &chain);
        victim
            .packet(&packet)
            .is_refusal(Reason::NextHeaderUnknown, (4, 1, 40), &packet);
    }
    // 128 of them.
    let mut chain = options(0, PAD).repeat(127);
    chain.extend(options(17, PAD));
    let packet = with_extensions(NextHeader::HOP_BY_HOP, &chain);
    let answer = victim.packet(&packet);
    // What lies behind more headers than are looked at could be an error, so that none is sent.
    answer.is_drop(Reason::NextHeaderUnknown);
    victim.assert_idle();
}

/// RFC 8200 section 4.2.
#[test]
fn xi3_an_unknown_option_does_to_its_packet_what_its_type_says() {
    let mut victim = Victim::new();
    for next in [NextHeader::HOP_BY_HOP, NextHeader::DESTINATION] {
        for kind in 2..=255_u8 {
            let packet = with_extensions(next, &options(17, [0, kind, 3, 0, 0, 0]));
            let answer = victim.packet(&packet);
            match kind >> 6 {
                // The RPL option in a form that is none.
                _ if matches!(kind, 0x23 | 0x63) => answer.is_drop(Reason::Ipv6Malformed),
                0 => answer.is_delivery(b"hello"),
                1 => answer.is_drop(Reason::Ipv6Option),
                _ => answer.is_refusal(Reason::Ipv6Option, (4, 2, 43), &packet),
            }
            victim.now += Duration::from_secs(1);
        }
    }
    victim.assert_idle();
}

#[test]
fn xi3_to_a_multicast_destination_only_the_third_action_is_told() {
    let mut victim = Victim::new();
    for kind in [0x1e, 0x5e, 0x9e, 0xde] {
        let udp = udp_datagram(global(FOE), ipv6::ALL_NODES, PORT, b"hello");
        let payload = [&options(17, [0, kind, 3, 0, 0, 0])[..], &udp].concat();
        let packet = ipv6_packet(global(FOE), ipv6::ALL_NODES, NextHeader::DESTINATION, &payload);
        let payload = [&[lowpan::IPV6][..], &packet].concat();
        let dst = LinkAddr::BROADCAST;
        let frame = victim.frame_between(LinkAddr::Extended(eui(FOE)), dst, &payload);
        let answer = victim.feed(&frame);
        match kind >> 6 {
            0 => answer.is_delivery(b"hello"),
            // RFC 4443 section 2.4 (e.3): the exception from the rule.
            2 => answer.is_refusal(Reason::Ipv6Option, (4, 2, 43), &packet),
            _ => answer.is_drop(Reason::Ipv6Option),
        }
    }
    victim.assert_idle();
}

#[test]
fn xi3_options_beyond_their_header_too_many_or_in_too_long_a_header_are_dropped() {
    let mut victim = Victim::new();
    for option in [[1, 5, 0, 0, 0, 0], [0x1e, 255, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0x1e]] {
        let packet = with_extensions(NextHeader::DESTINATION, &options(17, option));
        victim.packet(&packet).is_drop(Reason::Ipv6Malformed);
    }
    // A header longer than the packet.
    let mut packet = with_extensions(NextHeader::DESTINATION, &options(17, PAD));
    packet[41] = 255;
    victim
        .packet(&packet)
        .is_refusal(Reason::Ipv6Malformed, (4, 0, 41), &packet);
    // Options that do nothing, up to eight of them; then 246 bytes of Pad1, and a thousand.
    for count in 1..=20_u8 {
        let mut header = vec![17, 0];
        header.extend([0x1e, 0].repeat(usize::from(count)));
        header.resize(header.len().next_multiple_of(8), 0);
        header[1] = (header.len() / 8 - 1) as u8;
        let packet = with_extensions(NextHeader::DESTINATION, &header);
        let answer = victim.packet(&packet);
        if count <= 8 {
            answer.is_delivery(b"hello");
        } else {
            answer.is_drop(Reason::Ipv6Option);
        }
    }
    for (len, taken) in [(248, true), (256, true), (264, false), (1008, false)] {
        let mut header = vec![0; len];
        header[0] = 17;
        header[1] = (len / 8 - 1) as u8;
        let packet = with_extensions(NextHeader::HOP_BY_HOP, &header);
        // In order and backwards, for which the packet lies in memory in another way.
        for backwards in [false, true] {
            victim.now += Duration::from_secs(1);
            let mut pieces = fragments(victim.sequence.into(), &packet);
            if backwards {
                pieces.reverse();
            }
            let answer = pieces.iter().fold(Answer::default(), |answer, piece| {
                answer.and(victim.payload(FOE, piece))
            });
            if taken {
                answer.is_delivery(b"hello");
            } else {
                answer.is_drop(Reason::Ipv6Option);
            }
        }
    }
    victim.assert_idle();
}

/// RFC 8200 section 4: parameter problem, code 1, that points to where the next header is named.
#[test]
fn xi4_an_unknown_next_header_is_refused_with_a_pointer_to_it() {
    let mut victim = Victim::new();
    let known = [0, 6, 17, 43, 44, 58, 59, 60];
    for next in (0..=255).filter(|next| !known.contains(next)) {
        let packet = ipv6_packet(global(FOE), global(1), NextHeader(next), b"whatever");
        victim
            .packet(&packet)
            .is_refusal(Reason::NextHeaderUnknown, (4, 1, 6), &packet);
        let body = [&options(60, PAD)[..], &options(next, PAD), b"whatever"].concat();
        let packet = ipv6_packet(global(FOE), global(1), NextHeader::HOP_BY_HOP, &body);
        victim
            .packet(&packet)
            .is_refusal(Reason::NextHeaderUnknown, (4, 1, 48), &packet);
        victim.now += Duration::from_secs(1);
    }
    // Section 4.7: nothing follows, and nothing is wrong with that.
    let packet = ipv6_packet(global(FOE), global(1), NextHeader::NONE, b"whatever");
    victim.packet(&packet).is_drop(Reason::NextHeaderUnknown);
    victim.assert_idle();
}

/// RFC 8200 section 4.4: a type that is not known, with segments left, is a problem of the type field; type 0 is never
/// followed (RFC 5095 section 3), and type 3 is not run here.
#[test]
fn xi5_routing_headers_with_segments_left_are_refused_and_others_skipped() {
    let mut victim = Victim::new();
    let own: [u8; 16] = global(1).octets();
    let group = ipv6::ALL_NODES.octets();
    for kind in [0, 1, 2, 3, 4, 99, 255] {
        // Impossible sums of elided bytes, more segments than addresses, a next hop that is multicast or this node, an
        // address that comes again.
        for fields in [[0, 0], [0xff, 0xf0], [0x0f, 0], [0xf0, 0xf0]] {
            for addresses in [[own, group], [group, own], [own, own]] {
                for left in [0, 1, 2, 3, 255] {
                    let head = [17, 4, kind, left, fields[0], fields[1], 0, 0];
                    let header = [&head[..], addresses.as_flattened()].concat();
                    let packet = with_extensions(NextHeader::ROUTING, &header);
                    let answer = victim.packet(&packet);
                    if left == 0 {
                        answer.is_delivery(b"hello");
                    } else {
                        answer.is_refusal(Reason::Ipv6Option, (4, 0, 42), &packet);
                    }
                    victim.now += Duration::from_secs(1);
                }
            }
        }
        // Behind options, and longer than the packet.
        let header = [&options(43, PAD)[..], &[17, 0, kind, 1, 0, 0, 0, 0]].concat();
        let packet = with_extensions(NextHeader::HOP_BY_HOP, &header);
        victim
            .packet(&packet)
            .is_refusal(Reason::Ipv6Option, (4, 0, 50), &packet);
        let packet = with_extensions(NextHeader::ROUTING, &[17, 9, kind, 0, 0, 0, 0, 0]);
        victim
            .packet(&packet)
            .is_refusal(Reason::Ipv6Malformed, (4, 0, 41), &packet);
        victim.now += Duration::from_secs(1);
    }
    victim.assert_idle();
}

#[test]
fn xi9_impossible_sources_and_destinations_are_dropped_in_silence() {
    let mut victim = Victim::new();
    let impossible = [
        ipv6::ALL_NODES,
        Ipv6Addr::new(0xff0e, 0, 0, 0, 0, 0, 0, 9),
        Ipv6Addr::LOCALHOST,
    ];
    for src in impossible {
        // Delivered, answered, refused, forwarded: none of it.
        for dst in [
            global(1),
            ipv6::ALL_NODES,
            Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 5),
        ] {
            victim
                .packet(&udp_packet(src, dst, b"hello"))
                .is_drop(Reason::Ipv6Address);
            victim
                .packet(&icmp_packet(src, dst, 128, 0, &[0; 8]))
                .is_drop(Reason::Ipv6Address);
            victim
                .packet(&ipv6_packet(src, dst, NextHeader(200), b"?"))
                .is_drop(Reason::Ipv6Address);
        }
    }
    for dst in [Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED] {
        let packet = udp_packet(global(FOE), dst, b"hello");
        victim.packet(&packet).is_drop(Reason::Ipv6Address);
    }
    // RFC 4291 section 2.5.2: a packet may come from the unspecified address, but is not forwarded nor answered.
    let nobody = Ipv6Addr::UNSPECIFIED;
    victim
        .packet(&udp_packet(nobody, global(1), b"hello"))
        .is_delivery(b"hello");
    let far = Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 5);
    victim
        .packet(&udp_packet(nobody, far, b"hello"))
        .is_drop(Reason::Ipv6Address);
    victim
        .packet(&icmp_packet(nobody, global(1), 128, 0, &[0; 8]))
        .is_drop(Reason::Ipv6Address);
    victim
        .packet(&ipv6_packet(nobody, global(1), NextHeader(200), b"?"))
        .is_drop(Reason::NextHeaderUnknown);
    victim.assert_idle();
}

#[test]
fn xi9_a_packet_that_claims_to_come_from_this_node_ends_here() {
    let mut victim = Victim::new();
    victim
        .packet(&udp_packet(global(1), global(1), b"me?"))
        .is_delivery(b"me?");
    // Answers and errors go to this node itself, which ends them, and the ring is not closed.
    let answer = victim.packet(&icmp_packet(global(1), global(1), 128, 0, &[0; 8]));
    answer.is_drop(Reason::Icmpv6Unhandled);
    let answer = victim.packet(&ipv6_packet(global(1), global(1), NextHeader(200), b"?"));
    assert_eq!(answer.drops, [Reason::NextHeaderUnknown, Reason::Icmpv6Unhandled]);
    assert!(answer.sent.is_empty());
    victim.assert_idle();
}

#[test]
fn xi10_a_hop_limit_that_runs_out_is_told_to_the_source() {
    let mut victim = Victim::new();
    let far = Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 5);
    let packet = udp_packet(global(FOE), far, b"hello");
    for hop_limit in [0, 1] {
        let packet = with_hop_limit(&packet, hop_limit);
        victim
            .packet(&packet)
            .is_refusal(Reason::HopLimit, (3, 0, 0), &packet);
    }
    let answer = victim.packet(&with_hop_limit(&packet, 2));
    let onward = with_hop_limit(&packet, 1);
    assert_eq!(answer.sent, [(LinkAddr::Extended(eui(FRIEND)), onward)]);
    // RFC 8200 section 3: it is the forwarding that takes from it; what is for this node has arrived.
    for hop_limit in [0, 1] {
        let packet = udp_packet(global(FOE), global(1), b"hello");
        victim
            .packet(&with_hop_limit(&packet, hop_limit))
            .is_delivery(b"hello");
    }
    victim.assert_idle();
}

/// Neighbour discovery is not run here: its messages change nothing, whatever their hop limit.
#[test]
fn xi10_neighbour_discovery_is_dropped_at_every_hop_limit() {
    let mut victim = Victim::new();
    for kind in 133..=137 {
        for hop_limit in [0, 1, 64, 254, 255] {
            let body = [
                &[0; 4][..],
                &global(1).octets(),
                &global(2).octets(),
                &[2, 1, 0, 0, 0, 0, 0, 9],
            ]
            .concat();
            let packet = icmp_packet(link_local(FOE), link_local(1), kind, 0, &body);
            victim
                .packet(&with_hop_limit(&packet, hop_limit))
                .is_drop(Reason::Icmpv6Unhandled);
        }
    }
    victim.assert_alive();
    victim.assert_idle();
}

#[test]
fn xi20_a_udp_length_out_of_bounds_or_no_checksum_is_dropped() {
    let mut victim = Victim::new();
    let good = udp_packet(global(FOE), global(1), b"hello, all");
    for len in (0..=17).chain(19..=300).chain([0xffff]) {
        let mut packet = good.clone();
        packet[44..46].copy_from_slice(&u16::to_be_bytes(len));
        let answer = victim.packet(&packet);
        match len {
            // What lies behind the datagram is not looked at, but then the checksum is another one.
            8..=17 => answer.is_drop(Reason::UdpChecksum),
            _ => answer.is_drop(Reason::UdpMalformed),
        }
    }
    // RFC 8200 section 8.1: no datagram without a checksum.
    let mut packet = good.clone();
    packet[46..48].copy_from_slice(&[0, 0]);
    victim.packet(&packet).is_drop(Reason::UdpChecksum);
    for bit in 0..8 * (good.len() - 8) {
        let mut packet = good.clone();
        packet[8 + bit / 8] ^= 1 << (bit % 8);
        assert!(victim.packet(&packet).delivered.is_empty(), "bit {bit}");
        victim.now += Duration::from_secs(1);
    }
    // A shorter datagram in a longer packet is whole.
    let mut udp = udp_datagram(global(FOE), global(1), PORT, b"short");
    udp.extend([0xee; 20]);
    victim
        .packet(&ipv6_packet(global(FOE), global(1), NextHeader::UDP, &udp))
        .is_delivery(b"short");
    victim.packet(&good).is_delivery(b"hello, all");
    victim.assert_idle();
}
