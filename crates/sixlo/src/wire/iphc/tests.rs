//! Known forms, and what the other test files share.

use core::net::Ipv6Addr;
use std::vec::Vec;

use super::*;
use crate::wire::ipv6::{self, NextHeader, TrafficClass};

mod arithmetic;
mod exhaustive;
mod hostile;
mod round_trip;

pub(super) fn addr(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

pub(super) fn context(text: &str, len: u8) -> Context {
    Context::new(addr(text).octets(), len)
}

/// A plain header with hop limit 64.
pub(super) fn header(src: &str, dst: &str, next_header: NextHeader, payload_len: usize) -> ipv6::Header {
    ipv6::Header {
        traffic_class: TrafficClass(0),
        flow_label: 0,
        payload_len: payload_len as u16,
        next_header,
        hop_limit: 64,
        src: addr(src),
        dst: addr(dst),
    }
}

/// A UDP packet with a checksum of 0xabcd and a payload of `0x77`.
pub(super) fn udp_packet(src: &str, dst: &str, ports: (u16, u16), payload_len: usize) -> Vec<u8> {
    let mut packet = header(src, dst, NextHeader::UDP, 8 + payload_len).emit().to_vec();
    let header = crate::wire::udp::Header {
        src_port: ports.0,
        dst_port: ports.1,
        len: 8 + payload_len as u16,
        checksum: 0xabcd,
    };
    packet.extend(header.emit());
    packet.resize(48 + payload_len, 0x77);
    packet
}

/// Node 2 sends to node 1, extended addresses.
pub(super) const LINK: Link = Link {
    src: LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 2]),
    dst: LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 1]),
};

/// The compressed frame: compressed headers and what is carried as it is.
pub(super) fn frame(packet: &[u8], link: &Link, contexts: &[Context]) -> Vec<u8> {
    let mut out = [0xa5; 2048];
    let done = compress(packet, link, &Contexts(contexts), &mut out).unwrap();
    let mut frame = out[..done.written].to_vec();
    frame.extend(&packet[done.consumed..]);
    frame
}

/// The packet of a frame that holds all of it.
pub(super) fn packet(frame: &[u8], link: &Link, contexts: &[Context]) -> Result<Vec<u8>, ParseError> {
    let mut out = [0xa5; 2048];
    let done = decompress(frame, link, &Contexts(contexts), None, &mut out)?;
    assert!(
        out[done.written..].iter().all(|&byte| byte == 0xa5),
        "writes no further than it says"
    );
    let mut packet = out[..done.written].to_vec();
    packet.extend(&frame[done.consumed..]);
    assert_eq!(packet.len(), done.datagram_len);
    Ok(packet)
}

/// Checks that `packet_bytes` has the compressed form `compressed` in front of its payload, both ways.
fn both_ways(packet_bytes: &[u8], link: &Link, contexts: &[Context], compressed: &[u8]) {
    let frame = frame(packet_bytes, link, contexts);
    assert_eq!(frame[..compressed.len()], *compressed);
    assert_eq!(packet(&frame, link, contexts).unwrap(), packet_bytes);
}

#[test]
fn a_packet_between_neighbours_needs_two_bytes_for_ipv6() {
    // RFC 6282 section 3: the best case. Then 7 for UDP.
    let bytes = udp_packet("fe80::2", "fe80::1", (5683, 5684), 4);
    both_ways(
        &bytes,
        &LINK,
        &[],
        &[
            0x7e, 0x33, 0xf0, 0x16, 0x33, 0x16, 0x34, 0xab, 0xcd, 0x77, 0x77, 0x77, 0x77,
        ],
    );
}

#[test]
fn a_packet_over_several_hops_between_short_addresses_needs_seven_bytes_for_ipv6() {
    // RFC 6282 section 3: hop limit and two 16-bit addresses in line.
    let mut bytes = udp_packet("fd00::ff:fe00:2", "fd00::ff:fe00:1", (0xf0b1, 0xf0bf), 0);
    bytes[7] = 63;
    let link = Link {
        src: LinkAddr::Short(7),
        dst: LinkAddr::Short(8),
    };
    let contexts = [context("fd00::", 64)];
    both_ways(
        &bytes,
        &link,
        &contexts,
        &[0x7c, 0x66, 63, 0, 2, 0, 1, 0xf3, 0x1f, 0xab, 0xcd],
    );
}

