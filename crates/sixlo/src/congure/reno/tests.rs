use super::*;
use crate::congure::Kind;
use crate::congure::tests::{Run, ms};

const SMSS: u32 = 1_000;

fn bytes() -> Run {
    Run::new(Params::bytes(Kind::Reno, SMSS))
}

/// A transfer in congestion avoidance with a window of `segments`, nothing under way.
fn avoiding(kind: Kind, segments: u32) -> Run {
    let mut run = Run::new(Params::bytes(kind, SMSS));
    let sent_at = run.now;
    run.report(crate::congure::Report::Sent {
        size: 2 * segments * SMSS,
    });
    while run.window() < 2 * segments * SMSS {
        run.wait(1);
        run.acked(SMSS, run.now);
        run.send(SMSS);
    }
    run.lost(0, sent_at);
    assert_eq!(run.window(), segments * SMSS);
    let flight = run.state.flight();
    run.report(crate::congure::Report::Discarded { size: flight });
    run.wait(1);
    run
}

#[test]
fn the_initial_window_depends_on_the_segment_size_rfc5681_3_1() {
    assert_eq!(initial_window(1), 4);
    assert_eq!(initial_window(1095), 4 * 1095);
    assert_eq!(initial_window(1096), 3 * 1096);
    assert_eq!(initial_window(2190), 3 * 2190);
    assert_eq!(initial_window(2191), 2 * 2191);
    assert!(initial_window(u32::MAX) <= 2 * (u32::MAX / 4));
}

#[test]
fn slow_start_adds_what_was_acknowledged_at_most_a_segment_rfc5681_equation_2() {
    let mut run = bytes();
    run.round(SMSS);
    assert_eq!(run.window(), 5 * SMSS);
    run.round(300);
    assert_eq!(run.window(), 5 * SMSS + 300);
    run.round(3 * SMSS);
    assert_eq!(run.window(), 6 * SMSS + 300);
}

#[test]
fn congestion_avoidance_adds_a_segment_for_each_window_acknowledged_rfc3465_2_1() {
    let mut run = avoiding(Kind::Reno, 8);
    for acked in 1..=7 {
        run.round(SMSS);
        assert_eq!(run.window(), 8 * SMSS, "after {acked} segments");
    }
    run.round(SMSS);
    assert_eq!(run.window(), 9 * SMSS);
    for _ in 0..8 {
        run.round(SMSS);
    }
    assert_eq!(run.window(), 9 * SMSS);
    run.round(SMSS);
    assert_eq!(run.window(), 10 * SMSS);
}

#[test]
fn one_acknowledgment_adds_no_more_than_a_segment_rfc5681_3_1() {
    let mut run = avoiding(Kind::Reno, 8);
    run.round(60 * SMSS);
    assert_eq!(run.window(), 9 * SMSS);
}

#[test]
fn a_loss_halves_what_is_under_way_rfc5681_equation_4() {
    let mut run = avoiding(Kind::Reno, 12);
    let sent_at = run.send(10 * SMSS);
    run.wait(10).lost(SMSS, sent_at);
    assert_eq!(run.window(), 5 * SMSS, "FlightSize counts, not the window");
    assert_eq!(run.state.flight(), 9 * SMSS);
}

#[test]
fn the_threshold_is_two_segments_at_least_rfc5681_equation_4() {
    let mut run = avoiding(Kind::Reno, 12);
    let sent_at = run.send(SMSS);
    run.wait(10).lost(SMSS, sent_at);
    assert_eq!(run.window(), 2 * SMSS);
}

#[test]
fn all_losses_of_one_window_count_once_rfc6582_3_2() {
    let mut run = avoiding(Kind::Reno, 12);
    let sent_at = run.send(12 * SMSS);
    run.wait(10).lost(SMSS, sent_at);
    run.wait(1).lost(SMSS, sent_at);
    run.wait(1).ecn(sent_at);
    assert_eq!(run.window(), 6 * SMSS);
    // A partial acknowledgment leaves the window at the threshold.
    run.wait(1).acked(4 * SMSS, sent_at);
    assert_eq!(run.window(), 6 * SMSS);
    // What was sent again is a new instance of congestion if it is lost (RFC 3168 section 6.1.2).
    let again = run.wait(1).send(SMSS);
    run.wait(10).lost(SMSS, again);
    assert_eq!(run.window(), 3 * SMSS);
}

#[test]
fn a_timeout_starts_slowly_from_one_segment_up_to_half_of_the_flight_rfc5681_3_1() {
    let mut run = avoiding(Kind::Reno, 12);
    let sent_at = run.send(8 * SMSS);
    run.wait(1_000).timed_out(8 * SMSS, sent_at);
    assert_eq!(run.window(), SMSS);
    run.wait(1);
    for window in [2, 3, 4] {
        run.round(SMSS);
        assert_eq!(run.window(), window * SMSS);
    }
    for window in [4, 4, 4, 5] {
        run.round(SMSS);
        assert_eq!(
            run.window(),
            window * SMSS,
            "congestion avoidance from 4 segments"
        );
    }
}

#[test]
fn the_threshold_is_held_if_what_was_sent_again_times_out_rfc5681_3_1() {
    let mut run = avoiding(Kind::Reno, 12);
    let sent_at = run.send(8 * SMSS);
    run.wait(1_000).timed_out(8 * SMSS, sent_at);
    let again = run.wait(1).send(SMSS);
    run.wait(2_000)
        .report(crate::congure::Report::TimedOut(Batch::again(SMSS, again)));
    run.wait(1);
    for window in [2, 3, 4, 4] {
        run.round(SMSS);
        assert_eq!(run.window(), window * SMSS);
    }
}

#[test]
fn an_ecn_mark_counts_as_a_loss_and_never_opens_the_window_rfc3168_6_1_2() {
    let mut run = avoiding(Kind::Reno, 12);
    let sent_at = run.send(10 * SMSS);
    run.wait(10).ecn(sent_at);
    assert_eq!(run.window(), 5 * SMSS);
    let sent_at = run.wait(1).send(SMSS);
    run.wait(1_000).timed_out(SMSS, sent_at);
    assert_eq!(run.window(), SMSS);
    let sent_at = run.wait(1).send(SMSS);
    run.wait(1).ecn(sent_at);
    assert_eq!(run.window(), SMSS, "the threshold's bound is two segments");
}

#[test]
fn fragments_as_units_follow_the_same_arithmetic() {
    let mut run = Run::new(Params::fragments(Kind::Reno));
    assert_eq!(run.window(), 4);
    for window in 5..=12 {
        run.round(1);
        assert_eq!(run.window(), window);
    }
    let sent_at = run.send(11);
    run.wait(10).lost(1, sent_at);
    assert_eq!(run.window(), 5);
    run.timed_out(10, ms(0));
    assert_eq!(run.window(), 1);
    for _ in 0..400 {
        run.wait(1).round(1);
    }
    assert!(run.window() > 5 && run.window() <= 32);
}

#[test]
fn the_window_stops_at_its_maximum_rfc8931_7_1() {
    let mut run = Run::new(Params::fragments(Kind::Reno));
    for _ in 0..100 {
        run.round(1);
    }
    assert_eq!(run.window(), 32);
}
