use serde_json::Value;
use sixlo_sim::config::Config;

use super::super::messages::What;
use super::*;
use crate::campaign::TRACE;
use crate::execute::{Recording, simulate};
use crate::results::Tables;
use crate::test_folder::TestFolder;

/// A network in which much is lost in many ways, and a node reboots.
const BUSY: &str = r#"
topology = { grid = { nodes = 12, spacing_m = 5.0 } }
cpu = "riot-m3"
[radio.at86rf23x]
[stack]
strategy = "forward"
packet_buffer_bytes = 1500
[[traffic]]
payload_bytes = 300
count = 6
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

const TCP: &str = r#"
topology = { chain = { nodes = 3 } }
[stack.tcp]
mss_frames = 3
[[bulk]]
from = [3]
bytes = 6000
"#;

/// A run that was recorded.
struct Recorded {
    folder: TestFolder,
    plan: Plan,
    tables: Tables,
}

impl Recorded {
    fn of(scenario: &str) -> Self {
        let config: Config = toml::from_str(scenario).unwrap();
        let folder = TestFolder::new();
        let wanted = Recording {
            trace: true,
            capture: None,
        };
        let tables = simulate(&config, 1, wanted, folder.path()).unwrap();
        let plan = Plan::new(&config, 1).unwrap();
        Self { folder, plan, tables }
    }

    fn replay(&self, chunk_bytes: u64) -> Replay {
        let trace = self.folder.path().join(TRACE);
        let duration_us = (self.tables.run.simulated_s * 1e6) as u64;
        Replay::in_pieces_of(chunk_bytes, &trace, &self.plan, ("title", "run"), duration_us).unwrap()
    }
}

/// The lines of a piece.
fn lines(replay: &Replay, chunk: usize) -> Vec<Value> {
    let bytes = replay.chunk(chunk).unwrap().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The totals of a line, by name.
fn total(line: &Value, name: &str) -> f64 {
    let place = Totals::PLACES.iter().position(|place| *place == name).unwrap();
    line["totals"][place].as_f64().unwrap()
}

/// What a page knows of all nodes at the end, when it has applied all lines.
fn nodes_at_the_end(lines: &[Value]) -> BTreeMap<u64, Vec<u64>> {
    let rows = lines.iter().filter_map(|line| line["nodes"].as_array()).flatten();
    let row = |row: &Value| {
        row.as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_u64().unwrap())
            .collect()
    };
    rows.map(|of| (of[0].as_u64().unwrap(), row(of))).collect()
}

#[test]
fn a_page_counts_what_the_tables_of_the_run_tell() {
    let recorded = Recorded::of(BUSY);
    let replay = recorded.replay(u64::MAX);
    let lines = lines(&replay, 0);
    let (end, run) = (lines.last().unwrap(), &recorded.tables.run);
    assert!(run.delivered > 0 && run.sent > run.delivered, "{run:?}");
    assert_eq!(total(end, "sent"), run.sent as f64);
    assert_eq!(total(end, "delivered"), run.delivered as f64);
    assert_eq!(total(end, "frames"), run.transmissions as f64);
    let rows = nodes_at_the_end(&lines);
    let place = |name: &str| NodeRow::PLACES.iter().position(|place| *place == name).unwrap();
    for node in &recorded.tables.nodes {
        let row = &rows[&u64::from(node.node)];
        let is = |name: &str| row[place(name)];
        assert_eq!(is("sent"), node.sent, "{node:?}");
        assert_eq!(is("arrived"), node.delivered, "{node:?}");
        assert_eq!(is("acks"), node.acks_sent, "{node:?}");
        assert_eq!(is("received"), node.received, "{node:?}");
        let given_up = node.link_no_ack + node.link_channel_busy;
        assert!(is("given_up") >= given_up, "{node:?}");
        let dropped: u64 = (recorded.tables.losses.iter())
            .filter(|loss| loss.kind == "packet" && loss.node == node.node)
            .map(|loss| loss.count)
            .sum();
        assert_eq!(is("dropped"), dropped, "{node:?}");
        let missed: u64 = (recorded.tables.losses.iter())
            .filter(|loss| loss.kind == "radio" && loss.node == node.node)
            .map(|loss| loss.count)
            .sum();
        assert_eq!(is("missed"), missed, "{node:?}");
    }
    assert!(lines.iter().any(|line| {
        let marks = line["marks"].as_array().into_iter().flatten();
        marks
            .into_iter()
            .any(|mark| mark[1] == 4 && mark[2] == What::Off as u8)
    }));
}

