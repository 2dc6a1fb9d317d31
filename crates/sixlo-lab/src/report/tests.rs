use std::collections::BTreeMap;
use std::path::Path;

use super::layout::{Layout, point_name, some_of, title, with_unit};
use super::table::Table;
use super::*;
use crate::campaign::Estimates;
use crate::results::{Node, Run};
use crate::scenario::Source;
use crate::stats::Estimate;
use crate::test_folder::TestFolder;

const SCENARIO: &str = r#"
title = "Less <is> more"
description = "First & foremost."
seeds = 3
topology = "f-b-t"
[sweep]
medium.disc.interference_range_m = [6.5, 13.0]
traffic.payload_bytes = [16, 512, 1024]
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

fn point(labels: &[&str], pdr: [f64; 3]) -> PointResult {
    let node = |number: u16| Node {
        node: number,
        name: format!("m3-{number}"),
        x_m: f64::from(number) * 4.0,
        parent: (number > 1).then(|| number - 1),
        hops: number - 1,
        link_transmissions: 10 * u64::from(number),
        link_acknowledged: 9,
        sent: 4,
        ..Node::default()
    };
    PointResult {
        labels: labels.iter().map(ToString::to_string).collect(),
        runs: pdr
            .iter()
            .map(|pdr| Run {
                sent: 100,
                pdr: Some(*pdr),
                ..Run::default()
            })
            .collect(),
        estimates: Estimates {
            pdr: Estimate::of(&pdr),
            latency_p50_ms: Estimate::of(&[20.0, 30.0, 40.0]),
            latency_p90_ms: None,
            ..Estimates::default()
        },
        lost: vec![("no-buffer".into(), 25), ("link-no-ack".into(), 5)],
        latencies_ms: BTreeMap::from([(1, (vec![10.0, 20.0], 1)), (2, (vec![30.0], 29))]),
        nodes: (1..=4).map(node).collect(),
        transfers: Vec::new(),
        windows: Vec::new(),
        hops: Vec::new(),
        losses: BTreeMap::from([(("radio".to_owned(), "collision".to_owned()), 300)]),
    }
}

fn points() -> Vec<PointResult> {
    let grid = ["6.5", "13.0"]
        .iter()
        .flat_map(|range| ["16", "512", "1024"].map(|payload| [*range, payload]));
    grid.map(|labels| point(&labels, [0.8, 0.9, 1.0])).collect()
}

#[test]
fn the_axis_with_most_numbers_runs_from_left_to_right_and_the_others_make_lines() {
    let layout = Layout::of(&scenario(SCENARIO).axes, &points());
    assert_eq!(layout.x, Some(1));
    assert_eq!(layout.x_labels, ["16", "512", "1024"]);
    assert_eq!(
        layout.lines,
        [
            ("6.5 m".to_owned(), vec![0, 1, 2]),
            ("13.0 m".to_owned(), vec![3, 4, 5])
        ]
    );
}

#[test]
fn a_campaign_without_axes_has_one_nameless_line() {
    let layout = Layout::of(&[], &[point(&[], [1.0; 3])]);
    assert_eq!((layout.x, layout.lines), (None, vec![(String::new(), vec![0])]));
    assert_eq!(point_name(&[], &point(&[], [1.0; 3])), "all runs");
}

#[test]
fn keys_become_titles_with_their_units() {
    assert_eq!(title("traffic.payload_bytes"), "Payload (bytes)");
    assert_eq!(
        title("medium.disc.interference_range_m"),
        "Interference range (m)"
    );
    assert_eq!(title("topology"), "Topology");
    assert_eq!(with_unit("traffic.payload_bytes", "16"), "16 bytes");
    assert_eq!(with_unit("mac.max_retries", "3"), "max retries 3");
    assert_eq!(with_unit("topology", "f-b-t"), "f-b-t");
}

#[test]
fn a_choice_among_many_holds_both_ends() {
    assert_eq!(some_of(3, 4), [0, 1, 2]);
    assert_eq!(some_of(64, 4), [0, 21, 42, 63]);
}

#[test]
fn the_table_for_a_terminal_shows_estimates_with_intervals_and_losses_by_reason() {
    let table = Table::new(&scenario(SCENARIO), &points()).for_terminal();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 8);
    assert!(
        lines[0].starts_with("interference_range_m  payload_bytes  PDR "),
        "{table}"
    );
    assert!(lines[1].contains("% (95 % CI)"), "{table}");
    // 0.9 +- 4.302653 * 0.1 / sqrt(3), cut at 100 %.
    assert!(
        lines[3].starts_with("6.5                   512            90.0 (65.2 to 100)  30.0 (5.16 to 54.8)"),
        "{table}"
    );
    assert!(lines[3].ends_with("no-buffer 25, link-no-ack 5"), "{table}");
}

