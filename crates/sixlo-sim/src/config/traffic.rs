//! What the applications on the nodes send.

use serde::{Deserialize, Serialize};

use super::NodeSet;

/// Nodes that send UDP datagrams to one node, each on its own clock. A payload starts with the number of the sender
/// and of the datagram, and goes on with a pattern made of both; the receiver checks every byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The senders. Default `"all-but-sink"`; the receiver itself never sends.
    #[serde(default)]
    pub from: NodeSet,
    /// The number of the receiver. Default 1, the sink.
    #[serde(default = "sink")]
    pub to: u16,
    /// UDP payload in bytes, 8 to 1232 (what an MTU of 1280 carries, RFC 8200 section 5).
    pub payload_bytes: u16,
    /// Datagrams that each sender sends; 0: as many as fit until `end_ms`.
    pub count: u32,
    /// Each sender starts after a time uniform in 0 to this, in ms. Default 10000.
    #[serde(default = "start_max_ms")]
    pub start_max_ms: u64,
    /// From one datagram to the next a time uniform in `gap_min_ms` to `gap_max_ms` passes.
    pub gap_min_ms: u64,
    /// See `gap_min_ms`.
    pub gap_max_ms: u64,
    /// UDP source port. Default 61616 (0xf0b0, compressed to 4 bits, RFC 6282 section 4.3.3).
    #[serde(default = "port")]
    pub source_port: u16,
    /// UDP destination port. Default 61616.
    #[serde(default = "port")]
    pub port: u16,
}

/// Nodes that send ICMPv6 echo requests to one node and check the replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Echo {
    /// The senders. Default `"all-but-sink"`.
    #[serde(default)]
    pub from: NodeSet,
    /// The number of the node that answers. Default 1, the sink.
    #[serde(default = "sink")]
    pub to: u16,
    /// Echo data in bytes, 8 to 1232.
    pub payload_bytes: u16,
    /// Requests that each sender sends; 0: as many as fit until `end_ms`.
    pub count: u32,
    /// Each sender starts after a time uniform in 0 to this, in ms. Default 10000.
    #[serde(default = "start_max_ms")]
    pub start_max_ms: u64,
    /// From one request to the next a time uniform in `gap_min_ms` to `gap_max_ms` passes.
    pub gap_min_ms: u64,
    /// See `gap_min_ms`.
    pub gap_max_ms: u64,
}

const fn sink() -> u16 {
    1
}

const fn start_max_ms() -> u64 {
    10_000
}

const fn port() -> u16 {
    61_616
}
