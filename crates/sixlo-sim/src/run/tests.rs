use super::*;
use crate::config::{Config, Cpu, Fault, FaultKind, NodeSet, Partition, Reboot};
use crate::ledger::{Cause, Fate};
use crate::medium::Loss;
use crate::observer::{AppEvent, OnAir};
use crate::rng::mix;
use crate::time::Time;
use sixlo::trace::{Event, FragmentFate, Reason};

fn config(text: &str) -> Config {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Three nodes in a line, node 3 sends to node 1.
fn chain(payload_bytes: u16, count: u32) -> Config {
    config(&format!(
        "topology = {{ chain = {{ nodes = 3 }} }}\nmedium = {{ disc = {{ frame_error_rate = 0.0 }} }}\n[[traffic]]\n\
         from = [3]\npayload_bytes = {payload_bytes}\ncount = {count}\nstart_max_ms = 10\ngap_min_ms = 500\n\
         gap_max_ms = 1000\n",
    ))
}

/// Set-up F-A (Lenders et al. 2021, section IV), with fewer datagrams.
fn f_a(payload_bytes: u16) -> Config {
    config(&format!(
        "topology = \"lille-50\"\nradio = {{ at86rf23x = {{}} }}\ncpu = \"riot-m3\"\n[[traffic]]\n\
         from = \"beyond-sink-neighbors\"\npayload_bytes = {payload_bytes}\ncount = 10\ngap_min_ms = 5000\n\
         gap_max_ms = 15000\n",
    ))
}

#[test]
fn datagrams_of_all_sizes_cross_a_chain() {
    for payload_bytes in [8, 95, 96, 300, 1_232] {
        let result = run(&chain(payload_bytes, 5), 1, &mut ()).unwrap();
        assert_eq!(result.delivered(), (5, 5), "{payload_bytes} bytes");
        assert!(
            result
                .records
                .iter()
                .all(|record| (record.from, record.to, record.hops) == (2, 0, 2))
        );
    }
}

#[test]
fn the_measured_network_runs_end_to_end() {
    let ratio = |payload_bytes| {
        let result = run(&f_a(payload_bytes), 1, &mut ()).unwrap();
        let (delivered, sent) = result.delivered();
        assert_eq!(sent, 470, "47 sources");
        assert!(result.records.iter().all(|record| record.hops >= 2));
        assert!(result.nodes[0].radio.received > 0);
        assert!(result.nodes.iter().all(|node| node.buffer_high_water <= 6_144));
        delivered as f64 / sent as f64
    };
    let (one_frame, six_fragments) = (ratio(16), ratio(512));
    assert!(one_frame > 0.9, "{one_frame}");
    assert!(
        six_fragments > 0.05 && six_fragments < one_frame,
        "{six_fragments}"
    );
}

/// A digest of everything that an observer is told.
#[derive(Default)]
struct Digest(u64);

impl Digest {
    fn note(&mut self, what: std::fmt::Arguments<'_>) {
        for byte in what.to_string().bytes() {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }
}

impl Observer for Digest {
    fn on_air(&mut self, frame: &OnAir<'_>) {
        self.note(format_args!("{frame:?}"));
    }

    fn lost_in_radio(&mut self, now: Time, node: u16, id: sixlo::trace::PktId, loss: Loss) {
        self.note(format_args!("{now:?} {node} {id:?} {loss:?}"));
    }

    fn stack(&mut self, now: Time, node: u16, event: &Event) {
        self.note(format_args!("{now:?} {node} {event:?}"));
    }

    fn app(&mut self, now: Time, node: u16, event: &AppEvent) {
        self.note(format_args!("{now:?} {node} {event:?}"));
    }
}

fn digest(config: &Config, seed: u64) -> u64 {
    let mut digest = Digest::default();
    run(config, seed, &mut digest).unwrap();
    digest.0
}

#[test]
fn the_same_seed_gives_the_same_run_in_any_thread() {
    let config = f_a(200);
    let first = digest(&config, 1);
    let threads: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| digest(&config, 1))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(threads, [first, first]);
    assert_ne!(digest(&config, 2), first);
}

#[test]
fn watching_changes_nothing() {
    for config in [f_a(200), {
        let mut config = f_a(200);
        config.medium = crate::config::Medium::LogDistance(crate::config::LogDistance {
            tx_power_dbm: -17.0,
            shadowing_db: 0.0,
            link_success_min: 0.01,
            ..Default::default()
        });
        config
    }] {
        let watched = run(&config, 1, &mut Digest::default()).unwrap();
        let alone = run(&config, 1, &mut ()).unwrap();
        assert_eq!(watched.records, alone.records);
        assert_eq!(watched.transmissions, alone.transmissions);
    }
}

#[test]
fn an_echo_request_comes_back() {
    let config = config(
        "topology = { chain = { nodes = 4 } }\nmedium = { disc = { frame_error_rate = 0.0 } }\n[[echo]]\nfrom = [4]\n\
         payload_bytes = 200\ncount = 5\nstart_max_ms = 10\ngap_min_ms = 500\ngap_max_ms = 1000\n",
    );
    let result = run(&config, 1, &mut ()).unwrap();
    assert_eq!(result.delivered(), (5, 5), "{:?}", result.records);
}

/// From the last fragment in to the first frame out at node 2.
#[derive(Default)]
struct Forwarding {
    completed: Option<Time>,
    gaps: Vec<Time>,
}

impl Observer for Forwarding {
    fn stack(&mut self, now: Time, node: u16, event: &Event) {
        let fate = FragmentFate::Completed;
        if node == 1 && matches!(event, Event::FragmentIn { fate: f, .. } if *f == fate) {
            self.completed = Some(now);
        }
    }

    fn on_air(&mut self, frame: &OnAir<'_>) {
        if frame.sender == 1 && frame.to == crate::frames::To::Node(0) {
            let gap = self.completed.take().map(|completed| frame.from.since(completed));
            self.gaps.extend(gap);
        }
    }
}

/// Lenders et al. 2021, section IV-C: about 8 ms from entering the reassembly buffer to leaving the fragmentation buffer,
/// for the smallest datagram of two fragments.
#[test]
fn riot_m3_takes_8_ms_from_the_last_fragment_in_to_the_first_out() {
    let mut config = chain(96, 20);
    config.cpu = Cpu::RiotM3;
    config.radio = crate::config::Radio::At86rf23x(Default::default());
    config.mac = crate::config::Mac {
        min_be: 0,
        max_be: 0,
        ..Default::default()
    };
    let mut forwarding = Forwarding::default();
    run(&config, 1, &mut forwarding).unwrap();
    assert_eq!(forwarding.gaps.len(), 20);
    for gap in forwarding.gaps {
        // On the air after the copy into the radio, the assessment and the turnaround.
        let ms = (gap.as_secs() - 0.000_526) * 1e3;
        assert!((7.8..8.2).contains(&ms), "{ms} ms");
    }
}

#[test]
fn faults_strike_and_every_loss_has_its_cause() {
    let fault = |kind| Fault {
        from_ms: 0,
        until_ms: None,
        sender: NodeSet::All,
        receiver: NodeSet::List(vec![1]),
        probability: 1.0,
        kind,
    };
    let with = |kind| {
        let mut config = chain(40, 10);
        config.faults = vec![fault(kind)];
        run(&config, 1, &mut ()).unwrap()
    };
    let dropped = with(FaultKind::Drop);
    assert_eq!(dropped.delivered(), (0, 10));
    assert_eq!(
        dropped.nodes[0].radio.lost[Loss::Fault.index()],
        40,
        "four attempts each"
    );
    let no_ack = Cause::Stack(Reason::LinkNoAck);
    let lost = Fate::Lost {
        first: no_ack,
        last: no_ack,
    };
    assert!(
        dropped.records.iter().all(|record| record.fate == lost),
        "{:?}",
        dropped.records[0].fate
    );

    assert_eq!(with(FaultKind::Pass).delivered(), (10, 10));
    let corrupt = with(FaultKind::Corrupt);
    assert!(corrupt.delivered().0 < 10);
    let duplicated = with(FaultKind::Duplicate);
    assert_eq!(duplicated.delivered(), (10, 10));
    assert_eq!(
        duplicated.nodes[0].stack.drops[Reason::FrameDuplicate.place()],
        10
    );
    let delayed = with(FaultKind::Delay {
        min_us: 5_000_000,
        max_us: 5_000_000,
    });
    assert_eq!(delayed.delivered(), (10, 10));
    let late =
        |fate: &Fate, sent: Time| matches!(fate, Fate::Delivered { at } if at.since(sent) > Time::ms(5_000));
    assert!(
        delayed
            .records
            .iter()
            .all(|record| late(&record.fate, record.sent))
    );
}

#[test]
fn a_partition_stops_all_and_its_end_lets_all_pass() {
    let mut config = chain(40, 20);
    config.partitions = vec![Partition {
        nodes: NodeSet::List(vec![1]),
        from_ms: 3_000,
        until_ms: 8_000,
    }];
    let result = run(&config, 1, &mut ()).unwrap();
    for record in &result.records {
        let apart = (Time::ms(3_000)..Time::ms(7_900)).contains(&record.sent);
        let together = !(Time::ms(2_900)..Time::ms(8_000)).contains(&record.sent);
        let delivered = matches!(record.fate, Fate::Delivered { .. });
        assert!(delivered || !together, "{record:?}");
        assert!(!delivered || !apart, "{record:?}");
    }
    assert!(result.nodes[0].radio.lost[Loss::Partition.index()] > 0);
}

#[test]
fn a_node_that_reboots_loses_what_it_holds_and_forwards_again() {
    let mut config = chain(600, 20);
    config.reboots = vec![Reboot {
        node: 2,
        at_ms: 3_000,
        down_ms: 2_000,
    }];
    let result = run(&config, 1, &mut ()).unwrap();
    let (delivered, sent) = result.delivered();
    assert!((14..19).contains(&delivered), "{delivered} of {sent}");
    let last = result.records.last().unwrap();
    assert!(matches!(last.fate, Fate::Delivered { .. }));
    let off = result.nodes[1].deaf[crate::air::Deaf::Off as usize];
    assert_eq!(off, Time::ms(2_000));
}

#[test]
fn a_run_without_end_of_its_own_ends_when_all_has_met_its_end() {
    let result = run(&chain(40, 3), 1, &mut ()).unwrap();
    assert!(result.duration < Time::ms(3_000), "{:?}", result.duration);
    let mut config = chain(40, 3);
    config.end_ms = Some(10_000);
    assert_eq!(run(&config, 1, &mut ()).unwrap().duration, Time::ms(10_000));
}

#[test]
fn radio_states_fill_the_time() {
    let mut config = f_a(100);
    config.end_ms = Some(50_000);
    let result = run(&config, 1, &mut ()).unwrap();
    for node in &result.nodes {
        let all = node.listening(result.duration) + node.idle() + node.radio.airtime;
        assert_eq!(all, result.duration);
        let charge = node.charge_mc(result.duration, config.radio.currents());
        let always_listening = 50.0 * 12.3;
        assert!(
            charge > 0.9 * always_listening && charge < 1.1 * always_listening,
            "{charge}"
        );
    }
}

#[test]
fn a_mistake_in_the_configuration_is_named() {
    let problem = |change: fn(&mut Config)| {
        let mut config = chain(40, 3);
        change(&mut config);
        match run(&config, 1, &mut ()) {
            Err(RunError::Config(problem)) => problem.key,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        problem(|c| c.stack.packet_buffer_bytes = 10),
        "stack.packet_buffer_bytes"
    );
    assert_eq!(
        problem(|c| c.stack.reassembly_timeout_ms = 60_001),
        "stack.reassembly_timeout_ms"
    );
    assert_eq!(
        problem(|c| c.link.prefix = "fe80::".parse().unwrap()),
        "link.prefix"
    );
    assert_eq!(
        problem(|c| c.link.prefix = "fd00::1".parse().unwrap()),
        "link.prefix"
    );
    assert_eq!(problem(|c| c.mac.min_be = 6), "mac.min_be");
    assert_eq!(
        problem(|c| c.cpu = Cpu::CortexM3(crate::config::CortexM3 { clock_mhz: 0 })),
        "cpu.cortex-m3.clock_mhz"
    );
    assert_eq!(
        problem(|c| c.reboots = vec![Reboot {
            node: 9,
            at_ms: 0,
            down_ms: 0
        }]),
        "reboot.0.node"
    );
    assert_eq!(problem(|c| c.traffic[0].to = 4), "traffic.0.to");
    assert_eq!(
        problem(|c| {
            c.radio = crate::config::Radio::At86rf23x(Default::default());
            c.mac.retry_delay_max_us = 1;
        }),
        "mac.retry_delay_max_us"
    );
    assert_eq!(
        problem(|c| {
            c.radio = crate::config::Radio::At86rf23x(Default::default());
            c.mac.retry_busy = true;
        }),
        "mac.retry_busy"
    );
}

/// Where the table of forwarded datagrams has no place, each forwarder puts them together; and what it drops is on record.
#[test]
fn recoverable_fragments_that_fall_back_or_are_dropped_are_counted() {
    let mut config = chain(600, 5);
    config.stack.strategy = crate::config::Strategy::Recover;
    config.stack.vrb_entries = 0;
    let fallbacks = |config: &Config| {
        let result = run(config, 1, &mut ()).unwrap();
        let unknown = result.nodes[1].stack.drops[Reason::ReassemblyFull.place()];
        (result.delivered().0, result.nodes[1].stack.fallbacks, unknown)
    };
    assert_eq!(fallbacks(&config), (5, 5, 0));
    config.stack.reassembly_entries = 0;
    let (delivered, fallen, refused) = fallbacks(&config);
    assert!(delivered == 0 && fallen == 0 && refused >= 5, "{refused}");
}
