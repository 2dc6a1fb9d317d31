//! The routing header (RFC 8200 section 4.4) with the source routes of type 0 (RFC 2460, deprecated by RFC 5095) and
//! of type 3 (RPL, RFC 6554).

use core::net::Ipv6Addr;
use core::ops::Range;

use super::{Extension, units};
use crate::wire::ipv6::NextHeader;
use crate::wire::{ParseError, split};

#[cfg(test)]
mod tests;

/// Bytes in front of the addresses.
const HEAD_LEN: usize = 8;

/// The kind of a routing header. Unknown values are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoutingType(pub u8);

impl RoutingType {
    /// The source route of RFC 2460, which a node treats as one that it does not know (RFC 5095 section 3).
    pub const SOURCE_ROUTE: Self = Self(0);
    /// The source route of RPL (RFC 6554).
    pub const RPL: Self = Self(3);
}

/// A routing header of any type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// What follows this header.
    pub next_header: NextHeader,
    /// Its kind.
    pub kind: RoutingType,
    /// How many of the addresses are still to be visited.
    pub segments_left: u8,
    /// What the kind defines: 4 + 8 n bytes.
    pub data: &'a [u8],
}

impl<'a> Header<'a> {
    /// Takes the header off the front of `bytes` and gives what follows it.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`].
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        let (Extension { next_header, body }, rest) = Extension::parse(bytes)?;
        let (&[kind, segments_left], data) = split(body)?;
        Ok((
            Self {
                next_header,
                kind: RoutingType(kind),
                segments_left,
                data,
            },
            rest,
        ))
    }

    /// The source route, if this header is of type 0 or 3.
    ///
    /// # Errors
    ///
    /// [`ParseError::Unknown`] if it is of another type, [`ParseError::Length`] if its length does not go up in
    /// addresses of the sizes that it states (RFC 6554 section 3). A header without segments left needs no look at its
    /// route.
    pub fn source_route(&self) -> Result<SourceRoute<'a>, ParseError> {
        let (&[compression, padding, _, _], rest) = split(self.data)?;
        let (cmpr_i, cmpr_e, pad) = match self.kind {
            RoutingType::RPL => (compression >> 4, compression & 0x0f, padding >> 4),
            RoutingType::SOURCE_ROUTE => (0, 0, 0),
            _ => return Err(ParseError::Unknown),
        };
        // RFC 6554 section 3: without compression there is no padding.
        if pad != 0 && cmpr_i == 0 && cmpr_e == 0 {
            return Err(ParseError::Length);
        }
        let last_len = 16 - usize::from(cmpr_e);
        let len = rest
            .len()
            .checked_sub(usize::from(pad))
            .ok_or(ParseError::Length)?;
        let before_last = len.checked_sub(last_len).ok_or(ParseError::Length)?;
        let size = 16 - usize::from(cmpr_i);
        if before_last % size != 0 {
            return Err(ParseError::Length);
        }
        let addresses = rest.get(..len).ok_or(ParseError::Length)?;
        Ok(SourceRoute {
            cmpr_i,
            cmpr_e,
            count: before_last / size + 1,
            addresses,
        })
    }
}

/// The addresses that a packet visits behind the present destination (RFC 6554 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRoute<'a> {
    /// Bytes that each address but the last shares with the destination address (CmprI), 0 to 15.
    cmpr_i: u8,
    /// Bytes that the last address shares with the destination address (CmprE), 0 to 15.
    cmpr_e: u8,
    /// How many addresses there are: n.
    count: usize,
    /// Their bytes, without padding.
    addresses: &'a [u8],
}

impl SourceRoute<'_> {
    /// How many addresses there are, at least 1.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Never: there is at least one address.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Where the bytes of address `index` (from 0) lie, counted from the beginning of the routing header, so that
    /// they can be exchanged in place with the last bytes of the destination address (RFC 6554 section 4.2).
    pub fn range(&self, index: usize) -> Option<Range<usize>> {
        let size = 16 - usize::from(self.cmpr_i);
        let start = HEAD_LEN + size * index;
        match self.count.checked_sub(index)? {
            0 => None,
            1 => Some(start..HEAD_LEN + self.addresses.len()),
            _ => Some(start..start + size),
        }
    }

    /// Address `index` (from 0) in a packet that now goes to `dst`, from which it takes the bytes that it shares.
    pub fn address(&self, index: usize, dst: &Ipv6Addr) -> Option<Ipv6Addr> {
        let range = self.range(index)?;
        let bytes = self.addresses.get(range.start - HEAD_LEN..range.end - HEAD_LEN)?;
        let mut address = dst.octets();
        let shared = 16_usize.checked_sub(bytes.len())?;
        address.get_mut(shared..)?.copy_from_slice(bytes);
        Some(Ipv6Addr::from_octets(address))
    }
}

/// Bytes that two addresses share from their beginning, at most 15.
fn shared(a: &Ipv6Addr, b: &Ipv6Addr) -> u8 {
    let bits = (a.to_bits() ^ b.to_bits()).leading_zeros();
    (bits / 8).min(15) as u8
}

/// Writes a source route of RPL over `addresses` in front of `out`, as short as `dst`, the destination of the packet,
/// allows (RFC 6554 section 3), and says how long it is. All segments are left.
///
/// # Errors
///
/// [`ParseError::Length`] without addresses; [`ParseError::NoRoom`], also if there are more than 255 or the header
/// becomes longer than 2,048 bytes.
pub fn emit(
    next_header: NextHeader,
    addresses: &[Ipv6Addr],
    dst: &Ipv6Addr,
    out: &mut [u8],
) -> Result<usize, ParseError> {
    let (last, others) = addresses.split_last().ok_or(ParseError::Length)?;
    let cmpr_i = others
        .iter()
        .map(|address| shared(address, dst))
        .min()
        .unwrap_or(15);
    // The last address is compared with the destination at the time when it is visited: that is the last but one, of
    // which only the bytes that all share are sure.
    let cmpr_e = shared(last, dst).min(cmpr_i);
    let segments = u8::try_from(addresses.len()).map_err(|_| ParseError::NoRoom)?;
    let len = HEAD_LEN + others.len() * (16 - usize::from(cmpr_i)) + 16 - usize::from(cmpr_e);
    let pad = len.next_multiple_of(8) - len;
    let head = [
        next_header.0,
        units(len + pad)?,
        RoutingType::RPL.0,
        segments,
        cmpr_i << 4 | cmpr_e,
        (pad as u8) << 4,
        0,
        0,
    ];
    let out = out.get_mut(..len + pad).ok_or(ParseError::NoRoom)?;
    let (out_head, mut rest) = out.split_first_chunk_mut().ok_or(ParseError::NoRoom)?;
    *out_head = head;
    for (address, cmpr) in others
        .iter()
        .map(|address| (address, cmpr_i))
        .chain([(last, cmpr_e)])
    {
        let octets = address.octets();
        let bytes = octets.get(usize::from(cmpr)..).ok_or(ParseError::NoRoom)?;
        let (place, after) = rest.split_at_mut_checked(bytes.len()).ok_or(ParseError::NoRoom)?;
        place.copy_from_slice(bytes);
        rest = after;
    }
    rest.fill(0);
    Ok(len + pad)
}
