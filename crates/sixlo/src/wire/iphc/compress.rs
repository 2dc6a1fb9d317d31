//! Compression.

use super::address::Form;
use super::{Compressed, Context, Contexts, Iids, Link, NEXT_HEADERS_MAX, Writer, nhc};
use crate::wire::ipv6::{self, NextHeader};
use crate::wire::ipv6_ext::options::OptionType;
use crate::wire::{ParseError, split};

/// Compresses the headers of an IPv6 packet for a frame between the addresses of `link`, and writes them to `out`.
///
/// `head` is the contiguous beginning of the packet: the IPv6 header, and the next headers as far as they are to be
/// compressed; it may go on into the payload. The packet must be as long as its header says, since the length is
/// elided.
///
/// # Errors
///
/// [`ParseError::Truncated`] if `head` is shorter than the IPv6 header, [`ParseError::Version`] if it is none,
/// [`ParseError::Length`] if it is longer than the packet, [`ParseError::NoRoom`] if the compressed headers do not
/// fit `out`.
pub fn compress(
    head: &[u8],
    link: &Link,
    contexts: &Contexts<'_>,
    out: &mut [u8],
) -> Result<Compressed, ParseError> {
    run(head, link, contexts, out, false)
}

/// As [`compress`], with the UDP checksum elided, if the UDP header gets compressed.
///
/// Only for a node that is authorised by the upper layer, has verified the checksum, and sends the frame under a
/// link-layer integrity check (RFC 6282 section 4.3.2).
///
/// # Errors
///
/// As [`compress`].
pub fn compress_without_udp_checksum(
    head: &[u8],
    link: &Link,
    contexts: &Contexts<'_>,
    out: &mut [u8],
) -> Result<Compressed, ParseError> {
    run(head, link, contexts, out, true)
}

/// The payload length of an IPv6 header.
fn payload_len(fixed: &[u8; ipv6::HEADER_LEN]) -> usize {
    let [_, _, _, _, high, low, ..] = *fixed;
    usize::from(u16::from_be_bytes([high, low]))
}

fn is_ipv6(fixed: &[u8; ipv6::HEADER_LEN]) -> bool {
    let [first, ..] = *fixed;
    first >> 4 == 6
}

fn run(
    head: &[u8],
    link: &Link,
    contexts: &Contexts<'_>,
    out: &mut [u8],
    elide_checksum: bool,
) -> Result<Compressed, ParseError> {
    let mut out = Writer::new(out);
    let contexts = contexts.numbered();
    let mut iids = Iids::of_link(link);
    let mut budget = NEXT_HEADERS_MAX;
    let (mut fixed, mut rest) = split(head)?;
    if !is_ipv6(fixed) {
        return Err(ParseError::Version);
    }
    if rest.len() > payload_len(fixed) {
        return Err(ParseError::Length);
    }
    // Each turn compresses an IPv6 header: the first, then those that it encapsulates.
    'ipv6: loop {
        let [_, _, _, _, _, _, next, ..] = *fixed;
        let mut left = payload_len(fixed);
        let mut found = find(NextHeader(next), rest, left, &mut budget);
        iids = base(fixed, found.is_some(), &iids, contexts, &mut out)?;
        // Each turn compresses a header behind it.
        while let Some(header) = found {
            let after = rest.get(header.bytes.len()..).unwrap_or_default();
            left -= header.bytes.len();
            found = None;
            match header.octet {
                nhc::UDP => put_udp(header.bytes, elide_checksum, &mut out),
                nhc::IPV6 => {
                    out.put(nhc::IPV6);
                    (fixed, _) = split(header.bytes)?;
                    rest = after;
                    continue 'ipv6;
                }
                octet => {
                    let [next, ..] = *header.bytes else { break };
                    if header.is_followed {
                        found = find(NextHeader(next), after, left, &mut budget);
                    }
                    if found.is_some() {
                        out.put(octet | nhc::NEXT);
                    } else {
                        out.put(octet);
                        out.put(next);
                    }
                    out.put(header.second);
                    out.put_slice(header.body);
                }
            }
            rest = after;
        }
        if out.is_over() {
            return Err(ParseError::NoRoom);
        }
        return Ok(Compressed {
            written: out.written(),
            consumed: head.len() - rest.len(),
        });
    }
}

