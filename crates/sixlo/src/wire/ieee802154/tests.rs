use std::vec::Vec;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::security::{KeyId, Level};
use super::*;
use ParseError::{Length, Reserved, Truncated, Version as WrongVersion};

const EUI_A: LinkAddr = LinkAddr::Extended([0x02, 0, 0, 0, 0, 0, 0, 0x0a]);
const EUI_B: LinkAddr = LinkAddr::Extended([0x02, 0, 0, 0, 0, 0, 0, 0x0b]);

/// The longest MAC frame without frame check sequence.
const LONGEST: usize = FRAME_LEN_MAX - FCS_LEN;

fn emitted(header: &Header<'_>) -> Vec<u8> {
    let mut out = [0xa5; 300];
    let len = header.emit(&mut out).expect("the header can be written");
    assert_eq!(len, header.emit_len());
    assert!(
        out[len..].iter().all(|&byte| byte == 0xa5),
        "written past the end"
    );
    out[..len].to_vec()
}

#[test]
fn the_header_of_a_data_frame_is_written_at_once_as_it_is_in_general() {
    let (short, extended) = (
        LinkAddr::Short(0x1234),
        LinkAddr::Extended([1, 2, 3, 4, 5, 6, 7, 8]),
    );
    for addrs in [
        [short, short],
        [short, extended],
        [extended, short],
        [extended, extended],
        [LinkAddr::BROADCAST, extended],
        [LinkAddr::None, extended],
        [short, LinkAddr::None],
    ] {
        for (compressed, ack_request) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut general = Header::data(7, 0xabcd, addrs[0], addrs[1]);
            general.ack_request = ack_request;
            general.src_pan = (!compressed).then_some(0xabcd);
            let (mut expected, mut written) = ([0; 23], [0; 23]);
            for room in 0..=23 {
                // With an address missing, and no other way to say so, there is no such data frame in RFC 4944.
                let wanted = match general.emit(&mut expected[..room]) {
                    _ if addrs.contains(&LinkAddr::None) => Err(ParseError::Reserved),
                    wanted => wanted,
                };
                let len = Header::emit_data(addrs, 0xabcd, compressed, ack_request, 7, &mut written[..room]);
                assert_eq!(len, wanted, "{general:?}");
                if let Ok(len) = len {
                    assert_eq!(written[..len], expected[..len], "{general:?}");
                    assert_eq!(Header::data_len(addrs, compressed), len);
                }
            }
        }
    }
}

#[test]
fn a_data_frame_between_extended_addresses_is_laid_out_as_the_standard_says() {
    let header = Header {
        ack_request: true,
        ..Header::data(0x5e, 0xabcd, EUI_B, EUI_A)
    };
    #[rustfmt::skip]
    let bytes = [
        0x61, 0xdc, // data, acknowledgement wanted, PAN compressed; extended, 2006, extended
        0x5e,
        0xcd, 0xab,
        0x0b, 0, 0, 0, 0, 0, 0, 0x02,
        0x0a, 0, 0, 0, 0, 0, 0, 0x02,
        b'x',
    ];
    assert_eq!(emitted(&header), bytes[..21]);
    assert_eq!(Header::parse(&bytes), Ok((header, &b"x"[..])));
}

#[test]
fn a_broadcast_between_short_addresses_is_laid_out_as_the_standard_says() {
    let header = Header::data(7, 0x0023, LinkAddr::BROADCAST, LinkAddr::Short(0x1234));
    let bytes = [0x41, 0x98, 7, 0x23, 0, 0xff, 0xff, 0x34, 0x12];
    assert_eq!(emitted(&header), bytes);
    assert_eq!(Header::parse(&bytes), Ok((header, &[][..])));
}

#[test]
fn an_immediate_acknowledgement_has_three_bytes() {
    assert_eq!(emitted(&Header::immediate_ack(0x56, false)), [0x02, 0x00, 0x56]);
    assert_eq!(emitted(&Header::immediate_ack(0x56, true)), [0x12, 0x00, 0x56]);
    // 7.3.3: all other fields are ignored on reception, here every bit that is one.
    let parsed = Header::parse(&[0xfa, 0xcf, 0x56]);
    assert_eq!(parsed, Ok((Header::immediate_ack(0x56, true), &[][..])));
}

