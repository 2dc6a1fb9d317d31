//! The header of UDP (RFC 768), over IPv6 (RFC 8200 section 8.1).

use super::ParseError;

#[cfg(test)]
mod tests;

/// Bytes of the header.
pub const HEADER_LEN: usize = 8;

/// The header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The source port, 0 if no reply is wanted.
    pub src_port: u16,
    /// The destination port.
    pub dst_port: u16,
    /// Bytes of this header and what follows it.
    pub len: u16,
    /// The checksum as it stands in the header (see [`Checksum`](super::checksum::Checksum)).
    pub checksum: u16,
}

impl Header {
    /// Reads the header. Whether its length is right says [`payload_len`](Self::payload_len).
    pub const fn parse(bytes: &[u8; HEADER_LEN]) -> Self {
        let [a, b, c, d, e, f, g, h] = *bytes;
        Self {
            src_port: u16::from_be_bytes([a, b]),
            dst_port: u16::from_be_bytes([c, d]),
            len: u16::from_be_bytes([e, f]),
            checksum: u16::from_be_bytes([g, h]),
        }
    }

    /// The bytes of the header.
    pub const fn emit(&self) -> [u8; HEADER_LEN] {
        let [a, b] = self.src_port.to_be_bytes();
        let [c, d] = self.dst_port.to_be_bytes();
        let [e, f] = self.len.to_be_bytes();
        let [g, h] = self.checksum.to_be_bytes();
        [a, b, c, d, e, f, g, h]
    }

    /// Bytes of payload, of the `available` bytes that came in from the beginning of this header on. More may have
    /// come in than the datagram is long; a length of 0 is one only for packets of more than 65,535 bytes (RFC 2675),
    /// which no link here carries.
    ///
    /// # Errors
    ///
    /// [`ParseError::Length`] if the length is smaller than the header or larger than what came in.
    pub fn payload_len(&self, available: usize) -> Result<usize, ParseError> {
        let len = usize::from(self.len);
        match len.checked_sub(HEADER_LEN) {
            Some(payload) if len <= available => Ok(payload),
            _ => Err(ParseError::Length),
        }
    }

    /// Whether there is a checksum, which IPv6 asks for (RFC 8200 section 8.1).
    pub const fn has_checksum(&self) -> bool {
        self.checksum != 0
    }
}
