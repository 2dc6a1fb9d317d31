use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;

use super::*;
use crate::results::{DELIVERED, Datagram, Loss, Node, Run, Tables};
use crate::scenario::Source;
use crate::test_folder::TestFolder;

const SCENARIO: &str = r#"
seeds = 3
topology = "f-b-t"
[sweep]
traffic.payload_bytes = [16, 512]
[[traffic]]
payload_bytes = 8
count = 4
gap_min_ms = 100
gap_max_ms = 200
"#;

fn scenario(text: &str) -> Scenario {
    let source = Source {
        name: "test.toml".into(),
        text: text.into(),
    };
    Scenario::parse("test", source, Path::new(""), None).unwrap()
}

fn options(folder: &TestFolder) -> Options {
    Options {
        out: folder.path().join("out"),
        force: false,
        threads: 1,
        build: "a".into(),
        datagrams: true,
    }
}

/// Tables that depend on the run: of four datagrams, seed n delivers n, the larger payload one less.
fn tables(run: &RunSpec<'_>) -> Tables {
    let delivered = run.seed - run.point_number as u64;
    let datagram = |number: u64| Datagram {
        datagram: number as u32,
        source: 2,
        hops: 1,
        latency_ms: (number < delivered).then_some(10.0 * (number + 1) as f64),
        fate: if number < delivered {
            DELIVERED
        } else {
            "no-buffer"
        }
        .into(),
        ..Datagram::default()
    };
    Tables {
        run: Run {
            sent: 4,
            delivered,
            pdr: Some(delivered as f64 / 4.0),
            ..Run::default()
        },
        datagrams: (0..4).map(datagram).collect(),
        nodes: vec![Node::default()],
        losses: vec![Loss {
            kind: "datagram".into(),
            node: 1,
            cause: "no-buffer".into(),
            count: 4_u64.saturating_sub(delivered),
        }],
        transfers: Vec::new(),
        windows: Vec::new(),
        hops: Vec::new(),
    }
}

fn write_tables(run: &RunSpec<'_>, folder: &Path) -> Result<(), RunError> {
    if run.trace {
        fs::write(folder.join(TRACE), "trace").map_err(RunError::Output)?;
    }
    if run.capture {
        fs::write(folder.join(CAPTURE), "capture").map_err(RunError::Output)?;
    }
    tables(run).write(folder, true).map_err(RunError::Output)
}

/// Every file below a folder with its content.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Which runs an executor was asked for.
#[derive(Default)]
struct Asked(Mutex<Vec<usize>>);

impl Asked {
    fn execute(&self, run: &RunSpec<'_>, folder: &Path) -> Result<(), RunError> {
        self.0.lock().unwrap().push(run.number);
        write_tables(run, folder)
    }

    fn sorted(&self) -> Vec<usize> {
        let mut numbers = self.0.lock().unwrap().clone();
        numbers.sort_unstable();
        numbers
    }
}

