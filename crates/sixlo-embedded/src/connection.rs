//! Connections and listeners.

use embedded_io_async::{ErrorType, Read, ReadReady, Write, WriteReady};
use sixlo::tcp::{ConnectionId, ListenerId, TcpError};
use sixlo::time::Instant;

use crate::error::Error;
use crate::net::{Net, On};

/// A connection. It is closed when it is dropped: what was written still goes out, behind it FIN.
pub struct Connection<'n, 'a, C: Fn() -> Instant, const WAITS: usize> {
    pub(crate) net: &'n Net<'a, C, WAITS>,
    pub(crate) id: ConnectionId,
}

impl<C: Fn() -> Instant, const WAITS: usize> Connection<'_, '_, C, WAITS> {
    /// The handle for calls of the stack, through [`Net::drive`].
    pub const fn id(&self) -> ConnectionId {
        self.id
    }

    /// Nothing more will be written: the peer gets FIN behind the data. What comes in can still be read.
    ///
    /// # Errors
    ///
    /// If that was said before, or why the connection ended.
    pub fn shutdown(&mut self) -> Result<(), Error> {
        self.net
            .call(|stack, now| stack.tcp_shutdown(now, self.id, &mut ()))
    }
}

impl<C: Fn() -> Instant, const WAITS: usize> Drop for Connection<'_, '_, C, WAITS> {
    fn drop(&mut self) {
        // It may have been closed through its handle.
        let _ = self.net.call(|stack, now| stack.tcp_close(now, self.id, &mut ()));
    }
}

impl<C: Fn() -> Instant, const WAITS: usize> ErrorType for Connection<'_, '_, C, WAITS> {
    type Error = Error;
}

impl<C: Fn() -> Instant, const WAITS: usize> Read for Connection<'_, '_, C, WAITS> {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, Error> {
        if buf.is_empty() {
            return Ok(0);
        }
        let on = On::Readable(self.id);
        self.net
            .until(on, |stack, now| stack.tcp_recv(now, self.id, buf, &mut ()))
            .await
    }
}

impl<C: Fn() -> Instant, const WAITS: usize> Write for Connection<'_, '_, C, WAITS> {
    async fn write(&mut self, buf: &[u8]) -> Result<usize, Error> {
        let on = On::Writable(self.id);
        self.net
            .until(on, |stack, now| stack.tcp_send(now, self.id, buf, &mut ()))
            .await
    }

    /// Sends what waits for an acknowledgement because it is small (Nagle, RFC 9293 section 3.7.4). It does not wait itself: the
    /// stack goes on sending, and sends again what is lost.
    async fn flush(&mut self) -> Result<(), Error> {
        self.net.call(|stack, now| {
            stack.tcp_set_nagle(now, self.id, false, &mut ())?;
            stack.tcp_set_nagle(now, self.id, true, &mut ())
        })
    }
}

impl<C: Fn() -> Instant, const WAITS: usize> ReadReady for Connection<'_, '_, C, WAITS> {
    fn read_ready(&mut self) -> Result<bool, Error> {
        match self.net.call(|stack, _| stack.tcp_peek(self.id).map(|_| true)) {
            Err(Error(TcpError::WouldBlock)) => Ok(false),
            ready => ready,
        }
    }
}

impl<C: Fn() -> Instant, const WAITS: usize> WriteReady for Connection<'_, '_, C, WAITS> {
    fn write_ready(&mut self) -> Result<bool, Error> {
        self.net
            .call(|stack, _| stack.tcp_writable(self.id).map(|room| room > 0))
    }
}

/// A listener. It listens no longer when it is dropped.
pub struct Listener<'n, 'a, C: Fn() -> Instant, const WAITS: usize> {
    pub(crate) net: &'n Net<'a, C, WAITS>,
    pub(crate) id: ListenerId,
}

impl<'n, 'a, C: Fn() -> Instant, const WAITS: usize> Listener<'n, 'a, C, WAITS> {
    /// Waits for a peer to connect.
    ///
    /// # Errors
    ///
    /// [`TcpError::NotOpen`] if it was closed through the stack.
    pub async fn accept(&mut self) -> Result<Connection<'n, 'a, C, WAITS>, Error> {
        let on = On::Acceptable(self.id);
        let id = self.net.until(on, |stack, _| stack.tcp_accept(self.id)).await?;
        Ok(Connection { net: self.net, id })
    }
}

impl<C: Fn() -> Instant, const WAITS: usize> Drop for Listener<'_, '_, C, WAITS> {
    fn drop(&mut self) {
        let _ = self
            .net
            .call(|stack, now| stack.tcp_close_listener(now, self.id, &mut ()));
    }
}
