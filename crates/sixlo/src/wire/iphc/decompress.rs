//! Decompression.

use super::{Contexts, Decompressed, Iids, Link, NEXT_HEADERS_MAX, Reader, Writer, address, iids_of, nhc};
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
    let mut expander = Expander {
        input: Reader::new(input),
        out: Writer::new(out),
        contexts: *contexts,
        iids: iids_of(link),
        ipv6_at: 0,
        udp_at: 0,
    };
    let restored = expander.headers();
    let Expander {
        input: reader,
        out: writer,
        ipv6_at,
        udp_at,
        ..
    } = expander;
    // Behind the end of the input all bytes read as zero, so another error may come of it.
    let rest = reader.rest().ok_or(ParseError::Truncated)?;
    let checksum_elided = restored?;
    let written = writer.written();
    if writer.is_over() {
        return Err(ParseError::NoRoom);
    }
    let len_min = written + rest.len();
    let datagram_len = datagram_len.unwrap_or(len_min);
    // The first header is the one with most behind it.
    if datagram_len < len_min || datagram_len > ipv6::HEADER_LEN + usize::from(u16::MAX) {
        return Err(ParseError::Length);
    }
    let (mut at, mut header_len) = match udp_at {
        0 => (ipv6_at, ipv6::HEADER_LEN),
        // The length of UDP counts its own header, too.
        _ => (udp_at, 0),
    };
    // From the last header with a length outwards. In both, the length follows 4 bytes.
    loop {
        let place = out.get_mut(at + 4..).and_then(<[u8]>::first_chunk_mut);
        let place = place.ok_or(ParseError::NoRoom)?;
        let len = (datagram_len - at - header_len) as u16;
        let outer = u16::from_be_bytes(core::mem::replace(place, len.to_be_bytes()));
        if at == 0 {
            break;
        }
        (at, header_len) = (outer.into(), ipv6::HEADER_LEN);
    }
    Ok(Decompressed {
        consumed: input.len() - rest.len(),
        written,
        datagram_len,
        udp_checksum_elided: checksum_elided.then_some(udp_at),
    })
}

/// What a decompression has to do with.
struct Expander<'a, 'b> {
    input: Reader<'a>,
    out: Writer<'b>,
    contexts: Contexts<'a>,
    iids: Iids,
    /// Where the innermost IPv6 header lies. Until the lengths are filled in, each header that has one says there where
    /// the one lies that encapsulates it.
    ipv6_at: usize,
    /// Where the UDP header lies; 0 if there is none.
    udp_at: usize,
}

impl Expander<'_, '_> {
    /// Restores all headers, with their lengths left out. True if there is a UDP checksum that was elided.
    fn headers(&mut self) -> Result<bool, ParseError> {
        let mut header = NextHeader::IPV6;
        // Each turn restores a header: the first of IPv6, then those behind it.
        for turn in 0..=NEXT_HEADERS_MAX {
            let octet = if turn > 0 { self.input.number(1) } else { 0 };
            let at = self.out.written();
            let (is_last, named_at) = match header {
                NextHeader::UDP => {
                    self.udp_at = at;
                    self.udp(octet);
                    return Ok(octet & u32::from(nhc::UDP_CHECKSUM_ELIDED) != 0);
                }
                NextHeader::IPV6 => {
                    let is_last = self.ipv6()?;
                    self.ipv6_at = at;
                    (is_last, at + 6)
                }
                _ => (self.extension(octet, header)?, at),
            };
            if is_last {
                return Ok(false);
            }
            // The next header comes next in its compressed form.
            header = nhc::header(self.input.peek().ok_or(ParseError::Truncated)?)?;
            if let Some(place) = self.out.bytes.get_mut(named_at) {
                *place = header.0;
            }
        }
        Err(ParseError::Forbidden)
    }

