//! TCP (RFC 9293), over IPv6 only.
//!
//! A connection is an entry of a table that the caller lends, and so are listeners and the backlog: connections whose
//! handshake is not over. What comes in waits in a part of the caller's receive memory; what goes out lies in the packet
//! buffer until it is acknowledged, and a segment is a header in front of a window on it, also when it is sent again.
//!
//! Nothing is sent from within the handling of a segment or a timer: they only say that a connection may have something
//! to send, and the dispatcher asks for one segment after the other ([`Tcp::next_segment`]).

use crate::ground::Cx;
use crate::netdev::IfaceId;
use crate::pktbuf::{Pkt, PktBuf};
use crate::rng::Rng;
use crate::time::{Duration, Instant, place_of_earliest};
use crate::trace::{Reason, Sink};
pub use crate::wire::tcp::seq;
use crate::wire::tcp::seq::Seq;
use isn::IsnSource;

mod ack;
mod build;
mod calls;
mod config;
mod connection;
mod ecn;
mod error;
mod errors;
mod expire;
mod input;
pub mod isn;
mod listen;
mod output;
mod predict;
pub mod receive;
mod recovery;
pub mod scoreboard;
mod segment;
mod send;
mod stamps;
mod state;
#[cfg(test)]
mod tests;
mod timer;
mod undo;

pub use calls::{ConnectionId, ListenerId};
pub use config::TcpConfig;
pub use connection::{Connection, Endpoints};
pub use error::TcpError;
pub use listen::{HalfOpen, Listener};
pub use recovery::Recovery;
pub use state::State;

/// Whether TCP is compiled in.
pub(crate) const HERE: bool = cfg!(feature = "tcp");

/// The first of the ports that are chosen for connections of our own (RFC 6335 section 6).
const PORTS_FROM: u16 = 49_152;

/// The time that earns one answer to a segment of no connection.
const RESET_INTERVAL: Duration = Duration::from_millis(100);

/// What TCP asks about the way to a peer.
pub trait Path {
    /// The largest segment between these ends, without options, in bytes.
    fn segment_size(&self, iface: IfaceId, ends: &Endpoints, config: &TcpConfig) -> u16;
}

/// The memory of the module. The length of each slice is a capacity.
pub struct Tables<'a> {
    /// Connections, at most 255.
    pub connections: &'a mut [Connection],
    /// Listeners, at most 255.
    pub listeners: &'a mut [Listener],
    /// Connections that are being opened by peers.
    pub backlog: &'a mut [HalfOpen],
    /// Receive buffers, shared out in equal parts among the connections: at most 65,535 bytes of each are used.
    pub receive: &'a mut [u8],
}

/// The module.
pub struct Tcp<'a> {
    connections: &'a mut [Connection],
    listeners: &'a mut [Listener],
    backlog: &'a mut [HalfOpen],
    receive: &'a mut [u8],
    config: TcpConfig,
    isn: IsnSource,
    /// The port that was chosen last.
    port: u16,
    /// The connection that is asked first for something to send.
    turn: u8,
    /// The order of the last connection that came by a listener.
    order: u8,
    /// Somebody may have something to send.
    wake: bool,
    /// A deadline may have changed.
    changed: bool,
    /// Answers sent of the burst, as far as time has not made up for them, and up to when it was credited.
    spent: u8,
    credited: Instant,
}

impl<'a> Tcp<'a> {
    /// Puts the module together, with nothing open.
    pub fn new(tables: Tables<'a>, config: TcpConfig, rng: &mut Rng) -> Self {
        let Tables {
            connections,
            listeners,
            backlog,
            receive,
        } = tables;
        for connection in connections.iter_mut() {
            *connection = Connection::EMPTY;
        }
        listeners.fill(Listener::EMPTY);
        backlog.fill(HalfOpen::EMPTY);
        Self {
            connections,
            listeners,
            backlog,
            receive,
            config,
            isn: IsnSource::new(rng),
            port: 0,
            turn: 0,
            order: 0,
            wake: false,
            changed: false,
            spent: 0,
            credited: Instant::ZERO,
        }
    }

