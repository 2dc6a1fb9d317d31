use proptest::prelude::*;

use super::*;

#[test]
fn every_field_lies_where_rfc_8200_section_4_5_draws_it() {
    let header = Header {
        next_header: NextHeader::UDP,
        offset: 0x1555,
        more: true,
        identification: 0x0102_0304,
    };
    assert_eq!(header.emit(), [17, 0, 0xaa, 0xa9, 1, 2, 3, 4]);
    assert_eq!(header.offset_bytes(), 0x1555 * 8);
}

#[test]
fn only_a_first_and_last_fragment_is_atomic() {
    for (offset, more, atomic) in [
        (0, false, true),
        (0, true, false),
        (1, false, false),
        (1, true, false),
    ] {
        let header = Header {
            next_header: NextHeader::UDP,
            offset,
            more,
            identification: 0,
        };
        assert_eq!(header.is_atomic(), atomic);
    }
}

proptest! {
    #[test]
    fn emit_writes_back_what_parse_read_but_for_reserved_bits(bytes: [u8; 8]) {
        let mut expected = bytes;
        expected[1] = 0;
        expected[3] &= !0b110;
        prop_assert_eq!(Header::parse(&bytes).emit(), expected);
    }
}
