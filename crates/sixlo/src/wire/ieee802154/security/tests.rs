use std::vec::Vec;

use super::*;
use crate::wire::addr::LinkAddr;
use crate::wire::ieee802154::Header;
use crate::wire::ieee802154::ie::HeaderIes;
use ParseError::{Reserved, Truncated};

const EUI_A: LinkAddr = LinkAddr::Extended([0x02, 0, 0, 0, 0, 0, 0, 0x0a]);
const EUI_B: LinkAddr = LinkAddr::Extended([0x02, 0, 0, 0, 0, 0, 0, 0x0b]);

fn emitted(header: &Header<'_>) -> Vec<u8> {
    let mut out = [0; 125];
    let len = header.emit(&mut out).expect("the header can be written");
    out[..len].to_vec()
}

#[test]
fn a_secured_frame_is_skipped_to_its_payload_and_its_integrity_code_cut_off() {
    #[rustfmt::skip]
    let mut frame = std::vec![
        0x49, 0x98, 1, 0x23, 0, 0x02, 0, 0x01, 0, // as above, with the security bit
        0x0d, 0x04, 0x03, 0x02, 0x01, 0x07,       // level 5, key index; frame counter; index
        b'd', b'a', b't', b'a',
    ];
    frame.extend([0xee; 4]);
    let (header, payload) = Header::parse(&frame).expect("a secured frame");
    assert_eq!(payload, b"data");
    let security = Security {
        level: Level::EncMic32,
        key: KeyId::Index(7),
        frame_counter: Some(0x0102_0304),
        asn_in_nonce: false,
    };
    assert_eq!(header.security, Some(security));
    assert_eq!(emitted(&header), frame[..15]);
}

#[test]
fn integrity_codes_and_key_identifiers_have_the_lengths_of_the_standard() {
    // Tables 9-6 and 9-7.
    let mic = [0, 4, 8, 16, 0, 4, 8, 16];
    let key = [0, 1, 5, 9];
    for (version, control) in [(1_u8, 0..=255_u8), (2, 0..=255)]
        .into_iter()
        .flat_map(|(v, r)| r.map(move |c| (v, c)))
    {
        let mut frame = [0x55; 60];
        frame[..10].copy_from_slice(&[0x49, 0x88 | version << 4, 1, 0, 0, 2, 0, 1, 0, control]);
        let level = usize::from(control & 7);
        let counter = if version == 2 && control & 0x20 != 0 { 0 } else { 4 };
        let header_len = 10 + counter + key[usize::from(control >> 3 & 3)];
        let parsed = Header::parse(&frame);
        if version == 2 && level == 4 {
            assert_eq!(parsed, Err(Reserved), "reserved since 2015");
        } else {
            let (header, payload) = parsed.expect("a secured frame");
            assert_eq!(
                payload.len(),
                60 - header_len - mic[level],
                "{version} {control:02x}"
            );
            assert_eq!(header.emit_len(), header_len);
        }
    }
}

#[test]
fn security_of_version_2003_is_refused() {
    let mut frame = [0; 60];
    frame[..2].copy_from_slice(&[0x49, 0x88]);
    assert_eq!(Header::parse(&frame), Err(ParseError::Version));
    let header = Header {
        version: Version::V2003,
        security: Some(Security {
            frame_counter: Some(0),
            ..Security::default()
        }),
        ..Header::data(0, 1, EUI_A, EUI_B)
    };
    assert_eq!(header.emit(&mut [0; 99]), Err(Reserved));
}

#[test]
fn the_auxiliary_security_header_stands_before_the_information_elements() {
    let security = Security {
        level: Level::Mic32,
        ..Security::default()
    };
    let header = Header {
        version: Version::V2015,
        security: Some(security),
        header_ies: HeaderIes::new(&[0x00, 0x0d]).expect("an empty element"),
        ..Header::data(1, 0x23, LinkAddr::Short(2), LinkAddr::Short(1))
    };
    let mut frame = emitted(&header);
    assert_eq!(frame[9..], [0x21, 0x00, 0x0d, 0x80, 0x3f]);
    frame.extend(*b"data\xee\xee\xee\xee");
    assert_eq!(Header::parse(&frame), Ok((header, &b"data"[..])));
}

#[test]
fn xl7_a_payload_shorter_than_its_integrity_code_is_refused() {
    for level in [1, 2, 3, 5, 6, 7] {
        for version in [0x10, 0x20] {
            let mut frame = [0; 60];
            frame[..10].copy_from_slice(&[0x49, 0x88 | version, 1, 0x23, 0, 2, 0, 1, 0, level]);
            let whole = 14 + [0, 4, 8, 16][usize::from(level & 3)];
            for len in 0..whole {
                assert_eq!(Header::parse(&frame[..len]), Err(Truncated), "{level} {len}");
            }
            assert!(matches!(Header::parse(&frame[..whole]), Ok((_, []))));
        }
    }
}
