//! Medium access over the ideal radio, held against symbol arithmetic, an exact enumeration and an independent model.

use crate::csma_theory::{Contention, Rates, isolated_us, many_senders, mean_exchange_us, two_senders};
use crate::raw_mac::{Access, Job, line, run};
use sixlo::netdev::CsmaParams;
use sixlo_sim::result::RunResult;

const FOR_EVER: u64 = u64::MAX;

fn job(from: u16, mpdu_len: usize, start_us: u64, count: u64) -> Job {
    Job {
        from,
        to: 0,
        mpdu_len,
        ack: true,
        start_us,
        count,
    }
}

/// Saturated senders around node 0, all in range of each other.
fn saturated(senders: u16, end_ms: u64) -> RunResult {
    let places: Vec<f64> = (0..=senders).map(f64::from).collect();
    let jobs: Vec<Job> = (1..=senders).map(|from| job(from, 127, 0, FOR_EVER)).collect();
    let access = Access::Stack(CsmaParams::default());
    run(line(&places, 100.0, 100.0), access, &jobs, end_ms, 1, &mut ()).0
}

fn rates(result: &RunResult) -> Rates {
    let sum = |of: fn(&sixlo_sim::result::NodeResult) -> u64| -> f64 {
        result.nodes.iter().map(of).sum::<u64>() as f64 / result.duration.as_secs()
    };
    Rates {
        attempts: sum(|node| node.radio.frames_sent),
        received: sum(|node| node.radio.received),
        acknowledged: sum(|node| node.stack.acknowledged),
        busy: sum(|node| node.radio.assessed_busy),
        access_failures: sum(|node| node.stack.channel_busy),
    }
}

fn close(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    assert!(
        error.abs() <= tolerance,
        "{what}: {measured} for {expected}, {error:+.5}"
    );
}

fn all_close(measured: &Rates, expected: &Rates, tolerance: f64) {
    close("attempts", measured.attempts, expected.attempts, tolerance);
    close("received", measured.received, expected.received, tolerance);
    close(
        "acknowledged",
        measured.acknowledged,
        expected.acknowledged,
        tolerance,
    );
    close("busy", measured.busy, expected.busy, tolerance);
}

#[test]
fn an_isolated_frame_with_acknowledgement_takes_what_symbol_arithmetic_says() {
    for mpdu_len in [11, 18, 20, 40, 127] {
        let at_once = CsmaParams {
            min_be: 0,
            max_be: 0,
            ..CsmaParams::default()
        };
        let jobs = [job(1, mpdu_len, 1_000, 2)];
        let (result, heard) = run(
            line(&[0.0, 1.0], 5.0, 5.0),
            Access::Stack(at_once),
            &jobs,
            100,
            1,
            &mut (),
        );
        let airtime = (mpdu_len as u64 + 6) * 32;
        let space = if mpdu_len <= 18 { 192 } else { 640 };
        let first = 1_000 + 128 + 192 + airtime;
        let second = 1_000 + isolated_us(mpdu_len, 0) + space + 128 + 192 + airtime;
        assert_eq!(heard, [(first, 0, 1), (second, 0, 2)]);
        assert_eq!(result.nodes[1].stack.acknowledged, 2);
        assert_eq!(result.transmissions, 4);
    }
}

#[test]
fn one_sender_needs_6880_us_a_frame_of_127_bytes() {
    let result = saturated(1, 1_500_000);
    let one = Contention::saturated(1);
    assert_eq!(mean_exchange_us(&one), 6_880.0);
    close(
        "exchanges a second",
        rates(&result).acknowledged,
        1e6 / 6_880.0,
        0.001,
    );
    assert_eq!(result.nodes[1].stack.retransmissions, 0);
}

#[test]
fn two_senders_do_what_the_enumeration_says() {
    let expected = two_senders(&Contention::saturated(2));
    let measured = rates(&saturated(2, 2_500_000));
    all_close(&measured, &expected, 0.005);
}

#[test]
fn ten_senders_do_what_the_independent_model_says() {
    let expected = many_senders(&Contention::saturated(10), 200_000, 1);
    let measured = rates(&saturated(10, 600_000));
    all_close(&measured, &expected, 0.02);
    close(
        "access failures",
        measured.access_failures,
        expected.access_failures,
        0.02,
    );
}
