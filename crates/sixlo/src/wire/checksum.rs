//! The Internet checksum (RFC 1071) and the pseudo-header that IPv6 puts in front of it (RFC 8200 section 8.1).

use core::net::Ipv6Addr;

use super::ipv6::NextHeader;

#[cfg(test)]
mod tests;

/// A sum of 16-bit words in ones' complement, fed piece by piece.
///
/// The pieces are one stream of bytes: they may have odd lengths, and a word may lie over the border of two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum {
    /// The sum so far, of words of 64 bits in the byte order of the machine, which is put right and folded at the end
    /// (RFC 1071 section 2 (B)).
    sum: u64,
    /// An odd number of bytes went in: the next byte is the low one of its word.
    odd: bool,
}

impl Checksum {
    /// The sum of nothing.
    pub const fn new() -> Self {
        Self { sum: 0, odd: false }
    }

    /// The sum over the pseudo-header of an upper-layer packet of `len` bytes (RFC 8200 section 8.1). `dst` is the final
    /// destination, also where a routing header still names others.
    #[inline]
    pub const fn pseudo_header(src: &Ipv6Addr, dst: &Ipv6Addr, next_header: NextHeader, len: u32) -> Self {
        let addresses = plus(words(&src.octets()), words(&dst.octets()));
        Self {
            sum: plus(addresses, Self::behind_addresses(next_header, len)),
            odd: false,
        }
    }

    /// The same with the addresses as they stand in the IPv6 header, the source first.
    #[inline]
    pub fn pseudo_header_of(addresses: &[u8; 32], next_header: NextHeader, len: u32) -> Self {
        let mut checksum = Self {
            sum: Self::behind_addresses(next_header, len),
            odd: false,
        };
        checksum.add(addresses);
        checksum
    }

    /// The sum of what follows the addresses in a pseudo-header.
    const fn behind_addresses(next_header: NextHeader, len: u32) -> u64 {
        len.to_be() as u64 + (next_header.0 as u32).to_be() as u64
    }

    /// Adds a word to the stream, which must be of an even number of bytes so far.
    #[inline]
    pub const fn add_word(&mut self, word: u16) {
        debug_assert!(!self.odd, "a word in the middle of one");
        self.sum = plus(self.sum, word.to_be() as u64);
    }

    /// Adds the next bytes of the stream.
    pub fn add(&mut self, bytes: &[u8]) {
        let mut piece = sum(bytes);
        if self.odd {
            // A word that begins at an odd offset has its bytes exchanged, and so has the sum of such words (RFC 1071
            // section 2 (B)).
            piece = u64::from(fold(piece).swap_bytes());
        }
        self.sum = plus(self.sum, piece);
        self.odd ^= bytes.len() % 2 == 1;
    }

    /// The value of the checksum field, if the field went in as zero.
    pub const fn finish(self) -> u16 {
        !u16::from_be(fold(self.sum))
    }

    /// As [`finish`](Self::finish) for UDP, where zero would mean that there is no checksum and all ones goes out
    /// instead (RFC 8200 section 8.1).
    pub const fn finish_udp(self) -> u16 {
        match self.finish() {
            0 => 0xffff,
            checksum => checksum,
        }
    }

    /// Whether everything that went in, checksum field included, is intact.
    pub const fn is_valid(self) -> bool {
        fold(self.sum) == 0xffff
    }
}

/// Adds in ones' complement.
const fn plus(sum: u64, word: u64) -> u64 {
    let (sum, carry) = sum.overflowing_add(word);
    // With a carry the sum is not all ones, so this one cannot overflow.
    sum + carry as u64
}

/// The sum of two words.
const fn words(bytes: &[u8; 16]) -> u64 {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *bytes;
    let first = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
    plus(first, u64::from_ne_bytes([i, j, k, l, m, n, o, p]))
}

/// The sum of the words of `bytes`, the missing bytes of the last one taken as zero.
fn sum(bytes: &[u8]) -> u64 {
    let mut sum = 0;
    let (chunks, rest) = bytes.as_chunks::<32>();
    for chunk in chunks {
        let (pairs, _) = chunk.as_chunks::<16>();
        for pair in pairs {
            sum = plus(sum, words(pair));
        }
    }
    let (chunks, rest) = rest.as_chunks::<8>();
    for &chunk in chunks {
        sum = plus(sum, u64::from_ne_bytes(chunk));
    }
    let (chunks, rest) = rest.as_chunks::<4>();
    let mut last = 0;
    for &chunk in chunks {
        last = u64::from(u32::from_ne_bytes(chunk));
    }
    last += match *rest {
        [a] => u64::from(u16::from_ne_bytes([a, 0])),
        [a, b] => u64::from(u16::from_ne_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_ne_bytes([a, b, c, 0])),
        _ => 0,
    };
    plus(sum, last)
}

/// A sum folded to 16 bits, in the byte order of the machine. Each fold leaves at most one carry.
const fn fold(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 32) as u32 + (sum as u32 >> 16) + (sum as u32 & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    ((sum >> 16) + sum) as u16
}
