//! Fragment headers of RFC 4944 section 5.3.

use crate::wire::{ParseError, put, split};

/// The largest datagram that is fragmented, in bytes: the MTU of IPv6 over IEEE 802.15.4 (RFC 4944 section 4).
pub const DATAGRAM_SIZE_MAX: u16 = 1280;

/// The smallest datagram, in bytes: a header of IPv6 with nothing behind it.
const DATAGRAM_SIZE_MIN: u16 = 40;

/// The largest size that the field holds, in bytes.
const SIZE_FIELD_MAX: u16 = 0x7ff;

/// A fragment header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// Bytes of the whole datagram, uncompressed: at most 2047 in this field, and [`DATAGRAM_SIZE_MAX`] for
    /// [`check`](Self::check).
    pub datagram_size: u16,
    /// The datagram's tag, the same in all its fragments.
    pub datagram_tag: u16,
    /// Where the fragment begins in the uncompressed datagram, in units of 8 bytes. 0 in the first fragment, and in no
    /// other.
    pub datagram_offset: u8,
}

impl Fragment {
    /// Bytes of a first fragment's header.
    pub const FIRST_LEN: usize = 4;
    /// Bytes of a subsequent fragment's header.
    pub const SUBSEQUENT_LEN: usize = 5;

    /// Whether this is the first fragment of its datagram.
    pub const fn is_first(&self) -> bool {
        self.datagram_offset == 0
    }

    /// Where the fragment begins in the uncompressed datagram, in bytes.
    pub const fn start(&self) -> usize {
        self.datagram_offset as usize * 8
    }

    /// Whether `bytes` begin with the dispatch of a fragment other than the first.
    #[inline]
    pub const fn is_subsequent(bytes: &[u8]) -> bool {
        matches!(bytes, [0b1110_0000..=0b1110_0111, ..])
    }

    /// Reads the header at the front of `bytes`, and gives what the fragment carries.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if the header is cut off, [`ParseError::Unknown`] if it is none of a fragment,
    /// [`ParseError::Forbidden`] if it is a subsequent fragment's with offset 0, where only the first can be.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), ParseError> {
        let (&[high, low, tag_high, tag_low], rest) = split::<{ Self::FIRST_LEN }>(bytes)?;
        let mut fragment = Self {
            datagram_size: u16::from_be_bytes([high, low]) & SIZE_FIELD_MAX,
            datagram_tag: u16::from_be_bytes([tag_high, tag_low]),
            datagram_offset: 0,
        };
        match high >> 3 {
            0b11000 => Ok((fragment, rest)),
            0b11100 => {
                let (&[offset], rest) = split::<1>(rest)?;
                fragment.datagram_offset = offset;
                if offset == 0 {
                    Err(ParseError::Forbidden)
                } else {
                    Ok((fragment, rest))
                }
            }
            _ => Err(ParseError::Unknown),
        }
    }

    /// Whether a fragment that carries `len` bytes of the uncompressed datagram is in order. For a first fragment this
    /// is known only when its headers are decompressed.
    ///
    /// # Errors
    ///
    /// [`ParseError::Length`]
    /// - if the datagram is smaller than a header of IPv6, or larger than [`DATAGRAM_SIZE_MAX`];
    /// - if the fragment is empty, or goes beyond the datagram's end;
    /// - if it is not the last and its length no multiple of 8 (RFC 4944 section 5.3).
    pub const fn check(&self, len: usize) -> Result<(), ParseError> {
        let size = self.datagram_size as usize;
        let in_bounds = self.datagram_size >= DATAGRAM_SIZE_MIN && self.datagram_size <= DATAGRAM_SIZE_MAX;
        let Some(left) = size.checked_sub(self.start()) else {
            return Err(ParseError::Length);
        };
        if in_bounds && len > 0 && (len == left || len < left && len.is_multiple_of(8)) {
            Ok(())
        } else {
            Err(ParseError::Length)
        }
    }

    /// Writes the header to the front of `out` and gives its length.
    ///
    /// # Errors
    ///
    /// [`ParseError::Length`] if the size does not fit its field, [`ParseError::NoRoom`] if `out` is shorter than
    /// [`emit_len`](Self::emit_len).
    pub fn emit(&self, mut out: &mut [u8]) -> Result<usize, ParseError> {
        if self.datagram_size > SIZE_FIELD_MAX {
            return Err(ParseError::Length);
        }
        let dispatch = if self.is_first() { 0xc000 } else { 0xe000 };
        let [high, low] = (dispatch | self.datagram_size).to_be_bytes();
        let [tag_high, tag_low] = self.datagram_tag.to_be_bytes();
        if self.is_first() {
            put(&mut out, [high, low, tag_high, tag_low])?;
        } else {
            put(&mut out, [high, low, tag_high, tag_low, self.datagram_offset])?;
        }
        Ok(self.emit_len())
    }

    /// Bytes that [`emit`](Self::emit) writes: 4 or 5.
    pub const fn emit_len(&self) -> usize {
        if self.is_first() {
            Self::FIRST_LEN
        } else {
            Self::SUBSEQUENT_LEN
        }
    }
}

#[cfg(test)]
mod tests;
