use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::wire::ieee802154::{FrameType, Header};

#[test]
fn the_beacon_of_a_network_without_superframes_is_read() {
    // Of a coordinator 0x0000 in PAN 0x0023: no regular beacons, association permitted, one address pending.
    let frame = [
        0x00, 0x80, 5, 0x23, 0x00, 0x00, 0x00, 0xff, 0xcf, 0x00, 0x01, 0x34, 0x12, b'!',
    ];
    let (header, payload) = Header::parse(&frame).expect("a beacon frame");
    assert_eq!(
        (header.frame_type, header.src_pan),
        (FrameType::Beacon, Some(0x23))
    );
    let (beacon, rest) = Beacon::parse(payload).expect("a beacon");
    assert_eq!(rest, b"!");
    let superframe = Superframe {
        beacon_order: 15,
        superframe_order: 15,
        final_cap_slot: 15,
        battery_life_extension: false,
        pan_coordinator: true,
        association_permit: true,
    };
    assert_eq!(beacon.superframe, superframe);
    assert!(beacon.pending().eq([LinkAddr::Short(0x1234)]));
    assert_eq!(beacon.gts().count(), 0);
}

#[test]
fn guaranteed_time_slots_and_pending_addresses_are_read_in_their_order() {
    #[rustfmt::skip]
    let payload = [
        0x46, 0x18, 0x82,             // orders 6 and 4, last slot 8, battery life extension; slots permitted, two
        0x02,                         // the second only receives
        0x01, 0x00, 0x19,             // device 1: one slot from slot 9
        0x02, 0x00, 0x2a,             // device 2: two slots from slot 10
        0x11,                         // one short and one extended address
        0x34, 0x12,
        8, 7, 6, 5, 4, 3, 2, 1,
    ];
    let (beacon, rest) = Beacon::parse(&payload).expect("a beacon");
    assert_eq!(rest, []);
    assert!(beacon.gts_permit && beacon.superframe.battery_life_extension);
    assert!(beacon.gts().eq([
        Gts {
            device: 1,
            starting_slot: 9,
            slots: 1,
            receive: false
        },
        Gts {
            device: 2,
            starting_slot: 10,
            slots: 2,
            receive: true
        },
    ]));
    assert!(beacon.pending().eq([
        LinkAddr::Short(0x1234),
        LinkAddr::Extended([1, 2, 3, 4, 5, 6, 7, 8])
    ]));
    for cut in 0..payload.len() {
        assert_eq!(Beacon::parse(&payload[..cut]), Err(ParseError::Truncated));
    }
}

#[test]
fn reserved_bits_are_not_looked_at() {
    let payload = [0x00, 0x20, 0x79, 0x81, 1, 0, 0, 0x88];
    let (beacon, _) = Beacon::parse(&payload).expect("a beacon");
    assert_eq!(
        (beacon.superframe, beacon.gts_directions),
        (Superframe::default(), 1)
    );
    assert_eq!((beacon.gts().count(), beacon.pending().count()), (1, 0));
}

#[test]
fn beacons_that_no_frame_can_hold_are_refused() {
    let eight = [[0; 2]; 8];
    let slots = [[0; 3]; 8];
    let fine = Beacon::default();
    for beacon in [
        Beacon {
            pending_short: &eight,
            ..fine
        },
        Beacon {
            pending_short: &eight[..4],
            pending_extended: &[[0; 8]; 4],
            ..fine
        },
        Beacon {
            gts_list: &slots,
            ..fine
        },
        Beacon {
            gts_directions: 1,
            ..fine
        },
        Beacon {
            superframe: Superframe {
                beacon_order: 16,
                ..fine.superframe
            },
            ..fine
        },
    ] {
        assert_eq!(beacon.emit(&mut [0; 99]), Err(ParseError::Reserved));
    }
    assert_eq!(
        Beacon::parse(&[0, 0, 0, 0x44, 0, 0, 0, 0]),
        Err(ParseError::Reserved)
    );
    assert_eq!(fine.emit(&mut [0; 3]), Err(ParseError::NoRoom));
}

proptest! {
    #[test]
    fn what_emit_wrote_parses_to_the_same_beacon(
        superframe in (0..16_u8, 0..16_u8, 0..16_u8, any::<[bool; 3]>()),
        (gts_permit, directions) in (any::<bool>(), 0..0x80_u8),
        slots in vec(any::<[u8; 3]>(), 0..8),
        short in vec(any::<[u8; 2]>(), 0..5),
        extended in vec(any::<[u8; 8]>(), 0..4),
    ) {
        let (beacon_order, superframe_order, final_cap_slot, [battery, coordinator, association]) = superframe;
        let beacon = Beacon {
            superframe: Superframe {
                beacon_order,
                superframe_order,
                final_cap_slot,
                battery_life_extension: battery,
                pan_coordinator: coordinator,
                association_permit: association,
            },
            gts_permit,
            gts_directions: if slots.is_empty() { 0 } else { directions },
            gts_list: &slots,
            pending_short: &short,
            pending_extended: &extended,
        };
        let mut out = [0; 125];
        let len = beacon.emit(&mut out).expect("it fits");
        prop_assert_eq!(len, beacon.emit_len());
        prop_assert_eq!(Beacon::parse(&out[..len]), Ok((beacon, &[][..])));
    }

    #[test]
    fn no_bytes_make_it_panic(payload: Vec<u8>) {
        if let Ok((beacon, _)) = Beacon::parse(&payload) {
            prop_assert!(beacon.gts().count() <= LIST_MAX && beacon.pending().count() <= LIST_MAX);
        }
    }
}
