//! Compression.

use super::address::{Form, Halves};
use super::{Compressed, Context, Contexts, Iid, Iids, Link, NEXT_HEADERS_MAX, Writer, nhc};
use crate::wire::ipv6::{self, NextHeader};
use crate::wire::ipv6_ext::options::OptionType;
use crate::wire::ipv6_ext::{Extension, fragment};
use crate::wire::{ParseError, split, udp};

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
        (out, iids) = base(fixed, found.is_some(), &iids, contexts, out)?;
        // Each turn compresses a header behind it.
        while let Some(header) = found {
            match header {
                Found::Udp(header) => {
                    put_udp(header, elide_checksum, &mut out)?;
                    rest = rest.get(udp::HEADER_LEN..).unwrap_or(&[]);
                    break;
                }
                Found::Extension(header) => {
                    rest = header.rest;
                    left -= header.len;
                    found = None;
                    if header.is_followed {
                        found = find(header.next, rest, left, &mut budget);
                    }
                    out = header.put(found.is_some(), out)?;
                }
                Found::Ipv6(inner) => {
                    out.put([nhc::IPV6])?;
                    fixed = inner;
                    rest = rest.get(ipv6::HEADER_LEN..).unwrap_or(&[]);
                    continue 'ipv6;
                }
            }
        }
        return Ok(Compressed {
            written: out.written(),
            consumed: head.len() - rest.len(),
        });
    }
}

/// Compresses an IPv6 header, and gives the interface identifiers for one that it encapsulates.
#[inline(always)]
fn base<'a>(
    fixed: &[u8; ipv6::HEADER_LEN],
    is_next_compressed: bool,
    iids: &Iids,
    contexts: &[Context],
    mut out: Writer<'a>,
) -> Result<(Writer<'a>, Iids), ParseError> {
    let (&[a, b, c, d, _, _, next_header, hop_limit], addresses) = split(fixed)?;
    let (src_octets, dst_octets) = split(addresses)?;
    let (dst_octets, _) = split(dst_octets)?;
    let (src, dst) = (Halves::new(src_octets), Halves::new(dst_octets));
    let src_form = Form::source(src, iids.src, contexts);
    let dst_form = Form::destination(dst, iids.dst, contexts);

    let class_and_label = u32::from_be_bytes([a, b, c, d]) & 0xfff_ffff;
    let tf = if class_and_label == 0 {
        0b11
    } else {
        traffic_form(class_and_label)
    };
    let hlim = match hop_limit {
        1 => 0b01,
        64 => 0b10,
        255 => 0b11,
        _ => 0b00,
    };
    let contexts_byte = src_form.context << 4 | dst_form.context;
    let cid = contexts_byte != 0;
    out.put([
        0b011 << 5 | tf << 3 | u8::from(is_next_compressed) << 2 | hlim,
        u8::from(cid) << 7 | src_form.bits << 4 | dst_form.bits,
    ])?;
    if cid {
        out.put([contexts_byte])?;
    }
    if tf != 0b11 {
        out = put_traffic(tf, class_and_label, out)?;
    }
    if !is_next_compressed {
        out.put([next_header])?;
    }
    if hlim == 0 {
        out.put([hop_limit])?;
    }
    out = src_form.put_inline(src_octets, out)?;
    out = dst_form.put_inline(dst_octets, out)?;
    Ok((
        out,
        Iids {
            src: Iid::new(src.low),
            dst: Iid::new(dst.low),
        },
    ))
}

/// TF of a traffic class and flow label that are not both zero.
fn traffic_form(class_and_label: u32) -> u8 {
    if class_and_label & 0xf_ffff == 0 {
        0b10
    } else if class_and_label >> 22 == 0 {
        0b01
    } else {
        0b00
    }
}

/// Writes traffic class and flow label. ECN comes first (RFC 6282 section 3.2.1).
#[inline(never)]
fn put_traffic<'a>(tf: u8, class_and_label: u32, mut out: Writer<'a>) -> Result<Writer<'a>, ParseError> {
    let class = ((class_and_label >> 20) as u8).rotate_right(2);
    let [_, a, b, c] = (class_and_label & 0xf_ffff).to_be_bytes();
    match tf {
        0b10 => out.put([class])?,
        0b01 => out.put([class | a, b, c])?,
        _ => out.put([class, a, b, c])?,
    }
    Ok(out)
}

/// A header that can be compressed.
enum Found<'a> {
    Udp(&'a [u8; udp::HEADER_LEN]),
    Extension(Header<'a>),
    Ipv6(&'a [u8; ipv6::HEADER_LEN]),
}

/// An extension header that can be compressed.
struct Header<'a> {
    /// Its octet, without N.
    octet: u8,
    /// What it names as next.
    next: NextHeader,
    /// The next is a header, not the middle of a packet.
    is_followed: bool,
    /// Bytes of it.
    len: usize,
    /// The second byte of its compressed form: the number of bytes that follow, or what is reserved.
    second: u8,
    /// What follows.
    body: &'a [u8],
    /// What follows the header.
    rest: &'a [u8],
}

impl Header<'_> {
    #[inline(never)]
    fn put<'a>(&self, is_next_compressed: bool, mut out: Writer<'a>) -> Result<Writer<'a>, ParseError> {
        if is_next_compressed {
            out.put([self.octet | nhc::NEXT, self.second])?;
        } else {
            out.put([self.octet, self.next.0, self.second])?;
        }
        out.put_slice(self.body)?;
        Ok(out)
    }
}

