//! Addresses and static routes of the nodes.

use std::net::Ipv6Addr;

use sixlo::ipv6::Route;

use super::{IFACE, OUTSIDE, is_addressed};
use crate::config::Downward;
use crate::world::Plan;

/// The other end of the link to the outside: it has two ends, so whatever the next hop is called, it is this one.
const OTHER_END: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);

/// Bits of the prefix of a network.
pub(super) const PREFIX_LEN: u8 = 64;

/// The global address of a node.
pub fn address(plan: &Plan, index: u16) -> Ipv6Addr {
    let link = plan.network.link_addr(index, plan.config.link.addresses);
    let iid = link.interface_id().map_or(0, u64::from_be_bytes);
    Ipv6Addr::from_bits(plan.config.link.prefix.to_bits() | u128::from(iid))
}

/// The link-local address of a node that others send to.
fn link_local(plan: &Plan, index: u16) -> Ipv6Addr {
    let link = plan.network.link_addr(index, plan.config.link.addresses);
    link.link_local().unwrap_or(Ipv6Addr::UNSPECIFIED)
}

/// The static routes of all nodes: a default route to the parent or towards the border, and routes down to whom something
/// may be sent.
pub(super) fn routes(plan: &Plan) -> Vec<Vec<Route>> {
    let border = plan.border();
    let down = |node: u16| match plan.config.downward_routes {
        Downward::All => true,
        // From outside anything may be sent to anyone.
        Downward::Needed => border.is_some() || is_addressed(plan, node),
    };
    let descendants = plan.routes.descendants();
    let of = |node: u16| {
        let behind = descendants[usize::from(node)].iter().filter(|&&(to, _)| down(to));
        let down = behind.map(|&(to, via)| Route::via(address(plan, to), 128, IFACE, link_local(plan, via)));
        let up = match border {
            Some(border) => towards_border(plan, border, node),
            None => up(plan, node).into_iter().collect(),
        };
        down.chain(up).collect()
    };
    (0..plan.nodes()).map(of).collect()
}

/// The default route to the parent.
fn up(plan: &Plan, node: u16) -> Option<Route> {
    let parent = plan.routes.parent(node)?;
    Some(Route::default_via(IFACE, link_local(plan, parent)))
}

/// The routes of a node that lead not to nodes behind it, where there is a border: the default route leads there, and on the
/// way from the sink to it the addresses of the mesh lead to the sink.
fn towards_border(plan: &Plan, border: u16, node: u16) -> Vec<Route> {
    let mesh = plan.config.link.prefix;
    let path: Vec<u16> = plan.routes.to_sink(border).collect();
    let Some(at) = path.iter().position(|&on_path| on_path == node) else {
        return up(plan, node).into_iter().collect();
    };
    let default = match at.checked_sub(1) {
        Some(before) => Route::default_via(IFACE, link_local(plan, path[before])),
        None => Route::default_via(OUTSIDE, OTHER_END),
    };
    let mesh = match plan.routes.parent(node) {
        Some(parent) => Route::via(mesh, PREFIX_LEN, IFACE, link_local(plan, parent)),
        // The sink knows all nodes. An address that it does not know is one of its neighbours, which do not answer: this
        // must not go out by the default route.
        None => Route::via(mesh, PREFIX_LEN, IFACE, Ipv6Addr::UNSPECIFIED),
    };
    vec![default, mesh]
}
