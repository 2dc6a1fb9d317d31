//! Decompression.

use super::{Contexts, Decompressed, Iids, Link, NEXT_HEADERS_MAX, Reader, Writer, address, nhc};
use crate::wire::ParseError;
use crate::wire::ipv6::{self, NextHeader};
use crate::wire::ipv6_ext::fragment;
use crate::wire::ipv6_ext::options::OptionType;

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
    let (mut reader, mut writer) = (Reader::new(input), Writer::new(out));
    let restored = restore(&mut reader, link, contexts, &mut writer);
    // Behind the end of the input all bytes read as zero, so another error may come of it.
    let Some(rest) = reader.rest() else {
        return Err(ParseError::Truncated);
    };
    let Places {
        ipv6: mut ipv6_at,
        udp: udp_at,
        udp_checksum_elided,
    } = restored?;
    let written = writer.written();
    let len_min = written + rest.len();
    let datagram_len = datagram_len.unwrap_or(len_min);
    if datagram_len < len_min {
        return Err(ParseError::Length);
    }
    if let Some(at) = udp_at {
        set_len(out, at, datagram_len - at)?;
    }
    // From the innermost IPv6 header outwards.
    loop {
        let outer = set_len(out, ipv6_at, datagram_len - ipv6_at - ipv6::HEADER_LEN)?;
        if ipv6_at == 0 {
            break;
        }
        ipv6_at = usize::from(outer);
    }
    Ok(Decompressed {
        consumed: input.len() - rest.len(),
        written,
        datagram_len,
        udp_checksum_elided: udp_at.filter(|_| udp_checksum_elided),
    })
}

/// Where headers lie whose lengths are filled in at the end.
struct Places {
    /// The innermost IPv6 header. The payload length of each says where the one lies that encapsulates it.
    ipv6: usize,
    udp: Option<usize>,
    udp_checksum_elided: bool,
}

/// Restores all headers, with their lengths left out.
fn restore(
    input: &mut Reader<'_>,
    link: &Link,
    contexts: &Contexts<'_>,
    out: &mut Writer<'_>,
) -> Result<Places, ParseError> {
    let mut iids = Iids::of_link(link);
    let mut budget = NEXT_HEADERS_MAX;
    let mut places = Places {
        ipv6: 0,
        udp: None,
        udp_checksum_elided: false,
    };
    let mut next = base(input, 0, &mut iids, contexts, out)?;
    // Each turn restores a compressed header.
    while let Some(header) = next {
        budget = budget.checked_sub(1).ok_or(ParseError::Forbidden)?;
        let octet = input.byte();
        let at = out.written();
        next = match header {
            NextHeader::UDP => {
                places.udp = Some(at);
                places.udp_checksum_elided = octet & nhc::UDP_CHECKSUM_ELIDED != 0;
                restore_udp(octet, input, out);
                None
            }
            NextHeader::IPV6 => {
                let outer_at = u16::try_from(places.ipv6).map_err(|_| ParseError::Length)?;
                places.ipv6 = at;
                base(input, outer_at, &mut iids, contexts, out)?
            }
            _ => restore_extension(octet, header, input, out)?,
        };
    }
    if out.is_over() {
        return Err(ParseError::NoRoom);
    }
    Ok(places)
}

/// Writes the length of the IPv6 or UDP header at `at` and gives what stood there. In both it follows 4 bytes.
fn set_len(out: &mut [u8], at: usize, len: usize) -> Result<u16, ParseError> {
    let len = u16::try_from(len).map_err(|_| ParseError::Length)?;
    let place = out.get_mut(at + 4..).and_then(<[u8]>::first_chunk_mut);
    let place = place.ok_or(ParseError::NoRoom)?;
    Ok(u16::from_be_bytes(core::mem::replace(place, len.to_be_bytes())))
}