#[test]
fn an_enhanced_acknowledgement_has_addresses_and_information_elements() {
    // Sequence number suppressed, information elements, extended destination, no source, PAN compressed: no PAN.
    let bytes = [0x42, 0x2f, 1, 2, 3, 4, 5, 6, 7, 8, 0x02, 0x0f, 0xaa, 0xbb];
    let (header, payload) = Header::parse(&bytes).expect("an enhanced acknowledgement");
    assert_eq!(header.frame_type, FrameType::Ack);
    assert_eq!(
        (header.sequence, header.dst_pan, header.src_pan),
        (None, None, None)
    );
    assert_eq!(header.dst, LinkAddr::Extended([8, 7, 6, 5, 4, 3, 2, 1]));
    let ies: Vec<_> = header.header_ies.iter().collect();
    assert_eq!(
        ies,
        [ie::Ie {
            id: 0x1e,
            content: &[0xaa, 0xbb]
        }]
    );
    assert_eq!(payload, []);
}

/// IEEE 802.15.4-2020, table 7-2, row by row: destination, source, which PAN identifiers are there, compression bit.
#[rustfmt::skip]
const TABLE_7_2: [(u16, u16, bool, bool, bool); 18] = [
    (MODE_NONE,     MODE_NONE,     false, false, false),
    (MODE_NONE,     MODE_NONE,     true,  false, true),
    (MODE_SHORT,    MODE_NONE,     true,  false, false),
    (MODE_EXTENDED, MODE_NONE,     true,  false, false),
    (MODE_SHORT,    MODE_NONE,     false, false, true),
    (MODE_EXTENDED, MODE_NONE,     false, false, true),
    (MODE_NONE,     MODE_SHORT,    false, true,  false),
    (MODE_NONE,     MODE_EXTENDED, false, true,  false),
    (MODE_NONE,     MODE_SHORT,    false, false, true),
    (MODE_NONE,     MODE_EXTENDED, false, false, true),
    (MODE_EXTENDED, MODE_EXTENDED, true,  false, false),
    (MODE_EXTENDED, MODE_EXTENDED, false, false, true),
    (MODE_SHORT,    MODE_SHORT,    true,  true,  false),
    (MODE_SHORT,    MODE_EXTENDED, true,  true,  false),
    (MODE_EXTENDED, MODE_SHORT,    true,  true,  false),
    (MODE_SHORT,    MODE_EXTENDED, true,  false, true),
    (MODE_EXTENDED, MODE_SHORT,    true,  false, true),
    (MODE_SHORT,    MODE_SHORT,    true,  false, true),
];

/// IEEE 802.15.4-2006, 7.2.1.1.5, 7.2.1.1.6 and 7.2.1.1.8.
#[rustfmt::skip]
const PANS_2006: [(u16, u16, bool, bool, bool); 12] = [
    (MODE_SHORT,    MODE_NONE,     true,  false, false),
    (MODE_EXTENDED, MODE_NONE,     true,  false, false),
    (MODE_NONE,     MODE_SHORT,    false, true,  false),
    (MODE_NONE,     MODE_EXTENDED, false, true,  false),
    (MODE_EXTENDED, MODE_EXTENDED, true,  true,  false),
    (MODE_SHORT,    MODE_SHORT,    true,  true,  false),
    (MODE_SHORT,    MODE_EXTENDED, true,  true,  false),
    (MODE_EXTENDED, MODE_SHORT,    true,  true,  false),
    (MODE_EXTENDED, MODE_EXTENDED, true,  false, true),
    (MODE_SHORT,    MODE_SHORT,    true,  false, true),
    (MODE_SHORT,    MODE_EXTENDED, true,  false, true),
    (MODE_EXTENDED, MODE_SHORT,    true,  false, true),
];

