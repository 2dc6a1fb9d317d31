use std::vec::Vec;

use proptest::prelude::*;

use super::*;

#[test]
fn both_headers_are_laid_out_as_figures_4_and_5_say() {
    let first = Fragment {
        datagram_size: 0x4d0,
        datagram_tag: 0x1234,
        datagram_offset: 0,
    };
    let next = Fragment {
        datagram_offset: 0x0c,
        ..first
    };
    let mut out = [0xa5; 6];
    assert_eq!(first.emit(&mut out), Ok(4));
    assert_eq!(out, [0xc4, 0xd0, 0x12, 0x34, 0xa5, 0xa5]);
    assert_eq!(next.emit(&mut out), Ok(5));
    assert_eq!(out, [0xe4, 0xd0, 0x12, 0x34, 0x0c, 0xa5]);
    assert_eq!(Fragment::parse(&out), Ok((next, &[0xa5][..])));
    assert_eq!(next.start(), 96);
}

#[test]
fn xf1_fragments_shorter_than_their_header_are_refused() {
    for (header, len) in [([0xc4, 0xd0, 0, 1, 1], 4), ([0xe4, 0xd0, 0, 1, 1], 5)] {
        for cut in 0..len {
            assert_eq!(Fragment::parse(&header[..cut]), Err(ParseError::Truncated));
        }
        // The header alone parses, but a fragment that carries nothing is none.
        let (fragment, payload) = Fragment::parse(&header[..len]).expect("a header");
        assert_eq!(payload, []);
        assert_eq!(fragment.check(payload.len()), Err(ParseError::Length));
    }
}

#[test]
fn xf2_datagram_sizes_that_no_datagram_has_are_refused() {
    for size in 0..=0x7ff {
        let first = Fragment {
            datagram_size: size,
            datagram_tag: 1,
            datagram_offset: 0,
        };
        let expected = if (40..=1280).contains(&size) {
            Ok(())
        } else {
            Err(ParseError::Length)
        };
        assert_eq!(first.check(40), expected, "{size}");
        assert_eq!(first.check(size.into()), expected, "{size}");
        let next = Fragment {
            datagram_offset: 4,
            ..first
        };
        assert_eq!(next.check(8), expected, "{size}");
    }
    let too_large = Fragment {
        datagram_size: 0x800,
        ..Fragment::default()
    };
    assert_eq!(too_large.emit(&mut [0; 9]), Err(ParseError::Length));
}

#[test]
fn xf3_fragments_that_reach_beyond_their_datagram_are_refused() {
    let fragment = |datagram_size, datagram_offset| Fragment {
        datagram_size,
        datagram_tag: 1,
        datagram_offset,
    };
    assert_eq!(fragment(100, 13).check(8), Err(ParseError::Length)); // begins behind the end
    assert_eq!(fragment(104, 13).check(8), Err(ParseError::Length)); // begins at the end
    assert_eq!(fragment(100, 12).check(4), Ok(()));
    assert_eq!(fragment(100, 12).check(5), Err(ParseError::Length));
    assert_eq!(fragment(100, 12).check(8), Err(ParseError::Length));
    assert_eq!(fragment(1280, 255).check(8), Err(ParseError::Length)); // 2040
    assert_eq!(fragment(1280, 159).check(usize::MAX), Err(ParseError::Length));
    assert_eq!(fragment(1280, 159).check(8), Ok(()));
}

#[test]
fn xf4_a_fragment_in_the_middle_is_a_multiple_of_8_bytes() {
    let fragment = Fragment {
        datagram_size: 100,
        datagram_tag: 1,
        datagram_offset: 5,
    };
    for len in 1..100 {
        let expected = if len == 60 || len < 60 && len % 8 == 0 {
            Ok(())
        } else {
            Err(ParseError::Length)
        };
        assert_eq!(fragment.check(len), expected, "{len}");
    }
}

#[test]
fn a_subsequent_fragment_at_offset_0_is_refused() {
    assert_eq!(
        Fragment::parse(&[0xe4, 0xd0, 0, 1, 0, 0x60]),
        Err(ParseError::Forbidden)
    );
}

#[test]
fn only_the_two_dispatches_of_fragments_are_taken() {
    for byte in 0..=255_u8 {
        let bytes = [byte, 0, 0, 0, 1];
        let parsed = Fragment::parse(&bytes);
        let expected = matches!(byte, 0xc0..=0xc7 | 0xe0..=0xe7);
        assert_eq!(parsed.is_ok(), expected, "{byte:02x}");
        assert!(expected || parsed == Err(ParseError::Unknown));
    }
}

proptest! {
    #[test]
    fn what_emit_wrote_parses_to_the_same_header(
        datagram_size in 0..0x800_u16, datagram_tag: u16, datagram_offset: u8, payload: Vec<u8>,
    ) {
        let fragment = Fragment { datagram_size, datagram_tag, datagram_offset };
        let mut out = [0; 5];
        let len = fragment.emit(&mut out).expect("it fits");
        prop_assert_eq!(len, fragment.emit_len());
        let mut bytes = out[..len].to_vec();
        bytes.extend(&payload);
        prop_assert_eq!(Fragment::parse(&bytes), Ok((fragment, &payload[..])));
        for room in 0..len {
            prop_assert_eq!(fragment.emit(&mut out[..room]), Err(ParseError::NoRoom));
            prop_assert_eq!(Fragment::parse(&bytes[..room]), Err(ParseError::Truncated));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, len: usize) {
        if let Ok((fragment, payload)) = Fragment::parse(&bytes) {
            let _ = (fragment.check(payload.len()), fragment.check(len));
        }
    }
}
