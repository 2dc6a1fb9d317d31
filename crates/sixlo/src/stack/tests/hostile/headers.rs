//! XH: header compression, pages, routing and mesh headers.

use super::*;

/// IPHC between the link-local addresses of the frame, hop limit 64, next header compressed (RFC 6282 section 3.1.1).
const BASE: [u8; 2] = [0x7e, 0x33];
/// The same with the next header inline.
const BASE_INLINE: [u8; 2] = [0x7a, 0x33];
/// UDP with both ports inline, to [`PORT`].
const UDP: [u8; 5] = [0xf0, 0x13, 0x89, 0x13, 0x88];

/// UDP, compressed, with its checksum and a payload.
fn udp_nhc(payload: &[u8]) -> Vec<u8> {
    let datagram = udp_datagram(link_local(FOE), link_local(1), PORT, payload);
    [&UDP[..], &datagram[6..]].concat()
}

/// A datagram in one frame, with `between` where next headers are compressed before UDP.
fn compressed(between: &[u8]) -> Vec<u8> {
    [&BASE[..], between, &udp_nhc(b"hello")].concat()
}

#[test]
fn xh1_every_base_cut_anywhere_is_taken_or_counted() {
    let mut victim = Victim::new();
    let tail = pattern(60);
    let total = |stack: &Stack<'_>| -> u32 { Reason::ALL.iter().map(|reason| stack.drops(*reason)).sum() };
    let mut before = 0;
    for base in 0..0x2000_u16 {
        let [high, low] = (0x6000 | base).to_be_bytes();
        for len in 0..46 {
            let frame = victim.frame(FOE, &[&[high, low][..], &tail[..len]].concat());
            let Victim {
                stack, now, device, ..
            } = &mut victim;
            stack.frame(*now, IFACE, &frame, RxInfo::default(), &mut ());
            let mut sent = 0;
            while stack.transmit(*now, IFACE, device, &mut ()).is_some() {
                let report = TxReport {
                    outcome: TxOutcome::Sent,
                    attempts: 1,
                    busy: 0,
                };
                stack.transmitted(*now, IFACE, report, &mut ());
                sent += 1;
            }
            let dropped = total(stack) - before;
            assert!(
                dropped + sent >= 1 && dropped <= 1 && sent <= 2,
                "{base:#x} {len}"
            );
            assert_eq!((stack.buffer().live(), stack.buffer().used()), (0, 0));
            before += dropped;
            *now += Duration::from_millis(10);
        }
    }
}

#[test]
fn xh2_a_compressed_next_header_and_nothing_behind_it_is_dropped() {
    let mut victim = Victim::new();
    victim.payload(FOE, &BASE).is_drop(Reason::LowpanHeader);
    for cut in 3..compressed(&[]).len() - b"hello".len() {
        let payload = &compressed(&[])[..cut];
        victim.payload(FOE, payload).is_drop(Reason::LowpanHeader);
    }
    victim.payload(FOE, &compressed(&[])).is_delivery(b"hello");
    victim.assert_idle();
}

#[test]
fn xh3_a_context_that_is_not_set_or_no_longer_is_drops_the_packet() {
    let mut victim = Victim::new();
    // Source and destination by 64 bits and a context, context 3 for both.
    let datagram = udp_packet(global(FOE), global(1), b"by context");
    let addresses = [&datagram[16..24], &datagram[32..40]].concat();
    let payload = |contexts: u8| {
        let head = [0x7e, 0xd5, contexts];
        [&head[..], &addresses, &UDP, &datagram[46..]].concat()
    };
    for contexts in [0x33, 0x03, 0x30, 0xff] {
        victim
            .payload(FOE, &payload(contexts))
            .is_drop(Reason::LowpanContext);
    }
    let context = Context::new(net::PREFIX.octets(), 64);
    assert!(victim.stack.set_context(3, Some(context)));
    victim.payload(FOE, &payload(0x33)).is_delivery(b"by context");
    assert!(victim.stack.set_context(3, None));
    victim.payload(FOE, &payload(0x33)).is_drop(Reason::LowpanContext);
    victim.payload(FOE, &payload(0x00)).is_delivery(b"by context");
    victim.assert_idle();
}

#[test]
fn xh4_reserved_modes_of_the_destination_are_dropped() {
    let mut victim = Victim::new();
    for mode in [0b0100, 0b1101, 0b1110, 0b1111] {
        for source in [0x00, 0x30, 0x70] {
            let payload = [&[0x7e, source | mode][..], &[0; 40]].concat();
            victim.payload(FOE, &payload).is_drop(Reason::LowpanHeader);
        }
    }
    victim.assert_idle();
}

