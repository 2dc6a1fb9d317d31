//! Faults of the scenario: an ordered list of rules about frames at receivers, and partitions.

use std::collections::BTreeMap;

use crate::config::{self, FaultKind, NodeSet, Problem};
use crate::forge::Forgery;
use crate::medium::Loss;
use crate::rng::{Chance, Purpose, mix};
use crate::time::Time;
use crate::topology::Routes;

/// What happens to a frame that has survived the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// Nothing.
    Pass,
    /// It is lost, and not acknowledged.
    Lose(Loss),
    /// A byte is changed: which and how, these bits decide.
    Corrupt(u64),
    /// It comes in twice.
    Duplicate,
    /// An attacker answers with a frame of its own, these bits decide what is random in it.
    Forge(Forgery, u64),
    /// It reaches the stack later by this much.
    Delay(Time),
}

#[derive(Clone, Debug)]
struct Rule {
    from: Time,
    until: Time,
    senders: Vec<bool>,
    receivers: Vec<bool>,
    chance: Chance,
    kind: FaultKind,
}

#[derive(Clone, Debug)]
struct Partition {
    from: Time,
    until: Time,
    inside: Vec<bool>,
}

/// All rules of a run.
#[derive(Clone, Debug)]
pub struct Faults {
    rules: Vec<Rule>,
    partitions: Vec<Partition>,
    /// How often frames from one node to another are lost, as somebody said while the run goes on.
    links: BTreeMap<(u16, u16), Chance>,
    seed: u64,
}

fn members(set: &NodeSet, routes: &Routes, nodes: u16) -> Vec<bool> {
    (0..nodes)
        .map(|node| set.contains(node + 1, routes.depth(node)))
        .collect()
}

