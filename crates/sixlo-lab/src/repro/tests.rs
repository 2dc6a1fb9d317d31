use super::ledger::{self, Part, regressions};
use super::verdict::{Order, Verdict, about_equal, above, all, below, not_above, order};
use super::*;
use crate::results::write_rows;
use crate::test_folder::TestFolder;

/// Ten values around a mean.
fn around(mean: f64) -> Vec<f64> {
    (0..10).map(|i| mean + f64::from(i % 2) - 0.5).collect()
}

#[test]
fn a_pair_is_ordered_when_its_intervals_are_apart_over_ten_runs() {
    assert_eq!(order(&around(10.0), &around(5.0)), Order::Above);
    assert_eq!(order(&around(5.0), &around(10.0)), Order::Below);
    assert_eq!(order(&around(10.0), &around(10.3)), Order::Unknown);
    // Nine runs decide nothing, however far apart they are.
    assert_eq!(order(&around(10.0)[..9], &around(5.0)), Order::Unknown);
    assert_eq!(order(&[], &around(5.0)), Order::Missing);
}

#[test]
fn intervals_that_touch_are_not_apart() {
    let constant = vec![1.0; 10];
    assert_eq!(order(&constant, &constant), Order::Unknown);
    assert_eq!(order(&[1.0 + 1e-9; 10], &constant), Order::Above);
}

#[test]
fn a_verdict_follows_from_the_order() {
    let (high, low, near) = (around(10.0), around(5.0), around(10.3));
    assert_eq!(above(&high, &low), Verdict::Reproduced);
    assert_eq!(above(&low, &high), Verdict::NotReproduced);
    assert_eq!(below(&low, &high), Verdict::Reproduced);
    assert_eq!(above(&high, &near), Verdict::Undecided);
    assert_eq!(above(&[], &near), Verdict::NotMeasured);
    assert_eq!(not_above(&high, &near), Verdict::Reproduced);
    assert_eq!(not_above(&high, &low), Verdict::NotReproduced);
    assert_eq!(not_above(&high[..3], &near), Verdict::Undecided);
}

#[test]
fn of_nothing_in_all_runs_of_both_nothing_is_said() {
    let (nothing, something) = (vec![0.0; 10], around(10.0));
    assert_eq!(not_above(&nothing, &nothing), Verdict::Undecided);
    assert_eq!(about_equal(&nothing, &nothing), Verdict::Undecided);
    assert_eq!(above(&nothing, &nothing), Verdict::Undecided);
    assert_eq!(not_above(&nothing, &something), Verdict::Reproduced);
    let mut one_run = nothing.clone();
    one_run[3] = 1.0;
    assert_eq!(about_equal(&nothing, &one_run), Verdict::Reproduced);
    assert_eq!(about_equal(&something, &around(10.3)), Verdict::Reproduced);
    assert_eq!(about_equal(&something, &nothing), Verdict::NotReproduced);
    assert_eq!(about_equal(&something[..3], &something), Verdict::Undecided);
    assert_eq!(about_equal(&[], &something), Verdict::NotMeasured);
}

#[test]
fn several_parts_are_as_good_as_the_worst_of_them() {
    use Verdict::{NotMeasured, NotReproduced, Reproduced, Undecided};
    assert_eq!(all([Reproduced, Reproduced]), Reproduced);
    assert_eq!(all([Reproduced, NotMeasured]), NotMeasured);
    assert_eq!(all([NotMeasured, Undecided, Reproduced]), Undecided);
    assert_eq!(all([Undecided, NotReproduced]), NotReproduced);
    assert_eq!(all([]), NotMeasured);
}

fn claim(id: &'static str, verdicts: &[(&str, Verdict)]) -> Claim {
    let part = |(name, verdict): &(&str, Verdict)| Part {
        name: (*name).to_owned(),
        published: "a, \"b\"".to_owned(),
        measured: "1 (0 to 2)".to_owned(),
        verdict: *verdict,
    };
    Claim {
        id,
        title: "A title",
        parts: verdicts.iter().map(part).collect(),
    }
}

#[test]
fn what_held_by_a_tracked_ledger_and_holds_no_longer_is_told() {
    use Verdict::{NotMeasured, NotReproduced, Reproduced, Undecided};
    let folder = TestFolder::new();
    let file = folder.path().join("claims.csv");
    let before = [
        claim(
            "F1",
            &[("x", Reproduced), ("y", Reproduced), ("z", NotReproduced)],
        ),
        claim("F2", &[("x", Reproduced), ("gone", Reproduced), ("w", Undecided)]),
    ];
    write_rows(&file, &ledger::entries(&before)).unwrap();
    assert_eq!(regressions(&file, &before), Ok(Vec::new()));
    let now = [
        claim("F1", &[("x", Reproduced), ("y", Undecided), ("z", Reproduced)]),
        claim("F2", &[("x", NotMeasured), ("w", NotReproduced)]),
    ];
    let lost = regressions(&file, &now).unwrap();
    assert_eq!(lost.len(), 3, "{lost:?}");
    assert!(lost[0].starts_with("F1 (y) was reproduced") && lost[0].contains("is undecided now"));
    assert!(lost[1].starts_with("F2 (x)") && lost[1].contains("not yet measured"));
    assert!(lost[2].starts_with("F2 (gone) is not in the ledger"));
    assert!(regressions(&folder.path().join("none.csv"), &now).is_err());
}

#[test]
fn the_ledger_on_a_terminal_names_each_claim_and_counts_the_verdicts() {
    let claims = [
        claim("F1", &[("x", Verdict::Reproduced)]),
        claim("F2", &[("x", Verdict::Reproduced), ("y", Verdict::Undecided)]),
    ];
    let text = ledger::for_terminal(&claims);
    assert!(text.contains("F1   reproduced        A title\n"), "{text}");
    assert!(text.contains("F2   undecided         A title\n"), "{text}");
    assert!(text.contains("2 claims: 1 reproduced, 1 undecided"), "{text}");
}

#[test]
fn every_study_has_a_name_of_its_own_and_a_scenario_whose_points_differ() {
    for study in STUDIES {
        assert_eq!(STUDIES.iter().filter(|other| other.name == study.name).count(), 1);
        for quick in [true, false] {
            let scenario = (study.scenario)(&Extent { quick, seeds: None });
            let mut labels: Vec<_> = scenario.points.iter().map(|point| &point.labels).collect();
            let all = labels.len();
            labels.sort();
            labels.dedup();
            assert_eq!(labels.len(), all, "two points with the same labels");
            for point in &scenario.points {
                sixlo_sim::world::Plan::new(&point.config, 1).expect("a run that can be built");
            }
        }
        assert!(!(study.choices)().is_empty());
    }
}