/// The header of type `next` at the beginning of `bytes`, if it lies there whole and can be compressed. `left` bytes
/// of the packet, no fewer than `bytes` holds, begin there. Takes one off `budget`.
#[inline(always)]
fn find<'a>(next: NextHeader, bytes: &'a [u8], left: usize, budget: &mut usize) -> Option<Found<'a>> {
    *budget = budget.checked_sub(1)?;
    if next == NextHeader::UDP {
        let header = bytes.first_chunk()?;
        // The length is elided, so it must be the one that the decompressor infers (RFC 6282 section 4.3.3). Of a
        // first fragment it is not.
        let is_inferred = usize::from(udp::Header::parse(header).len) == left;
        return is_inferred.then_some(Found::Udp(header));
    }
    find_other(next, bytes, left)
}

/// As [`find`], for all but UDP.
#[inline(never)]
fn find_other(next: NextHeader, bytes: &[u8], left: usize) -> Option<Found<'_>> {
    match next {
        NextHeader::FRAGMENT => find_fragment(bytes),
        NextHeader::IPV6 => {
            let fixed = bytes.first_chunk()?;
            let is_inferred = payload_len(fixed) + ipv6::HEADER_LEN == left;
            (is_ipv6(fixed) && is_inferred).then_some(Found::Ipv6(fixed))
        }
        _ => find_extension(next, bytes),
    }
}

/// The fragment header has no length field; what stands in that place is reserved and carried like the rest (RFC 6282
/// section 4.2).
fn find_fragment(bytes: &[u8]) -> Option<Found<'_>> {
    let (header, rest) = bytes.split_first_chunk::<{ fragment::HEADER_LEN }>()?;
    let fields = fragment::Header::parse(header);
    let [_, reserved, body @ ..] = header;
    Some(Found::Extension(Header {
        octet: nhc::FRAGMENT,
        next: fields.next_header,
        // What follows in a later fragment is the middle of something.
        is_followed: fields.offset == 0,
        len: fragment::HEADER_LEN,
        second: *reserved,
        body,
        rest,
    }))
}

fn find_extension(next: NextHeader, bytes: &[u8]) -> Option<Found<'_>> {
    let octet = nhc::of_extension(next)?;
    let (header, rest) = Extension::parse(bytes).ok()?;
    let padding = if nhc::has_options(next) {
        trailing_padding(header.body)
    } else {
        0
    };
    let body = header.body.get(..header.body.len() - padding)?;
    Some(Found::Extension(Header {
        octet,
        next: header.next_header,
        is_followed: true,
        len: header.len(),
        // A header that is longer is not compressed (RFC 6282 section 4.2).
        second: u8::try_from(body.len()).ok()?,
        body,
        rest,
    }))
}

/// Bytes of the single option of padding at the end of a header of options, if the decompressor restores it: at most
/// 7, all zero, and not preceded by more padding (RFC 6282 section 4.2).
fn trailing_padding(options: &[u8]) -> usize {
    let mut rest = options;
    let mut last = None;
    let mut before = None;
    while let Some(&kind) = rest.first() {
        let len = match rest.get(1) {
            _ if kind == OptionType::PAD1.0 => 1,
            Some(&len) => 2 + usize::from(len),
            None => return 0,
        };
        let Some((option, after)) = rest.split_at_checked(len) else {
            return 0;
        };
        (before, last, rest) = (last, Some(option), after);
    }
    let Some(last) = last else {
        return 0;
    };
    let is_padding = |option: &[u8]| option.first().is_some_and(|&kind| kind <= OptionType::PAD_N.0);
    let is_plain = last
        .get(2..)
        .is_none_or(|data| data.iter().all(|&byte| byte == 0));
    if is_padding(last) && is_plain && last.len() <= 7 && !before.is_some_and(is_padding) {
        last.len()
    } else {
        0
    }
}

/// Compresses a UDP header (RFC 6282 section 4.3).
#[inline(always)]
fn put_udp(
    header: &[u8; udp::HEADER_LEN],
    elide_checksum: bool,
    out: &mut Writer<'_>,
) -> Result<(), ParseError> {
    let &[a, b, c, d, _, _, checksum_high, checksum_low] = header;
    let src = u16::from_be_bytes([a, b]);
    let dst = u16::from_be_bytes([c, d]);
    let octet = nhc::UDP
        | if elide_checksum {
            nhc::UDP_CHECKSUM_ELIDED
        } else {
            0
        };
    if (src ^ nhc::PORT_4) | (dst ^ nhc::PORT_4) <= 0x0f {
        out.put([octet | 0b11, b << 4 | d & 0x0f])?;
    } else if src ^ nhc::PORT_8 <= 0xff {
        out.put([octet | 0b10, b, c, d])?;
    } else if dst ^ nhc::PORT_8 <= 0xff {
        out.put([octet | 0b01, a, b, d])?;
    } else {
        out.put([octet, a, b, c, d])?;
    }
    if elide_checksum {
        Ok(())
    } else {
        out.put([checksum_high, checksum_low])
    }
}
