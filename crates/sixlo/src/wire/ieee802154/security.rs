//! The auxiliary security header (IEEE 802.15.4-2020, 9.4): recognised, so that it can be skipped and shown.

use super::Version;
use crate::wire::{ParseError, put, split};

/// What protects a frame (9.4.2.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Nothing.
    #[default]
    None = 0,
    /// A message integrity code of 4 bytes.
    Mic32 = 1,
    /// A message integrity code of 8 bytes.
    Mic64 = 2,
    /// A message integrity code of 16 bytes.
    Mic128 = 3,
    /// Encryption alone. Reserved since version 2015.
    Enc = 4,
    /// Encryption, and a message integrity code of 4 bytes.
    EncMic32 = 5,
    /// Encryption, and a message integrity code of 8 bytes.
    EncMic64 = 6,
    /// Encryption, and a message integrity code of 16 bytes.
    EncMic128 = 7,
}

impl Level {
    const ALL: [Self; 8] = [
        Self::None,
        Self::Mic32,
        Self::Mic64,
        Self::Mic128,
        Self::Enc,
        Self::EncMic32,
        Self::EncMic64,
        Self::EncMic128,
    ];

    /// Bytes of the message integrity code at the end of the frame: 0, 4, 8 or 16.
    pub const fn mic_len(self) -> usize {
        match self as u8 & 3 {
            0 => 0,
            1 => 4,
            2 => 8,
            _ => 16,
        }
    }

    /// Whether the payload is encrypted.
    pub const fn encrypts(self) -> bool {
        self as u8 & 4 != 0
    }
}

/// Which key protects a frame (9.4.2.3 and 9.4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyId {
    /// The one that follows from the addresses.
    #[default]
    Implicit,
    /// The key with this index, of the default key source.
    Index(u8),
    /// The key of a source of 4 bytes, as they stand in the frame, with its index.
    Source4([u8; 4], u8),
    /// The key of a source of 8 bytes, as they stand in the frame, with its index.
    Source8([u8; 8], u8),
}

/// The auxiliary security header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// What protects the frame.
    pub level: Level,
    /// Which key does.
    pub key: KeyId,
    /// The frame counter. Version 2015 can suppress it.
    pub frame_counter: Option<u32>,
    /// The nonce is made of the absolute slot number instead of the frame counter (TSCH, version 2015).
    pub asn_in_nonce: bool,
}

// Security control field (9.4.2).
const KEY_ID_MODE_SHIFT: u8 = 3;
const COUNTER_SUPPRESSION: u8 = 1 << 5;
const ASN_IN_NONCE: u8 = 1 << 6;

impl Security {
    /// Reads the auxiliary security header of a frame of this version.
    pub(super) fn parse(version: Version, bytes: &[u8]) -> Result<(Self, &[u8]), ParseError> {
        let (&[control], mut rest) = split::<1>(bytes)?;
        let level = level(version, control & 7)?;
        // Both bits are reserved up to version 2006, and therefore not looked at there.
        let control_2015 = if version == Version::V2015 { control } else { 0 };
        let mut frame_counter = None;
        if control_2015 & COUNTER_SUPPRESSION == 0 {
            let (&counter, tail) = split::<4>(rest)?;
            frame_counter = Some(u32::from_le_bytes(counter));
            rest = tail;
        }
        let key;
        (key, rest) = match control >> KEY_ID_MODE_SHIFT & 3 {
            0 => (KeyId::Implicit, rest),
            1 => {
                let (&[index], rest) = split::<1>(rest)?;
                (KeyId::Index(index), rest)
            }
            2 => {
                let (&[a, b, c, d, index], rest) = split::<5>(rest)?;
                (KeyId::Source4([a, b, c, d], index), rest)
            }
            _ => {
                let (&[a, b, c, d, e, f, g, h, index], rest) = split::<9>(rest)?;
                (KeyId::Source8([a, b, c, d, e, f, g, h], index), rest)
            }
        };
        let asn_in_nonce = control_2015 & ASN_IN_NONCE != 0;
        Ok((
            Self {
                level,
                key,
                frame_counter,
                asn_in_nonce,
            },
            rest,
        ))
    }

    /// Writes the header for a frame of this version.
    pub(super) fn emit(&self, version: Version, out: &mut &mut [u8]) -> Result<(), ParseError> {
        level(version, self.level as u8)?;
        let key_id_mode = match self.key {
            KeyId::Implicit => 0,
            KeyId::Index(_) => 1,
            KeyId::Source4(..) => 2,
            KeyId::Source8(..) => 3,
        };
        let mut control = self.level as u8 | key_id_mode << KEY_ID_MODE_SHIFT;
        if self.frame_counter.is_none() {
            control |= COUNTER_SUPPRESSION;
        }
        if self.asn_in_nonce {
            control |= ASN_IN_NONCE;
        }
        if version != Version::V2015 && control & (COUNTER_SUPPRESSION | ASN_IN_NONCE) != 0 {
            return Err(ParseError::Reserved);
        }
        put(out, [control])?;
        if let Some(counter) = self.frame_counter {
            put(out, counter.to_le_bytes())?;
        }
        match self.key {
            KeyId::Implicit => Ok(()),
            KeyId::Index(index) => put(out, [index]),
            KeyId::Source4([a, b, c, d], index) => put(out, [a, b, c, d, index]),
            KeyId::Source8([a, b, c, d, e, f, g, h], index) => put(out, [a, b, c, d, e, f, g, h, index]),
        }
    }

    /// Bytes that the header takes.
    pub(super) const fn emit_len(&self) -> usize {
        let counter = if self.frame_counter.is_some() { 4 } else { 0 };
        let key = match self.key {
            KeyId::Implicit => 0,
            KeyId::Index(_) => 1,
            KeyId::Source4(..) => 5,
            KeyId::Source8(..) => 9,
        };
        1 + counter + key
    }
}

/// The security level with this number (table 9-6): encryption without a message integrity code ended with version 2006.
fn level(version: Version, number: u8) -> Result<Level, ParseError> {
    match Level::ALL.get(usize::from(number)) {
        Some(&level) if level != Level::Enc || version != Version::V2015 => Ok(level),
        _ => Err(ParseError::Reserved),
    }
}

#[cfg(test)]
mod tests;
