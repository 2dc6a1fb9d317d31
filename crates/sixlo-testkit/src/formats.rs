//! Formats of frames and of generic header compression.

use core::net::Ipv6Addr;

use arbitrary::{Arbitrary, Unstructured};
use sixlo::netdev::FRAME_LEN_MAX;
use sixlo::wire::ieee802154::beacon::Beacon;
use sixlo::wire::ieee802154::command::CommandId;
use sixlo::wire::ieee802154::{FrameType, Header};
use sixlo::wire::lowpan::{self, Dispatch, frag::Fragment};
use sixlo::wire::{fcs, ghc as generic};

/// A frame: what is read is written back as it was, and nothing beyond the frame is given.
pub fn mac_frame(frame: &[u8]) {
    let whole = fcs::check(frame).is_ok();
    let mut with_fcs = [0; 2 * FRAME_LEN_MAX];
    if let Some(room) = with_fcs.get_mut(..frame.len()) {
        room.copy_from_slice(frame);
        if let Ok(len) = fcs::append(&mut with_fcs, frame.len()) {
            assert_eq!(fcs::check(&with_fcs[..len]), Ok(frame));
            with_fcs[len / 2] ^= 0x10;
            assert!(fcs::check(&with_fcs[..len]).is_err(), "one bit is always found");
        }
    }
    let frame = if whole { &frame[..frame.len() - 2] } else { frame };
    let Ok((header, payload)) = Header::parse(frame) else {
        return;
    };
    assert!(frame.len() <= FRAME_LEN_MAX - 2 && payload.len() < frame.len());
    let mut out = [0; 2 * FRAME_LEN_MAX];
    let written = header.emit(&mut out).expect("what was read can be written");
    assert_eq!(written, header.emit_len());
    out[written..][..payload.len()].copy_from_slice(payload);
    let code_len = header.security.map_or(0, |security| security.level.mic_len());
    // Information elements may get a terminator that they came without, and the frame longer than a frame is.
    if let Ok(again) = Header::parse(&out[..written + payload.len() + code_len]) {
        assert_eq!(again, (header, payload));
    } else {
        assert!(written + payload.len() + code_len > FRAME_LEN_MAX - 2);
    }
    let elements = header.header_ies.iter().count() + header.payload_ies.iter().count();
    assert!(elements <= frame.len());
    match header.frame_type {
        FrameType::Beacon => beacon(payload),
        FrameType::Command => command(payload),
        FrameType::Data => adaptation(payload),
        FrameType::Ack => {}
    }
}

fn beacon(payload: &[u8]) {
    let Ok((beacon, rest)) = Beacon::parse(payload) else {
        return;
    };
    assert!(beacon.gts().count() <= 7 && beacon.pending().count() <= 14);
    let mut out = [0; 2 * FRAME_LEN_MAX];
    if let Ok(len) = beacon.emit(&mut out) {
        assert_eq!(Beacon::parse(&out[..len]), Ok((beacon, &[][..])));
    }
    assert!(rest.len() < payload.len());
}

fn command(payload: &[u8]) {
    if let Ok((_, rest)) = CommandId::parse(payload) {
        assert!(rest.len() < payload.len());
    }
}

/// What stands before a datagram, and a fragment header.
fn adaptation(payload: &[u8]) {
    let Ok((dispatch, rest, preface)) = lowpan::strip(payload) else {
        return;
    };
    assert!(payload.ends_with(rest) && !rest.is_empty());
    let headers = preface.routing;
    assert_eq!(headers.is_empty(), headers.iter().next().is_none());
    let mut out = [0; 2 * FRAME_LEN_MAX];
    let mut len = 0;
    for header in headers.iter() {
        len += header
            .emit(&mut out[len..])
            .expect("what was read can be written");
    }
    assert!(len <= headers.as_bytes().len());
    if let Ok(shorter) = headers.pop(&mut out) {
        assert!(shorter <= headers.as_bytes().len());
    }
    if matches!(dispatch, Dispatch::Frag1 | Dispatch::FragN)
        && let Ok((fragment, data)) = Fragment::parse(rest)
    {
        let len = fragment.emit(&mut out).expect("what was read can be written");
        assert_eq!(out[..len], rest[..len]);
        assert_eq!(len + data.len(), rest.len());
        if fragment.check(data.len()).is_ok() {
            assert!(fragment.start() + data.len() <= usize::from(fragment.datagram_size));
        }
    }
}

#[derive(Arbitrary)]
struct Generic<'a> {
    src: [u8; 16],
    dst: [u8; 16],
    room: u16,
    bytes: &'a [u8],
}

/// Bytes as bytecode, and as what bytecode stands for.
pub fn ghc(data: &[u8]) {
    let Ok(Generic {
        src,
        dst,
        room,
        bytes,
    }) = Generic::arbitrary_take_rest(Unstructured::new(data))
    else {
        return;
    };
    let dictionary = generic::dictionary(&Ipv6Addr::from(src), &Ipv6Addr::from(dst));
    let mut out = vec![0; usize::from(room % 2048)];
    if let Ok(len) = generic::decompress(&dictionary, bytes, &mut out) {
        assert_compressible(&dictionary, &out[..len]);
    }
    if let Ok((len, rest)) = generic::decompress_header(&dictionary, bytes, &mut out) {
        assert!(len <= out.len() && bytes.ends_with(rest));
    }
    // The compressor looks back from each byte, so long inputs say nothing new.
    assert_compressible(&dictionary, &bytes[..bytes.len().min(1280)]);
}

fn assert_compressible(dictionary: &[u8; generic::DICTIONARY_LEN], payload: &[u8]) {
    let mut code = vec![0; payload.len() + payload.len() / 95 + 2];
    let mut back = vec![0; payload.len()];
    let len = generic::compress(dictionary, payload, &mut code).expect("one byte more for each 95");
    assert_eq!(
        generic::decompress(dictionary, &code[..len], &mut back),
        Ok(payload.len())
    );
    assert_eq!(back, payload);
    let len = generic::compress_header(dictionary, payload, &mut code).expect("and one for the stop code");
    let restored = generic::decompress_header(dictionary, &code[..len], &mut back);
    assert_eq!(restored, Ok((payload.len(), &[][..])));
    assert_eq!(back, payload);
}
