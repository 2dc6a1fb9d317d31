use super::*;
use crate::congure::tests::{Run, ms};
use crate::congure::{Kind, Report};

const MAX_DATAGRAM: u32 = 1_200;

fn bytes() -> Run {
    Run::new(Params::bytes(Kind::Quic, MAX_DATAGRAM))
}

#[test]
fn the_initial_window_is_ten_datagrams_within_limits_rfc9002_7_2() {
    assert_eq!(initial_window(1_200), 12_000);
    assert_eq!(initial_window(1_472), 14_720);
    assert_eq!(initial_window(1_500), 14_720);
    assert_eq!(initial_window(9_000), 18_000);
    assert_eq!(bytes().window(), 12_000);
}

#[test]
fn slow_start_adds_all_that_was_acknowledged_rfc9002_7_3_1() {
    let mut run = bytes();
    run.round(5_000);
    assert_eq!(run.window(), 17_000);
}

#[test]
fn a_window_that_was_not_used_does_not_grow_rfc9002_7_8() {
    let mut run = bytes();
    let sent_at = run.send(1_200);
    run.wait(10).report(Report::Acked {
        batch: Batch::one(1_200, sent_at),
        limited: true,
    });
    assert_eq!(run.window(), 12_000);
}

#[test]
fn a_loss_halves_the_window_once_in_a_recovery_period_rfc9002_7_3_2() {
    let mut run = bytes();
    let sent_at = run.send(12_000);
    run.wait(10).lost(1_200, sent_at);
    assert_eq!(run.window(), 6_000);
    run.wait(1).lost(1_200, sent_at);
    run.wait(1).ecn(sent_at);
    run.wait(1).timed_out(1_200, sent_at);
    assert_eq!(run.window(), 6_000);
    run.wait(1).acked(1_200, sent_at);
    assert_eq!(run.window(), 6_000, "nor does it grow");
    let later = run.wait(1).send(1_200);
    run.wait(10).lost(1_200, later);
    assert_eq!(run.window(), 3_000, "what was sent in recovery ends it");
}

#[test]
fn the_window_never_shrinks_below_the_minimum_rfc9002_7_2() {
    let mut run = bytes();
    for _ in 0..10 {
        let sent_at = run.wait(1).send(1_200);
        run.wait(10).lost(1_200, sent_at);
    }
    assert_eq!(run.window(), 2_400);
}

#[test]
fn congestion_avoidance_adds_a_datagram_for_each_window_acknowledged_rfc9002_7_3_3() {
    let mut run = bytes();
    let sent_at = run.send(12_000);
    run.wait(10).lost(12_000, sent_at);
    run.wait(1);
    for _ in 0..4 {
        run.round(1_200);
        assert_eq!(run.window(), 6_000);
    }
    run.round(1_200);
    assert_eq!(run.window(), 7_200);
}

#[test]
fn an_ecn_mark_is_a_congestion_event_rfc9002_7_1() {
    let mut run = bytes();
    let sent_at = run.send(1_200);
    run.wait(10).ecn(sent_at);
    assert_eq!(run.window(), 6_000);
}

/// The losses of RFC 9002 section 7.6.3, in which packets 2 to 8 were sent from 1 s to `last_ms`, a round trip may take
/// 2 s, and packet 1 was acknowledged after 1.2 s.
fn example(first_acked_ms: u64, last_ms: u64) -> u32 {
    let params = Params::bytes(Kind::Quic, MAX_DATAGRAM);
    let mut rtt = Rtt::EMPTY;
    for _ in 0..100 {
        rtt.sample(Duration::from_millis(1_999));
    }
    let facts = |now| Facts {
        now,
        params: &params,
        rtt: &rtt,
        sample: Some(Duration::from_millis(1_200)),
        flight: 8 * MAX_DATAGRAM,
        limited: true,
    };
    let mut quic = Quic::new(&params);
    quic.acked(&facts(ms(first_acked_ms)), &Batch::one(MAX_DATAGRAM, ms(0)));
    let lost = Batch {
        size: 7 * MAX_DATAGRAM,
        oldest: ms(1_300),
        newest: ms(last_ms),
        resent: false,
    };
    quic.lost(&facts(ms(12_200)), &lost);
    quic.window()
}

#[test]
fn losses_over_three_round_trips_are_persistent_congestion_rfc9002_7_6_3() {
    assert_eq!(example(1_200, 8_300), 2_400, "7 s are longer than 2 s * 3");
    assert_eq!(example(1_200, 7_200), 6_000, "5.9 s are not");
    assert_eq!(
        example(1_300, 8_300),
        6_000,
        "the round trip was not known when the first was sent, RFC 9002 section 7.6.2"
    );
}

#[test]
fn after_persistent_congestion_the_window_starts_slowly_again_rfc9002_7_3_1() {
    let mut run = bytes();
    run.round(1_200);
    let oldest = run.wait(1).send(9_600);
    let newest = run.wait(30_000).now;
    run.wait(10).report(Report::Lost(Batch {
        size: 8_400,
        oldest,
        newest,
        resent: false,
    }));
    assert_eq!(run.window(), 2_400);
    // The recovery start time is forgotten (RFC 9002 appendix B.8): the acknowledgment counts.
    run.acked(1_200, newest);
    assert_eq!(run.window(), 3_600);
}

#[test]
fn the_interval_spreads_the_window_over_the_round_trip_rfc9002_7_7() {
    let mut run = Run::new(Params::fragments(Kind::Quic));
    let interval = |run: &Run, size| run.state.interval(&run.params, size).map(Duration::as_micros);
    assert_eq!(
        interval(&run, 1),
        Some(133_200),
        "(333 ms * 1 / 2) / 1.25, kInitialRtt of section 6.2.2"
    );
    let sent_at = run.send(2);
    run.wait(400).acked(2, sent_at);
    assert_eq!(run.window(), 4);
    assert_eq!(interval(&run, 1), Some(80_000), "(400 ms * 1 / 4) / 1.25");
    assert_eq!(interval(&run, 3), Some(240_000));
    assert_eq!(interval(&run, 0), Some(0));
}
