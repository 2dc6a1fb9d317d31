//! TCP: how connections behave, and nodes that transfer data over them.

use serde::{Deserialize, Serialize};
use sixlo::congure::RttLimits;
use sixlo::tcp::TcpConfig;
use sixlo::time::Duration;

use super::{Control, NodeSet, Problem};

/// How TCP behaves. The defaults are those of the stack (`docs/tcp.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// The mechanism of congestion control. Default `"reno"`.
    pub congestion: Control,
    /// Bytes that a connection takes from its application before they are acknowledged. Default 1848.
    pub send_buffer_bytes: u16,
    /// The largest window that a connection announces. Default 1848.
    pub receive_buffer_bytes: u16,
    /// Frames that a full segment fills. Default 5.
    pub mss_frames: u8,
    /// The largest segment, instead of what `mss_frames` gives.
    pub mss_bytes: Option<u16>,
    /// Selective acknowledgements are offered. Default true.
    pub sack: bool,
    /// Timestamps are offered. Default true.
    pub timestamps: bool,
    /// Explicit congestion notification is offered. Default true.
    pub ecn: bool,
    /// Small segments wait for the acknowledgement of those before. Default true.
    pub nagle: bool,
    /// How long an acknowledgement may wait for company, in ms; 0: each segment is acknowledged at once. Default 100.
    pub delayed_ack_ms: u32,
    /// Bounds of the retransmission timer. Default `"rfc6298"`.
    pub timer: Timer,
}

/// Bounds of the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timer {
    /// `"rfc6298"`: 1 s at least.
    #[default]
    Rfc6298,
    /// `"freebsd"`: 30 ms at least, and 200 ms beside the measured time.
    Freebsd,
}

impl Default for Tcp {
    fn default() -> Self {
        let stack = TcpConfig::default();
        Self {
            congestion: Control::Reno,
            send_buffer_bytes: stack.send_buffer,
            receive_buffer_bytes: 1848,
            mss_frames: stack.mss_frames,
            mss_bytes: stack.mss,
            sack: stack.sack,
            timestamps: stack.timestamps,
            ecn: stack.ecn,
            nagle: stack.nagle,
            delayed_ack_ms: 100,
            timer: Timer::Rfc6298,
        }
    }
}

impl Tcp {
    /// As the stack has it.
    pub fn of_stack(&self) -> TcpConfig {
        TcpConfig {
            congestion: self
                .congestion
                .of_stack()
                .unwrap_or(TcpConfig::default().congestion),
            timer: match self.timer {
                Timer::Rfc6298 => RttLimits::RFC6298,
                Timer::Freebsd => TcpConfig::FREEBSD_TIMER,
            },
            send_buffer: self.send_buffer_bytes,
            mss: self.mss_bytes,
            mss_frames: self.mss_frames,
            sack: self.sack,
            timestamps: self.timestamps,
            ecn: self.ecn,
            nagle: self.nagle,
            delayed_ack: Duration::from_millis(self.delayed_ack_ms.into()),
            ..TcpConfig::default()
        }
    }

    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.congestion == Control::None {
            let wanted = "one of \"reno\", \"abe\", \"quic\", \"calm\", \"rfc8931\"";
            return Err(Problem::new(
                "stack.tcp.congestion",
                "TCP without congestion control",
                wanted,
            ));
        }
        let within = |key: &str, value: u32, low: u32, high: u32, unit: &str| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(Problem::new(
                format!("stack.tcp.{key}"),
                format!("{value}{unit}"),
                format!("{low} to {high}{unit}"),
            ))
        };
        within(
            "send_buffer_bytes",
            self.send_buffer_bytes.into(),
            64,
            65_535,
            " bytes",
        )?;
        within(
            "receive_buffer_bytes",
            self.receive_buffer_bytes.into(),
            64,
            65_535,
            " bytes",
        )?;
        within("mss_frames", self.mss_frames.into(), 1, 16, "")?;
        within(
            "mss_bytes",
            self.mss_bytes.unwrap_or(1_220).into(),
            64,
            1_220,
            " bytes",
        )?;
        within("delayed_ack_ms", self.delayed_ack_ms, 0, 499, " ms")
    }
}

/// Nodes that open a TCP connection to one node and send it data as fast as that takes them. The receiver checks every byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// The senders. Default `"all-but-sink"`; the receiver itself never sends.
    #[serde(default)]
    pub from: NodeSet,
    /// The number of the receiver. Default 1, the sink.
    #[serde(default = "sink")]
    pub to: u16,
    /// Bytes that each sender sends; 0: as many as go until `end_ms`.
    pub bytes: u64,
    /// Each sender starts after a time uniform in 0 to this, in ms. Default 0.
    #[serde(default)]
    pub start_max_ms: u64,
    /// The receiver's port. Default 5001.
    #[serde(default = "port")]
    pub port: u16,
}

const fn sink() -> u16 {
    1
}

const fn port() -> u16 {
    5_001
}
