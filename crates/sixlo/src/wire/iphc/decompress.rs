//! Decompression.

use super::address::{self, Halves};
use super::{Contexts, Decompressed, Iids, Link, NEXT_HEADERS_MAX, Writer, nhc, take};
use crate::wire::ipv6::{self, NextHeader};
use crate::wire::ipv6_ext::options::OptionType;
use crate::wire::{ParseError, split, udp};

/// Restores the headers of an IPv6 packet from a frame between the addresses of `link`, and writes them to `out`.
///
/// `input` begins with LOWPAN_IPHC. `datagram_len` is the length in bytes of the whole packet that a fragment header states,
/// or `None` if `input` holds all of it. Lengths are filled in; a UDP checksum that was elided is zero and reported.
///
/// # Errors
///
/// [`ParseError::Truncated`] if `input` ends within the compressed headers. [`ParseError::Unknown`] if it is no LOWPAN_IPHC,
/// or names a context that is not set or a next header compression that is not known. [`ParseError::Reserved`] for
/// combinations that RFC 6282 reserves. [`ParseError::Forbidden`] if an interface identifier is derived from a link-layer
/// address that the frame does not have, a multicast address from a context of more than 64 bits, or if there are more
/// than [`NEXT_HEADERS_MAX`] next headers. [`ParseError::Length`] if an extension header does not fill units of 8 bytes, the
/// packet is longer than `datagram_len` says or IPv6 allows. [`ParseError::NoRoom`] if the headers do not fit `out`.
pub fn decompress(
    input: &[u8],
    link: &Link,
    contexts: &Contexts<'_>,
    datagram_len: Option<usize>,
    out: &mut [u8],
) -> Result<Decompressed, ParseError> {
    let mut chain = Chain {
        ipv6_at: 0,
        udp_at: None,
        checksum_elided: false,
    };
    let mut writer = Writer::new(out);
    let rest = chain.restore(input, Iids::of_link(link), contexts, &mut writer)?;
    let written = writer.written;
    let len_min = written + rest.len();
    let datagram_len = datagram_len.unwrap_or(len_min);
    if datagram_len < len_min {
        return Err(ParseError::Length);
    }
    chain.fill_in_lengths(datagram_len, out)?;
    let udp_checksum_elided = if chain.checksum_elided { chain.udp_at } else { None };
    Ok(Decompressed {
        consumed: input.len() - rest.len(),
        written,
        datagram_len,
        udp_checksum_elided,
    })
}

/// Where the headers lie whose lengths are known only at the end.
struct Chain {
    /// The innermost IPv6 header. Until the lengths are filled in, the payload length of each IPv6 header says where the one
    /// lies that encapsulates it.
    ipv6_at: usize,
    /// The UDP header.
    udp_at: Option<usize>,
    /// Its checksum was elided.
    checksum_elided: bool,
}

impl Chain {
    /// Restores all headers and gives what follows them.
    fn restore<'a>(
        &mut self,
        input: &'a [u8],
        mut iids: Iids,
        contexts: &Contexts<'_>,
        out: &mut Writer<'_>,
    ) -> Result<&'a [u8], ParseError> {
        let mut input = input;
        let mut is_compressed = base(&mut input, 0, &mut iids, contexts, out)?;
        let mut budget = NEXT_HEADERS_MAX;
        while is_compressed {
            budget = budget.checked_sub(1).ok_or(ParseError::Forbidden)?;
            let &[octet] = take(&mut input)?;
            is_compressed = match nhc::header(octet)? {
                NextHeader::UDP => {
                    self.udp_at = Some(out.written);
                    self.checksum_elided = octet & nhc::UDP_CHECKSUM_ELIDED != 0;
                    restore_udp(octet, &mut input, out)?;
                    false
                }
                NextHeader::IPV6 => {
                    let outer = self.ipv6_at as u16;
                    self.ipv6_at = out.written;
                    if u16::try_from(self.ipv6_at).is_err() {
                        return Err(ParseError::Length);
                    }
                    base(&mut input, outer, &mut iids, contexts, out)?
                }
                NextHeader::FRAGMENT => restore_fragment(octet, &mut input, out)?,
                header => restore_extension(octet, header, &mut input, out)?,
            };
        }
        Ok(input)
    }

    fn fill_in_lengths(&self, datagram_len: usize, out: &mut [u8]) -> Result<(), ParseError> {
        if let Some(at) = self.udp_at {
            set_len(out, at + 4, datagram_len - at)?;
        }
        let mut at = self.ipv6_at;
        loop {
            let outer = set_len(out, at + 4, datagram_len - at - ipv6::HEADER_LEN)?;
            if at == 0 {
                return Ok(());
            }
            at = usize::from(outer);
        }
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

/// Restores an IPv6 header with `len` for its payload length. Says whether the next header is compressed, and leaves in `iids`
/// the interface identifiers for a header that it encapsulates.
fn base(
    input: &mut &[u8],
    len: u16,
    iids: &mut Iids,
    contexts: &Contexts<'_>,
    out: &mut Writer<'_>,
) -> Result<bool, ParseError> {
    let &[first, second] = take(input)?;
    if first >> 5 != 0b011 {
        return Err(ParseError::Unknown);
    }
    // M, DAC and DAM that RFC 6282 section 3.1.1 reserves.
    if matches!(second & 0b1111, 0b0100 | 0b1101..=0b1111) {
        return Err(ParseError::Reserved);
    }
    let is_compressed = first & 0b100 != 0;
    let contexts_byte = if second & 0x80 != 0 {
        take::<1>(input)?[0]
    } else {
        0
    };
    let class_and_label = traffic_class_and_flow_label(first >> 3 & 0b11, input)?;
    let next_header = if is_compressed { 0 } else { take::<1>(input)?[0] };
    let hop_limit = match first & 0b11 {
        0b00 => take::<1>(input)?[0],
        0b01 => 1,
        0b10 => 64,
        _ => 255,
    };
    let src = address::source(second >> 4 & 0b111, contexts_byte >> 4, iids.src, contexts, input)?;
    let dst = address::destination(second & 0b1111, contexts_byte & 0x0f, iids.dst, contexts, input)?;
    let next_header = if is_compressed {
        peek(input)?.0
    } else {
        next_header
    };
    let [a, b, c, d] = (6 << 28 | class_and_label).to_be_bytes();
    let [len_high, len_low] = len.to_be_bytes();
    out.put_ipv6([a, b, c, d, len_high, len_low, next_header, hop_limit], src, dst)?;
    *iids = Iids {
        src: Some(src.low),
        dst: Some(dst.low),
    };
    Ok(is_compressed)
}

impl Writer<'_> {
    /// Writes an IPv6 header in one step.
    fn put_ipv6(&mut self, head: [u8; 8], src: Halves, dst: Halves) -> Result<(), ParseError> {
        let mut bytes = [0; ipv6::HEADER_LEN];
        let (out_head, out_addresses) = bytes.split_at_mut(8);
        let (out_src, out_dst) = out_addresses.split_at_mut(16);
        out_head.copy_from_slice(&head);
        out_src.copy_from_slice(&src.octets());
        out_dst.copy_from_slice(&dst.octets());
        self.put(bytes)
    }
}

