//! Time, the full table, memory, and what is remembered.

use super::*;

const KEY: (u16, u16) = (1, 7);
const MS: Duration = Duration::from_millis(1);

fn config(eviction: Eviction) -> ReassemblyConfig {
    ReassemblyConfig {
        eviction,
        ..ReassemblyConfig::default()
    }
}

/// RFC 4944 section 5.3: "upon reception of the first fragment, the recipient starts a reassembly timer", of 60 s at most.
#[test]
fn xf12_a_reassembly_is_given_up_at_the_very_instant_of_its_time_out() {
    let mut room = Room::new(4096, 16, 4);
    let mut bench = room.bench(ReassemblyConfig::default());
    let pieces = cut(KEY, 300, 96);
    bench.take_all(&pieces[..1]);
    let started = bench.now;
    assert_eq!(bench.reassembler.deadline(), Some(started + TIMEOUT_MAX));
    bench.pass(Duration::from_secs(30));
    bench.take_all(&pieces[1..2]);
    assert_eq!(
        bench.reassembler.deadline(),
        Some(started + TIMEOUT_MAX),
        "later fragments do not prolong it"
    );
    bench.pass(Duration::from_micros(29_999_999));
    assert_eq!(bench.reassembler.active(), 1);
    bench.pass(Duration::from_micros(1));
    assert_eq!((bench.reassembler.active(), bench.used()), (0, 0));
    assert_eq!(bench.fates.dropped, [Reason::ReassemblyTimeout]);
    assert_eq!(bench.reassembler.deadline(), None);
}

#[test]
fn xf12_a_fragment_at_the_time_out_comes_too_late_even_before_the_timer_is_asked() {
    for (early, arrives) in [(1, true), (0, false)] {
        let mut room = Room::new(4096, 16, 4);
        let mut bench = room.bench(ReassemblyConfig::default());
        let pieces = cut(KEY, 192, 96);
        bench.take_all(&pieces[..1]);
        bench.now += Duration::from_micros(TIMEOUT_MAX.as_micros() - early);
        assert_eq!(bench.take(pieces[1]).is_some(), arrives);
        assert_eq!(bench.used(), 0);
        if !arrives {
            assert_eq!(bench.refusal(), Some(Reason::FragmentLate));
            assert_eq!(bench.fates.dropped, [Reason::ReassemblyTimeout]);
        }
    }
}

#[test]
fn xf12_late_fragments_of_a_completed_datagram_open_nothing_while_it_is_remembered() {
    let mut room = Room::new(4096, 16, 4);
    let mut bench = room.bench(ReassemblyConfig::default());
    let pieces = cut(KEY, 300, 96);
    bench.take_all(&pieces[..3]);
    assert!(bench.take(pieces[3]).is_some());
    bench.pass(Duration::from_micros(499_999));
    for piece in &pieces {
        assert_eq!(bench.take(*piece), None);
        assert_eq!(bench.refusal(), Some(Reason::FragmentLate));
    }
    assert_eq!(
        (bench.reassembler.active(), bench.reassembler.deadline()),
        (0, None)
    );
    // From then on the tag may be used anew.
    bench.pass(Duration::from_micros(1));
    bench.take_all(&pieces[..3]);
    assert_eq!(bench.take(pieces[3]), Some(content(KEY, 300)));
}

#[test]
fn xf12_late_fragments_of_a_datagram_that_was_given_up_open_nothing_while_it_is_remembered() {
    let mut room = Room::new(4096, 16, 4);
    let mut bench = room.bench(ReassemblyConfig::default());
    let pieces = cut(KEY, 300, 96);
    bench.take_all(&pieces[..1]);
    bench.pass(TIMEOUT_MAX);
    bench.pass(Duration::from_micros(499_999));
    bench.take_all(&pieces[1..3]);
    assert_eq!(bench.refusal(), Some(Reason::FragmentLate));
    assert_eq!(bench.reassembler.active(), 0);
    bench.pass(Duration::from_micros(1));
    bench.take_all(&pieces[1..3]);
    assert_eq!(bench.reassembler.active(), 1);
}

#[test]
fn xf13_a_full_table_evicts_the_reassembly_whose_last_fragment_lies_furthest_back() {
    let mut room = Room::new(4096, 32, 3);
    let mut bench = room.bench(config(Eviction::Stalest));
    for src in 1..=3 {
        bench.take_all(&cut((src, 0), 300, 96)[..1]);
        bench.pass(MS);
    }
    // The first two get another fragment, in the other order, and then nothing for long.
    for src in [2, 1] {
        bench.take_all(&cut((src, 0), 300, 96)[1..2]);
        bench.pass(MS);
    }
    bench.pass(Duration::from_millis(501));
    for (newcomer, gone) in [(4, 3), (5, 2), (6, 1)] {
        bench.fates.dropped.clear();
        bench.take_all(&cut((newcomer, 0), 300, 96)[..1]);
        assert_eq!(bench.fates.dropped, [Reason::ReassemblyEvicted]);
        assert_eq!(bench.reassembler.active(), 3);
        let gone = Key::of(&meta(gone));
        assert!(bench.reassembler.table.iter().all(|entry| entry.key != gone));
        bench.pass(MS);
    }
}