#[test]
fn xh5_next_headers_that_no_one_knows_are_dropped() {
    let mut victim = Victim::new();
    for octet in (0..0xe0).chain(0xea..0xee).chain(0xf8..=0xff) {
        let payload = compressed(&[octet, 0, 0]);
        victim.payload(FOE, &payload).is_drop(Reason::LowpanHeader);
    }
    victim.assert_idle();
}

#[test]
fn xh6_a_compressed_extension_header_longer_than_the_frame_is_dropped() {
    let mut victim = Victim::new();
    // Hop-by-hop options, routing, destination options, mobility; each with the next header compressed.
    for octet in [0xe1, 0xe3, 0xe7, 0xe9] {
        for len in 90..=255 {
            let payload = [&BASE[..], &[octet, len], &[1; 60]].concat();
            victim.payload(FOE, &payload).is_drop(Reason::LowpanHeader);
        }
    }
    victim.assert_idle();
}

#[test]
fn xh7_only_options_may_leave_out_their_padding() {
    let mut victim = Victim::new();
    // An unknown option of up to 13 bytes that may be skipped.
    for len in 0..14_u8 {
        let mut options = [&[0x1e, len][..], &vec![7; usize::from(len)]].concat();
        options.splice(0..0, [0xe7, len + 2]);
        victim.payload(FOE, &compressed(&options)).is_delivery(b"hello");
        // A routing header with nothing left to visit, of a length that fits or not.
        let mut route = vec![0xe3, len, 99, 0];
        route.resize(2 + usize::from(len), 0);
        let answer = victim.payload(FOE, &compressed(&route));
        if (len + 2) % 8 == 0 {
            answer.is_delivery(b"hello");
        } else {
            assert_eq!(answer.drops, [Reason::LowpanHeader]);
        }
    }
    victim.assert_idle();
}

#[test]
fn xh8_chains_of_compressed_headers_are_taken_up_to_the_bounds_of_each_layer() {
    let mut victim = Victim::new();
    for count in 0..=45 {
        let answer = victim.payload(FOE, &compressed(&[0xe7, 0].repeat(count)));
        match count {
            0..=8 => answer.is_delivery(b"hello"),
            // RFC 8504 section 5.3: a bound of the IPv6 layer. Then the bound of decompression, with UDP 40 headers.
            9..=39 => answer.is_drop(Reason::Ipv6Option),
            _ => answer.is_drop(Reason::LowpanHeader),
        }
    }
    victim.assert_idle();
}

#[test]
fn xh9_ipv6_nested_in_ipv6_is_refused_at_every_depth() {
    let mut victim = Victim::new();
    for depth in 1..=40_usize {
        let nested = [0xee, 0x7e, 0x33].repeat(depth - 1);
        let last = [0xee, BASE_INLINE[0], BASE_INLINE[1], 59];
        let payload = [&BASE[..], &nested, &last].concat();
        if payload.len() > PAYLOAD_MAX {
            break;
        }
        let answer = victim.payload(FOE, &payload);
        let len = (depth + 1) * ipv6::HEADER_LEN;
        if len > 512 {
            // More than a frame can mean to say.
            answer.is_drop(Reason::LowpanHeader);
            continue;
        }
        let mut packet = Vec::new();
        for inner in (0..=depth).rev() {
            let next = if inner == 0 {
                NextHeader::NONE
            } else {
                NextHeader::IPV6
            };
            let payload_len = inner * ipv6::HEADER_LEN;
            let header = ipv6_packet(link_local(FOE), link_local(1), next, &vec![0; payload_len]);
            packet.extend(&header[..ipv6::HEADER_LEN]);
        }
        answer.is_refusal(Reason::NextHeaderUnknown, (4, 1, 6), &packet);
        victim.now += Duration::from_secs(1);
    }
    victim.assert_idle();
}

#[test]
fn xh10_an_elided_udp_checksum_is_dropped_in_every_form() {
    let mut victim = Victim::new();
    for ports in 0..4_u8 {
        let payload = [&BASE[..], &[0xf4 | ports], &[0xb1; 12]].concat();
        victim
            .payload(FOE, &payload)
            .is_drop(Reason::LowpanChecksumElided);
        // In a first fragment as well.
        let mut first = fragment(u16::from(ports), 200, 0, &[]);
        first.pop();
        first.extend(&payload);
        victim.payload(FOE, &first).is_drop(Reason::LowpanChecksumElided);
    }
    victim.assert_idle();
}

