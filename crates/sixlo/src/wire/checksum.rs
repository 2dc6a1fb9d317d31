//! The Internet checksum (RFC 1071) and the pseudo-header that IPv6 puts in front of it (RFC 8200 section 8.1).

use core::net::Ipv6Addr;

use super::ipv6::NextHeader;

#[cfg(test)]
mod tests;

/// A sum of 16-bit words in ones' complement, fed piece by piece.
///
/// The pieces are one stream of bytes: they may have odd lengths, and a word may lie over the border of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    /// The sum so far, folded.
    sum: u16,
    /// An odd number of bytes went in: the next byte is the low one of its word.
    odd: bool,
}

impl Checksum {
    /// The sum of nothing.
    pub const fn new() -> Self {
        Self { sum: 0, odd: false }
    }

    /// The sum over the pseudo-header of an upper-layer packet of `len` bytes (RFC 8200 section 8.1). `dst` is the
    /// final destination, also where a routing header still names others.
    pub fn pseudo_header(src: &Ipv6Addr, dst: &Ipv6Addr, next_header: NextHeader, len: u32) -> Self {
        let [a, b, c, d] = len.to_be_bytes();
        let mut sum = Self::new();
        sum.add(&src.octets());
        sum.add(&dst.octets());
        sum.add(&[a, b, c, d, 0, 0, 0, next_header.0]);
        sum
    }

    /// Adds the next bytes of the stream.
    pub fn add(&mut self, bytes: &[u8]) {
        let piece = sum(bytes);
        // A word that begins at an odd offset has its bytes exchanged, and so has the sum of such words (RFC 1071
        // section 2 (B)).
        let piece = if self.odd { piece.swap_bytes() } else { piece };
        let (sum, carry) = self.sum.overflowing_add(piece);
        self.sum = sum + u16::from(carry);
        self.odd ^= bytes.len() % 2 == 1;
    }

    /// The value of the checksum field, if the field went in as zero.
    pub const fn finish(self) -> u16 {
        !self.sum
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
        self.sum == 0xffff
    }
}

/// The folded sum of `bytes`, a missing last byte taken as zero.
fn sum(bytes: &[u8]) -> u16 {
    // Adds words of 32 bits in the byte order of the machine and puts it right at the end (RFC 1071 section 2 (B)).
    // The 64 bits cannot overflow: that takes 16 GiB.
    let word = |chunk: [u8; 4]| u64::from(u32::from_ne_bytes(chunk));
    let mut sum = 0_u64;
    let (chunks, rest) = bytes.as_chunks::<16>();
    for &[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] in chunks {
        sum += word([a, b, c, d]) + word([e, f, g, h]) + word([i, j, k, l]) + word([m, n, o, p]);
    }
    let (chunks, rest) = rest.as_chunks::<4>();
    for &chunk in chunks {
        sum += word(chunk);
    }
    sum += match *rest {
        [a] => word([a, 0, 0, 0]),
        [a, b] => word([a, b, 0, 0]),
        [a, b, c] => word([a, b, c, 0]),
        _ => 0,
    };
    // Each fold halves the width and leaves at most one carry.
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 32) as u32 + (sum as u32 >> 16) + (sum as u32 & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    u16::from_be(((sum >> 16) + sum) as u16)
}
