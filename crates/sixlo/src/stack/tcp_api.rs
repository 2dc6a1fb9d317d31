//! TCP as the application calls it.
//!
//! No call waits. [`TcpError::WouldBlock`] says that something is not there now; after each step of the stack it may be.

use core::net::Ipv6Addr;

use super::Stack;
use crate::ground::Cx;
use crate::netdev::IfaceId;
use crate::tcp::{Connection, ConnectionId, ListenerId, Tcp, TcpError};
use crate::time::Instant;
use crate::trace::{Reason, Sink};

impl Stack<'_> {
    /// Listens on a port of all addresses. Up to `backlog` connections (at least 1) may wait to be accepted, those counted
    /// that peers are still opening.
    ///
    /// # Errors
    ///
    /// [`TcpError::PortZero`], [`TcpError::InUse`], [`TcpError::NoListener`].
    pub fn tcp_listen(&mut self, port: u16, backlog: u8) -> Result<ListenerId, TcpError> {
        self.modules.tcp.listen(port, backlog)
    }

    /// Listens no longer. Connections that nobody accepted are aborted; others go on.
    ///
    /// # Errors
    ///
    /// [`TcpError::NotOpen`].
    pub fn tcp_close_listener(
        &mut self,
        now: Instant,
        listener: ListenerId,
        sink: &mut impl Sink,
    ) -> Result<(), TcpError> {
        self.tcp_call(now, sink, |tcp, cx| tcp.close_listener(cx, listener))
    }

    /// Opens a connection to an address and port, from a port that is chosen. [`tcp_connection`](Self::tcp_connection) tells when it is
    /// established; data may be handed over before.
    ///
    /// # Errors
    ///
    /// [`TcpError::PortZero`], [`TcpError::Address`], [`TcpError::Unreachable`], [`TcpError::NoConnection`],
    /// [`TcpError::InUse`].
    pub fn tcp_connect(
        &mut self,
        now: Instant,
        remote: (Ipv6Addr, u16),
        sink: &mut impl Sink,
    ) -> Result<ConnectionId, TcpError> {
        self.tcp_connect_from(now, 0, remote, sink)
    }

    /// Opens a connection from a port of the application's choice, or one that is chosen if it is 0.
    ///
    /// # Errors
    ///
    /// As [`tcp_connect`](Self::tcp_connect).
    pub fn tcp_connect_from(
        &mut self,
        now: Instant,
        local_port: u16,
        remote: (Ipv6Addr, u16),
        sink: &mut impl Sink,
    ) -> Result<ConnectionId, TcpError> {
        if remote.1 == 0 {
            return Err(TcpError::PortZero);
        }
        if remote.0.is_unspecified() || remote.0.is_multicast() {
            return Err(TcpError::Address);
        }
        let way = self.modules.ipv6.source_for(&remote.0, IfaceId(0));
        let (iface, local) = way.map_err(unreachable)?;
        let (mut cx, modules) = self.parts(now, sink);
        let (tcp, ways) = modules.tcp_and_ways();
        let opened = tcp.connect(&mut cx, &ways, iface, (local, local_port), remote);
        modules.pump(&mut cx);
        self.after_step();
        opened
    }

    /// Whether [`tcp_accept`](Self::tcp_accept) would give a connection.
    ///
    /// # Errors
    ///
    /// [`TcpError::NotOpen`].
    pub fn tcp_acceptable(&self, listener: ListenerId) -> Result<bool, TcpError> {
        Ok(self.modules.tcp.oldest_of(listener)?.is_some())
    }

    /// Takes the oldest connection that peers opened to a listener.
    ///
    /// # Errors
    ///
    /// [`TcpError::WouldBlock`] if there is none, [`TcpError::NotOpen`].
    pub fn tcp_accept(&mut self, listener: ListenerId) -> Result<ConnectionId, TcpError> {
        self.modules.tcp.accept(listener)
    }

    /// Copies data into the send buffer, as many bytes as there is room for; says how many.
    ///
    /// # Errors
    ///
    /// [`TcpError::WouldBlock`] if there is no room in the send buffer, [`TcpError::NoRoom`] if there is none in the packet
    /// buffer, [`TcpError::ShutDown`], [`TcpError::NotOpen`], or why the connection ended.
    pub fn tcp_send(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        bytes: &[u8],
        sink: &mut impl Sink,
    ) -> Result<usize, TcpError> {
        self.tcp_call(now, sink, |tcp, cx| tcp.send(cx, connection, bytes))
    }

    /// Sends data that lies where it is for ever, without a copy: it takes no room in the packet buffer, and so may be more than
    /// the send buffer holds. Says how many bytes were taken.
    ///
    /// # Errors
    ///
    /// [`TcpError::WouldBlock`] if the connection holds 65,000 bytes already, [`TcpError::NoRoom`] if all of
    /// [`Memory::loans`](super::Memory::loans) are in use or the packet buffer is full, [`TcpError::ShutDown`],
    /// [`TcpError::NotOpen`], or why the connection ended.
    pub fn tcp_lend(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        bytes: &'static [u8],
        sink: &mut impl Sink,
    ) -> Result<usize, TcpError> {
        self.tcp_call(now, sink, |tcp, cx| tcp.lend(cx, connection, bytes))
    }

    /// Bytes that the send buffer has room for now. The packet buffer may have less.
    ///
    /// # Errors
    ///
    /// [`TcpError::ShutDown`], [`TcpError::NotOpen`], or why the connection ended.
    pub fn tcp_writable(&mut self, connection: ConnectionId) -> Result<usize, TcpError> {
        self.modules.tcp.room(&self.core.buf, connection)
    }

    /// Room for `len` bytes at the end of the send buffer, in one piece, to be written by the application: no byte is copied
    /// between that and the device's frame. [`tcp_commit`](Self::tcp_commit) sends what was written. Room that was reserved
    /// before and not committed is given back; so it is by [`tcp_send`](Self::tcp_send).
    ///
    /// # Errors
    ///
    /// [`TcpError::TooLong`] if the send buffer is never that large, [`TcpError::WouldBlock`] if there is no room in it now,
    /// [`TcpError::NoRoom`], [`TcpError::ShutDown`], [`TcpError::NotOpen`], or why the connection ended.
    pub fn tcp_reserve(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        len: usize,
        sink: &mut impl Sink,
    ) -> Result<&mut [u8], TcpError> {
        self.tcp_call(now, sink, |tcp, cx| tcp.reserve(cx, connection, len))?;
        self.modules.tcp.reserved(&mut self.core.buf, connection)
    }

    /// Sends the first `len` of the bytes that were reserved; the others are given back.
    ///
    /// # Errors
    ///
    /// [`TcpError::TooLong`] if fewer are reserved, [`TcpError::ShutDown`], [`TcpError::NotOpen`], or why the connection
    /// ended.
    pub fn tcp_commit(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        len: usize,
        sink: &mut impl Sink,
    ) -> Result<(), TcpError> {
        self.tcp_call(now, sink, |tcp, cx| tcp.commit(cx, connection, len))
    }

    /// Copies what came in into `out` and takes it away; says how many bytes. 0 bytes: the peer has sent all, unless `out` is
    /// empty.
    ///
    /// # Errors
    ///
    /// [`TcpError::WouldBlock`] if nothing is there, [`TcpError::NotOpen`], or why the connection ended, when everything
    /// that came before was taken.
    pub fn tcp_recv(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        out: &mut [u8],
        sink: &mut impl Sink,
    ) -> Result<usize, TcpError> {
        self.tcp_call(now, sink, |tcp, _| tcp.recv(connection, out))
    }

    /// What came in, where it lies, as far as that is in one piece; [`tcp_consume`](Self::tcp_consume) takes it away. Empty:
    /// the peer has sent all.
    ///
    /// # Errors
    ///
    /// As [`tcp_recv`](Self::tcp_recv).
    pub fn tcp_peek(&mut self, connection: ConnectionId) -> Result<&[u8], TcpError> {
        self.modules.tcp.peek(connection)
    }

    /// Takes the first `len` bytes of what came in away, so that the peer may send more.
    ///
    /// # Errors
    ///
    /// [`TcpError::NotOpen`].
    pub fn tcp_consume(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        len: usize,
        sink: &mut impl Sink,
    ) -> Result<(), TcpError> {
        self.tcp_call(now, sink, |tcp, _| tcp.consume(connection, len))
    }

    /// Nothing more will be sent: the peer gets FIN behind the data. What comes in can still be received.
    ///
    /// # Errors
    ///
    /// [`TcpError::ShutDown`] if that was said before, [`TcpError::NotOpen`], or why the connection ended.
    pub fn tcp_shutdown(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        sink: &mut impl Sink,
    ) -> Result<(), TcpError> {
        self.tcp_call(now, sink, |tcp, cx| tcp.shutdown(cx, connection))
    }

    /// The application is done with the connection, whose handle names nothing any more: what waits to be sent is sent, then
    /// FIN, and the place is free when the peer has said its part. What still comes in is answered with RST.
    ///
    /// # Errors
    ///
    /// [`TcpError::NotOpen`].
    pub fn tcp_close(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        sink: &mut impl Sink,
    ) -> Result<(), TcpError> {
        self.tcp_call(now, sink, |tcp, cx| tcp.close(cx, connection))
    }

    /// Ends the connection at once: what waits is thrown away, and the peer gets RST. The handle names nothing any more.
    ///
    /// # Errors
    ///
    /// [`TcpError::NotOpen`].
    pub fn tcp_abort(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        sink: &mut impl Sink,
    ) -> Result<(), TcpError> {
        self.tcp_call(now, sink, |tcp, cx| tcp.abort(cx, connection))
    }

    /// Whether small segments wait for the acknowledgement of those before (Nagle, RFC 9293 section 3.7.4); at first as
    /// [`TcpConfig::nagle`](crate::tcp::TcpConfig::nagle) says.
    ///
    /// # Errors
    ///
    /// [`TcpError::NotOpen`].
    pub fn tcp_set_nagle(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        on: bool,
        sink: &mut impl Sink,
    ) -> Result<(), TcpError> {
        self.tcp_call(now, sink, |tcp, _| tcp.set_nagle(connection, on))
    }

    /// Whether the peer is probed when the connection is quiet (RFC 9293 section 3.8.4); at first it is not.
    ///
    /// # Errors
    ///
    /// [`TcpError::NotOpen`].
    pub fn tcp_set_keep_alive(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        on: bool,
        sink: &mut impl Sink,
    ) -> Result<(), TcpError> {
        self.tcp_call(now, sink, |tcp, cx| tcp.set_keep_alive(cx.now, connection, on))
    }

    /// The connection, to look at: its state, its ends, why it ended.
    ///
    /// # Errors
    ///
    /// [`TcpError::NotOpen`].
    pub fn tcp_connection(&self, connection: ConnectionId) -> Result<&Connection, TcpError> {
        self.modules.tcp.look(connection)
    }

    /// Calls TCP, and lets it send.
    fn tcp_call<S: Sink, T>(
        &mut self,
        now: Instant,
        sink: &mut S,
        call: impl FnOnce(&mut Tcp<'_>, &mut Cx<'_, '_, S>) -> Result<T, TcpError>,
    ) -> Result<T, TcpError> {
        let (mut cx, modules) = self.parts(now, sink);
        let result = call(&mut modules.tcp, &mut cx);
        modules.pump(&mut cx);
        self.after_step();
        result
    }
}

/// Why there is no way to a destination.
const fn unreachable(reason: Reason) -> TcpError {
    match reason {
        Reason::Ipv6Address => TcpError::Address,
        _ => TcpError::Unreachable,
    }
}
