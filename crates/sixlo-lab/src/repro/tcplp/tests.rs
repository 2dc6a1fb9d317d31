use super::claims_stack::{FEATURES, TIMERS};
use super::model::{chain_bound, one_hop_bound, small_window, small_window_with_rest, square_root};
use super::*;
use crate::repro::verdict::Verdict;
use crate::repro::{Extent, Findings};

#[test]
fn the_model_of_small_windows_is_that_of_equation_1() {
    // Without loss a window a round trip; with a loss of 1/2w, half of it.
    assert!((small_window(462.0, 0.1, 4.0, 0.0) - 4.0 * 462.0 * 8.0 / 0.1).abs() < 1e-6);
    assert!((small_window(462.0, 0.1, 4.0, 0.125) - 2.0 * 462.0 * 8.0 / 0.1).abs() < 1e-6);
}

/// Appendix C: a burst of b windows, then a rest of l round trips, where b = 1/p_win and p_win is about w p (equations 3 and 4).
#[test]
fn the_model_is_that_of_bursts_and_rests() {
    let (mss, rtt, window) = (462.0, 0.2, 4.0);
    for loss in [0.001, 0.01, 0.06] {
        for rest in [1.0, 2.0, 5.0] {
            let burst = 1.0 / (window * loss);
            let equation_3 = window * burst * mss * 8.0 / (burst * rtt + rest * rtt);
            let equation_4 = small_window_with_rest(mss, rtt, window, loss, rest);
            assert!((equation_3 - equation_4).abs() < 1e-6 * equation_3);
        }
    }
}

#[test]
fn the_law_of_the_square_root_is_that_of_equation_2() {
    assert!((square_root(462.0, 0.1, 0.015) - 10.0 * 462.0 * 8.0 / 0.1).abs() < 1e-6);
}

/// Section 6.3: 95 kb/s with TCP headers, "about 100" without them, of frames that take 7.2 ms.
#[test]
fn the_bound_of_one_hop_is_that_of_section_6_3() {
    let bound = one_hop_bound(462.0, 5.0, 7.2e-3, 5.1e-3) / 1_000.0;
    assert!((94.5..97.0).contains(&bound), "{bound}");
}

/// Section 7.2: B, B/2, B/3, B/3; section 7.1 draws a third of 95 kb/s into Fig. 5b.
#[test]
fn the_bounds_of_chains_are_those_of_section_7_2() {
    let bounds = [1, 2, 3, 4].map(|hops| chain_bound(96.0, hops));
    assert_eq!(bounds, [96.0, 48.0, 32.0, 32.0]);
}

/// Section 6.2: goodput levels off at 3 to 4 segments because 75 kb/s and the round trip that goes with it are a window of that size;
/// section 7.3: 6 % of loss cost a third, not more, where the law of the square root would allow 5 windows.
#[test]
fn the_published_numbers_agree_with_the_model() {
    // A window of four segments at 75 kb/s takes 197 ms.
    let rtt_s = 4.0 * 462.0 * 8.0 / 75_000.0;
    assert!((small_window(462.0, rtt_s, 4.0, 0.0) - 75_000.0).abs() < 1.0);
    let share = small_window(462.0, rtt_s, 4.0, 0.06) / small_window(462.0, rtt_s, 4.0, 0.0);
    assert!((0.67..0.68).contains(&share), "{share}");
    assert!(square_root(462.0, rtt_s, 0.06) > small_window(462.0, rtt_s, 4.0, 0.0));
}

#[test]
fn every_run_of_the_study_is_a_configuration_that_can_be() {
    let extent = Extent {
        quick: false,
        seeds: Some(1),
    };
    for point in (STUDY.scenario)(&extent).points {
        sixlo_sim::world::Plan::new(&point.config, 1)
            .unwrap_or_else(|problem| panic!("{:?}: {problem}", point.labels));
    }
}

#[test]
fn no_point_is_run_twice() {
    let mut points: Vec<_> = setups::points(&Extent::default())
        .into_iter()
        .map(setups::At::labels)
        .collect();
    points.sort();
    let all = points.len();
    points.dedup();
    assert_eq!(points.len(), all);
}

/// Fig. 4a: the radio takes 7.2 ms for a frame of 127 bytes, from the moment that it has it to the moment that it could have the next.
#[test]
fn full_frames_follow_each_other_every_7_2_ms() {
    let extent = Extent {
        quick: true,
        seeds: Some(1),
    };
    let mut config = setups::config(setups::At::paper(setups::Varied::Delay, 1, 0), &extent);
    config.bulk.clear();
    config.end_ms = None;
    let frames_and_ms = |payload: u16, seed| {
        let datagrams = format!(
            "from = [2]\npayload_bytes = {payload}\ncount = 30\nstart_max_ms = 0\ngap_min_ms = 0\ngap_max_ms = 0"
        );
        let mut config = config.clone();
        config.traffic = vec![toml::from_str(&datagrams).expect("datagrams")];
        let result = sixlo_sim::run::run(&config, seed, &mut ()).expect("a run that adds up");
        let arrived = |record: &sixlo_sim::ledger::Record| match record.fate {
            sixlo_sim::ledger::Fate::Delivered { at } => at.as_secs() * 1_000.0,
            ref other => panic!("{other:?}"),
        };
        let times: Vec<f64> = result.records.iter().map(arrived).collect();
        (result.nodes[1].radio.frames_sent, (times[29] - times[0]) / 29.0)
    };
    // The largest datagrams that take one frame each.
    let full = (60..104)
        .rev()
        .find(|&payload| frames_and_ms(payload, 1).0 == 30)
        .expect("a size");
    let times: Vec<f64> = (1..=40).map(|seed| frames_and_ms(full, seed).1).collect();
    let took_ms = crate::stats::mean(&times).expect("runs");
    assert!((7.1..7.3).contains(&took_ms), "{took_ms} ms");
}

#[test]
fn without_runs_nothing_but_what_the_stack_is_is_decided() {
    for claim in (STUDY.judge)(&Findings::new(&[], &Default::default())) {
        for part in claim.parts {
            let of_the_stack =
                ["T1", "T10", "T18"].contains(&claim.id) || part.name.starts_with("receive side");
            let expected = match of_the_stack {
                true => Verdict::Reproduced,
                false => Verdict::NotMeasured,
            };
            assert_eq!(part.verdict, expected, "{}: {}", claim.id, part.name);
        }
    }
}

#[test]
fn every_claim_of_the_study_has_its_place() {
    let claims = (STUDY.judge)(&Findings::new(&[], &Default::default()));
    let ids: Vec<&str> = claims.iter().map(|claim| claim.id).collect();
    assert_eq!(
        ids,
        ["T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9", "T10", "T18"]
    );
    for claim in claims {
        assert!(!claim.parts.is_empty(), "{}", claim.id);
    }
}

/// The tests that the ledger names are there.
#[test]
fn what_holds_a_feature_is_a_test_of_the_stack() {
    fn collect(folder: &std::path::Path, all: &mut String) {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, all);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                all.push_str(&std::fs::read_to_string(&path).expect("a source"));
            }
        }
    }
    let stack = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../sixlo");
    let mut all = String::new();
    collect(&stack.join("src"), &mut all);
    collect(&stack.join("tests"), &mut all);
    for (feature, tests) in FEATURES.iter().chain(&TIMERS) {
        for test in *tests {
            let is_test = all
                .match_indices(&format!("fn {test}("))
                .any(|(at, _)| all[..at].trim_end().ends_with("#[test]"));
            assert!(is_test, "{feature}: {test}");
        }
    }
}