#[test]
fn pan_identifiers_are_where_the_tables_of_the_standards_have_them() {
    for version in 0..3_u16 {
        let table = if version == 2 {
            &TABLE_7_2[..]
        } else {
            &PANS_2006[..]
        };
        for (dst, src, compression) in
            (0..4).flat_map(|d| (0..4).flat_map(move |s| [(d, s, false), (d, s, true)]))
        {
            let control = 1 | version << 12 | dst << 10 | src << 14 | u16::from(compression) << 6;
            let mut frame = [0x77; 40];
            frame[..2].copy_from_slice(&control.to_le_bytes());
            let row = table
                .iter()
                .find(|row| (row.0, row.1, row.4) == (dst, src, compression));
            let Some(&(_, _, dst_pan, src_pan, _)) = row else {
                assert_eq!(Header::parse(&frame), Err(Reserved), "{control:04x}");
                continue;
            };
            let (header, payload) = Header::parse(&frame).expect("in the table");
            assert_eq!(
                (header.dst_pan.is_some(), header.src_pan.is_some()),
                (dst_pan, src_pan),
                "{control:04x}"
            );
            let addr_len = |mode| [0, 0, 2, 8][usize::from(mode)];
            let expected =
                3 + addr_len(dst) + addr_len(src) + 2 * (usize::from(dst_pan) + usize::from(src_pan));
            assert_eq!(frame.len() - payload.len(), expected, "{control:04x}");
            assert_eq!(emitted(&header), frame[..expected], "{control:04x}");
        }
    }
}

#[test]
fn a_command_frame_names_its_command() {
    use command::CommandId;
    // A data request, as a sleeping device sends it to its parent.
    let frame = [0x63, 0x98, 9, 0x23, 0, 0x00, 0x00, 0x01, 0x00, 0x04];
    let (header, payload) = Header::parse(&frame).expect("a command frame");
    assert_eq!(header.frame_type, FrameType::Command);
    assert_eq!(CommandId::parse(payload), Ok((CommandId::DataRequest, &[][..])));
    assert_eq!(CommandId::parse(&[]), Err(Truncated));
    assert!((0..=255).all(|number| CommandId::from_number(number).number() == number));
}

#[test]
fn headers_that_no_frame_has_are_not_written() {
    let data = Header::data(1, 2, EUI_A, EUI_B);
    for header in [
        Header {
            sequence: None,
            ..data
        },
        Header {
            dst_pan: None,
            ..data
        },
        Header {
            dst_pan: None,
            src_pan: Some(3),
            ..data
        },
        Header {
            dst: LinkAddr::None,
            src: LinkAddr::None,
            dst_pan: None,
            ..data
        },
        Header {
            src: LinkAddr::None,
            src_pan: Some(3),
            ..data
        },
        Header {
            version: Version::V2015,
            src_pan: Some(3),
            ..data
        },
        Header {
            header_ies: HeaderIes::new(&[0, 0]).expect("an element"),
            ..data
        },
        Header {
            security: Some(Security::default()),
            ..data
        },
        Header {
            ack_request: true,
            ..Header::immediate_ack(1, false)
        },
        Header {
            sequence: None,
            ..Header::immediate_ack(1, false)
        },
        Header {
            dst: EUI_A,
            ..Header::immediate_ack(1, false)
        },
    ] {
        assert_eq!(header.emit(&mut [0; 99]), Err(Reserved), "{header:?}");
    }
    for room in 0..21 {
        assert_eq!(data.emit(&mut [0; 99][..room]), Err(ParseError::NoRoom));
    }
}

#[test]
fn xl1_every_control_field_of_every_length_gives_a_header_or_an_error() {
    // Bytes that are a plausible continuation for each field, so that deep paths are reached.
    let mut frame = [0_u8; 40];
    for (i, byte) in frame.iter_mut().enumerate() {
        *byte = [0x2d, 0x01, 0x0d, 0x80, 0x3f, 0x00, 0x88][i % 7];
    }
    let mut out = [0; 64];
    for control in 0..=u16::MAX {
        frame[..2].copy_from_slice(&control.to_le_bytes());
        let mut shortest = None;
        for len in 0..=frame.len() {
            let Ok((header, payload)) = Header::parse(&frame[..len]) else {
                continue;
            };
            shortest.get_or_insert(len);
            let written = header.emit(&mut out).expect("what was parsed can be written");
            assert_eq!(written, header.emit_len());
            out[written..][..payload.len()].copy_from_slice(payload);
            let mic = header.security.map_or(0, |security| security.level.mic_len());
            let again = Header::parse(&out[..written + payload.len() + mic]);
            assert_eq!(again, Ok((header, payload)), "{control:04x} {len}");
        }
        let frame_type = control & 7;
        assert!(frame_type <= 3 || shortest.is_none(), "{control:04x}");
        assert!(shortest.is_none_or(|len| len >= 2), "{control:04x}");
    }
}

