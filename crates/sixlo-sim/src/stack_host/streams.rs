//! The applications on a node that transfer data over TCP.

use std::net::Ipv6Addr;

use sixlo::stack::Stack;
use sixlo::tcp::{ConnectionId, ListenerId, TcpError};
use sixlo::time::Instant;
use sixlo::trace::Sink;

use crate::stream::{self, News, Stream};
use crate::time::Time;

/// Bytes that a sender makes at a time.
const CHUNK: usize = 1_024;

/// A connection that sends.
#[derive(Clone, Debug)]
struct Sender {
    stream: u16,
    id: ConnectionId,
    /// Bytes that were not made yet; `None`: without end.
    left: Option<u64>,
    /// Where in the transfer `chunk` begins.
    offset: u64,
    /// What the stack has not taken of the last bytes made.
    chunk: Vec<u8>,
    opened: bool,
    shut: bool,
    /// The round-trip time that was told last.
    round_trip: Option<Time>,
}

/// A connection that receives.
#[derive(Clone, Debug)]
struct Receiver {
    stream: u16,
    id: ConnectionId,
    offset: u64,
}

/// The connections of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    listeners: Vec<ListenerId>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
}

impl Streams {
    /// Opens the listeners of a node.
    pub(super) fn listen(stack: &mut Stack<'_>, ports: &[u16], backlog: u8) -> Self {
        let enough = "the memory is as large as its user asks for";
        Self {
            listeners: ports
                .iter()
                .map(|&port| stack.tcp_listen(port, backlog).expect(enough))
                .collect(),
            ..Self::default()
        }
    }

    /// Opens the connection of a transfer that begins here.
    pub(super) fn open(
        &mut self,
        stack: &mut Stack<'_>,
        now: Instant,
        (number, stream): (u16, &Stream),
        to: Ipv6Addr,
        sink: &mut impl Sink,
    ) -> Result<(), TcpError> {
        let id = stack.tcp_connect_from(now, stream::source_port(number), (to, stream.port), sink)?;
        self.senders.push(Sender {
            stream: number,
            id,
            left: stream.bytes,
            offset: 0,
            chunk: Vec::new(),
            opened: false,
            shut: false,
            round_trip: None,
        });
        Ok(())
    }

    /// Hands over and takes what can be, and tells what is new.
    pub(super) fn pump(
        &mut self,
        stack: &mut Stack<'_>,
        now: Instant,
        sink: &mut impl Sink,
        news: &mut Vec<(u16, News)>,
    ) {
        self.senders.retain_mut(|sender| {
            let ended = sender.push(stack, now, sink, news);
            if ended.is_err() {
                // It is over anyway.
                let _gone = stack.tcp_close(now, sender.id, sink);
            }
            ended.is_ok()
        });
        for &listener in &self.listeners {
            while let Ok(id) = stack.tcp_accept(listener) {
                let connection = stack.tcp_connection(id).expect("it was just accepted");
                match stream::of_port(connection.endpoints().remote_port) {
                    Some(stream) => self.receivers.push(Receiver {
                        stream,
                        id,
                        offset: 0,
                    }),
                    None => drop(stack.tcp_abort(now, id, sink)),
                }
            }
        }
        self.receivers.retain_mut(|receiver| {
            let goes_on = receiver.pull(stack, now, sink, news);
            if !goes_on {
                let _gone = stack.tcp_close(now, receiver.id, sink);
            }
            goes_on
        });
    }
}

impl Sender {
    /// `Err` when it is over.
    fn push(
        &mut self,
        stack: &mut Stack<'_>,
        now: Instant,
        sink: &mut impl Sink,
        news: &mut Vec<(u16, News)>,
    ) -> Result<(), ()> {
        match self.exchange(stack, now, sink) {
            Ok(false) => {}
            Ok(true) => {
                news.push((self.stream, News::Closed));
                return Err(());
            }
            Err(error) => {
                news.push((self.stream, News::Failed(error.name())));
                return Err(());
            }
        }
        let connection = stack.tcp_connection(self.id).map_err(|_| ())?;
        if !self.opened && connection.state().is_synchronized() {
            self.opened = true;
            news.push((self.stream, News::Opened));
        }
        let smoothed = connection.congestion().rtt().smoothed();
        let round_trip = smoothed.map(|rtt| Time::us(rtt.as_micros()));
        if self.opened && self.round_trip != round_trip {
            self.round_trip = round_trip;
            news.push((self.stream, News::RoundTrip(round_trip)));
        }
        Ok(())
    }

    /// Hands data over and looks for the receiver's end: true if it came.
    fn exchange(
        &mut self,
        stack: &mut Stack<'_>,
        now: Instant,
        sink: &mut impl Sink,
    ) -> Result<bool, TcpError> {
        loop {
            if self.chunk.is_empty() {
                self.make();
            }
            if self.chunk.is_empty() {
                break;
            }
            match stack.tcp_send(now, self.id, &self.chunk, sink) {
                Ok(n) => {
                    self.chunk.drain(..n);
                    self.offset += n as u64;
                }
                Err(TcpError::WouldBlock | TcpError::NoRoom | TcpError::NotConnected) => break,
                Err(error) => return Err(error),
            }
        }
        if self.chunk.is_empty() && !self.shut {
            stack.tcp_shutdown(now, self.id, sink)?;
            self.shut = true;
        }
        match stack.tcp_recv(now, self.id, &mut [0; 1], sink) {
            Ok(0) => Ok(true),
            Ok(_) | Err(TcpError::WouldBlock | TcpError::NotConnected) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn make(&mut self) {
        let len = self.left.map_or(CHUNK, |left| left.min(CHUNK as u64) as usize);
        self.chunk.resize(len, 0);
        stream::fill(&mut self.chunk, self.stream, self.offset);
        if let Some(left) = &mut self.left {
            *left -= len as u64;
        }
    }
}

impl Receiver {
    /// False when it is over.
    fn pull(
        &mut self,
        stack: &mut Stack<'_>,
        now: Instant,
        sink: &mut impl Sink,
        news: &mut Vec<(u16, News)>,
    ) -> bool {
        loop {
            let len = match stack.tcp_peek(self.id) {
                Ok([]) => return false,
                Ok(bytes) => {
                    let right = stream::is_right(bytes, self.stream, self.offset);
                    let what = if right {
                        News::Received(bytes.len())
                    } else {
                        News::Wrong
                    };
                    news.push((self.stream, what));
                    bytes.len()
                }
                Err(TcpError::WouldBlock) => return true,
                Err(error) => {
                    news.push((self.stream, News::Failed(error.name())));
                    return false;
                }
            };
            self.offset += len as u64;
            if stack.tcp_consume(now, self.id, len, sink).is_err() {
                return false;
            }
        }
    }
}
