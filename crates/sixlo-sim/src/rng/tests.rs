use super::*;

#[test]
fn the_generator_gives_the_published_sequence() {
    // xoshiro256++ from the state 1, 2, 3, 4: reference values from the authors' C code.
    let mut rng = Rng([1, 2, 3, 4]);
    let first: Vec<u64> = (0..4).map(|_| rng.bits()).collect();
    assert_eq!(first, [41943041, 58720359, 3588806011781223, 3591011842654386]);
    // splitmix64 from state 0.
    assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
}

#[test]
fn streams_of_different_seeds_purposes_and_nodes_differ() {
    let first = |seed, purpose, node| Rng::new(seed, purpose, node).bits();
    let all = [
        first(1, Purpose::Radio, 1),
        first(2, Purpose::Radio, 1),
        first(1, Purpose::Traffic, 1),
        first(1, Purpose::Radio, 2),
    ];
    for (i, a) in all.iter().enumerate() {
        assert!(all.iter().skip(i + 1).all(|b| a != b));
    }
    assert_eq!(all[0], first(1, Purpose::Radio, 1));
}

#[test]
fn numbers_below_a_bound_are_uniform() {
    let mut rng = Rng::new(1, Purpose::Radio, 0);
    let mut counts = [0u32; 7];
    for _ in 0..70_000 {
        counts[rng.below(7) as usize] += 1;
    }
    // Standard deviation of a count: 93.
    assert!(counts.iter().all(|&n| (9_600..10_400).contains(&n)), "{counts:?}");
    assert_eq!(rng.below(0), 0);
    assert_eq!(rng.below(1), 0);
    assert_eq!(rng.between(5, 5), 5);
    assert_eq!(rng.between(5, 4), 5);
}

#[test]
fn normal_numbers_have_mean_0_and_deviation_1() {
    let mut rng = Rng::new(1, Purpose::Shadowing, 0);
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..100_000 {
        let x = rng.normal();
        sum += x;
        squares += x * x;
    }
    assert!((sum / 1e5).abs() < 0.015, "{sum}");
    assert!((squares / 1e5 - 1.0).abs() < 0.02, "{squares}");
}

#[test]
fn a_chance_strikes_as_often_as_it_says() {
    let mut rng = Rng::new(1, Purpose::Medium, 0);
    let chance = Chance::new(0.025);
    let hits = (0..200_000).filter(|_| chance.strikes(rng.bits())).count();
    // Standard deviation: 70.
    assert!((4_720..5_280).contains(&hits), "{hits}");
    assert!(Chance::new(1.0).strikes(u64::MAX));
    assert!(!Chance::new(0.0).strikes(0));
    assert!(!Chance::new(-1.0).strikes(0));
}