#[test]
fn xl2_an_acknowledgement_longer_than_three_bytes_is_refused_and_never_taken_for_data() {
    for version in [0x00, 0x10] {
        for len in 0..LONGEST {
            let mut frame = [0x55; LONGEST];
            frame[..2].copy_from_slice(&[0x02, 0xc8 | version]);
            match Header::parse(&frame[..len]) {
                Ok((header, payload)) => {
                    assert_eq!(len, 3);
                    assert_eq!((header.frame_type, payload), (FrameType::Ack, &[][..]));
                    assert_eq!((header.dst, header.src), (LinkAddr::None, LinkAddr::None));
                }
                Err(error) => assert_eq!(error, if len < 3 { Truncated } else { Length }),
            }
        }
    }
}

#[test]
fn xl3_a_data_frame_without_addresses_is_refused() {
    for version in [0x00, 0x10] {
        for compression in [0x00, 0x40] {
            for frame_type in [0, 1, 3] {
                let frame = [frame_type | compression, version, 1, 2, 3, 4, 5, 6, 7, 8];
                assert_eq!(Header::parse(&frame), Err(Reserved));
            }
        }
    }
    // Table 7-2 allows it in version 2015. Such a header has no address at all, not one of zeros.
    let (header, payload) = Header::parse(&[0x01, 0x20, 1, 2, 3]).expect("allowed by table 7-2");
    assert_eq!(
        (header.dst, header.src, payload),
        (LinkAddr::None, LinkAddr::None, &[2, 3][..])
    );
}

#[test]
fn xl4_compression_of_a_pan_that_is_nowhere_is_refused() {
    // One address only, of version 2003 or 2006, without its PAN identifier.
    for version in [0x00, 0x10] {
        for modes in [0x80, 0xc0, 0x08, 0x0c] {
            let mut frame = [0x55; 40];
            frame[..2].copy_from_slice(&[0x41, version | modes]);
            assert_eq!(Header::parse(&frame), Err(Reserved));
            frame[0] = 0x01;
            assert!(Header::parse(&frame).is_ok());
        }
    }
}

#[test]
fn xl5_reserved_types_versions_and_addressing_modes_are_refused() {
    let mut frame = [0x55; 40];
    for frame_type in 4..8 {
        frame[..2].copy_from_slice(&[0x40 | frame_type, 0x98]);
        assert_eq!(Header::parse(&frame), Err(WrongVersion));
    }
    frame[..2].copy_from_slice(&[0x41, 0xb8]);
    assert_eq!(Header::parse(&frame), Err(WrongVersion));
    for version in 0..3 {
        for modes in [0x44, 0x48, 0x4c, 0x84, 0xc4, 0x04, 0x40] {
            frame[..2].copy_from_slice(&[0x01, modes | version << 4]);
            assert_eq!(Header::parse(&frame), Err(Reserved), "{modes:02x} {version}");
        }
    }
}

#[test]
fn xl6_a_frame_longer_than_the_phy_carries_is_refused() {
    let mut frame = [0; 2048];
    frame[..9].copy_from_slice(&[0x41, 0x98, 7, 0x23, 0, 0xff, 0xff, 0x34, 0x12]);
    assert!(Header::parse(&frame[..LONGEST]).is_ok());
    for len in LONGEST + 1..frame.len() {
        assert_eq!(Header::parse(&frame[..len]), Err(Length));
    }
}

fn link_addr() -> impl Strategy<Value = LinkAddr> {
    prop_oneof![
        Just(LinkAddr::None),
        any::<u16>().prop_map(LinkAddr::Short),
        any::<[u8; 8]>().prop_map(LinkAddr::Extended),
    ]
}

fn security() -> impl Strategy<Value = Security> {
    let level = prop_oneof![
        Just(Level::None),
        Just(Level::Mic32),
        Just(Level::Mic64),
        Just(Level::Mic128),
        Just(Level::Enc),
        Just(Level::EncMic32),
        Just(Level::EncMic64),
        Just(Level::EncMic128),
    ];
    let key = prop_oneof![
        Just(KeyId::Implicit),
        any::<u8>().prop_map(KeyId::Index),
        any::<([u8; 4], u8)>().prop_map(|(source, index)| KeyId::Source4(source, index)),
        any::<([u8; 8], u8)>().prop_map(|(source, index)| KeyId::Source8(source, index)),
    ];
    (level, key, option::of(any::<u32>()), any::<bool>()).prop_map(
        |(level, key, frame_counter, asn_in_nonce)| Security {
            level,
            key,
            frame_counter,
            asn_in_nonce,
        },
    )
}

