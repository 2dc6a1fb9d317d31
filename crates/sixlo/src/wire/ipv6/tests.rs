use proptest::prelude::*;

use super::*;

fn addr(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

#[test]
fn every_field_lies_where_rfc_8200_section_3_draws_it() {
    let header = Header {
        traffic_class: TrafficClass::new(0b10_1110, Ecn::Congestion),
        flow_label: 0xf_edcb,
        payload_len: 0x1234,
        next_header: NextHeader::UDP,
        hop_limit: 64,
        src: addr("fd00::2"),
        dst: addr("ff02::1:ff00:1"),
    };
    let bytes = [
        0x6b, 0xbf, 0xed, 0xcb, 0x12, 0x34, 17, 64, // first two words
        0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, // source
        0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 1, // destination
    ];
    assert_eq!(header.emit(), bytes);
    assert_eq!(Header::parse(&bytes), Ok(header));
    assert_eq!(
        (header.traffic_class.dscp(), header.traffic_class.ecn()),
        (0b10_1110, Ecn::Congestion)
    );
}

#[test]
fn xi1_every_version_but_6_is_refused() {
    for version in 0..16 {
        let mut bytes = [0; HEADER_LEN];
        bytes[0] = version << 4 | 0x0f;
        let parsed = Header::parse(&bytes);
        if version == 6 {
            assert!(parsed.is_ok());
        } else {
            assert_eq!(parsed, Err(ParseError::Version));
        }
    }
}

#[test]
fn xi1_a_payload_length_beyond_what_came_in_is_refused_and_padding_is_not() {
    let mut bytes = [0; HEADER_LEN];
    bytes[0] = 0x60;
    let mut header = Header::parse(&bytes).unwrap();
    assert_eq!(header.check_len(0), Ok(()), "payload length 0");
    header.payload_len = 8;
    assert_eq!(header.check_len(7), Err(ParseError::Length));
    assert_eq!(header.check_len(8), Ok(()));
    assert_eq!(header.check_len(9), Ok(()));
}

#[test]
fn multicast_scopes_are_read_from_the_address() {
    assert_eq!(scope(&addr("ff02::1")), Scope::LINK);
    assert_eq!(scope(&addr("ff03::fc")), Scope::REALM);
    assert_eq!(scope(&addr("ff3e:40:fd00::1")), Scope::GLOBAL);
    assert_eq!(scope(&addr("fe80::1")), Scope::LINK);
    assert_eq!(scope(&addr("::1")), Scope::LINK);
    assert_eq!(scope(&addr("fd00::1")), Scope::GLOBAL);
    assert_eq!(scope(&addr("fec0::1")), Scope::GLOBAL);
}

#[test]
fn xi9_multicast_and_loopback_sources_are_invalid_and_the_unspecified_one_is_valid() {
    assert!(!is_valid_source(&addr("ff02::1")));
    assert!(!is_valid_source(&addr("::1")));
    assert!(is_valid_source(&addr("::")));
    assert!(is_valid_source(&addr("fe80::1")));
}

#[test]
fn destinations_that_must_not_stand_on_a_link_are_invalid() {
    for text in ["::", "::1", "ff00::1", "ff01::1", "ff10::1"] {
        assert!(!is_valid_destination(&addr(text)), "{text}");
    }
    for text in ["ff02::1", "ff05::2", "fd00::1", "fe80::1"] {
        assert!(is_valid_destination(&addr(text)), "{text}");
    }
}

#[test]
fn the_solicited_node_address_takes_the_last_three_bytes() {
    // The example of RFC 4291 section 2.7.1.
    assert_eq!(
        solicited_node(&addr("4037::01:800:200e:8c6c")),
        addr("ff02::1:ff0e:8c6c")
    );
    assert_eq!(
        interface_id(&addr("fd00::1:203:405:607")),
        [0, 1, 2, 3, 4, 5, 6, 7]
    );
}

proptest! {
    #[test]
    fn parse_reads_back_what_emit_wrote(class: u8, label in 0..1_u32 << 20, payload_len: u16, next: u8, hop_limit: u8,
                                        src: u128, dst: u128) {
        let header = Header {
            traffic_class: TrafficClass(class), flow_label: label, payload_len, next_header: NextHeader(next), hop_limit,
            src: Ipv6Addr::from_bits(src), dst: Ipv6Addr::from_bits(dst),
        };
        prop_assert_eq!(Header::parse(&header.emit()), Ok(header));
        let class = header.traffic_class;
        prop_assert_eq!(TrafficClass::new(class.dscp(), class.ecn()), class);
        prop_assert_eq!(class.with_ecn(Ecn::Congestion).0, class.0 | 3);
    }

    #[test]
    fn emit_writes_back_what_parse_read(mut bytes: [u8; 32], head: [u8; 8]) {
        bytes.rotate_left(3);
        let mut all = [0; HEADER_LEN];
        all[..8].copy_from_slice(&head);
        all[8..].copy_from_slice(&bytes);
        all[0] = 0x60 | all[0] & 0x0f;
        prop_assert_eq!(Header::parse(&all).unwrap().emit(), all);
    }
}
