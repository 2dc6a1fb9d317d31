//! The extension headers of IPv6 (RFC 8200 section 4).
//!
//! [`options`] holds the two headers that carry options, [`routing`] the routing header with its types 0 and 3,
//! [`fragment`] the fragment header. Here is what they have in common.

use super::ipv6::NextHeader;
use super::{ParseError, split};

pub mod fragment;
pub mod options;
pub mod routing;

#[cfg(test)]
mod tests;

/// An extension header that says its own length: all but the fragment header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// What follows this header.
    pub next_header: NextHeader,
    /// What the header holds behind its length: 6 + 8 n bytes.
    pub body: &'a [u8],
}

impl<'a> Extension<'a> {
    /// Takes the header off the front of `bytes` and gives what follows it.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if the header is longer than what is there.
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        let (&[next_header, units], rest) = split(bytes)?;
        let (body, rest) = rest
            .split_at_checked(6 + 8 * usize::from(units))
            .ok_or(ParseError::Truncated)?;
        Ok((
            Self {
                next_header: NextHeader(next_header),
                body,
            },
            rest,
        ))
    }

    /// Bytes of the whole header.
    pub const fn len(&self) -> usize {
        2 + self.body.len()
    }

    /// Never: a header has at least 8 bytes.
    pub const fn is_empty(&self) -> bool {
        false
    }
}

/// The length field of a header of `len` bytes: units of 8 bytes behind the first 8.
fn units(len: usize) -> Result<u8, ParseError> {
    let units = (len / 8).checked_sub(1).ok_or(ParseError::Length)?;
    u8::try_from(units).map_err(|_| ParseError::NoRoom)
}

/// Skips the extension headers of a packet, the first of which is `first`, and gives the protocol above with the bytes
/// from there on. What follows a fragment header that is not the first of its packet is no header: there,
/// [`NextHeader::FRAGMENT`] itself is what comes back. Every header has at least 8 bytes, which bounds the work.
///
/// # Errors
///
/// [`ParseError::Truncated`] if the bytes end before that protocol is named.
pub fn skip(first: NextHeader, bytes: &[u8]) -> Result<(NextHeader, &[u8]), ParseError> {
    let (mut next, mut bytes) = (first, bytes);
    loop {
        match next {
            NextHeader::HOP_BY_HOP | NextHeader::ROUTING | NextHeader::DESTINATION | NextHeader::MOBILITY => {
                let (extension, rest) = Extension::parse(bytes)?;
                (next, bytes) = (extension.next_header, rest);
            }
            NextHeader::FRAGMENT => {
                let (header, rest) = split(bytes)?;
                let header = fragment::Header::parse(header);
                if header.offset != 0 {
                    return Ok((next, bytes));
                }
                (next, bytes) = (header.next_header, rest);
            }
            _ => return Ok((next, bytes)),
        }
    }
}