/// A list of information elements as it stands in a frame, with descriptors of headers or of payloads.
fn ies(payload: bool) -> impl Strategy<Value = Vec<u8>> {
    let ids = if payload { 0..15_u16 } else { 0..0x7e_u16 };
    vec((ids, vec(any::<u8>(), 0..6)), 0..3).prop_map(move |list| {
        let mut bytes = Vec::new();
        for (id, content) in list {
            let len = content.len() as u16;
            let descriptor = if payload {
                0x8000 | id << 11 | len
            } else {
                id << 7 | len
            };
            bytes.extend(descriptor.to_le_bytes());
            bytes.extend(content);
        }
        bytes
    })
}

proptest! {
    #[test]
    fn what_emit_wrote_parses_to_the_same_header(
        (kind, version, bits) in (0..4_u8, 0..3_u8, 0..4_u8),
        sequence in option::of(any::<u8>()),
        (dst, src) in (link_addr(), link_addr()),
        (dst_pan, src_pan) in (option::of(any::<u16>()), option::of(any::<u16>())),
        security in option::of(security()),
        (header_ies, payload_ies) in (ies(false), ies(true)),
        payload in vec(any::<u8>(), 0..20),
    ) {
        let kinds = [FrameType::Beacon, FrameType::Data, FrameType::Ack, FrameType::Command];
        let versions = [Version::V2003, Version::V2006, Version::V2015];
        let mut header = Header {
            frame_type: kinds[usize::from(kind)],
            version: versions[usize::from(version)],
            frame_pending: bits & 1 != 0,
            ack_request: bits & 2 != 0,
            sequence,
            dst_pan, dst, src_pan, src,
            security,
            header_ies: HeaderIes::new(&header_ies).expect("well-formed"),
            payload_ies: PayloadIes::new(&payload_ies).expect("well-formed"),
        };
        // Most random headers have no frame; make those that are only a little off into one that has.
        if header.version != Version::V2015 {
            header.header_ies = HeaderIes::EMPTY;
            header.payload_ies = PayloadIes::EMPTY;
            header.sequence = Some(sequence.unwrap_or(0));
            header.security = header.security.filter(|_| header.version == Version::V2006).map(|s| Security {
                frame_counter: Some(s.frame_counter.unwrap_or(0)),
                asn_in_nonce: false,
                ..s
            });
        }
        if header.security.is_some_and(|s| s.level.encrypts()) {
            header.payload_ies = PayloadIes::EMPTY;
        }
        let mut out = [0xa5; 125];
        let Ok(len) = header.emit(&mut out) else {
            return Ok(());
        };
        prop_assert_eq!(len, header.emit_len());
        let payload = if header.frame_type == FrameType::Ack && header.version != Version::V2015 {
            &[]
        } else {
            &payload[..]
        };
        let mut frame = out[..len].to_vec();
        frame.extend(payload);
        frame.resize(frame.len() + header.security.map_or(0, |s| s.level.mic_len()), 0xee);
        prop_assert_eq!(Header::parse(&frame), Ok((header, payload)));

        // Cut anywhere in the header, it is an error, or a list of information elements that ends early.
        for cut in 0..len {
            if let Ok((shorter, _)) = Header::parse(&frame[..cut]) {
                prop_assert!(header.has_ies());
                prop_assert!(header.header_ies.as_bytes().starts_with(shorter.header_ies.as_bytes())
                    || header.security.is_some());
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(frame in vec(any::<u8>(), 0..140)) {
        if let Ok((header, payload)) = Header::parse(&frame) {
            prop_assert!(frame.len() >= payload.len());
            let bound = header.header_ies.iter().count() + header.payload_ies.iter().count();
            prop_assert!(bound <= frame.len() / 2);
            let mut out = [0; 200];
            let len = header.emit(&mut out);
            prop_assert_eq!(len, Ok(header.emit_len()));
        }
    }
}
