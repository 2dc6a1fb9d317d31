//! Fragment counts that papers state, computed by the codec.

use super::*;

/// Frame payload in bytes as Lenders et al. 2021 count it (section IV): 127 bytes, 23 of MAC header with two extended
/// addresses, 2 of frame check sequence.
const PAPER_FRAME: usize = 127 - 23 - 2;

/// The same with the 21 bytes that a MAC header with two extended addresses and PAN compression really has.
const REAL_FRAME: usize = 127 - 21 - 2;

/// With two short addresses the MAC header has 9 bytes.
const SHORT_FRAME: usize = 127 - 9 - 2;

/// Bytes of compressed headers of a UDP datagram.
fn headers(bytes: &[u8], link: &Link, contexts: &[Context]) -> usize {
    let mut out = [0; 64];
    let done = compress(bytes, link, &Contexts(contexts), &mut out).unwrap();
    assert_eq!(done.consumed, 48, "IPv6 and UDP are both compressed");
    done.written
}

/// How many frames a UDP payload takes (RFC 4944 section 5.3): all in one if it fits; else a first fragment of 4
/// bytes of header and further ones of 5, all but the last a multiple of 8 bytes of the uncompressed datagram.
fn frames(payload: usize, compressed: usize, frame: usize) -> usize {
    if compressed + payload <= frame {
        return 1;
    }
    // The 48 bytes of headers are a multiple of 8, so the payload's part must be one too.
    let first = (frame - 4 - compressed) / 8 * 8;
    let mut rest = payload - first;
    let mut count = 2;
    while rest > frame - 5 {
        rest -= (frame - 5) / 8 * 8;
        count += 1;
    }
    count
}

/// The payloads, of those that are multiples of `step`, at which one more frame is needed.
fn steps(compressed: usize, frame: usize, step: usize) -> Vec<usize> {
    (1..=1232 / step)
        .map(|i| i * step)
        .filter(|&payload| frames(payload, compressed, frame) > frames(payload - step, compressed, frame))
        .collect()
}

/// `first`, and every 96 bytes after it.
fn every_96(first: usize) -> Vec<usize> {
    (first..=1232).step_by(96).collect()
}

#[test]
fn link_local_datagrams_need_another_fragment_at_96_bytes_and_every_96_after() {
    // Lenders 2016, section 5.3.4: addresses derived from extended link addresses, payloads in steps of 8.
    let compressed = headers(&udp_packet("fe80::2", "fe80::1", (5683, 5683), 0), &LINK, &[]);
    assert_eq!(compressed, 9, "2 IPv6, 7 UDP");
    for frame in [PAPER_FRAME, REAL_FRAME] {
        assert_eq!(steps(compressed, frame, 8), every_96(96));
    }
    // Not so with 4-bit ports: their headers have 6 bytes, and 96 bytes of payload still fit one frame.
    let compressed = headers(&udp_packet("fe80::2", "fe80::1", (0xf0b1, 0xf0b2), 0), &LINK, &[]);
    assert_eq!(compressed, 6);
    assert_eq!(steps(compressed, PAPER_FRAME, 8)[0], 104);
}

#[test]
fn eight_bytes_more_of_header_move_the_steps_to_88_bytes() {
    // Lenders 2016, section 5.3.4: with the prefix carried in line "the packets are 8 bytes longer".
    for frame in [PAPER_FRAME, REAL_FRAME] {
        assert_eq!(steps(9 + 8, frame, 8), every_96(88));
    }
}

#[test]
fn a_global_destination_without_context_is_16_bytes_longer_and_the_steps_begin_at_80() {
    // RFC 6282 section 3.1.1 has no form of a prefix in line with an elided identifier, so that the 88 bytes of
    // Lenders 2016 cannot come from a destination without context: it is carried whole.
    let compressed = headers(&udp_packet("fe80::2", "abcd::1", (5683, 5683), 0), &LINK, &[]);
    assert_eq!(compressed, 9 + 16);
    for frame in [PAPER_FRAME, REAL_FRAME] {
        assert_eq!(steps(compressed, frame, 8), every_96(80));
    }
    let both = headers(&udp_packet("abcd::2", "abcd::1", (5683, 5683), 0), &LINK, &[]);
    assert_eq!(both, 9 + 32);
    // A destination that a context covers, but not the link address, is the one that is 8 bytes longer.
    let contexts = [context("abcd::", 64)];
    assert_eq!(
        headers(
            &udp_packet("abcd::2", "abcd::9", (5683, 5683), 0),
            &LINK,
            &contexts
        ),
        9 + 8
    );
}

/// A datagram of the network of Lenders et al. 2021 at its source: source and hop limit elided, the sink several hops
/// away.
fn at_source() -> Vec<u8> {
    udp_packet("fd00::2", "fd00::9", (5683, 5683), 0)
}

/// The same at a forwarder, to another forwarder.
fn at_forwarder() -> Vec<u8> {
    let mut bytes = udp_packet("fd00::7", "fd00::9", (5683, 5683), 0);
    bytes[7] = 60;
    bytes
}

#[test]
fn hop_wise_reassembly_takes_a_fragment_more_at_96_bytes_and_every_96_after_at_the_source() {
    // Lenders et al. 2021, figure 14, payloads in steps of 16: 17 bytes of headers are 2 of IPHC, 8 of destination, 7
    // of UDP.
    let compressed = headers(&at_source(), &LINK, &[context("fd00::", 64)]);
    assert_eq!(compressed, 17);
    for frame in [PAPER_FRAME, REAL_FRAME] {
        assert_eq!(steps(compressed, frame, 16), every_96(96));
    }
}

#[test]
fn at_a_forwarder_the_headers_are_9_bytes_longer_and_the_steps_begin_at_80() {
    let contexts = [context("fd00::", 64)];
    let compressed = headers(&at_forwarder(), &LINK, &contexts);
    assert_eq!(compressed, 17 + 1 + 8, "hop limit and source in line");
    for frame in [PAPER_FRAME, REAL_FRAME] {
        assert_eq!(steps(compressed, frame, 16), every_96(80));
    }
    // The last forwarder elides the destination.
    let last = Link {
        dst: LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 9]),
        ..LINK
    };
    assert_eq!(headers(&at_forwarder(), &last, &contexts), 18);
    assert_eq!(steps(18, PAPER_FRAME, 16), every_96(96));
}

#[test]
fn with_short_addresses_a_second_fragment_begins_at_112_or_104_bytes_a_third_at_208_and_then_every_104() {
    let contexts = [context("fd00::", 64)];
    let link = Link {
        src: LinkAddr::Short(2),
        dst: LinkAddr::Short(1),
    };
    let source = udp_packet("fd00::ff:fe00:2", "fd00::ff:fe00:9", (5683, 5683), 0);
    let compressed = headers(&source, &link, &contexts);
    assert_eq!(compressed, 11, "2 IPHC, 2 destination, 7 UDP");
    let mut forwarded = udp_packet("fd00::ff:fe00:7", "fd00::ff:fe00:9", (5683, 5683), 0);
    forwarded[7] = 60;
    let forwarder = headers(&forwarded, &link, &contexts);
    assert_eq!(forwarder, 14, "hop limit and source besides");
    // One frame holds 105 or 102 bytes, a first fragment 96, a last one 111, those between 104.
    let then_every_104 = |first| {
        [first]
            .into_iter()
            .chain((208..=1232).step_by(104))
            .collect::<Vec<_>>()
    };
    assert_eq!(steps(compressed, SHORT_FRAME, 8), then_every_104(112));
    assert_eq!(steps(forwarder, SHORT_FRAME, 8), then_every_104(104));
}