/// Compresses an IPv6 header, and gives the interface identifiers for one that it encapsulates.
#[inline(never)]
fn base(
    fixed: &[u8; ipv6::HEADER_LEN],
    is_next_compressed: bool,
    iids: &Iids,
    contexts: &[Context],
    out: &mut Writer<'_>,
) -> Result<Iids, ParseError> {
    let (&[a, b, c, d, _, _, next_header, hop_limit], addresses) = split(fixed)?;
    let (src, addresses) = split(addresses)?;
    let (dst, _) = split(addresses)?;
    let src_form = Form::source(src, iids.src, contexts);
    let dst_form = Form::destination(dst, iids.dst, contexts);

    let class_and_label = u32::from_be_bytes([a, b, c, d]) & 0xfff_ffff;
    let tf = traffic_form(class_and_label);
    let hlim = match hop_limit {
        1 => 0b01,
        64 => 0b10,
        255 => 0b11,
        _ => 0b00,
    };
    let numbers = src_form.context << 4 | dst_form.context;
    let cid = numbers != 0;
    out.put(0b011 << 5 | tf << 3 | u8::from(is_next_compressed) << 2 | hlim);
    out.put(u8::from(cid) << 7 | src_form.bits << 4 | dst_form.bits);
    if cid {
        out.put(numbers);
    }
    if tf != 0b11 {
        put_traffic(tf, class_and_label, out);
    }
    if !is_next_compressed {
        out.put(next_header);
    }
    if hlim == 0 {
        out.put(hop_limit);
    }
    src_form.put_inline(src, out);
    dst_form.put_inline(dst, out);
    Ok(Iids {
        src: src.last_chunk().copied(),
        dst: dst.last_chunk().copied(),
    })
}

/// TF of a traffic class and flow label.
const fn traffic_form(class_and_label: u32) -> u8 {
    if class_and_label == 0 {
        0b11
    } else if class_and_label & 0xf_ffff == 0 {
        0b10
    } else if class_and_label >> 22 == 0 {
        0b01
    } else {
        0b00
    }
}

/// Writes traffic class and flow label. ECN comes first (RFC 6282 section 3.2.1).
fn put_traffic(tf: u8, class_and_label: u32, out: &mut Writer<'_>) {
    let class = ((class_and_label >> 20) as u8).rotate_right(2);
    let [_, a, b, c] = (class_and_label & 0xf_ffff).to_be_bytes();
    // Without DSCP, the upper bits of the label share a byte with ECN.
    out.put(if tf == 0b01 { class | a } else { class });
    if tf == 0 {
        out.put(a);
    }
    if tf & 0b10 == 0 {
        out.put(b);
        out.put(c);
    }
}

/// A header that can be compressed.
struct Found<'a> {
    /// Its octet, without N.
    octet: u8,
    /// The header.
    bytes: &'a [u8],
    /// What it names as next is a header, not the middle of a packet.
    is_followed: bool,
    /// Of an extension header the second byte of its compressed form: the number of bytes that follow, or what is
    /// reserved.
    second: u8,
    /// What follows.
    body: &'a [u8],
}

