//! The services of a node, and the turn in which they run.

use sixlo::sock::{self, MailboxId};
use sixlo::stack::Stack;
use sixlo::tcp::{ListenerId, TcpError};
use sixlo::time::{Duration, Instant};
use sixlo::trace::Sink;

use crate::datagrams;
use crate::http::{Exchange, Server, Site};
use crate::line::{Line, Outcome};
use crate::room::{Conversation, Memory, Talk};
use crate::streams;

/// A service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Datagrams go back to where they came from (RFC 862).
    UdpEcho,
    /// Datagrams are thrown away (RFC 863).
    UdpDiscard,
    /// Datagrams are answered with characters, as many as they have bytes (RFC 864 with less).
    UdpSource,
    /// What comes in goes back (RFC 862).
    TcpEcho,
    /// What comes in is thrown away (RFC 863).
    TcpDiscard,
    /// Characters without end (RFC 864).
    TcpSource,
    /// HTTP/1.1 (RFC 9110, RFC 9112).
    Http,
}

impl Service {
    /// All services.
    pub const ALL: [Self; 7] = [
        Self::UdpEcho,
        Self::UdpDiscard,
        Self::UdpSource,
        Self::TcpEcho,
        Self::TcpDiscard,
        Self::TcpSource,
        Self::Http,
    ];

    /// The port that belongs to it (the registry of IANA).
    pub const fn port(self) -> u16 {
        match self {
            Self::UdpEcho | Self::TcpEcho => 7,
            Self::UdpDiscard | Self::TcpDiscard => 9,
            Self::UdpSource | Self::TcpSource => 19,
            Self::Http => 80,
        }
    }

    /// Whether it runs over UDP.
    pub const fn is_udp(self) -> bool {
        matches!(self, Self::UdpEcho | Self::UdpDiscard | Self::UdpSource)
    }

    /// A conversation with somebody who has just connected.
    const fn talk(self) -> Talk {
        match self {
            Self::Http => Talk::Http(Exchange::NEW),
            Self::TcpDiscard => Talk::Discard,
            Self::TcpSource => Talk::Source(0),
            _ => Talk::Echo,
        }
    }
}

/// How long clients may take. Whoever takes longer is cut off, so that others get the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To the end of an HTTP request's head: the first one of a connection from its beginning on, others from their first byte
    /// on.
    pub head: Duration,
    /// Without a byte either way: between two requests of HTTP, while an answer or an echo is not read.
    pub idle: Duration,
    /// After the last answer of HTTP, for the client's end (RFC 9112 section 9.6).
    pub linger: Duration,
    /// Datagrams that wait in a socket at most.
    pub datagrams: u16,
    /// Connections that wait to be served at most, by service.
    pub backlog: u8,
}

impl Limits {
    /// Half a minute for a head, one of silence, five seconds for an end; two datagrams and two connections wait.
    pub const DEFAULT: Self = Self {
        head: Duration::from_secs(30),
        idle: Duration::from_secs(60),
        linger: Duration::from_secs(5),
        datagrams: 2,
        backlog: 2,
    };
}

/// What the services have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams that came in.
    pub datagrams: u32,
    /// Of these, those that were not answered though the service answers: from a port of a server, to a group, longer than
    /// the scratch memory, or with no room for the answer.
    pub unanswered: u32,
    /// Connections that were served.
    pub connections: u32,
    /// Connections that were ended because nothing moved for too long.
    pub timed_out: u32,
    /// Connections that were ended between two requests because others waited.
    pub displaced: u32,
    /// Requests of HTTP that were answered.
    pub requests: u32,
    /// Requests of HTTP that were answered with an error.
    pub errors: u32,
}

/// Why a service was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOpened {
    /// It is open.
    Twice,
    /// The stack gives no socket.
    Udp(sock::OpenError),
    /// The stack gives no listener.
    Tcp(TcpError),
}

/// Where a service is reached.
#[derive(Clone, Copy, Debug)]
enum Door {
    Udp(MailboxId, u16),
    Tcp(ListenerId),
}

/// The services of a node. The pages of its HTTP server are those of `T`.
pub struct Services<'a, T> {
    memory: Memory<'a>,
    site: T,
    limits: Limits,
    counters: Counters,
    doors: [Option<Door>; Service::ALL.len()],
}

impl<'a, T: Site> Services<'a, T> {
    /// Services over memory of the caller, none of them open.
    pub fn new(memory: Memory<'a>, site: T) -> Self {
        for conversation in memory.conversations.iter_mut() {
            *conversation = Conversation::EMPTY;
        }
        Self {
            memory,
            site,
            limits: Limits::DEFAULT,
            counters: Counters::default(),
            doors: [None; Service::ALL.len()],
        }
    }

    /// The same with other limits.
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Opens a service on a port, of all addresses of the node. It takes a socket of the stack, or a listener.
    ///
    /// # Errors
    ///
    /// If it is open, or the stack has no place left.
    pub fn open(&mut self, stack: &mut Stack<'_>, service: Service, port: u16) -> Result<(), NotOpened> {
        let Some(place) = self
            .doors
            .get_mut(service as usize)
            .filter(|place| place.is_none())
        else {
            return Err(NotOpened::Twice);
        };
        *place = Some(if service.is_udp() {
            let socket = stack.udp_bind(port, self.limits.datagrams);
            Door::Udp(socket.map_err(NotOpened::Udp)?, port)
        } else {
            let listener = stack.tcp_listen(port, self.limits.backlog);
            Door::Tcp(listener.map_err(NotOpened::Tcp)?)
        });
        Ok(())
    }