#[test]
fn xh11_a_size_that_contradicts_the_headers_is_dropped() {
    let mut victim = Victim::new();
    let first = |size: u16| {
        let mut bytes = fragment(size, size, 0, &[]);
        bytes.pop();
        [&bytes[..], &BASE, &udp_nhc(&[7; 48])].concat()
    };
    // Headers of 48 bytes, and 48 of payload.
    for size in 0..96 {
        victim.payload(FOE, &first(size)).is_drop(Reason::LowpanHeader);
    }
    for size in [1281, 1500, 2047] {
        victim
            .payload(FOE, &first(size))
            .is_drop(Reason::DatagramTooLarge);
    }
    // The whole datagram in one fragment, for which the length of UDP is what the size says.
    victim.payload(FOE, &first(96)).is_delivery(&[7; 48]);
    // The header of the reassembled packet announces more than the fragments brought, or less.
    let mut packet = udp_packet(global(FOE), global(1), &[7; 200]);
    for (payload_len, reason) in [(209, Reason::Ipv6Malformed), (207, Reason::UdpMalformed)] {
        packet[4..6].copy_from_slice(&u16::to_be_bytes(payload_len));
        victim.packet(&packet).is_drop(reason);
        victim.now += Duration::from_secs(1);
    }
    victim.assert_idle();
}

#[test]
fn xh11_headers_that_expand_to_more_than_memory_are_dropped() {
    let mut victim = Victim::with(memory(280, 4, 2), &Config::new(1));
    for count in 0..=39 {
        let answer = victim.payload(FOE, &compressed(&[0xe7, 0].repeat(count)));
        let len = 40 + 8 * count + 8 + 5;
        match count {
            0..=8 => answer.is_delivery(b"hello"),
            _ if len <= 276 => answer.is_drop(Reason::Ipv6Option),
            _ => answer.is_drop(Reason::NoBuffer),
        }
    }
    victim.assert_idle();
}

#[test]
fn xh12_multicast_to_a_reserved_scope_or_a_group_of_others_is_dropped_in_silence() {
    let mut victim = Victim::new();
    for scope in 0..16 {
        // 48 bits: ffXX::00XX:XXXX:XXXX (RFC 6282 section 3.1.1).
        for flags in [0x00, 0x10, 0x30, 0xf0] {
            let payload = [
                &[0x7e, 0x39, flags | scope, 0, 0, 0, 0, 9][..],
                &udp_nhc(b"to many"),
            ]
            .concat();
            let dst = LinkAddr::BROADCAST;
            let frame = victim.frame_between(LinkAddr::Extended(eui(FOE)), dst, &payload);
            victim.feed(&frame).is_drop(Reason::Ipv6Address);
            victim.payload(FOE, &payload).is_drop(Reason::Ipv6Address);
        }
    }
    victim.assert_idle();
}

#[test]
fn xh13_pages_that_are_not_spoken_here_are_dropped() {
    let mut victim = Victim::new();
    for page in 0..16_u8 {
        let payload = [&[0xf0 | page][..], &compressed(&[])].concat();
        let answer = victim.payload(FOE, &payload);
        if page < 2 {
            answer.is_delivery(b"hello");
        } else {
            answer.is_drop(Reason::LowpanDispatch);
        }
    }
    // Page 1 without a compressed header, and a whole frame of page switches.
    let packet = udp_packet(global(FOE), global(1), b"hello");
    for rest in [
        &[&[lowpan::IPV6][..], &packet].concat()[..],
        &fragment(1, 200, 0, &packet),
        &[0x42],
        &[],
        &[0xf1; 100],
    ] {
        let payload = [&[0xf1][..], rest].concat();
        victim.payload(FOE, &payload).is_drop(Reason::LowpanDispatch);
    }
    victim.assert_idle();
}

/// RFC 8138 section 4: critical routing headers drop the packet where nobody acts upon them, and elective ones do not.
#[test]
fn xh13_critical_routing_headers_are_dropped_and_elective_ones_skipped() {
    let mut victim = Victim::new();
    let mut with = |header: &[u8]| victim.payload(FOE, &[&[0xf1][..], header, &compressed(&[])].concat());
    for kind in 0..=255 {
        with(&[0xa2, kind, 64, 0]).is_delivery(b"hello");
        with(&[0x80, kind, 1, 2]).is_drop(Reason::LowpanCriticalHeader);
    }
    // Before and behind an elective one.
    for headers in [[0xa1, 9, 0, 0x83, 5, 3], [0x83, 5, 3, 0xa1, 9, 0]] {
        with(&headers).is_drop(Reason::LowpanCriticalHeader);
    }
    victim.assert_idle();
}