#[test]
fn every_hop_limit_has_its_form() {
    for (hop_limit, bits, inline) in [
        (1, 1, None),
        (64, 2, None),
        (255, 3, None),
        (0, 0, Some(0)),
        (63, 0, Some(63)),
    ] {
        let mut bytes = udp_packet("fe80::2", "fe80::1", (1, 2), 0);
        bytes[7] = hop_limit;
        let mut expected = std::vec![0x7c | bits, 0x33];
        expected.extend(inline);
        both_ways(&bytes, &LINK, &[], &expected);
    }
}

#[test]
fn traffic_class_and_flow_label_have_four_forms() {
    // RFC 6282 section 3.2.1: class 0xb9 is DSCP 0x2e and ECN 1, rotated 0x6e.
    for (word, form) in [
        (0x6000_0000_u32, &[0x7e, 0x33][..]),
        (0x6b90_0000, &[0x76, 0x33, 0x6e]),
        (0x6011_2345, &[0x6e, 0x33, 0x41, 0x23, 0x45]),
        (0x600a_bcde, &[0x6e, 0x33, 0x0a, 0xbc, 0xde]),
        (0x6b91_2345, &[0x66, 0x33, 0x6e, 0x01, 0x23, 0x45]),
    ] {
        let mut bytes = udp_packet("fe80::2", "fe80::1", (1, 2), 0);
        bytes[..4].copy_from_slice(&word.to_be_bytes());
        both_ways(&bytes, &LINK, &[], form);
    }
}

#[test]
fn reserved_bits_of_the_traffic_forms_are_ignored() {
    let expected = packet(
        &[0x6e, 0x33, 0x41, 0x23, 0x45, 0xf0, 0, 1, 0, 2, 3, 4],
        &LINK,
        &[],
    );
    assert_eq!(
        packet(
            &[0x6e, 0x33, 0x71, 0x23, 0x45, 0xf0, 0, 1, 0, 2, 3, 4],
            &LINK,
            &[]
        ),
        expected
    );
    let expected = packet(
        &[0x66, 0x33, 0x6e, 0x01, 0x23, 0x45, 0xf0, 0, 1, 0, 2, 3, 4],
        &LINK,
        &[],
    );
    assert_eq!(
        packet(
            &[0x66, 0x33, 0x6e, 0xf1, 0x23, 0x45, 0xf0, 0, 1, 0, 2, 3, 4],
            &LINK,
            &[]
        ),
        expected
    );
}

#[test]
fn unicast_addresses_without_context_have_four_forms() {
    for (src, dst, form) in [
        ("fe80::2", "fe80::1", &[0x7a, 0x33, 59][..]),
        (
            "fe80::ff:fe00:102",
            "fe80::ff:fe00:304",
            &[0x7a, 0x22, 59, 1, 2, 3, 4],
        ),
        (
            "fe80::1234:0:0:2",
            "fe80::5678:0:0:1",
            &[
                0x7a, 0x11, 59, 0x12, 0x34, 0, 0, 0, 0, 0, 2, 0x56, 0x78, 0, 0, 0, 0, 0, 1,
            ],
        ),
        (
            "fe80:0:0:1::2",
            "fd00::1",
            &[
                0x7a, 0x00, 59, 0xfe, 0x80, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, // source
                0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, // destination
            ],
        ),
    ] {
        both_ways(&header(src, dst, NextHeader::NONE, 0).emit(), &LINK, &[], form);
    }
}

#[test]
fn short_link_addresses_elide_their_interface_identifiers() {
    let link = Link {
        src: LinkAddr::Short(0x0102),
        dst: LinkAddr::Short(0x0304),
    };
    let bytes = header("fe80::ff:fe00:102", "fe80::ff:fe00:304", NextHeader::NONE, 0).emit();
    both_ways(&bytes, &link, &[], &[0x7a, 0x33, 59]);
}

