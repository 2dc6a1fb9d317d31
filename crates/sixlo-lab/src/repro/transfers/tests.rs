use sixlo_sim::config::{Chain, Topology};

use super::*;
use crate::results::Datagram;

fn wanted() -> Wanted {
    let mut config = Config::new(Topology::Chain(Chain {
        nodes: 2,
        spacing_m: 5.0,
    }));
    config.stack.fragment_gap_us = Some(170_000);
    Wanted {
        labels: vec!["a".to_owned()],
        config,
        seeds: vec![1],
        outcomes: vec![true, false],
        name: "x".to_owned(),
    }
}

fn tables(rows: &[(u32, u16, &str)]) -> Tables {
    let datagram = |(datagram, source, fate): &(u32, u16, &str)| Datagram {
        datagram: *datagram,
        source: *source,
        fate: (*fate).to_owned(),
        ..Datagram::default()
    };
    Tables {
        datagrams: rows.iter().map(datagram).collect(),
        ..Tables::default()
    }
}

const TRACE_TEXT: &str = "\
1000000000,3,7,6lowpan,window,,tag=1 window=2 told=start
1500000000,4,8,6lowpan,window,,tag=1 window=2 interval_us=133200 told=start
2000000000,3,7,6lowpan,window,,tag=1 window=1 told=timed-out
2100000000,2,7,6lowpan,window,,tag=9 window=2 told=start
2500000000,4,8,6lowpan,window,,tag=1 window=3 interval_us=100000 told=acked
2600000000,4,8,6lowpan,end,,end=sent
2700000000,2,7,6lowpan,end,,end=sent
3000000000,3,7,6lowpan,end,,end=dropped reason=recover-given-up
3100000000,3,9,6lowpan,end,,end=dropped reason=recover-given-up
";

#[test]
fn a_transfer_is_read_from_the_trace_of_its_source_from_its_start_to_its_end() {
    let tables = tables(&[(7, 3, "reassembly-timeout"), (8, 4, DELIVERED), (9, 3, "no-slot")]);
    let found = transfers(TRACE_TEXT.as_bytes(), &tables, &wanted(), 5).unwrap();
    let [first, second] = found.as_slice() else {
        panic!("{found:#?}");
    };
    assert!(first.succeeded && first.datagram == 8 && first.source == 4 && first.seed == 5);
    assert_eq!(first.file, "traces/x-succeeded.csv");
    assert!((first.duration_s - 1.1).abs() < 1e-9);
    assert!(first.gap_changed() && first.count("acked") == 1);
    assert!(!second.succeeded && second.datagram == 7);
    let step = |time_s, window, told: &str| Step {
        time_s,
        window,
        gap_ms: 170.0,
        told: told.to_owned(),
    };
    assert_eq!(second.steps, [step(0.0, 2, "start"), step(1.0, 1, "timed-out")]);
    assert!(!second.gap_changed());
}

#[test]
fn a_transfer_that_shows_more_of_what_matters_is_worth_more() {
    let tables = tables(&[(7, 3, "reassembly-timeout")]);
    let base = transfers(TRACE_TEXT.as_bytes(), &tables, &wanted(), 1)
        .unwrap()
        .remove(0);
    let with = |told: &[&str]| {
        let mut one = base.clone();
        let more = told.iter().map(|told| Step {
            told: (*told).to_owned(),
            ..one.steps[1].clone()
        });
        let more: Vec<Step> = more.collect();
        one.steps.extend(more);
        one
    };
    let many = with(&["acked", "acked", "acked", "acked"]);
    assert!(many.worth() > base.worth());
    assert!(with(&["ecn"]).worth() > many.worth());
    assert!(with(&["timed-out"]).worth() > with(&["ecn"]).worth());
}
