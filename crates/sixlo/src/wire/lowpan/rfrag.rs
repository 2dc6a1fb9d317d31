//! Recoverable fragments and their acknowledgement (RFC 8931 section 5).
//!
//! Sizes and offsets count bytes of the compressed datagram (section 5.1).

use crate::wire::{ParseError, put, split};

/// Fragments that one datagram can have: the sequence numbers 0 to 31 (RFC 8931 section 5.1).
pub const FRAGMENTS_MAX: usize = 32;

/// A sender keeps fragments shorter than this, in bytes (RFC 8931 section 7.1, MaxFragmentSize).
pub const SIZE_LIMIT: u16 = 512;

/// The largest size that the field holds, in bytes.
const SIZE_FIELD_MAX: u16 = 0x3ff;

/// The header of a recoverable fragment (RFC 8931 figure 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rfrag {
    /// The fragment met congestion on its way (E).
    pub congested: bool,
    /// The datagram's tag, unique to the sender of the frame.
    pub tag: u8,
    /// An acknowledgement is asked for (X).
    pub ack_request: bool,
    /// The place of the fragment in the acknowledgement's bitmap, 0 to 31; 0 in the first fragment, and in no other.
    pub sequence: u8,
    /// Bytes of the fragment, at most 1023.
    pub size: u16,
    /// In the first fragment the size of the datagram, in the others the place where the fragment begins in it, in bytes.
    /// 0 for an abort.
    pub offset: u16,
}

impl Rfrag {
    /// Bytes of the header.
    pub const LEN: usize = 6;

    /// The pseudo fragment that aborts a datagram (RFC 8931 section 6.3).
    pub const fn abort(tag: u8) -> Self {
        Self {
            congested: false,
            tag,
            ack_request: false,
            sequence: 0,
            size: 0,
            offset: 0,
        }
    }

    /// Whether it aborts the datagram (RFC 8931 section 5.1).
    pub const fn is_abort(&self) -> bool {
        self.offset == 0
    }

    /// Whether it is the first fragment of its datagram.
    pub const fn is_first(&self) -> bool {
        self.sequence == 0
    }

    /// Where the fragment begins in the compressed datagram, in bytes.
    pub const fn start(&self) -> u16 {
        if self.is_first() { 0 } else { self.offset }
    }

    /// Reads the header at the front of a frame's payload, and gives what the fragment carries.
    ///
    /// # Errors
    ///
    /// - [`ParseError::Truncated`] if the header is cut off;
    /// - [`ParseError::Unknown`] if it is none of a recoverable fragment;
    /// - [`ParseError::Length`] if it does not carry as many bytes as it says, or none without being an abort, or if it ends
    ///   behind its datagram or the largest that there can be.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), ParseError> {
        let (&[dispatch, tag, high, low, offset_high, offset_low], rest) = split::<{ Self::LEN }>(bytes)?;
        if dispatch >> 1 != 0b111_0100 {
            return Err(ParseError::Unknown);
        }
        let fragment = Self {
            congested: dispatch & 1 != 0,
            tag,
            ack_request: high & 0x80 != 0,
            sequence: high >> 2 & 0x1f,
            size: u16::from_be_bytes([high, low]) & SIZE_FIELD_MAX,
            offset: u16::from_be_bytes([offset_high, offset_low]),
        };
        let fits = if fragment.is_abort() {
            true
        } else if fragment.is_first() {
            fragment.size > 0 && fragment.size <= fragment.offset
        } else {
            fragment.size > 0 && fragment.offset.checked_add(fragment.size).is_some()
        };
        if fits && usize::from(fragment.size) == rest.len() {
            Ok((fragment, rest))
        } else {
            Err(ParseError::Length)
        }
    }

    /// Writes the header to the front of `out` and gives its length, [`Rfrag::LEN`].
    ///
    /// # Errors
    ///
    /// [`ParseError::Length`] if sequence number or size do not fit their fields, [`ParseError::NoRoom`] if `out` is too
    /// short.
    pub fn emit(&self, mut out: &mut [u8]) -> Result<usize, ParseError> {
        if self.size > SIZE_FIELD_MAX || usize::from(self.sequence) >= FRAGMENTS_MAX {
            return Err(ParseError::Length);
        }
        let x = if self.ack_request { 0x8000 } else { 0 };
        let [high, low] = (x | u16::from(self.sequence) << 10 | self.size).to_be_bytes();
        let [offset_high, offset_low] = self.offset.to_be_bytes();
        let dispatch = 0b1110_1000 | u8::from(self.congested);
        put(&mut out, [dispatch, self.tag, high, low, offset_high, offset_low])?;
        Ok(Self::LEN)
    }
}

/// Which fragments were received, by their sequence numbers (RFC 8931 figure 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bitmap(pub u32);

impl Bitmap {
    /// None: the datagram is aborted (RFC 8931 section 5.2).
    pub const NULL: Self = Self(0);
    /// All: the datagram was received, whatever fragments it was in (RFC 8931 section 5.2).
    pub const FULL: Self = Self(u32::MAX);

    /// The fragment with this sequence number alone; none from 32 on.
    pub const fn of(sequence: u8) -> Self {
        // RFC 8931 figure 2: bit 0, the first on the wire, is that of sequence number 0.
        match 0x8000_0000_u32.checked_shr(sequence as u32) {
            Some(bit) => Self(bit),
            None => Self::NULL,
        }
    }

    /// The first `count` sequence numbers.
    pub const fn first(count: u8) -> Self {
        match u32::MAX.checked_shr(count as u32) {
            Some(rest) => Self(!rest),
            None => Self::FULL,
        }
    }

    /// Whether the fragment with this sequence number is among them.
    pub const fn has(self, sequence: u8) -> bool {
        self.0 & Self::of(sequence).0 != 0
    }

    /// The lowest sequence number among them.
    pub const fn lowest(self) -> Option<u8> {
        if self.0 == 0 {
            None
        } else {
            Some(self.0.leading_zeros() as u8)
        }
    }

    /// How many there are.
    pub const fn count(self) -> u8 {
        self.0.count_ones() as u8
    }
}

/// The acknowledgement of recoverable fragments (RFC 8931 figure 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RfragAck {
    /// An acknowledged fragment had met congestion (E).
    pub congested: bool,
    /// The datagram's tag, unique to the recipient of the frame.
    pub tag: u8,
    /// The fragments received so far.
    pub bitmap: Bitmap,
}

impl RfragAck {
    /// Bytes of the acknowledgement.
    pub const LEN: usize = 6;

    /// Reads an acknowledgement, which is all of a frame's payload (RFC 8931 section 6).
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if it is cut off, [`ParseError::Unknown`] if it is something else,
    /// [`ParseError::Length`] if anything follows it.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let (&[dispatch, tag, ref bitmap @ ..], rest) = split::<{ Self::LEN }>(bytes)?;
        if dispatch >> 1 != 0b111_0101 {
            return Err(ParseError::Unknown);
        }
        if !rest.is_empty() {
            return Err(ParseError::Length);
        }
        Ok(Self {
            congested: dispatch & 1 != 0,
            tag,
            bitmap: Bitmap(u32::from_be_bytes(*bitmap)),
        })
    }

    /// The bytes of the acknowledgement.
    pub const fn emit(&self) -> [u8; Self::LEN] {
        let [a, b, c, d] = self.bitmap.0.to_be_bytes();
        [0b1110_1010 | self.congested as u8, self.tag, a, b, c, d]
    }
}

#[cfg(test)]
mod tests;
