use super::*;

const GOOD: &str = r#"title = "A title"
seeds = [7, 3]
topology = "lille-50"

[sweep]
traffic.payload_bytes = [16, 512]
medium.disc.interference_range_m = [6.5, 13.0]

[output]
capture = "all"

[[traffic]]
payload_bytes = 8
count = 5
gap_min_ms = 100
gap_max_ms = 200
"#;

fn parse(text: &str) -> Result<Scenario, BadInput> {
    let source = Source {
        name: "my.toml".into(),
        text: text.into(),
    };
    Scenario::parse("my", source, Path::new(""), None)
}

/// The message about a text with one thing wrong in it, which must hold all the given parts.
#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let message = parse(text).expect_err("bad input").to_string();
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in\n{message}");
    }
}

/// The good scenario with one piece replaced.
fn with(piece: &str, by: &str) -> String {
    assert!(GOOD.contains(piece));
    GOOD.replace(piece, by)
}

#[test]
fn the_grid_holds_all_combinations_the_last_axis_varying_fastest() {
    let scenario = parse(GOOD).unwrap();
    assert_eq!(
        (scenario.title.as_str(), scenario.seeds.as_slice()),
        ("A title", &[7, 3][..])
    );
    assert_eq!(scenario.output.capture, Which::All);
    assert_eq!(
        scenario.axes,
        ["traffic.payload_bytes", "medium.disc.interference_range_m"]
    );
    let labels: Vec<_> = scenario
        .points
        .iter()
        .map(|point| point.labels.join(" "))
        .collect();
    assert_eq!(labels, ["16 6.5", "16 13.0", "512 6.5", "512 13.0"]);
    let sixlo_sim::config::Medium::Disc(disc) = &scenario.points[2].config.medium else {
        panic!("no disc")
    };
    assert_eq!(disc.interference_range_m, 6.5);
    assert_eq!(scenario.points[2].config.traffic[0].payload_bytes, 512);
}

#[test]
fn a_range_holds_both_its_ends() {
    let scenario = parse(&with("[16, 512]", "{ from = 16, to = 64, step = 16 }")).unwrap();
    let labels: Vec<_> = scenario
        .points
        .iter()
        .step_by(2)
        .map(|point| &point.labels[0])
        .collect();
    assert_eq!(labels, ["16", "32", "48", "64"]);
    assert_eq!(scenario.points[7].config.traffic[0].payload_bytes, 64);
}

#[test]
fn an_axis_may_vary_one_entry_of_a_list_or_replace_a_whole_value() {
    let scenario = parse(&with("traffic.payload_bytes = ", "traffic.0.count = ")).unwrap();
    assert_eq!(scenario.points[3].config.traffic[0].count, 512);
    let topologies = "topology = [\"f-b-t\", { chain = { nodes = 3 } }]";
    let scenario = parse(&with("traffic.payload_bytes = [16, 512]", topologies)).unwrap();
    assert_eq!(scenario.points[0].config.topology, Topology::FbT);
    assert_eq!(scenario.points[2].labels[0], "{ chain = { nodes = 3 } }");
    assert!(matches!(scenario.points[2].config.topology, Topology::Chain(_)));
}

