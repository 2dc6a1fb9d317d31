use super::model::{small_window, square_root};
use super::*;
use crate::repro::{Extent, Findings};

#[test]
fn the_model_of_small_windows_is_that_of_equation_1() {
    // Without loss a window a round trip; with a loss of 1/2w, half of it.
    assert!((small_window(462.0, 0.1, 4.0, 0.0) - 4.0 * 462.0 * 8.0 / 0.1).abs() < 1e-6);
    assert!((small_window(462.0, 0.1, 4.0, 0.125) - 2.0 * 462.0 * 8.0 / 0.1).abs() < 1e-6);
}

#[test]
fn the_law_of_the_square_root_is_that_of_equation_2() {
    assert!((square_root(462.0, 0.1, 0.015) - 10.0 * 462.0 * 8.0 / 0.1).abs() < 1e-6);
}

#[test]
fn every_run_of_the_study_is_a_configuration_that_can_be() {
    let extent = Extent {
        quick: true,
        seeds: Some(1),
    };
    for point in (STUDY.scenario)(&extent).points {
        sixlo_sim::world::Plan::new(&point.config, 1)
            .unwrap_or_else(|problem| panic!("{:?}: {problem}", point.labels));
    }
}

#[test]
fn without_runs_nothing_but_sizes_is_decided() {
    for claim in (STUDY.judge)(&Findings::new(&[], &[])) {
        for part in claim.parts {
            assert_ne!(
                part.verdict,
                crate::repro::verdict::Verdict::NotReproduced,
                "{}",
                part.name
            );
            let sized = claim.id == "T1";
            assert_eq!(
                part.verdict == crate::repro::verdict::Verdict::Reproduced,
                sized,
                "{}",
                part.name
            );
        }
    }
}
