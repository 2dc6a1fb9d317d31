//! Addresses, neighbours and routes: static tables, lent by the caller.

use core::net::Ipv6Addr;

use crate::netdev::IfaceId;
use crate::wire::addr::{LinkAddr, common_prefix_len};
use crate::wire::ipv6::{self, Kind};

/// A table has no place left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFull;

/// An address of an interface. The empty value, the unspecified address, is all-zero bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The interface.
    pub iface: IfaceId,
    /// The address.
    pub addr: Ipv6Addr,
}

impl Address {
    /// A free place.
    pub const EMPTY: Self = Self {
        iface: IfaceId(0),
        addr: Ipv6Addr::UNSPECIFIED,
    };
}

/// The link-layer address of a neighbour. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbor {
    /// The interface on whose link it is.
    pub iface: IfaceId,
    /// Its IPv6 address.
    pub addr: Ipv6Addr,
    /// Its link-layer address.
    pub link: LinkAddr,
}

impl Neighbor {
    /// A free place.
    pub const EMPTY: Self = Self {
        iface: IfaceId(0),
        addr: Ipv6Addr::UNSPECIFIED,
        link: LinkAddr::None,
    };
}

/// A route. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The addresses that it leads to begin with this.
    pub prefix: Ipv6Addr,
    /// Bits of the prefix that count, 0 to 128.
    pub prefix_len: u8,
    /// The interface.
    pub iface: IfaceId,
    /// The next hop, or the unspecified address if the destination itself is on the link.
    pub next_hop: Ipv6Addr,
    /// The place is taken.
    pub used: bool,
}

impl Route {
    /// A free place.
    pub const EMPTY: Self = Self {
        prefix: Ipv6Addr::UNSPECIFIED,
        prefix_len: 0,
        iface: IfaceId(0),
        next_hop: Ipv6Addr::UNSPECIFIED,
        used: false,
    };

    /// A route by way of a next hop.
    pub const fn via(prefix: Ipv6Addr, prefix_len: u8, iface: IfaceId, next_hop: Ipv6Addr) -> Self {
        Self {
            prefix,
            prefix_len,
            iface,
            next_hop,
            used: true,
        }
    }

    /// The default route.
    pub const fn default_via(iface: IfaceId, next_hop: Ipv6Addr) -> Self {
        Self::via(Ipv6Addr::UNSPECIFIED, 0, iface, next_hop)
    }

    fn leads_to(&self, dst: &Ipv6Addr) -> bool {
        let len = u32::from(self.prefix_len).min(128);
        self.used && common_prefix_len(&self.prefix.octets(), &dst.octets()) >= len
    }
}

/// The tables. In each the entries that are used lie before the free ones.
pub(super) struct Tables<'a> {
    addresses: &'a mut [Address],
    addresses_used: usize,
    neighbors: &'a mut [Neighbor],
    neighbors_used: usize,
    routes: &'a mut [Route],
    routes_used: usize,
}

/// The three tables as they were lent.
pub(super) type Parts<'a> = (&'a mut [Address], &'a mut [Neighbor], &'a mut [Route]);

impl<'a> Tables<'a> {
    pub(super) fn new(
        addresses: &'a mut [Address],
        neighbors: &'a mut [Neighbor],
        routes: &'a mut [Route],
    ) -> Self {
        addresses.fill(Address::EMPTY);
        neighbors.fill(Neighbor::EMPTY);
        routes.fill(Route::EMPTY);
        Self {
            addresses,
            addresses_used: 0,
            neighbors,
            neighbors_used: 0,
            routes,
            routes_used: 0,
        }
    }

