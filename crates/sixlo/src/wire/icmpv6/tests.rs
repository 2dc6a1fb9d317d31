use std::vec::Vec;

use proptest::prelude::*;

use super::*;

fn emit(message: Message) -> Vec<u8> {
    let mut out = [0xa5; 10];
    let header = Header {
        message,
        checksum: 0x1234,
    };
    let len = header.emit(&mut out).unwrap();
    assert_eq!(len, header.emit_len());
    assert_eq!(out[len..], [0xa5; 10][len..]);
    out[..len].to_vec()
}

#[test]
fn messages_lie_where_rfc_4443_draws_them() {
    let unreachable = Message::DestinationUnreachable(Unreachable::Port);
    assert_eq!(emit(unreachable), [1, 4, 0x12, 0x34, 0, 0, 0, 0]);
    assert_eq!(
        emit(Message::PacketTooBig { mtu: 1280 }),
        [2, 0, 0x12, 0x34, 0, 0, 5, 0]
    );
    assert_eq!(
        emit(Message::TimeExceeded(Exceeded::Reassembly)),
        [3, 1, 0x12, 0x34, 0, 0, 0, 0]
    );
    let problem = Message::ParameterProblem {
        problem: Problem::NextHeader,
        pointer: 40,
    };
    assert_eq!(emit(problem), [4, 1, 0x12, 0x34, 0, 0, 0, 40]);
    let request = Message::EchoRequest {
        identifier: 0x5678,
        sequence: 0x9abc,
    };
    assert_eq!(emit(request), [128, 0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc]);
    let reply = Message::EchoReply {
        identifier: 0x5678,
        sequence: 0x9abc,
    };
    assert_eq!(emit(reply), [129, 0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc]);
    assert_eq!(emit(Message::Other { kind: 155, code: 0 }), [155, 0, 0x12, 0x34]);
}

#[test]
fn the_upper_bit_of_the_type_tells_errors_apart() {
    for kind in 0..=255 {
        let (header, _) = Header::parse(&[kind, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        assert_eq!(header.message.is_error(), kind < 128, "{kind}");
    }
}

#[test]
fn codes_that_are_not_known_are_kept() {
    for code in 0..=255 {
        assert_eq!(Unreachable::from(code).number(), code);
        assert_eq!(Exceeded::from(code).number(), code);
        assert_eq!(Problem::from(code).number(), code);
    }
    assert_eq!(Unreachable::from(7), Unreachable::SourceRoute);
    assert_eq!(Unreachable::from(8), Unreachable::Other(8));
    assert_eq!(Problem::from(3), Problem::FirstFragment);
}

#[test]
fn a_truncated_message_is_refused() {
    for kind in 0..=255 {
        let needed = if matches!(kind, 1..=4 | 128 | 129) { 8 } else { 4 };
        let bytes = [kind, 0, 0, 0, 0, 0, 0, 0];
        for len in 0..=8 {
            let parsed = Header::parse(&bytes[..len]);
            assert_eq!(
                parsed.err(),
                (len < needed).then_some(ParseError::Truncated),
                "{kind} {len}"
            );
        }
    }
}

#[test]
fn an_error_packet_is_no_longer_than_the_minimum_mtu() {
    assert_eq!(QUOTE_LEN_MAX, 1232);
}

/// A packet with hop-by-hop options in front of UDP.
fn quoted() -> Vec<u8> {
    let header = ipv6::Header {
        traffic_class: ipv6::TrafficClass::default(),
        flow_label: 0,
        payload_len: 1000,
        next_header: NextHeader::HOP_BY_HOP,
        hop_limit: 1,
        src: "fd00::1".parse().unwrap(),
        dst: "fd00::2".parse().unwrap(),
    };
    let mut bytes = header.emit().to_vec();
    bytes.extend([NextHeader::UDP.0, 0, 1, 4, 0, 0, 0, 0, 0x16, 0x33, 0x16, 0x34]);
    bytes
}

#[test]
fn xi8_a_quote_cut_anywhere_gives_what_is_there_or_is_refused() {
    let bytes = quoted();
    for len in 0..bytes.len() {
        match Quote::parse(&bytes[..len]) {
            Ok(quote) => {
                assert!(len >= 48);
                assert_eq!((quote.upper, quote.payload), (NextHeader::UDP, &bytes[48..len]));
                assert_eq!(quote.header.payload_len, 1000, "of the packet, not of the quote");
            }
            Err(error) => assert!(len < 48 && error == ParseError::Truncated),
        }
    }
    let mut bytes = bytes;
    bytes[0] = 0x45;
    assert_eq!(Quote::parse(&bytes), Err(ParseError::Version));
}

#[test]
fn xi8_a_quote_whose_extension_header_is_longer_than_it_is_refused() {
    let mut bytes = quoted();
    bytes[41] = 255;
    assert_eq!(Quote::parse(&bytes), Err(ParseError::Truncated));
}

proptest! {
    #[test]
    fn parse_reads_back_what_emit_wrote(kind: u8, code: u8, checksum: u16, word: u32, rest: [u8; 3]) {
        let (identifier, sequence) = ((word >> 16) as u16, word as u16);
        let message = match kind {
            0..16 => Message::DestinationUnreachable(code.into()),
            16..32 => Message::PacketTooBig { mtu: word },
            32..48 => Message::TimeExceeded(code.into()),
            48..64 => Message::ParameterProblem { problem: code.into(), pointer: word },
            64..80 => Message::EchoRequest { identifier, sequence },
            80..96 => Message::EchoReply { identifier, sequence },
            kind => Message::Other { kind: if matches!(kind, 128 | 129) { 130 } else { kind }, code },
        };
        let header = Header { message, checksum };
        let mut out = [0; 11];
        let len = header.emit(&mut out).unwrap();
        out[len..len + 3].copy_from_slice(&rest);
        prop_assert_eq!(Header::parse(&out[..len + 3]), Ok((header, &rest[..])));
        for short in 0..len {
            prop_assert_eq!(header.emit(&mut out[..short]), Err(ParseError::NoRoom));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        if let Ok((_, rest)) = Header::parse(&bytes) {
            let _ = Quote::parse(rest);
        }
    }
}