#[test]
fn every_point_runs_with_every_seed_and_the_results_are_estimated_over_the_runs() {
    let folder = TestFolder::new();
    let asked = Asked::default();
    let scenario = scenario(SCENARIO);
    let points = run(
        &scenario,
        &options(&folder),
        &|run, path| asked.execute(run, path),
        &(),
    )
    .unwrap();
    assert_eq!(asked.sorted(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(points.len(), 2);
    let pdr = points[0].estimates.pdr.unwrap();
    assert_eq!((pdr.runs, pdr.mean), (3, 0.5));
    // Deviation 0.25, t(0.975, 2) = 4.302653.
    assert!((pdr.half_width.unwrap() - 4.302_653 * 0.25 / 3_f64.sqrt()).abs() < 1e-6);
    assert_eq!(points[0].lost, [("no-buffer".to_owned(), 6)]);
    let (arrived, missing) = &points[1].latencies_ms[&1];
    assert_eq!((arrived.as_slice(), *missing), (&[10.0, 10.0, 20.0][..], 9));
}

#[test]
fn the_tables_over_all_runs_name_axes_seed_and_run() {
    let folder = TestFolder::new();
    let options = options(&folder);
    run(&scenario(SCENARIO), &options, &write_tables, &()).unwrap();
    let text = fs::read_to_string(options.out.join("datagrams.csv")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 6 * 4);
    assert!(
        lines[0].starts_with("traffic.payload_bytes,seed,datagram,kind,source,"),
        "{}",
        lines[0]
    );
    assert!(lines[5].starts_with("16,2,0,,2,"), "{}", lines[5]);
    assert!(lines[5].contains(",payload_bytes-16-seed-2-"), "{}", lines[5]);
    let summary = fs::read_to_string(options.out.join("summary.csv")).unwrap();
    assert!(
        summary.starts_with("traffic.payload_bytes,runs,sent,delivered,pdr_mean,pdr_ci95_low,pdr_ci95_high,")
    );
    assert!(summary.contains("\n16,3,12,6,0.5,0,1,"), "{summary}");
}

#[test]
fn one_and_two_threads_write_the_same_bytes() {
    let (one, two) = (TestFolder::new(), TestFolder::new());
    run(&scenario(SCENARIO), &options(&one), &write_tables, &()).unwrap();
    let both = Options {
        threads: 2,
        ..options(&two)
    };
    run(&scenario(SCENARIO), &both, &write_tables, &()).unwrap();
    assert_eq!(contents(one.path()), contents(two.path()));
}

#[test]
fn a_second_start_runs_only_what_is_missing_and_leaves_the_same_bytes() {
    let folder = TestFolder::new();
    let options = options(&folder);
    let scenario = scenario(SCENARIO);
    run(&scenario, &options, &write_tables, &()).unwrap();
    let whole = contents(folder.path());
    // Two runs vanish; of a third there is an unfinished folder.
    let plan = Plan::new(&scenario, "a");
    for number in [1, 4] {
        fs::remove_dir_all(options.out.join("runs").join(&plan.runs[number].name)).unwrap();
    }
    let part = options
        .out
        .join("runs")
        .join(format!(".part-{}", plan.runs[4].name));
    fs::create_dir(&part).unwrap();
    fs::write(part.join("datagrams.csv"), "half a fi").unwrap();
    let asked = Asked::default();
    run(&scenario, &options, &|run, path| asked.execute(run, path), &()).unwrap();
    assert_eq!(asked.sorted(), [1, 4]);
    assert_eq!(contents(folder.path()), whole);
}

#[test]
fn a_campaign_can_be_extended_by_seeds_and_runs_only_the_new_ones() {
    let folder = TestFolder::new();
    run(&scenario(SCENARIO), &options(&folder), &write_tables, &()).unwrap();
    let asked = Asked::default();
    let more = scenario(&SCENARIO.replace("seeds = 3", "seeds = 4"));
    run(
        &more,
        &options(&folder),
        &|run, path| asked.execute(run, path),
        &(),
    )
    .unwrap();
    assert_eq!(asked.sorted(), [3, 7]);
}

#[test]
fn a_run_whose_trace_is_wanted_later_is_run_again() {
    let folder = TestFolder::new();
    run(&scenario(SCENARIO), &options(&folder), &write_tables, &()).unwrap();
    let asked = Asked::default();
    let traced = scenario(&format!("{SCENARIO}[output]\ntrace = \"first-seed\"\n"));
    run(
        &traced,
        &options(&folder),
        &|run, path| asked.execute(run, path),
        &(),
    )
    .unwrap();
    assert_eq!(asked.sorted(), [0]);
}

#[test]
fn another_campaign_in_the_folder_is_not_touched_without_force() {
    let folder = TestFolder::new();
    let options = options(&folder);
    run(&scenario(SCENARIO), &options, &write_tables, &()).unwrap();
    let before = contents(folder.path());
    let other = scenario(&SCENARIO.replace("count = 4", "count = 5"));
    let refused = |result: Result<Vec<PointResult>, Error>| match result {
        Err(Error::BadInput(bad)) => bad.to_string(),
        other => panic!("{other:?}"),
    };
    let message = refused(run(&other, &options, &write_tables, &()));
    assert!(
        message.contains("another campaign") && message.contains("--force"),
        "{message}"
    );
    let rebuilt = Options {
        build: "b".into(),
        ..options.clone()
    };
    let message = refused(run(&scenario(SCENARIO), &rebuilt, &write_tables, &()));
    assert!(message.contains("another build"), "{message}");
    assert_eq!(contents(folder.path()), before);
}

#[test]
fn force_replaces_a_campaign_and_leaves_foreign_files() {
    let folder = TestFolder::new();
    let options = Options {
        force: true,
        ..options(&folder)
    };
    run(&scenario(SCENARIO), &options, &write_tables, &()).unwrap();
    fs::write(options.out.join("notes.txt"), "mine").unwrap();
    let other = scenario(&SCENARIO.replace("seeds = 3", "seeds = [9]"));
    run(&other, &options, &write_tables, &()).unwrap();
    assert_eq!(fs::read_dir(options.out.join("runs")).unwrap().count(), 2);
    assert_eq!(fs::read_to_string(options.out.join("notes.txt")).unwrap(), "mine");
}

#[test]
fn a_folder_that_holds_no_campaign_is_never_touched() {
    let folder = TestFolder::new();
    let options = Options {
        force: true,
        ..options(&folder)
    };
    fs::create_dir(&options.out).unwrap();
    fs::write(options.out.join("runs.csv"), "mine").unwrap();
    let error = run(&scenario(SCENARIO), &options, &write_tables, &()).unwrap_err();
    assert!(matches!(error, Error::BadInput(_)), "{error}");
    assert_eq!(contents(&options.out).len(), 1);
}

#[test]
fn an_output_path_that_is_a_file_is_refused() {
    let folder = TestFolder::new();
    let options = options(&folder);
    fs::write(&options.out, "mine").unwrap();
    let error = run(&scenario(SCENARIO), &options, &write_tables, &()).unwrap_err();
    assert!(matches!(error, Error::BadInput(_)), "{error}");
}

#[test]
fn a_run_that_fails_or_panics_is_named_and_the_others_are_stored() {
    let folder = TestFolder::new();
    let options = options(&folder);
    let scenario = scenario(SCENARIO);
    let execute = |run: &RunSpec<'_>, path: &Path| match run.number {
        1 => Err(RunError::Failed("3 datagrams neither arrived nor ended".into())),
        2 => panic!("index out of range"),
        _ => write_tables(run, path),
    };
    let error = super::run(&scenario, &options, &execute, &())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("2 of the runs failed:\n  payload_bytes-16-seed-2-"),
        "{error}"
    );
    assert!(
        error.contains(": 3 datagrams neither arrived nor ended\n"),
        "{error}"
    );
    assert!(error.ends_with(": panicked: index out of range"), "{error}");
    assert_eq!(fs::read_dir(options.out.join("runs")).unwrap().count(), 4);
    let asked = Asked::default();
    super::run(&scenario, &options, &|run, path| asked.execute(run, path), &()).unwrap();
    assert_eq!(asked.sorted(), [1, 2]);
}

