//! Requests: their heads are collected, parsed and judged.

use sixlo::trace::Sink;

use super::answer::Answer;
use super::{Request, Response, Server, Site, Status};
use crate::line::{Input, Line, Outcome};

/// Fields that a head has at most; a browser's has about fifteen.
const FIELDS_MAX: usize = 32;

/// A head that comes in.
#[derive(Debug)]
pub(crate) struct Collector {
    /// Bytes that were collected.
    len: u16,
    /// A byte of a line has come that is not its end.
    in_line: bool,
    /// It is not the first one of its connection.
    again: bool,
}

impl Collector {
    /// Before the first request of a connection.
    pub(crate) const FIRST: Self = Self {
        len: 0,
        in_line: false,
        again: false,
    };

    /// Before another request.
    pub(crate) const NEXT: Self = Self {
        again: true,
        ..Self::FIRST
    };

    /// The client has had an answer and has not asked again.
    pub(crate) const fn is_idle(&self) -> bool {
        self.again && !self.has_begun()
    }

    const fn has_begun(&self) -> bool {
        self.len > 0
    }

    /// Collects what has come; gives the answer once the head is complete, or can never be. `None` with an outcome else.
    pub(crate) fn run<S: Sink, T: Site>(
        &mut self,
        line: &mut Line<'_, '_, S>,
        server: &mut Server<'_, T>,
        outcome: &mut Outcome,
    ) -> Option<Answer> {
        loop {
            let had_begun = self.has_begun();
            let (taken, complete) = match line.input() {
                Input::Bytes(bytes) => self.collect(bytes, server.head),
                Input::Nothing => return None,
                // A head that was cut off is no request (RFC 9112 section 8).
                Input::End | Input::Gone => {
                    *outcome = Outcome::Close;
                    return None;
                }
            };
            line.consume(taken);
            if self.again && self.has_begun() && !had_begun {
                *outcome = Outcome::Until(line.now + server.limits.head);
            }
            let head = server.head.get(..usize::from(self.len)).unwrap_or_default();
            let judged = match complete {
                Collected::More => continue,
                Collected::TooLong if head.contains(&b'\n') => Err(Status::FIELDS_TOO_LARGE),
                Collected::TooLong => Err(Status::URI_TOO_LONG),
                Collected::Complete => judge(head),
            };
            let counters = &mut *server.counters;
            counters.requests = counters.requests.wrapping_add(1);
            let answer = match judged {
                Ok(asked) => {
                    let response = server.site.answer(&asked.request, line.stack, line.now);
                    Answer::new(response, asked.manner)
                }
                Err(status) => Answer::new(Response::of(status), Manner::LAST),
            };
            if !answer.is_success() {
                counters.errors = counters.errors.wrapping_add(1);
            }
            return Some(answer);
        }
    }

    /// Copies bytes of a head, up to its end: the first empty line behind another one. Empty lines before the request line are
    /// ignored (RFC 9112 section 2.2). Says how many bytes were taken.
    fn collect(&mut self, bytes: &[u8], head: &mut [u8]) -> (usize, Collected) {
        for (at, &byte) in bytes.iter().enumerate() {
            if !self.has_begun() && matches!(byte, b'\r' | b'\n') {
                continue;
            }
            let Some(place) = head.get_mut(usize::from(self.len)) else {
                return (at, Collected::TooLong);
            };
            *place = byte;
            self.len = match self.len.checked_add(1) {
                Some(len) => len,
                None => return (at, Collected::TooLong),
            };
            match byte {
                b'\n' if !self.in_line => return (at + 1, Collected::Complete),
                b'\n' => self.in_line = false,
                b'\r' => {}
                _ => self.in_line = true,
            }
        }
        (bytes.len(), Collected::More)
    }
}

/// How much of a head is there.
enum Collected {
    More,
    Complete,
    TooLong,
}

/// How an answer is to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// The connection ends with it.
    pub(crate) close: bool,
    /// HEAD: without the content.
    pub(crate) head_only: bool,
    /// HTTP/1.0, which knows no chunks and ends connections unless it is asked not to.
    pub(crate) old: bool,
}

impl Manner {
    /// The last one, because where the next request begins is not known.
    const LAST: Self = Self {
        close: true,
        head_only: false,
        old: false,
    };
}

/// A request that can be answered by the site.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked<'r> {
    pub(super) request: Request<'r>,
    pub(super) manner: Manner,
}

/// Reads a complete head. The error is the status of the last answer.
pub(super) fn judge(head: &[u8]) -> Result<Asked<'_>, Status> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut parsed = httparse::Request::new(&mut fields);
    match parsed.parse(head) {
        Ok(status) if status.is_complete() => {}
        Ok(_) => return Err(Status::BAD_REQUEST),
        Err(httparse::Error::TooManyHeaders) => return Err(Status::FIELDS_TOO_LARGE),
        Err(httparse::Error::Version) => return Err(Status::VERSION),
        Err(_) => return Err(Status::BAD_REQUEST),
    }
    let (Some(method), Some(target), Some(version)) = (parsed.method, parsed.path, parsed.version) else {
        return Err(Status::BAD_REQUEST);
    };
    let old = version == 0;
    let (mut hosts, mut close, mut keep) = (0, false, false);
    let mut content = false;
    for field in parsed.headers.iter() {
        let is = |name: &str| field.name.eq_ignore_ascii_case(name);
        if is("host") {
            hosts += 1;
        } else if is("connection") {
            close |= has_token(field.value, b"close");
            keep |= has_token(field.value, b"keep-alive");
        } else if is("transfer-encoding") || is("content-length") && field.value != b"0" {
            content = true;
        }
    }
    // RFC 9112 section 3.2: exactly one, in HTTP/1.1.
    if hosts > 1 || hosts == 0 && !old {
        return Err(Status::BAD_REQUEST);
    }
    // RFC 9110 section 9.1.
    match method {
        "GET" | "HEAD" => {}
        "POST" | "PUT" | "DELETE" | "CONNECT" | "OPTIONS" | "TRACE" | "PATCH" => {
            return Err(Status::METHOD_NOT_ALLOWED);
        }
        _ => return Err(Status::NOT_IMPLEMENTED),
    }
    // Content of GET means nothing, and it may be an attempt to smuggle a request (RFC 9110 section 9.3.1).
    if content {
        return Err(Status::BAD_REQUEST);
    }
    let (path, query) = split(target).ok_or(Status::BAD_REQUEST)?;
    Ok(Asked {
        request: Request { path, query },
        manner: Manner {
            close: close || old && !keep,
            head_only: method == "HEAD",
            old,
        },
    })
}

/// Whether a list of tokens has this one (RFC 9110 section 5.6.1).
fn has_token(list: &[u8], token: &[u8]) -> bool {
    let mut tokens = list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    tokens.any(|it| it.eq_ignore_ascii_case(token))
}

/// Path and query of a target, which may be a whole URI (RFC 9112 section 3.2.2).
fn split(target: &str) -> Option<(&str, &str)> {
    let origin = match target.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => match rest.find(['/', '?']) {
            Some(at) => rest.get(at..)?,
            None => "/",
        },
        _ => target,
    };
    let (path, query) = origin.split_once('?').unwrap_or((origin, ""));
    match path {
        "" if !query.is_empty() || origin != target => Some(("/", query)),
        _ => path.starts_with('/').then_some((path, query)),
    }
}
