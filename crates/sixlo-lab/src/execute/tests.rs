use sixlo_sim::observer::{AppEvent, Observer};

use super::*;
use crate::scenario::{Scenario, Source};
use crate::test_folder::TestFolder;

const LOSSY: &str = r#"
seeds = [5]
[topology.chain]
nodes = 4
[medium.disc]
interference_range_m = 6.5
frame_error_rate = 0.2
[mac]
max_retries = 1
[[traffic]]
payload_bytes = 250
count = 20
gap_min_ms = 100
gap_max_ms = 300
[[echo]]
from = [3]
payload_bytes = 40
count = 5
gap_min_ms = 500
gap_max_ms = 700
"#;

fn config(text: &str) -> Config {
    let source = Source {
        name: "test.toml".into(),
        text: text.into(),
    };
    let scenario = Scenario::parse("test", source, Path::new(""), None).unwrap();
    scenario.points[0].config.clone()
}

fn of_lossy() -> (RunResult, Tables) {
    let plan = Plan::new(&config(LOSSY), 5).unwrap();
    let result = run_plan(&plan, &mut ()).unwrap();
    let tables = tables(&plan, &result);
    (result, tables)
}

#[test]
fn the_ends_of_all_datagrams_add_up_to_the_totals() {
    let (result, tables) = of_lossy();
    let run = &tables.run;
    assert_eq!((run.sent, tables.datagrams.len()), (65, 65));
    let delivered = tables
        .datagrams
        .iter()
        .filter(|datagram| datagram.fate == DELIVERED)
        .count();
    assert_eq!(run.delivered as usize, delivered);
    assert_eq!(run.delivered as usize, result.delivered().0);
    assert!(
        delivered > 5 && delivered < 60,
        "{delivered}: the scenario shall lose some"
    );
    let lost: u64 = tables
        .losses
        .iter()
        .filter(|loss| loss.kind == "datagram")
        .map(|loss| loss.count)
        .sum();
    assert_eq!(lost + run.delivered, run.sent);
    assert_eq!(run.pdr, Some(run.delivered as f64 / 65.0));
    let of_nodes: u64 = tables.nodes.iter().map(|node| node.sent).sum();
    assert_eq!(of_nodes, run.sent);
}

#[test]
fn a_datagram_has_a_latency_exactly_if_it_was_delivered() {
    let (_, tables) = of_lossy();
    for datagram in &tables.datagrams {
        assert_eq!(
            datagram.latency_ms.is_some(),
            datagram.fate == DELIVERED,
            "{datagram:?}"
        );
        assert_eq!(
            datagram.last.is_empty(),
            datagram.fate == DELIVERED,
            "{datagram:?}"
        );
        assert!(datagram.latency_ms.is_none_or(|latency| latency > 0.0));
        assert_eq!(datagram.kind == "echo", datagram.payload_bytes == 40);
        assert_eq!(datagram.hops, datagram.source - 1);
    }
}

#[test]
fn the_counters_of_the_nodes_make_the_totals_of_the_run() {
    let (_, tables) = of_lossy();
    let total = |count: fn(&Node) -> u64| tables.nodes.iter().map(count).sum::<u64>();
    assert_eq!(
        tables.run.link_transmissions,
        total(|node| node.link_transmissions)
    );
    assert_eq!(
        tables.run.link_retransmissions,
        total(|node| node.link_retransmissions)
    );
    assert_eq!(
        tables.run.link_retransmissions_per_node * 4.0,
        tables.run.link_retransmissions as f64
    );
    let frames = total(|node| node.link_frames);
    assert_eq!(
        frames,
        total(|node| node.link_acknowledged + node.link_no_ack + node.link_channel_busy)
    );
    for node in &tables.nodes {
        let time_s = node.transmit_s + node.listen_s + node.deaf_s;
        assert!((time_s - tables.run.simulated_s).abs() < 1e-6, "{node:?}");
        assert!(node.energy_mj > 0.0 && node.buffer_mean_bytes <= f64::from(node.buffer_max_bytes));
    }
}

#[test]
fn datagrams_by_hops_make_all_datagrams_and_their_latencies_lie_in_order() {
    let (_, tables) = of_lossy();
    let total = |count: fn(&Hops) -> u64| tables.hops.iter().map(count).sum::<u64>();
    assert_eq!(total(|row| row.sent), tables.run.sent);
    assert_eq!(total(|row| row.delivered), tables.run.delivered);
    assert!(tables.hops.iter().any(|row| row.delivered > 2));
    for row in &tables.hops {
        if let Some(deciles) = row.deciles_ms() {
            assert!(deciles.is_sorted() && deciles[0] > 0.0, "{row:?}");
        } else {
            assert_eq!(row.delivered, 0);
        }
    }
}

