use super::*;
use crate::mac::timing::PhyTiming;
use crate::netdev::CsmaParams;
use proptest::prelude::*;
use std::vec::Vec;

const IFACE: IfaceId = IfaceId(0);
const A: LinkAddr = LinkAddr::Short(1);
const B: LinkAddr = LinkAddr::Extended([2; 8]);
const C: LinkAddr = LinkAddr::Short(3);

fn at(ms: u64) -> Instant {
    Instant::from_micros(ms * 1_000)
}

fn table<const N: usize>() -> [Seen; N] {
    [Seen::EMPTY; N]
}

#[test]
fn a_frame_that_comes_twice_is_a_duplicate_the_second_time() {
    let mut memory = table::<2>();
    let mut duplicates = Duplicates::new(&mut memory, WINDOW);
    assert!(!duplicates.is_duplicate(at(0), IFACE, A, 0, 40));
    assert!(duplicates.is_duplicate(at(5), IFACE, A, 0, 40));
    assert!(duplicates.is_duplicate(at(499), IFACE, A, 0, 40));
}

#[test]
fn the_next_frame_of_a_source_is_none_whoever_used_its_number() {
    let mut memory = table::<2>();
    let mut duplicates = Duplicates::new(&mut memory, WINDOW);
    assert!(!duplicates.is_duplicate(at(0), IFACE, A, 7, 40));
    assert!(!duplicates.is_duplicate(at(1), IFACE, B, 7, 40));
    assert!(!duplicates.is_duplicate(at(2), IFACE, A, 8, 40));
    assert!(duplicates.is_duplicate(at(3), IFACE, B, 7, 40));
    assert!(duplicates.is_duplicate(at(4), IFACE, A, 8, 40));
}

/// Short addresses are unique within a PAN, and two interfaces may be in two.
#[test]
fn the_same_address_on_another_interface_is_another_source() {
    let mut memory = table::<4>();
    let mut duplicates = Duplicates::new(&mut memory, WINDOW);
    assert!(!duplicates.is_duplicate(at(0), IFACE, A, 7, 40));
    assert!(!duplicates.is_duplicate(at(1), IfaceId(1), A, 7, 40));
    assert!(duplicates.is_duplicate(at(2), IFACE, A, 7, 40));
    assert!(duplicates.is_duplicate(at(3), IfaceId(1), A, 7, 40));
}

/// A sequence number that comes again is a retransmission only within the bounds of one: what else comes under it is
/// taken.
#[test]
fn xl8_a_repeated_sequence_number_with_other_content_is_taken() {
    let mut memory = table::<4>();
    let mut duplicates = Duplicates::new(&mut memory, WINDOW);
    assert!(!duplicates.is_duplicate(at(0), IFACE, A, 7, 40));
    assert!(!duplicates.is_duplicate(at(1), IFACE, A, 7, 41), "another length");
    assert!(!duplicates.is_duplicate(at(2), IFACE, A, 7, 40), "and back");
    assert!(!duplicates.is_duplicate(at(3), IFACE, A, 8, 40));
    assert!(
        !duplicates.is_duplicate(at(4), IFACE, A, 7, 40),
        "another frame came between"
    );
    assert!(
        !duplicates.is_duplicate(at(504), IFACE, A, 7, 40),
        "no retransmission comes so late"
    );
}

#[test]
fn xl8_a_train_of_duplicates_does_not_block_its_sequence_number_for_ever() {
    let mut memory = table::<1>();
    let mut duplicates = Duplicates::new(&mut memory, WINDOW);
    let taken: Vec<u64> = (0..2_000)
        .step_by(100)
        .filter(|&ms| !duplicates.is_duplicate(at(ms), IFACE, A, 7, 40))
        .collect();
    assert_eq!(taken, [0, 500, 1_000, 1_500]);
}

#[test]
fn frames_without_source_are_no_duplicates_and_take_no_entry() {
    let mut memory = table::<1>();
    let mut duplicates = Duplicates::new(&mut memory, WINDOW);
    assert!(
        !duplicates.is_duplicate(at(0), IFACE, LinkAddr::None, 0, 0),
        "not even like an empty entry"
    );
    assert!(!duplicates.is_duplicate(at(0), IFACE, A, 7, 40));
    assert!(!duplicates.is_duplicate(at(1), IFACE, LinkAddr::None, 7, 40));
    assert!(!duplicates.is_duplicate(at(1), IFACE, LinkAddr::None, 7, 40));
    assert!(duplicates.is_duplicate(at(2), IFACE, A, 7, 40));
}