    /// What was counted.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Connections that are served now.
    pub fn conversations(&self) -> usize {
        self.memory
            .conversations
            .iter()
            .filter(|it| it.id.is_some())
            .count()
    }

    /// The pages.
    pub const fn site(&mut self) -> &mut T {
        &mut self.site
    }

    /// Ends all conversations with RST, closes all services and gives the memory back.
    pub fn close(self, stack: &mut Stack<'_>, now: Instant, sink: &mut impl Sink) -> Memory<'a> {
        for conversation in self.memory.conversations.iter_mut() {
            if let Some(id) = conversation.id.take() {
                // It may have ended by itself.
                let _ = stack.tcp_abort(now, id, sink);
            }
        }
        for door in self.doors.into_iter().flatten() {
            match door {
                Door::Udp(socket, _) => {
                    stack.close(now, socket, sink);
                }
                Door::Tcp(listener) => {
                    let _ = stack.tcp_close_listener(now, listener, sink);
                }
            }
        }
        self.memory
    }

    /// Does what can be done now, and says when it wants to be called though the stack has nothing new: to cut off who takes
    /// too long. To be called after each [`Stack::poll`]; afterwards [`Stack::next_deadline`] is to be asked again. Early and
    /// repeated calls are safe.
    pub fn turn(&mut self, stack: &mut Stack<'_>, now: Instant, sink: &mut impl Sink) -> Option<Instant> {
        for (service, door) in Service::ALL.into_iter().zip(&self.doors) {
            if let Some(Door::Udp(socket, port)) = *door {
                let (scratch, counters) = (&mut *self.memory.scratch, &mut self.counters);
                datagrams::serve(stack, now, sink, (service, socket, port), scratch, counters);
            }
        }
        for place in 0..self.memory.conversations.len() {
            self.run(place, stack, now, sink);
        }
        // The stack has only so many.
        while let Some(place) = self.accept(stack, now, sink) {
            self.run(place, stack, now, sink);
        }
        let ends = self.memory.conversations.iter().filter(|it| it.id.is_some());
        ends.map(|it| it.until).chain(self.site.tick(stack, now)).min()
    }

    /// Takes a connection that waits, where there is a place for it.
    fn accept(&mut self, stack: &mut Stack<'_>, now: Instant, sink: &mut impl Sink) -> Option<usize> {
        let place = self.place()?;
        let mut doors = Service::ALL.into_iter().zip(&self.doors);
        let (service, id) = doors.find_map(|(service, door)| match door {
            Some(Door::Tcp(listener)) => stack.tcp_accept(*listener).ok().map(|id| (service, id)),
            _ => None,
        })?;
        let conversation = self.memory.conversations.get_mut(place)?;
        if let Some(displaced) = conversation.id.take() {
            self.counters.displaced = self.counters.displaced.wrapping_add(1);
            let _ = stack.tcp_close(now, displaced, sink);
        }
        self.counters.connections = self.counters.connections.wrapping_add(1);
        *conversation = Conversation {
            id: Some(id),
            talk: service.talk(),
            until: match service {
                Service::Http => now + self.limits.head,
                _ => now + self.limits.idle,
            },
        };
        Some(place)
    }

    /// A place for one more: a free one, or that of the client that has been between two requests for longest (RFC 9112
    /// section 9.5 lets a server close such a connection at any time).
    fn place(&self) -> Option<usize> {
        let all = || self.memory.conversations.iter().enumerate();
        let free = all().find(|(_, it)| it.id.is_none());
        let idle = || {
            let idle = all().filter(|(_, it)| matches!(&it.talk, Talk::Http(exchange) if exchange.is_idle()));
            idle.min_by_key(|(_, it)| it.until)
        };
        free.or_else(idle).map(|(place, _)| place)
    }

    /// Runs a conversation.
    fn run(&mut self, place: usize, stack: &mut Stack<'_>, now: Instant, sink: &mut impl Sink) {
        let heads_each = self.memory.heads.len() / self.memory.conversations.len().max(1);
        let head = self
            .memory
            .heads
            .get_mut(place * heads_each..(place + 1) * heads_each);
        let Some(conversation) = self.memory.conversations.get_mut(place) else {
            return;
        };
        let Some(id) = conversation.id else {
            return;
        };
        let mut line = Line {
            stack,
            id,
            now,
            sink,
            scratch: self.memory.scratch,
        };
        let outcome = match &mut conversation.talk {
            Talk::Echo => streams::echo(&mut line),
            Talk::Discard => streams::discard(&mut line),
            Talk::Source(at) => streams::source(&mut line, at),
            Talk::Http(exchange) => {
                let mut server = Server {
                    site: &mut self.site,
                    head: head.unwrap_or_default(),
                    counters: &mut self.counters,
                    limits: &self.limits,
                };
                exchange.run(&mut line, &mut server)
            }
        };
        let ended = match outcome {
            Outcome::Waits if now < conversation.until => return,
            Outcome::Moved => {
                conversation.until = now + self.limits.idle;
                return;
            }
            Outcome::Until(until) => {
                conversation.until = until;
                return;
            }
            Outcome::Close => stack.tcp_close(now, id, sink),
            Outcome::Abort => stack.tcp_abort(now, id, sink),
            // What was handed over may still be under way: TCP brings it to its end.
            Outcome::Waits => {
                self.counters.timed_out = self.counters.timed_out.wrapping_add(1);
                stack.tcp_close(now, id, sink)
            }
        };
        debug_assert_eq!(
            ended,
            Ok(()),
            "a conversation has its connection until it ends it"
        );
        conversation.id = None;
    }
}
