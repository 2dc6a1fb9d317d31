//! All 8,192 bases of LOWPAN_IPHC, cut everywhere.

use super::*;

/// Bytes in line of a base by the tables of RFC 6282 section 3.1.1, or `None` if it is reserved.
fn inline_len(base: u16) -> Option<usize> {
    let bit = |n: u16| usize::from(base >> n & 1);
    let two = |n: u16| usize::from(base >> n & 3);
    let tf = [4, 3, 1, 0][two(11)];
    let next_header = 1 - bit(10);
    let hop_limit = [1, 0, 0, 0][two(8)];
    let cid = bit(7);
    let source = [[16, 8, 2, 0], [0, 8, 2, 0]][bit(6)][two(4)];
    let destination = match (bit(3), bit(2), two(0)) {
        (0, 0, mode) => [16, 8, 2, 0][mode],
        (0, 1, 0) => return None,
        (0, _, mode) => [0, 8, 2, 0][mode],
        (_, 0, mode) => [16, 6, 4, 1][mode],
        (_, _, 0) => 6,
        _ => return None,
    };
    Some(tf + next_header + hop_limit + cid + source + destination)
}

/// A frame with this base: bytes in line that differ, a UDP header if the next header is compressed, 3 bytes of
/// payload. With it the length of the compressed headers.
fn frame_of(base: u16) -> Option<(Vec<u8>, usize)> {
    let mut frame = base.to_be_bytes().to_vec();
    let inline = inline_len(base)?;
    frame.extend((0..inline).map(|i| (0x10 + i * 7) as u8));
    if base & 0x400 != 0 {
        frame.extend([0xf3, 0x12, 0xab, 0xcd]);
    } else {
        // A next header that is not compressed: not one of those that the compressor would pick up.
        let at = 2 + usize::from(base >> 7 & 1) + [4, 3, 1, 0][usize::from(base >> 11 & 3)];
        frame[at] = NextHeader::NONE.0;
    }
    let compressed = frame.len();
    frame.extend([1, 2, 3]);
    Some((frame, compressed))
}

fn sixteen() -> Vec<Context> {
    (0..16)
        .map(|i| context(&std::format!("2001:db8:{i:x}::"), 64))
        .collect()
}

fn bases() -> impl Iterator<Item = u16> {
    (0..8192).map(|low| 0x6000 | low)
}

#[test]
fn xh1_every_base_cut_anywhere_is_refused_or_read_as_its_tables_say() {
    let contexts = sixteen();
    let mut out = [0; 64];
    for base in bases() {
        let Some((frame, compressed)) = frame_of(base) else {
            continue;
        };
        for len in 0..=frame.len() {
            let done = decompress(&frame[..len], &LINK, &Contexts(&contexts), None, &mut out);
            if len < compressed {
                assert_eq!(done, Err(ParseError::Truncated), "{base:#x} cut to {len}");
                continue;
            }
            let headers = if base & 0x400 != 0 { 48 } else { 40 };
            let expected = Decompressed {
                consumed: compressed,
                written: headers,
                datagram_len: headers + len - compressed,
                udp_checksum_elided: None,
            };
            assert_eq!(done, Ok(expected), "{base:#x} cut to {len}");
            let payload_len = usize::from(u16::from_be_bytes([out[4], out[5]]));
            assert_eq!(payload_len, headers - 40 + len - compressed);
        }
    }
}

#[test]
fn xh1_xh4_every_reserved_combination_is_refused_at_every_length() {
    let contexts = sixteen();
    let mut reserved = 0;
    for base in bases().filter(|&base| inline_len(base).is_none()) {
        reserved += 1;
        let mut frame = base.to_be_bytes().to_vec();
        frame.extend([0; 60]);
        for len in 0..frame.len() {
            let error = if len < 2 {
                ParseError::Truncated
            } else {
                ParseError::Reserved
            };
            let mut out = [0; 64];
            let done = decompress(&frame[..len], &LINK, &Contexts(&contexts), None, &mut out);
            assert_eq!(done, Err(error), "{base:#x} cut to {len}");
        }
    }
    // DAM 00 with a context, and three modes of multicast with one, each with 512 other bits.
    assert_eq!(reserved, 4 * 512);
}

#[test]
fn xh1_every_packet_that_a_base_describes_is_compressed_again_to_the_same_packet_in_no_more_bytes() {
    let contexts = sixteen();
    for base in bases() {
        let Some((bytes, _)) = frame_of(base) else {
            continue;
        };
        let original = packet(&bytes, &LINK, &contexts).unwrap();
        let again = frame(&original, &LINK, &contexts);
        assert_eq!(packet(&again, &LINK, &contexts).unwrap(), original, "{base:#x}");
        assert!(
            again.len() <= bytes.len(),
            "{base:#x}: {again:x?} is longer than {bytes:x?}"
        );
    }
}

#[test]
fn xh3_every_base_that_needs_a_context_is_refused_where_it_is_not_set() {
    for base in bases() {
        let Some((bytes, _)) = frame_of(base) else {
            continue;
        };
        let source = base >> 4 & 0b111 > 0b100;
        let destination = base & 0b100 != 0;
        for contexts in [&[][..], &[Context::default(); 16]] {
            let read = packet(&bytes, &LINK, contexts);
            if source || destination {
                assert_eq!(read, Err(ParseError::Unknown), "{base:#x}");
            } else {
                assert!(read.is_ok(), "{base:#x}");
            }
        }
    }
}

#[test]
fn every_base_that_derives_an_identifier_is_refused_where_the_frame_has_no_address() {
    let contexts = sixteen();
    for base in bases() {
        let Some((bytes, _)) = frame_of(base) else {
            continue;
        };
        let source = base >> 4 & 0b11 == 0b11;
        let destination = base & 0b1011 == 0b0011;
        let expected = if source || destination {
            Some(ParseError::Forbidden)
        } else {
            None
        };
        assert_eq!(
            packet(&bytes, &Link::default(), &contexts).err(),
            expected,
            "{base:#x}"
        );
    }
}

#[test]
fn bases_of_other_dispatches_are_refused() {
    for first in (0..=255).filter(|first| first >> 5 != 0b011) {
        assert_eq!(
            packet(&[first, 0x33, 59, 0, 0, 0], &LINK, &[]),
            Err(ParseError::Version),
            "{first:#x}"
        );
    }
}