#[test]
fn a_full_table_forgets_the_source_that_was_silent_longest() {
    let mut memory = table::<2>();
    let mut duplicates = Duplicates::new(&mut memory, WINDOW);
    assert!(!duplicates.is_duplicate(at(0), IFACE, A, 1, 40));
    assert!(
        !duplicates.is_duplicate(at(0), IFACE, B, 1, 40),
        "an empty entry goes before one of time zero"
    );
    assert!(!duplicates.is_duplicate(at(2), IFACE, A, 2, 40));
    assert!(!duplicates.is_duplicate(at(3), IFACE, C, 1, 40));
    assert!(duplicates.is_duplicate(at(4), IFACE, A, 2, 40));
    assert!(duplicates.is_duplicate(at(4), IFACE, C, 1, 40));
    assert!(!duplicates.is_duplicate(at(5), IFACE, B, 1, 40), "forgotten");
    assert!(
        !duplicates.is_duplicate(at(6), IFACE, A, 2, 40),
        "forgotten for B"
    );
}

#[test]
fn an_empty_table_or_window_finds_nothing_and_harms_nothing() {
    let mut memory = table::<1>();
    for mut duplicates in [
        Duplicates::new(&mut [], WINDOW),
        Duplicates::new(&mut memory, Duration::ZERO),
    ] {
        assert!(!duplicates.is_duplicate(at(0), IFACE, A, 1, 40));
        assert!(!duplicates.is_duplicate(at(0), IFACE, A, 1, 40));
    }
}

#[test]
fn a_table_that_was_used_before_starts_empty() {
    let mut memory = table::<1>();
    let mut before = Duplicates::new(&mut memory, WINDOW);
    assert!(!before.is_duplicate(at(0), IFACE, A, 1, 40));
    let mut after = Duplicates::new(before.into_table(), WINDOW);
    assert!(!after.is_duplicate(at(1), IFACE, A, 1, 40));
}

/// The longest time from the end of a frame's first attempt to the end of its last, for the longest frame.
fn longest_repetition(params: CsmaParams) -> Duration {
    let timing = PhyTiming::default();
    let assessment = Duration::from_micros(128);
    let exponents = (0..=params.max_backoffs).map(|nb| (params.min_be + nb).min(params.max_be));
    let access = exponents.fold(Duration::ZERO, |sum, exponent| {
        sum + timing.unit_backoff.times((1 << exponent) - 1) + assessment
    });
    let turnaround_and_frame = Duration::from_micros(192 + 4_256);
    let retry = timing.ack_wait + params.retry_delay_max + access + turnaround_and_frame;
    retry.times(u64::from(params.max_retries))
}

#[test]
fn the_window_covers_the_last_retransmission() {
    let default = CsmaParams::default();
    assert_eq!(longest_repetition(default).as_micros(), 128_256);
    let delayed = CsmaParams {
        retry_delay_max: Duration::from_millis(40),
        ..default
    };
    assert_eq!(longest_repetition(delayed).as_micros(), 248_256);
    let persistent = CsmaParams {
        max_retries: 7,
        ..default
    };
    assert_eq!(longest_repetition(persistent).as_micros(), 299_264);
    for params in [default, delayed, persistent] {
        assert!(longest_repetition(params) < WINDOW);
    }
}

proptest! {
    /// Against a model that keeps the last frame of every source: a table with an entry for each finds exactly the same
    /// duplicates, a smaller one some of them and no others.
    #[test]
    fn the_table_finds_the_duplicates_that_a_complete_record_finds(
        frames in proptest::collection::vec((0..200_u64, 1..5_u16, 0..3_u8, 20..22_usize), 0..60)
    ) {
        let (mut all, mut two) = (table::<4>(), table::<2>());
        let mut complete = Duplicates::new(&mut all, WINDOW);
        let mut small = Duplicates::new(&mut two, WINDOW);
        let mut record: Vec<(u16, u8, usize, u64)> = Vec::new();
        let mut now = 0;
        for (pause, source, sequence, len) in frames {
            now += pause;
            let last = record.iter().rev().find(|last| last.0 == source);
            let repeated = last.is_some_and(|last| (last.1, last.2) == (sequence, len));
            let expected = repeated && last.is_some_and(|last| now - last.3 < 500);
            if !expected {
                record.push((source, sequence, len, now));
            }
            let address = LinkAddr::Short(source);
            prop_assert_eq!(complete.is_duplicate(at(now), IFACE, address, sequence, len), expected);
            // What the small table forgot it takes again, and its window counts anew from there; a frame that is no
            // repetition of the source's last frame it must never find.
            let found = small.is_duplicate(at(now), IFACE, address, sequence, len);
            prop_assert!(!found || repeated);
        }
    }
}
