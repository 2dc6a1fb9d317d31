use sixlo_sim::config::Config;
use sixlo_sim::run::run_plan;

use super::super::replay::Replay;
use super::*;
use crate::campaign::TRACE;
use crate::execute::{Recording, simulate};
use crate::test_folder::TestFolder;

const BUSY: &str = r#"
topology = { grid = { nodes = 12, spacing_m = 5.0 } }
[radio.at86rf23x]
[stack]
strategy = "recover"
packet_buffer_bytes = 1500
[[traffic]]
payload_bytes = 300
count = 5
gap_min_ms = 300
gap_max_ms = 900
[[echo]]
from = [3, 5]
payload_bytes = 20
count = 4
gap_min_ms = 500
gap_max_ms = 500
[[reboot]]
node = 4
at_ms = 1500
down_ms = 700
"#;

#[test]
fn who_watches_a_mesh_counts_what_its_trace_would_tell() {
    let config: Config = toml::from_str(BUSY).unwrap();
    let plan = Plan::new(&config, 1).unwrap();
    let mut tap = Tap::new(&plan);
    let result = run_plan(&plan, &mut tap).unwrap();
    let folder = TestFolder::new();
    let wanted = Recording {
        trace: true,
        capture: None,
    };
    simulate(&config, 1, wanted, folder.path()).unwrap();
    let replay = Replay::open(&folder.path().join(TRACE), &plan, "", "", 0).unwrap();
    let end_us = result.duration.as_ns() / 1_000;
    for node in 1..=plan.nodes() {
        let (seen, told) = (
            tap.detail(node).unwrap(),
            replay.node(node, end_us).unwrap().unwrap(),
        );
        assert_eq!(seen.drops, told.drops, "node {node}");
        assert_eq!(seen.misses, told.misses, "node {node}");
        assert_eq!(seen.neighbors, told.neighbors, "node {node}");
        assert_eq!(seen.routes, told.routes, "node {node}");
        assert!(
            seen.log.len() == LOG_EVENTS || seen.log.len() <= told.log.len(),
            "node {node}"
        );
    }
    let whole = tap.whole(result.duration);
    let (delivered, sent) = result.delivered();
    assert_eq!(
        (whole.totals.delivered, whole.totals.sent),
        (delivered as u64, sent as u64)
    );
    assert_eq!(whole.totals.frames, result.transmissions);
    assert!(
        tap.datagrams.is_empty(),
        "nothing is remembered of what has met its end"
    );
}

#[test]
fn of_more_frames_than_a_page_can_show_the_number_is_told() {
    let config: Config = toml::from_str(BUSY).unwrap();
    let plan = Plan::new(&config, 1).unwrap();
    let mut tap = Tap::new(&plan);
    let result = run_plan(&plan, &mut tap).unwrap();
    let batch = tap.batch(result.duration).unwrap();
    assert!(result.transmissions > BATCH_MAX as u64 + 100);
    assert_eq!(
        (batch.frames.len(), batch.marks.len().min(BATCH_MAX)),
        (BATCH_MAX, batch.marks.len())
    );
    assert_eq!(batch.frames.len() as u64 + batch.skipped, result.transmissions);
    assert_eq!(tap.batch(result.duration), None);
}
