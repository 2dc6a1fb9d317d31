//! The life of an entry, with time by hand.

use std::vec;
use std::vec::Vec;

use super::super::peers::Peer;
use super::*;

const RADIO: IfaceId = IfaceId(0);
const OTHER: IfaceId = IfaceId(1);
const A: LinkAddr = LinkAddr::Short(1);
const B: LinkAddr = LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 2]);
const C: LinkAddr = LinkAddr::Short(3);
const TIMEOUT: Duration = Duration::from_secs(65);
const WINDOW: Duration = Duration::from_millis(500);
const SIZE: u16 = 400;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

const fn side(iface: IfaceId, addr: LinkAddr, tag: u16) -> Side {
    Side { iface, addr, tag }
}

fn with<R>(entries: usize, peers: usize, test: impl FnOnce(&mut Vrbs<'_>) -> R) -> R {
    let (mut table, mut peers) = (vec![Vrb::EMPTY; entries], vec![Peer::EMPTY; peers]);
    test(&mut Vrbs::new(&mut table, Peers::new(&mut peers)))
}

/// Opens an entry for a datagram from A to B.
fn open(vrbs: &mut Vrbs<'_>, now: Instant, kind: Kind, tag: u16, evict: Option<Duration>) -> Option<usize> {
    let sides = (side(RADIO, A, tag), side(RADIO, B, tag + 1_000));
    vrbs.open(now, kind, sides, SIZE, TIMEOUT, evict)
}

/// The tags of what came in, in the order of the table.
fn tags(vrbs: &Vrbs<'_>) -> Vec<u16> {
    let used = vrbs.table.iter().filter(|entry| entry.kind != Kind::Free);
    used.map(|entry| entry.in_tag).collect()
}

/// RFC 8930 section 6: (interface, link source, tag) of what comes in, and what it becomes; for acknowledgements back.
#[test]
fn an_entry_is_found_by_all_of_what_comes_in_and_of_what_goes_out() {
    with(4, 4, |vrbs| {
        let sides = (side(RADIO, A, 7), side(OTHER, B, 9));
        let opened = vrbs.open(at(0), Kind::Plain, sides, SIZE, TIMEOUT, None);
        let index = opened.expect("a place");
        assert_eq!(vrbs.find_in(false, side(RADIO, A, 7)), Some(index));
        assert_eq!(vrbs.find_out(false, OTHER, 9), Some(index));
        assert_eq!((vrbs.from(index), vrbs.to(index)), (A, B));
        let entry = *vrbs.entry(index);
        assert_eq!((entry.in_iface, entry.in_tag), (RADIO, 7));
        assert_eq!((entry.out_iface, entry.out_tag, entry.size), (OTHER, 9, SIZE));
        assert!(!entry.progressed && entry.queued == 0 && entry.next == 0);
        let others = [
            (true, side(RADIO, A, 7)),
            (false, side(OTHER, A, 7)),
            (false, side(RADIO, B, 7)),
            (false, side(RADIO, A, 9)),
        ];
        for (recoverable, from) in others {
            assert_eq!(vrbs.find_in(recoverable, from), None, "{from:?}");
        }
        for (recoverable, iface, tag) in [(true, OTHER, 9), (false, RADIO, 9), (false, OTHER, 7)] {
            assert_eq!(vrbs.find_out(recoverable, iface, tag), None);
        }
    });
}

/// RFC 8931 section 5: its tags are apart from those of RFC 4944, for as long as the entry lives.
#[test]
fn the_two_kinds_of_fragments_share_the_table_and_no_tag() {
    with(4, 4, |vrbs| {
        let plain = open(vrbs, at(0), Kind::Plain, 7, None).expect("a place");
        let recover = open(vrbs, at(0), Kind::Recover, 7, None).expect("a place");
        for after in [false, true] {
            if after {
                vrbs.entry_mut(plain).kind = Kind::Broken;
                vrbs.entry_mut(recover).kind = Kind::Full;
            }
            assert_eq!(vrbs.find_in(false, side(RADIO, A, 7)), Some(plain));
            assert_eq!(vrbs.find_in(true, side(RADIO, A, 7)), Some(recover));
            assert_eq!(vrbs.find_out(false, RADIO, 1_007), Some(plain));
            assert_eq!(vrbs.find_out(true, RADIO, 1_007), Some(recover));
        }
        // A free place has the tag 0, on interface 0, and belongs to nobody.
        assert_eq!(vrbs.find_in(false, side(RADIO, LinkAddr::None, 0)), None);
        assert_eq!(vrbs.find_out(false, RADIO, 0), None);
    });
}

/// RFC 8930 section 6: the last fragment frees the entry, once its frame was sent.
#[test]
fn the_last_fragment_frees_an_entry_when_its_frame_is_sent_and_not_before() {
    for kind in [Kind::Plain, Kind::Broken, Kind::Recover, Kind::Full] {
        for (next, queued) in [(SIZE - 1, 0), (SIZE, 1), (SIZE, 0), (SIZE + 1, 0)] {
            with(1, 2, |vrbs| {
                let index = open(vrbs, at(0), kind, 7, None).expect("a place");
                let entry = vrbs.entry_mut(index);
                (entry.next, entry.queued) = (next, queued);
                vrbs.free_if_done(index);
                let is_plain = matches!(kind, Kind::Plain | Kind::Broken);
                let done = is_plain && queued == 0 && next >= SIZE;
                assert_eq!(vrbs.used(), usize::from(!done), "{kind:?} {next} {queued}");
                assert_eq!(vrbs.peers.used(), if done { 0 } else { 2 });
            });
        }
    }
}

#[test]
fn an_entry_ends_at_its_deadline_and_those_with_more_time_stay() {
    with(3, 2, |vrbs| {
        assert_eq!(vrbs.deadline(), None);
        for (tag, ms) in [(1, 0), (2, 10), (3, 20)] {
            open(vrbs, at(ms), Kind::Plain, tag, None).expect("a place");
        }
        assert!(vrbs.changed() && !vrbs.changed());
        assert_eq!(vrbs.deadline(), Some(at(0) + TIMEOUT));
        vrbs.expire(at(64_999));
        assert_eq!(tags(vrbs), [1, 2, 3]);
        assert!(!vrbs.changed());
        // A fragment came: its time begins anew, and the timer may go off once for nothing.
        vrbs.heard(0, at(30_000) + TIMEOUT);
        assert!(vrbs.entry(0).progressed && !vrbs.changed());
        vrbs.expire(at(65_010));
        assert_eq!(tags(vrbs), [1, 3]);
        assert!(vrbs.changed());
        assert_eq!(vrbs.deadline(), Some(at(65_020)));
        // A shorter time is told, so that the timer is set.
        vrbs.set_deadline(0, at(65_011));
        assert!(vrbs.changed());
        assert_eq!(vrbs.deadline(), Some(at(65_011)));
        vrbs.expire(at(100_000));
        assert_eq!((vrbs.used(), vrbs.peers.used(), vrbs.deadline()), (0, 0, None));
    });
}

#[test]
fn a_full_table_refuses_without_harm_unless_something_may_give_way() {
    with(2, 2, |vrbs| {
        open(vrbs, at(0), Kind::Plain, 1, None).expect("a place");
        open(vrbs, at(0), Kind::Recover, 2, None).expect("a place");
        for evict in [None, Some(WINDOW)] {
            assert_eq!(open(vrbs, at(499), Kind::Plain, 3, evict), None);
        }
        assert_eq!(open(vrbs, at(60_000), Kind::Plain, 3, None), None);
        assert_eq!(tags(vrbs), [1, 2]);
        assert_eq!(vrbs.peers.used(), 2);
    });
    with(0, 2, |vrbs| {
        assert_eq!(open(vrbs, at(0), Kind::Plain, 1, Some(WINDOW)), None);
        assert_eq!(vrbs.peers.used(), 0);
    });
}

#[test]
fn what_is_broken_or_done_gives_way_at_once_but_not_while_its_frames_wait() {
    for over in [Kind::Broken, Kind::Full] {
        with(2, 2, |vrbs| {
            open(vrbs, at(0), Kind::Plain, 1, None).expect("a place");
            let done = open(vrbs, at(0), Kind::Recover, 2, None).expect("a place");
            let entry = vrbs.entry_mut(done);
            (entry.kind, entry.queued) = (over, 1);
            assert_eq!(open(vrbs, at(1), Kind::Plain, 3, None), None);
            vrbs.entry_mut(done).queued = 0;
            assert_eq!(open(vrbs, at(1), Kind::Plain, 3, None), Some(done));
            assert_eq!(tags(vrbs), [1, 3]);
            assert_eq!(vrbs.peers.used(), 2);
        });
    }
}

#[test]
fn of_the_silent_ones_of_its_kind_the_one_that_got_least_far_gives_way() {
    let fill = |vrbs: &mut Vrbs<'_>| {
        open(vrbs, at(0), Kind::Recover, 1, None).expect("a place");
        for (tag, ms) in [(2, 10), (3, 20), (4, 0)] {
            open(vrbs, at(ms), Kind::Plain, tag, None).expect("a place");
        }
        // The oldest got beyond its first fragment.
        vrbs.heard(3, at(0) + TIMEOUT);
    };
    with(4, 2, |vrbs| {
        fill(vrbs);
        // Silent for just long enough are only those.
        assert_eq!(open(vrbs, at(509), Kind::Plain, 5, Some(WINDOW)), Some(3));
        assert_eq!(open(vrbs, at(509), Kind::Plain, 6, Some(WINDOW)), None);
        assert_eq!(open(vrbs, at(510), Kind::Plain, 6, Some(WINDOW)), Some(1));
        assert_eq!(tags(vrbs), [1, 6, 3, 5]);
    });
    with(4, 2, |vrbs| {
        fill(vrbs);
        vrbs.entry_mut(1).queued = 1;
        let order: Vec<_> = (5..9)
            .map(|tag| open(vrbs, at(1_000), Kind::Plain, tag, Some(WINDOW)))
            .collect();
        // Neither the one whose frame waits nor the other kind.
        assert_eq!(order, [Some(2), Some(3), None, None]);
        assert_eq!(tags(vrbs), [1, 2, 5, 6]);
        assert_eq!(open(vrbs, at(1_000), Kind::Recover, 9, Some(WINDOW)), Some(0));
    });
}

