use crate::congure::tests::Run;
use crate::congure::{Kind, Params, Report};

/// A transfer in congestion avoidance with a window of 10, nothing under way.
fn avoiding() -> Run {
    let mut run = Run::new(Params::fragments(Kind::Abe));
    for _ in 0..16 {
        run.round(1);
    }
    let sent_at = run.send(20);
    run.wait(1).lost(20, sent_at);
    assert_eq!(run.window(), 10);
    run.wait(1);
    run
}

#[test]
fn an_ecn_mark_leaves_eight_tenths_of_the_flight_rfc8511_3() {
    let mut run = avoiding();
    let sent_at = run.send(10);
    run.wait(10).ecn(sent_at);
    assert_eq!(run.window(), 8);
}

#[test]
fn what_is_under_way_counts_up_to_the_window_rfc8511_3_1() {
    let mut run = avoiding();
    let sent_at = run.send(5);
    run.wait(10).ecn(sent_at);
    assert_eq!(run.window(), 4, "FlightSize, not the window");
    let mut run = avoiding();
    let sent_at = run.send(30);
    run.wait(10).ecn(sent_at);
    assert_eq!(run.window(), 8, "FlightSize is bounded by the window");
}

#[test]
fn two_segments_are_the_lower_bound_rfc8511_3() {
    let mut run = avoiding();
    let sent_at = run.send(1);
    run.wait(10).ecn(sent_at);
    assert_eq!(run.window(), 2);
}

#[test]
fn a_loss_halves_the_flight_as_ever_rfc8511_3_1() {
    let mut run = avoiding();
    let sent_at = run.send(10);
    run.wait(10).lost(1, sent_at);
    assert_eq!(run.window(), 5);
}

#[test]
fn marks_and_losses_of_one_window_count_once_rfc8511_4_2() {
    let mut run = avoiding();
    let sent_at = run.send(10);
    run.wait(10).ecn(sent_at);
    run.wait(1).ecn(sent_at);
    run.wait(1).lost(1, sent_at);
    assert_eq!(run.window(), 8);
}

#[test]
fn slow_start_reacts_to_a_mark_as_to_a_loss_rfc8511_4() {
    let mut run = Run::new(Params::fragments(Kind::Abe));
    for _ in 0..16 {
        run.round(1);
    }
    let sent_at = run.send(20);
    run.wait(1).ecn(sent_at);
    assert_eq!(run.window(), 10);
}

#[test]
fn a_timeout_leaves_one_segment_rfc5681_3_1() {
    let mut run = avoiding();
    let sent_at = run.send(10);
    run.wait(2_500)
        .report(Report::TimedOut(crate::congure::Batch::one(10, sent_at)));
    assert_eq!(run.window(), 1);
}
