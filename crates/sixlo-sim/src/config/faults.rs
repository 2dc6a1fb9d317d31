//! What goes wrong, beside what the medium does by itself.

use serde::{Deserialize, Serialize};

use super::NodeSet;

/// A rule about frames. The rules stand in order; the first that matches a frame at a receiver decides. An acknowledgement
/// can only be dropped: any other kind lets it pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// In force from here, in ms. Default 0.
    #[serde(default)]
    pub from_ms: u64,
    /// In force until here, in ms. Default: to the end.
    #[serde(default)]
    pub until_ms: Option<u64>,
    /// For frames of these senders. Default `"all"`.
    #[serde(default = "all")]
    pub sender: NodeSet,
    /// For frames at these receivers. Default `"all"`.
    #[serde(default = "all")]
    pub receiver: NodeSet,
    /// The share of frames that it strikes, 0 to 1. Default 1.
    #[serde(default = "always")]
    pub probability: f64,
    /// What it does to a frame.
    pub kind: FaultKind,
}

const fn all() -> NodeSet {
    NodeSet::All
}

const fn always() -> f64 {
    1.0
}

/// What a rule does to a frame at a receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// `kind = "drop"`: it does not arrive.
    Drop,
    /// `kind = "pass"`: it arrives, and no later rule is asked.
    Pass,
    /// `kind = "corrupt"`: a random byte of it is changed, and the radio takes its check sequence for right.
    Corrupt,
    /// `kind = "duplicate"`: it arrives twice, the second time at once after the first.
    Duplicate,
    /// `kind = "forge-next"`: an attacker hears it and sends the fragment that is to follow, with bytes of its own, before
    /// the sender does (fragment duplication).
    ForgeNext,
    /// `kind = "forge-first"`: an attacker hears it and sends the same first fragment as if it were that of another datagram,
    /// of a neighbour that does not exist (buffer reservation).
    ForgeFirst,
    /// `kind = { delay = { min_us = .., max_us = .. } }`: it is acknowledged in time, but reaches the stack later, by a
    /// time uniform between the two; later frames overtake it.
    Delay {
        /// At least this much later, in us.
        min_us: u64,
        /// At most this much later, in us.
        max_us: u64,
    },
}

/// A node that loses its memory and starts anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reboot {
    /// The number of the node.
    pub node: u16,
    /// When, in ms.
    pub at_ms: u64,
    /// How long it is off, in ms. Default 0.
    #[serde(default)]
    pub down_ms: u64,
}

/// Nodes that for a while hear nothing of the others, nor the others of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// The nodes on one side.
    pub nodes: NodeSet,
    /// From here, in ms.
    pub from_ms: u64,
    /// Until here, in ms.
    pub until_ms: u64,
}