    /// Gives the tables back.
    pub fn into_tables(self) -> Tables<'a> {
        Tables {
            connections: self.connections,
            listeners: self.listeners,
            backlog: self.backlog,
            receive: self.receive,
        }
    }

    /// How it behaves.
    pub const fn config(&self) -> &TcpConfig {
        &self.config
    }

    /// Changes how it behaves: connections that are open too.
    pub const fn config_mut(&mut self) -> &mut TcpConfig {
        &mut self.config
    }

    /// Whether [`next_segment`](Self::next_segment) may have something.
    pub const fn wants_output(&self) -> bool {
        HERE && self.wake
    }

    /// Whether [`deadline`](Self::deadline) may have changed since this was last asked.
    pub fn deadline_changed(&mut self) -> bool {
        core::mem::take(&mut self.changed)
    }

    /// When [`expire`](Self::expire) wants to be called.
    pub fn deadline(&self) -> Option<Instant> {
        let mut earliest = Instant::NEVER;
        for connection in self.connections.iter() {
            earliest = earliest.min(connection.deadline());
        }
        for entry in self.backlog.iter() {
            earliest = earliest.min(entry.deadline());
        }
        earliest.unless_never()
    }

    /// Ends every packet that is kept here.
    pub fn give_up<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        for connection in self.connections.iter_mut().filter(|_| HERE) {
            connection.drop_data(cx, reason);
        }
    }

    /// Shows every packet that is kept here to an audit.
    pub fn holds(&self, _buf: &PktBuf<'_>, see: &mut dyn FnMut(&Pkt)) {
        for connection in self.connections.iter() {
            if let Some(data) = &connection.data {
                see(data.pkt());
            }
        }
    }

    /// Bytes of receive buffer of each connection.
    fn receive_len(&self) -> usize {
        let part = self.receive.len() / self.connections.len().max(1);
        part.min(usize::from(u16::MAX))
    }

    /// A connection and its receive buffer.
    fn connection(&mut self, place: usize) -> Option<(&mut Connection, &mut [u8], &TcpConfig)> {
        let len = self.receive_len();
        let connection = self.connections.get_mut(place)?;
        let storage = self.receive.get_mut(place * len..)?.get_mut(..len)?;
        Some((connection, storage, &self.config))
    }

    /// The connection between these ends.
    fn find(&self, ends: &Endpoints) -> Option<usize> {
        let open = |connection: &Connection| connection.state != State::Closed && connection.ends == *ends;
        self.connections.iter().position(open)
    }

    /// A place for a connection: a free one, or else that of the connection that only waits for the peer's end and for old
    /// segments, in FIN-WAIT-2 or TIME-WAIT (as FreeBSD), has no application, and has done so longest: else whoever closes
    /// first could not talk to anybody for a minute.
    fn free_place(&self) -> Option<usize> {
        let most = self.connections.len().min(usize::from(u8::MAX));
        let places = self.connections.get(..most)?;
        let waits = |(place, it): (usize, &Connection)| {
            let over = matches!(it.state, State::FinWait2 | State::TimeWait) && !it.flags.owned;
            Some((place, it.end_at.get().filter(|_| over)?))
        };
        let free = places.iter().position(Connection::is_free);
        free.or_else(|| place_of_earliest(places.iter().enumerate().filter_map(waits)))
    }

    /// The initial sequence number of a connection.
    fn initial_seq(&self, now: Instant, ends: &Endpoints) -> Seq {
        self.isn.isn(
            now,
            (ends.local, ends.local_port),
            (ends.remote, ends.remote_port),
        )
    }

    /// What the clock of its timestamps is ahead: other for each pair of endpoints (RFC 7323 section 5.4), and the same for
    /// the next connection between them, so that their timestamps grow from one to the other (RFC 6191).
    fn stamp_offset(&self, ends: &Endpoints) -> u32 {
        // The other way around, so that it does not tell the initial sequence number.
        let (local, remote) = ((ends.local, ends.local_port), (ends.remote, ends.remote_port));
        self.isn.isn(Instant::ZERO, remote, local).0
    }

    /// The largest segment between these ends, without options: what we announce, and the most that we send.
    fn mss_to(&self, path: &impl Path, iface: IfaceId, ends: &Endpoints) -> u16 {
        /// What a packet of 1280 bytes leaves (RFC 9293 section 3.7.1: without options).
        const MOST: u16 = 1220;
        let chosen = match self.config.mss {
            Some(mss) => mss,
            None => path.segment_size(iface, ends, &self.config),
        };
        chosen.clamp(segment::MSS_MIN, MOST)
    }

    /// Takes one answer to a segment of no connection from the bucket (as RFC 4443 section 2.4 (f) has it for errors).
    fn may_answer(&mut self, now: Instant) -> bool {
        while self.spent > 0 && now.since(self.credited) >= RESET_INTERVAL {
            self.spent -= 1;
            self.credited += RESET_INTERVAL;
        }
        if self.spent == 0 {
            self.credited = now;
        }
        let free = self.spent < self.config.reset_burst;
        self.spent += u8::from(free);
        free
    }
}
