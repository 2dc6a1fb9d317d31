//! What the application calls; [`Stack`](crate::stack::Stack) has the same with the present time.

use core::net::Ipv6Addr;

use super::config::TcpConfig;
use super::connection::{Connection, Endpoints};
use super::error::TcpError;
use super::listen::{HalfOpen, Listener};
use super::state::State;
use super::timer::Deadline;
use super::{PORTS_FROM, Path, Tcp};
use crate::ground::Cx;
use crate::netdev::IfaceId;
use crate::pktbuf::PktBuf;
use crate::time::Instant;
use crate::trace::Sink;

/// The handle of a connection. It names nothing any more when the connection is closed by the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    place: u8,
    round: u8,
}

/// The handle of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListenerId {
    place: u8,
    round: u8,
}

impl Tcp<'_> {
    /// Opens a listener on a port of all addresses.
    pub fn listen(&mut self, port: u16, backlog: u8) -> Result<ListenerId, TcpError> {
        if port == 0 {
            return Err(TcpError::PortZero);
        }
        if self.listener_on(port).is_some() {
            return Err(TcpError::InUse);
        }
        let mut places = (0..u8::MAX).zip(self.listeners.iter_mut());
        let (place, listener) = places
            .find(|(_, listener)| listener.port == 0)
            .ok_or(TcpError::NoListener)?;
        let round = listener.round.wrapping_add(1);
        *listener = Listener {
            port,
            backlog: backlog.max(1),
            round,
        };
        Ok(ListenerId { place, round })
    }

    fn listener(&self, id: ListenerId) -> Result<&Listener, TcpError> {
        let listener = self.listeners.get(usize::from(id.place));
        let open = |listener: &&Listener| listener.port != 0 && listener.round == id.round;
        listener.filter(open).ok_or(TcpError::NotOpen)
    }

    /// Closes a listener. Connections that nobody accepted are aborted.
    pub fn close_listener<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: ListenerId,
    ) -> Result<(), TcpError> {
        self.listener(id)?;
        let number = id.place + 1;
        if let Some(listener) = self.listeners.get_mut(usize::from(id.place)) {
            listener.port = 0;
        }
        for entry in self.backlog.iter_mut().filter(|entry| entry.listener == number) {
            *entry = HalfOpen::EMPTY;
        }
        for connection in self.connections.iter_mut() {
            if connection.flags.ready && connection.listener == number {
                connection.abort(cx, None);
            }
        }
        self.wake = true;
        self.changed = true;
        Ok(())
    }

    /// Opens a connection.
    pub fn connect<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        path: &impl Path,
        iface: IfaceId,
        local: (Ipv6Addr, u16),
        remote: (Ipv6Addr, u16),
    ) -> Result<ConnectionId, TcpError> {
        let place = self.free_place().ok_or(TcpError::NoConnection)?;
        let mut ends = Endpoints {
            local: local.0,
            remote: remote.0,
            local_port: local.1,
            remote_port: remote.1,
        };
        if ends.local_port == 0 {
            ends.local_port = self.free_port(cx, &ends).ok_or(TcpError::InUse)?;
        } else if self.find(&ends).is_some() {
            return Err(TcpError::InUse);
        }
        let iss = self.initial_seq(cx.now, &ends);
        let ts_offset = self.stamp_offset(&ends);
        let mss = self.mss_to(path, iface, &ends);
        let Some((connection, _, config)) = self.connection(place) else {
            return Err(TcpError::NoConnection);
        };
        connection.open(ends, iface, iss, mss, config);
        connection.state = State::SynSent;
        connection.ts_offset = ts_offset;
        connection.flags.owned = true;
        connection.flags.output = true;
        connection.end_at = Deadline::at(cx.now + config.connect_timeout);
        let round = connection.round;
        self.wake = true;
        self.changed = true;
        Ok(ConnectionId {
            place: place as u8,
            round,
        })
    }

    /// A port of our own choice between these addresses: one after the other from a random one on (RFC 6056 section 3.3).
    fn free_port<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, ends: &Endpoints) -> Option<u16> {
        let count = u32::from(u16::MAX - PORTS_FROM) + 1;
        self.port = PORTS_FROM + cx.core.rng.below(count) as u16;
        for _ in 0..=self.connections.len() {
            let ends = Endpoints {
                local_port: self.port,
                ..*ends
            };
            if self.find(&ends).is_none() && self.listener_on(self.port).is_none() {
                return Some(self.port);
            }
            self.port = self.port.checked_add(1).unwrap_or(PORTS_FROM);
        }
        None
    }

    /// The place of the oldest connection that a listener has and nobody accepted.
    pub fn oldest_of(&self, id: ListenerId) -> Result<Option<usize>, TcpError> {
        self.listener(id)?;
        let number = id.place + 1;
        let mut oldest: Option<usize> = None;
        for (place, connection) in self.connections.iter().enumerate() {
            let waits = connection.flags.ready && connection.listener == number;
            let age = |place: usize| self.connections.get(place).map_or(0, |it| it.order);
            if waits && oldest.is_none_or(|oldest| (connection.order.wrapping_sub(age(oldest)) as i8) < 0) {
                oldest = Some(place);
            }
        }
        Ok(oldest)
    }

    /// Accepts it.
    pub fn accept(&mut self, id: ListenerId) -> Result<ConnectionId, TcpError> {
        let place = self.oldest_of(id)?.ok_or(TcpError::WouldBlock)?;
        let connection = self.connections.get_mut(place).ok_or(TcpError::WouldBlock)?;
        connection.flags.ready = false;
        Ok(ConnectionId {
            place: place as u8,
            round: connection.round,
        })
    }

    /// A connection that the application has, and its receive buffer.
    #[cfg_attr(target_os = "none", inline(never))]
    fn owned(&mut self, id: ConnectionId) -> Result<(&mut Connection, &mut [u8], &TcpConfig), TcpError> {
        let named = self.connection(usize::from(id.place));
        named
            .filter(|(it, ..)| it.flags.owned && !it.flags.ready && it.round == id.round)
            .ok_or(TcpError::NotOpen)
    }

    /// A connection, to look at.
    pub fn look(&self, id: ConnectionId) -> Result<&Connection, TcpError> {
        let connection = self.connections.get(usize::from(id.place));
        connection
            .filter(|it| it.flags.owned && it.round == id.round)
            .ok_or(TcpError::NotOpen)
    }

    /// A connection that still takes data to send.
    #[cfg_attr(target_os = "none", inline(never))]
    fn writable(&mut self, id: ConnectionId) -> Result<(&mut Connection, &TcpConfig), TcpError> {
        let (connection, _, config) = self.owned(id)?;
        match connection.error {
            _ if connection.state.may_write() => Ok((connection, config)),
            Some(error) => Err(error),
            None => Err(TcpError::ShutDown),
        }
    }

    /// Copies data to send.
    pub fn send<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: ConnectionId,
        bytes: &[u8],
    ) -> Result<usize, TcpError> {
        let (connection, config) = self.writable(id)?;
        if bytes.is_empty() {
            return Ok(0);
        }
        let n = connection.write(cx, config, bytes)?;
        connection.flags.output = true;
        self.wake = true;
        Ok(n)
    }

    /// Bytes that may still be handed over.
    pub fn room(&mut self, buf: &PktBuf<'_>, id: ConnectionId) -> Result<usize, TcpError> {
        let (connection, config) = self.writable(id)?;
        Ok(connection.send_room(buf, config))
    }

    /// Sends data that the application lends for ever.
    pub fn lend<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: ConnectionId,
        bytes: &'static [u8],
    ) -> Result<usize, TcpError> {
        let (connection, _) = self.writable(id)?;
        if bytes.is_empty() {
            return Ok(0);
        }
        let n = connection.lend(cx, bytes)?;
        connection.flags.output = true;
        self.wake = true;
        Ok(n)
    }

    /// Reserves room to write into.
    pub fn reserve<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: ConnectionId,
        n: usize,
    ) -> Result<(), TcpError> {
        let (connection, config) = self.writable(id)?;
        if n > usize::from(config.send_buffer) {
            return Err(TcpError::TooLong);
        }
        if n > connection.send_room(&cx.core.buf, config) {
            return Err(TcpError::WouldBlock);
        }
        connection.reserve(cx, n)
    }

    /// The room that was reserved.
    pub fn reserved<'b>(
        &mut self,
        buf: &'b mut PktBuf<'_>,
        id: ConnectionId,
    ) -> Result<&'b mut [u8], TcpError> {
        self.look(id)?.reserved_bytes(buf).ok_or(TcpError::NoRoom)
    }

    /// Sends the first `n` of the reserved bytes.
    pub fn commit<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: ConnectionId,
        n: usize,
    ) -> Result<(), TcpError> {
        let (connection, _) = self.writable(id)?;
        if n > usize::from(connection.reserved) {
            return Err(TcpError::TooLong);
        }
        connection.cut_reserved(cx, n as u16);
        connection.flags.output = true;
        self.wake = true;
        Ok(())
    }

    /// What came in and was not taken, as far as it lies in one piece. Empty: the peer has sent all.
    pub fn peek(&mut self, id: ConnectionId) -> Result<&[u8], TcpError> {
        let (connection, storage, _) = self.owned(id)?;
        if !connection.receive.is_empty() {
            return Ok(connection.receive.peek(storage));
        }
        match (connection.state, connection.error) {
            (_, Some(error)) => Err(error),
            (State::SynSent | State::SynReceived | State::Established, _) => Err(TcpError::WouldBlock),
            (State::FinWait1 | State::FinWait2, _) => Err(TcpError::WouldBlock),
            _ => Ok(&[]),
        }
    }

    /// Takes the first `n` bytes of what came in away.
    pub fn consume(&mut self, id: ConnectionId, n: usize) -> Result<(), TcpError> {
        let (connection, storage, _) = self.owned(id)?;
        connection.receive.consume(storage.len(), n);
        // All that it can cause is that the peer is told of a larger window.
        let opened = connection.window_opened(storage.len());
        connection.flags.output |= opened;
        self.wake |= opened;
        Ok(())
    }

    /// Copies what came in; 0 bytes: the peer has sent all.
    pub fn recv(&mut self, id: ConnectionId, out: &mut [u8]) -> Result<usize, TcpError> {
        let mut filled = 0;
        // Twice: the data may go around the end of the buffer.
        for _ in 0..2 {
            let rest = out.get_mut(filled..).unwrap_or_default();
            let copied = match self.peek(id) {
                Ok(piece) => crate::wire::copy(rest, piece),
                Err(_) if filled > 0 => 0,
                Err(error) => return Err(error),
            };
            if copied == 0 {
                break;
            }
            self.consume(id, copied)?;
            filled += copied;
        }
        Ok(filled)
    }

    /// Nothing more will be sent: FIN goes out behind the data.
    pub fn shutdown<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: ConnectionId) -> Result<(), TcpError> {
        let (connection, ..) = self.owned(id)?;
        connection.shut(cx)?;
        self.wake = true;
        self.changed = true;
        Ok(())
    }

    /// The application is done with the connection; the stack ends it in good order by itself.
    pub fn close<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: ConnectionId) -> Result<(), TcpError> {
        let (connection, storage, config) = self.owned(id)?;
        let _open = connection.shut(cx);
        connection.flags.owned = false;
        // Nobody will read it, and the peer's FIN may need the room.
        let unread = connection.receive.len();
        connection.receive.consume(storage.len(), unread);
        if !matches!(connection.state, State::TimeWait | State::SynReceived) {
            connection.end_at = Deadline::NONE;
        }
        if connection.state == State::FinWait2 {
            connection.end_at = Deadline::at(cx.now + config.fin_wait_2_timeout);
        }
        self.wake = true;
        self.changed = true;
        Ok(())
    }

    /// Whether small segments wait for the acknowledgement of those before (RFC 9293 section 3.7.4).
    pub fn set_nagle(&mut self, id: ConnectionId, on: bool) -> Result<(), TcpError> {
        let (connection, ..) = self.owned(id)?;
        connection.flags.no_delay = !on;
        connection.flags.output |= connection.state != State::Closed;
        self.wake = true;
        Ok(())
    }

    /// Whether the connection is probed when it is quiet (RFC 9293 section 3.8.4).
    pub fn set_keep_alive(&mut self, now: Instant, id: ConnectionId, on: bool) -> Result<(), TcpError> {
        let (connection, _, config) = self.owned(id)?;
        if connection.flags.keep_alive
            && !on
            && connection.state.is_synchronized()
            && connection.state != State::TimeWait
        {
            connection.end_at = Deadline::NONE;
        }
        connection.flags.keep_alive = on;
        connection.heard(now, config);
        self.changed = true;
        Ok(())
    }

    /// Ends the connection at once, with a RST to the peer.
    pub fn abort<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: ConnectionId) -> Result<(), TcpError> {
        let (connection, ..) = self.owned(id)?;
        connection.flags.owned = false;
        connection.abort(cx, Some(TcpError::Aborted));
        self.wake = true;
        self.changed = true;
        Ok(())
    }
}