#[test]
fn bytes_of_transfers_are_goodput() {
    let recorded = Recorded::of(TCP);
    let replay = recorded.replay(u64::MAX);
    let history = &replay.mesh().recorded.as_ref().unwrap().history;
    assert_eq!(recorded.tables.transfers[0].bytes, 6000);
    assert_eq!(history.last().unwrap().bytes, 6000);
    assert!(
        history
            .windows(2)
            .all(|two| two[0].at <= two[1].at && two[0].bytes <= two[1].bytes)
    );
    let kinds = &replay.mesh().kinds;
    let seen = lines(&replay, 0);
    let frames = seen.iter().filter_map(|line| line["frames"].as_array()).flatten();
    let first = frames.filter(|frame| kinds[frame[4].as_u64().unwrap() as usize] == "first-fragment");
    assert!(first.count() > 5, "segments of three frames");
}

#[test]
fn pieces_together_are_the_run_and_each_begins_as_the_one_before_ended() {
    let recorded = Recorded::of(BUSY);
    let (whole, cut) = (recorded.replay(u64::MAX), recorded.replay(20_000));
    let pieces: Vec<Vec<Value>> = (0..cut.chunks.len()).map(|piece| lines(&cut, piece)).collect();
    assert!(pieces.len() > 5, "{}", pieces.len());
    let frames = |lines: &[Value]| -> Vec<Value> {
        let frames = lines.iter().filter_map(|line| line["frames"].as_array());
        frames.flatten().cloned().collect()
    };
    let together: Vec<Value> = pieces.iter().flat_map(|piece| frames(piece)).collect();
    assert_eq!(together, frames(&lines(&whole, 0)));
    let starts = &cut.mesh().recorded.as_ref().unwrap().chunks;
    for ((before, after), start) in pieces.iter().zip(&pieces[1..]).zip(&starts[1..]) {
        assert_eq!(after[0]["whole"], true);
        assert_eq!(after[0]["t"].as_u64(), Some(*start));
        assert_eq!(nodes_at_the_end(before), nodes_at_the_end(&after[..1]));
    }
    assert!(cut.chunk(pieces.len()).unwrap().is_none());
}

#[test]
fn a_node_is_told_as_it_was_at_any_moment() {
    let recorded = Recorded::of(BUSY);
    let replay = recorded.replay(20_000);
    let at = |us| replay.node(4, us).unwrap().unwrap();
    let (start, middle, end) = (at(0), at(1_400_000), at(u64::MAX));
    assert!(start.log.len() < middle.log.len() && middle.log.len() <= LOG_LINES);
    assert!(middle.log.iter().all(|(us, ..)| *us <= 1_400_000));
    let sum = |detail: &Detail| detail.neighbors.iter().map(|neighbor| neighbor.to.0).sum::<u32>();
    assert!(sum(&middle) < sum(&end));
    let parent = recorded.plan.routes.parent(3).unwrap() + 1;
    assert!(
        end.routes.contains(&("::/0".to_owned(), parent)),
        "{:?}",
        end.routes
    );
    assert!(replay.node(0, 0).unwrap().is_none() && replay.node(13, 0).unwrap().is_none());
}

#[test]
fn a_trace_that_is_none_or_of_another_network_is_played_as_far_as_it_makes_sense() {
    let recorded = Recorded::of(TCP);
    let trace = recorded.folder.path().join(TRACE);
    let text = "time_ns,node,datagram,layer,event,peer,detail\nrubbish\n\n5,1\n\
        100,65535,1,air,sent,9999,kind=data len=x airtime_ns=99999999999999999 carries=what\n\
        200,1,1,air,lost,77,kind=data cause=?\n50,1,1,node,occupancy,,buffer=-1 queued=99999999999\n\
        18446744073709551615,3,0,sink,delivered,,latency_ns=1\n";
    std::fs::write(&trace, text).unwrap();
    let replay = Replay::in_pieces_of(1, &trace, &recorded.plan, ("", ""), 1_000_000_000_000).unwrap();
    for chunk in 0..replay.chunks.len() {
        assert!(!lines(&replay, chunk).is_empty());
    }
    assert!(replay.mesh().recorded.as_ref().unwrap().history.len() < 1_000);
    std::fs::remove_file(&trace).unwrap();
    assert!(replay.chunk(0).is_err() && replay.node(1, 0).is_err());
}
