//! The boundary between the stack and a device that carries frames.
//!
//! The driver owns the device and calls the stack: [`frame`](RxInfo) when a frame came in, `transmit` when the device
//! is free and the stack has something to send, `transmitted` with a [`TxReport`] when the device is done with it, and
//! `poll` when the deadline that the last `poll` gave is due. Frames cross the boundary without their frame check
//! sequence unless the interface is configured to handle it in software ([`Caps::fcs`]).

use crate::time::Duration;
use crate::trace::PktId;

/// The longest PHY payload of IEEE 802.15.4 at 2.4 GHz, frame check sequence included, in bytes
/// (IEEE 802.15.4-2020, table 11-1, `aMaxPhyPacketSize`).
pub const FRAME_LEN_MAX: usize = 127;

/// The length of the frame check sequence in bytes.
pub const FCS_LEN: usize = 2;

/// The index of an interface of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IfaceId(pub u8);

/// What a device does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// The device does CSMA/CA, waits for the acknowledgement and retries ("extended" or "managed" mode). Otherwise it
    /// senses the channel once for each `transmit`, sends at once if it is clear, and the stack's MAC does the rest.
    pub csma: bool,
    /// The device computes and checks the frame check sequence. Otherwise frames cross the boundary with it.
    pub fcs: bool,
}

/// What is known about a frame that came in, beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxInfo {
    /// Received signal strength in dBm, 0 where unknown.
    pub rssi_dbm: i8,
    /// Link quality indication, 0 (worst) to 255 (IEEE 802.15.4-2020, 10.2.6).
    pub lqi: u8,
    /// The identity of the datagram that the frame carries a piece of (only in simulations, see [`PktId`]).
    pub id: PktId,
}

/// Parameters of unslotted CSMA/CA and of link retries (IEEE 802.15.4-2020, 6.2.5.1 and table 8-94).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsmaParams {
    /// `macMinBe`: the first back-off is uniform in 0..2^min_be unit back-off periods. Default 3.
    pub min_be: u8,
    /// `macMaxBe`: the back-off exponent grows up to this. Default 5.
    pub max_be: u8,
    /// `macMaxCsmaBackoffs`: busy channel assessments after the first before the attempt fails. Default 4.
    pub max_backoffs: u8,
    /// `macMaxFrameRetries`: retransmissions after the first attempt that was not acknowledged. Default 3.
    pub max_retries: u8,
    /// Before each link retry the MAC waits a time uniform in 0..=this (Kumar et al., NSDI 2020, section 7.1). A device
    /// that retries by itself cannot do so. Default zero.
    pub retry_delay_max: Duration,
    /// An attempt that fails because the channel is always busy is followed by another, as one that was not acknowledged, only
    /// without `retry_delay_max` (so OpenThread, on which Kumar et al. built). The standard gives the frame up (6.2.5.1). A
    /// device that does CSMA/CA by itself keeps to the standard. Default false.
    pub retry_busy: bool,
}

impl Default for CsmaParams {
    fn default() -> Self {
        Self {
            min_be: 3,
            max_be: 5,
            max_backoffs: 4,
            max_retries: 3,
            retry_delay_max: Duration::ZERO,
            retry_busy: false,
        }
    }
}

/// What the device shall do with the frame that the stack has just written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxInfo {
    /// Bytes of the frame, from the start of the buffer.
    pub len: usize,
    /// The frame asks for an acknowledgement.
    pub ack_request: bool,
    /// The buffer holds what the last `transmit` wrote: a link retry, or another channel assessment.
    pub again: bool,
    /// For a device that does CSMA by itself: how.
    pub csma: CsmaParams,
    /// The identity of the datagram that the frame carries a piece of.
    pub id: PktId,
}

/// How a transmission ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxOutcome {
    /// The frame left the antenna. If it asked for an acknowledgement and the device does no CSMA by itself, the
    /// acknowledgement comes in as a frame, or not.
    Sent,
    /// The device waited for the acknowledgement, and it came.
    Acked,
    /// The device waited for the acknowledgement, after each of its retries, in vain.
    NoAck,
    /// The channel was busy: at the one assessment, or for a device that does CSMA by itself, at all of them.
    ChannelBusy,
    /// The device could not send the frame at all.
    Refused,
}

/// What the device reports when it is done with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxReport {
    /// How it ended.
    pub outcome: TxOutcome,
    /// How often the frame was put on the air (a device that retries by itself: 0 to 1 + retries).
    pub attempts: u8,
    /// How often the channel was found busy.
    pub busy: u8,
}
