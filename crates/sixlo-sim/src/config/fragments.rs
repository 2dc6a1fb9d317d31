//! What becomes of datagrams that no frame holds: the stack's strategies and how each behaves, as scenarios name them.

use serde::{Deserialize, Serialize};
use sixlo::congure::Kind;
use sixlo::lowpan::{ForwardConfig, Gap, RecoverConfig};
use sixlo::time::Duration;

use super::{Problem, Stack};

/// How datagrams that are larger than a frame are sent and passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// `"hop-wise"`: fragments of RFC 4944, put together at every hop.
    #[default]
    HopWise,
    /// `"forward"`: fragments of RFC 4944, forwarded one by one (RFC 8930).
    Forward,
    /// `"recover"`: recoverable fragments, forwarded one by one, acknowledged end to end (RFC 8931).
    Recover,
    /// `"end-to-end"`: IPv6 fragments for an interface whose MTU is as small as `mtu_bytes` says.
    EndToEnd,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::HopWise, Self::Forward, Self::Recover, Self::EndToEnd];

    /// What the stack calls it.
    pub const fn of_stack(self) -> sixlo::lowpan::Strategy {
        match self {
            Self::HopWise => sixlo::lowpan::Strategy::HopWise,
            Self::Forward => sixlo::lowpan::Strategy::Forward,
            Self::Recover => sixlo::lowpan::Strategy::Recover,
            Self::EndToEnd => sixlo::lowpan::Strategy::EndToEnd,
        }
    }

    /// The name in scenarios and tables.
    pub const fn name(self) -> &'static str {
        self.of_stack().name()
    }
}

/// `[stack.forward]`: fragments of RFC 4944 that are forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Forward {
    /// What cannot be forwarded is put together instead (Lenders et al. 2021, section III-B). Default false (RFC 8930
    /// section 5).
    pub fallback: bool,
    /// How long a datagram that is being forwarded is remembered, in ms. Default 65000.
    pub timeout_ms: u32,
}

impl Default for Forward {
    fn default() -> Self {
        let stack = ForwardConfig::default();
        Self {
            fallback: stack.fallback,
            timeout_ms: milliseconds(stack.timeout),
        }
    }
}

/// What adapts the window of recoverable fragments, and the time between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// `"none"`: the window stays as it is.
    #[default]
    None,
    /// `"rfc8931"`: RFC 8931 appendix C.
    Rfc8931,
    /// `"reno"`: RFC 5681 with RFC 6582.
    Reno,
    /// `"abe"`: RFC 8511.
    Abe,
    /// `"quic"`: RFC 9002, with pacing.
    Quic,
    /// `"calm"`: the stack's own, for lossy links.
    Calm,
}

impl Control {
    /// All that adapt.
    pub const ALL: [Self; 5] = [Self::Rfc8931, Self::Reno, Self::Abe, Self::Quic, Self::Calm];

    /// What the stack calls it.
    pub const fn of_stack(self) -> Option<Kind> {
        match self {
            Self::None => None,
            Self::Rfc8931 => Some(Kind::AppendixC),
            Self::Reno => Some(Kind::Reno),
            Self::Abe => Some(Kind::Abe),
            Self::Quic => Some(Kind::Quic),
            Self::Calm => Some(Kind::Calm),
        }
    }

    /// The name in scenarios and tables.
    pub const fn name(self) -> &'static str {
        match self.of_stack() {
            Some(kind) => kind.name(),
            None => "none",
        }
    }
}

/// `[stack.recover]`: recoverable fragments (RFC 8931 section 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recover {
    /// Fragments that may be under way unacknowledged, 1 to 32; congestion control has its own. Default 32.
    pub window: u8,
    /// The time-out before a round-trip time is known, in ms (OptARQTimeOut). Default 1200.
    pub arq_timeout_ms: u32,
    /// The time-out is never shorter, in ms (MinARQTimeOut). Default 250.
    pub arq_timeout_min_ms: u32,
    /// The time-out is never longer, in ms (MaxARQTimeOut). Default 10000.
    pub arq_timeout_max_ms: u32,
    /// The time-out follows the measured round-trip times (RFC 6298). Default true.
    pub adaptive: bool,
    /// How often one fragment is sent again, at most 7 (MaxFragRetries). Default 3.
    pub fragment_retries: u8,
    /// How often a datagram is begun anew (MaxDatagramRetries). Default 1.
    pub datagram_retries: u8,
    /// Bytes that the first fragment leaves free for headers that grow on the way. Default 9.
    pub slack_bytes: u8,
    /// What adapts window and gap. Default none.
    pub control: Control,
    /// Congestion that fragments met is reported to it (UseECN). Default true.
    pub ecn: bool,
    /// How long a datagram that is complete is remembered, in ms. Default 4000.
    pub linger_ms: u32,
}

