//! What a run is told: network, medium, radio, stack, traffic and faults, as plain values that a scenario file holds.
//!
//! Every key carries its unit in its name. A key that is not known is an error. Where a default comes from a standard
//! or a paper, the field says from which. Nodes are named by their number: 1, 2, ..., and 1 is the sink.

use std::fmt;

use serde::{Deserialize, Serialize};

mod border;
mod faults;
mod fragments;
mod mark;
mod medium;
mod nodes;
mod radio;
mod stack;
mod tcp;
mod topology;
mod traffic;

pub use border::Border;
pub use faults::{Fault, FaultKind, Partition, Reboot};
pub use fragments::{Control, Forward, Recover, Strategy};
pub use mark::{Mark, MarkWhen};
pub use medium::{Disc, ErrorGrowth, LinkMatrix, LinkQuality, LogDistance, Medium};
pub use nodes::NodeSet;
pub use radio::{At86rf23x, Currents, Ideal, Radio, WhenReceiving};
pub(crate) use stack::check_prefix;
pub use stack::{Addresses, CortexM0plus, CortexM3, Cpu, CpuTimes, Link, Mac, Stack};
pub use tcp::{Bulk, Tcp, Timer};
pub use topology::{Chain, Csv, Downward, Grid, Place, RouteChoice, Topology, TreeNetwork};
pub use traffic::{Echo, Traffic};

#[cfg(test)]
mod tests;

/// Everything that a run needs beside its seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where the nodes are and which of them are linked.
    pub topology: Topology,
    /// Which way the static routes to and from the sink go.
    #[serde(default)]
    pub routes: RouteChoice,
    /// To which nodes there are routes away from the sink.
    #[serde(default)]
    pub downward_routes: Downward,
    /// How frames travel from antenna to antenna.
    #[serde(default)]
    pub medium: Medium,
    /// What the radio of each node can do.
    #[serde(default)]
    pub radio: Radio,
    /// Channel, PAN and addresses.
    #[serde(default)]
    pub link: Link,
    /// CSMA/CA and link retries.
    #[serde(default)]
    pub mac: Mac,
    /// Sizes and time-outs of the stack.
    #[serde(default)]
    pub stack: Stack,
    /// How long a node computes.
    #[serde(default)]
    pub cpu: Cpu,
    /// The node that joins the mesh to another network: table `[border]`. Default: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub border: Option<Border>,
    /// All nodes offer services over UDP and TCP: echo, discard, characters, HTTP. Not a key of scenarios. Default false.
    #[serde(skip)]
    pub services: bool,
    /// Sources of UDP datagrams: tables `[[traffic]]`.
    #[serde(default)]
    pub traffic: Vec<Traffic>,
    /// Nodes that send ICMPv6 echo requests: tables `[[echo]]`.
    #[serde(default)]
    pub echo: Vec<Echo>,
    /// Transfers of data over TCP: tables `[[bulk]]`.
    #[serde(default)]
    pub bulk: Vec<Bulk>,
    /// Frames that are lost, corrupted, duplicated or delayed: tables `[[fault]]`. The first rule that matches a frame
    /// at a receiver decides.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
    /// Nodes that restart: tables `[[reboot]]`.
    #[serde(default, rename = "reboot")]
    pub reboots: Vec<Reboot>,
    /// Groups that hear nothing of each other for a while: tables `[[partition]]`.
    #[serde(default, rename = "partition")]
    pub partitions: Vec<Partition>,
    /// The run ends this long after its start. Default: when the last source has sent its last datagram and
    /// `drain_ms` have passed, or every datagram has met its end.
    #[serde(default)]
    pub end_ms: Option<u64>,
    /// How long the network may go on after the last datagram was sent. Default 60000, the longest reassembly
    /// time-out (RFC 4944 section 5.3).
    #[serde(default = "drain_ms")]
    pub drain_ms: u64,
}

const fn drain_ms() -> u64 {
    60_000
}

impl Config {
    /// A run over a topology, all else at its default, without traffic.
    pub fn new(topology: Topology) -> Self {
        Self {
            topology,
            routes: RouteChoice::default(),
            downward_routes: Downward::default(),
            medium: Medium::default(),
            radio: Radio::default(),
            link: Link::default(),
            mac: Mac::default(),
            stack: Stack::default(),
            cpu: Cpu::default(),
            border: None,
            services: false,
            traffic: Vec::new(),
            echo: Vec::new(),
            bulk: Vec::new(),
            faults: Vec::new(),
            reboots: Vec::new(),
            partitions: Vec::new(),
            end_ms: None,
            drain_ms: drain_ms(),
        }
    }
}

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key it is about, as a path with dots: `traffic.0.payload_bytes`.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub wanted: String,
}

impl Problem {
    /// The problem with `key`.
    pub fn new(key: impl Into<String>, what: impl Into<String>, wanted: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            what: what.into(),
            wanted: wanted.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.key, self.what, self.wanted)
    }
}

impl std::error::Error for Problem {}
