//! Formats: bytes to typed values and back. No state, no time, and no panic on any input.
//!
//! Each header has one file. `parse` takes the bytes that came in and gives the header with what follows it; `emit`
//! writes the header in front of a slice and says how long it became; `emit_len` says that beforehand. What `emit`
//! wrote, `parse` reads back as the same value.

use core::fmt;

pub mod addr;
pub mod checksum;
pub mod fcs;
pub mod ghc;
pub mod icmpv6;
pub mod ieee802154;
pub mod iphc;
pub mod ipv6;
pub mod ipv6_ext;
pub mod lowpan;
pub mod tcp;
pub mod udp;

/// Why bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// The bytes end before the header does.
    Truncated,
    /// A length field contradicts the bytes that are there.
    Length,
    /// A checksum does not fit.
    Checksum,
    /// A version or type that is not ours.
    Version,
    /// A combination that the standard reserves.
    Reserved,
    /// Valid, but names something that is not known here: a context, a dispatch, a header type.
    Unknown,
    /// Valid, but forbidden where it stands.
    Forbidden,
    /// What the bytes describe does not fit the room given for it.
    NoRoom,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "truncated",
            Self::Length => "length field contradicts the data",
            Self::Checksum => "wrong checksum",
            Self::Version => "unknown version or type",
            Self::Reserved => "reserved combination",
            Self::Unknown => "refers to something unknown",
            Self::Forbidden => "forbidden here",
            Self::NoRoom => "does not fit the room given",
        })
    }
}

impl core::error::Error for ParseError {}

/// Takes the first `N` bytes off `bytes`.
pub(crate) fn split<const N: usize>(bytes: &[u8]) -> Result<(&[u8; N], &[u8]), ParseError> {
    bytes.split_first_chunk::<N>().ok_or(ParseError::Truncated)
}

/// What stands in `all` before its end `rest`.
pub(crate) fn before<'a>(all: &'a [u8], rest: &[u8]) -> &'a [u8] {
    all.get(..all.len().saturating_sub(rest.len())).unwrap_or(all)
}

/// Copies as many bytes as both have, and says how many: as `copy_from_slice`, but without its panic.
#[cfg_attr(target_os = "none", inline(never))]
#[cfg_attr(not(target_os = "none"), inline)]
pub(crate) fn copy(to: &mut [u8], from: &[u8]) -> usize {
    let len = to.len().min(from.len());
    to[..len].copy_from_slice(&from[..len]);
    len
}

/// Writes `bytes` to the front of `out` and leaves in `out` what is behind them.
pub(crate) fn put<const N: usize>(out: &mut &mut [u8], bytes: [u8; N]) -> Result<(), ParseError> {
    let (head, rest) = core::mem::take(out)
        .split_first_chunk_mut::<N>()
        .ok_or(ParseError::NoRoom)?;
    *head = bytes;
    *out = rest;
    Ok(())
}

/// As [`put`], for bytes whose number is known at run time only.
pub(crate) fn put_slice(out: &mut &mut [u8], bytes: &[u8]) -> Result<(), ParseError> {
    let (head, rest) = core::mem::take(out)
        .split_at_mut_checked(bytes.len())
        .ok_or(ParseError::NoRoom)?;
    head.copy_from_slice(bytes);
    *out = rest;
    Ok(())
}
