//! Compression.

use super::address::Form;
use super::{Compressed, Context, Contexts, Iids, Link, NEXT_HEADERS_MAX, Writer, iids_of, nhc, traffic_len};
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

fn run(
    head: &[u8],
    link: &Link,
    contexts: &Contexts<'_>,
    out: &mut [u8],
    elide_checksum: bool,
) -> Result<Compressed, ParseError> {
    let mut out = Writer::new(out);
    let contexts = contexts.numbered();
    let mut iids = iids_of(link);
    let (&[first, _, _, _, len_high, len_low, ..], _) = split::<{ ipv6::HEADER_LEN }>(head)?;
    if first >> 4 != 6 {
        return Err(ParseError::Version);
    }
    let len = ipv6::HEADER_LEN + usize::from(u16::from_be_bytes([len_high, len_low]));
    let beyond = len.checked_sub(head.len()).ok_or(ParseError::Length)?;
    let mut rest = head;
    let mut found = Found::new(nhc::IPV6, ipv6::HEADER_LEN);
    let mut budget = NEXT_HEADERS_MAX;
    // Each turn compresses a header: the first of IPv6, then those behind it.
    while let Some((header, after)) = rest.split_at_checked(found.len.into()) {
        rest = after;
        let following = match header {
            _ if !found.is_followed || budget == 0 => None,
            [_, _, _, _, _, _, next, ..] if found.octet == nhc::IPV6 => find(NextHeader(*next), rest, beyond),
            [next, ..] => find(NextHeader(*next), rest, beyond),
            [] => None,
        };
        match (found.octet, header.first_chunk()) {
            (nhc::IPV6, Some(fixed)) => {
                if budget < NEXT_HEADERS_MAX {
                    out.put(1, nhc::IPV6.into());
                }
                base(fixed, following.is_some(), &mut iids, contexts, &mut out);
            }
            (nhc::UDP, _) => put_udp(header, elide_checksum, &mut out),
            _ => put_extension(&found, header, following.is_some(), &mut out),
        }
        let Some(following) = following else { break };
        found = following;
        budget -= 1;
    }
    if out.is_over() {
        return Err(ParseError::NoRoom);
    }
    Ok(Compressed {
        written: out.written(),
        consumed: head.len() - rest.len(),
    })
}

/// Compresses an IPv6 header, and leaves in `iids` the interface identifiers for one that it encapsulates.
#[cfg_attr(target_os = "none", inline(never))]
fn base(
    fixed: &[u8; ipv6::HEADER_LEN],
    is_next_compressed: bool,
    iids: &mut Iids,
    contexts: &[Context],
    out: &mut Writer<'_>,
) {
    let Some((head, addresses)) = fixed.split_first_chunk::<8>() else {
        return;
    };
    let (Some(src), Some(dst)) = (addresses.first_chunk(), addresses.last_chunk()) else {
        return;
    };
    let [_, _, _, _, _, _, next_header, hop_limit] = *head;
    let class_and_label = (u64::from_be_bytes(*head) >> 32) as u32 & 0xfff_ffff;
    let src_form = if u128::from_ne_bytes(*src) == 0 {
        Form::UNSPECIFIED
    } else {
        Form::unicast(src, &iids[0], contexts)
    };
    let dst_form = if dst[0] == 0xff {
        Form::multicast(dst, contexts)
    } else {
        Form::unicast(dst, &iids[1], contexts)
    };
    let (tf, traffic) = traffic(class_and_label);
    let hlim = match hop_limit {
        1 => 0b01,
        64 => 0b10,
        255 => 0b11,
        _ => 0b00,
    };
    let numbers = src_form.context << 4 | dst_form.context;
    let cid = numbers != 0;
    let first = 0b011 << 5 | tf << 3 | u32::from(is_next_compressed) << 2 | hlim;
    let second = u32::from(cid) << 7 | src_form.bits << 4 | dst_form.bits;
    out.put(2, first << 8 | second);
    if cid {
        out.put(1, numbers);
    }
    if tf != 0b11 {
        out.put(traffic_len(tf), traffic);
    }
    if !is_next_compressed {
        out.put(1, next_header.into());
    }
    if hlim == 0 {
        out.put(1, hop_limit.into());
    }
    src_form.put_inline(src, out);
    dst_form.put_inline(dst, out);
    *iids = [src.last_chunk().copied(), dst.last_chunk().copied()];
}

