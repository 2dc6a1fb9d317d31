//! The header of TCP (RFC 9293 section 3.1). [`options`] holds what may follow it, [`seq`] the sequence numbers.

use core::ops::{BitOr, BitOrAssign};

use super::ParseError;
use seq::Seq;

pub mod options;
pub mod seq;

#[cfg(test)]
mod tests;

/// Bytes of the header without options.
pub const HEADER_LEN: usize = 20;
/// The most bytes that options take: the data offset counts to 15 words.
pub const OPTIONS_LEN_MAX: usize = 40;

/// The control bits, in the order of the byte that holds them (RFC 9293 section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push: give to the application what is there.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number means something.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer means something.
    pub const URG: Self = Self(0x20);
    /// Congestion was experienced; in a SYN: ECN is understood (RFC 3168 section 6.1).
    pub const ECE: Self = Self(0x40);
    /// The congestion window was reduced (RFC 3168 section 6.1).
    pub const CWR: Self = Self(0x80);

    /// Whether all of `flags` are set.
    #[inline]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub const fn intersects(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// Their names, in the order of [`Flags::NAMES`].
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let set = move |(name, bit): (&'static str, u32)| (self.0 & 1 << bit != 0).then_some(name);
        Self::NAMES.into_iter().zip(0..).filter_map(set)
    }

    /// The name of each bit, from the lowest on (RFC 9293 section 3.1, RFC 3168 section 6.1).
    pub const NAMES: [&'static str; 8] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];

    /// These, without `flags`.
    #[inline]
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }
}

impl BitOr for Flags {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// The header without its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The source port.
    pub src_port: u16,
    /// The destination port.
    pub dst_port: u16,
    /// The sequence number of the first byte of data; of the SYN, if there is one.
    pub seq: Seq,
    /// The next sequence number that the sender expects, if [`Flags::ACK`] is set.
    pub ack: Seq,
    /// Bytes of options behind this header, a multiple of 4, at most [`OPTIONS_LEN_MAX`].
    pub options_len: u8,
    /// The control bits.
    pub flags: Flags,
    /// Bytes from `ack` on that the sender is willing to receive.
    pub window: u16,
    /// The checksum as it stands in the header (see [`Checksum`](super::checksum::Checksum)).
    pub checksum: u16,
    /// Where urgent data ends, in bytes from `seq` on, if [`Flags::URG`] is set.
    pub urgent: u16,
}

impl Header {
    /// Reads the header of a segment that is `available` bytes long. The reserved bits are not looked at (RFC 9293 section
    /// 3.1).
    ///
    /// # Errors
    ///
    /// [`ParseError::Length`] if the data offset points into the header or behind the segment.
    pub const fn parse(bytes: &[u8; HEADER_LEN], available: usize) -> Result<Self, ParseError> {
        let [
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l,
            offset,
            flags,
            m,
            n,
            o,
            p,
            q,
            r,
        ] = *bytes;
        let header_len = (offset >> 4) * 4;
        let Some(options_len) = header_len.checked_sub(HEADER_LEN as u8) else {
            return Err(ParseError::Length);
        };
        if header_len as usize > available {
            return Err(ParseError::Length);
        }
        Ok(Self {
            src_port: u16::from_be_bytes([a, b]),
            dst_port: u16::from_be_bytes([c, d]),
            seq: Seq(u32::from_be_bytes([e, f, g, h])),
            ack: Seq(u32::from_be_bytes([i, j, k, l])),
            options_len,
            flags: Flags(flags),
            window: u16::from_be_bytes([m, n]),
            checksum: u16::from_be_bytes([o, p]),
            urgent: u16::from_be_bytes([q, r]),
        })
    }

    /// The bytes of the header, the reserved bits zero. `options_len` is cut to what the data offset can say.
    pub const fn emit(&self) -> [u8; HEADER_LEN] {
        let [a, b] = self.src_port.to_be_bytes();
        let [c, d] = self.dst_port.to_be_bytes();
        let [e, f, g, h] = self.seq.0.to_be_bytes();
        let [i, j, k, l] = self.ack.0.to_be_bytes();
        let [m, n] = self.window.to_be_bytes();
        let [o, p] = self.checksum.to_be_bytes();
        let [q, r] = self.urgent.to_be_bytes();
        let words = self.options_len / 4;
        let most = (OPTIONS_LEN_MAX / 4) as u8;
        let offset = (HEADER_LEN / 4) as u8 + if words < most { words } else { most };
        [
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l,
            offset << 4,
            self.flags.0,
            m,
            n,
            o,
            p,
            q,
            r,
        ]
    }

    /// Bytes of header and options.
    #[inline]
    pub const fn len(&self) -> usize {
        HEADER_LEN + self.options_len as usize
    }

    /// Never: a header has at least 20 bytes.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Sequence numbers that a segment with this header and `data` bytes takes: one for each byte, for SYN, and for FIN
    /// (RFC 9293 section 3.4).
    #[inline]
    pub const fn sequence_len(&self, data: u32) -> u32 {
        let flags = self.flags;
        data + flags.contains(Flags::SYN) as u32 + flags.contains(Flags::FIN) as u32
    }
}