/// The lower 28 bits of the first word of an IPv6 header (RFC 6282 section 3.2.1).
fn traffic_class_and_flow_label(tf: u8, input: &mut &[u8]) -> Result<u32, ParseError> {
    let (class, label) = match tf {
        0b00 => {
            let &[class, a, b, c] = take(input)?;
            (class, [0, a & 0x0f, b, c])
        }
        0b01 => {
            let &[a, b, c] = take(input)?;
            (a & 0b1100_0000, [0, a & 0x0f, b, c])
        }
        0b10 => (take::<1>(input)?[0], [0; 4]),
        _ => (0, [0; 4]),
    };
    Ok(u32::from(class.rotate_left(2)) << 20 | u32::from_be_bytes(label))
}

/// Which compressed header comes next.
fn peek(input: &[u8]) -> Result<NextHeader, ParseError> {
    let (&[octet], _) = split(input)?;
    nhc::header(octet)
}

/// Restores a fragment header, which has no length (RFC 6282 section 4.2). Says whether the next header is compressed.
fn restore_fragment(octet: u8, input: &mut &[u8], out: &mut Writer<'_>) -> Result<bool, ParseError> {
    let is_compressed = octet & nhc::NEXT != 0;
    let inline = if is_compressed {
        None
    } else {
        Some(take::<1>(input)?[0])
    };
    let &[reserved, a, b, c, d, e, f] = take(input)?;
    let next = inline.map_or_else(|| peek(input), |next| Ok(NextHeader(next)))?;
    out.put([next.0, reserved, a, b, c, d, e, f])?;
    Ok(is_compressed)
}

/// Restores an extension header with its length and padding (RFC 6282 section 4.2). Says whether the next header is
/// compressed.
fn restore_extension(
    octet: u8,
    header: NextHeader,
    input: &mut &[u8],
    out: &mut Writer<'_>,
) -> Result<bool, ParseError> {
    let is_compressed = octet & nhc::NEXT != 0;
    let inline = if is_compressed {
        None
    } else {
        Some(take::<1>(input)?[0])
    };
    let &[len] = take(input)?;
    let (body, rest) = input
        .split_at_checked(usize::from(len))
        .ok_or(ParseError::Truncated)?;
    *input = rest;
    let next = inline.map_or_else(|| peek(input), |next| Ok(NextHeader(next)))?;
    let whole_len = (2 + body.len()).next_multiple_of(8);
    let padding = whole_len - 2 - body.len();
    // Only padding of options can have been elided.
    if padding != 0 && !nhc::has_options(header) {
        return Err(ParseError::Length);
    }
    out.put([next.0, (whole_len / 8 - 1) as u8])?;
    out.put_slice(body)?;
    match padding {
        0 => {}
        1 => out.put([OptionType::PAD1.0])?,
        _ => {
            out.put([OptionType::PAD_N.0, padding as u8 - 2])?;
            out.put_slice([0; 5].get(..padding - 2).unwrap_or(&[]))?;
        }
    }
    Ok(is_compressed)
}

/// Restores a UDP header without its length (RFC 6282 section 4.3.3).
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
