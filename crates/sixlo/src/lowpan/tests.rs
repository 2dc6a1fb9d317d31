//! What stands before a datagram in a frame, and the tags that this node gives.

use std::vec;
use std::vec::Vec;

use super::vrb::{Kind, Side};
use super::*;
use crate::netdev::IfaceId;
use crate::time::Duration;
use crate::wire::addr::LinkAddr;
use crate::wire::lowpan as wire;
use proptest::prelude::{Strategy as _, any, prop, prop_oneof, proptest};

const IFACE: IfaceId = IfaceId(0);

/// Why the stack refuses what the formats allow: it acts upon neither.
fn refused_on_purpose(preface: &wire::Preface<'_>) -> Option<Reason> {
    let critical = |header: RoutingHeader<'_>| {
        matches!(header, RoutingHeader::SourceRoute(_) | RoutingHeader::RplInfo(_))
    };
    if preface.mesh.is_some() {
        return Some(Reason::LowpanMesh);
    }
    let routed = preface.routing.iter().any(critical);
    routed.then_some(Reason::LowpanCriticalHeader)
}

/// [`strip`] reads only what the stack acts upon. It gives what `wire::lowpan::strip` gives, but for headers of a mesh and
/// critical routing headers, which it refuses as such whatever is in them.
fn assert_agree(payload: &[u8]) {
    let full = wire::strip(payload);
    let light = strip(payload);
    match full {
        Ok((dispatch, rest, preface)) => match refused_on_purpose(&preface) {
            None => assert_eq!(light, Ok((dispatch, rest)), "{payload:02x?}"),
            Some(reason) => assert_eq!(light, Err(reason), "{payload:02x?}"),
        },
        Err(error) => assert!(light.is_err(), "{error:?} {payload:02x?} {light:?}"),
    }
}

/// All that can stand in front of a datagram, some of it cut off or out of form, and the fronts of datagrams.
const PIECES: [&[u8]; 23] = [
    // Not LoWPAN, ESC, IPv6, HC1, broadcast, IPHC.
    &[0x00],
    &[0x40],
    &[0x41],
    &[0x42],
    &[0x50, 1],
    &[0x7a, 0x33],
    // Mesh addressing with short addresses, and with more hops than the dispatch holds.
    &[0xb5, 0x12, 0x34, 0x56, 0x78],
    &[0xbf, 0x20, 0x12, 0x34, 0x56, 0x78],
    // Fragments.
    &[0xc1, 0, 0, 7],
    &[0xe1, 0, 0, 7, 12],
    &[0xe8, 7, 0, 8, 0, 99],
    &[0xea, 7, 0xff, 0, 0, 0],
    // Pages.
    &[0xf0],
    &[0xf1],
    &[0xf2],
    // Elective routing headers: IP-in-IP, one that is not known, one without content, one that is cut off, and an IP-in-IP
    // without a hop limit.
    &[0xa1, 6, 64],
    &[0xa2, 9, 1, 2],
    &[0xa0, 9],
    &[0xbf, 9],
    &[0xa0, 6],
    // Critical ones: a source route, the information of RPL, and one that is not known.
    &[0x80, 0, 1],
    &[0x80, 5, 0, 1, 2],
    &[0x80, 0x7f],
];

#[test]
fn the_light_and_the_full_way_to_the_datagram_agree_on_all_rows_of_headers() {
    let mut payload = Vec::new();
    let count = PIECES.len();
    let mut accepted = 0;
    for length in 0..=4 {
        for mut number in 0..count.pow(length) {
            payload.clear();
            for _ in 0..length {
                payload.extend(PIECES[number % count]);
                number /= count;
            }
            assert_agree(&payload);
            accepted += usize::from(strip(&payload).is_ok());
        }
    }
    assert!(accepted > 50_000, "{accepted}");
}

#[test]
fn the_light_and_the_full_way_to_the_datagram_agree_on_all_beginnings() {
    for first in 0..=0xffff_u16 {
        let [a, b] = first.to_be_bytes();
        for tail in [&[][..], &[0; 4], &[0x7a; 40], &[0xff; 3]] {
            assert_agree(&[&[a, b], tail].concat());
            assert_agree(&[&[0xf1, a, b], tail].concat());
        }
    }
}

proptest! {
    #[test]
    fn the_light_and_the_full_way_to_the_datagram_agree_on_any_bytes(
        pieces in prop::collection::vec(prop_oneof![
            (0..PIECES.len()).prop_map(|at| PIECES[at].to_vec()),
            prop::collection::vec(any::<u8>(), 1..4),
        ], 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let payload = pieces.concat();
        assert_agree(&payload);
        assert_agree(&payload[..cut.index(payload.len() + 1)]);
    }
}

fn with(vrbs: usize, test: impl FnOnce(&mut Lowpan<'_>)) {
    let (mut vrbs, mut peers) = (vec![Vrb::EMPTY; vrbs], [Peer::EMPTY; 4]);
    let tables = Tables {
        reassemblies: &mut [],
        contexts: &mut [],
        vrbs: &mut vrbs,
        peers: &mut peers,
        transfers: &mut [],
        inbounds: &mut [],
    };
    test(&mut Lowpan::new(tables, LowpanConfig::default(), 0xfffe));
}

/// Remembers a datagram that goes out over an interface under this tag.
fn occupy(lowpan: &mut Lowpan<'_>, kind: Kind, iface: IfaceId, tag: u16) {
    let side = |addr, tag| Side { iface, addr, tag };
    // An address is counted at most 255 times.
    let to = LinkAddr::Short(2 + tag % 2);
    let sides = (side(LinkAddr::Short(tag % 2), tag), side(to, tag));
    let opened = lowpan.open_vrb(Instant::ZERO, kind, sides, 100, Duration::from_secs(1));
    assert!(opened.is_some(), "there is room");
}

/// RFC 8930 section 5: the tag is unique to the node that gives it.
#[test]
fn a_tag_that_is_in_use_over_an_interface_is_not_given_again() {
    with(8, |lowpan| {
        for tag in [0xfffe, 0xffff, 1] {
            occupy(lowpan, Kind::Plain, IFACE, tag);
        }
        // These have tags of their own.
        occupy(lowpan, Kind::Recover, IFACE, 0);
        occupy(lowpan, Kind::Plain, IfaceId(1), 2);
        let tags: Vec<_> = (0..3).map(|_| lowpan.next_tag(IFACE)).collect();
        assert_eq!(tags, [0, 2, 3]);
    });
}

/// RFC 8931 section 5: the same for tags of eight bits, which may all be taken.
#[test]
fn when_all_tags_of_recoverable_fragments_are_in_use_there_is_none() {
    with(257, |lowpan| {
        occupy(lowpan, Kind::Plain, IFACE, 0xff);
        assert_eq!(lowpan.next_short_tag(IFACE), Some(0xff));
        for tag in (0..=255).filter(|tag| *tag != 7) {
            occupy(
                lowpan,
                if tag % 2 == 0 { Kind::Recover } else { Kind::Full },
                IFACE,
                tag,
            );
        }
        assert_eq!(lowpan.next_short_tag(IFACE), Some(7));
        // It is still free.
        assert_eq!(lowpan.next_short_tag(IFACE), Some(7));
        assert_eq!(lowpan.next_short_tag(IfaceId(1)), Some(8));
    });
    with(256, |lowpan| {
        for tag in 0..=255 {
            occupy(lowpan, Kind::Recover, IFACE, tag);
        }
        assert_eq!(lowpan.next_short_tag(IFACE), None);
    });
}
