use super::*;

fn estimate(mean: f64, half_width: f64) -> Estimate {
    Estimate {
        runs: 12,
        mean,
        half_width: Some(half_width),
    }
}

fn ranked(name: &str, pdr: f64, half_width: f64, air: f64) -> Ranked {
    Ranked {
        name: name.to_owned(),
        runs: 12,
        pdr: estimate(pdr, half_width),
        latency_ms: None,
        air_us_per_byte: Some(estimate(air, 1.0)),
        buffer_bytes: None,
        finalist: true,
    }
}

#[test]
fn of_settings_that_deliver_alike_the_one_with_the_least_radio_time_is_recommended() {
    let all = [
        ranked("a", 0.900, 0.01, 90.0),
        ranked("b", 0.898, 0.01, 60.0),
        ranked("c", 0.850, 0.01, 10.0),
    ];
    assert_eq!(recommend(&all), 1);
}

#[test]
fn what_fell_behind_is_never_recommended() {
    let mut all = [ranked("a", 0.9, 0.01, 90.0), ranked("b", 0.899, 0.01, 10.0)];
    all[1].finalist = false;
    assert_eq!(recommend(&all), 0);
}

#[test]
fn a_setting_that_may_still_be_the_best_goes_on() {
    let all: Vec<Ranked> = (0..20)
        .map(|i| {
            ranked(
                "x",
                0.9 - 0.01 * f64::from(i),
                if i == 8 { 0.2 } else { 0.001 },
                1.0,
            )
        })
        .collect();
    let kept = survivors(&all, (0..20).collect());
    assert!((0..LEFT).all(|place| kept.contains(&place)));
    assert!(kept.contains(&8), "its interval reaches the best: {kept:?}");
    assert!(!kept.contains(&7) && !kept.contains(&15), "{kept:?}");
}

#[test]
fn the_advice_says_when_it_cannot_tell() {
    let comparison = |half_width| Comparison {
        ranked: vec![
            ranked("a", 0.9, half_width, 9.0),
            ranked("b", 0.85, half_width, 5.0),
        ],
        recommended: 0,
    };
    let sure = table::advice(&comparison(0.01));
    assert!(
        sure.starts_with("Use a: it delivers 90.0 (89.0 to 91.0) %") && sure.contains("No other"),
        "{sure}"
    );
    let unsure = table::advice(&comparison(0.05));
    assert!(unsure.contains("cannot tell it from: b."), "{unsure}");
}

#[test]
fn candidates_have_names_of_their_own_and_each_can_be_run() {
    use sixlo_sim::config::{Chain, Strategy, Topology};
    let all = candidates::all(&Strategy::ALL);
    let config = Config::new(Topology::Chain(Chain {
        nodes: 3,
        spacing_m: 5.0,
    }));
    for candidate in &all {
        assert_eq!(all.iter().filter(|other| other.name == candidate.name).count(), 1);
        sixlo_sim::world::Plan::new(&candidate.applied(&config), 1).expect("a run that can be built");
    }
    assert_eq!(all.len(), 24);
}
