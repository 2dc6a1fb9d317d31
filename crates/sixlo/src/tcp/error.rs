//! What calls of the application answer when they cannot do what they were asked for.

use core::fmt;

/// Why a call did nothing, or a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TcpError {
    /// There is no such connection or listener, or no more.
    NotOpen = 1,
    /// Nothing is there now: no data, no room, no connection to accept. It may be later.
    WouldBlock,
    /// All connections of the memory are in use.
    NoConnection,
    /// All listeners of the memory are in use.
    NoListener,
    /// A listener has the port, or a connection has both addresses and ports.
    InUse,
    /// Port 0 cannot be listened on or connected to.
    PortZero,
    /// The destination is no address of one node.
    Address,
    /// There is no way to the destination, or ICMPv6 said so while the connection was being opened.
    Unreachable,
    /// The packet buffer has no room, or none in one piece.
    NoRoom,
    /// More than the connection's send buffer can ever hold, or more than was reserved.
    TooLong,
    /// The connection is not yet established.
    NotConnected,
    /// The application shut the connection down and can send no more.
    ShutDown,
    /// The peer refused the connection: a RST answered the SYN.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// The peer did not answer in time.
    TimedOut,
    /// The stack was told to abort the connection.
    Aborted,
}

impl TcpError {
    /// What it means, in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotOpen => "not open",
            Self::WouldBlock => "would block",
            Self::NoConnection => "no free connection",
            Self::NoListener => "no free listener",
            Self::InUse => "address in use",
            Self::PortZero => "port 0",
            Self::Address => "no address of one node",
            Self::Unreachable => "unreachable",
            Self::NoRoom => "no room in the packet buffer",
            Self::TooLong => "too long",
            Self::NotConnected => "not connected",
            Self::ShutDown => "shut down",
            Self::Refused => "connection refused",
            Self::Reset => "connection reset",
            Self::TimedOut => "timed out",
            Self::Aborted => "aborted",
        }
    }
}

impl fmt::Display for TcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl core::error::Error for TcpError {}
