//! How TCP behaves.

use crate::congure::{Kind, RttLimits};
use crate::time::Duration;

/// How TCP behaves from the start. Each default says where it comes from; "FreeBSD" is the stack that Kumar et al. 2020
/// (TCPlp) took over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpConfig {
    /// The mechanism of congestion control. Default Reno (RFC 5681).
    pub congestion: Kind,
    /// Bounds of the retransmission timer. Default RFC 6298, 1 s at least; [`FREEBSD`](Self::FREEBSD_TIMER) is shorter.
    pub timer: RttLimits,
    /// Bytes that a connection takes from the application before they are acknowledged. Default 1848: four segments of 462
    /// (Kumar et al. 2020, section 6.2).
    pub send_buffer: u16,
    /// The largest segment without its options, as it is announced and sent, in bytes; `None` for what
    /// [`mss_frames`](Self::mss_frames) gives. At least 64 is taken (FreeBSD's `tcp_minmss` is 216, too much here).
    pub mss: Option<u16>,
    /// Frames that a full segment fills (Kumar et al. 2020, section 6.1). Default 5.
    pub mss_frames: u8,
    /// Selective acknowledgement is offered (RFC 2018). Default true.
    pub sack: bool,
    /// Timestamps are offered (RFC 7323). Default true.
    pub timestamps: bool,
    /// Explicit congestion notification is offered (RFC 3168 section 6.1). Default true.
    pub ecn: bool,
    /// Small segments wait for the acknowledgement of those before (RFC 9293 section 3.7.4), unless a connection is told
    /// otherwise. Default true.
    pub nagle: bool,
    /// How long an acknowledgement may wait for company (RFC 9293 section 3.8.6.3: less than 0.5 s). Default 100 ms, as in
    /// FreeBSD 10 and with Kumar et al. 2020. Zero: each segment is acknowledged at once.
    pub delayed_ack: Duration,
    /// How long an open may take (RFC 9293 section 3.8.3: R2 of a SYN is at least 3 minutes; FreeBSD's 75 s are
    /// shorter). Default 180 s.
    pub connect_timeout: Duration,
    /// How long data may stay unacknowledged (RFC 9293 section 3.9.1.1). Default 5 minutes; R2 is at least 100 s (section
    /// 3.8.3).
    pub user_timeout: Duration,
    /// Retransmissions of the same data at most. Default 12 (FreeBSD).
    pub retries_max: u8,
    /// Retransmissions of the answer to a SYN at most. Default 3 (FreeBSD).
    pub syn_ack_retries_max: u8,
    /// How long a connection is quiet before it is probed, where keep-alive is on. Default 2 hours (RFC 9293 section
    /// 3.8.4).
    pub keep_alive_idle: Duration,
    /// The time between two such probes. Default 75 s (FreeBSD).
    pub keep_alive_interval: Duration,
    /// Probes without an answer after which the connection ends. Default 8 (FreeBSD).
    pub keep_alive_probes: u8,
    /// The shortest and the longest time between two probes of a zero window. Default 5 s and 60 s (FreeBSD).
    pub persist: [Duration; 2],
    /// The longest life of a segment; TIME-WAIT lasts two of them. Default 30 s (FreeBSD; RFC 9293 section 3.4.2: 2
    /// minutes).
    pub segment_lifetime: Duration,
    /// How long FIN-WAIT-2 lasts once the application has closed the connection. Default 60 s (FreeBSD).
    pub fin_wait_2_timeout: Duration,
    /// Answers that belong to no connection (RST) that may be sent at once; a tenth of a second earns one. Default 10.
    pub reset_burst: u8,
}

impl TcpConfig {
    /// FreeBSD's timer: 30 ms at least, and room for the delayed acknowledgement (`tcp_rexmit_min`, `tcp_rexmit_slop`).
    pub const FREEBSD_TIMER: RttLimits = RttLimits {
        initial: Duration::from_secs(1),
        granularity: Duration::from_millis(200),
        minimum: Duration::from_millis(30),
        maximum: Duration::from_secs(64),
    };
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self {
            congestion: Kind::Reno,
            timer: RttLimits::RFC6298,
            send_buffer: 1848,
            mss: None,
            mss_frames: 5,
            sack: true,
            timestamps: true,
            ecn: true,
            nagle: true,
            delayed_ack: Duration::from_millis(100),
            connect_timeout: Duration::from_secs(180),
            user_timeout: Duration::from_secs(300),
            retries_max: 12,
            syn_ack_retries_max: 3,
            keep_alive_idle: Duration::from_secs(7200),
            keep_alive_interval: Duration::from_secs(75),
            keep_alive_probes: 8,
            persist: [Duration::from_secs(5), Duration::from_secs(60)],
            segment_lifetime: Duration::from_secs(30),
            fin_wait_2_timeout: Duration::from_secs(60),
            reset_burst: 10,
        }
    }
}
