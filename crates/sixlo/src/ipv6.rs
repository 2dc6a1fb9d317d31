//! IPv6 (RFC 8200): addresses, neighbours and routes, input with extension headers, forwarding, output.

use core::net::Ipv6Addr;

use crate::ground::Cx;
use crate::netapi::Next;
use crate::netdev::IfaceId;
use crate::pktbuf::{Pkt, PktBuf};
use crate::time::Instant;
use crate::trace::{Reason, Sink};
use crate::wire::ipv6::{ALL_NODES, ALL_ROUTERS, MTU_MIN, NextHeader, solicited_node};

mod border;
mod extensions;
pub mod fragment;
mod input;
mod output;
mod relay;
mod tables;
#[cfg(test)]
mod tests;

pub use border::BorderConfig;
use fragment::{FragmentConfig, Partial, Reassembler};
pub use tables::{Address, Neighbor, Route, TableFull};

use tables::Tables;

/// All routers of the site (RFC 4291 section 2.7.1).
const ALL_SITE_ROUTERS: Ipv6Addr = Ipv6Addr::new(0xff05, 0, 0, 0, 0, 0, 0, 2);

/// How IPv6 behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6Config {
    /// Packets for others are forwarded. Default true: every node of a mesh is a router.
    pub forwarding: bool,
    /// The hop limit of packets that start here. Default 64 (RFC 8504 section 5.1, IANA's recommended value).
    pub hop_limit: u8,
    /// Extension headers of one packet that are looked at; a packet with more is dropped (RFC 8504 section 5.3 allows
    /// such a limit). Default 8.
    pub extension_headers_max: u8,
    /// Options in one extension header, padding not counted, that are looked at; a packet with more is dropped
    /// (RFC 8504 section 5.3). Default 8.
    pub options_max: u8,
    /// How packets are put together from IPv6 fragments.
    pub fragment: FragmentConfig,
    /// The node is the border router of a mesh. Default: it is none.
    pub border: Option<BorderConfig>,
}

/// The memory of the module. The length of each slice is a capacity.
pub struct Memory<'a> {
    /// Addresses of this node.
    pub addresses: &'a mut [Address],
    /// Static neighbours.
    pub neighbors: &'a mut [Neighbor],
    /// Static routes.
    pub routes: &'a mut [Route],
    /// Packets that are put together from fragments at once.
    pub partials: &'a mut [Partial],
}

impl Default for Ipv6Config {
    fn default() -> Self {
        Self {
            forwarding: true,
            hop_limit: 64,
            extension_headers_max: 8,
            options_max: 8,
            fragment: FragmentConfig::default(),
            border: None,
        }
    }
}

/// The module.
pub struct Ipv6<'a> {
    tables: Tables<'a>,
    fragments: Reassembler<'a>,
    /// When the bytes that have crossed the border will have had their time.
    border_due: Instant,
    config: Ipv6Config,
}

/// Where in the transport header the checksum is that the IPv6 output finishes, for the protocols that have the
/// pseudo-header of RFC 8200 section 8.1 in theirs.
const fn checksum_offset(next_header: NextHeader) -> Option<usize> {
    match next_header {
        NextHeader::TCP => Some(16),
        NextHeader::UDP => Some(6),
        NextHeader::ICMPV6 => Some(2),
        _ => None,
    }
}

impl<'a> Ipv6<'a> {
    /// Puts the module together, with all tables empty.
    pub fn new(memory: Memory<'a>, config: Ipv6Config) -> Self {
        Self {
            tables: Tables::new(memory.addresses, memory.neighbors, memory.routes),
            fragments: Reassembler::new(memory.partials, config.fragment),
            border_due: Instant::ZERO,
            config,
        }
    }

    /// Gives the tables back.
    pub fn into_tables(self) -> Memory<'a> {
        let (addresses, neighbors, routes) = self.tables.into_parts();
        Memory {
            addresses,
            neighbors,
            routes,
            partials: self.fragments.into_table(),
        }
    }

    /// Whether [`deadline`](Self::deadline) may have changed since this was last asked.
    pub fn deadline_changed(&mut self) -> bool {
        self.fragments.changed()
    }

    /// When [`expire`](Self::expire) wants to be called.
    pub fn deadline(&self) -> Option<Instant> {
        self.fragments.deadline()
    }

    /// Gives up one packet of which not all fragments came in time, if there is one.
    pub fn expire<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) -> Option<Next> {
        self.fragments.expire(cx)
    }

    /// Ends every packet that is kept here.
    pub fn give_up<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        self.fragments.give_up_all(cx, reason);
    }

    /// Shows every packet that is kept here to an audit.
    pub fn holds(&self, buf: &PktBuf<'_>, see: &mut dyn FnMut(&Pkt)) {
        self.fragments.holds(buf, see);
    }

    /// How it behaves.
    pub const fn config(&self) -> Ipv6Config {
        self.config
    }

    /// Changes how it behaves.
    pub const fn config_mut(&mut self) -> &mut Ipv6Config {
        &mut self.config
    }

    /// Gives an interface an address. The unspecified address is none, and taken for one that is there already.
    ///
    /// # Errors
    ///
    /// If there is no place left.
    pub fn add_address(&mut self, iface: IfaceId, addr: Ipv6Addr) -> Result<(), TableFull> {
        if addr.is_unspecified() {
            return Ok(());
        }
        self.tables.add_address(iface, addr)
    }

    /// Takes an address away; true if it was there.
    pub fn remove_address(&mut self, addr: Ipv6Addr) -> bool {
        self.tables.remove_address(addr)
    }

    /// The addresses that were given.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.tables.addresses()
    }

    /// Enters a static neighbour, in place of what was known of that address.
    ///
    /// # Errors
    ///
    /// If there is no place left.
    pub fn add_neighbor(&mut self, neighbor: Neighbor) -> Result<(), TableFull> {
        self.tables.add_neighbor(neighbor)
    }

    /// Enters a static route, in place of one to the same prefix.
    ///
    /// # Errors
    ///
    /// If there is no place left.
    pub fn add_route(&mut self, route: Route) -> Result<(), TableFull> {
        self.tables.add_route(route)
    }

    /// Removes the route to a prefix; true if it was there.
    pub fn remove_route(&mut self, prefix: Ipv6Addr, prefix_len: u8) -> bool {
        self.tables.remove_route(prefix, prefix_len)
    }

    /// The largest IPv6 packet that an interface carries, in bytes: that of 6LoWPAN (RFC 4944 section 4).
    const fn mtu(_iface: IfaceId) -> usize {
        MTU_MIN
    }

    /// Whether an address is one of this node's.
    pub fn owns(&self, addr: &Ipv6Addr) -> bool {
        self.tables.owns(addr)
    }

    /// Whether a packet to this address is for this node (RFC 4291 section 2.8).
    fn is_for_me(&self, dst: &Ipv6Addr) -> bool {
        if dst.is_multicast() {
            self.is_joined(dst)
        } else {
            self.tables.owns(dst)
        }
    }

    /// Whether this node listens to a multicast address: all nodes, all routers if it is one, and the solicited-node
    /// address of each address that it has (RFC 4291 section 2.8).
    fn is_joined(&self, group: &Ipv6Addr) -> bool {
        *group == ALL_NODES
            || (self.config.forwarding && (*group == ALL_ROUTERS || *group == ALL_SITE_ROUTERS))
            || self
                .tables
                .addresses()
                .any(|address| solicited_node(&address.addr) == *group)
    }
}