#[test]
fn air_time_and_busy_radios_are_those_of_the_nodes() {
    let (result, tables) = of_lossy();
    let air_s: f64 = tables.nodes.iter().map(|node| node.transmit_s).sum();
    assert!((tables.run.air_s - air_s).abs() < 1e-9 && air_s > 0.0);
    let busy: u64 = tables.nodes.iter().map(|node| node.radio_busy_losses).sum();
    assert_eq!(tables.run.radio_busy_losses, busy);
    let named = tables
        .losses
        .iter()
        .filter(|loss| loss.kind == "radio" && loss.cause.starts_with("radio-"));
    assert_eq!(busy, named.map(|loss| loss.count).sum::<u64>());
    // Datagrams of three fragments are put together at every hop.
    assert!(tables.nodes[0].reassemblies_mean > 0.0 && tables.nodes[0].reassemblies_max > 0);
    assert!(result.nodes[3].stack.reassemblies_max == 0);
}

#[test]
fn recording_a_run_does_not_change_it() {
    let folder = TestFolder::new();
    let all = Recording {
        trace: true,
        capture: Some(LinkType::Tap),
    };
    let recorded = simulate(&config(LOSSY), 5, all, folder.path()).unwrap();
    assert_eq!(recorded, of_lossy().1);
    assert!(folder.path().join(TRACE).is_file() && folder.path().join(CAPTURE).is_file());
}

#[test]
fn trace_and_capture_of_a_run_are_the_same_bytes_each_time() {
    let all = Recording {
        trace: true,
        capture: Some(LinkType::Tap),
    };
    let bytes = || {
        let folder = TestFolder::new();
        simulate(&config(LOSSY), 5, all, folder.path()).unwrap();
        [TRACE, CAPTURE].map(|file| std::fs::read(folder.path().join(file)).unwrap())
    };
    assert!(bytes() == bytes());
}

#[test]
fn trouble_while_recording_is_reported_and_not_lost() {
    // A file that is always full, where there is one.
    let full = Path::new("/dev/full");
    if !full.exists() {
        println!("skipped: there is no /dev/full here");
        return;
    }
    let plan = Plan::new(&config(LOSSY), 5).unwrap();
    let mut recorder = Recorder::new(&plan.network, &plan.config.link);
    recorder.trace(full, &plan.network).unwrap();
    let result = run_plan(&plan, &mut recorder);
    assert!(result.is_ok());
    assert_eq!(recorder.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
}

/// Counts what an observer is told.
#[derive(Default)]
struct Counted {
    on_air: usize,
    ends: usize,
}

impl Observer for Counted {
    fn on_air(&mut self, _frame: &sixlo_sim::observer::OnAir<'_>) {
        self.on_air += 1;
    }

    fn app(&mut self, _now: Time, _node: u16, event: &AppEvent) {
        self.ends += usize::from(!matches!(event, AppEvent::Sent { .. }));
    }
}

#[test]
fn the_trace_holds_every_transmission_and_the_end_of_every_datagram() {
    let folder = TestFolder::new();
    let recording = Recording {
        trace: true,
        capture: None,
    };
    let tables = simulate(&config(LOSSY), 5, recording, folder.path()).unwrap();
    let mut counted = Counted::default();
    run_plan(&Plan::new(&config(LOSSY), 5).unwrap(), &mut counted).unwrap();
    let text = std::fs::read_to_string(folder.path().join(TRACE)).unwrap();
    let lines: Vec<_> = text
        .lines()
        .skip(1)
        .map(|line| crate::trace::Line::parse(line).unwrap())
        .collect();
    assert!(lines.is_sorted_by_key(|line| line.time_ns));
    let sent = lines
        .iter()
        .filter(|line| line.layer == "air" && line.event == "sent");
    assert_eq!(sent.count(), counted.on_air);
    assert_eq!(counted.on_air as u64, tables.run.transmissions);
    let ends = lines
        .iter()
        .filter(|line| line.layer == "sink" || line.layer == "end");
    assert_eq!(ends.clone().count(), counted.ends);
    for datagram in &tables.datagrams {
        let end: Vec<_> = ends
            .clone()
            .filter(|line| line.datagram == datagram.datagram)
            .collect();
        assert_eq!(end.len(), 1, "{datagram:?}");
        let cause = end[0].word("cause").unwrap_or(DELIVERED);
        assert_eq!(cause, datagram.fate);
    }
}