#[test]
fn xf13_a_datagram_that_makes_progress_is_not_evicted() {
    let mut room = Room::new(4096, 32, 1);
    let mut bench = room.bench(config(Eviction::Stalest));
    let pieces = cut(KEY, 480, 96);
    bench.take_all(&pieces[..2]);
    for (number, piece) in pieces[2..4].iter().enumerate() {
        bench.pass(Duration::from_millis(500));
        bench.take_all(&[Piece::new((9, number as u16), 300, 0, 96)]);
        assert_eq!(bench.refusal(), Some(Reason::ReassemblyFull), "within the window");
        bench.take_all(&[*piece]);
    }
    assert_eq!(bench.take(pieces[4]), Some(content(KEY, 480)));
    // One fragment is no progress yet, and what stands still too long is none any more.
    bench.pass(Duration::from_secs(1));
    for count in [1, 2] {
        bench.take_all(&pieces[..count]);
        let quiet = if count == 1 {
            Duration::ZERO
        } else {
            Duration::from_micros(500_001)
        };
        bench.pass(quiet);
        bench.take_all(&[Piece::new((9, 9), 300, 0, 96)]);
        assert_eq!(bench.fates.dropped.pop(), Some(Reason::ReassemblyEvicted));
        bench.pass(TIMEOUT_MAX + Duration::from_secs(1));
    }
}

#[test]
fn xf13_a_full_table_that_evicts_none_refuses_the_newcomer_until_one_times_out() {
    let mut room = Room::new(4096, 32, 2);
    let mut bench = room.bench(config(Eviction::Never));
    for src in 1..=2 {
        bench.take_all(&cut((src, 0), 300, 96)[..1]);
    }
    bench.pass(Duration::from_micros(59_999_999));
    let pieces = cut((3, 0), 300, 96);
    for piece in &pieces {
        assert_eq!(bench.take(*piece), None);
        assert_eq!(bench.refusal(), Some(Reason::ReassemblyFull));
    }
    bench.pass(Duration::from_micros(1));
    bench.take_all(&pieces[..3]);
    assert_eq!(bench.take(pieces[3]), Some(content((3, 0), 300)));
}

#[test]
fn what_is_only_remembered_gives_its_place_away_first() {
    let mut room = Room::new(4096, 32, 2);
    let mut bench = room.bench(config(Eviction::Never));
    let pieces = cut(KEY, 300, 96);
    bench.take_all(&pieces[..3]);
    assert!(bench.take(pieces[3]).is_some());
    bench.take_all(&[Piece::new((2, 0), 300, 0, 96), Piece::new((3, 0), 300, 0, 96)]);
    assert_eq!(bench.reassembler.active(), 2);
    assert!(bench.fates.dropped.is_empty());
}

#[test]
fn one_sender_has_no_more_reassemblies_than_it_may() {
    let mut room = Room::new(4096, 32, 4);
    let mut bench = room.bench(ReassemblyConfig {
        per_sender_max: 2,
        ..ReassemblyConfig::default()
    });
    for tag in 0..4 {
        bench.take_all(&[Piece::new((1, tag), 192, 0, 96)]);
        assert_eq!(
            bench.refusal(),
            (tag >= 2).then_some(Reason::ReassemblyFull),
            "{tag}"
        );
    }
    bench.take_all(&[Piece::new((2, 0), 192, 0, 96)]);
    assert_eq!(bench.reassembler.active(), 3);
    // One that is complete does not count.
    assert!(bench.take(Piece::new((1, 0), 192, 96, 96)).is_some());
    bench.take_all(&[Piece::new((1, 3), 192, 0, 96)]);
    assert_eq!(bench.reassembler.active(), 3);
}

/// Not what was announced: RFC 4944 section 5.3 would allow to set 1280 bytes aside.
#[test]
fn memory_of_a_reassembly_is_what_has_arrived() {
    let mut room = Room::new(8192, 64, 4);
    let mut bench = room.bench(ReassemblyConfig::default());
    assert_eq!(bench.used(), 0);
    let mut arrived = 0;
    for piece in &cut(KEY, 1280, 96)[..13] {
        bench.take_all(&[*piece]);
        arrived += usize::from(piece.len);
        assert_eq!(bench.used(), arrived + 4, "in order: one chunk with its header");
    }
    let mut bench = room.bench(ReassemblyConfig::default());
    let mut arrived = 0;
    for (number, piece) in cut(KEY, 1280, 96).iter().rev().take(13).enumerate() {
        bench.take_all(&[*piece]);
        arrived += usize::from(piece.len);
        let headers = 4 * (number + 1);
        assert_eq!(bench.used(), arrived + headers, "backwards: a chunk each");
    }
}