/// The header of type `next` at the beginning of `bytes`, if it lies there whole and can be compressed. `left` bytes
/// of the packet, no fewer than `bytes` holds, begin there. Takes one off `budget`.
#[inline(never)]
fn find<'a>(next: NextHeader, bytes: &'a [u8], left: usize, budget: &mut usize) -> Option<Found<'a>> {
    *budget = budget.checked_sub(1)?;
    let octet = nhc::octet(next)?;
    let &[_, second, high, low, ..] = bytes.first_chunk::<8>()?;
    let len = match next {
        NextHeader::IPV6 => ipv6::HEADER_LEN,
        // The fragment header has no length field; what stands in that place is reserved and carried like the rest
        // (RFC 6282 section 4.2).
        NextHeader::UDP | NextHeader::FRAGMENT => 8,
        _ => 8 + 8 * usize::from(second),
    };
    let bytes = bytes.get(..len)?;
    let mut found = Found {
        octet,
        bytes,
        is_followed: true,
        second,
        body: bytes.get(2..).unwrap_or_default(),
    };
    // The lengths of UDP and IPv6 are elided, so they must be those that the decompressor infers (RFC 6282 section
    // 4.3.3). Of a first fragment they are not.
    match next {
        NextHeader::UDP | NextHeader::IPV6 => {
            let &[first, _, _, _, high, low, ..] = bytes else {
                return None;
            };
            let behind = if next == NextHeader::UDP { 0 } else { len };
            let is_inferred = usize::from(u16::from_be_bytes([high, low])) + behind == left;
            let is_known = next == NextHeader::UDP || first >> 4 == 6;
            return (is_inferred && is_known).then_some(found);
        }
        // What follows in a later fragment is the middle of something.
        NextHeader::FRAGMENT => found.is_followed = u16::from_be_bytes([high, low]) >> 3 == 0,
        _ => {
            let padding = if nhc::has_options(next) {
                trailing_padding(found.body)
            } else {
                0
            };
            found.body = found.body.get(..found.body.len() - padding)?;
            // A header that is longer is not compressed (RFC 6282 section 4.2).
            found.second = u8::try_from(found.body.len()).ok()?;
        }
    }
    Some(found)
}

/// Bytes of the single option of padding at the end of a header of options, if the decompressor restores it: at most
/// 7, all zero, and not preceded by more padding (RFC 6282 section 4.2).
fn trailing_padding(options: &[u8]) -> usize {
    let mut rest = options;
    let (mut padding, mut before) = (0, false);
    // Each turn looks at an option: `padding` is its length if it is padding, and `before` whether the one before was.
    while let [kind, tail @ ..] = rest {
        let len = match tail.first() {
            _ if *kind == OptionType::PAD1.0 => 1,
            Some(len) => 2 + usize::from(*len),
            None => return 0,
        };
        let Some((option, after)) = rest.split_at_checked(len) else {
            return 0;
        };
        before = padding != 0;
        let is_plain = option.iter().skip(2).all(|byte| *byte == 0);
        padding = if *kind > OptionType::PAD_N.0 {
            0
        } else if is_plain {
            len
        } else {
            usize::MAX
        };
        rest = after;
    }
    if before || padding > 7 { 0 } else { padding }
}

/// Compresses a UDP header (RFC 6282 section 4.3).
fn put_udp(header: &[u8], elide_checksum: bool, out: &mut Writer<'_>) {
    let &[a, b, c, d, _, _, checksum_high, checksum_low] = header else {
        return;
    };
    let src = u16::from_be_bytes([a, b]);
    let dst = u16::from_be_bytes([c, d]);
    let octet = nhc::UDP
        | if elide_checksum {
            nhc::UDP_CHECKSUM_ELIDED
        } else {
            0
        };
    if (src ^ nhc::PORT_4) | (dst ^ nhc::PORT_4) <= 0x0f {
        out.put(octet | 0b11);
        out.put(b << 4 | d & 0x0f);
    } else {
        let is_src_8 = src ^ nhc::PORT_8 <= 0xff;
        let is_dst_8 = !is_src_8 && dst ^ nhc::PORT_8 <= 0xff;
        out.put(octet | u8::from(is_src_8) << 1 | u8::from(is_dst_8));
        if !is_src_8 {
            out.put(a);
        }
        out.put(b);
        if !is_dst_8 {
            out.put(c);
        }
        out.put(d);
    }
    if !elide_checksum {
        out.put(checksum_high);
        out.put(checksum_low);
    }
}
