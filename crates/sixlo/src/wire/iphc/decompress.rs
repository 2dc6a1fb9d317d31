//! Decompression.

use super::address;
use super::{Contexts, Decompressed, Iid, Iids, Link, NEXT_HEADERS_MAX, Writer, nhc, take};
use crate::wire::ipv6::{self, NextHeader};
use crate::wire::ipv6_ext::fragment;
use crate::wire::ipv6_ext::options::OptionType;
use crate::wire::{ParseError, split, udp};

/// Restores the headers of an IPv6 packet from a frame between the addresses of `link`, and writes them to `out`.
///
/// `input` begins with LOWPAN_IPHC. `datagram_len` is the length in bytes of the whole packet that a fragment header
/// states, or `None` if `input` holds all of it. Lengths are filled in; a UDP checksum that was elided is zero and
/// reported.
///
/// # Errors
///
/// [`ParseError::Truncated`] if `input` ends within the compressed headers. [`ParseError::Version`] if it is no
/// LOWPAN_IPHC, or names a next header compression that is not known; [`ParseError::Unknown`] if it names a context that
/// is not set. [`ParseError::Reserved`] for combinations that RFC 6282 reserves. [`ParseError::Forbidden`] if an interface
/// identifier is derived from a link-layer address that the frame does not have, a multicast address from a context
/// of more than 64 bits, or if there are more than [`NEXT_HEADERS_MAX`] next headers. [`ParseError::Length`] if an
/// extension header does not fill units of 8 bytes, the packet is longer than `datagram_len` says or IPv6 allows.
/// [`ParseError::NoRoom`] if the headers do not fit `out`.
pub fn decompress(
    input: &[u8],
    link: &Link,
    contexts: &Contexts<'_>,
    datagram_len: Option<usize>,
    out: &mut [u8],
) -> Result<Decompressed, ParseError> {
    let mut writer = Writer::new(out);
    let mut rest = input;
    let mut iids = Iids::of_link(link);
    let mut budget = NEXT_HEADERS_MAX;
    let mut udp_at = None;
    let mut udp_checksum_elided = None;
    // Where the innermost IPv6 header lies. Until the lengths are known, the payload length of each IPv6 header says
    // where the one lies that encapsulates it.
    let mut ipv6_at = 0;
    let mut outer_at = 0;
    // Each turn restores an IPv6 header: the first, then those that it encapsulates.
    'ipv6: loop {
        let mut next = base(&mut rest, outer_at, &mut iids, contexts, &mut writer)?;
        // Each turn restores a compressed header behind it.
        while let Some(header) = next {
            budget = budget.checked_sub(1).ok_or(ParseError::Forbidden)?;
            let &[octet] = take(&mut rest)?;
            let at = writer.written();
            if header == NextHeader::UDP {
                udp_at = Some(at);
                if octet & nhc::UDP_CHECKSUM_ELIDED != 0 {
                    udp_checksum_elided = udp_at;
                }
                restore_udp(octet, &mut rest, &mut writer)?;
                break;
            }
            if header == NextHeader::IPV6 {
                outer_at = u16::try_from(ipv6_at).map_err(|_| ParseError::Length)?;
                ipv6_at = at;
                continue 'ipv6;
            }
            (next, rest, writer) = restore_extension(octet, header, rest, writer)?;
        }
        break;
    }
    let written = writer.written();
    let len_min = written + rest.len();
    let datagram_len = datagram_len.unwrap_or(len_min);
    if datagram_len < len_min {
        return Err(ParseError::Length);
    }
    if let Some(at) = udp_at {
        set_len(out, at + 4, datagram_len - at)?;
    }
    // From the innermost IPv6 header outwards.
    loop {
        let outer = set_len(out, ipv6_at + 4, datagram_len - ipv6_at - ipv6::HEADER_LEN)?;
        if ipv6_at == 0 {
            return Ok(Decompressed {
                consumed: input.len() - rest.len(),
                written,
                datagram_len,
                udp_checksum_elided,
            });
        }
        ipv6_at = usize::from(outer);
    }
}

/// Writes a length of two bytes at `at` and gives what stood there.
fn set_len(out: &mut [u8], at: usize, len: usize) -> Result<u16, ParseError> {
    let len = u16::try_from(len).map_err(|_| ParseError::Length)?;
    let place = out
        .get_mut(at..)
        .and_then(<[u8]>::first_chunk_mut)
        .ok_or(ParseError::NoRoom)?;
    Ok(u16::from_be_bytes(core::mem::replace(place, len.to_be_bytes())))
}

