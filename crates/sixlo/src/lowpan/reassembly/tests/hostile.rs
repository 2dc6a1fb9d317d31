//! Fragments that nobody sent in good faith.

use super::*;

const KEY: (u16, u16) = (1, 7);

/// A datagram of 477 bytes, less one fragment, over bytes that a buffer held before.
#[test]
fn xf16_the_bytes_of_a_hole_are_never_delivered() {
    let pieces = cut(KEY, 477, 96);
    for missing in 0..pieces.len() {
        let mut room = Room::new(4096, 16, 2);
        let mut bench = room.bench(ReassemblyConfig::default());
        for piece in pieces.iter().enumerate().filter(|(number, _)| *number != missing) {
            assert_eq!(bench.take(*piece.1), None);
        }
        // Not even by fragments around the hole that overlap it by nothing.
        bench.take_all(&[Piece::new(KEY, 477, pieces[missing].offset, 0)]);
        bench.pass(TIMEOUT_MAX);
        assert_eq!(bench.used(), 0);
    }
}

/// As RFC 4944 section 5.3 has it, one forged fragment ends a datagram; but bytes of two datagrams are put together only
/// where the forger hits bounds that no other fragment has, and then a checksum has to tell.
#[test]
fn xf10_a_forged_fragment_ends_one_datagram_and_no_more() {
    let mut room = Room::new(4096, 16, 2);
    let mut bench = room.bench(ReassemblyConfig::default());
    let pieces = cut(KEY, 480, 96);
    for forged in [
        Piece::new(KEY, 480, 96, 104),
        Piece::new(KEY, 480, 0, 8),
        Piece::new(KEY, 1280, 1184, 96),
    ] {
        bench.take_all(&pieces[..3]);
        assert_eq!(
            bench.take_bytes(forged, &[0xee; 104][..usize::from(forged.len)]),
            None
        );
        for piece in &pieces[3..] {
            assert_eq!(bench.take(*piece), None, "{forged:?}");
        }
        bench.pass(TIMEOUT_MAX + Duration::from_secs(1));
        bench.take_all(&pieces[..4]);
        assert_eq!(bench.take(pieces[4]), Some(content(KEY, 480)), "the next one");
        bench.pass(Duration::from_secs(1));
    }
    // The same bounds before the true fragment: the forgery is in, and the true one is the duplicate.
    bench.take_all(&pieces[..2]);
    assert_eq!(bench.take_bytes(pieces[2], &[0xee; 96]), None);
    bench.take_all(&pieces[2..4]);
    let mixed = bench.take(pieces[4]).expect("complete");
    assert_eq!(mixed.len(), 480);
    assert_eq!(mixed[192..288], [0xee; 96]);
}

/// The smallest fragments, each behind a gap of its own, would need a packet each.
#[test]
fn xf9_a_sender_of_tiny_fragments_does_not_take_all_packets() {
    let mut room = Room::new(8192, 12, 4);
    let mut bench = room.bench(ReassemblyConfig::default());
    for number in 0..400_u16 {
        bench.take_all(&[Piece::new((9, number / 79), 1280, 16 + number % 79 * 16, 8)]);
        assert!(bench.core.buf.live() <= 6, "half of the packets remain");
        bench.pass(Duration::from_millis(3));
    }
    let pieces = cut(KEY, 480, 96);
    bench.take_all(&pieces[..4]);
    assert_eq!(bench.take(pieces[4]), Some(content(KEY, 480)));
}

/// Each duplicate is ignored, so a replayed fragment neither prolongs a reassembly nor keeps it from being evicted.
#[test]
fn xf5_duplicates_are_no_progress() {
    let mut room = Room::new(4096, 16, 1);
    let mut bench = room.bench(ReassemblyConfig::default());
    let replayed = Piece::new((9, 0), 480, 0, 96);
    for _ in 0..100 {
        bench.take_all(&[replayed]);
        bench.pass(Duration::from_millis(10));
    }
    let pieces = cut(KEY, 480, 96);
    bench.take_all(&pieces[..4]);
    assert_eq!(bench.take(pieces[4]), Some(content(KEY, 480)));
}
