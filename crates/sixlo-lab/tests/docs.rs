//! The documentation names everything that there is.

use std::collections::BTreeSet;

use sixlo_lab::results::{Datagram, Hops, Loss, Node, Row, Run};
use sixlo_lab::scenario::{Scenario, Source};
use sixlo_sim::config::{At86rf23x, Config, LinkMatrix, LinkQuality, LogDistance, Medium, Radio, Topology};

const SCENARIO: &str = include_str!("../../../docs/scenario.md");
const DICTIONARY: &str = include_str!("../../../docs/data-dictionary.md");

/// A configuration that names everything of the parts that it has.
const EVERYTHING: &str = r#"
end_ms = 5
topology = "lille-50"
[cpu.times]
[border]
[stack]
fragment_gap_us = 100
[stack.tcp]
mss_bytes = 462
[[bulk]]
bytes = 1
[[traffic]]
payload_bytes = 8
count = 1
gap_min_ms = 1
gap_max_ms = 1
[[echo]]
payload_bytes = 8
count = 1
gap_min_ms = 1
gap_max_ms = 1
[[fault]]
kind = "drop"
until_ms = 3
[[reboot]]
node = 1
at_ms = 1
[[partition]]
nodes = "all"
from_ms = 1
until_ms = 2
"#;

/// The paths of all keys of a table; those of arrays of tables without numbers.
fn keys(value: &toml::Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) if !table.is_empty() => {
            for (key, value) in table {
                let dot = if path.is_empty() { "" } else { "." };
                keys(value, &format!("{path}{dot}{key}"), found);
            }
        }
        toml::Value::Array(items) if items.iter().any(toml::Value::is_table) => {
            items.iter().for_each(|item| keys(item, path, found));
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

fn all_keys() -> BTreeSet<String> {
    let base: Config = toml::from_str(EVERYTHING).unwrap();
    let link = LinkQuality {
        from: 1,
        to: 2,
        delivery_ratio: 1.0,
        both_ways: true,
    };
    let links = LinkMatrix {
        links: vec![link],
        ..LinkMatrix::default()
    };
    let topologies = [
        "chain = { nodes = 2 }",
        "grid = { nodes = 2, columns = 1, network_seed = 1 }",
        "tree = { network_seed = 1 }",
        "csv = { file = \"f\" }",
        "nodes = [{ parent = 1, eui64 = \"x\", short_address = 1 }]",
    ];
    let topologies = topologies.map(|text| toml::from_str::<Topology>(text).unwrap());
    let mut configs = vec![base.clone()];
    configs.extend(topologies.map(|topology| Config {
        topology,
        ..base.clone()
    }));
    configs.push(Config {
        medium: Medium::LogDistance(LogDistance::default()),
        radio: Radio::At86rf23x(At86rf23x::default()),
        ..base.clone()
    });
    configs.extend(["cpu.cortex-m3 = {}", "cpu.cortex-m0plus = {}"].map(|text| {
        Config {
            cpu: toml::from_str::<toml::Table>(text).unwrap()["cpu"]
                .clone()
                .try_into()
                .unwrap(),
            ..base.clone()
        }
    }));
    configs.push(Config {
        medium: Medium::Links(links),
        ..base
    });
    let mut found = BTreeSet::new();
    for config in configs {
        keys(&toml::Value::try_from(config).unwrap(), "", &mut found);
    }
    found
}

#[test]
fn every_key_of_a_scenario_is_explained() {
    let keys = all_keys();
    assert!(keys.len() > 90, "{}", keys.len());
    for key in &keys {
        assert!(
            SCENARIO.contains(&format!("`{key}`")),
            "docs/scenario.md says nothing of `{key}`"
        );
    }
    for key in ["title", "description", "seeds", "capture", "trace", "link_type"] {
        assert!(SCENARIO.contains(&format!("| `{key}` |")), "{key}");
    }
}

#[test]
fn every_explained_key_exists() {
    let known = all_keys();
    let rows = SCENARIO
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    for name in rows.flat_map(|cell| cell.split(", ")) {
        let Some(key) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else {
            continue;
        };
        let own = [
            "title",
            "description",
            "seeds",
            "capture",
            "trace",
            "link_type",
            "topology",
            "cpu",
        ];
        let is_kind = key == "fault.kind";
        assert!(
            known.contains(key) || own.contains(&key) || is_kind,
            "`{key}` is explained and does not exist"
        );
    }
}

#[test]
fn the_scenario_in_the_documentation_can_be_run() {
    for (number, block) in SCENARIO.split("```toml\n").skip(1).enumerate() {
        let text = block.split("```").next().unwrap();
        // The second one is a sweep that needs a scenario around it.
        let traffic = "\n[[traffic]]\npayload_bytes = 8\ncount = 1\ngap_min_ms = 1\ngap_max_ms = 1\n";
        let whole = if number == 0 {
            text.to_owned()
        } else {
            format!("topology = \"f-b-t\"\n{text}{traffic}")
        };
        let source = Source {
            name: "scenario.md".into(),
            text: whole,
        };
        Scenario::parse("scenario", source, std::path::Path::new(""), None)
            .unwrap_or_else(|bad| panic!("block {number}: {bad}"));
    }
}

#[test]
fn every_column_of_a_table_is_explained() {
    let columns = [
        Run::COLUMNS,
        Datagram::COLUMNS,
        Node::COLUMNS,
        Loss::COLUMNS,
        Hops::COLUMNS,
    ]
    .concat();
    let of_trace: Vec<&str> = sixlo_lab::trace::COLUMNS.split(',').collect();
    for column in columns
        .iter()
        .chain(&of_trace)
        .chain(&["pdr_mean", "pdr_ci95_low", "seed", "run"])
    {
        let named = DICTIONARY
            .lines()
            .filter(|line| line.starts_with("| `") || line.contains("follows `seed`"));
        let in_a_row = named
            .into_iter()
            .any(|line| line.contains(&format!("`{column}`")));
        assert!(in_a_row, "docs/data-dictionary.md says nothing of `{column}`");
    }
}

#[test]
fn every_cause_of_loss_on_the_radio_is_explained() {
    for cause in sixlo_sim::medium::Loss::all() {
        assert!(
            DICTIONARY.contains(&format!("`{}`", cause.name())),
            "{}",
            cause.name()
        );
    }
}
