//! The entry that a first fragment gets.

use std::vec;

use super::*;
use crate::lowpan::{LowpanConfig, Peer, Tables, Vrb};
use crate::wire::addr::LinkAddr;
use crate::wire::iphc::Link;

const RADIO: IfaceId = IfaceId(0);
const OTHER: IfaceId = IfaceId(1);
const SIZE: u16 = 400;

fn with(test: impl FnOnce(&mut Lowpan<'_>)) {
    let (mut vrbs, mut peers) = (vec![Vrb::EMPTY; 4], [Peer::EMPTY; 8]);
    let tables = Tables {
        reassemblies: &mut [],
        contexts: &mut [],
        vrbs: &mut vrbs,
        peers: &mut peers,
        transfers: &mut [],
        inbounds: &mut [],
    };
    test(&mut Lowpan::new(tables, LowpanConfig::default(), 0));
}

/// The place, the tag that goes out and whether it was there before, for a first fragment under tag 7.
fn switched(lowpan: &mut Lowpan<'_>, size: u16, iface: IfaceId, dst: u16) -> (usize, u16, bool) {
    let meta = Meta {
        link_src: LinkAddr::Short(1),
        ..Meta::default()
    };
    let fragment = Incoming {
        header: Rfrag {
            tag: 7,
            offset: size,
            size: 80,
            congested: false,
            ack_request: false,
            sequence: 0,
        },
        data: &[],
        meta: &meta,
        id: PktId::NONE,
    };
    let (src, dst) = (LinkAddr::Short(2), LinkAddr::Short(dst));
    let link = Link { src, dst };
    let out = Out {
        iface,
        link,
        room: 100,
    };
    let switched = lowpan.label_switched(Instant::ZERO, &fragment, &out);
    let (index, known) = switched.expect("there is room");
    assert_eq!(lowpan.vrbs.used(), 1, "one entry a datagram");
    assert_eq!(lowpan.vrbs.to(index), dst);
    let entry = lowpan.vrbs.entry(index);
    assert_eq!(
        (entry.out_iface, entry.size, entry.kind),
        (iface, size, Kind::Recover)
    );
    (index, entry.out_tag, known)
}

/// RFC 8931 section 6.1.1: where the way has changed, or the datagram, the next hop gets another tag.
#[test]
fn a_first_fragment_keeps_its_tag_as_long_as_its_way_and_its_size_are_the_same() {
    with(|lowpan| {
        let (_, tag, known) = switched(lowpan, SIZE, RADIO, 3);
        assert!(!known);
        assert_eq!(switched(lowpan, SIZE, RADIO, 3).1, tag);
        assert!(switched(lowpan, SIZE, RADIO, 3).2);
        let mut last = tag;
        for (size, iface, dst) in [
            (SIZE, RADIO, 4),
            (SIZE, OTHER, 4),
            (SIZE + 1, OTHER, 4),
            (SIZE, RADIO, 3),
        ] {
            let (_, tag, known) = switched(lowpan, size, iface, dst);
            assert!(tag != last && !known, "{size} {iface:?} {dst}");
            last = tag;
        }
    });
}
