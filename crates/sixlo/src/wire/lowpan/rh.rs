//! Routing headers of the adaptation layer, 6LoRH (RFC 8138): source routes, the packet information of RPL, and
//! encapsulation in IPv6, in the compressed form in which they stand before a compressed header in page 1.

use core::net::Ipv6Addr;

use crate::wire::{ParseError, before, put, put_slice, split};

/// A routing header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutingHeader<'a> {
    /// A source route, critical.
    SourceRoute(SourceRoute<'a>),
    /// The packet information of RPL, critical.
    RplInfo(RplInfo),
    /// The header of an encapsulating IPv6 packet, elective.
    IpInIp(IpInIp<'a>),
    /// An elective header that is not known here. It is forwarded as it is (RFC 8138 section 4.1).
    Elective {
        /// Its type.
        kind: u8,
        /// What follows the type, at most 31 bytes.
        content: &'a [u8],
    },
}

const CRITICAL: u8 = 0b1000_0000;
const ELECTIVE: u8 = 0b1010_0000;
/// The form of a header in its first byte; the other five bits are a length or belong to the type.
const FORM: u8 = 0b1110_0000;
const SIZE: u8 = 0b0001_1111;

// Types (RFC 8138 sections 10.2 and 10.3). Those of source routes are 0 to 4.
const TYPE_SOURCE_ROUTE_MAX: u8 = 4;
const TYPE_RPL_INFO: u8 = 5;
const TYPE_IP_IN_IP: u8 = 6;

impl<'a> RoutingHeader<'a> {
    /// Reads the header at the front of `bytes`, and gives what follows.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if it goes beyond the end of `bytes`, [`ParseError::Unknown`] if it is critical and not
    /// known here, or no routing header, [`ParseError::Length`] if an encapsulation has no hop limit or an address
    /// longer than 16 bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        let (&[first, kind], rest) = split::<2>(bytes)?;
        let size = first & SIZE;
        match (first & FORM, kind) {
            (CRITICAL, ..=TYPE_SOURCE_ROUTE_MAX) => {
                let hop_len = 1 << kind;
                let len = usize::from(hop_len).saturating_mul(usize::from(size).saturating_add(1));
                let (hops, rest) = rest.split_at_checked(len).ok_or(ParseError::Truncated)?;
                Ok((Self::SourceRoute(SourceRoute { hop_len, hops }), rest))
            }
            (CRITICAL, TYPE_RPL_INFO) => {
                let (info, rest) = RplInfo::parse(size, rest)?;
                Ok((Self::RplInfo(info), rest))
            }
            (ELECTIVE, _) => {
                let (content, rest) = rest.split_at_checked(size.into()).ok_or(ParseError::Truncated)?;
                let header = match (kind, content) {
                    // RFC 8138 section 7: at least a hop limit.
                    (TYPE_IP_IN_IP, []) => return Err(ParseError::Length),
                    (TYPE_IP_IN_IP, [_, encapsulator @ ..]) if encapsulator.len() > 16 => {
                        return Err(ParseError::Length);
                    }
                    (TYPE_IP_IN_IP, &[hop_limit, ref encapsulator @ ..]) => Self::IpInIp(IpInIp {
                        hop_limit,
                        encapsulator,
                    }),
                    _ => Self::Elective { kind, content },
                };
                Ok((header, rest))
            }
            _ => Err(ParseError::Unknown),
        }
    }

    /// Writes the header to the front of `out` and gives its length.
    ///
    /// # Errors
    ///
    /// [`ParseError::NoRoom`] if `out` is shorter than [`emit_len`](Self::emit_len), [`ParseError::Length`] if there is
    /// no header of that length: a route of no hop or more than 32, or of hops of another length than 1, 2, 4, 8 or
    /// 16 bytes; an address longer than 16 bytes; content longer than 31. [`ParseError::Forbidden`] for an unknown
    /// elective header whose type is known.
    pub fn emit(&self, mut out: &mut [u8]) -> Result<usize, ParseError> {
        let room = out.len();
        match *self {
            Self::SourceRoute(route) => route.emit(&mut out)?,
            Self::RplInfo(info) => info.emit(&mut out)?,
            Self::IpInIp(IpInIp {
                hop_limit,
                encapsulator,
            }) => {
                if encapsulator.len() > 16 {
                    return Err(ParseError::Length);
                }
                put(
                    &mut out,
                    [
                        ELECTIVE | (encapsulator.len() as u8 + 1),
                        TYPE_IP_IN_IP,
                        hop_limit,
                    ],
                )?;
                put_slice(&mut out, encapsulator)?;
            }
            Self::Elective {
                kind: TYPE_IP_IN_IP, ..
            } => return Err(ParseError::Forbidden),
            Self::Elective { kind, content } => {
                if content.len() > usize::from(SIZE) {
                    return Err(ParseError::Length);
                }
                put(&mut out, [ELECTIVE | content.len() as u8, kind])?;
                put_slice(&mut out, content)?;
            }
        }
        Ok(room.saturating_sub(out.len()))
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn emit_len(&self) -> usize {
        2 + match self {
            Self::SourceRoute(route) => route.hops.len(),
            Self::RplInfo(info) => info.fields_len(),
            Self::IpInIp(header) => 1 + header.encapsulator.len(),
            Self::Elective { content, .. } => content.len(),
        }
    }
}

/// A source route, or a piece of one: hops that all have the same length (RFC 8138 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceRoute<'a> {
    /// Bytes of a compressed address: 1, 2, 4, 8 or 16.
    pub hop_len: u8,
    /// The compressed addresses of 1 to 32 hops, the next one first.
    pub hops: &'a [u8],
}

