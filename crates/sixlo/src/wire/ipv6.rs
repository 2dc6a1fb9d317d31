//! The fixed header of IPv6 (RFC 8200 section 3) and what its addresses mean (RFC 4291).

use core::net::Ipv6Addr;

use super::{ParseError, split};

#[cfg(test)]
mod tests;

/// Bytes of the fixed header.
pub const HEADER_LEN: usize = 40;

/// The MTU in bytes that every link offers to IPv6 at least (RFC 8200 section 5); the MTU of 6LoWPAN (RFC 4944
/// section 4).
pub const MTU_MIN: usize = 1280;

/// All nodes on the link (RFC 4291 section 2.7.1).
pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// All routers on the link (RFC 4291 section 2.7.1).
pub const ALL_ROUTERS: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2);

/// What follows a header (IANA, "Protocol Numbers"). Unknown values are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NextHeader(pub u8);

impl NextHeader {
    /// Hop-by-hop options (RFC 8200 section 4.3).
    pub const HOP_BY_HOP: Self = Self(0);
    /// TCP.
    pub const TCP: Self = Self(6);
    /// UDP.
    pub const UDP: Self = Self(17);
    /// An IPv6 header: a tunnel (RFC 2473).
    pub const IPV6: Self = Self(41);
    /// Routing header (RFC 8200 section 4.4).
    pub const ROUTING: Self = Self(43);
    /// Fragment header (RFC 8200 section 4.5).
    pub const FRAGMENT: Self = Self(44);
    /// ICMPv6.
    pub const ICMPV6: Self = Self(58);
    /// Nothing follows (RFC 8200 section 4.7).
    pub const NONE: Self = Self(59);
    /// Destination options (RFC 8200 section 4.6).
    pub const DESTINATION: Self = Self(60);
    /// Mobility header (RFC 6275 section 6.1).
    pub const MOBILITY: Self = Self(135);
}

/// Explicit congestion notification (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not take part.
    #[default]
    NotCapable = 0,
    /// The transport takes part, ECT(1).
    Capable1 = 1,
    /// The transport takes part, ECT(0).
    Capable0 = 2,
    /// Congestion was met on the way.
    Congestion = 3,
}

/// The traffic class: differentiated services (RFC 2474) in the upper six bits, congestion notification in the lower
/// two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrafficClass(pub u8);

impl TrafficClass {
    /// The class of these two parts; of `dscp` the lower six bits count.
    pub const fn new(dscp: u8, ecn: Ecn) -> Self {
        Self(dscp << 2 | ecn as u8)
    }

    /// The differentiated services code point, 0 to 63.
    pub const fn dscp(self) -> u8 {
        self.0 >> 2
    }

    /// The congestion notification.
    pub const fn ecn(self) -> Ecn {
        match self.0 & 0b11 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            _ => Ecn::Congestion,
        }
    }

    /// The same class with another congestion notification.
    pub const fn with_ecn(self, ecn: Ecn) -> Self {
        Self::new(self.dscp(), ecn)
    }
}

/// The fixed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Differentiated services and congestion notification.
    pub traffic_class: TrafficClass,
    /// The flow label (RFC 6437), 20 bits.
    pub flow_label: u32,
    /// Bytes that follow this header.
    pub payload_len: u16,
    /// What follows this header.
    pub next_header: NextHeader,
    /// How many more links the packet may cross.
    pub hop_limit: u8,
    /// The source address.
    pub src: Ipv6Addr,
    /// The destination address.
    pub dst: Ipv6Addr,
}

impl Header {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// [`ParseError::Version`] if it is not one of IPv6. Whether the payload length is right says
    /// [`check_len`](Self::check_len).
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn parse(bytes: &[u8; HEADER_LEN]) -> Result<Self, ParseError> {
        let (&[a, b, c, d, len_high, len_low, next_header, hop_limit], addresses) = split(bytes)?;
        let first = u32::from_be_bytes([a, b, c, d]);
        if first >> 28 != 6 {
            return Err(ParseError::Version);
        }
        let (src, dst) = split(addresses)?;
        let (dst, _) = split(dst)?;
        Ok(Self {
            traffic_class: TrafficClass((first >> 20) as u8),
            flow_label: first & 0xf_ffff,
            payload_len: u16::from_be_bytes([len_high, len_low]),
            next_header: NextHeader(next_header),
            hop_limit,
            src: Ipv6Addr::from_octets(*src),
            dst: Ipv6Addr::from_octets(*dst),
        })
    }

