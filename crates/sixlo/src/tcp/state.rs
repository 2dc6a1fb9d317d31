//! The states of a connection (RFC 9293 section 3.3.2). Those of a passive open before the handshake is over are entries of
//! the backlog, and LISTEN is a listener.

/// The state of a connection. The empty value, `Closed`, is all-zero bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum State {
    /// There is none, or it has ended and the application was not told yet.
    #[default]
    Closed = 0,
    /// SYN sent, waiting for one.
    SynSent = 1,
    /// SYN received and sent, waiting for the acknowledgement of ours.
    SynReceived = 2,
    /// Data flows.
    Established = 3,
    /// The peer has sent FIN; ours is not sent.
    CloseWait = 4,
    /// Our FIN is not acknowledged, and the peer's has not come.
    FinWait1 = 5,
    /// Both have sent FIN; ours is not acknowledged.
    Closing = 6,
    /// The peer's FIN came first; ours is not acknowledged.
    LastAck = 7,
    /// Our FIN is acknowledged, the peer's has not come.
    FinWait2 = 8,
    /// All is said; segments of old may still be under way.
    TimeWait = 9,
}

impl State {
    /// All states.
    pub const ALL: [Self; 10] = [
        Self::Closed,
        Self::SynSent,
        Self::SynReceived,
        Self::Established,
        Self::CloseWait,
        Self::FinWait1,
        Self::Closing,
        Self::LastAck,
        Self::FinWait2,
        Self::TimeWait,
    ];

    /// The name in RFC 9293.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::CloseWait => "CLOSE-WAIT",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::TimeWait => "TIME-WAIT",
        }
    }

    /// Both sides know each other's sequence numbers (RFC 9293 section 3.5.2: "synchronized").
    pub const fn is_synchronized(self) -> bool {
        self as u8 >= Self::Established as u8
    }

    /// The peer's FIN may still come, and data before it.
    pub const fn may_receive(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }

    /// The application may still hand over data.
    pub const fn may_write(self) -> bool {
        matches!(
            self,
            Self::SynSent | Self::SynReceived | Self::Established | Self::CloseWait
        )
    }

    /// Data may be sent, or sent again.
    pub const fn may_transmit(self) -> bool {
        matches!(
            self,
            Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck
        )
    }

    /// Our FIN has its place behind the data.
    pub const fn sends_fin(self) -> bool {
        matches!(self, Self::FinWait1 | Self::Closing | Self::LastAck)
    }
}