/// Checks that a set of nodes names only nodes that there are.
pub(crate) fn check_set(set: &NodeSet, nodes: u16, key: impl Fn() -> String) -> Result<(), Problem> {
    match set {
        NodeSet::List(list) => match list.iter().find(|&&number| number == 0 || number > nodes) {
            Some(number) => Err(Problem::new(
                key(),
                format!("no node {number}"),
                format!("1 to {nodes}"),
            )),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

impl Faults {
    /// The faults that a configuration lists.
    pub fn new(config: &config::Config, routes: &Routes, nodes: u16, seed: u64) -> Result<Self, Problem> {
        let mut rules = Vec::new();
        for (i, fault) in config.faults.iter().enumerate() {
            let key = |name: &str| format!("fault.{i}.{name}");
            check_set(&fault.sender, nodes, || key("sender"))?;
            check_set(&fault.receiver, nodes, || key("receiver"))?;
            if !(0.0..=1.0).contains(&fault.probability) {
                return Err(Problem::new(
                    key("probability"),
                    fault.probability.to_string(),
                    "0 to 1",
                ));
            }
            if let FaultKind::Delay { min_us, max_us } = fault.kind
                && min_us > max_us
            {
                return Err(Problem::new(
                    key("kind.delay.min_us"),
                    format!("{min_us} us"),
                    "at most max_us",
                ));
            }
            rules.push(Rule {
                from: Time::ms(fault.from_ms),
                until: fault.until_ms.map_or(Time::NEVER, Time::ms),
                senders: members(&fault.sender, routes, nodes),
                receivers: members(&fault.receiver, routes, nodes),
                chance: Chance::new(fault.probability),
                kind: fault.kind.clone(),
            });
        }
        let mut partitions = Vec::new();
        for (i, partition) in config.partitions.iter().enumerate() {
            check_set(&partition.nodes, nodes, || format!("partition.{i}.nodes"))?;
            partitions.push(Partition {
                from: Time::ms(partition.from_ms),
                until: Time::ms(partition.until_ms),
                inside: members(&partition.nodes, routes, nodes),
            });
        }
        let seed = mix(mix(seed) ^ Purpose::Faults as u64);
        Ok(Self {
            rules,
            partitions,
            links: BTreeMap::new(),
            seed,
        })
    }

    /// Whether there are none at all.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.partitions.is_empty() && self.links.is_empty()
    }

    /// Frames from one node to another are lost in so many of all cases from now on, 0 to 1.
    pub fn set_link(&mut self, sender: u16, receiver: u16, probability: f64) {
        if probability > 0.0 {
            let chance = Chance::new(probability.min(1.0));
            self.links.insert((sender, receiver), chance);
        } else {
            self.links.remove(&(sender, receiver));
        }
    }

    /// Whether there is a rule that changes bytes.
    pub fn corrupt(&self) -> bool {
        self.rules.iter().any(|rule| rule.kind == FaultKind::Corrupt)
    }

    /// What happens to a transmission at a receiver that it has reached.
    pub fn strike(&self, now: Time, sender: u16, receiver: u16, number: u64) -> Strike {
        let link = self.links.get(&(sender, receiver));
        let (sender, receiver) = (usize::from(sender), usize::from(receiver));
        let apart =
            |p: &Partition| (p.from..p.until).contains(&now) && p.inside[sender] != p.inside[receiver];
        if self.partitions.iter().any(apart) {
            return Strike::Lose(Loss::Partition);
        }
        let mut luck = mix(mix(self.seed ^ number) ^ receiver as u64);
        // Not the luck of the first rule.
        if link.is_some_and(|chance| chance.strikes(mix(!luck))) {
            return Strike::Lose(Loss::Fault);
        }
        for rule in &self.rules {
            luck = mix(luck);
            let matches =
                (rule.from..rule.until).contains(&now) && rule.senders[sender] && rule.receivers[receiver];
            if !matches || !rule.chance.strikes(luck) {
                continue;
            }
            luck = mix(luck);
            return match rule.kind {
                FaultKind::Pass => Strike::Pass,
                FaultKind::Drop => Strike::Lose(Loss::Fault),
                FaultKind::Corrupt => Strike::Corrupt(luck),
                FaultKind::Duplicate => Strike::Duplicate,
                FaultKind::ForgeNext => Strike::Forge(Forgery::Next, luck),
                FaultKind::ForgeFirst => Strike::Forge(Forgery::First, luck),
                FaultKind::Delay { min_us, max_us } => {
                    let width = u128::from(max_us - min_us) + 1;
                    let share = (u128::from(luck) * width) >> 64;
                    Strike::Delay(Time::us(min_us + share as u64))
                }
            };
        }
        Strike::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Chain, Config, Topology};
    use crate::topology::Network;

    fn faults(text: &str) -> Result<Faults, Problem> {
        let topology = Topology::Chain(Chain {
            nodes: 4,
            spacing_m: 5.0,
        });
        let network = Network::build(&topology, 1).unwrap();
        let routes = Routes::build(&network, config::RouteChoice::Auto, |_, _| true).unwrap();
        let text = format!("topology = {{ chain = {{ nodes = 4 }} }}\n{text}");
        let config: Config = toml::from_str(&text).unwrap();
        Faults::new(&config, &routes, 4, 1)
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let faults = faults(
            "[[fault]]\nkind = \"pass\"\nsender = [2]\n[[fault]]\nkind = \"drop\"\nreceiver = [1]\nfrom_ms = 5\nuntil_ms = 10\n",
        )
        .unwrap();
        assert_eq!(faults.strike(Time::ms(7), 1, 0, 1), Strike::Pass);
        assert_eq!(faults.strike(Time::ms(7), 2, 0, 1), Strike::Lose(Loss::Fault));
        assert_eq!(faults.strike(Time::ms(7), 2, 1, 1), Strike::Pass);
        assert_eq!(faults.strike(Time::ms(4), 2, 0, 1), Strike::Pass);
        assert_eq!(faults.strike(Time::ms(10), 2, 0, 1), Strike::Pass);
    }

    #[test]
    fn a_partition_keeps_both_sides_apart_and_each_together() {
        let faults = faults("[[partition]]\nnodes = [1, 2]\nfrom_ms = 5\nuntil_ms = 10\n").unwrap();
        assert_eq!(faults.strike(Time::ms(7), 1, 2, 1), Strike::Lose(Loss::Partition));
        assert_eq!(faults.strike(Time::ms(7), 2, 1, 1), Strike::Lose(Loss::Partition));
        assert_eq!(faults.strike(Time::ms(7), 0, 1, 1), Strike::Pass);
        assert_eq!(faults.strike(Time::ms(10), 1, 2, 1), Strike::Pass);
    }

    #[test]
    fn a_rule_strikes_as_often_as_its_probability_says_and_delays_are_uniform() {
        let faults =
            faults("[[fault]]\nkind = { delay = { min_us = 10, max_us = 12 } }\nprobability = 0.3\n")
                .unwrap();
        let mut counts = [0; 3];
        for number in 0..30_000 {
            if let Strike::Delay(time) = faults.strike(Time::ZERO, 0, 1, number) {
                counts[time.as_ns() as usize / 1_000 - 10] += 1;
            }
        }
        assert!(counts.iter().all(|n| (2_750..3_250).contains(n)), "{counts:?}");
    }

    #[test]
    fn a_link_loses_as_often_as_was_said_and_in_one_direction() {
        let mut faults = faults("").unwrap();
        assert!(faults.is_empty());
        faults.set_link(0, 1, 0.25);
        let lost = |faults: &Faults, from, to| {
            let lost = |number: &u64| faults.strike(Time::ZERO, from, to, *number) != Strike::Pass;
            (0..10_000).filter(lost).count()
        };
        assert!((2_300..2_700).contains(&lost(&faults, 0, 1)));
        assert_eq!(lost(&faults, 1, 0), 0);
        faults.set_link(0, 1, 7.0);
        assert_eq!(lost(&faults, 0, 1), 10_000);
        faults.set_link(0, 1, 0.0);
        assert!(faults.is_empty());
    }

    #[test]
    fn mistakes_in_rules_are_named() {
        assert_eq!(
            faults("[[fault]]\nkind = \"drop\"\nprobability = 2.0\n")
                .unwrap_err()
                .key,
            "fault.0.probability"
        );
        assert_eq!(
            faults("[[fault]]\nkind = \"drop\"\nsender = [5]\n")
                .unwrap_err()
                .key,
            "fault.0.sender"
        );
        let wrong = "[[fault]]\nkind = { delay = { min_us = 2, max_us = 1 } }\n";
        assert_eq!(faults(wrong).unwrap_err().key, "fault.0.kind.delay.min_us");
        let wrong = "[[partition]]\nnodes = [0]\nfrom_ms = 1\nuntil_ms = 2\n";
        assert_eq!(faults(wrong).unwrap_err().key, "partition.0.nodes");
    }
}
