//! The octets that name compressed next headers: LOWPAN_NHC (RFC 6282 section 4).

use crate::wire::ParseError;
use crate::wire::ipv6::NextHeader;

/// UDP: `11110CPP` (RFC 6282 section 4.3.3).
pub(super) const UDP: u8 = 0b1111_0000;
/// C: the checksum is elided.
pub(super) const UDP_CHECKSUM_ELIDED: u8 = 0b100;
/// Extension headers: `1110EEEN` (RFC 6282 section 4.2).
pub(super) const EXTENSION: u8 = 0b1110_0000;
/// N: the header that follows is compressed too.
pub(super) const NEXT: u8 = 1;
/// IPv6 in IPv6: EID 7. Its N is unused.
pub(super) const IPV6: u8 = EXTENSION | 7 << 1;

/// The upper bits of the ports that are carried in 8 bits each, and in 4 (RFC 6282 section 4.3.1).
pub(super) const PORT_8: u16 = 0xf000;
pub(super) const PORT_4: u16 = 0xf0b0;

/// The octet of a compressed extension header, without N.
pub(super) const fn of_extension(header: NextHeader) -> Option<u8> {
    Some(
        EXTENSION
            | match header {
                NextHeader::HOP_BY_HOP => 0 << 1,
                NextHeader::ROUTING => 1 << 1,
                NextHeader::DESTINATION => 3 << 1,
                NextHeader::MOBILITY => 4 << 1,
                _ => return None,
            },
    )
}

/// The octet of a compressed fragment header, without N.
pub(super) const FRAGMENT: u8 = EXTENSION | 2 << 1;

/// Which header an octet stands for.
pub(super) const fn header(octet: u8) -> Result<NextHeader, ParseError> {
    if octet & 0b1111_1000 == UDP {
        return Ok(NextHeader::UDP);
    }
    if octet & 0b1111_0000 != EXTENSION {
        return Err(ParseError::Version);
    }
    Ok(match octet >> 1 & 0b111 {
        0 => NextHeader::HOP_BY_HOP,
        1 => NextHeader::ROUTING,
        2 => NextHeader::FRAGMENT,
        3 => NextHeader::DESTINATION,
        4 => NextHeader::MOBILITY,
        7 => NextHeader::IPV6,
        _ => return Err(ParseError::Reserved),
    })
}

/// Whether the header is one of options, whose padding may be elided.
pub(super) const fn has_options(header: NextHeader) -> bool {
    matches!(header, NextHeader::HOP_BY_HOP | NextHeader::DESTINATION)
}
