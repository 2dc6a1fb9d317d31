use std::vec::Vec;

use proptest::prelude::*;

use super::*;

#[test]
fn a_header_ends_where_its_length_says() {
    let bytes = [17, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
    let (header, rest) = Extension::parse(&bytes).unwrap();
    assert_eq!(
        (header.next_header, header.body, header.len()),
        (NextHeader::UDP, &bytes[2..16], 16)
    );
    assert_eq!(rest, [16, 17]);
    for len in 0..16 {
        assert_eq!(
            Extension::parse(&bytes[..len]),
            Err(ParseError::Truncated),
            "{len}"
        );
    }
}

#[test]
fn all_extension_headers_are_skipped_up_to_the_protocol_above() {
    let mut bytes = Vec::new();
    for next in [
        NextHeader::ROUTING,
        NextHeader::DESTINATION,
        NextHeader::MOBILITY,
        NextHeader::FRAGMENT,
    ] {
        bytes.extend([next.0, 0, 0, 0, 0, 0, 0, 0]);
    }
    bytes.extend([NextHeader::UDP.0, 0xff, 0, 1, 0, 0, 0, 9]);
    bytes.extend([0xab, 0xcd]);
    assert_eq!(
        skip(NextHeader::HOP_BY_HOP, &bytes),
        Ok((NextHeader::UDP, &[0xab, 0xcd][..]))
    );
    for len in 0..40 {
        assert_eq!(
            skip(NextHeader::HOP_BY_HOP, &bytes[..len]),
            Err(ParseError::Truncated),
            "{len}"
        );
    }
    assert_eq!(skip(NextHeader::TCP, &bytes), Ok((NextHeader::TCP, &bytes[..])));
}

#[test]
fn what_follows_a_later_fragment_is_no_header() {
    let bytes = [NextHeader::UDP.0, 0, 0, 8, 0, 0, 0, 9, 1, 2, 3];
    assert_eq!(
        skip(NextHeader::FRAGMENT, &bytes),
        Ok((NextHeader::FRAGMENT, &bytes[..]))
    );
}

#[test]
fn xi2_two_thousand_destination_headers_are_skipped_in_bounded_time() {
    let mut bytes = [NextHeader::DESTINATION.0, 0, 1, 4, 0, 0, 0, 0].repeat(2000);
    assert_eq!(skip(NextHeader::DESTINATION, &bytes), Err(ParseError::Truncated));
    bytes[15_992] = NextHeader::UDP.0;
    assert_eq!(
        skip(NextHeader::DESTINATION, &bytes),
        Ok((NextHeader::UDP, &[][..]))
    );
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(first: u8, bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = skip(NextHeader(first), &bytes);
        let _ = skip(NextHeader::HOP_BY_HOP, &bytes);
    }
}
