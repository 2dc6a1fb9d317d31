//! Medium access against theory. The reference models first check each other and the arithmetic that they rest on.

mod support {
    pub(crate) mod csma_theory;
}

use support::csma_theory::{
    Contention, Rates, SYMBOL_US, isolated_us, many_senders, mean_exchange_us, two_senders,
};

/// Holds two rates to a tolerance, relative to the second.
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
fn theory_an_isolated_frame_takes_what_symbol_arithmetic_says() {
    // Assessment 128, turnaround 192, frame, turnaround 192, acknowledgement 352 us.
    assert_eq!(isolated_us(127, 0), 128 + 192 + 4_256 + 192 + 352);
    assert_eq!(isolated_us(127, 7), 7 * 320 + 5_120);
    assert_eq!(isolated_us(20, 0), 128 + 192 + 832 + 192 + 352);
}

#[test]
fn theory_one_sender_needs_6880_us_a_frame() {
    let one = Contention::saturated(1);
    assert_eq!(mean_exchange_us(&one), 6_880.0);
    let rates = many_senders(&one, 200_000, 1);
    close("one sender", rates.acknowledged, 1e6 / 6_880.0, 0.001);
    close(
        "every attempt is acknowledged",
        rates.attempts,
        rates.acknowledged,
        0.0001,
    );
    assert_eq!(rates.busy + rates.access_failures, 0.0);
}

/// Two senders without back-off that start together collide for ever, every 20 + 266 + 54 symbols.
#[test]
fn theory_two_senders_without_back_off_lose_everything() {
    let two = Contention {
        exponents: (0, 0),
        ..Contention::saturated(2)
    };
    let rounds_a_second = 1e6 / (340 * SYMBOL_US) as f64;
    for rates in [two_senders(&two), many_senders(&two, 20_000, 1)] {
        close("attempts", rates.attempts, 2.0 * rounds_a_second, 0.001);
        assert_eq!((rates.received, rates.acknowledged, rates.busy), (0.0, 0.0, 0.0));
    }
}

/// The enumeration and the model share the constants and nothing else: where they agree, a slip in one is unlikely.
#[test]
fn theory_the_enumeration_and_the_model_agree_on_two_senders() {
    for (exponents, max_backoffs, frame_len) in [
        ((3, 5), 4, 127),
        ((3, 5), 4, 40),
        ((1, 3), 1, 80),
        ((5, 5), 0, 127),
    ] {
        let two = Contention {
            exponents,
            max_backoffs,
            frame_len,
            senders: 2,
        };
        let (exact, drawn) = (two_senders(&two), many_senders(&two, 400_000, 3));
        all_close(&drawn, &exact, 0.005);
        close(
            "access failures",
            drawn.access_failures,
            exact.access_failures,
            0.02,
        );
    }
}

#[test]
fn theory_the_model_settles_for_ten_senders() {
    let ten = Contention::saturated(10);
    let (one, other) = (many_senders(&ten, 200_000, 1), many_senders(&ten, 200_000, 2));
    all_close(&one, &other, 0.01);
    // Sanity: more contention than two senders have, and still something gets through.
    let two = two_senders(&Contention::saturated(2));
    assert!(one.acknowledged / one.attempts < two.acknowledged / two.attempts);
    assert!(one.acknowledged < one.received && one.received < one.attempts);
}
