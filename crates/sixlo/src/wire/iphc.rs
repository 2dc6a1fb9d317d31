//! Header compression of 6LoWPAN: LOWPAN_IPHC for the IPv6 header, LOWPAN_NHC for the headers behind it (RFC 6282).
//!
//! [`decompress`] reads every form that the RFC defines. [`compress`] writes the shortest one:
//!
//! - Traffic class and flow label: the shortest of the four forms that holds what is not zero.
//! - Hop limit: elided if it is 1, 64 or 255.
//! - Unicast addresses: elided if the link-layer address gives the interface identifier, else 16 bits if the
//!   identifier has the form `0000:00ff:fe00:XXXX`, else 64 bits, each without a context for `fe80::/64` and else
//!   with the context that covers the address; whole if none does. Of two contexts that serve equally well the lower
//!   number is taken, so that context 0 spares the octet that names others. An unspecified source has its own form of
//!   no bytes.
//! - Multicast addresses: 8, 32, 48 bits or whole without a context; 48 bits with one if the address is made of the
//!   prefix of that context (RFC 3306) and none of the shorter forms fits.
//! - Next headers: hop-by-hop options, routing, fragment, destination options, mobility, IPv6 in IPv6 and UDP, as
//!   long as each lies whole in what is given and its length is the one that a decompressor infers. The first that
//!   does not is carried as it is, and so is everything behind it. Padding at the end of options is elided if the
//!   decompressor restores it to the bit.
//! - UDP ports: 4 bits each if both begin with `f0b`, else 8 bits for one that begins with `f0`, the source before the
//!   destination. The checksum stays, unless [`compress_without_udp_checksum`] is called.
//!
//! So decompression gives back the very bytes that were compressed, whatever they are.

use super::addr::LinkAddr;
use super::{ParseError, copy};

mod address;
mod compress;
mod decompress;
mod nhc;

#[cfg(test)]
mod tests;

pub use compress::{compress, compress_without_udp_checksum};
pub use decompress::decompress;

/// How many contexts there can be (RFC 6282 section 3.1.2).
pub const CONTEXTS_MAX: usize = 16;

/// How many next headers are compressed or decompressed in a row at most: a bound on the work that a frame can cause.
pub const NEXT_HEADERS_MAX: usize = 40;

/// A context: a prefix that all nodes of the network know by its number (RFC 6282 section 3.1.2).
///
/// The empty value is all-zero bits and means that the context is not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The prefix, from its first bit on. Bits beyond its length have no meaning.
    pub prefix: [u8; 16],
    /// Bits of the prefix that count, 1 to 128 (more are taken as 128); 0 if the context is not set.
    pub prefix_len: u8,
    /// The context may be used to compress, not only to decompress (the C flag of RFC 6775 section 4.2).
    pub valid_for_compression: bool,
}

impl Context {
    /// No context: all-zero bits.
    pub const EMPTY: Self = Self {
        prefix: [0; 16],
        prefix_len: 0,
        valid_for_compression: false,
    };

    /// The context with the first `prefix_len` bits of `prefix`, valid for compression.
    pub const fn new(prefix: [u8; 16], prefix_len: u8) -> Self {
        Self {
            prefix,
            prefix_len,
            valid_for_compression: true,
        }
    }

    /// Whether there is a prefix.
    pub const fn is_set(&self) -> bool {
        self.prefix_len != 0
    }
}

/// The contexts of a link by their numbers. Those beyond the slice are not set; beyond 16 they have no number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contexts<'a>(pub &'a [Context]);

impl<'a> Contexts<'a> {
    /// The context with this number.
    ///
    /// # Errors
    ///
    /// [`ParseError::Unknown`] if it is not set.
    #[inline]
    pub fn get(&self, number: u8) -> Result<&'a Context, ParseError> {
        self.0
            .get(usize::from(number))
            .filter(|context| context.is_set())
            .ok_or(ParseError::Unknown)
    }

    /// Those that have a number.
    fn numbered(&self) -> &'a [Context] {
        self.0.get(..CONTEXTS_MAX).unwrap_or(self.0)
    }
}

/// The link-layer addresses of the frame, from which elided interface identifiers are derived (RFC 6282 section
/// 3.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The source of the frame.
    pub src: LinkAddr,
    /// The destination of the frame.
    pub dst: LinkAddr,
}

/// What [`compress`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Bytes of compressed headers in `out`.
    pub written: usize,
    /// Bytes of `head` that they stand for. What follows these is carried as it is.
    pub consumed: usize,
}

/// What [`decompress`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decompressed {
    /// Bytes of compressed headers in `input`. What follows these is carried as it is.
    pub consumed: usize,
    /// Bytes of headers in `out`.
    pub written: usize,
    /// Bytes of the whole IPv6 packet, the part that later fragments carry included.
    pub datagram_len: usize,
    /// Where in `out` the UDP header lies whose checksum was elided, and is zero now. Unless a link-layer integrity
    /// check was in place and the receiver can tell that the source was authorised to elide it, the packet must be
    /// dropped (RFC 6282 section 4.3.2).
    pub udp_checksum_elided: Option<usize>,
}

/// An interface identifier, if it is known.
type Iid = Option<[u8; 8]>;

/// The interface identifiers of source and destination that the encapsulating header gives: link-layer addresses (RFC
/// 6282 section 3.2.2), or the addresses of an outer IPv6 header.
type Iids = [Iid; 2];

fn iids_of(link: &Link) -> Iids {
    [link.src.interface_id(), link.dst.interface_id()]
}

/// Bytes of traffic class and flow label that are carried in line, by TF (RFC 6282 section 3.1.1).
const fn traffic_len(tf: u32) -> usize {
    (0x0134_u32 >> (4 * tf) & 0xf) as usize
}

/// Bytes that are read from their beginning on. Behind their end there are zeros; that they were read is noticed at the
/// end, once, in [`rest`](Self::rest).
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Reads the next bytes into a place.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn read(&mut self, place: &mut [u8]) {
        let end = self.at + place.len();
        copy(place, self.bytes.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    /// The next `len` bytes, 4 at most, as a number.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn number(&mut self, len: usize) -> u32 {
        let mut number = 0;
        for _ in 0..len {
            number = number << 8 | u32::from(self.peek().unwrap_or(0));
            self.at += 1;
        }
        number
    }

    /// The next byte, to be read again.
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next `len` bytes.
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at + len);
        self.at += len;
        taken
    }

    /// What was not read; none if more was read than there is.
    fn rest(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.at..)
    }
}

/// A buffer that is written from its beginning on. What goes beyond its end is only counted; it is noticed at the end,
/// once, in [`is_over`](Self::is_over).
struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    const fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes written.
    const fn written(&self) -> usize {
        self.at
    }

    /// Whether more was written than there is room for.
    const fn is_over(&self) -> bool {
        self.at > self.bytes.len()
    }

    /// Writes the last `len` bytes of a number, 4 at most.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn put(&mut self, len: usize, number: u32) {
        let bytes = number.to_be_bytes();
        self.put_slice(bytes.get(bytes.len().wrapping_sub(len)..).unwrap_or_default());
    }

    /// Writes bytes.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn put_slice(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if let Some(place) = self.bytes.get_mut(self.at..end) {
            copy(place, bytes);
        }
        self.at = end;
    }
}
