//! The routes of the operating system.

use std::io;
use std::net::{IpAddr, Ipv6Addr};

use route_manager::{Route, RouteManager};

/// Whether the operating system has a route into a network already, be it to the whole of it or to a part; then as `ip route`
/// would write it. Routes to more than the network, such as the default route, do not count: the longer one goes first.
///
/// # Errors
///
/// If it does not tell.
pub fn into_network(prefix: Ipv6Addr, prefix_len: u8) -> io::Result<Option<String>> {
    let mask = u128::MAX.checked_shl(128 - u32::from(prefix_len)).unwrap_or(0);
    let leads_there = |route: &Route| match route.destination() {
        IpAddr::V6(to) => route.prefix() >= prefix_len && (to.to_bits() ^ prefix.to_bits()) & mask == 0,
        IpAddr::V4(_) => false,
    };
    let found = RouteManager::new()?.list()?.into_iter().find(leads_there);
    Ok(found.map(|route| {
        let device = route
            .if_name()
            .map_or(String::new(), |name| format!(" dev {name}"));
        format!("{}/{}{device}", route.destination(), route.prefix())
    }))
}

/// Enters a route to a network by a device. It goes when the device goes.
///
/// # Errors
///
/// Those of the operating system.
pub fn add(prefix: Ipv6Addr, prefix_len: u8, device: u32) -> io::Result<()> {
    let route = Route::new(IpAddr::V6(prefix), prefix_len).with_if_index(device);
    RouteManager::new()?.add(&route)
}