    /// Restores an IPv6 header. True if its next header was carried in line; else that is left out.
    #[cfg_attr(target_os = "none", inline(never))]
    fn ipv6(&mut self) -> Result<bool, ParseError> {
        let word = self.input.number(2);
        if word >> 13 != 0b011 {
            return Err(ParseError::Version);
        }
        // M, DAC and DAM that RFC 6282 section 3.1.1 reserves.
        if matches!(word & 0b1111, 0b0100 | 0b1101..=0b1111) {
            return Err(ParseError::Reserved);
        }
        let cid = word >> 7 & 1 != 0;
        let numbers = if cid { self.input.number(1) } else { 0 };
        let traffic = self.traffic(word >> 11 & 0b11);
        let is_last = word >> 10 & 1 == 0;
        let next_header = if is_last { self.input.number(1) } else { 0 };
        let hop_limit = match word >> 8 & 0b11 {
            0b00 => self.input.number(1),
            // 1, 64 or 255.
            hlim => 0xff40_0100 >> (8 * hlim) & 0xff,
        };
        self.out.put(4, 6 << 28 | traffic);
        self.out
            .put(4, (self.ipv6_at as u32) << 16 | next_header << 8 | hop_limit);
        self.address(word >> 4 & 0b111, numbers >> 4, 0)?;
        self.address(word & 0b1111, numbers & 0b1111, 1)?;
        Ok(is_last)
    }

    /// Restores an address: `bits` are SAC and SAM, or M, DAC and DAM, `number` is that of the context, if one is needed,
    /// and `place` that of the interface identifier, which the address leaves its own.
    #[cfg_attr(target_os = "none", inline(never))]
    fn address(&mut self, bits: u32, number: u32, place: usize) -> Result<(), ParseError> {
        let Some(iid) = self.iids.get_mut(place) else {
            return Ok(());
        };
        let mut address = [0; 16];
        address::restore(bits, number, iid, &self.contexts, &mut self.input, &mut address)?;
        *iid = address.last_chunk().copied();
        self.out.put_slice(&address);
        Ok(())
    }

    /// Restores an extension header with its length and padding (RFC 6282 section 4.2). True if its next header was
    /// carried in line; else that is left out.
    #[cfg_attr(target_os = "none", inline(never))]
    fn extension(&mut self, octet: u32, header: NextHeader) -> Result<bool, ParseError> {
        let is_last = octet & u32::from(nhc::NEXT) == 0;
        let next_header = if is_last { self.input.number(1) } else { 0 };
        let mut second = self.input.number(1);
        // The fragment header has no length: what stands in that place is carried.
        let is_fragment = header == NextHeader::FRAGMENT;
        let len = if is_fragment {
            fragment::HEADER_LEN - 2
        } else {
            second as usize
        };
        let body = self.input.take(len).ok_or(ParseError::Truncated)?;
        let padding = (2 + len).wrapping_neg() % 8;
        // Only padding of options can have been elided.
        if padding != 0 && !nhc::has_options(header) {
            return Err(ParseError::Length);
        }
        if !is_fragment {
            second = ((len + padding) / 8) as u32;
        }
        self.out.put(1, next_header);
        self.out.put(1, second);
        self.out.put_slice(body);
        // One byte is restored by the option Pad1, which is zero, more by PadN, which has a type, a length and zeros.
        let pad_n = [
            OptionType::PAD_N.0,
            (padding as u8).wrapping_sub(2),
            0,
            0,
            0,
            0,
            0,
        ];
        let pad = if padding == 1 { &[0] } else { &pad_n[..padding] };
        self.out.put_slice(pad);
        Ok(is_last)
    }

    /// Restores a UDP header (RFC 6282 section 4.3.3).
    fn udp(&mut self, octet: u32) {
        let (src, dst);
        if octet & 0b11 == 0b11 {
            let both = self.input.number(1);
            (src, dst) = (nhc::PORT_4 | both >> 4, nhc::PORT_4 | both & 0x0f);
        } else {
            let mut port = |is_8: u32| self.input.number(2 - is_8 as usize) | (nhc::PORT_8 * is_8);
            (src, dst) = (port(octet >> 1 & 1), port(octet & 1));
        }
        let is_elided = octet & u32::from(nhc::UDP_CHECKSUM_ELIDED) != 0;
        let checksum = if is_elided { 0 } else { self.input.number(2) };
        self.out.put(4, src << 16 | dst);
        self.out.put(4, (self.ipv6_at as u32) << 16 | checksum);
    }
    /// The lower 28 bits of the first word of an IPv6 header: ECN comes first where they are compressed, and is followed
    /// by the label in the form without DSCP (RFC 6282 section 3.2.1).
    fn traffic(&mut self, tf: u32) -> u32 {
        let (class, label) = match tf {
            0b11 => return 0,
            0b10 => (self.input.number(1), 0),
            0b01 => {
                let word = self.input.number(3);
                (word >> 16 & 0b1100_0000, word & 0xf_ffff)
            }
            _ => {
                let word = self.input.number(4);
                (word >> 24, word & 0xf_ffff)
            }
        };
        u32::from((class as u8).rotate_left(2)) << 20 | label
    }
}
