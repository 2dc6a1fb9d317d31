//! The fragment header (RFC 8200 section 4.5).

use crate::wire::ipv6::NextHeader;

#[cfg(test)]
mod tests;

/// Bytes of the header.
pub const HEADER_LEN: usize = 8;

/// The header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the fragmentable part of the original packet begins with.
    pub next_header: NextHeader,
    /// Where in the fragmentable part this fragment lies, in units of 8 bytes, 13 bits.
    pub offset: u16,
    /// More fragments follow.
    pub more: bool,
    /// The same in all fragments of a packet.
    pub identification: u32,
}

impl Header {
    /// Reads the header. Reserved bits are ignored.
    pub const fn parse(bytes: &[u8; HEADER_LEN]) -> Self {
        let [next_header, _, high, low, a, b, c, d] = *bytes;
        let field = u16::from_be_bytes([high, low]);
        Self {
            next_header: NextHeader(next_header),
            offset: field >> 3,
            more: field & 1 != 0,
            identification: u32::from_be_bytes([a, b, c, d]),
        }
    }

    /// The bytes of the header. Of the offset the lower 13 bits count.
    pub const fn emit(&self) -> [u8; HEADER_LEN] {
        let [high, low] = (self.offset << 3 | self.more as u16).to_be_bytes();
        let [a, b, c, d] = self.identification.to_be_bytes();
        [self.next_header.0, 0, high, low, a, b, c, d]
    }

    /// Where in the fragmentable part this fragment lies, in bytes.
    pub const fn offset_bytes(&self) -> usize {
        self.offset as usize * 8
    }

    /// Whether this is the whole packet: a fragment that is both the first and the last (RFC 6946).
    pub const fn is_atomic(&self) -> bool {
        self.offset == 0 && !self.more
    }
}
