use super::*;
use std::vec::Vec;

#[test]
fn the_numbers_are_those_of_xoshiro128_plus_plus() {
    let mut rng = Rng { state: [1, 2, 3, 4] };
    let numbers: Vec<u32> = (0..10).map(|_| rng.next_u32()).collect();
    assert_eq!(
        numbers,
        [
            641, 1573767, 3222811527, 3517856514, 836907274, 4247214768, 3867114732, 1355841295, 495546011,
            621204420,
        ]
    );
}

#[test]
fn the_state_is_filled_by_split_mix_64() {
    // The first two numbers of the reference program for the seed 1234567.
    assert_eq!(split_mix(1234567, 1), 6457827717110365317);
    assert_eq!(split_mix(1234567, 2), 3203168211198807973);
    let [a, b, c, d] = Rng::new(1234567).state;
    assert_eq!(u64::from(b) << 32 | u64::from(a), 6457827717110365317);
    assert_eq!(u64::from(d) << 32 | u64::from(c), 3203168211198807973);
}

#[test]
fn no_seed_gives_an_empty_state() {
    for seed in (0..10_000).chain(u64::MAX - 10_000..=u64::MAX) {
        assert_ne!(Rng::new(seed).state, [0; 4], "seed {seed}");
    }
}

#[test]
fn below_stays_below_and_reaches_everything() {
    let mut rng = Rng::new(1);
    assert_eq!((rng.below(0), rng.below(1)), (0, 0));
    assert_eq!(rng.state, Rng::new(1).state, "nothing drawn");
    for bound in 2..40_u32 {
        let mut seen = 0_u64;
        for _ in 0..2_000 {
            let number = rng.below(bound);
            assert!(number < bound);
            seen |= 1 << number;
        }
        assert_eq!(seen, (1 << bound) - 1, "bound {bound}");
    }
    assert!((0..1000).any(|_| rng.below(u32::MAX) > u32::MAX / 2));
}

/// With 3 * 2^30 values, a plain multiply or a plain modulo would give a third of the values twice as often as the
/// others.
#[test]
fn below_has_no_bias_where_plain_scaling_has_most() {
    const BOUND: u32 = 3 << 30;
    const DRAWS: u32 = 300_000;
    let mut rng = Rng::new(7);
    let mut by_remainder = [0_u32; 3];
    let mut by_third = [0_u32; 3];
    for _ in 0..DRAWS {
        let number = rng.below(BOUND);
        by_remainder[(number % 3) as usize] += 1;
        by_third[(number >> 30) as usize] += 1;
    }
    for count in by_remainder.into_iter().chain(by_third) {
        // Six standard deviations: sqrt(300000 * 1/3 * 2/3) = 258.
        assert!(count.abs_diff(DRAWS / 3) < 1_549, "{by_remainder:?} {by_third:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
    let numbers = |seed| {
        let mut rng = Rng::new(seed);
        (0..8).map(|_| rng.next_u32()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(5), numbers(5));
    assert_ne!(numbers(5), numbers(6));
}