#[test]
fn an_unknown_key_is_refused_at_its_place_with_the_key_that_was_meant() {
    let message = parse(&with("count = 5", "coumt = 5")).unwrap_err().to_string();
    let expected = "unknown key `coumt`\n  --> my.toml:14:1\n   |\n14 | coumt = 5\n   | ^^^^^\n   = did you mean `count`?";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn an_unknown_key_with_another_unit_is_answered_with_the_right_unit() {
    refused(
        &with("gap_min_ms = 100", "gap_min_s = 1"),
        &[
            "unknown key `gap_min_s`",
            "my.toml:15:1",
            "write `gap_min_ms`, in milliseconds",
        ],
    );
    refused(
        &with("payload_bytes = 8", "payload = 8"),
        &["write `payload_bytes`, in bytes"],
    );
}

#[test]
fn a_number_in_quotes_with_a_unit_is_answered_with_the_number_in_the_keys_unit() {
    for (wrong, right) in [
        ("\"100 ms\"", "write `gap_min_ms = 100`"),
        ("\"0.1s\"", "write `gap_min_ms = 100`"),
        ("\"2 min\"", "write `gap_min_ms = 120000`"),
        ("\"100\"", "write it without quotes: `gap_min_ms = 100`"),
        ("\"5 m\"", "`gap_min_ms` is in milliseconds"),
        ("\"soon\"", "write a whole number"),
    ] {
        refused(
            &with("gap_min_ms = 100", &format!("gap_min_ms = {wrong}")),
            &[right, "my.toml:15:14"],
        );
    }
    refused(
        &format!("{GOOD}\n[medium.disc]\nframe_error_rate = \"15 %\"\n"),
        &["write `frame_error_rate = 0.15`"],
    );
}

#[test]
fn a_number_where_a_word_is_wanted_is_answered_with_the_words() {
    refused(&with("\"lille-50\"", "50"), &["my.toml:3:12", "`topology`"]);
    refused(
        &with("\"lille-50\"", "\"lile-50\""),
        &["my.toml:3:12", "did you mean `lille-50`?", "chain"],
    );
    refused(
        &with("\"A title\"", "5"),
        &["`title` cannot be `5`", "text in quotes"],
    );
    refused(&with("capture = \"all\"", "capture = true"), &["my.toml:10:11"]);
}

#[test]
fn a_number_out_of_range_or_of_the_wrong_kind_is_refused() {
    refused(
        &with("count = 5", "count = -5"),
        &["`traffic.0.count` cannot be `-5`", "not negative"],
    );
    refused(
        &with("count = 5", "count = 5.5"),
        &["`traffic.0.count` cannot be `5.5`", "whole number"],
    );
    refused(
        &with("[16, 512]", "[16, 70000]"),
        &["from 0 to 65535", "its unit, bytes"],
    );
}

#[test]
fn a_missing_key_is_named_with_its_unit() {
    refused(
        &with("gap_min_ms = 100\n", ""),
        &["the key `gap_min_ms` is missing", "milliseconds", "my.toml:12:1"],
    );
    refused("seeds = 1\n", &["the key `topology` is missing", "my.toml:1:1"]);
}

#[test]
fn two_kinds_of_one_thing_are_refused() {
    let text = format!("{GOOD}\n[medium.disc]\nrange_m = 5\n[medium.log-distance]\nexponent = 3\n");
    refused(&text, &["`medium` has more than one kind"]);
}

#[test]
fn what_is_no_toml_is_refused_at_its_place() {
    refused("topology = \n", &["my.toml:1:12", "TOML"]);
    refused(
        &with("count = 5", "count = 5\ncount = 6"),
        &["my.toml:15:1", "twice"],
    );
    refused("topology = \"unterminated\nseeds = 3", &["my.toml:1:"]);
}

#[test]
fn an_axis_that_cannot_vary_is_refused_at_its_place() {
    refused(
        &with("traffic.payload_bytes", "traffic.3.payload_bytes"),
        &["my.toml:6:", "could vary"],
    );
    refused(
        &with("traffic.payload_bytes", "topology.payload_bytes"),
        &["my.toml:6:", "could vary"],
    );
    refused(
        &with("traffic.payload_bytes", "traffic.payload"),
        &["my.toml:6:9", "write `payload_bytes`"],
    );
    refused(
        &with("[16, 512]", "[16, \"512 B\"]"),
        &["my.toml:6:30", "write `payload_bytes = 512`"],
    );
    refused(
        &with("[16, 512]", "16"),
        &["my.toml:6:25", "does not say which values"],
    );
    refused(
        &with("[16, 512]", "[]"),
        &["my.toml:6:25", "does not say which values"],
    );
    refused(&with("[16, 512]", "[16, 16]"), &["my.toml:6:9", "16 twice"]);
    refused(
        &with("[16, 512]", "{ from = 5, to = 3, step = 1 }"),
        &["no values"],
    );
    refused(
        &with("[16, 512]", "{ from = 5, to = 9, step = 0 }"),
        &["no values"],
    );
    refused(&with("[16, 512]", "{ from = 5, step = 1 }"), &["not complete"]);
    refused(
        &with("[16, 512]", "{ from = 0, to = 9000000000, step = 1 }"),
        &["too many"],
    );
}

#[test]
fn seeds_are_a_number_or_a_list_without_repetition() {
    assert_eq!(parse(&with("[7, 3]", "4")).unwrap().seeds, [1, 2, 3, 4]);
    for wrong in ["[]", "0", "-1", "[1, 1]", "\"3\"", "[1.5]", "9999999999"] {
        refused(&with("[7, 3]", wrong), &["these are no seeds", "my.toml:2:9"]);
    }
    assert_eq!(seeds::from_argument("3").unwrap(), [1, 2, 3]);
    assert_eq!(seeds::from_argument("3,5,9-11").unwrap(), [3, 5, 9, 10, 11]);
    assert_eq!(seeds::from_argument("7-7").unwrap(), [7]);
    for wrong in ["", "0", "a", "3-", "5-4", "3,3", "0-99999999999", "-1"] {
        assert!(seeds::from_argument(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_file_that_is_missing_or_no_text_is_refused_by_name() {
    let missing = Scenario::read(Path::new("no/such.toml"), None)
        .unwrap_err()
        .to_string();
    assert!(
        missing.contains("no/such.toml") && missing.contains("sixlo list"),
        "{missing}"
    );
}

#[test]
fn a_topology_file_is_searched_in_the_folder_of_the_scenario() {
    let text = with("topology = \"lille-50\"", "topology.csv.file = \"none.csv\"");
    refused(&text, &["none.csv", "my.toml:3:21", "the folder of the scenario"]);
}

#[test]
fn seeds_from_elsewhere_take_the_place_of_those_in_the_file() {
    let source = Source {
        name: "my.toml".into(),
        text: GOOD.into(),
    };
    let scenario = Scenario::parse("my", source, Path::new(""), Some(vec![9])).unwrap();
    assert_eq!(scenario.seeds, [9]);
}

#[test]
fn a_sink_that_cannot_be_reached_is_refused_with_the_node_and_the_place() {
    let chain = "topology = { chain = { nodes = 3, spacing_m = 7.0 } }";
    refused(
        &with("topology = \"lille-50\"", chain),
        &["node 2 does not reach its parent 1, 7.00 m away", "my.toml:3:12"],
    );
    let grid = "topology = { grid = { nodes = 9, spacing_m = 7.0 } }";
    refused(
        &with("topology = \"lille-50\"", grid),
        &["`topology`", "node 2 cannot reach the sink", "my.toml:3:12"],
    );
}

#[test]
fn an_address_that_two_nodes_have_is_refused_at_the_second() {
    let nodes = "[[topology.nodes]]\n[[topology.nodes]]\nx_m = 5\n[[topology.nodes]]\nx_m = 9\n\
                 eui64 = \"02:00:00:00:00:00:00:02\"\n";
    let text = with("topology = \"lille-50\"\n", "") + nodes;
    refused(
        &text,
        &[
            "eui64",
            "02:00:00:00:00:00:00:02",
            "one of its own",
            "my.toml:21:9",
        ],
    );
}

#[test]
fn a_payload_larger_than_a_packet_carries_is_refused_at_the_value_of_the_axis() {
    refused(
        &with("[16, 512]", "[16, 1233]"),
        &["1233 bytes", "8 to 1232", "my.toml:6:30"],
    );
}

#[test]
fn the_first_of_several_wrong_runs_is_the_one_that_is_named() {
    for _ in 0..20 {
        refused(
            &with("[16, 512]", "[512, 1300, 16, 5]"),
            &["1300 bytes", "my.toml:6:31"],
        );
    }
}

#[test]
fn a_network_that_fails_with_one_seed_names_the_seed() {
    // Nodes that are moved by up to the spacing often lose each other.
    let grid = "topology = { grid = { nodes = 16, spacing_m = 6.0, jitter_m = 0.4 } }";
    let text = with("topology = \"lille-50\"", grid).replace("[7, 3]", "40");
    refused(&text, &["cannot reach the sink (with seed "]);
}

#[test]
fn more_runs_than_anybody_waits_for_are_refused() {
    refused(
        &with("[7, 3]", "1000000"),
        &["4 points with 1000000 seeds", "1000000 runs", "fewer seeds"],
    );
}

#[test]
fn a_number_of_the_stack_that_cannot_be_is_refused_at_its_place() {
    let text = "topology = \"lille-50\"\n[stack.recover]\nwindow = 33\n";
    refused(
        text,
        &["my.toml:3:10", "`stack.recover.window`: 33 fragments", "1 to 32"],
    );
    let text = "topology = \"lille-50\"\n[stack]\nmtu_bytes = 1281\n";
    refused(text, &["my.toml:3:13", "`stack.mtu_bytes`", "56 to 1280"]);
}