    pub(super) fn into_parts(self) -> Parts<'a> {
        (self.addresses, self.neighbors, self.routes)
    }

    pub(super) fn add_address(&mut self, iface: IfaceId, addr: Ipv6Addr) -> Result<(), TableFull> {
        let place = self.place_of(&addr).unwrap_or(self.addresses_used);
        *self.addresses.get_mut(place).ok_or(TableFull)? = Address { iface, addr };
        self.addresses_used = self.addresses_used.max(place + 1);
        Ok(())
    }

    pub(super) fn remove_address(&mut self, addr: Ipv6Addr) -> bool {
        let Some(place) = self.place_of(&addr) else {
            return false;
        };
        self.addresses_used -= 1;
        take_out(self.addresses, place, self.addresses_used, Address::EMPTY);
        true
    }

    pub(super) fn addresses(&self) -> core::slice::Iter<'_, Address> {
        let used = self.addresses.get(..self.addresses_used);
        used.unwrap_or_default().iter()
    }

    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn place_of(&self, addr: &Ipv6Addr) -> Option<usize> {
        self.addresses().position(|entry| entry.addr == *addr)
    }

    /// Whether an address is one of this node's. RFC 4291 section 2.8: the loopback address is every node's own.
    pub(super) fn owns(&self, addr: &Ipv6Addr) -> bool {
        ipv6::kind(addr) == Kind::Loopback || self.place_of(addr).is_some()
    }

    pub(super) fn add_neighbor(&mut self, neighbor: Neighbor) -> Result<(), TableFull> {
        let same = |entry: &Neighbor| entry.addr == neighbor.addr && entry.iface == neighbor.iface;
        let place = self.neighbors().position(same).unwrap_or(self.neighbors_used);
        *self.neighbors.get_mut(place).ok_or(TableFull)? = neighbor;
        self.neighbors_used = self.neighbors_used.max(place + 1);
        Ok(())
    }

    fn neighbors(&self) -> core::slice::Iter<'_, Neighbor> {
        let used = self.neighbors.get(..self.neighbors_used);
        used.unwrap_or_default().iter()
    }

    pub(super) fn add_route(&mut self, route: Route) -> Result<(), TableFull> {
        let place = self.place_of_route(&route.prefix, route.prefix_len);
        let place = place.unwrap_or(self.routes_used);
        *self.routes.get_mut(place).ok_or(TableFull)? = Route { used: true, ..route };
        self.routes_used = self.routes_used.max(place + 1);
        Ok(())
    }

    pub(super) fn remove_route(&mut self, prefix: Ipv6Addr, prefix_len: u8) -> bool {
        let Some(place) = self.place_of_route(&prefix, prefix_len) else {
            return false;
        };
        self.routes_used -= 1;
        take_out(self.routes, place, self.routes_used, Route::EMPTY);
        true
    }

    fn routes(&self) -> core::slice::Iter<'_, Route> {
        let used = self.routes.get(..self.routes_used);
        used.unwrap_or_default().iter()
    }

    fn place_of_route(&self, prefix: &Ipv6Addr, prefix_len: u8) -> Option<usize> {
        let same = |route: &Route| route.prefix_len == prefix_len && route.leads_to(prefix);
        self.routes().position(same)
    }

    /// The interface and the next hop towards a destination: the longest match.
    pub(super) fn route<'r>(&'r self, dst: &'r Ipv6Addr) -> Option<(IfaceId, &'r Ipv6Addr)> {
        let mut longest: Option<&Route> = None;
        for route in self.routes() {
            if longest.is_none_or(|longest| route.prefix_len > longest.prefix_len) && route.leads_to(dst) {
                longest = Some(route);
            }
        }
        let route = longest?;
        let next_hop = if route.next_hop.is_unspecified() {
            dst
        } else {
            &route.next_hop
        };
        Some((route.iface, next_hop))
    }

    /// The link-layer address of a next hop. That of a link-local address follows from the address, because
    /// autoconfigured link-local addresses of 6LoWPAN are made from it (RFC 6775 section 5.6 and RFC 4944 section 6).
    pub(super) fn link_addr(&self, iface: IfaceId, next_hop: &Ipv6Addr) -> Option<LinkAddr> {
        let mut neighbors = self.neighbors();
        if let Some(known) = neighbors.find(|entry| entry.addr == *next_hop && entry.iface == iface) {
            // One without an address is known not to be reachable.
            return Some(known.link).filter(|link| !link.is_empty());
        }
        if ipv6::kind(next_hop) != Kind::LinkLocal {
            return None;
        }
        let [_, _, _, _, _, _, _, _, iid @ ..] = next_hop.octets();
        Some(LinkAddr::from_interface_id(iid))
    }

    /// The source address for a destination that is not ours: of the same scope as it, on the interface, best with the
    /// longest common prefix (RFC 6724 section 5, rules 2 and 8).
    pub(super) fn select_source(&self, iface: IfaceId, dst: &Ipv6Addr) -> Option<&Ipv6Addr> {
        let wanted = ipv6::scope(dst);
        let mut best: Option<(u16, &Address)> = None;
        for entry in self.addresses().filter(|entry| entry.iface == iface) {
            let own = ipv6::scope(&entry.addr);
            // Rule 2: of scopes that suffice the smaller is better, and better than any other; of those the larger.
            // Scopes have four bits.
            let fit = if own >= wanted { u8::MAX - own.0 } else { own.0 };
            let common = common_prefix_len(&entry.addr.octets(), &dst.octets());
            let rank = u16::from(fit) << 8 | common as u16;
            if best.is_none_or(|(highest, _)| rank > highest) {
                best = Some((rank, entry));
            }
        }
        best.map(|(_, entry)| &entry.addr)
    }
}

/// Takes an entry out of a table: the `last` one takes its place.
fn take_out<T: Copy>(table: &mut [T], place: usize, last: usize, empty: T) {
    let moved = table.get(last).copied().unwrap_or(empty);
    for (place, entry) in [(place, moved), (last, empty)] {
        if let Some(old) = table.get_mut(place) {
            *old = entry;
        }
    }
}
