use proptest::prelude::*;

use super::*;

#[test]
fn every_field_lies_where_rfc_9293_draws_it() {
    let header = Header {
        src_port: 0x1234,
        dst_port: 5683,
        seq: Seq(0x0102_0304),
        ack: Seq(0xa1a2_a3a4),
        options_len: 12,
        flags: Flags::ACK | Flags::PSH | Flags::CWR,
        window: 0x0708,
        checksum: 0xabcd,
        urgent: 0x0910,
    };
    assert_eq!(
        header.emit(),
        [
            0x12, 0x34, 0x16, 0x33, 1, 2, 3, 4, 0xa1, 0xa2, 0xa3, 0xa4, 0x80, 0x98, 7, 8, 0xab, 0xcd, 9, 0x10
        ]
    );
    assert_eq!(header.len(), 32);
}

#[test]
fn the_bits_of_the_flags_are_those_of_rfc_9293() {
    let all = [
        Flags::FIN,
        Flags::SYN,
        Flags::RST,
        Flags::PSH,
        Flags::ACK,
        Flags::URG,
        Flags::ECE,
        Flags::CWR,
    ];
    for (place, flag) in all.into_iter().enumerate() {
        assert_eq!(flag.0, 1 << place);
    }
    let mut both = Flags::SYN;
    both |= Flags::ACK;
    assert!(both.contains(Flags::SYN | Flags::ACK) && !Flags::SYN.contains(both));
    assert!(Flags::SYN.intersects(both) && !Flags::FIN.intersects(both));
    assert_eq!(both.without(Flags::SYN), Flags::ACK);
    assert_eq!(Flags::NONE, Flags::default());
}

#[test]
fn xt1_a_data_offset_into_the_header_or_behind_the_segment_is_refused() {
    for words in 0..16_u8 {
        let mut bytes = Header::default().emit();
        bytes[12] = words << 4;
        let len = usize::from(words) * 4;
        for available in 20..=64 {
            let parsed = Header::parse(&bytes, available);
            if words < 5 || len > available {
                assert_eq!(parsed, Err(ParseError::Length), "{words} of {available}");
            } else {
                assert_eq!(parsed.map(|header| header.len()), Ok(len));
            }
        }
    }
}

/// RFC 9293 section 3.1: reserved bits are ignored when received, and zero when sent.
#[test]
fn reserved_bits_are_ignored_and_sent_as_zero() {
    let mut bytes = Header::default().emit();
    bytes[12] |= 0x0f;
    assert_eq!(Header::parse(&bytes, 20), Ok(Header::default()));
    assert_eq!(Header::default().emit()[12], 0x50);
}

#[test]
fn options_longer_than_the_data_offset_can_say_are_cut() {
    for options_len in 40..=255 {
        let header = Header {
            options_len,
            ..Header::default()
        };
        assert_eq!(header.emit()[12], 0xf0);
    }
}

#[test]
fn syn_and_fin_take_a_sequence_number_each() {
    let with = |flags| Header {
        flags,
        ..Header::default()
    };
    assert_eq!(with(Flags::ACK | Flags::RST).sequence_len(7), 7);
    assert_eq!(with(Flags::SYN).sequence_len(0), 1);
    assert_eq!(with(Flags::FIN | Flags::ACK).sequence_len(7), 8);
    assert_eq!(with(Flags::FIN | Flags::SYN).sequence_len(7), 9);
}

proptest! {
    #[test]
    fn emit_writes_back_what_parse_read(mut bytes: [u8; 20], available in 20_usize..100) {
        bytes[12] &= 0xf0;
        match Header::parse(&bytes, available) {
            Ok(header) => prop_assert_eq!(header.emit(), bytes),
            Err(_) => prop_assert!(bytes[12] < 0x50 || usize::from(bytes[12] >> 4) * 4 > available),
        }
    }
}