    /// The bytes of the header. Of the flow label the lower 20 bits count.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn emit(&self) -> [u8; HEADER_LEN] {
        let first = 6 << 28 | u32::from(self.traffic_class.0) << 20 | self.flow_label & 0xf_ffff;
        let mut bytes = [0; HEADER_LEN];
        let (head, addresses) = bytes.split_at_mut(8);
        let (src, dst) = addresses.split_at_mut(16);
        head[..4].copy_from_slice(&first.to_be_bytes());
        head[4..6].copy_from_slice(&self.payload_len.to_be_bytes());
        head[6] = self.next_header.0;
        head[7] = self.hop_limit;
        src.copy_from_slice(&self.src.octets());
        dst.copy_from_slice(&self.dst.octets());
        bytes
    }

    /// Checks the payload length against the `available` bytes that came in behind the header. More may have come in
    /// than the packet is long; the rest is padding of the link.
    ///
    /// # Errors
    ///
    /// [`ParseError::Length`] if the packet is longer than what came in.
    pub fn check_len(&self, available: usize) -> Result<(), ParseError> {
        if usize::from(self.payload_len) > available {
            Err(ParseError::Length)
        } else {
            Ok(())
        }
    }
}

/// How far an address reaches (RFC 4291 section 2.7, RFC 7346 section 2). Unknown values are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope(pub u8);

impl Scope {
    /// Reserved.
    pub const RESERVED: Self = Self(0);
    /// The interface itself.
    pub const INTERFACE: Self = Self(1);
    /// The link.
    pub const LINK: Self = Self(2);
    /// The realm: for IEEE 802.15.4 the PAN (RFC 7346 section 5).
    pub const REALM: Self = Self(3);
    /// The smallest scope that must be administered.
    pub const ADMIN: Self = Self(4);
    /// The site.
    pub const SITE: Self = Self(5);
    /// The organisation.
    pub const ORGANISATION: Self = Self(8);
    /// Everywhere.
    pub const GLOBAL: Self = Self(14);
}

/// What an address is for (RFC 4291 section 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// None: the absence of an address.
    Unspecified,
    /// The node itself.
    Loopback,
    /// Many nodes.
    Multicast,
    /// One interface, on its link only.
    LinkLocal,
    /// One interface, from anywhere.
    Global,
}

/// What kind of address this is: all of it in one function, because each question by itself takes 16 to 40 bytes of code on
/// Cortex-M3, at each of the places that ask.
#[cfg_attr(target_os = "none", inline(never))]
#[cfg_attr(not(target_os = "none"), inline)]
pub const fn kind(addr: &Ipv6Addr) -> Kind {
    match addr.octets() {
        [0xff, ..] => Kind::Multicast,
        [0xfe, 0x80..=0xbf, ..] => Kind::LinkLocal,
        [0, ..] => match addr.to_bits() {
            0 => Kind::Unspecified,
            1 => Kind::Loopback,
            _ => Kind::Global,
        },
        _ => Kind::Global,
    }
}

/// The scope of any address: of a multicast address what it says, of the others as RFC 4007 section 4 and RFC 6724
/// section 3.1 have it (the loopback address counts as link-local).
#[cfg_attr(target_os = "none", inline(never))]
#[cfg_attr(not(target_os = "none"), inline)]
pub const fn scope(addr: &Ipv6Addr) -> Scope {
    match kind(addr) {
        Kind::Multicast => Scope(addr.octets()[1] & 0x0f),
        Kind::LinkLocal | Kind::Loopback => Scope::LINK,
        Kind::Global | Kind::Unspecified => Scope::GLOBAL,
    }
}

/// Whether a packet on a link may carry this source address: not a multicast address (RFC 4291 section 2.7), not the
/// loopback address (section 2.5.3). The unspecified address may stand there.
#[inline]
pub const fn is_valid_source(addr: &Ipv6Addr) -> bool {
    !matches!(kind(addr), Kind::Multicast | Kind::Loopback)
}

/// Whether a packet on a link may carry this destination address: not the unspecified address (RFC 4291 section
/// 2.5.2), not the loopback address (section 2.5.3), no multicast scope 0 or 1 (section 2.7).
#[inline]
pub const fn is_valid_destination(addr: &Ipv6Addr) -> bool {
    match kind(addr) {
        Kind::Multicast => scope(addr).0 > Scope::INTERFACE.0,
        Kind::LinkLocal | Kind::Global => true,
        Kind::Unspecified | Kind::Loopback => false,
    }
}

/// The multicast address on which a node with this address is solicited (RFC 4291 section 2.7.1).
pub const fn solicited_node(addr: &Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = addr.octets();
    Ipv6Addr::from_octets([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a, b, c])
}

/// The interface identifier: the lower 64 bits (RFC 4291 section 2.5.1).
pub const fn interface_id(addr: &Ipv6Addr) -> [u8; 8] {
    let [.., a, b, c, d, e, f, g, h] = addr.octets();
    [a, b, c, d, e, f, g, h]
}
