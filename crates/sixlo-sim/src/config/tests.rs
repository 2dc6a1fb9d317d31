use super::*;

const FULL: &str = r#"
topology = "lille-50"
cpu = "riot-m3"
end_ms = 600000

[medium.disc]
range_m = 6.5
interference_range_m = 9.75

[radio.at86rf23x]
deaf_in_backoff = false

[mac]
max_retries = 0

[stack]
packet_buffer_bytes = 6144

[[traffic]]
from = "beyond-sink-neighbors"
payload_bytes = 512
count = 50
gap_min_ms = 5000
gap_max_ms = 15000

[[fault]]
kind = { delay = { min_us = 100, max_us = 200 } }
sender = [2, 3]
probability = 0.5

[[reboot]]
node = 2
at_ms = 1000
"#;

#[test]
fn a_scenario_is_read_and_written_back_as_the_same_value() {
    let config: Config = toml::from_str(FULL).expect("a valid scenario");
    assert_eq!(config.topology, Topology::Lille50);
    assert_eq!(config.cpu, Cpu::RiotM3);
    assert_eq!(config.traffic[0].from, NodeSet::BeyondSinkNeighbors);
    assert_eq!(config.faults[0].sender, NodeSet::List(vec![2, 3]));
    let Radio::At86rf23x(radio) = &config.radio else {
        panic!("the radio is {:?}", config.radio)
    };
    assert!(!radio.deaf_in_backoff && radio.one_buffer);
    let written = toml::to_string(&config).expect("every value can be written");
    assert_eq!(
        toml::from_str::<Config>(&written).expect("what was written"),
        config
    );
}

#[test]
fn a_key_that_is_not_known_is_refused_at_its_line() {
    let error = toml::from_str::<Config>("topology = \"lille-50\"\n[medium.disc]\nrange = 3\n").unwrap_err();
    let span = error.span().expect("the place of the error");
    assert_eq!(span.start, 36, "{error}");
    assert!(error.message().contains("range_m"), "{error}");
}

#[test]
fn a_set_of_nodes_in_an_unknown_word_names_the_known_ones() {
    let text = "topology = \"lille-50\"\n[[reboot]]\nnode = 1\nat_ms = 3\n[[partition]]\nnodes = \"some\"\nfrom_ms = 1\nuntil_ms = 2\n";
    let error = toml::from_str::<Config>(text).unwrap_err();
    assert!(error.message().contains("every-other"), "{error}");
}

#[test]
fn each_strategy_has_the_name_that_the_stack_gives_it() {
    for strategy in Strategy::ALL {
        let text = format!(
            "topology = \"lille-50\"\n[stack]\nstrategy = \"{}\"\n",
            strategy.name()
        );
        let config: Config = toml::from_str(&text).expect("a valid scenario");
        assert_eq!(config.stack.strategy, strategy);
    }
}

#[test]
fn what_is_not_said_about_fragments_is_as_the_stack_has_it() {
    let stack = Stack::default();
    assert_eq!(stack.forward.of_stack(), sixlo::lowpan::ForwardConfig::default());
    assert_eq!(stack.recover.of_stack(), sixlo::lowpan::RecoverConfig::default());
    assert_eq!(stack.mark.of_stack(), sixlo::netif::MarkConfig::default());
    assert_eq!(stack.gap(), sixlo::lowpan::Gap::Derived);
    assert_eq!(stack.strategy.of_stack(), sixlo::lowpan::Strategy::default());
    assert_eq!(stack.check_fragments(), Ok(()));
}

#[test]
fn an_mtu_below_that_of_ipv6_is_that_of_end_to_end_fragments_only() {
    for strategy in Strategy::ALL {
        let stack = Stack {
            mtu_bytes: 124,
            strategy,
            ..Stack::default()
        };
        assert_eq!(stack.check_fragments(), Ok(()));
        assert_eq!(stack.mtu() < 1_280, strategy == Strategy::EndToEnd);
    }
    let stack = Stack {
        mtu_bytes: 1_281,
        ..Stack::default()
    };
    assert_eq!(stack.check_fragments().unwrap_err().key, "stack.mtu_bytes");
}

