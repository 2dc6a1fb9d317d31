//! Windows and time-outs, and whose place the next datagram gets.

use std::vec;

use super::*;
use crate::congure::Batch;
use crate::ground::Core;
use crate::netreg::Registry;
use crate::pktbuf::{PktBuf, Seg, Slot};
use crate::rng::Rng;
use crate::timers::{Timer, Timers};

const RADIO: IfaceId = IfaceId(0);
const OTHER: IfaceId = IfaceId(1);
const A: LinkAddr = LinkAddr::Short(1);
const B: LinkAddr = LinkAddr::Short(2);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn with(config: RecoverConfig, test: impl FnOnce(&mut Cx<'_, '_, ()>, &mut Transfers<'_>)) {
    let (mut bytes, mut segs, mut slots) = ([0; 64], vec![Seg::EMPTY; 2], vec![Slot::EMPTY; 2]);
    let mut timers = [const { Timer::EMPTY }; 1];
    let buf = PktBuf::new(&mut bytes, &mut segs, &mut slots, [0; 2]).expect("no reserve");
    let mut core = Core::new(buf, Registry::new(&mut []), Timers::new(&mut timers), Rng::new(1));
    let mut cx = Cx {
        core: &mut core,
        sink: &mut (),
        now: Instant::from_micros(1_000_000),
    };
    let mut table = vec![Transfer::EMPTY, Transfer::EMPTY, Transfer::EMPTY];
    test(&mut cx, &mut Transfers::new(&mut table, config));
}

/// RFC 8931 section 7.1: Window_Size is at least 1 and less than 33.
#[test]
fn a_window_is_of_1_to_32_fragments() {
    for (configured, window) in [(0, 1), (1, 1), (32, 32), (33, 32), (255, 32)] {
        let config = RecoverConfig {
            window: configured,
            ..RecoverConfig::default()
        };
        assert_eq!(Transfer::EMPTY.window(&config), window);
    }
}

/// RFC 8931 sections 6 and 7.1: the fixed time-out doubles with each that passed, within its bounds.
#[test]
fn a_fixed_time_out_doubles_and_stays_within_its_bounds() {
    let config = |timeout| RecoverConfig {
        adaptive: false,
        arq_timeout: ms(timeout),
        arq_timeout_min: ms(250),
        arq_timeout_max: ms(10_000),
        fragment_retries: 7,
        ..RecoverConfig::default()
    };
    for (timeout, expected) in [
        (100, [250, 250, 400, 800, 1_600]),
        (1_200, [1_200, 2_400, 4_800, 9_600, 10_000]),
    ] {
        let config = config(timeout);
        with(config, |cx, transfers| {
            let place = transfers.open(cx, PktId::NONE, (RADIO, A), 1).expect("a place");
            let (table, _, params) = transfers.parts();
            let entry = &mut table[place];
            let geometry = Geometry::new(80, 10, 100, 9).expect("it fits");
            entry.sender.begin(geometry);
            for expected in expected {
                let times = entry.times(&config, &params);
                assert_eq!(times, (ms(expected), Duration::ZERO));
                let shot = entry.sender.shoot(cx.now, 1, 100, &config).expect("a fragment");
                entry.sender.settle(cx.now, shot, true, times, &config);
                cx.now += times.0;
                assert_eq!(entry.sender.expire(cx.now, &config), 1);
            }
        });
    }
}

/// Congestion control that learns goes on where the last datagram over the same hop ended, and nowhere else.
#[test]
fn the_next_datagram_over_the_same_hop_gets_its_place_and_what_was_learned() {
    let config = RecoverConfig {
        control: Some(Kind::Calm),
        ..RecoverConfig::default()
    };
    with(config, |cx, transfers| {
        let first = transfers.open(cx, PktId::NONE, (RADIO, A), 1).expect("a place");
        let other = transfers.open(cx, PktId::NONE, (RADIO, B), 2).expect("a place");
        let (table, _, params) = transfers.parts();
        let gap = |entry: &Transfer| entry.times(&config, &params).1;
        let fresh = gap(&table[other]);
        for _ in 0..2 {
            let lost = Report::TimedOut(Batch::again(1, cx.now));
            table[other].report(cx, &params, &lost);
        }
        assert!(gap(&table[other]) > fresh);
        let learned = gap(&table[other]);
        transfers.close(first);
        transfers.close(other);
        for (iface, hop, expected) in [(OTHER, B, fresh), (RADIO, B, learned), (RADIO, A, fresh)] {
            let place = transfers.open(cx, PktId::NONE, (iface, hop), 3).expect("a place");
            assert_eq!(gap(&transfers.parts().0[place]), expected, "{iface:?} {hop:?}");
            assert_eq!(place == other, (iface, hop) == (RADIO, B));
            transfers.close(place);
        }
    });
}

/// RFC 8931 section 6.2: an acknowledgement is for the datagram by interface, next hop and tag.
#[test]
fn a_datagram_is_found_by_interface_next_hop_and_tag() {
    with(RecoverConfig::default(), |cx, transfers| {
        assert!(!transfers.has_tag(RADIO, 0), "a free place has no tag");
        let place = transfers.open(cx, PktId::NONE, (RADIO, A), 7);
        assert_eq!(transfers.find(RADIO, A, 7), place);
        for (iface, hop, tag) in [(OTHER, A, 7), (RADIO, B, 7), (RADIO, A, 8)] {
            assert_eq!(transfers.find(iface, hop, tag), None);
        }
        assert!(transfers.has_tag(RADIO, 7));
        assert!(!transfers.has_tag(OTHER, 7) && !transfers.has_tag(RADIO, 8));
        transfers.changed();
        transfers.close(place.expect("a place"));
        assert!(transfers.changed());
        assert_eq!((transfers.find(RADIO, A, 7), transfers.used()), (None, 0));
    });
}