/// TF of a traffic class and flow label, and what is carried in line. ECN comes first (RFC 6282 section 3.2.1).
const fn traffic(class_and_label: u32) -> (u32, u32) {
    let class = ((class_and_label >> 20) as u8).rotate_right(2) as u32;
    let label = class_and_label & 0xf_ffff;
    if class_and_label == 0 {
        (0b11, 0)
    } else if label == 0 {
        (0b10, class)
    } else if class & 0x3f == 0 {
        // Without DSCP, the upper bits of the label share a byte with ECN.
        (0b01, class << 16 | label)
    } else {
        (0b00, class << 24 | label)
    }
}

/// A header that can be compressed.
struct Found {
    /// Its octet, without N.
    octet: u8,
    /// What it names as next is a header, not the middle of a packet.
    is_followed: bool,
    /// Its bytes.
    len: u16,
    /// Bytes of an extension header that are carried as they are, behind its first two.
    body_len: u8,
}

impl Found {
    const fn new(octet: u8, len: usize) -> Self {
        Self {
            octet,
            is_followed: true,
            len: len as u16,
            body_len: 6,
        }
    }
}

/// The header of type `next` at the beginning of `bytes`, if it lies there whole and can be compressed. The packet
/// goes on for `beyond` bytes behind these.
#[cfg_attr(target_os = "none", inline(never))]
fn find(next: NextHeader, bytes: &[u8], beyond: usize) -> Option<Found> {
    let octet = nhc::octet(next)?;
    let &[first, units, high, low, len_high, len_low, ..] = bytes.first_chunk::<8>()?;
    let len = usize::from(u16::from_be_bytes([len_high, len_low]));
    let mut found = Found::new(octet, 8);
    match next {
        // The lengths of UDP and IPv6 are elided, so they must be those that the decompressor infers (RFC 6282 section
        // 4.3.3). Of a first fragment they are not.
        NextHeader::UDP => {
            found.is_followed = false;
            (len == bytes.len() + beyond).then_some(found)
        }
        NextHeader::IPV6 => {
            found.len = ipv6::HEADER_LEN as u16;
            let is_inferred = len + ipv6::HEADER_LEN == bytes.len() + beyond && first >> 4 == 6;
            (is_inferred && bytes.len() >= ipv6::HEADER_LEN).then_some(found)
        }
        // The fragment header has no length field; what stands in that place is reserved and carried like the rest
        // (RFC 6282 section 4.2). What follows in a later fragment is the middle of something.
        NextHeader::FRAGMENT => {
            found.is_followed = u16::from_be_bytes([high, low]) >> 3 == 0;
            Some(found)
        }
        _ => {
            let len = 8 + 8 * usize::from(units);
            let body = bytes.get(2..len)?;
            let padding = if nhc::has_options(next) {
                trailing_padding(body)
            } else {
                0
            };
            found.len = len as u16;
            // A header that is longer is not compressed (RFC 6282 section 4.2).
            found.body_len = u8::try_from(body.len() - padding).ok()?;
            Some(found)
        }
    }
}

/// Compresses an extension header (RFC 6282 section 4.2).
#[cfg_attr(target_os = "none", inline(never))]
fn put_extension(found: &Found, header: &[u8], is_next_compressed: bool, out: &mut Writer<'_>) {
    let &[next, reserved, ref body @ ..] = header else {
        return;
    };
    if is_next_compressed {
        out.put(1, (found.octet | nhc::NEXT).into());
    } else {
        out.put(2, u16::from_be_bytes([found.octet, next]).into());
    }
    let second = if found.octet == nhc::FRAGMENT {
        reserved
    } else {
        found.body_len
    };
    out.put(1, second.into());
    out.put_slice(body.get(..found.body_len.into()).unwrap_or_default());
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
    let Some(&[a, b, c, d, _, _, e, f]) = header.first_chunk() else {
        return;
    };
    let ports = u32::from_be_bytes([a, b, c, d]);
    let (src, dst) = (ports >> 16, ports & 0xffff);
    // The form, and the ports as far as they are carried in line, with what they take.
    let (form, len, inline) = if (src ^ nhc::PORT_4) | (dst ^ nhc::PORT_4) <= 0x0f {
        (0b11, 1, src << 4 | dst & 0x0f)
    } else if src ^ nhc::PORT_8 <= 0xff {
        (0b10, 3, ports)
    } else if dst ^ nhc::PORT_8 <= 0xff {
        (0b01, 3, src << 8 | dst & 0xff)
    } else {
        (0b00, 4, ports)
    };
    let elided = if elide_checksum {
        nhc::UDP_CHECKSUM_ELIDED
    } else {
        0
    };
    out.put(1, u32::from(nhc::UDP | elided | form));
    match len {
        1 => out.put(1, inline),
        3 => out.put(3, inline),
        _ => out.put(4, inline),
    }
    if !elide_checksum {
        out.put(2, u16::from_be_bytes([e, f]).into());
    }
}
