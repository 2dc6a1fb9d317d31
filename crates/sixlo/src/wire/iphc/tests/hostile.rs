//! Inputs made to hurt.

use super::*;

/// A base with link-local addresses that are elided, and the next header compressed.
const BASE: [u8; 2] = [0x7e, 0x33];

fn read(headers: &[u8]) -> Result<Vec<u8>, ParseError> {
    packet(&[&BASE, headers].concat(), &LINK, &[])
}

#[test]
fn xh2_a_compressed_next_header_and_nothing_behind_is_refused() {
    assert_eq!(read(&[]), Err(ParseError::Truncated));
    assert_eq!(
        read(&[0xe1, 0]),
        Err(ParseError::Truncated),
        "behind an extension header"
    );
    assert_eq!(read(&[0xee]), Err(ParseError::Truncated), "no tunnelled header");
    assert_eq!(
        read(&[0xee, 0x7e, 0x33]),
        Err(ParseError::Truncated),
        "behind a tunnelled header"
    );
}

#[test]
fn xh5_every_octet_that_names_no_next_header_is_refused() {
    for octet in 0..=255_u8 {
        // RFC 6282 sections 4.2, 4.3 and 5.
        let expected = match octet {
            0xf0..=0xf7 | 0xe0..=0xe9 | 0xee | 0xef => None,
            0xea..=0xed => Some(ParseError::Reserved),
            _ => Some(ParseError::Version),
        };
        let mut headers = [0; 48];
        headers[0] = octet;
        // Makes the rest valid for extension headers with N, without N, and for a tunnelled header.
        match octet {
            0xe4 | 0xe5 | 0xf0.. => headers[7] = 0xf0,
            0xee | 0xef => headers[1..3].copy_from_slice(&[0x7a, 0x33]),
            _ if octet & 1 == 1 => headers[1..9].copy_from_slice(&[6, 0, 0, 0, 0, 0, 0, 0xf0]),
            _ => headers[1..3].copy_from_slice(&[59, 6]),
        }
        if octet == 0xe5 {
            headers[8] = 0xf0;
        }
        assert_eq!(read(&headers).err(), expected, "{octet:#x}");
    }
}

#[test]
fn xh6_an_extension_header_longer_than_the_rest_is_refused() {
    for rest in 0..20_usize {
        let mut headers = std::vec![0xe0, 59, 14];
        headers.extend(std::vec![1; rest]);
        assert_eq!(read(&headers).is_ok(), rest >= 14, "{rest}");
        headers[2] = 255;
        assert_eq!(read(&headers), Err(ParseError::Truncated), "{rest}");
    }
}

#[test]
fn xh7_options_of_any_length_are_padded_to_8_bytes_and_other_headers_refused() {
    for len in 0..=255_u8 {
        let content = std::vec![0x1e; usize::from(len)];
        for octet in [0xe0, 0xe6] {
            let headers = [&[octet, 59, len][..], &content].concat();
            let packet = read(&headers).unwrap();
            let whole = (2 + content.len()).next_multiple_of(8);
            assert_eq!(packet.len(), 40 + whole);
            assert_eq!(packet[41], (whole / 8 - 1) as u8);
            assert_eq!(packet[42..42 + content.len()], content);
            let padding = &packet[42 + content.len()..];
            match padding.len() {
                0 => {}
                1 => assert_eq!(padding, [0]),
                n => {
                    assert_eq!(padding[..2], [1, n as u8 - 2]);
                    assert!(padding[2..].iter().all(|&byte| byte == 0));
                }
            }
        }
        for octet in [0xe2, 0xe8] {
            let headers = [&[octet, 59, len][..], &content].concat();
            let expected = if len % 8 == 6 {
                None
            } else {
                Some(ParseError::Length)
            };
            assert_eq!(read(&headers).err(), expected, "{len}");
        }
    }
}

#[test]
fn xh8_a_chain_of_40_headers_is_read_and_one_of_41_refused() {
    for count in [40, 41, 200] {
        let mut headers = [0xe7, 0].repeat(count - 1);
        headers.extend([0xe6, 59, 0]);
        let read = read(&headers);
        if count <= NEXT_HEADERS_MAX {
            assert_eq!(read.unwrap().len(), 40 + 8 * count);
        } else {
            assert_eq!(read, Err(ParseError::Forbidden));
        }
    }
}

#[test]
fn xh8_of_a_chain_of_41_headers_the_compressor_leaves_the_last_as_it_is() {
    let mut bytes = header("fe80::2", "fe80::1", NextHeader::DESTINATION, 41 * 8)
        .emit()
        .to_vec();
    for i in 0..41 {
        let next = if i < 40 {
            NextHeader::DESTINATION
        } else {
            NextHeader::NONE
        };
        bytes.extend([next.0, 0, 1, 4, 0, 0, 0, 0]);
    }
    let frame = frame(&bytes, &LINK, &[]);
    assert_eq!(frame.len(), 2 + 39 * 2 + 3 + 8);
    assert_eq!(packet(&frame, &LINK, &[]).unwrap(), bytes);
}

