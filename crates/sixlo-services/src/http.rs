//! An HTTP/1.1 server (RFC 9110, RFC 9112): GET and HEAD, one request after the other over one connection, and the pages of a
//! [`Site`].
//!
//! A request's head is collected in the caller's memory until it is complete and then parsed once; what comes behind it stays in
//! the receive buffer of TCP until the answer is handed over, so that a client that sends request upon request is slowed down
//! by its window.

use sixlo::stack::Stack;
use sixlo::time::Instant;
use sixlo::trace::Sink;

use crate::line::{Input, Line, Outcome};
use crate::services::{Counters, Limits};

mod answer;
mod request;

use answer::Answer;
use request::Collector;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'r> {
    /// The path, as it was sent: it begins with a slash.
    pub path: &'r str,
    /// What stands behind the question mark.
    pub query: &'r str,
}

/// A status line of RFC 9110 section 15, from its number on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub &'static str);

impl Status {
    /// Here it is.
    pub const OK: Self = Self("200 OK");
    /// No request.
    pub const BAD_REQUEST: Self = Self("400 Bad Request");
    /// No such page.
    pub const NOT_FOUND: Self = Self("404 Not Found");
    /// A page is only there to be read.
    pub const METHOD_NOT_ALLOWED: Self = Self("405 Method Not Allowed");
    /// A request line that does not fit the memory.
    pub const URI_TOO_LONG: Self = Self("414 URI Too Long");
    /// A head that does not fit the memory.
    pub const FIELDS_TOO_LARGE: Self = Self("431 Request Header Fields Too Large");
    /// A method that nobody knows.
    pub const NOT_IMPLEMENTED: Self = Self("501 Not Implemented");
    /// Neither HTTP/1.1 nor HTTP/1.0.
    pub const VERSION: Self = Self("505 HTTP Version Not Supported");
}

/// How far a [`Body::Made`] is: the site's own affair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Which body.
    pub what: u32,
    /// How far it is.
    pub at: u32,
}

/// What an answer carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Bytes that lie where they are for ever: TCP sends them from there.
    Lent(&'static [u8]),
    /// Bytes that [`Site::make`] writes while they are sent; so many, where that is known.
    Made(Cursor, Option<u32>),
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: Status,
    /// The media type (RFC 9110 section 8.3).
    pub content_type: &'static str,
    /// The content.
    pub body: Body,
}

impl Response {
    /// The answer that is nothing but a status.
    pub const fn of(status: Status) -> Self {
        Self {
            status,
            content_type: "text/plain",
            body: Body::Lent(status.0.as_bytes()),
        }
    }
}

/// The pages of a server.
pub trait Site {
    /// Bytes that [`make`](Self::make) may always write, unless less is missing of a body of known length.
    const PIECE_LEN: usize = 96;

    /// The answer to a request. What may not be read again is not to be changed: GET is safe (RFC 9110 section 9.2.1).
    fn answer(&mut self, request: &Request<'_>, stack: &Stack<'_>, now: Instant) -> Response;

    /// Writes the next part of a body into `out`, as much as it likes, and moves the cursor. 0 bytes: that was all. It may be
    /// asked for the same part again, where TCP had no room for it.
    fn make(&mut self, cursor: &mut Cursor, stack: &Stack<'_>, now: Instant, out: &mut [u8]) -> usize;

    /// What the site does beside, at each turn; says when it wants the next one.
    fn tick(&mut self, stack: &Stack<'_>, now: Instant) -> Option<Instant> {
        let _ = (stack, now);
        None
    }
}

/// What an exchange needs of the services.
pub(crate) struct Server<'t, T> {
    pub(crate) site: &'t mut T,
    pub(crate) head: &'t mut [u8],
    pub(crate) counters: &'t mut Counters,
    pub(crate) limits: &'t Limits,
}

/// Requests and answers over one connection, and how far they are.
#[derive(Debug)]
pub(crate) enum Exchange {
    /// A request comes in.
    Request(Collector),
    /// An answer goes out.
    Answer(Answer),
    /// All is said; what still comes in is thrown away (RFC 9112 section 9.6).
    Linger,
}

impl Exchange {
    /// Before the first request.
    pub(crate) const NEW: Self = Self::Request(Collector::FIRST);

    /// Between two requests.
    pub(crate) const fn is_idle(&self) -> bool {
        matches!(self, Self::Request(collector) if collector.is_idle())
    }

    /// Takes requests and answers them, until it has to wait.
    pub(crate) fn run<S: Sink, T: Site>(
        &mut self,
        line: &mut Line<'_, '_, S>,
        server: &mut Server<'_, T>,
    ) -> Outcome {
        let mut outcome = Outcome::Waits;
        loop {
            match self {
                Self::Request(collector) => match collector.run(line, server, &mut outcome) {
                    Some(answer) => *self = Self::Answer(answer),
                    None => return outcome,
                },
                Self::Answer(answer) => match answer.run(line, server) {
                    answer::Step::Moved => outcome = Outcome::Moved,
                    answer::Step::Waits => return outcome,
                    answer::Step::Failed => return Outcome::Abort,
                    answer::Step::Done { close: false } => {
                        outcome = Outcome::Moved;
                        *self = Self::Request(Collector::NEXT);
                    }
                    answer::Step::Done { close: true } => {
                        if line.stack.tcp_shutdown(line.now, line.id, line.sink).is_err() {
                            return Outcome::Close;
                        }
                        outcome = Outcome::Until(line.now + server.limits.linger);
                        *self = Self::Linger;
                    }
                },
                Self::Linger => {
                    return match line.discard() {
                        (_, Input::Nothing | Input::Bytes(_)) => outcome,
                        (_, Input::End | Input::Gone) => Outcome::Close,
                    };
                }
            }
        }
    }
}
