//! What becomes of a datagram that no frame holds: the strategies side by side, and how each behaves.

use super::{forward, recover};
use crate::congure::Kind;
use crate::ipv6;
use crate::time::Duration;

/// How an interface sends datagrams that are larger than a frame, and what it does with fragments that are not for this
/// node. What it can receive does not depend on it: fragments of RFC 4944 and of RFC 8931 are told apart by their
/// dispatch, and run side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Strategy {
    /// Fragments of RFC 4944, put together at every hop.
    #[default]
    HopWise,
    /// Fragments of RFC 4944, forwarded without being put together (RFC 8930).
    Forward,
    /// Recoverable fragments, forwarded, acknowledged and sent again end to end (RFC 8931).
    Recover,
    /// None here: IPv6 fragments at the source, for the interface's MTU, and the destination puts them together (RFC
    /// 8200 section 4.5).
    EndToEnd,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 4] = [Self::HopWise, Self::Forward, Self::Recover, Self::EndToEnd];

    /// Whether it is compiled in.
    pub const fn is_here(self) -> bool {
        match self {
            Self::HopWise => true,
            Self::Forward => forward::HERE,
            Self::Recover => recover::HERE,
            Self::EndToEnd => ipv6::fragment::HERE,
        }
    }

    /// The name that scenarios, tables and reports show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HopWise => "hop-wise",
            Self::Forward => "forward",
            Self::Recover => "recover",
            Self::EndToEnd => "end-to-end",
        }
    }
}

/// The time between the end of a fragment's frame and the beginning of the next fragment's, on one interface (RFC 8930
/// section 5, RFC 8931 section 4.2). All frames with fragments count, forwarded ones and acknowledgements of RFC 8931
/// included: on a half-duplex radio it is the next hop that must be done with the one before it hears the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gap {
    /// What a frame of full length takes with back-off, acknowledgement and spacing, times the hops that interfere:
    /// [`Gap::HOPS`].
    #[default]
    Derived,
    /// This long; zero for none.
    Fixed(Duration),
}

impl Gap {
    /// Hops that a fragment has to be ahead: the next hop forwards it, and the one behind that is still in the
    /// interference range of this node (RFC 8930 section 5).
    pub const HOPS: u32 = 2;
}

/// How fragments of RFC 4944 are forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardConfig {
    /// What cannot be forwarded is put together here, as between hops: a datagram whose first fragment did not come first,
    /// or finds the table full (Lenders et al. 2021, section III-B). Default false: such fragments are dropped (RFC 8930
    /// section 5).
    pub fallback: bool,
    /// How long a datagram that is being forwarded is remembered after its last fragment. It should be longer than
    /// reassembly at its end takes (RFC 8930 section 5). Default 65 s.
    pub timeout: Duration,
}

impl Default for ForwardConfig {
    fn default() -> Self {
        Self {
            fallback: false,
            timeout: Duration::from_secs(65),
        }
    }
}

/// How recoverable fragments are sent (RFC 8931 section 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoverConfig {
    /// Fragments that may be under way unacknowledged, 1 to 32, if there is no congestion control. Default 32, the RFC's
    /// recommendation for half-duplex links: only the last fragment of each round asks for an acknowledgement.
    pub window: u8,
    /// The time-out before a round-trip time is known (OptARQTimeOut). Default 1.2 s.
    pub arq_timeout: Duration,
    /// The time-out is never shorter (MinARQTimeOut). Default 250 ms.
    pub arq_timeout_min: Duration,
    /// The time-out is never longer, back-off included (MaxARQTimeOut). Default 10 s.
    pub arq_timeout_max: Duration,
    /// The time-out follows the measured round-trip times (RFC 6298) instead of staying as it is. Default true.
    pub adaptive: bool,
    /// How often one fragment is sent again, at most 7 (MaxFragRetries). Default 3.
    pub fragment_retries: u8,
    /// How often a datagram is begun anew under another tag (MaxDatagramRetries). Default 1.
    pub datagram_retries: u8,
    /// Bytes that the first fragment leaves free for headers that grow on the way (RFC 8931 section 4.1): the interface
    /// identifier of the source, which the next hop cannot elide, and a hop limit that is none of the three elided ones.
    /// Default 9.
    pub slack_len: u8,
    /// What adapts window and interval; `None` for the fixed window. Default: none.
    pub control: Option<Kind>,
    /// Congestion that fragments met on their way is reported to it (UseECN). Default true.
    pub ecn: bool,
    /// How long a datagram that was received, or passed in full, is remembered, to answer late fragments with the full
    /// bitmap (RFC 8931 section 6.2). Default 4 s: whoever did not hear that asks again after the first time-out, and
    /// once more after twice that.
    pub linger: Duration,
}

impl Default for RecoverConfig {
    fn default() -> Self {
        Self {
            window: 32,
            arq_timeout: Duration::from_millis(1_200),
            arq_timeout_min: Duration::from_millis(250),
            arq_timeout_max: Duration::from_secs(10),
            adaptive: true,
            fragment_retries: 3,
            datagram_retries: 1,
            slack_len: 9,
            control: None,
            ecn: true,
            linger: Duration::from_secs(4),
        }
    }
}

#[cfg(test)]
mod tests;
