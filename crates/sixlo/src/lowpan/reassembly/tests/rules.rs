//! What RFC 4944 section 5.3 says of single fragments.

use super::*;
use FragmentFate::{Completed, Dropped, InOrder, OutOfOrder, Started};

const KEY: (u16, u16) = (1, 7);

fn room() -> Room {
    Room::new(8192, 64, 4)
}

#[test]
fn fragments_in_order_make_the_datagram_in_one_packet() {
    let mut room = room();
    let mut bench = room.bench(ReassemblyConfig::default());
    let pieces = cut(KEY, 500, 96);
    for piece in &pieces[..5] {
        assert_eq!(bench.take(*piece), None);
        assert_eq!(bench.core.buf.live(), 1, "it grows at its tail");
    }
    assert_eq!(bench.take(pieces[5]), Some(content(KEY, 500)));
    assert_eq!(
        bench.fates(),
        [Started, InOrder, InOrder, InOrder, InOrder, Completed]
    );
    assert_eq!((bench.used(), bench.reassembler.active()), (0, 0));
}

#[test]
fn a_datagram_in_one_fragment_is_complete_at_once() {
    let mut room = room();
    let mut bench = room.bench(ReassemblyConfig::default());
    assert_eq!(
        bench.take(Piece::new(KEY, 61, 0, 61)),
        Some(content(KEY, 61)),
        "the last fragment need not be a multiple of 8"
    );
    assert_eq!(bench.fates(), [Completed]);
}

#[test]
fn fragments_behind_a_gap_wait_for_it_to_close() {
    let mut room = room();
    let mut bench = room.bench(ReassemblyConfig::default());
    let pieces = cut(KEY, 480, 96);
    bench.take_all(&[pieces[0], pieces[3], pieces[4], pieces[2]]);
    assert_eq!(bench.fates(), [Started, OutOfOrder, OutOfOrder, OutOfOrder]);
    assert_eq!(bench.take(pieces[1]), Some(content(KEY, 480)));
    assert_eq!(bench.fates(), [Completed]);
    assert_eq!(bench.used(), 0);
}

#[test]
fn xf8_any_fragment_may_come_first() {
    let mut room = room();
    for first in 0..5 {
        let mut bench = room.bench(ReassemblyConfig::default());
        let mut pieces = cut(KEY, 477, 96);
        pieces.rotate_left(first);
        bench.take_all(&pieces[..4]);
        assert_eq!(bench.take(pieces[4]), Some(content(KEY, 477)), "{first} first");
        let mut bench = room.bench(ReassemblyConfig::default());
        pieces.reverse();
        bench.take_all(&pieces[..4]);
        assert_eq!(
            bench.take(pieces[4]),
            Some(content(KEY, 477)),
            "{first} last, backwards"
        );
    }
}

#[test]
fn xf5_an_exact_duplicate_is_ignored_wherever_it_lies() {
    let mut room = room();
    let mut bench = room.bench(ReassemblyConfig::default());
    let pieces = cut(KEY, 480, 96);
    let came = [pieces[0], pieces[1], pieces[3], pieces[4]];
    bench.take_all(&came);
    let used = bench.used();
    bench.fates();
    bench.take_all(&came);
    bench.take_all(&came);
    assert_eq!(bench.fates(), [Dropped(Reason::FragmentDuplicate); 8]);
    assert_eq!(bench.used(), used);
    assert_eq!(bench.take(pieces[2]), Some(content(KEY, 480)));
}

/// RFC 4944 section 5.3: what overlaps another fragment and differs in size or offset discards all that came before, and
/// is itself the first of what is reassembled anew.
#[test]
fn xf6_an_overlap_with_other_bounds_starts_anew_with_the_newest_fragment() {
    // Against two fragments of 96 bytes at the beginning and one behind a gap, of 384 to 480.
    let overlaps = [
        (0, 8),
        (0, 192),
        (0, 200),
        (8, 88),
        (88, 8),
        (96, 88),
        (96, 104),
        (104, 88),
        (184, 16),
        (184, 200),
        (192, 200),
        (376, 16),
        (384, 88),
        (384, 104),
        (392, 88),
        (472, 16),
    ];
    for (offset, len) in overlaps {
        let mut room = room();
        let mut bench = room.bench(ReassemblyConfig::default());
        let pieces = cut(KEY, 600, 96);
        bench.take_all(&[pieces[0], pieces[1], pieces[4]]);
        bench.fates();
        let newest = Piece::new(KEY, 600, offset, len);
        assert_eq!(bench.take(newest), None);
        assert_eq!(bench.fates(), [Started], "{newest:?}");
        assert_eq!(
            bench.fates.dropped,
            [Reason::ReassemblyConflict; 2],
            "what was in order is one packet, the rest another"
        );
        assert_eq!(bench.core.buf.live(), 1);
        // And it goes on from there.
        let before = (offset > 0).then_some(Piece::new(KEY, 600, 0, offset));
        let behind = Piece::new(KEY, 600, offset + len, 600 - offset - len);
        if let Some(before) = before {
            assert_eq!(bench.take(before), None);
        }
        assert_eq!(bench.take(behind), Some(content(KEY, 600)));
        assert_eq!(bench.used(), 0);
    }
}