#[test]
fn a_frame_without_addresses_elides_nothing() {
    let bytes = header("fe80::2", "fe80::ff:fe00:1", NextHeader::NONE, 0).emit();
    both_ways(
        &bytes,
        &Link::default(),
        &[],
        &[0x7a, 0x12, 59, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1],
    );
}

#[test]
fn an_unspecified_source_needs_no_byte_and_no_context() {
    both_ways(
        &header("::", "ff02::1", NextHeader::NONE, 0).emit(),
        &LINK,
        &[],
        &[0x7a, 0x4b, 59, 1],
    );
}

#[test]
fn unicast_addresses_with_a_context_have_three_forms() {
    let contexts = [context("fd00::", 64)];
    for (src, dst, form) in [
        ("fd00::2", "fd00::1", &[0x7a, 0x77, 59][..]),
        (
            "fd00::ff:fe00:102",
            "fd00::ff:fe00:304",
            &[0x7a, 0x66, 59, 1, 2, 3, 4],
        ),
        (
            "fd00::1234:0:0:2",
            "fd00::9",
            &[
                0x7a, 0x55, 59, 0x12, 0x34, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9,
            ],
        ),
    ] {
        both_ways(
            &header(src, dst, NextHeader::NONE, 0).emit(),
            &LINK,
            &contexts,
            form,
        );
    }
}

#[test]
fn contexts_of_other_numbers_are_named() {
    let contexts = [
        context("fd00::", 64),
        context("2001:db8::", 64),
        Context::default(),
        context("fd03::", 64),
    ];
    let bytes = header("2001:db8::2", "fd03::1", NextHeader::NONE, 0).emit();
    both_ways(&bytes, &LINK, &contexts, &[0x7a, 0xf7, 0x13, 59]);
    let bytes = header("fe80::2", "fd03::1", NextHeader::NONE, 0).emit();
    both_ways(&bytes, &LINK, &contexts, &[0x7a, 0xb7, 0x03, 59]);
}

#[test]
fn of_two_contexts_that_serve_equally_the_lower_number_is_taken_and_of_others_the_better() {
    let contexts = [
        context("fd00::", 64),
        context("fd00::", 64),
        context("fd00:0:0:0:1234::", 120),
    ];
    both_ways(
        &header("fd00::2", "fd00::1", NextHeader::NONE, 0).emit(),
        &LINK,
        &contexts,
        &[0x7a, 0x77, 59],
    );
    // 64 bits with context 0, 16 bits with context 2: the octet that names it costs less.
    let bytes = header("fd00::1234:0:0:2", "fd00::1", NextHeader::NONE, 0).emit();
    both_ways(&bytes, &LINK, &contexts, &[0x7a, 0xf7, 0x20, 59]);
}

#[test]
fn a_context_longer_than_64_bits_overrides_the_bits_that_it_covers() {
    // RFC 6282 section 3.1.1: "bits covered by context information are always used".
    let contexts = [context("fd00::aaaa:0:0:0", 80)];
    let elided = header("fd00::aaaa:0:0:2", "fd00::aaaa:0:0:1", NextHeader::NONE, 0).emit();
    // The first 16 bits of the identifier are the context's, the others those of the link.
    both_ways(&elided, &LINK, &contexts, &[0x7a, 0x77, 59]);
    let short = header(
        "fd00::aaaa:ff:fe00:2",
        "fd00::aaaa:ff:fe00:1",
        NextHeader::NONE,
        0,
    )
    .emit();
    both_ways(&short, &LINK, &contexts, &[0x7a, 0x66, 59, 0, 2, 0, 1]);
    // What is carried in line for covered bits does not matter.
    let bytes = [0x7a, 0x57, 59, 0xff, 0xff, 0, 0, 0, 0, 0, 2];
    assert_eq!(packet(&bytes, &LINK, &contexts).unwrap(), elided);
}

#[test]
fn a_context_shorter_than_64_bits_is_followed_by_zeros() {
    let contexts = [context("2001:db8:ffff:ffff::", 32)];
    let bytes = header("2001:db8::2", "2001:db8::1", NextHeader::NONE, 0).emit();
    both_ways(&bytes, &LINK, &contexts, &[0x7a, 0x77, 59]);
    let bytes = header("2001:db8:0:1::2", "2001:db8::1", NextHeader::NONE, 0).emit();
    assert_eq!(
        frame(&bytes, &LINK, &contexts)[1],
        0x07,
        "not covered: carried whole"
    );
}