#[test]
fn a_single_run_is_shown_without_interval_and_nothing_lost_as_none() {
    let mut one = point(&["6.5", "16"], [0.5; 3]);
    one.estimates.pdr = Estimate::of(&[0.5]);
    one.lost.clear();
    let table = Table::new(&scenario(SCENARIO), &[one]).for_terminal();
    let row = table.lines().nth(2).unwrap();
    assert!(row.contains("  50.0  ") && row.ends_with("  none"), "{row}");
}

fn written(scenario: &Scenario, points: &[PointResult]) -> (TestFolder, String) {
    let folder = TestFolder::new();
    let provenance = Provenance {
        build: "0123456789abcdef".into(),
        command: "sixlo run test.toml".into(),
    };
    write(folder.path(), scenario, points, &provenance, None).unwrap();
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    (folder, page)
}

#[test]
fn a_report_is_one_page_that_loads_nothing_and_escapes_what_it_shows() {
    let (_folder, page) = written(&scenario(SCENARIO), &points());
    assert!(page.contains("<h1>Less &lt;is&gt; more</h1>") && page.contains("First &amp; foremost."));
    for part in ["src=", "href=", "url(", "<script", "@import"] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("sixlo run test.toml") && page.contains("0123456789abcdef"));
    assert!(
        page.contains("interference_range_m = [6.5, 13.0]"),
        "the scenario stands in its report"
    );
}

#[test]
fn every_figure_of_a_report_is_a_file_too() {
    let (folder, page) = written(&scenario(SCENARIO), &points());
    let expected = [
        "latency",
        "lost",
        "pdr",
        "pdr-by-hops",
        "radio-losses",
        "retransmissions",
        "topology",
    ]
    .map(str::to_owned);
    let mut names: Vec<String> = fs::read_dir(folder.path().join("plots"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().replace(".svg", ""))
        .collect();
    names.sort();
    assert_eq!(names, expected);
    for name in names {
        let text = fs::read_to_string(folder.path().join(format!("plots/{name}.svg"))).unwrap();
        roxmltree::Document::parse(&text).expect("well-formed");
        assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
    }
}

#[test]
fn a_campaign_of_one_point_and_one_that_lost_nothing_have_reports_too() {
    let lone = scenario(&SCENARIO[..SCENARIO.find("[sweep]").unwrap()].replace("seeds = 3", "seeds = 1"));
    let mut result = point(&[], [1.0; 3]);
    result.lost.clear();
    result.losses.clear();
    result.latencies_ms = BTreeMap::from([(1, (vec![5.0], 0))]);
    let (folder, _) = written(&lone, std::slice::from_ref(&result));
    assert_eq!(fs::read_dir(folder.path().join("plots")).unwrap().count(), 2);
    // Nothing delivered at all.
    result.latencies_ms = BTreeMap::from([(1, (Vec::new(), 7))]);
    written(&lone, &[result]);
}

#[test]
fn the_advice_names_the_strategy_that_delivers_most_and_why_the_others_lose() {
    let mut compared = scenario(SCENARIO);
    compared.axes = vec!["stack.strategy".into(), "traffic.payload_bytes".into()];
    let points = vec![
        point(&["forward", "512"], [0.2, 0.3, 0.25]),
        point(&["hop-wise", "512"], [0.8, 0.9, 0.85]),
    ];
    let text = advice::advice(&compared, &points).unwrap();
    assert!(
        text.starts_with("Use hop-wise: over all payloads it delivers 85.0 %"),
        "{text}"
    );
    assert!(
        text.contains("forward delivers 25.0 %") && text.contains("end by no-buffer (83 %)"),
        "{text}"
    );
    assert!(!text.contains("cannot tell"), "{text}");
    let near = vec![
        point(&["forward", "512"], [0.7, 0.9, 0.8]),
        point(&["hop-wise", "512"], [0.8, 0.9, 0.85]),
    ];
    assert!(advice::advice(&compared, &near).unwrap().contains("cannot tell"));
    compared.axes[1] = "fault.kind".into();
    let text = advice::advice(&compared, &near).unwrap();
    assert!(
        text.starts_with("Use hop-wise: over all points of the sweep it delivers"),
        "{text}"
    );
    compared.axes[0] = "mac.max_retries".into();
    assert_eq!(advice::advice(&compared, &points), None);
}