#[test]
fn each_rule_for_marks_is_the_one_that_the_stack_calls_so() {
    use sixlo::netif::Mark as Rule;
    let names = ["never", "half-full", "red", "waiting"];
    for (name, rule) in names.into_iter().zip(Rule::ALL) {
        let text =
            format!("topology = \"lille-50\"\n[stack.mark]\nwhen = \"{name}\"\nred_weight_shift = 0\n");
        let config: Config = toml::from_str(&text).expect("a valid scenario");
        let mark = config.stack.mark.of_stack();
        assert_eq!((mark.when, mark.red.weight_shift), (rule, 0));
    }
}

#[test]
fn marks_between_thresholds_the_wrong_way_round_are_refused_with_their_key() {
    let refused = |change: fn(&mut Mark)| {
        let mut stack = Stack::default();
        change(&mut stack.mark);
        stack.check_fragments().unwrap_err().key
    };
    assert_eq!(
        refused(|mark| mark.red_max_percent = 24),
        "stack.mark.red_max_percent"
    );
    assert_eq!(
        refused(|mark| mark.red_min_percent = 101),
        "stack.mark.red_min_percent"
    );
    assert_eq!(
        refused(|mark| mark.red_weight_shift = 11),
        "stack.mark.red_weight_shift"
    );
    assert_eq!(
        refused(|mark| mark.red_probability_percent = 101),
        "stack.mark.red_probability_percent"
    );
    assert_eq!(
        refused(|mark| mark.wait_max_ms = 60_001),
        "stack.mark.wait_max_ms"
    );
}

#[test]
fn numbers_that_rfc_8931_does_not_allow_are_refused_with_their_key() {
    let refused = |change: fn(&mut Recover)| {
        let mut stack = Stack::default();
        change(&mut stack.recover);
        stack.check_fragments().unwrap_err().key
    };
    assert_eq!(refused(|recover| recover.window = 0), "stack.recover.window");
    assert_eq!(refused(|recover| recover.window = 33), "stack.recover.window");
    assert_eq!(
        refused(|recover| recover.fragment_retries = 8),
        "stack.recover.fragment_retries"
    );
    assert_eq!(
        refused(|recover| recover.arq_timeout_ms = 100),
        "stack.recover.arq_timeout_ms"
    );
}

#[test]
fn a_processor_without_a_clock_has_the_one_of_its_usual_board() {
    let cpu =
        |text: &str| toml::from_str::<Config>(&format!("topology = \"lille-50\"\n{text}")).map(|c| c.cpu);
    assert_eq!(
        cpu("[cpu.cortex-m3]"),
        Ok(Cpu::CortexM3(CortexM3 { clock_mhz: 72 }))
    );
    assert_eq!(
        cpu("[cpu.cortex-m0plus]"),
        Ok(Cpu::CortexM0plus(CortexM0plus { clock_mhz: 48 }))
    );
    assert_eq!(
        cpu("[cpu.cortex-m3]\nclock_mhz = 8"),
        Ok(Cpu::CortexM3(CortexM3 { clock_mhz: 8 }))
    );
    assert!(cpu("[cpu.cortex-m4]").is_err());
}

#[test]
fn each_congestion_control_has_the_name_that_the_stack_gives_it() {
    assert_eq!(
        Control::ALL.map(Control::of_stack),
        sixlo::congure::Kind::ALL.map(Some)
    );
    for control in Control::ALL {
        let text = format!("control = \"{}\"", control.name());
        let recover: Recover = toml::from_str(&text).expect("a valid table");
        assert_eq!(recover.of_stack().control, control.of_stack());
    }
}