/// Restores an IPv6 header with `len` for its payload length. Gives the next header if that is compressed, and leaves
/// in `iids` the interface identifiers for a header that it encapsulates.
#[inline(never)]
fn base(
    input: &mut Reader<'_>,
    len: u16,
    iids: &mut Iids,
    contexts: &Contexts<'_>,
    out: &mut Writer<'_>,
) -> Result<Option<NextHeader>, ParseError> {
    let (first, second) = (input.byte(), input.byte());
    if first >> 5 != 0b011 {
        return Err(ParseError::Version);
    }
    // M, DAC and DAM that RFC 6282 section 3.1.1 reserves.
    if matches!(second & 0b1111, 0b0100 | 0b1101..=0b1111) {
        return Err(ParseError::Reserved);
    }
    let numbers = if second & 0x80 != 0 { input.byte() } else { 0 };
    let class_and_label = traffic(first >> 3 & 0b11, input);
    let inline = (first & 0b100 == 0).then(|| input.byte());
    let hop_limit = match first & 0b11 {
        0b00 => input.byte(),
        0b01 => 1,
        0b10 => 64,
        _ => 255,
    };
    let place: &mut [u8; ipv6::HEADER_LEN] = out.place().ok_or(ParseError::NoRoom)?;
    let (head, addresses) = place.split_first_chunk_mut().ok_or(ParseError::NoRoom)?;
    let (src, addresses) = addresses.split_first_chunk_mut().ok_or(ParseError::NoRoom)?;
    let dst = addresses.first_chunk_mut().ok_or(ParseError::NoRoom)?;
    address::restore(second >> 4 & 0b111, numbers >> 4, iids.src, contexts, input, src)?;
    address::restore(second & 0b1111, numbers & 0b1111, iids.dst, contexts, input, dst)?;
    let (next_header, compressed) = next_header(inline, input)?;
    let [a, b, c, d] = (6 << 28 | class_and_label).to_be_bytes();
    let [len_high, len_low] = len.to_be_bytes();
    *head = [a, b, c, d, len_high, len_low, next_header.0, hop_limit];
    *iids = Iids {
        src: src.last_chunk().copied(),
        dst: dst.last_chunk().copied(),
    };
    Ok(compressed)
}

/// The next header: what was carried in line, or the one that comes next in its compressed form, which is given a
/// second time.
fn next_header(
    inline: Option<u8>,
    input: &Reader<'_>,
) -> Result<(NextHeader, Option<NextHeader>), ParseError> {
    if let Some(next) = inline {
        return Ok((NextHeader(next), None));
    }
    let octet = input.peek().ok_or(ParseError::Truncated)?;
    let next = nhc::header(octet)?;
    Ok((next, Some(next)))
}

/// The lower 28 bits of the first word of an IPv6 header: ECN comes first where they are compressed, and is followed by
/// the label in the form without DSCP (RFC 6282 section 3.2.1).
fn traffic(tf: u8, input: &mut Reader<'_>) -> u32 {
    let (mut class, mut label) = (0, 0);
    if tf != 0b11 {
        class = input.byte();
    }
    if tf & 0b10 == 0 {
        label = class;
        if tf == 0 {
            label = input.byte();
        } else {
            class &= 0b1100_0000;
        }
    }
    let mut word = u32::from(label);
    if tf & 0b10 == 0 {
        word = word << 16 | u32::from(input.byte()) << 8 | u32::from(input.byte());
    }
    u32::from(class.rotate_left(2)) << 20 | word & 0xf_ffff
}

/// Restores an extension header with its length and padding (RFC 6282 section 4.2). Gives the header that follows, if
/// that is compressed.
#[inline(never)]
fn restore_extension(
    octet: u8,
    header: NextHeader,
    input: &mut Reader<'_>,
    out: &mut Writer<'_>,
) -> Result<Option<NextHeader>, ParseError> {
    let inline = (octet & nhc::NEXT == 0).then(|| input.byte());
    let mut second = input.byte();
    // The fragment header has no length: what stands in that place is carried.
    let is_fragment = header == NextHeader::FRAGMENT;
    let len = if is_fragment {
        fragment::HEADER_LEN - 2
    } else {
        usize::from(second)
    };
    let body = input.take(len).ok_or(ParseError::Truncated)?;
    let (next, compressed) = next_header(inline, input)?;
    let padding = (2 + len).wrapping_neg() % 8;
    // Only padding of options can have been elided.
    if padding != 0 && !nhc::has_options(header) {
        return Err(ParseError::Length);
    }
    if !is_fragment {
        second = ((len + padding) / 8) as u8;
    }
    out.put(next.0);
    out.put(second);
    out.put_slice(body);
    // One byte is restored by the option Pad1, which is zero, more by PadN.
    let mut rest = padding;
    if padding > 1 {
        out.put(OptionType::PAD_N.0);
        out.put(padding as u8 - 2);
        rest -= 2;
    }
    for _ in 0..rest {
        out.put(0);
    }
    Ok(compressed)
}

/// Restores a UDP header without its length (RFC 6282 section 4.3.3).
fn restore_udp(octet: u8, input: &mut Reader<'_>, out: &mut Writer<'_>) {
    let [high_8, _] = nhc::PORT_8.to_be_bytes();
    let [_, low_4] = nhc::PORT_4.to_be_bytes();
    if octet & 0b11 == 0b11 {
        let ports = input.byte();
        for port in [ports >> 4, ports & 0x0f] {
            out.put(high_8);
            out.put(low_4 | port);
        }
    } else {
        for is_8 in [octet & 0b10, octet & 0b01] {
            out.put(if is_8 == 0 { input.byte() } else { high_8 });
            out.put(input.byte());
        }
    }
    out.put(0);
    out.put(0);
    for _ in 0..2 {
        let elided = octet & nhc::UDP_CHECKSUM_ELIDED != 0;
        out.put(if elided { 0 } else { input.byte() });
    }
}