impl Default for Recover {
    fn default() -> Self {
        let stack = RecoverConfig::default();
        Self {
            window: stack.window,
            arq_timeout_ms: milliseconds(stack.arq_timeout),
            arq_timeout_min_ms: milliseconds(stack.arq_timeout_min),
            arq_timeout_max_ms: milliseconds(stack.arq_timeout_max),
            adaptive: stack.adaptive,
            fragment_retries: stack.fragment_retries,
            datagram_retries: stack.datagram_retries,
            slack_bytes: stack.slack_len,
            control: Control::None,
            ecn: stack.ecn,
            linger_ms: milliseconds(stack.linger),
        }
    }
}

const fn milliseconds(time: Duration) -> u32 {
    (time.as_micros() / 1_000) as u32
}

const fn duration(ms: u32) -> Duration {
    Duration::from_millis(ms as u64)
}

impl Forward {
    /// The stack's own.
    pub fn of_stack(&self) -> ForwardConfig {
        ForwardConfig {
            fallback: self.fallback,
            timeout: duration(self.timeout_ms),
        }
    }
}

impl Recover {
    /// The stack's own.
    pub fn of_stack(&self) -> RecoverConfig {
        RecoverConfig {
            window: self.window,
            arq_timeout: duration(self.arq_timeout_ms),
            arq_timeout_min: duration(self.arq_timeout_min_ms),
            arq_timeout_max: duration(self.arq_timeout_max_ms),
            adaptive: self.adaptive,
            fragment_retries: self.fragment_retries,
            datagram_retries: self.datagram_retries,
            slack_len: self.slack_bytes,
            control: self.control.of_stack(),
            ecn: self.ecn,
            linger: duration(self.linger_ms),
        }
    }
}

/// The least MTU that carries a fragment of 8 bytes: IPv6 header, fragment header, 8 bytes (RFC 8200 section 4.5).
const MTU_BYTES_MIN: u16 = 56;
/// The least MTU that IPv6 allows (RFC 8200 section 5), and the most that RFC 4944 section 4 offers.
const MTU_BYTES: u16 = 1_280;

impl Stack {
    /// The largest IPv6 packet of the interface: that of IPv6 unless fragments are end to end.
    pub const fn mtu(&self) -> u16 {
        match self.strategy {
            Strategy::EndToEnd => self.mtu_bytes,
            Strategy::HopWise | Strategy::Forward | Strategy::Recover => MTU_BYTES,
        }
    }

    /// The time between frames with fragments.
    pub fn gap(&self) -> Gap {
        self.fragment_gap_us.map_or(Gap::Derived, |us| {
            Gap::Fixed(Duration::from_micros(u64::from(us)))
        })
    }

    /// Whether what is said about fragments can be.
    pub(crate) fn check_fragments(&self) -> Result<(), Problem> {
        let recover = &self.recover;
        within("vrb_entries", self.vrb_entries.into(), (0, 1_000), "")?;
        within(
            "fragmentation_entries",
            self.fragmentation_entries.into(),
            (0, 1_000),
            "",
        )?;
        within(
            "fragment_gap_us",
            self.fragment_gap_us.unwrap_or(0),
            (0, 10_000_000),
            " us",
        )?;
        within("forward.timeout_ms", self.forward.timeout_ms, (1, 600_000), " ms")?;
        within("recover.window", recover.window.into(), (1, 32), " fragments")?;
        within(
            "recover.fragment_retries",
            recover.fragment_retries.into(),
            (0, 7),
            "",
        )?;
        within(
            "recover.datagram_retries",
            recover.datagram_retries.into(),
            (0, 7),
            "",
        )?;
        within(
            "recover.slack_bytes",
            recover.slack_bytes.into(),
            (0, 64),
            " bytes",
        )?;
        within("recover.linger_ms", recover.linger_ms, (0, 60_000), " ms")?;
        within(
            "recover.arq_timeout_max_ms",
            recover.arq_timeout_max_ms,
            (1, 60_000),
            " ms",
        )?;
        let most = recover.arq_timeout_max_ms;
        within(
            "recover.arq_timeout_min_ms",
            recover.arq_timeout_min_ms,
            (1, most),
            " ms",
        )?;
        let least = recover.arq_timeout_min_ms;
        within(
            "recover.arq_timeout_ms",
            recover.arq_timeout_ms,
            (least, most),
            " ms",
        )?;
        within(
            "mtu_bytes",
            self.mtu_bytes.into(),
            (MTU_BYTES_MIN.into(), MTU_BYTES.into()),
            " bytes",
        )?;
        self.check_mark()
    }
}

/// Checks a number of `[stack]` against the least and the greatest that it may be.
pub(super) fn within(key: &str, value: u32, (low, high): (u32, u32), unit: &str) -> Result<(), Problem> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Problem::new(
        format!("stack.{key}"),
        format!("{value}{unit}"),
        format!("{low} to {high}{unit}"),
    ))
}
