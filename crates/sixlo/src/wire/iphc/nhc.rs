//! The octets that name compressed next headers: LOWPAN_NHC (RFC 6282 section 4).

use crate::wire::ParseError;
use crate::wire::ipv6::NextHeader;

/// UDP: `11110CPP` (RFC 6282 section 4.3.3).
pub(super) const UDP: u8 = 0b1111_0000;
/// C: the checksum is elided.
pub(super) const UDP_CHECKSUM_ELIDED: u8 = 0b100;
/// Extension headers: `1110EEEN` (RFC 6282 section 4.2).
const EXTENSION: u8 = 0b1110_0000;
/// N: the header that follows is compressed too.
pub(super) const NEXT: u8 = 1;
/// IPv6 in IPv6: EID 7. Its N is unused.
pub(super) const IPV6: u8 = EXTENSION | 7 << 1;

/// The fragment header: EID 2.
pub(super) const FRAGMENT: u8 = EXTENSION | 2 << 1;

/// The upper bits of the ports that are carried in 8 bits each, and in 4 (RFC 6282 section 4.3.1).
pub(super) const PORT_8: u32 = 0xf000;
pub(super) const PORT_4: u32 = 0xf0b0;

/// The headers by EID. UDP, which has a form of its own, stands where RFC 6282 section 4.2 reserves a number.
const BY_EID: [NextHeader; 8] = [
    NextHeader::HOP_BY_HOP,
    NextHeader::ROUTING,
    NextHeader::FRAGMENT,
    NextHeader::DESTINATION,
    NextHeader::MOBILITY,
    NextHeader::UDP,
    NextHeader::UDP,
    NextHeader::IPV6,
];

/// The octet of a compressed header, without what it says beside the type of the header.
pub(super) fn octet(header: NextHeader) -> Option<u8> {
    if header == NextHeader::UDP {
        return Some(UDP);
    }
    let eid = BY_EID.iter().position(|known| *known == header)?;
    Some(EXTENSION | (eid as u8) << 1)
}

/// Which header an octet stands for.
pub(super) fn header(octet: u8) -> Result<NextHeader, ParseError> {
    if octet & 0b1111_1000 == UDP {
        return Ok(NextHeader::UDP);
    }
    // Its upper bits are the same in all.
    let eid = usize::from((octet ^ EXTENSION) >> 1);
    match BY_EID.get(eid) {
        None => Err(ParseError::Version),
        Some(&NextHeader::UDP) => Err(ParseError::Reserved),
        Some(&header) => Ok(header),
    }
}

/// Whether the header is one of options, whose padding may be elided.
pub(super) const fn has_options(header: NextHeader) -> bool {
    matches!(header, NextHeader::HOP_BY_HOP | NextHeader::DESTINATION)
}