#[test]
fn trouble_with_the_output_ends_the_campaign_and_keeps_what_is_stored() {
    let folder = TestFolder::new();
    let options = options(&folder);
    let execute = |run: &RunSpec<'_>, path: &Path| {
        if run.number == 4 {
            return Err(RunError::Output(io::ErrorKind::StorageFull.into()));
        }
        write_tables(run, path)
    };
    // The runs with 512 bytes go first: 3, 4.
    let error = super::run(&scenario(SCENARIO), &options, &execute, &())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the disk is full\n1 of 6 runs are stored"),
        "{error}"
    );
    assert_eq!(fs::read_dir(options.out.join("runs")).unwrap().count(), 1);
}

#[test]
fn the_configuration_beside_a_run_is_a_scenario_that_repeats_it() {
    let folder = TestFolder::new();
    let options = options(&folder);
    let scenario = scenario(SCENARIO);
    run(&scenario, &options, &write_tables, &()).unwrap();
    let plan = Plan::new(&scenario, "a");
    let config = options.out.join("runs").join(&plan.runs[5].name).join(CONFIG);
    let again = Scenario::read(&config, None).unwrap();
    assert_eq!((again.seeds.as_slice(), again.points.len()), (&[3][..], 1));
    assert_eq!(again.points[0].config, scenario.points[1].config);
}

#[test]
fn a_run_is_known_by_configuration_seed_and_build() {
    let scenario_a = scenario(SCENARIO);
    let base = Plan::new(&scenario_a, "a");
    let mut keys: Vec<_> = base.runs.iter().map(|run| run.key).collect();
    let other_build = Plan::new(&scenario_a, "b");
    keys.extend(other_build.runs.iter().map(|run| run.key));
    let other = scenario(&SCENARIO.replace("gap_min_ms = 100", "gap_min_ms = 101"));
    keys.extend(Plan::new(&other, "a").runs.iter().map(|run| run.key));
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 18);
}
