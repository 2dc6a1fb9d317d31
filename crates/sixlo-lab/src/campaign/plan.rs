//! Which runs a campaign consists of.

use sixlo_sim::config::{Config, Topology};

use crate::digest::Digest;
use crate::scenario::{Point, Scenario};

/// The runs of a campaign, point by point and seed by seed.
#[derive(Debug)]
pub struct Plan<'s> {
    /// The scenario.
    pub scenario: &'s Scenario,
    /// Its runs, in the order of all tables.
    pub runs: Vec<RunSpec<'s>>,
}

/// One run.
#[derive(Debug)]
pub struct RunSpec<'s> {
    /// Its place in the order of the campaign.
    pub number: usize,
    /// The number of its point in the grid.
    pub point_number: usize,
    /// Its point.
    pub point: &'s Point,
    /// Its seed.
    pub seed: u64,
    /// What it is known by.
    pub key: Digest,
    /// The name of its folder: the values of the axes, the seed, and the key.
    pub name: String,
    /// It leaves a capture.
    pub capture: bool,
    /// It leaves a trace.
    pub trace: bool,
    /// Its configuration as a scenario of one run.
    pub text: String,
}

impl<'s> Plan<'s> {
    /// The runs of a scenario when executed by this build.
    pub fn new(scenario: &'s Scenario, build: &str) -> Self {
        let mut runs = Vec::new();
        let output = &scenario.output;
        for (point_number, point) in scenario.points.iter().enumerate() {
            let last_point = point_number + 1 == scenario.points.len();
            for (place, &seed) in point.seeds.iter().enumerate() {
                let text = as_scenario(&point.config, seed);
                let key = Digest::of(&[
                    text.as_bytes(),
                    topology_text(&point.config).as_bytes(),
                    build.as_bytes(),
                ]);
                runs.push(RunSpec {
                    number: runs.len(),
                    point_number,
                    point,
                    seed,
                    key,
                    name: folder_name(&scenario.axes, &point.labels, seed, key),
                    capture: output.capture.includes(last_point, place == 0),
                    trace: output.trace.includes(last_point, place == 0),
                    text,
                });
            }
        }
        Self { scenario, runs }
    }
}

impl RunSpec<'_> {
    /// How long the run may take compared with others: what its sources want to send.
    pub(super) fn weight(&self) -> u64 {
        let config = &self.point.config;
        let sent = config
            .traffic
            .iter()
            .map(|traffic| u64::from(traffic.count) * (u64::from(traffic.payload_bytes) + 50));
        sent.sum()
    }

    /// The text of the topology's file, where there is one.
    pub fn topology_text(&self) -> &str {
        topology_text(&self.point.config)
    }
}

/// What a topology file is called in the folder of a run.
pub(super) const TOPOLOGY_FILE: &str = "topology.csv";

fn topology_text(config: &Config) -> &str {
    match &config.topology {
        Topology::Csv(csv) => csv.text.as_deref().unwrap_or_default(),
        _ => "",
    }
}

/// The configuration as a scenario that repeats the run.
fn as_scenario(config: &Config, seed: u64) -> String {
    let mut config = config.clone();
    if let Topology::Csv(csv) = &mut config.topology {
        csv.file = TOPOLOGY_FILE.to_owned();
    }
    let config =
        toml::to_string(&config).unwrap_or_else(|error| format!("# not expressible in TOML: {error}\n"));
    format!("seeds = [{seed}]\n{config}")
}

/// A folder's name that tells people what is in it: short values as they are, and the key for the rest.
fn folder_name(axes: &[String], labels: &[String], seed: u64, key: Digest) -> String {
    let mut name = String::new();
    for (axis, label) in axes.iter().zip(labels) {
        let short = axis.rsplit('.').next().unwrap_or(axis);
        let value: String = label
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '.' {
                    c
                } else {
                    '-'
                }
            })
            .take(24)
            .collect();
        if name.len() + short.len() + value.len() < 120 {
            name.push_str(&format!("{short}-{}-", value.trim_matches(['-', '.'])));
        }
    }
    format!("{name}seed-{seed}-{key}")
}