/// Restores an IPv6 header with `len` for its payload length. Gives the next header if that is compressed, and leaves
/// in `iids` the interface identifiers for a header that it encapsulates.
#[inline(always)]
fn base(
    input: &mut &[u8],
    len: u16,
    iids: &mut Iids,
    contexts: &Contexts<'_>,
    out: &mut Writer<'_>,
) -> Result<Option<NextHeader>, ParseError> {
    let &[first, second] = take(input)?;
    if first >> 5 != 0b011 {
        return Err(ParseError::Version);
    }
    // M, DAC and DAM that RFC 6282 section 3.1.1 reserves.
    if matches!(second & 0b1111, 0b0100 | 0b1101..=0b1111) {
        return Err(ParseError::Reserved);
    }
    let contexts_byte = if second & 0x80 != 0 {
        take::<1>(input)?[0]
    } else {
        0
    };
    let class_and_label = match first >> 3 & 0b11 {
        0b11 => 0,
        tf => {
            let (class_and_label, rest) = traffic_class_and_flow_label(tf, input)?;
            *input = rest;
            class_and_label
        }
    };
    let inline = if first & 0b100 == 0 {
        Some(take::<1>(input)?[0])
    } else {
        None
    };
    let hop_limit = match first & 0b11 {
        0b00 => take::<1>(input)?[0],
        0b01 => 1,
        0b10 => 64,
        _ => 255,
    };
    let src = address::source(second >> 4 & 0b111, contexts_byte >> 4, iids.src, contexts, input)?;
    let dst = address::destination(second & 0b1111, contexts_byte & 0x0f, iids.dst, contexts, input)?;
    let (next_header, compressed) = next_header(inline, input)?;
    let place: &mut [u8; ipv6::HEADER_LEN] = out.place()?;
    let (head, addresses) = place.split_at_mut(8);
    let (place_src, place_dst) = addresses.split_at_mut(16);
    let [a, b, c, d] = (6 << 28 | class_and_label).to_be_bytes();
    let [len_high, len_low] = len.to_be_bytes();
    head.copy_from_slice(&[a, b, c, d, len_high, len_low, next_header.0, hop_limit]);
    place_src.copy_from_slice(&src.octets());
    place_dst.copy_from_slice(&dst.octets());
    *iids = Iids {
        src: Iid::new(src.low),
        dst: Iid::new(dst.low),
    };
    Ok(compressed)
}

/// The next header: what was carried in line, or the one that comes next in its compressed form, which is given a
/// second time.
#[inline(always)]
fn next_header(inline: Option<u8>, input: &[u8]) -> Result<(NextHeader, Option<NextHeader>), ParseError> {
    if let Some(next) = inline {
        return Ok((NextHeader(next), None));
    }
    let (&[octet], _) = split(input)?;
    let next = nhc::header(octet)?;
    Ok((next, Some(next)))
}

/// The lower 28 bits of the first word of an IPv6 header (RFC 6282 section 3.2.1), and what follows them.
#[inline(never)]
fn traffic_class_and_flow_label(tf: u8, mut input: &[u8]) -> Result<(u32, &[u8]), ParseError> {
    let (class, label) = match tf {
        0b00 => {
            let &[class, a, b, c] = take(&mut input)?;
            (class, [0, a & 0x0f, b, c])
        }
        0b01 => {
            let &[a, b, c] = take(&mut input)?;
            (a & 0b1100_0000, [0, a & 0x0f, b, c])
        }
        _ => (take::<1>(&mut input)?[0], [0; 4]),
    };
    Ok((
        u32::from(class.rotate_left(2)) << 20 | u32::from_be_bytes(label),
        input,
    ))
}

/// What restoring an extension header gives: the header that follows, if it is compressed, and the places reached.
type Restored<'i, 'o> = (Option<NextHeader>, &'i [u8], Writer<'o>);

/// Restores an extension header with its length and padding (RFC 6282 section 4.2).
#[inline(never)]
fn restore_extension<'i, 'o>(
    octet: u8,
    header: NextHeader,
    mut input: &'i [u8],
    mut out: Writer<'o>,
) -> Result<Restored<'i, 'o>, ParseError> {
    let inline = if octet & nhc::NEXT == 0 {
        Some(take::<1>(&mut input)?[0])
    } else {
        None
    };
    let &[second] = take(&mut input)?;
    // The fragment header has no length: what stands in that place is carried.
    let is_fragment = header == NextHeader::FRAGMENT;
    let len = if is_fragment {
        fragment::HEADER_LEN - 2
    } else {
        usize::from(second)
    };
    let (body, rest) = input.split_at_checked(len).ok_or(ParseError::Truncated)?;
    let (next, compressed) = next_header(inline, rest)?;
    let whole_len = (2 + len).next_multiple_of(8);
    let padding = whole_len - 2 - len;
    // Only padding of options can have been elided.
    if padding != 0 && !nhc::has_options(header) {
        return Err(ParseError::Length);
    }
    out.put([
        next.0,
        if is_fragment {
            second
        } else {
            (whole_len / 8 - 1) as u8
        },
    ])?;
    out.put_slice(body)?;
    // One byte is restored by the option Pad1, which is zero, more by PadN.
    let padding_option = [
        OptionType::PAD_N.0,
        (padding as u8).saturating_sub(2),
        0,
        0,
        0,
        0,
        0,
    ];
    out.put_slice(match padding {
        1 => &[OptionType::PAD1.0],
        _ => padding_option.get(..padding).unwrap_or(&[]),
    })?;
    Ok((compressed, rest, out))
}

/// Restores a UDP header without its length (RFC 6282 section 4.3.3).
#[inline(always)]
fn restore_udp(octet: u8, input: &mut &[u8], out: &mut Writer<'_>) -> Result<(), ParseError> {
    let (src, dst) = match octet & 0b11 {
        0b00 => {
            let &[a, b, c, d] = take(input)?;
            (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
        }
        0b01 => {
            let &[a, b, d] = take(input)?;
            (u16::from_be_bytes([a, b]), nhc::PORT_8 | u16::from(d))
        }
        0b10 => {
            let &[b, c, d] = take(input)?;
            (nhc::PORT_8 | u16::from(b), u16::from_be_bytes([c, d]))
        }
        _ => {
            let &[ports] = take(input)?;
            (
                nhc::PORT_4 | u16::from(ports >> 4),
                nhc::PORT_4 | u16::from(ports & 0x0f),
            )
        }
    };
    let checksum = if octet & nhc::UDP_CHECKSUM_ELIDED != 0 {
        [0; 2]
    } else {
        *take(input)?
    };
    let header = udp::Header {
        src_port: src,
        dst_port: dst,
        len: 0,
        checksum: u16::from_be_bytes(checksum),
    };
    out.put(header.emit())
}