#[test]
fn xh9_headers_nested_20_deep_are_read_and_their_lengths_are_right() {
    let mut frame = [0x7e, 0x33, 0xee].repeat(20);
    frame.extend([0x7a, 0x33, 59, 1, 2, 3]);
    let read = packet(&frame, &LINK, &[]).unwrap();
    assert_eq!(read.len(), 21 * 40 + 3);
    for level in 0..21 {
        let fixed = read[level * 40..].first_chunk().unwrap();
        let header = ipv6::Header::parse(fixed).unwrap();
        assert_eq!(
            usize::from(header.payload_len),
            read.len() - (level + 1) * 40,
            "level {level}"
        );
        assert_eq!((header.src, header.dst), (addr("fe80::2"), addr("fe80::1")));
    }
    let again = super::frame(&read, &LINK, &[]);
    assert_eq!(again, frame);
}

#[test]
fn xh9_headers_nested_beyond_the_bound_are_refused_and_left_as_they_are() {
    let mut frame = [0x7e, 0x33, 0xee].repeat(41);
    frame.extend([0x7a, 0x33, 59]);
    assert_eq!(packet(&frame, &LINK, &[]), Err(ParseError::Forbidden));
    let mut bytes = Vec::new();
    for level in 0..42 {
        bytes.extend(header("fe80::2", "fe80::1", NextHeader::IPV6, (41 - level) * 40).emit());
    }
    bytes[41 * 40 + 6] = 59;
    let frame = super::frame(&bytes, &LINK, &[]);
    assert_eq!(frame.len(), 40 * 3 + 3 + 40);
    assert_eq!(packet(&frame, &LINK, &[]).unwrap(), bytes);
}

#[test]
fn xh10_an_elided_udp_checksum_is_told_for_every_form_of_ports() {
    for ports in 0..4_u8 {
        let mut frame = BASE.to_vec();
        frame.extend([0xf4 | ports, 1, 2, 3, 4]);
        let mut out = [0xa5; 64];
        let done = decompress(&frame, &LINK, &Contexts(&[]), None, &mut out).unwrap();
        assert_eq!(done.udp_checksum_elided, Some(40));
        assert_eq!(out[46..48], [0, 0]);
        frame[2] &= !4;
        frame.extend([5, 6]);
        let done = decompress(&frame, &LINK, &Contexts(&[]), None, &mut out).unwrap();
        assert_eq!(done.udp_checksum_elided, None);
    }
}

#[test]
fn xh11_headers_that_do_not_fit_the_room_are_refused_at_every_size_of_it() {
    let mut bytes = udp_packet("fe80::2", "fe80::1", (5683, 5683), 0);
    let options = [NextHeader::UDP.0, 0, 0x1e, 1, 0x99, 1, 1, 0];
    bytes.splice(40..40, options);
    bytes[5] += 8;
    bytes[6] = NextHeader::HOP_BY_HOP.0;
    let frame = frame(&bytes, &LINK, &[]);
    let mut out = [0xa5; 64];
    for room in 0..56 {
        let done = decompress(&frame, &LINK, &Contexts(&[]), None, &mut out[..room]);
        assert_eq!(done, Err(ParseError::NoRoom), "{room}");
    }
    for room in 0..frame.len() {
        let done = compress(&bytes, &LINK, &Contexts(&[]), &mut out[..room]);
        assert_eq!(done, Err(ParseError::NoRoom), "{room}");
    }
}

#[test]
fn xh11_a_datagram_smaller_than_its_headers_or_its_first_fragment_is_refused() {
    let frame = frame(&udp_packet("fe80::2", "fe80::1", (5683, 5683), 8), &LINK, &[]);
    let mut out = [0; 64];
    for size in 0..100 {
        let done = decompress(&frame, &LINK, &Contexts(&[]), Some(size), &mut out);
        if size < 56 {
            assert_eq!(done, Err(ParseError::Length), "{size}");
        } else {
            assert_eq!(done.unwrap().datagram_len, size);
        }
    }
}

#[test]
fn xh11_a_datagram_longer_than_a_length_field_holds_is_refused() {
    let frame = frame(&udp_packet("fe80::2", "fe80::1", (5683, 5683), 8), &LINK, &[]);
    let mut out = [0; 64];
    let mut sized = |size| decompress(&frame, &LINK, &Contexts(&[]), Some(size), &mut out).err();
    assert_eq!(sized(65_575), None);
    assert_eq!(sized(65_576), Some(ParseError::Length));
    assert_eq!(sized(usize::MAX), Some(ParseError::Length));
}

