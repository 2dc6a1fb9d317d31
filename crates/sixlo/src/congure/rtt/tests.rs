use super::*;
use proptest::prelude::*;

/// No bounds but a clock of 10 ms.
const FREE: RttLimits = RttLimits {
    initial: Duration::from_secs(1),
    granularity: Duration::from_millis(10),
    minimum: Duration::ZERO,
    maximum: Duration::from_secs(60),
};

fn measured(samples_ms: &[u64]) -> Rtt {
    let mut rtt = Rtt::EMPTY;
    for sample in samples_ms {
        rtt.sample(Duration::from_millis(*sample));
    }
    rtt
}

#[test]
fn before_the_first_measurement_the_timer_is_the_initial_one_rfc6298_2_1() {
    assert_eq!(Rtt::EMPTY.timeout(&RttLimits::RFC6298), Duration::from_secs(1));
    assert_eq!(Rtt::EMPTY.smoothed(), None);
    assert_eq!(Rtt::EMPTY.spread(Duration::ZERO), None);
}

#[test]
fn the_first_measurement_sets_mean_and_variation_rfc6298_2_2() {
    let rtt = measured(&[800]);
    assert_eq!(rtt.smoothed(), Some(Duration::from_millis(800)));
    assert_eq!(rtt.variation(), Duration::from_millis(400));
    // 800 + 4 * 400
    assert_eq!(rtt.timeout(&FREE), Duration::from_millis(2_400));
}

#[test]
fn a_later_measurement_moves_the_variation_by_the_old_mean_rfc6298_2_3() {
    let rtt = measured(&[800, 400]);
    // 3/4 * 400 + 1/4 * |800 - 400|; were the new mean taken, it would be 387.5.
    assert_eq!(rtt.variation(), Duration::from_millis(400));
    // 7/8 * 800 + 1/8 * 400
    assert_eq!(rtt.smoothed(), Some(Duration::from_millis(750)));
    assert_eq!(rtt.timeout(&FREE), Duration::from_millis(2_350));
}

#[test]
fn the_timer_is_at_least_a_second_and_at_most_sixty_rfc6298_2_4_and_2_5() {
    assert_eq!(
        measured(&[8]).timeout(&RttLimits::RFC6298),
        Duration::from_secs(1)
    );
    assert_eq!(
        measured(&[50_000]).timeout(&RttLimits::RFC6298),
        Duration::from_secs(60)
    );
}

#[test]
fn a_variation_of_nothing_is_rounded_to_the_clock_granularity_rfc6298_4() {
    let rtt = measured(&[800; 100]);
    assert!(rtt.variation() < Duration::from_micros(10));
    let smoothed = rtt.smoothed().expect("measured");
    assert_eq!(rtt.timeout(&FREE), smoothed + Duration::from_millis(10));
    let drift = Duration::from_millis(800).as_micros() - smoothed.as_micros();
    assert!(drift < 8, "rounding takes {drift} us");
}

#[test]
fn an_expired_timer_doubles_until_it_is_measured_anew_rfc6298_5_5() {
    let mut rtt = measured(&[800]);
    rtt.back_off();
    assert_eq!(rtt.timeout(&FREE), Duration::from_millis(4_800));
    rtt.back_off();
    assert_eq!(rtt.timeout(&FREE), Duration::from_millis(9_600));
    for _ in 0..300 {
        rtt.back_off();
    }
    assert_eq!(rtt.timeout(&FREE), Duration::from_secs(60));
    rtt.sample(Duration::from_millis(800));
    // 800 + 4 * 300
    assert_eq!(rtt.timeout(&FREE), Duration::from_millis(2_000));
}

#[test]
fn the_initial_timer_doubles_too_rfc6298_2_1() {
    let mut rtt = Rtt::EMPTY;
    rtt.back_off();
    assert_eq!(rtt.timeout(&RttLimits::RFC6298), Duration::from_secs(2));
}

#[test]
fn messages_sent_twice_are_not_measured_rfc6298_3() {
    let (sent, now) = (Instant::from_micros(1_000), Instant::from_micros(801_000));
    let mut rtt = Rtt::EMPTY;
    rtt.back_off();
    assert_eq!(rtt.acked(now, &Batch::again(1, sent)), None);
    assert_eq!(rtt.smoothed(), None);
    assert_eq!(
        rtt.timeout(&FREE),
        Duration::from_secs(2),
        "the back-off stays, RFC 6298 section 5"
    );
    assert_eq!(
        rtt.acked(now, &Batch::one(1, sent)),
        Some(Duration::from_millis(800))
    );
    assert_eq!(rtt.smoothed(), Some(Duration::from_millis(800)));
}

#[test]
fn a_round_trip_is_measured_from_the_message_sent_last() {
    let batch = Batch {
        size: 2,
        oldest: Instant::from_micros(0),
        newest: Instant::from_micros(300),
        resent: false,
    };
    let mut rtt = Rtt::EMPTY;
    assert_eq!(
        rtt.acked(Instant::from_micros(1_000), &batch),
        Some(Duration::from_micros(700))
    );
}

#[test]
fn a_clock_that_stands_still_is_a_measurement_all_the_same() {
    let mut rtt = Rtt::EMPTY;
    for _ in 0..20 {
        rtt.sample(Duration::ZERO);
        assert!(rtt.smoothed().is_some());
    }
}

proptest! {
    #[test]
    fn any_measurements_leave_the_mean_between_them_and_the_timer_in_its_bounds(
        samples in prop::collection::vec(prop_oneof![0..10_000_000_u64, any::<u64>()], 1..50),
    ) {
        let mut rtt = Rtt::EMPTY;
        for sample in &samples {
            rtt.sample(Duration::from_micros(*sample));
        }
        let bounded = samples.iter().map(|sample| (*sample).min(u64::from(u32::MAX)));
        let least = bounded.clone().min().unwrap_or_default().saturating_sub(7);
        let most = bounded.max().unwrap_or_default().max(1);
        let smoothed = rtt.smoothed().map_or(0, Duration::as_micros);
        prop_assert!((least..=most).contains(&smoothed));
        let timeout = rtt.timeout(&RttLimits::RFC6298);
        prop_assert!(timeout >= Duration::from_secs(1) && timeout <= Duration::from_secs(60));
    }
}
