//! The adaptation layer's headers: dispatches (RFC 4944 section 5.1, RFC 6282, RFC 8025, RFC 8931) and what stands
//! before a datagram or fragment in a frame.
//!
//! The headers themselves: [`frag`], [`rfrag`], [`mesh`], [`rh`]. Compressed headers of IPv6 have a file of their own.

pub mod frag;
pub mod mesh;
pub mod rfrag;
pub mod rh;

use super::ParseError;
use mesh::{Broadcast, Mesh};
use rh::RoutingHeaders;

/// What a dispatch byte announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// Not a LoWPAN frame (RFC 4944 section 5.1).
    Nalp,
    /// An extension type follows (RFC 8066; its value is that of RFC 6282 section 2).
    Esc,
    /// An uncompressed IPv6 header follows (RFC 4944 section 5.1).
    Ipv6,
    /// A header compressed by RFC 4944 section 10, which RFC 6282 deprecated.
    Hc1,
    /// A broadcast header (RFC 4944 section 11.1).
    Bc0,
    /// A header compressed by RFC 6282.
    Iphc,
    /// A mesh addressing header (RFC 4944 section 5.2).
    Mesh,
    /// A first fragment (RFC 4944 section 5.3).
    Frag1,
    /// A subsequent fragment (RFC 4944 section 5.3).
    FragN,
    /// A recoverable fragment (RFC 8931 section 5.1).
    Rfrag,
    /// The acknowledgement of recoverable fragments (RFC 8931 section 5.2).
    RfragAck,
    /// A routing header that is skipped if it is not understood (RFC 8138 section 4.1). In page 1 only.
    ElectiveRoutingHeader,
    /// A routing header without which the packet must be dropped if it is not understood (RFC 8138 section 4.2). In
    /// page 1 only.
    CriticalRoutingHeader,
    /// From here on dispatches are those of this page, 0 to 15 (RFC 8025 section 3).
    Page(u8),
    /// Nothing that is known here.
    Unknown,
}

/// The first byte of an uncompressed IPv6 header's encapsulation (RFC 4944 section 5.1).
pub const IPV6: u8 = 0b0100_0001;

impl Dispatch {
    /// What `byte` announces where `page` is active. A frame begins in page 0.
    pub const fn of(byte: u8, page: u8) -> Self {
        match (page, byte) {
            (_, 0xf0..) => Self::Page(byte & 0xf),
            // RFC 8025 section 4: of page 0, only compressed headers mean the same in page 1.
            (0 | 1, 0b0110_0000..=0b0111_1111) => Self::Iphc,
            (1, 0b1000_0000..=0b1001_1111) => Self::CriticalRoutingHeader,
            (1, 0b1010_0000..=0b1011_1111) => Self::ElectiveRoutingHeader,
            (0, 0b0000_0000..=0b0011_1111) => Self::Nalp,
            (0, 0b0100_0000) => Self::Esc,
            (0, IPV6) => Self::Ipv6,
            (0, 0b0100_0010) => Self::Hc1,
            (0, 0b0101_0000) => Self::Bc0,
            (0, 0b1000_0000..=0b1011_1111) => Self::Mesh,
            (0, 0b1100_0000..=0b1100_0111) => Self::Frag1,
            (0, 0b1110_0000..=0b1110_0111) => Self::FragN,
            (0, 0b1110_1000 | 0b1110_1001) => Self::Rfrag,
            (0, 0b1110_1010 | 0b1110_1011) => Self::RfragAck,
            _ => Self::Unknown,
        }
    }

    /// The dispatch byte that makes `page` active (RFC 8025 section 3), if there is such a page.
    pub const fn switch_to(page: u8) -> Option<u8> {
        if page < 16 { Some(0xf0 | page) } else { None }
    }
}

/// What stands in a frame before the datagram or fragment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preface<'a> {
    /// The mesh addressing header.
    pub mesh: Option<Mesh>,
    /// The broadcast header, which only a mesh has.
    pub broadcast: Option<Broadcast>,
    /// The page that is active where the datagram begins.
    pub page: u8,
    /// The routing headers of page 1: known ones, and unknown elective ones, which are forwarded as they are.
    pub routing: RoutingHeaders<'a>,
}

/// Skips what stands before the datagram or fragment in a frame's payload, and gives the dispatch of that, its bytes
/// beginning with the dispatch byte, and what was skipped.
///
/// The dispatch is one of `Ipv6`, `Iphc`, `Hc1`, `Frag1`, `FragN`, `Rfrag` and `RfragAck`. What a first fragment
/// carries is again of this form, routing headers included (RFC 8138 section 3.2.1), except that mesh addressing and
/// fragment headers have no place there: the caller refuses them.
///
/// # Errors
///
/// - [`ParseError::Truncated`] if nothing follows the headers, or they are cut off;
/// - [`ParseError::Version`] for what is no LoWPAN frame, for dispatches that are not known here, and for ESC, of whose
///   extension types none is known (RFC 8066 section 3.1: drop);
/// - [`ParseError::Unknown`] for critical routing headers that are not known here;
/// - [`ParseError::Forbidden`] for headers out of their order: mesh, broadcast, fragment (RFC 4944 section 5), and all
///   of these before the first page other than 0 (RFC 8025 section 4);
/// - what [`rh::RoutingHeader::parse`] says of a routing header out of form.
pub fn strip(payload: &[u8]) -> Result<(Dispatch, &[u8], Preface<'_>), ParseError> {
    let mut preface = Preface::default();
    let mut rest = payload;
    // Page switches are the only header that may come again without a bound of its own, and each takes a byte.
    let mut paged = false;
    while let [byte, tail @ ..] = rest {
        match Dispatch::of(*byte, preface.page) {
            Dispatch::Nalp | Dispatch::Esc | Dispatch::Unknown => return Err(ParseError::Version),
            Dispatch::Mesh if paged || preface.mesh.is_some() => return Err(ParseError::Forbidden),
            Dispatch::Mesh => {
                let (mesh, tail) = Mesh::parse(rest)?;
                preface.mesh = Some(mesh);
                rest = tail;
            }
            // RFC 4944 section 11.1: immediately behind the mesh addressing header.
            Dispatch::Bc0 if paged || preface.mesh.is_none() || preface.broadcast.is_some() => {
                return Err(ParseError::Forbidden);
            }
            Dispatch::Bc0 => {
                let (broadcast, tail) = Broadcast::parse(rest)?;
                preface.broadcast = Some(broadcast);
                rest = tail;
            }
            Dispatch::Page(page) => {
                paged |= page != 0;
                preface.page = page;
                rest = tail;
            }
            // RFC 8138 section 3.2 has all of them in one row.
            Dispatch::ElectiveRoutingHeader | Dispatch::CriticalRoutingHeader
                if !preface.routing.is_empty() =>
            {
                return Err(ParseError::Forbidden);
            }
            Dispatch::ElectiveRoutingHeader | Dispatch::CriticalRoutingHeader => {
                (preface.routing, rest) = RoutingHeaders::parse(rest)?;
            }
            Dispatch::Frag1 | Dispatch::FragN | Dispatch::Rfrag | Dispatch::RfragAck if paged => {
                return Err(ParseError::Forbidden);
            }
            dispatch => return Ok((dispatch, rest, preface)),
        }
    }
    Err(ParseError::Truncated)
}

#[cfg(test)]
mod tests;