#[test]
fn xf7_another_size_under_a_live_key_starts_anew_with_the_newest_fragment() {
    for offset in [0, 96, 192, 480] {
        let mut room = room();
        let mut bench = room.bench(ReassemblyConfig::default());
        let pieces = cut(KEY, 480, 96);
        bench.take_all(&[pieces[0], pieces[1], pieces[3]]);
        bench.fates();
        bench.take_all(&[Piece::new(KEY, 600, offset, 96)]);
        assert_eq!(bench.fates(), [Started]);
        assert_eq!(bench.fates.dropped, [Reason::ReassemblyConflict; 2]);
        assert_eq!((bench.core.buf.live(), bench.reassembler.active()), (1, 1));
        let rest = cut(KEY, 600, 96);
        let rest: Vec<_> = rest.into_iter().filter(|piece| piece.offset != offset).collect();
        let (last, others) = rest.split_last().expect("seven fragments");
        bench.take_all(others);
        assert_eq!(bench.take(*last), Some(content(KEY, 600)));
    }
}

#[test]
fn the_same_tag_between_other_nodes_is_another_datagram() {
    let mut room = room();
    let mut bench = room.bench(ReassemblyConfig::default());
    let (one, two) = (cut((1, 7), 200, 96), cut((2, 7), 204, 96));
    for index in 0..2 {
        bench.take_all(&[one[index], two[index]]);
    }
    assert_eq!(bench.reassembler.active(), 2);
    assert_eq!(bench.take(one[2]), Some(content((1, 7), 200)));
    assert_eq!(bench.take(two[2]), Some(content((2, 7), 204)));
}

#[test]
fn xf2_xf3_xf4_fragments_out_of_form_open_nothing_and_change_nothing() {
    let mut room = room();
    let mut bench = room.bench(ReassemblyConfig::default());
    let refused = [
        (0, 0, 8, Reason::FragmentInvalid),
        (1, 0, 1, Reason::FragmentInvalid),
        (39, 0, 39, Reason::FragmentInvalid),
        (1281, 0, 96, Reason::DatagramTooLarge),
        (2047, 2040, 7, Reason::DatagramTooLarge),
        (200, 200, 8, Reason::FragmentInvalid),
        (200, 208, 8, Reason::FragmentInvalid),
        (200, 2040, 96, Reason::FragmentInvalid),
        (200, 96, 112, Reason::FragmentInvalid),
        (200, 0, 100, Reason::FragmentInvalid),
        (200, 96, 97, Reason::FragmentInvalid),
        (200, 96, 0, Reason::FragmentInvalid),
    ];
    let pieces = cut(KEY, 200, 96);
    for with_one_open in [false, true] {
        for (size, offset, len, reason) in refused {
            assert_eq!(bench.take(Piece::new(KEY, size, offset, len)), None);
            assert_eq!(bench.refusal(), Some(reason), "{size} {offset} {len}");
            assert_eq!(bench.reassembler.active(), usize::from(with_one_open));
        }
        if !with_one_open {
            bench.take_all(&pieces[..1]);
        }
    }
    bench.take_all(&pieces[1..2]);
    assert_eq!(bench.take(pieces[2]), Some(content(KEY, 200)));
}

/// A datagram of 1280 bytes in 160 fragments of 8 is the most that there can be.
#[test]
fn the_longest_datagram_comes_whole_in_the_smallest_fragments() {
    let mut room = Room::new(8192, 512, 1);
    for backwards in [false, true] {
        let mut bench = room.bench(ReassemblyConfig::default());
        let mut pieces = cut(KEY, 1280, 8);
        if backwards {
            pieces.reverse();
        }
        let (last, others) = pieces.split_last().expect("160 fragments");
        bench.take_all(others);
        assert_eq!(bench.take(*last), Some(content(KEY, 1280)));
        assert_eq!(bench.used(), 0);
    }
}