#[test]
fn xh14_routing_headers_that_run_past_the_end_or_hold_32_hops_are_dropped() {
    let mut victim = Victim::new();
    // Elective headers longer than what is there, and encapsulations without a hop limit or with too long an address.
    for len in 15..32 {
        let payload = [&[0xf1, 0xa0 | len, 9][..], &compressed(&[])].concat();
        victim.payload(FOE, &payload).is_drop(Reason::LowpanDispatch);
    }
    for header in [&[0xa0, 6][..], &[&[0xb2, 6][..], &[0; 18]].concat()] {
        let payload = [&[0xf1][..], header, &compressed(&[])].concat();
        victim.payload(FOE, &payload).is_drop(Reason::LowpanDispatch);
    }
    // Source routes of 1 to 32 hops, whole, and cut in the last hop.
    for hops in 1..=32_u8 {
        for (kind, hop_len) in [(0, 1), (1, 2)] {
            let route = vec![7; usize::from(hops) * hop_len];
            let header = [&[0xf1, 0x80 | (hops - 1), kind][..], &route].concat();
            let whole = [&header[..], &compressed(&[])].concat();
            victim.payload(FOE, &whole).is_drop(Reason::LowpanCriticalHeader);
            let cut = &header[..header.len() - 1];
            victim.payload(FOE, cut).is_drop(Reason::LowpanCriticalHeader);
            victim.payload(FOE, &header).is_drop(Reason::LowpanCriticalHeader);
        }
    }
    victim.assert_idle();
}

#[test]
fn xh15_mesh_headers_are_dropped_whatever_their_hops_and_nesting() {
    let mut victim = Victim::new();
    let short: &[u8] = &[0x12, 0x34, 0x00, 0x01];
    for hops in 0..16 {
        let deep = [&[0xbf, hops][..], short].concat();
        let mesh = [&[0xb0 | hops][..], short].concat();
        let mesh = if hops == 15 { deep } else { mesh };
        let payload = [&mesh[..], &compressed(&[])].concat();
        victim.payload(FOE, &payload).is_drop(Reason::LowpanMesh);
        let broadcast = [&mesh[..], &[0x50, 1], &compressed(&[])].concat();
        victim.payload(FOE, &broadcast).is_drop(Reason::LowpanMesh);
        let twice = [&mesh[..], &mesh, &compressed(&[])].concat();
        victim.payload(FOE, &twice).is_drop(Reason::LowpanMesh);
        for cut in 1..mesh.len() {
            let payload = &mesh[..cut];
            victim.payload(FOE, payload).is_drop(Reason::LowpanMesh);
        }
        // Within a first fragment, where it has no place (RFC 4944 section 5).
        let mut first = fragment(u16::from(hops), 200, 0, &[]);
        first.pop();
        let inside = [&first[..], &mesh, &compressed(&[])].concat();
        victim.payload(FOE, &inside).is_drop(Reason::LowpanMesh);
    }
    victim
        .payload(FOE, &[0x50, 1, 0x7a])
        .is_drop(Reason::LowpanDispatch);
    victim.assert_idle();
}

/// This stack announces no GHC (RFC 7400 section 3.3), so whatever uses it is dropped before a byte is expanded.
#[test]
fn xh16_generic_header_compression_is_not_expanded() {
    let mut victim = Victim::new();
    let zeroes = [0x8f; 8];
    let before_the_dictionary = [0xbf, 0xff, 0xbf, 0xff, 0xc0];
    let stop_early = [0x90, 1, 2, 3];
    let reserved = [0x91, 0x9f, 0xa0];
    for octet in (0xb0..0xb8).chain(0xd0..0xd8).chain([0xdf]) {
        for code in [&zeroes[..], &before_the_dictionary, &stop_early, &reserved, &[]] {
            let payload = [&BASE[..], &[octet], code].concat();
            victim.payload(FOE, &payload).is_drop(Reason::LowpanHeader);
        }
    }
    assert_eq!(victim.stack.buffer().high_water(), 0);
    victim.assert_idle();
}

#[test]
fn xh18_what_is_no_lowpan_frame_is_dropped() {
    let mut victim = Victim::new();
    let rest = compressed(&[]);
    for first in (0..0x41).chain(0x42..0x60) {
        let payload = [&[first][..], &rest].concat();
        victim.payload(FOE, &payload).is_drop(Reason::LowpanDispatch);
        let mut inside = fragment(7, 200, 0, &[]);
        inside.pop();
        let inside = [&inside[..], &[first], &rest].concat();
        victim.payload(FOE, &inside).is_drop(Reason::LowpanDispatch);
    }
    victim.payload(FOE, &[]).is_drop(Reason::LowpanDispatch);
    victim.assert_idle();
}