#[test]
fn xh12_a_multicast_address_of_a_reserved_scope_is_restored_for_the_next_layer_to_refuse() {
    for scope in 0..=255 {
        let read = packet(&[0x7a, 0x3a, 59, scope, 0, 0, 1], &LINK, &[]).unwrap();
        let header = ipv6::Header::parse(read.first_chunk().unwrap()).unwrap();
        assert_eq!(header.dst.octets()[..2], [0xff, scope]);
        assert_eq!(ipv6::is_valid_destination(&header.dst), scope & 0x0f > 1);
    }
}

#[test]
fn a_multicast_address_made_of_a_context_of_more_than_64_bits_is_refused() {
    for len in 1..=128 {
        let read = packet(
            &[0x7a, 0x3c, 59, 0x3e, 0, 0, 0, 0, 1],
            &LINK,
            &[context("fd00::", len)],
        );
        assert_eq!(
            read.err(),
            if len > 64 {
                Some(ParseError::Forbidden)
            } else {
                None
            },
            "{len}"
        );
    }
}

#[test]
fn xh17_headers_that_cannot_be_compressed_are_forwarded_as_they_are() {
    // Each was received in some form and goes on: the result must be the same packet for the next node.
    let mut cases = Vec::new();
    let udp = udp_packet("fe80::2", "fe80::1", (5683, 5683), 16);
    for len in [0, 7, 23, 25, 0xffff] {
        let mut bytes = udp.clone();
        bytes[44..46].copy_from_slice(&u16::to_be_bytes(len));
        cases.push(("a UDP length that is not that of the packet", bytes));
    }
    for units in [31_u8, 32, 33, 255] {
        let len = 8 + 8 * usize::from(units);
        for next in [NextHeader::HOP_BY_HOP, NextHeader::ROUTING, NextHeader::MOBILITY] {
            let mut bytes = header("fe80::2", "fe80::1", next, len).emit().to_vec();
            bytes.extend([59, units, 0x1e]);
            bytes.resize(40 + len, 0x33);
            cases.push(("an extension header of some hundred bytes", bytes));
        }
    }
    for content in [
        [0x1e, 200, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [1, 2, 0, 0, 1, 0],
        [1, 4, 0, 0, 0, 1],
    ] {
        let mut bytes = header("fe80::2", "fe80::1", NextHeader::HOP_BY_HOP, 8)
            .emit()
            .to_vec();
        bytes.extend([59, 0]);
        bytes.extend(content);
        cases.push((
            "options that are broken, or padding that is not the decompressor's",
            bytes,
        ));
    }
    let mut tunnel = header("fe80::2", "fe80::1", NextHeader::IPV6, 40).emit().to_vec();
    tunnel.extend(header("fd00::2", "fd00::1", NextHeader::NONE, 39).emit());
    cases.push((
        "an inner header whose length contradicts the outer one",
        tunnel.clone(),
    ));
    tunnel[40] = 0x45;
    cases.push(("an inner header of version 4", tunnel));
    for (what, bytes) in cases {
        assert_eq!(
            packet(&frame(&bytes, &LINK, &[]), &LINK, &[]).unwrap(),
            bytes,
            "{what}"
        );
    }
}

#[test]
fn xh17_an_options_header_of_255_bytes_behind_its_length_is_the_longest_compressed() {
    // RFC 6282 section 4.2: 264 bytes, of which 7 of padding are elided.
    for (padding, is_compressed) in [(7, true), (6, false)] {
        let mut bytes = header("fe80::2", "fe80::1", NextHeader::DESTINATION, 264)
            .emit()
            .to_vec();
        bytes.extend([59, 32, 0x1e, 200]);
        bytes.extend([0x77; 200]);
        bytes.extend([0x1f, 58 - padding]);
        bytes.resize(40 + 264 - usize::from(padding), 0x78);
        bytes.extend([1, padding - 2]);
        bytes.resize(40 + 264, 0);
        let frame = frame(&bytes, &LINK, &[]);
        assert_eq!(frame[0] & 0b100 != 0, is_compressed);
        assert_eq!(packet(&frame, &LINK, &[]).unwrap(), bytes);
    }
}

#[test]
fn xi1_what_is_no_ipv6_packet_is_not_compressed() {
    let bytes = udp_packet("fe80::2", "fe80::1", (5683, 5683), 2);
    let mut out = [0; 64];
    let mut tried = |bytes: &[u8]| compress(bytes, &LINK, &Contexts(&[]), &mut out).err();
    for version in (0..16).filter(|&version| version != 6) {
        let mut bytes = bytes.clone();
        bytes[0] = version << 4;
        assert_eq!(tried(&bytes), Some(ParseError::Version));
    }
    for len in 0..40 {
        assert_eq!(tried(&bytes[..len]), Some(ParseError::Truncated));
    }
    let mut longer = bytes;
    longer.push(0);
    assert_eq!(tried(&longer), Some(ParseError::Length));
}