#[test]
fn where_memory_is_short_stale_reassemblies_give_way_one_after_the_other() {
    for packets in [64, 4] {
        // Bytes for 360 at most, or packets for 4.
        let mut room = Room::new(if packets == 4 { 4096 } else { 400 }, packets, 8);
        let mut bench = room.bench(config(Eviction::Stalest));
        for src in 1..=4 {
            bench.take_all(&cut((src, 0), 1280, 80)[..1]);
            bench.pass(MS);
        }
        assert_eq!(bench.reassembler.active(), 4);
        // In one chunk of 328 bytes, for which no fewer than three have to go, or in a packet, for which one has to.
        let long = Piece::new((5, 0), 1280, 0, 240);
        bench.take_all(&[long]);
        let gone = if packets == 4 { 1 } else { 3 };
        assert_eq!(bench.fates.dropped, std::vec![Reason::ReassemblyEvicted; gone]);
        assert_eq!(bench.reassembler.active(), 5 - gone);
    }
}

#[test]
fn where_memory_is_short_and_none_gives_way_the_datagram_is_given_up() {
    for eviction in [Eviction::Stalest, Eviction::Never] {
        let mut room = Room::new(320, 64, 4);
        let mut bench = room.bench(config(eviction));
        // Both make progress, so neither may be evicted for the other.
        let (one, two) = (cut((1, 0), 1280, 64), cut((2, 0), 1280, 64));
        bench.take_all(&[one[0], two[0], one[1], two[1]]);
        bench.take_all(&[one[2]]);
        assert_eq!(bench.refusal(), Some(Reason::NoBuffer));
        assert_eq!(bench.fates.dropped, [Reason::NoBuffer], "{eviction:?}");
        assert_eq!(bench.reassembler.active(), 1);
        bench.take_all(&[one[3]]);
        assert_eq!(bench.refusal(), Some(Reason::FragmentLate));
        bench.take_all(&[two[2]]);
        assert_eq!(bench.reassembler.active(), 1, "its memory serves the other");
    }
}

#[test]
fn everything_is_given_up_at_once() {
    let mut room = Room::new(8192, 64, 4);
    let mut bench = room.bench(ReassemblyConfig::default());
    for src in 1..=4 {
        let pieces = cut((src, 0), 480, 96);
        bench.take_all(&[pieces[0], pieces[2], pieces[4]]);
    }
    let mut cx = Cx {
        core: &mut bench.core,
        sink: &mut bench.fates,
        now: bench.now,
    };
    bench.reassembler.give_up_all(&mut cx, Reason::TornDown);
    bench.check();
    assert_eq!(bench.fates.dropped, [Reason::TornDown; 12]);
    assert_eq!(bench.used(), 0);
}

/// The way of most fragments, which are compared with the expected one and with nothing else.
#[test]
fn xf12_the_expected_fragment_at_the_time_out_comes_too_late_as_well() {
    for (early, arrives) in [(1, true), (0, false)] {
        let mut room = Room::new(4096, 16, 4);
        let mut bench = room.bench(ReassemblyConfig::default());
        let pieces = cut(KEY, 480, 96);
        bench.take_all(&pieces[..3]);
        bench.now += Duration::from_micros(TIMEOUT_MAX.as_micros() - early);
        bench.take_all(&pieces[3..4]);
        let late = Some(Reason::FragmentLate);
        assert_eq!(bench.refusal() == late, !arrives);
        assert_eq!(bench.take(pieces[4]).is_some(), arrives);
        assert_eq!(bench.used(), 0);
    }
}

/// Times are kept in 32 bits: nobody may have looked at the table for so long that they come round.
#[test]
fn xf12_a_fragment_after_more_time_than_32_bits_tell_comes_too_late_as_well() {
    let mut room = Room::new(4096, 16, 4);
    let mut bench = room.bench(ReassemblyConfig::default());
    let pieces = cut(KEY, 192, 96);
    bench.take_all(&pieces[..1]);
    bench.now += Duration::from_micros((1 << 32) + 1_000);
    assert_eq!(bench.take(pieces[1]), None);
    assert_eq!(bench.fates.dropped, [Reason::ReassemblyTimeout]);
}

#[test]
fn xf13_a_datagram_does_not_give_way_to_its_own_fragment() {
    let mut room = Room::new(256, 16, 1);
    let mut bench = room.bench(ReassemblyConfig::default());
    bench.take_all(&[Piece::new(KEY, 480, 0, 96)]);
    bench.pass(Duration::from_secs(1));
    bench.take_all(&[Piece::new(KEY, 480, 96, 240)]);
    // There is no room, and nobody else who could make some.
    assert_eq!(bench.fates.dropped, [Reason::NoBuffer]);
    assert_eq!((bench.reassembler.active(), bench.used()), (0, 0));
}
