use proptest::prelude::*;

use super::*;

#[test]
fn every_field_lies_where_rfc_768_draws_it() {
    let header = Header {
        src_port: 0x1234,
        dst_port: 5683,
        len: 8,
        checksum: 0xabcd,
    };
    assert_eq!(header.emit(), [0x12, 0x34, 0x16, 0x33, 0, 8, 0xab, 0xcd]);
}

#[test]
fn xi20_a_length_below_8_or_beyond_the_payload_is_refused() {
    let header = |len| Header {
        len,
        ..Header::default()
    };
    for len in 0..8 {
        assert_eq!(header(len).payload_len(100), Err(ParseError::Length), "{len}");
    }
    assert_eq!(header(8).payload_len(8), Ok(0));
    assert_eq!(header(20).payload_len(20), Ok(12));
    assert_eq!(header(20).payload_len(25), Ok(12), "five bytes of padding");
    assert_eq!(header(21).payload_len(20), Err(ParseError::Length));
    assert_eq!(header(0xffff).payload_len(1240), Err(ParseError::Length));
}

#[test]
fn xi20_a_checksum_of_zero_is_none() {
    assert!(!Header::default().has_checksum());
    assert!(
        Header {
            checksum: 0xffff,
            ..Header::default()
        }
        .has_checksum()
    );
}

proptest! {
    #[test]
    fn emit_writes_back_what_parse_read(bytes: [u8; 8]) {
        prop_assert_eq!(Header::parse(&bytes).emit(), bytes);
    }
}
