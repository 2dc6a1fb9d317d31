use std::vec::Vec;

use super::*;
use crate::wire::ieee802154::Header;
use ParseError::{Reserved, Truncated};

/// The front of a data frame of version 2015 with information elements, between short addresses.
const SHORT_2015: [u8; 9] = [0x41, 0xaa, 1, 0x23, 0, 0x02, 0, 0x01, 0];

fn with_ies(tail: &[u8]) -> Vec<u8> {
    let mut frame = SHORT_2015.to_vec();
    frame.extend(tail);
    frame
}

#[test]
fn information_elements_are_skipped_to_the_payload() {
    // Header element 0x1a of 1 byte, termination 1, payload element (group 1) of 3 bytes, termination, payload.
    let frame = with_ies(&[
        0x01, 0x0d, 0xcc, 0x00, 0x3f, 0x03, 0x88, 1, 2, 3, 0x00, 0xf8, b'p', b'q',
    ]);
    let (header, payload) = Header::parse(&frame).expect("a frame with information elements");
    assert_eq!(payload, b"pq");
    assert!(header.header_ies.iter().eq([Ie {
        id: 0x1a,
        content: &[0xcc]
    }]));
    assert!(header.payload_ies.iter().eq([Ie {
        id: 1,
        content: &[1, 2, 3]
    }]));
    let mut out = [0; 125];
    let len = header.emit(&mut out).expect("the header can be written");
    assert_eq!(out[..len], frame[..frame.len() - 2]);

    // Termination 2: the payload follows at once.
    let frame = with_ies(&[0x01, 0x0d, 0xcc, 0x80, 0x3f, b'p', b'q']);
    let (header, payload) = Header::parse(&frame).expect("a frame with a header element");
    assert_eq!((payload, header.payload_ies.is_empty()), (&b"pq"[..], true));

    // A list that ends with the frame needs no termination; an empty one is allowed.
    for tail in [
        &[0x01, 0x0d, 0xcc][..],
        &[],
        &[0x80, 0x3f],
        &[0x00, 0x3f],
        &[0x00, 0x3f, 0x00, 0x88],
    ] {
        assert!(
            matches!(Header::parse(&with_ies(tail)), Ok((_, []))),
            "{tail:02x?}"
        );
    }
}

#[test]
fn information_elements_out_of_form_are_refused() {
    for (tail, error) in [
        (&[0x01][..], Truncated),
        (&[0x02, 0x0d, 0xcc], Truncated),
        (&[0x01, 0x8d, 0xcc], Reserved), // a payload element in the header's list
        (&[0x81, 0x3f, 0xcc], Reserved), // a termination with content
        (&[0x00, 0x3f, 0x01, 0x0d, 0xcc], Reserved), // a header element in the payload's list
        (&[0x00, 0x3f, 0x00, 0x89], Truncated), // 256 bytes
        (&[0x00, 0x3f, 0x02, 0x88, 0xcc], Truncated),
        (&[0x00, 0x3f, 0x01, 0xf8, 0xcc], Reserved),
    ] {
        assert_eq!(Header::parse(&with_ies(tail)), Err(error), "{tail:02x?}");
    }
    assert_eq!(HeaderIes::new(&[0x80, 0x3f]), Err(Reserved));
    assert_eq!(PayloadIes::new(&[0x00, 0xf8]), Err(Reserved));
    assert_eq!(PayloadIes::new(&[0x01, 0x88]), Err(Truncated));
}

#[test]
fn encrypted_payload_elements_stay_in_the_payload() {
    let mut frame = with_ies(&[]);
    frame[0] |= 0x08;
    // Level 5, implicit key, counter suppressed; termination 1; six encrypted bytes; integrity code.
    frame.extend([0x25, 0x00, 0x3f, 9, 9, 9, 9, 9, 9, 0xee, 0xee, 0xee, 0xee]);
    let (header, payload) = Header::parse(&frame).expect("an encrypted frame");
    assert_eq!(payload, [9; 6]);
    assert!(header.payload_ies.is_empty());
    let ies = PayloadIes::new(&[0x00, 0x88]).expect("an empty element");
    assert_eq!(
        Header {
            payload_ies: ies,
            ..header
        }
        .emit(&mut [0; 99]),
        Err(Reserved)
    );
}
