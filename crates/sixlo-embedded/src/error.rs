//! Errors, as `embedded-io` wants them.

use core::fmt;

use embedded_io_async::ErrorKind;
use sixlo::tcp::TcpError;

/// Why a call failed, or a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub TcpError);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for Error {}

impl embedded_io_async::Error for Error {
    fn kind(&self) -> ErrorKind {
        match self.0 {
            TcpError::NotOpen | TcpError::NotConnected => ErrorKind::NotConnected,
            TcpError::NoConnection | TcpError::NoListener | TcpError::NoRoom => ErrorKind::OutOfMemory,
            TcpError::InUse => ErrorKind::AddrInUse,
            TcpError::PortZero | TcpError::TooLong => ErrorKind::InvalidInput,
            TcpError::Address | TcpError::Unreachable => ErrorKind::AddrNotAvailable,
            TcpError::ShutDown => ErrorKind::BrokenPipe,
            TcpError::Refused => ErrorKind::ConnectionRefused,
            TcpError::Reset => ErrorKind::ConnectionReset,
            TcpError::Aborted => ErrorKind::ConnectionAborted,
            TcpError::TimedOut => ErrorKind::TimedOut,
            TcpError::WouldBlock => ErrorKind::Other,
        }
    }
}
