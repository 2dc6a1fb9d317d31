//! Addresses, drawn so that they meet: of a few nodes, of contexts, of prefixes that all use.

use core::net::Ipv6Addr;

use arbitrary::Arbitrary;
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::iphc::Context;

/// The link-layer address of a node.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Node {
    None,
    Broadcast,
    Short(u8),
    Extended(u8),
    Any([u8; 8]),
}

impl Node {
    pub(crate) fn addr(self) -> LinkAddr {
        match self {
            Self::None => LinkAddr::None,
            Self::Broadcast => LinkAddr::BROADCAST,
            Self::Short(short) => LinkAddr::Short(short.into()),
            Self::Extended(number) => extended(number),
            Self::Any(bytes) => LinkAddr::Extended(bytes),
        }
    }
}

/// The extended address of a node by its number.
pub(crate) fn extended(number: u8) -> LinkAddr {
    LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, number])
}

/// A compression context.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Prefix {
    Unset,
    Global(u8),
    LinkLocal,
    Any([u8; 16], u8, bool),
}

impl Prefix {
    pub(crate) fn context(self) -> Context {
        match self {
            Self::Unset => Context::EMPTY,
            Self::Global(number) => Context::new(global(number, 0).octets(), 64),
            Self::LinkLocal => Context::new(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0).octets(), 10),
            Self::Any(prefix, prefix_len, valid_for_compression) => Context {
                prefix,
                prefix_len,
                valid_for_compression,
            },
        }
    }
}

/// An address of a node in one of a few networks.
pub(crate) fn global(network: u8, node: u8) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, 0, 0, network.into(), 0, 0, 0, node.into())
}

/// An IPv6 address.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Address {
    Unspecified,
    /// Of the prefix fe80::/64.
    LinkLocal(Id),
    /// Of one of the networks of [`global`].
    Global(u8, Id),
    /// A group: flags and scope, how many of the lower bytes count, and these.
    Group(u8, u8, [u8; 14]),
    Any([u8; 16]),
}

/// An interface identifier.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Id {
    /// Of the link-layer address.
    Link,
    Short(u16),
    Number(u8),
    Any([u8; 8]),
}

impl Address {
    pub(crate) fn addr(self, link: LinkAddr) -> Ipv6Addr {
        let join = |network: Ipv6Addr, id: Id| {
            let low = match id {
                Id::Link => link.interface_id().map_or(0, u64::from_be_bytes),
                Id::Short(short) => 0xff_fe00_0000 | u64::from(short),
                Id::Number(number) => number.into(),
                Id::Any(bytes) => u64::from_be_bytes(bytes),
            };
            Ipv6Addr::from_bits(network.to_bits() | u128::from(low))
        };
        match self {
            Self::Unspecified => Ipv6Addr::UNSPECIFIED,
            Self::LinkLocal(id) => join(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), id),
            Self::Global(network, id) => join(global(network % 4, 0), id),
            Self::Group(flags, count, low) => {
                let mut octets = [0; 16];
                octets[..2].copy_from_slice(&[0xff, flags]);
                let start = 16 - usize::from(count % 15);
                octets[start..].copy_from_slice(&low[start - 2..]);
                octets.into()
            }
            Self::Any(octets) => octets.into(),
        }
    }
}
