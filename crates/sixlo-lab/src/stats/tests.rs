use proptest::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::statistics::Statistics;

use super::*;

fn close(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0)
}

#[test]
fn t_quantiles_agree_with_the_printed_table() {
    for (freedom, printed) in [
        (1, 12.706),
        (2, 4.303),
        (4, 2.776),
        (9, 2.262),
        (29, 2.045),
        (1000, 1.962),
    ] {
        let ours = student_t_975(freedom);
        assert!((ours - printed).abs() < 5e-4, "{freedom}: {ours}");
    }
}

#[test]
fn t_quantiles_agree_with_statrs() {
    for freedom in (1..=60).chain([99, 100, 999, 5000]) {
        let theirs = StudentsT::new(0.0, 1.0, freedom as f64)
            .unwrap()
            .inverse_cdf(0.975);
        let ours = student_t_975(freedom);
        assert!((ours - theirs).abs() < 1e-6, "{freedom}: {ours} {theirs}");
    }
}

#[test]
fn an_interval_over_three_runs_is_the_one_computed_by_hand() {
    // mean 0.9, deviation 0.1, t(0.975, 2) = 4.302653, half width 4.302653 * 0.1 / sqrt(3)
    let estimate = Estimate::of(&[0.8, 0.9, 1.0]).unwrap();
    assert!(close(estimate.mean, 0.9));
    assert!((estimate.half_width.unwrap() - 0.248_413_8).abs() < 1e-6);
    assert_eq!(estimate.high(1.0), Some(1.0));
    assert!((estimate.low(0.0).unwrap() - 0.651_586_2).abs() < 1e-6);
}

#[test]
fn one_run_has_a_mean_and_no_interval() {
    let estimate = Estimate::of(&[0.5]).unwrap();
    assert_eq!((estimate.mean, estimate.half_width), (0.5, None));
    assert_eq!((estimate.low(0.0), estimate.high(1.0)), (None, None));
}

#[test]
fn nothing_has_neither_mean_nor_quantile() {
    assert_eq!(Estimate::of(&[]), None);
    assert_eq!(mean(&[]), None);
    assert_eq!(quantile(&[], 0.5), None);
}

#[test]
fn quantiles_interpolate_between_order_statistics() {
    let values = [1.0, 2.0, 3.0, 4.0];
    for (p, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 2.5), (0.9, 3.7), (1.0, 4.0)] {
        assert!(close(quantile(&values, p).unwrap(), expected), "{p}");
    }
    assert_eq!(quantile(&[7.0], 0.9), Some(7.0));
}

proptest! {
    #[test]
    fn mean_and_deviation_agree_with_statrs(values in prop::collection::vec(-1e6..1e6f64, 2..40)) {
        prop_assert!(close(mean(&values).unwrap(), (&values[..]).mean()));
        prop_assert!((sample_deviation(&values).unwrap() - (&values[..]).std_dev()).abs() < 1e-6);
    }

    #[test]
    fn a_quantile_lies_within_the_values_and_grows_with_p(
        mut values in prop::collection::vec(-1e6..1e6f64, 1..40), p in 0.0..1.0f64, q in 0.0..1.0f64,
    ) {
        values.sort_by(f64::total_cmp);
        let (low, high) = (quantile(&values, p.min(q)).unwrap(), quantile(&values, p.max(q)).unwrap());
        prop_assert!(low <= high && values[0] <= low && high <= values[values.len() - 1]);
    }
}
