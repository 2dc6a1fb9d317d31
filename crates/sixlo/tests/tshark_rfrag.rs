//! Recoverable fragments and acknowledgements (RFC 8931) as tshark 4.0 reads them.
//!
//! It marks a correct acknowledgement, and a fragment without payload, as malformed, since it reads one byte too far;
//! the fields that it shows are right all the same, and are what is compared.

mod support;

use sixlo::wire::addr::LinkAddr;
use sixlo::wire::ieee802154::Header;
use sixlo::wire::lowpan::rfrag::{Bitmap, Rfrag, RfragAck};
use support::tshark;

fn frame(payload: &[u8]) -> Vec<u8> {
    let addr = |last| LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, last]);
    let mut bytes = vec![0; 64];
    let len = Header::data(1, 0x23, addr(2), addr(1))
        .emit(&mut bytes)
        .expect("it fits");
    bytes.truncate(len);
    bytes.extend(payload);
    bytes
}

#[test]
fn tshark_finds_the_fields_of_fragments() {
    let mut frames = Vec::new();
    let mut expected = Vec::new();
    for sequence in 0..32_u8 {
        let fragment = Rfrag {
            congested: sequence % 2 == 1,
            tag: sequence.wrapping_mul(37),
            ack_request: sequence % 3 == 1,
            sequence,
            size: u16::from(sequence) + 40,
            offset: 0x400 + u16::from(sequence) * 9,
        };
        let mut payload = [0x7a; 6 + 80];
        fragment.emit(&mut payload).expect("it fits");
        frames.push(frame(&payload[..6 + usize::from(fragment.size)]));
        // The last field has one name for the size of a first fragment's datagram, and one for the others' offset.
        let (total, offset) = if sequence == 0 {
            (fragment.offset.to_string(), String::new())
        } else {
            (String::new(), fragment.offset.to_string())
        };
        expected.push(format!(
            "{},{},{},{},{},{total},{offset}",
            u8::from(fragment.congested),
            fragment.tag,
            u8::from(fragment.ack_request),
            fragment.sequence,
            fragment.size
        ));
    }
    let names = [
        "6lowpan.rfrag.congestion",
        "6lowpan.rfrag.tag",
        "6lowpan.rfrag.ack_requested",
        "6lowpan.rfrag.sequence",
        "6lowpan.rfrag.size",
        "6lowpan.rfrag.datagram_size",
        "6lowpan.rfrag.offset",
    ];
    let Some(found) = tshark(&frames, &names) else {
        return;
    };
    assert_eq!(found, expected);
}

#[test]
fn tshark_finds_the_fields_of_acknowledgements() {
    // Of RFC 8931: figure 3, NULL and FULL; and single bits.
    let mut bitmaps = vec![0x9fff_7800, 0, u32::MAX];
    bitmaps.extend((0..32).map(|sequence| Bitmap::of(sequence).0));
    let acks = bitmaps.iter().enumerate().map(|(index, bitmap)| RfragAck {
        congested: index % 2 == 1,
        tag: index as u8 * 7,
        bitmap: Bitmap(*bitmap),
    });
    let expected: Vec<String> = acks
        .clone()
        .map(|ack| {
            let congested = u8::from(ack.congested);
            format!("{congested},{},0x{:08x}", ack.tag, ack.bitmap.0)
        })
        .collect();
    let frames: Vec<_> = acks.map(|ack| frame(&ack.emit())).collect();
    let names = [
        "6lowpan.rfrag.congestion",
        "6lowpan.rfrag.tag",
        "6lowpan.rfrag.ack_bitmask",
    ];
    let Some(found) = tshark(&frames, &names) else {
        return;
    };
    assert_eq!(found, expected);
}

#[test]
fn tshark_puts_a_datagram_together() {
    // An uncompressed header (RFC 4944 section 5.1), UDP, and 192 bytes behind it.
    let mut datagram = vec![0x41, 0x60, 0, 0, 0, 0, 200, 17, 64];
    for last in [1, 2] {
        datagram.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    datagram.extend([0xf0, 0xb1, 0xf0, 0xb2, 0, 200, 0x12, 0x34]);
    datagram.extend((0..192).map(|byte| byte as u8));
    let size = datagram.len() as u16;
    let pieces: Vec<&[u8]> = datagram.chunks(90).collect();
    let mut frames = Vec::new();
    for (sequence, piece) in pieces.iter().enumerate() {
        let fragment = Rfrag {
            tag: 5,
            ack_request: sequence + 1 == pieces.len(),
            sequence: sequence as u8,
            size: piece.len() as u16,
            offset: if sequence == 0 { size } else { sequence as u16 * 90 },
            ..Rfrag::default()
        };
        let mut payload = vec![0; 6];
        fragment.emit(&mut payload).expect("it fits");
        payload.extend(*piece);
        frames.push(frame(&payload));
    }
    let Some(found) = tshark(&frames, &["ipv6.dst", "udp.dstport", "udp.length", "data.len"]) else {
        return;
    };
    assert_eq!(found, [",,,90", ",,,90", "fe80::2,61618,200,192"]);
}