impl<'a> SourceRoute<'a> {
    /// The addresses of the hops, each expanded with the one before it, the first with `reference`: the address of the
    /// packet's source, which is the root's (RFC 8138 section 5.4).
    pub fn expand(&self, reference: Ipv6Addr) -> impl Iterator<Item = Ipv6Addr> + use<'a> {
        // One of no length, which parse never makes, is one without hops.
        let len = usize::from(self.hop_len).max(1);
        self.hops.chunks_exact(len).scan(reference, |addr, hop| {
            *addr = coalesce(*addr, hop);
            Some(*addr)
        })
    }

    fn emit(&self, out: &mut &mut [u8]) -> Result<(), ParseError> {
        let len = usize::from(self.hop_len);
        if !matches!(len, 1 | 2 | 4 | 8 | 16) || !self.hops.len().is_multiple_of(len) {
            return Err(ParseError::Length);
        }
        let kind = len.trailing_zeros() as u8;
        // At most 32 hops fit the size, which counts all but one.
        match (self.hops.len() / len).checked_sub(1) {
            Some(size) if size <= usize::from(SIZE) => put(out, [CRITICAL | size as u8, kind])?,
            _ => return Err(ParseError::Length),
        }
        put_slice(out, self.hops)
    }
}

/// Expands a compressed address: it replaces the last bytes of `reference` (RFC 8138 section 4.3.1).
pub fn coalesce(reference: Ipv6Addr, compressed: &[u8]) -> Ipv6Addr {
    let mut octets = reference.octets();
    for (octet, &byte) in octets.iter_mut().rev().zip(compressed.iter().rev()) {
        *octet = byte;
    }
    Ipv6Addr::from(octets)
}

/// The packet information of RPL (RFC 8138 section 6, RFC 6550 section 11.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RplInfo {
    /// O: the packet goes down.
    pub down: bool,
    /// R: a node on the way has seen a rank that contradicts the direction.
    pub rank_error: bool,
    /// F: a node on the way has no route further down.
    pub forwarding_error: bool,
    /// The instance of RPL.
    pub instance: u8,
    /// The rank of the sender, in units of the least increase of the rank at a hop.
    pub sender_rank: u16,
}

const DOWN: u8 = 0x10;
const RANK_ERROR: u8 = 0x08;
const FORWARDING_ERROR: u8 = 0x04;
const INSTANCE_ELIDED: u8 = 0x02;
const RANK_COMPRESSED: u8 = 0x01;

impl RplInfo {
    fn parse(flags: u8, mut rest: &[u8]) -> Result<(Self, &[u8]), ParseError> {
        let mut instance = 0;
        if flags & INSTANCE_ELIDED == 0 {
            let (&[id], tail) = split::<1>(rest)?;
            (instance, rest) = (id, tail);
        }
        let sender_rank;
        if flags & RANK_COMPRESSED == 0 {
            let (&rank, tail) = split::<2>(rest)?;
            (sender_rank, rest) = (u16::from_be_bytes(rank), tail);
        } else {
            let (&[high], tail) = split::<1>(rest)?;
            (sender_rank, rest) = (u16::from_be_bytes([high, 0]), tail);
        }
        let info = Self {
            down: flags & DOWN != 0,
            rank_error: flags & RANK_ERROR != 0,
            forwarding_error: flags & FORWARDING_ERROR != 0,
            instance,
            sender_rank,
        };
        Ok((info, rest))
    }