#[test]
fn a_context_of_128_bits_needs_neither_bytes_nor_a_link_address() {
    let contexts = [context("fd00::1", 128), context("fd00::2", 255)];
    let bytes = header("fd00::2", "fd00::1", NextHeader::NONE, 0).emit();
    both_ways(&bytes, &Link::default(), &contexts, &[0x7a, 0xf7, 0x10, 59]);
}

#[test]
fn a_context_that_is_not_valid_for_compression_still_decompresses() {
    // RFC 6775 section 4.2.
    let mut contexts = [context("fd00::", 64)];
    contexts[0].valid_for_compression = false;
    let bytes = header("fd00::2", "fd00::1", NextHeader::NONE, 0).emit();
    assert_eq!(frame(&bytes, &LINK, &contexts)[1], 0x00);
    assert_eq!(packet(&[0x7a, 0x77, 59], &LINK, &contexts).unwrap(), bytes);
}

#[test]
fn multicast_addresses_without_context_have_four_forms() {
    for (dst, form) in [
        ("ff02::12", &[0x7a, 0x3b, 59, 0x12][..]),
        ("ff05::1:2", &[0x7a, 0x3a, 59, 0x05, 0x01, 0, 2]),
        ("ff02::1:2", &[0x7a, 0x3a, 59, 0x02, 0x01, 0, 2]),
        (
            "ff02::1:ff12:3456",
            &[0x7a, 0x39, 59, 0x02, 0x01, 0xff, 0x12, 0x34, 0x56],
        ),
        (
            "ff3e:0:0:0:0:100::",
            &[
                0x7a, 0x38, 59, 0xff, 0x3e, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
            ],
        ),
    ] {
        both_ways(
            &header("fe80::2", dst, NextHeader::NONE, 0).emit(),
            &LINK,
            &[],
            form,
        );
    }
}

#[test]
fn a_multicast_address_made_of_a_prefix_takes_it_from_the_context() {
    // RFC 6282 section 3.2.4, RFC 3306 section 4.
    let contexts = [context("fd00::", 64), context("2001:db8:1234::", 48)];
    let bytes = header("fe80::2", "ff3e:0040:fd00::1234:5678", NextHeader::NONE, 0).emit();
    both_ways(
        &bytes,
        &LINK,
        &contexts,
        &[0x7a, 0x3c, 59, 0x3e, 0x00, 0x12, 0x34, 0x56, 0x78],
    );
    let bytes = header(
        "fe80::2",
        "ff7e:0a30:2001:db8:1234:0:1234:5678",
        NextHeader::NONE,
        0,
    )
    .emit();
    both_ways(
        &bytes,
        &LINK,
        &contexts,
        &[0x7a, 0xbc, 0x01, 59, 0x7e, 0x0a, 0x12, 0x34, 0x56, 0x78],
    );
    let other_len = header("fe80::2", "ff3e:0041:fd00::1234:5678", NextHeader::NONE, 0).emit();
    assert_eq!(
        frame(&other_len, &LINK, &contexts)[1],
        0x38,
        "the length is not that of the context"
    );
}

#[test]
fn udp_ports_have_four_forms() {
    for (ports, form) in [
        ((0x1234, 0x5678), &[0xf0, 0x12, 0x34, 0x56, 0x78][..]),
        ((0x1234, 0xf056), &[0xf1, 0x12, 0x34, 0x56]),
        ((0xf012, 0x5678), &[0xf2, 0x12, 0x56, 0x78]),
        ((0xf0b1, 0xf0bc), &[0xf3, 0x1c]),
        ((0xf012, 0xf034), &[0xf2, 0x12, 0xf0, 0x34]),
        ((0xf0b1, 0xf0c0), &[0xf2, 0xb1, 0xf0, 0xc0]),
        ((0xf0c0, 0xf0b1), &[0xf2, 0xc0, 0xf0, 0xb1]),
        ((0xf100, 0xf0ff), &[0xf1, 0xf1, 0x00, 0xff]),
    ] {
        let mut expected = std::vec![0x7e, 0x33];
        expected.extend(form);
        expected.extend([0xab, 0xcd]);
        both_ways(&udp_packet("fe80::2", "fe80::1", ports, 3), &LINK, &[], &expected);
    }
}