impl Connection {
    /// CLOSE of RFC 9293 section 3.10.4.
    fn shut<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) -> Result<(), TcpError> {
        self.cut_reserved(cx, 0);
        match self.state {
            State::SynSent => self.finish(cx, Some(TcpError::Aborted)),
            State::SynReceived | State::Established => self.state = self.closing(State::FinWait1),
            State::CloseWait => self.state = self.closing(State::LastAck),
            State::Closed => return Err(self.error.unwrap_or(TcpError::ShutDown)),
            _ => return Err(TcpError::ShutDown),
        }
        Ok(())
    }

    /// In SYN-RECEIVED the FIN waits for the connection (RFC 9293 section 3.10.4).
    fn closing(&mut self, next: State) -> State {
        self.flags.output = true;
        if self.state == State::SynReceived {
            self.flags.shut = true;
            self.state
        } else {
            next
        }
    }

    /// Ends it, and lets the peer know where it knows of it (RFC 9293 section 3.10.5).
    pub(super) fn abort<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, error: Option<TcpError>) {
        let known = !matches!(self.state, State::Closed | State::SynSent | State::TimeWait);
        self.finish(cx, error);
        self.flags.reset = known;
        self.flags.output = known;
    }

    /// The state.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Addresses and ports.
    pub const fn endpoints(&self) -> &Endpoints {
        &self.ends
    }

    /// Why it ended, if it did otherwise than in good order.
    pub const fn error(&self) -> Option<TcpError> {
        self.error
    }

    /// Bytes of data in a full segment.
    pub const fn mss(&self) -> u16 {
        self.mss
    }

    /// Bytes that came in and wait for the application.
    pub const fn readable(&self) -> usize {
        self.receive.len()
    }

    /// What congestion control knows.
    pub const fn congestion(&self) -> &crate::congure::Congestion {
        &self.congestion
    }
}
