//! Static tables: addresses, neighbours, routes.

use super::super::tables::Tables;
use super::*;
use crate::netdev::IfaceId;
use proptest::prelude::*;

struct Room {
    addresses: [Address; 3],
    neighbors: [Neighbor; 2],
    routes: [Route; 6],
}

impl Room {
    fn new() -> Self {
        Self {
            addresses: [Address::EMPTY; 3],
            neighbors: [Neighbor::EMPTY; 2],
            routes: [Route::EMPTY; 6],
        }
    }

    fn tables(&mut self) -> Tables<'_> {
        Tables::new(&mut self.addresses, &mut self.neighbors, &mut self.routes)
    }
}

fn addr(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

#[test]
fn the_longest_prefix_that_fits_leads_the_way_whatever_the_order_of_entry() {
    let prefixes = [
        ("::", 0),
        ("fd00::", 8),
        ("fd00::", 64),
        ("fd00::1:0", 112),
        ("fd00::1:5", 128),
    ];
    let expected = [
        ("2001::1", 0),
        ("fc01::1", 0),
        ("fd00:1::", 1),
        ("fd00::9", 2),
        ("fd00::1:6", 3),
        ("fd00::1:5", 4),
    ];
    for turn in 0..prefixes.len() {
        let mut room = Room::new();
        let mut tables = room.tables();
        for step in 0..prefixes.len() {
            let at = (step + turn) % prefixes.len();
            let (prefix, len) = prefixes[at];
            let via = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, at as u16 + 1);
            tables
                .add_route(Route::via(addr(prefix), len, IFACE, via))
                .unwrap();
        }
        for (dst, at) in expected {
            let dst = addr(dst);
            let (_, via) = tables.route(&dst).unwrap();
            assert_eq!(via.segments()[7], at + 1, "{dst} in turn {turn}");
        }
    }
}

#[test]
fn a_route_is_replaced_by_one_to_the_same_prefix_whatever_its_other_bits() {
    let mut room = Room::new();
    let mut tables = room.tables();
    tables
        .add_route(Route::via(addr("fd00::1"), 64, IFACE, link_local(1)))
        .unwrap();
    tables
        .add_route(Route::via(addr("fd00::2"), 64, IfaceId(1), link_local(2)))
        .unwrap();
    assert_eq!(tables.route(&addr("fd00::9")), Some((IfaceId(1), &link_local(2))));
    assert!(tables.remove_route(addr("fd00::"), 64));
    assert!(!tables.remove_route(addr("fd00::"), 64), "there was one");
    assert_eq!(tables.route(&addr("fd00::9")), None);
}

#[test]
fn a_full_table_says_so_and_a_removed_entry_makes_room() {
    let mut room = Room::new();
    let mut tables = room.tables();
    let route = |k: u16| Route::via(global(usize::from(k)), 128, IFACE, link_local(1));
    for k in 0..6 {
        tables.add_route(route(k)).unwrap();
    }
    assert_eq!(tables.add_route(route(6)), Err(TableFull));
    assert!(tables.remove_route(global(3), 128));
    tables.add_route(route(6)).unwrap();
    for k in [0, 1, 2, 4, 5, 6] {
        assert!(tables.route(&global(k)).is_some(), "{k}");
    }
    assert!(tables.route(&global(3)).is_none());

    for k in 0..3 {
        tables.add_address(IFACE, global(k)).unwrap();
    }
    tables.add_address(IfaceId(1), global(0)).expect("known already");
    assert_eq!(tables.add_address(IFACE, global(9)), Err(TableFull));
    assert!(tables.remove_address(global(1)) && !tables.remove_address(global(1)));
    tables.add_address(IFACE, global(9)).unwrap();
    assert!(tables.owns(&global(9)) && !tables.owns(&global(1)));

    let neighbor = |k, link| Neighbor {
        iface: IFACE,
        addr: global(k),
        link: LinkAddr::Short(link),
    };
    tables.add_neighbor(neighbor(1, 1)).unwrap();
    tables.add_neighbor(neighbor(2, 2)).unwrap();
    tables
        .add_neighbor(neighbor(1, 3))
        .expect("in place of the old one");
    assert_eq!(tables.add_neighbor(neighbor(3, 3)), Err(TableFull));
    assert_eq!(tables.link_addr(IFACE, &global(1)), Some(LinkAddr::Short(3)));
    assert_eq!(tables.link_addr(IfaceId(1), &global(1)), None, "on another link");
}