#[test]
fn the_udp_checksum_is_elided_only_when_asked_and_its_place_is_told() {
    let bytes = udp_packet("fe80::2", "fe80::1", (0xf0b1, 0xf0b2), 3);
    let mut out = [0xa5; 64];
    let done = compress_without_udp_checksum(&bytes, &LINK, &Contexts(&[]), &mut out).unwrap();
    assert_eq!(out[..done.written], [0x7e, 0x33, 0xf7, 0x12]);
    let mut frame = out[..done.written].to_vec();
    frame.extend(&bytes[done.consumed..]);
    let done = decompress(&frame, &LINK, &Contexts(&[]), None, &mut out).unwrap();
    assert_eq!(done.udp_checksum_elided, Some(40));
    assert_eq!(out[..46], bytes[..46]);
    assert_eq!(out[46..48], [0, 0]);
}

#[test]
fn extension_headers_keep_their_content_and_lose_their_padding() {
    // RFC 6282 section 4.2. Hop-by-hop options with a RPL option, destination options with padding, UDP.
    let mut bytes = header("fe80::2", "fe80::1", NextHeader::HOP_BY_HOP, 24)
        .emit()
        .to_vec();
    bytes.extend([NextHeader::DESTINATION.0, 0, 0x63, 4, 0, 0x1e, 1, 0]);
    bytes.extend([NextHeader::UDP.0, 0, 0x1e, 1, 0x99, 1, 1, 0]);
    bytes.extend([0, 1, 0, 2, 0, 8, 0xab, 0xcd]);
    #[rustfmt::skip]
    let form = [0x7e, 0x33, 0xe1, 6, 0x63, 4, 0, 0x1e, 1, 0, 0xe7, 3, 0x1e, 1, 0x99, 0xf0, 0, 1, 0, 2, 0xab, 0xcd];
    both_ways(&bytes, &LINK, &[], &form);
}

#[test]
fn padding_is_elided_only_if_it_is_single_and_of_7_bytes_at_most() {
    // RFC 6282 section 4.2.
    for (options, carried) in [
        (&[0x1e, 3, 7, 8, 9, 0][..], 5),
        (&[0x1e, 2, 7, 8, 0, 0], 6),
        (&[0x1e, 1, 7, 0, 1, 0], 6),
        (&[0x1e, 0, 1, 2, 0, 0], 2),
        (&[1, 4, 0, 0, 0, 0], 0),
        (&[0x1e, 5, 7, 8, 9, 10, 11, 1, 5, 0, 0, 0, 0, 0], 7),
        (&[0x1e, 4, 7, 8, 9, 10, 1, 6, 0, 0, 0, 0, 0, 0], 14),
    ] {
        let len = 2 + options.len();
        let mut bytes = header("fe80::2", "fe80::1", NextHeader::DESTINATION, len)
            .emit()
            .to_vec();
        bytes.extend([59, (len / 8 - 1) as u8]);
        bytes.extend(options);
        let form = [&[0x7e, 0x33, 0xe6, 59, carried], &options[..usize::from(carried)]].concat();
        both_ways(&bytes, &LINK, &[], &form);
        assert_eq!(frame(&bytes, &LINK, &[]).len(), form.len());
    }
}

#[test]
fn what_follows_a_later_fragment_is_not_compressed_even_if_it_looks_like_a_header() {
    let mut bytes = header("fe80::2", "fe80::1", NextHeader::FRAGMENT, 16)
        .emit()
        .to_vec();
    bytes.extend([NextHeader::UDP.0, 0, 0, 8, 7, 8, 9, 10]);
    bytes.extend([0x16, 0x33, 0x16, 0x33, 0, 8, 0xab, 0xcd]);
    let form = [&[0x7e, 0x33, 0xe4, NextHeader::UDP.0], &bytes[41..]].concat();
    both_ways(&bytes, &LINK, &[], &form);
    // The first and only fragment is another matter.
    bytes[43] = 0;
    let form = [
        0x7e, 0x33, 0xe5, 0, 0, 0, 7, 8, 9, 10, 0xf0, 0x16, 0x33, 0x16, 0x33, 0xab, 0xcd,
    ];
    both_ways(&bytes, &LINK, &[], &form);
}