/// The neighbours have a table of their own, which may be full first.
#[test]
fn where_a_neighbour_has_no_place_no_entry_is_opened_and_none_is_taken_from_others() {
    with(3, 2, |vrbs| {
        open(vrbs, at(0), Kind::Plain, 1, None).expect("a place");
        let unknown = [
            (side(RADIO, A, 2), side(RADIO, C, 2)),
            (side(RADIO, C, 2), side(RADIO, B, 2)),
        ];
        for sides in unknown {
            assert_eq!(vrbs.open(at(0), Kind::Plain, sides, SIZE, TIMEOUT, None), None);
        }
        assert_eq!((vrbs.used(), vrbs.peers.used()), (1, 2));
        vrbs.free(0);
        assert_eq!(
            vrbs.peers.used(),
            0,
            "each address was released as often as taken"
        );
        // Freeing what is free does nothing.
        vrbs.free(0);
        assert!(vrbs.changed());
        vrbs.free(0);
        assert!(!vrbs.changed());
    });
}

#[test]
fn after_a_reboot_nothing_of_before_is_known() {
    let (mut table, mut peers) = ([Vrb::EMPTY; 2], [Peer::EMPTY; 2]);
    let mut vrbs = Vrbs::new(&mut table, Peers::new(&mut peers));
    open(&mut vrbs, at(0), Kind::Plain, 1, None).expect("a place");
    open(&mut vrbs, at(0), Kind::Recover, 2, None).expect("a place");
    let (table, peers) = vrbs.into_parts();
    let vrbs = Vrbs::new(table, Peers::new(peers.into_table()));
    assert_eq!((vrbs.used(), vrbs.peers.used(), vrbs.deadline()), (0, 0, None));
    assert_eq!(vrbs.find_in(false, side(RADIO, A, 1)), None);
    assert_eq!(vrbs.find_out(true, RADIO, 1_002), None);
}

#[test]
fn what_is_cleared_is_free_and_its_neighbours_are_too() {
    with(3, 3, |vrbs| {
        open(vrbs, at(0), Kind::Plain, 1, None).expect("a place");
        open(vrbs, at(0), Kind::Full, 2, None).expect("a place");
        vrbs.clear();
        assert_eq!((vrbs.used(), vrbs.peers.used(), vrbs.deadline()), (0, 0, None));
    });
}

/// Of datagrams that got no further than their first fragment, the oldest gives way.
#[test]
fn of_datagrams_without_progress_the_one_gives_way_that_was_silent_for_longest() {
    with(3, 2, |vrbs| {
        for (tag, ms) in [(1, 20), (2, 0), (3, 10)] {
            open(vrbs, at(ms), Kind::Plain, tag, None).expect("a place");
        }
        open(vrbs, at(5_000), Kind::Plain, 4, Some(WINDOW)).expect("a place");
        assert_eq!(tags(vrbs), [1, 4, 3]);
    });
}
