//! The headers of a mesh below IPv6: mesh addressing (RFC 4944 section 5.2) and broadcast (section 11.1).

use crate::wire::addr::LinkAddr;
use crate::wire::{ParseError, put, split};

/// The mesh addressing header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mesh {
    /// How many hops the packet may still make.
    pub hops_left: u8,
    /// The link-layer address of who sent the packet first.
    pub originator: LinkAddr,
    /// The link-layer address of who shall get it in the end.
    pub final_destination: LinkAddr,
}

const ORIGINATOR_SHORT: u8 = 0x20;
const FINAL_DESTINATION_SHORT: u8 = 0x10;
/// This in the field of hops left says that a byte of them follows.
const DEEP_HOPS_LEFT: u8 = 0xf;

impl Mesh {
    /// Reads the header at the front of `bytes`, and gives what follows.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if the header is cut off, [`ParseError::Unknown`] if it is another header.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), ParseError> {
        let (&[first], mut rest) = split::<1>(bytes)?;
        if first >> 6 != 0b10 {
            return Err(ParseError::Unknown);
        }
        let mut hops_left = first & 0xf;
        if hops_left == DEEP_HOPS_LEFT {
            let (&[deep], tail) = split::<1>(rest)?;
            (hops_left, rest) = (deep, tail);
        }
        let (originator, rest) = take_addr(first & ORIGINATOR_SHORT != 0, rest)?;
        let (final_destination, rest) = take_addr(first & FINAL_DESTINATION_SHORT != 0, rest)?;
        Ok((
            Self {
                hops_left,
                originator,
                final_destination,
            },
            rest,
        ))
    }

    /// Writes the header to the front of `out` and gives its length. Up to 14 hops left take no byte of their own.
    ///
    /// # Errors
    ///
    /// [`ParseError::Reserved`] if an address is missing, [`ParseError::NoRoom`] if `out` is shorter than
    /// [`emit_len`](Self::emit_len).
    pub fn emit(&self, mut out: &mut [u8]) -> Result<usize, ParseError> {
        let mut first = 0b1000_0000 | self.hops_left.min(DEEP_HOPS_LEFT);
        for (addr, flag) in [
            (self.originator, ORIGINATOR_SHORT),
            (self.final_destination, FINAL_DESTINATION_SHORT),
        ] {
            first |= match addr {
                LinkAddr::None => return Err(ParseError::Reserved),
                LinkAddr::Short(_) => flag,
                LinkAddr::Extended(_) => 0,
            };
        }
        put(&mut out, [first])?;
        if self.hops_left >= DEEP_HOPS_LEFT {
            put(&mut out, [self.hops_left])?;
        }
        put_addr(&mut out, self.originator)?;
        put_addr(&mut out, self.final_destination)?;
        Ok(self.emit_len())
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn emit_len(&self) -> usize {
        let deep = if self.hops_left >= DEEP_HOPS_LEFT { 1 } else { 0 };
        1 + deep + self.originator.len() + self.final_destination.len()
    }
}

/// Takes an address off `bytes`; those of this header stand most significant byte first, as RFCs have it.
fn take_addr(short: bool, bytes: &[u8]) -> Result<(LinkAddr, &[u8]), ParseError> {
    if short {
        let (&addr, rest) = split::<2>(bytes)?;
        Ok((LinkAddr::Short(u16::from_be_bytes(addr)), rest))
    } else {
        let (&eui, rest) = split::<8>(bytes)?;
        Ok((LinkAddr::Extended(eui), rest))
    }
}

fn put_addr(out: &mut &mut [u8], addr: LinkAddr) -> Result<(), ParseError> {
    match addr {
        LinkAddr::None => Ok(()),
        LinkAddr::Short(short) => put(out, short.to_be_bytes()),
        LinkAddr::Extended(eui) => put(out, eui),
    }
}

/// The broadcast header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Broadcast {
    /// Counts the broadcasts of an originator, so that a receiver knows a duplicate.
    pub sequence: u8,
}

const BC0: u8 = 0b0101_0000;

impl Broadcast {
    /// Bytes of the header.
    pub const LEN: usize = 2;

    /// Reads the header at the front of `bytes`, and gives what follows.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if the header is cut off, [`ParseError::Unknown`] if it is another header.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), ParseError> {
        match split::<{ Self::LEN }>(bytes)? {
            (&[BC0, sequence], rest) => Ok((Self { sequence }, rest)),
            _ => Err(ParseError::Unknown),
        }
    }

    /// Writes the header to the front of `out` and gives its length, 2.
    ///
    /// # Errors
    ///
    /// [`ParseError::NoRoom`] if `out` is shorter.
    pub fn emit(&self, mut out: &mut [u8]) -> Result<usize, ParseError> {
        put(&mut out, [BC0, self.sequence])?;
        Ok(Self::LEN)
    }
}

#[cfg(test)]
mod tests;
