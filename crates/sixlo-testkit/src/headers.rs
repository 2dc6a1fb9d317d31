//! Header compression, both ways.

use arbitrary::{Arbitrary, Unstructured};
use sixlo::wire::iphc::{self, Contexts, Link};
use sixlo::wire::ipv6::{self, NextHeader, TrafficClass};

use crate::link::{Address, Node, Prefix};

/// The most bytes of headers that are asked for.
const HEADERS_LEN: usize = 1280;

#[derive(Arbitrary)]
struct Compressed<'a> {
    link: [Node; 2],
    contexts: [Prefix; 4],
    datagram_len: Option<u16>,
    room: u16,
    input: &'a [u8],
}

/// Bytes as a compressed header. What is read from them is a packet, and compressed again the same.
pub fn iphc_decode(data: &[u8]) {
    let Ok(frame) = Compressed::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    let contexts = frame.contexts.map(Prefix::context);
    let (link, contexts) = (link(frame.link), Contexts(&contexts));
    let mut out = vec![0xa5; usize::from(frame.room) % (HEADERS_LEN + 1)];
    let size = frame.datagram_len.map(usize::from);
    let Ok(read) = iphc::decompress(frame.input, &link, &contexts, size, &mut out) else {
        return;
    };
    assert!(read.consumed <= frame.input.len() && read.written <= out.len());
    assert!(read.written >= ipv6::HEADER_LEN);
    let data = &frame.input[read.consumed..];
    assert!(read.datagram_len >= read.written + data.len());
    if let Some(size) = size {
        assert_eq!(read.datagram_len, size);
    }
    let mut head = out[..read.written].to_vec();
    head.extend(data);
    let payload_len = u16::from_be_bytes([head[4], head[5]]);
    assert_eq!(usize::from(payload_len) + ipv6::HEADER_LEN, read.datagram_len);
    assert_survives(&head, read.datagram_len, &link, &contexts, 2 * HEADERS_LEN);
}

#[derive(Arbitrary)]
struct Packet<'a> {
    link: [Node; 2],
    contexts: [Prefix; 4],
    src: Address,
    dst: Address,
    class: u8,
    label: u32,
    hop_limit: u8,
    next: u8,
    /// Bytes of the packet behind `head`.
    more: u16,
    /// Bytes for the compressed headers.
    room: u8,
    /// What follows the fixed header.
    head: &'a [u8],
}

/// A packet of any headers is compressed and restored to the bit, or not compressed at all.
pub fn iphc_roundtrip(data: &[u8]) {
    let Ok(packet) = Packet::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    let contexts = packet.contexts.map(Prefix::context);
    let (link, contexts) = (link(packet.link), Contexts(&contexts));
    let behind = &packet.head[..packet.head.len().min(HEADERS_LEN)];
    let header = ipv6::Header {
        traffic_class: TrafficClass(packet.class),
        flow_label: packet.label,
        payload_len: behind.len() as u16 + packet.more % 2000,
        next_header: NextHeader(packet.next),
        hop_limit: packet.hop_limit,
        src: packet.src.addr(link.src),
        dst: packet.dst.addr(link.dst),
    };
    let len = ipv6::HEADER_LEN + usize::from(header.payload_len);
    let head = [&header.emit()[..], behind].concat();
    assert_survives(&head, len, &link, &contexts, 2 * HEADERS_LEN);
    assert_survives(&head, len, &link, &contexts, packet.room.into());
}

fn link([src, dst]: [Node; 2]) -> Link {
    Link {
        src: src.addr(),
        dst: dst.addr(),
    }
}

/// Compresses the beginning of a packet of `len` bytes into at most `room` bytes, and restores it.
fn assert_survives(head: &[u8], len: usize, link: &Link, contexts: &Contexts<'_>, room: usize) {
    let mut out = vec![0; room];
    let Ok(compressed) = iphc::compress(head, link, contexts, &mut out) else {
        assert!(room < 2 * HEADERS_LEN, "there is always a form");
        return;
    };
    assert!(compressed.written <= room && compressed.consumed <= head.len());
    let data = &head[compressed.consumed..];
    let frame = [&out[..compressed.written], data].concat();
    let mut headers = vec![0; compressed.consumed];
    let read = iphc::decompress(&frame, link, contexts, Some(len), &mut headers);
    let read = read.expect("what was compressed can be restored");
    assert_eq!(
        (read.consumed, read.written),
        (compressed.written, compressed.consumed)
    );
    assert_eq!(headers, head[..compressed.consumed]);
    assert_eq!(read.udp_checksum_elided, None);
}
