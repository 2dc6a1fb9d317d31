//! XH17: packets that are forwarded, whatever their headers look like (RIOT lost its way where a received header could not
//! be compressed again).

use proptest::collection::vec as vec_of;
use proptest::prelude::*;

use super::*;

/// A destination behind the router.
const FAR: Ipv6Addr = Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, 5);

/// Whatever the packet is, it leaves as it came, one hop on.
#[track_caller]
fn assert_forwarded(packet: &[u8]) {
    let mut victim = Victim::new();
    let answer = victim.packet(packet);
    let onward = with_hop_limit(packet, packet[7] - 1);
    assert_eq!(answer.sent, [(LinkAddr::Extended(eui(FRIEND)), onward)]);
    assert_eq!((&answer.drops[..], &answer.delivered[..]), (&[][..], &[][..]));
    victim.assert_idle();
}

/// An extension header of `units` times 8 bytes more than 8, with this body.
fn extension(next: u8, units: u8, fill: u8) -> Vec<u8> {
    let mut header = vec![next, units];
    header.resize(8 + 8 * usize::from(units), fill);
    header
}

#[test]
fn xh17_headers_too_long_for_a_compressed_frame_are_forwarded_uncompressed() {
    let udp = udp_datagram(global(FOE), FAR, 9, b"payload");
    // The option that fills the header is no padding, so that none of it can be left out.
    for units in 0..30 {
        let mut options = extension(17, units, 7);
        options[2..4].copy_from_slice(&[0x1e, 8 * units + 4]);
        let payload = [&options[..], &udp].concat();
        assert_forwarded(&ipv6_packet(global(FOE), FAR, NextHeader::DESTINATION, &payload));
        assert_forwarded(&ipv6_packet(global(FOE), FAR, NextHeader::HOP_BY_HOP, &payload));
    }
    // And several that would fit alone.
    for count in 1..30 {
        let mut chain = Vec::new();
        for left in (0..count).rev() {
            let mut options = extension(if left == 0 { 17 } else { 60 }, 1, 9);
            options[2..4].copy_from_slice(&[0x1e, 12]);
            chain.extend(options);
        }
        let payload = [&chain[..], &udp].concat();
        assert_forwarded(&ipv6_packet(global(FOE), FAR, NextHeader::DESTINATION, &payload));
    }
}

#[test]
fn xh17_headers_that_contradict_the_packet_are_forwarded_as_they_are() {
    let packet = |next: NextHeader, payload: &[u8]| ipv6_packet(global(FOE), FAR, next, payload);
    let udp = udp_datagram(global(FOE), FAR, 9, &[3; 40]);
    // Lengths of UDP that decompression would not infer.
    for len in [0, 7, 8, 47, 49, 0xffff_u16] {
        let mut udp = udp.clone();
        udp[4..6].copy_from_slice(&len.to_be_bytes());
        assert_forwarded(&packet(NextHeader::UDP, &udp));
    }
    // Headers that end before they do, or with the packet.
    for next in [0, 43, 44, 60, 135, 17, 41, 58, 59, 200] {
        for len in 0..20 {
            assert_forwarded(&packet(NextHeader(next), &vec![next; len]));
            assert_forwarded(&packet(NextHeader(next), &vec![0; len]));
        }
    }
    // IPv6 in IPv6, of another version and of other lengths.
    for (first, len) in [(0x60, 0_u16), (0x60, 7), (0x60, 9), (0x40, 8), (0x60, 8)] {
        let mut inner = ipv6_packet(global(3), global(4), NextHeader::UDP, &[1; 8]);
        inner[0] = first;
        inner[4..6].copy_from_slice(&len.to_be_bytes());
        assert_forwarded(&packet(NextHeader::IPV6, &inner));
    }
    // Elided and reserved fields of the fixed header.
    let mut labelled = packet(NextHeader::UDP, &udp);
    for first in [[0x60, 0, 0, 1], [0x6f, 0xff, 0xff, 0xff], [0x63, 0xc0, 0, 0]] {
        labelled[..4].copy_from_slice(&first);
        assert_forwarded(&labelled);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn xh17_any_chain_of_headers_is_forwarded_to_the_bit(
        kinds in vec_of(prop::sample::select(&[0_u8, 17, 41, 43, 44, 58, 60, 135, 200][..]), 1..8),
        units in vec_of(0..6_u8, 8),
        tail in vec_of(any::<u8>(), 0..700),
        fill in 0..3_u8,
        hop_limit in 2..=255_u8,
    ) {
        let mut payload = Vec::new();
        let follow = kinds.iter().skip(1).chain([&17]);
        for ((kind, next), units) in kinds.iter().zip(follow).zip(&units) {
            match kind {
                17 => payload.extend(udp_datagram(global(FOE), FAR, 9, &tail)),
                41 => payload.extend(ipv6_packet(global(3), global(4), NextHeader(*next), &tail)),
                44 => payload.extend([*next, fill, 0, fill, 1, 2, 3, 4]),
                _ => payload.extend(extension(*next, *units, fill)),
            }
        }
        payload.extend(&tail);
        payload.truncate(1240);
        let packet = ipv6_packet(global(FOE), FAR, NextHeader(kinds[0]), &payload);
        assert_forwarded(&with_hop_limit(&packet, hop_limit));
    }
}
