//! Random networks with random faults: whatever happens, every datagram is accounted for.

use proptest::prelude::*;
use sixlo_sim::config::{
    At86rf23x, Chain, Config, CortexM0plus, CortexM3, Cpu, CpuTimes, Disc, Echo, Fault, FaultKind, Grid,
    Ideal, LogDistance, Medium, NodeSet, Partition, Radio, Reboot, Topology, Traffic, WhenReceiving,
};
use sixlo_sim::run::run;

fn topology() -> impl Strategy<Value = Topology> {
    prop_oneof![
        Just(Topology::FbT),
        Just(Topology::Lille50),
        (2u16..6).prop_map(|nodes| Topology::Chain(Chain {
            nodes,
            spacing_m: 5.0
        })),
        (4u16..20).prop_map(|nodes| {
            Topology::Grid(Grid {
                nodes,
                columns: None,
                spacing_m: 5.0,
                jitter_m: 0.3,
                network_seed: None,
            })
        }),
    ]
}

fn medium() -> impl Strategy<Value = Medium> {
    prop_oneof![
        3 => (0.0..0.3f64, prop_oneof![Just(6.5), Just(13.0)], any::<bool>()).prop_map(|(rate, reach, ack_errors)| {
            Medium::Disc(Disc {
                range_m: 6.5,
                interference_range_m: reach,
                frame_error_rate: rate,
                ack_errors,
                ..Disc::default()
            })
        }),
        1 => Just(Medium::LogDistance(LogDistance::default())),
    ]
}

fn radio() -> impl Strategy<Value = Radio> {
    let when = prop_oneof![
        Just(WhenReceiving::Queue),
        Just(WhenReceiving::Block),
        Just(WhenReceiving::Abort)
    ];
    let switches = (when, any::<[bool; 5]>(), prop_oneof![Just(0u32), Just(2_000)]);
    let at86 = switches.prop_map(|(when_receiving, [a, b, c, d, e], busy_after_frame_us)| {
        Radio::At86rf23x(At86rf23x {
            when_receiving,
            one_buffer: a,
            protect_buffer: b,
            hardware_csma: c,
            deaf_in_backoff: d,
            retry_restarts_csma: e,
            busy_after_frame_us,
            ..At86rf23x::default()
        })
    });
    prop_oneof![1 => Just(Radio::Ideal(Ideal::default())), 2 => at86]
}

fn cpu() -> impl Strategy<Value = Cpu> {
    prop_oneof![
        Just(Cpu::Instant),
        Just(Cpu::RiotM3),
        (1u16..=1_000).prop_map(|clock_mhz| Cpu::CortexM3(CortexM3 { clock_mhz })),
        (1u16..=1_000).prop_map(|clock_mhz| Cpu::CortexM0plus(CortexM0plus { clock_mhz })),
        (0u32..3_000, 0u32..3_000, 0u32..3_000, 0u32..20_000).prop_map(
            |(frame_in_us, frame_out_us, message_us, byte_ns)| {
                Cpu::Times(CpuTimes {
                    frame_in_us,
                    frame_out_us,
                    message_us,
                    byte_ns,
                })
            }
        ),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let kind = prop_oneof![
        Just(FaultKind::Drop),
        Just(FaultKind::Pass),
        Just(FaultKind::Corrupt),
        Just(FaultKind::Duplicate),
        Just(FaultKind::Delay {
            min_us: 0,
            max_us: 50_000
        }),
    ];
    (kind, 0.0..0.5f64).prop_map(|(kind, probability)| Fault {
        from_ms: 0,
        until_ms: None,
        sender: NodeSet::All,
        receiver: NodeSet::All,
        probability,
        kind,
    })
}

fn config() -> impl Strategy<Value = Config> {
    let traffic = (8u16..1_233, 0u64..2_000, 1u16..3);
    let sizes = (256u32..3_000, 4u16..40, 0u16..5, any::<bool>());
    let troubles = (
        prop::collection::vec(fault(), 0..3),
        prop::collection::vec((1u16..3, 0u64..20_000, 0u64..3_000), 0..3),
        prop::option::of((0u64..10_000, 0u64..10_000)),
    );
    (topology(), medium(), radio(), cpu(), traffic, sizes, troubles).prop_map(
        |(topology, medium, radio, cpu, (payload_bytes, gap_ms, to), sizes, (faults, reboots, partition))| {
            let mut config = Config::new(topology);
            config.medium = medium;
            config.radio = radio;
            config.cpu = cpu;
            config.traffic = vec![Traffic {
                from: NodeSet::AllButSink,
                to,
                payload_bytes,
                count: 4,
                start_max_ms: 5_000,
                gap_min_ms: gap_ms,
                gap_max_ms: gap_ms + 1_000,
                source_port: 61_616,
                port: 61_617,
            }];
            config.echo = vec![Echo {
                from: NodeSet::List(vec![2]),
                to: 1,
                payload_bytes,
                count: 5,
                start_max_ms: 5_000,
                gap_min_ms: gap_ms,
                gap_max_ms: gap_ms + 1_000,
            }];
            (config.stack.packet_buffer_bytes, config.stack.packets, ..) = sizes;
            (
                _,
                _,
                config.stack.reassembly_entries,
                config.stack.reassembly_eviction,
            ) = sizes;
            config.faults = faults;
            let reboot = |(node, at_ms, down_ms)| Reboot { node, at_ms, down_ms };
            config.reboots = reboots.into_iter().map(reboot).collect();
            let partition = partition.map(|(from_ms, length_ms)| Partition {
                nodes: NodeSet::List(vec![1]),
                from_ms,
                until_ms: from_ms + length_ms,
            });
            config.partitions = partition.into_iter().collect();
            config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_datagram_of_every_network_is_accounted_for(config in config(), seed: u64) {
        let result = run(&config, seed, &mut ());
        if let Err(error) = result {
            prop_assert!(false, "{error}");
        }
    }
}