    /// Writes the shortest form.
    fn emit(&self, out: &mut &mut [u8]) -> Result<(), ParseError> {
        let [high, low] = self.sender_rank.to_be_bytes();
        let mut first = CRITICAL;
        for (flag, set) in [
            (DOWN, self.down),
            (RANK_ERROR, self.rank_error),
            (FORWARDING_ERROR, self.forwarding_error),
            (INSTANCE_ELIDED, self.instance == 0),
            (RANK_COMPRESSED, low == 0),
        ] {
            if set {
                first |= flag;
            }
        }
        put(out, [first, TYPE_RPL_INFO])?;
        if self.instance != 0 {
            put(out, [self.instance])?;
        }
        if low == 0 {
            put(out, [high])
        } else {
            put(out, [high, low])
        }
    }

    const fn fields_len(&self) -> usize {
        let instance = if self.instance == 0 { 0 } else { 1 };
        let rank = if self.sender_rank & 0xff == 0 { 1 } else { 2 };
        instance + rank
    }
}

/// The header of an encapsulating IPv6 packet (RFC 8138 section 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpInIp<'a> {
    /// Its hop limit.
    pub hop_limit: u8,
    /// The compressed address of the encapsulator, to be [coalesced](coalesce) with that of the root; empty if it is
    /// the root.
    pub encapsulator: &'a [u8],
}

/// The routing headers of a frame, one behind the other, each known to be in form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoutingHeaders<'a>(&'a [u8]);

impl<'a> RoutingHeaders<'a> {
    /// Reads all the headers at the front of `bytes`, and gives what follows.
    ///
    /// # Errors
    ///
    /// Those of [`RoutingHeader::parse`].
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        let mut rest = bytes;
        // Each turn takes at least two bytes.
        while let [CRITICAL..=0b1011_1111, ..] = rest {
            (_, rest) = RoutingHeader::parse(rest)?;
        }
        Ok((Self(before(bytes, rest)), rest))
    }

    /// The headers as they stand in the frame.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Whether there is no header.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers in their order.
    pub fn iter(&self) -> impl Iterator<Item = RoutingHeader<'a>> + use<'a> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let (header, tail) = RoutingHeader::parse(rest).ok()?;
            rest = tail;
            Some(header)
        })
    }

    /// Writes the headers without the first hop of their source route, as the router that this hop names forwards them
    /// (RFC 8138 section 5.5), and gives their length, which is never greater than before.
    ///
    /// Source routes must stand first among the headers (section 3.2.2).
    ///
    /// # Errors
    ///
    /// [`ParseError::Forbidden`] if the headers do not begin with a source route, [`ParseError::NoRoom`] if `out` is
    /// too short.
    pub fn pop(&self, mut out: &mut [u8]) -> Result<usize, ParseError> {
        let room = out.len();
        let (RoutingHeader::SourceRoute(mut route), mut rest) = RoutingHeader::parse(self.0)? else {
            return Err(ParseError::Forbidden);
        };
        // Hops get shorter with each turn, which bounds the turns to the five lengths.
        loop {
            let (first, hops) = route
                .hops
                .split_at_checked(route.hop_len.into())
                .unwrap_or((route.hops, &[]));
            if !hops.is_empty() {
                SourceRoute { hops, ..route }.emit(&mut out)?;
                break;
            }
            match RoutingHeader::parse(rest) {
                // A next header with shorter hops: its first hop completes this one, and is popped in its turn.
                Ok((RoutingHeader::SourceRoute(next), tail)) if next.hop_len < route.hop_len => {
                    let shorter = next.hops.get(..next.hop_len.into()).unwrap_or(next.hops);
                    let (kept, _) = first.split_at(first.len().saturating_sub(shorter.len()));
                    put(&mut out, [CRITICAL, route.hop_len.trailing_zeros() as u8])?;
                    put_slice(&mut out, kept)?;
                    put_slice(&mut out, shorter)?;
                    (route, rest) = (next, tail);
                }
                _ => break,
            }
        }
        put_slice(&mut out, rest)?;
        Ok(room.saturating_sub(out.len()))
    }
}

#[cfg(test)]
mod tests;