#[test]
fn of_a_first_fragment_the_udp_length_is_not_elided() {
    // It is that of the whole datagram, which no decompressor can infer from the fragment.
    let mut bytes = header("fe80::2", "fe80::1", NextHeader::FRAGMENT, 24)
        .emit()
        .to_vec();
    bytes.extend([NextHeader::UDP.0, 0, 0, 1, 7, 8, 9, 10]);
    bytes.extend([0x16, 0x33, 0x16, 0x33, 2, 8, 0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8]);
    let form = [&[0x7e, 0x33, 0xe4, NextHeader::UDP.0], &bytes[41..]].concat();
    both_ways(&bytes, &LINK, &[], &form);
}

#[test]
fn a_routing_a_mobility_and_a_fragment_header_are_compressed_each_in_its_way() {
    let mut bytes = header("fe80::2", "fe80::1", NextHeader::ROUTING, 27)
        .emit()
        .to_vec();
    bytes.extend([NextHeader::MOBILITY.0, 0, 3, 0, 0, 0, 0, 0]);
    bytes.extend([NextHeader::FRAGMENT.0, 0, 1, 2, 3, 4, 5, 6]);
    bytes.extend([NextHeader::UDP.0, 0x99, 0, 8, 7, 8, 9, 10]);
    bytes.extend([1, 2, 3]);
    #[rustfmt::skip]
    let form = [0x7e, 0x33, 0xe3, 6, 3, 0, 0, 0, 0, 0, 0xe9, 6, 1, 2, 3, 4, 5, 6,
                0xe4, NextHeader::UDP.0, 0x99, 0, 8, 7, 8, 9, 10, 1, 2, 3];
    both_ways(&bytes, &LINK, &[], &form);
}

#[test]
fn a_tunnelled_header_takes_its_identifiers_from_the_outer_one() {
    // RFC 6282 sections 3.2.2 and 4.2.
    let inner = udp_packet("fd00::7", "fd00::9", (0xf0b1, 0xf0b2), 2);
    let mut bytes = header("fe80::7", "fd00::9", NextHeader::IPV6, inner.len())
        .emit()
        .to_vec();
    bytes.extend(&inner);
    let contexts = [context("fd00::", 64)];
    let form = [
        0x7e, 0x15, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9, 0xee, 0x7e, 0x77, 0xf3, 0x12, 0xab, 0xcd,
    ];
    both_ways(&bytes, &LINK, &contexts, &form);
}

#[test]
fn lengths_of_a_fragmented_datagram_come_from_its_size() {
    let bytes = udp_packet("fe80::2", "fe80::1", (5683, 5683), 1000);
    let mut out = [0xa5; 64];
    let done = compress(&bytes[..48], &LINK, &Contexts(&[]), &mut out).unwrap();
    assert_eq!(done.consumed, 48);
    let mut first = out[..done.written].to_vec();
    first.extend(&bytes[48..128]);
    let done = decompress(&first, &LINK, &Contexts(&[]), Some(1048), &mut out).unwrap();
    assert_eq!((done.written, done.datagram_len), (48, 1048));
    assert_eq!(out[..48], bytes[..48]);
}

#[test]
fn what_does_not_lie_whole_in_the_head_is_left_as_it_is() {
    let bytes = udp_packet("fe80::2", "fe80::1", (5683, 5683), 10);
    let mut out = [0; 64];
    for len in 40..=58 {
        let done = compress(&bytes[..len], &LINK, &Contexts(&[]), &mut out).unwrap();
        assert_eq!(done.consumed, if len < 48 { 40 } else { 48 });
        assert_eq!(out[0] & 0b100 != 0, len >= 48);
    }
}