#[test]
fn the_unspecified_address_takes_no_place_and_belongs_to_nobody() {
    let mut room = Room::new();
    let mut tables = room.tables();
    assert!(!tables.owns(&Ipv6Addr::UNSPECIFIED));
    assert!(!tables.remove_address(Ipv6Addr::UNSPECIFIED));
    assert_eq!(tables.addresses().count(), 0);
    let mut net = Net::chain(1);
    let stack = &mut net.node(1).stack;
    assert_eq!(stack.add_address(IFACE, Ipv6Addr::UNSPECIFIED), Ok(()));
    assert!(!stack.remove_address(Ipv6Addr::UNSPECIFIED));
    stack.add_address(IFACE, global(8)).expect("a third of four");
    stack.add_address(IFACE, global(9)).expect("a fourth of four");
}

/// RFC 4944 section 7, RFC 6282 section 3.2.2: link-local addresses are made of link-layer addresses.
#[test]
fn the_link_address_of_a_link_local_neighbour_follows_from_its_address() {
    let mut room = Room::new();
    let mut tables = room.tables();
    let extended = LinkAddr::Extended([0x12, 0x34, 5, 6, 7, 8, 9, 10]);
    for link in [extended, LinkAddr::Short(0xab)] {
        let neighbor = link.link_local().unwrap();
        assert_eq!(tables.link_addr(IFACE, &neighbor), Some(link));
    }
    let known = LinkAddr::Short(5);
    let addr = extended.link_local().unwrap();
    tables
        .add_neighbor(Neighbor {
            iface: IFACE,
            addr,
            link: known,
        })
        .unwrap();
    assert_eq!(
        tables.link_addr(IFACE, &addr),
        Some(known),
        "what was entered goes first"
    );
    tables
        .add_neighbor(Neighbor {
            iface: IFACE,
            addr,
            link: LinkAddr::None,
        })
        .unwrap();
    assert_eq!(
        tables.link_addr(IFACE, &addr),
        None,
        "a frame needs an address, and none is made up for a neighbour that was entered without"
    );
}

proptest! {
    /// The table against the definition: of all routes whose prefix fits, one with the longest.
    #[test]
    fn any_routes_agree_with_a_search_for_the_longest_prefix(
        routes in prop::collection::vec((0_u16..8, 100_u8..=128), 0..6),
        dst in 0_u16..16,
    ) {
        let mut room = Room::new();
        let mut tables = room.tables();
        let mut model: Vec<(u128, u8, u16)> = Vec::new();
        for (number, (last, len)) in routes.into_iter().enumerate() {
            let prefix = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last * 2);
            let via = number as u16 + 1;
            tables.add_route(Route::via(prefix, len, IFACE, link_local(usize::from(via)))).unwrap();
            let bits = prefix.to_bits() >> (128 - len);
            model.retain(|entry| (entry.0, entry.1) != (bits, len));
            model.push((bits, len, via));
        }
        let dst = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, dst);
        let fitting = model.iter().filter(|(bits, len, _)| dst.to_bits() >> (128 - len) == *bits);
        let expected = fitting.max_by_key(|(_, len, _)| *len).map(|(_, _, via)| *via);
        let found = tables.route(&dst).map(|(_, via)| via.segments()[7]);
        prop_assert_eq!(found, expected);
    }
}
