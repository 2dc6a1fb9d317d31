//! The least of a web server that the page needs, and no more than a visitor may take.
//!
//! `httparse` reads requests; the rest is here, because what matters is its bounds: how many connections there are, how long each may
//! take for its request and for taking an answer, and how large a request may be. A connection is a thread and one request. So
//! nothing that visitors do, or fail to do, holds anything up but themselves.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What visitors may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at the same time; more are closed at once.
    pub connections: usize,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    /// Bytes of its body.
    pub body_bytes: usize,
    /// Time for the whole request.
    pub request: Duration,
    /// Time without any progress of the answer.
    pub stall: Duration,
}

impl Limits {
    /// As they are where nothing else is said.
    pub const USUAL: Self = Self {
        connections: 64,
        head_bytes: 8 * 1024,
        body_bytes: 4 * 1024,
        request: Duration::from_secs(5),
        stall: Duration::from_secs(10),
    };
}

/// Header fields of a request.
const FIELDS_MAX: usize = 64;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// It wants something changed: the method was POST, not GET.
    pub is_post: bool,
    /// Without the question mark and what follows it.
    pub path: String,
    /// Behind the question mark.
    pub query: String,
    /// What a POST brings.
    pub body: Vec<u8>,
}

impl Request {
    /// A number in the query.
    pub fn number(&self, key: &str) -> Option<u64> {
        let mut words = self.query.split('&').filter_map(|word| word.split_once('='));
        words.find(|(name, _)| *name == key)?.1.parse().ok()
    }
}

/// What is answered.
pub enum Answer {
    /// All at once.
    Whole {
        /// The status.
        status: u16,
        /// The media type.
        media: &'static str,
        /// The body.
        body: Vec<u8>,
    },
    /// Server-sent events (HTML, section 9.2), a line each, for as long as there are any.
    Events(Box<dyn Iterator<Item = Event> + Send>),
}

/// A server-sent event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A line.
    Line(Arc<str>),
    /// Nothing; keeps the connection alive.
    Nothing,
}

impl Answer {
    /// A short text for people.
    pub fn text(status: u16, text: &str) -> Self {
        Self::Whole {
            status,
            media: "text/plain; charset=utf-8",
            body: format!("{text}\n").into_bytes(),
        }
    }
}

/// Gives answers.
pub trait Site: Send + Sync + 'static {
    /// The answer to a request.
    fn answer(&self, request: &Request) -> Answer;
}

/// Counts what visitors did.
#[derive(Debug, Default)]
pub struct Counts {
    open: AtomicUsize,
    refused: AtomicUsize,
}

impl Counts {
    /// Connections that are open.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Connections that were closed at once because there were too many.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }
}

/// Answers all who come, on threads of its own, until the program ends.
///
/// # Errors
///
/// If no thread can be made, or the listener has no address.
pub fn serve(listener: TcpListener, site: Arc<dyn Site>, limits: Limits) -> io::Result<Arc<Counts>> {
    let counts = Arc::new(Counts::default());
    let counting = Arc::clone(&counts);
    let port = listener.local_addr()?.port();
    thread::Builder::new().name("web".to_owned()).spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of file descriptors, perhaps: others have to go first.
                thread::sleep(Duration::from_millis(50));
                continue;
            };
            visit(stream, port, &site, &counting, limits);
        }
    })?;
    Ok(counts)
}

/// Lets a visitor in on a thread of its own, if there is room.
fn visit(stream: TcpStream, port: u16, site: &Arc<dyn Site>, counts: &Arc<Counts>, limits: Limits) {
    if counts.open() >= limits.connections {
        counts.refused.fetch_add(1, Ordering::Relaxed);
        return;
    }
    counts.open.fetch_add(1, Ordering::Relaxed);
    let guard = Leaves(Arc::clone(counts));
    let site = Arc::clone(site);
    // A visitor who goes away or misbehaves is no matter for anyone else; without a thread the guard counts down.
    let _ = thread::Builder::new()
        .name("web visitor".to_owned())
        .spawn(move || {
            let _guard = guard;
            let _ = converse(&stream, port, &*site, &limits);
        });
}

/// Counts a visitor as gone, whatever happened.
struct Leaves(Arc<Counts>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

fn converse(stream: &TcpStream, port: u16, site: &dyn Site, limits: &Limits) -> io::Result<()> {
    stream.set_write_timeout(Some(limits.stall))?;
    // Events are small, and each is to be seen at once.
    stream.set_nodelay(true)?;
    let answer = match read_request(stream, port, limits)? {
        Ok(request) => site.answer(&request),
        Err(refusal) => refusal,
    };
    let whole = matches!(answer, Answer::Whole { .. });
    write_answer(stream, answer)?;
    if whole {
        hang_up(stream, limits)?;
    }
    Ok(())
}

/// Closes so that the answer arrives though the visitor may still be sending.
fn hang_up(mut stream: &TcpStream, limits: &Limits) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let until = Instant::now() + limits.request;
    let mut rest = [0; 4096];
    for _ in 0..256 {
        let Some(left) = left(until) else { break };
        stream.set_read_timeout(Some(left))?;
        if stream.read(&mut rest)? == 0 {
            break;
        }
    }
    Ok(())
}

/// The time until a deadline, none if it has passed.
fn left(until: Instant) -> Option<Duration> {
    until
        .checked_duration_since(Instant::now())
        .filter(|left| !left.is_zero())
}

/// Reads a request. What cannot be answered is refused with the answer that says so.
fn read_request(stream: &TcpStream, port: u16, limits: &Limits) -> io::Result<Result<Request, Answer>> {
    let until = Instant::now() + limits.request;
    let mut bytes = Vec::new();
    loop {
        if bytes.len() > limits.head_bytes {
            return Ok(Err(Answer::text(431, "the head of the request is too long")));
        }
        if read_some(stream, until, &mut bytes)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut head = httparse::Request::new(&mut fields);
        let len = match head.parse(&bytes) {
            Ok(httparse::Status::Complete(len)) => len,
            Ok(httparse::Status::Partial) => continue,
            Err(_) => return Ok(Err(Answer::text(400, "this is no request of HTTP/1.1"))),
        };
        let (mut request, body_len) = match understood(&head, port, limits) {
            Ok(understood) => understood,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut body = bytes.split_off(len);
        while body.len() < body_len {
            if read_some(stream, until, &mut body)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        body.truncate(body_len);
        request.body = body;
        return Ok(Ok(request));
    }
}

fn read_some(mut stream: &TcpStream, until: Instant, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let left = left(until).ok_or(io::ErrorKind::TimedOut)?;
    stream.set_read_timeout(Some(left))?;
    let mut some = [0; 2048];
    let len = stream.read(&mut some)?;
    bytes.extend_from_slice(&some[..len]);
    Ok(len)
}

/// A request without its body, and how long that is.
fn understood(
    head: &httparse::Request<'_, '_>,
    port: u16,
    limits: &Limits,
) -> Result<(Request, usize), Answer> {
    let field = |name: &str| {
        let mut of_name = head
            .headers
            .iter()
            .filter(|field| field.name.eq_ignore_ascii_case(name));
        let value = of_name.next().map(|field| field.value.trim_ascii());
        match of_name.next() {
            // Twice means that someone wants two readers to read different things.
            Some(_) => Err(Answer::text(400, "a field of the head stands there twice")),
            None => Ok(value),
        }
    };
    let is_post = match head.method {
        Some("GET") => false,
        Some("POST") => true,
        _ => return Err(Answer::text(405, "only GET and POST are known here")),
    };
    let host = field("host")?
        .and_then(|host| std::str::from_utf8(host).ok())
        .unwrap_or_default();
    if !is_own_host(host, port) {
        return Err(Answer::text(
            421,
            "this server answers to its IP address and to localhost only",
        ));
    }
    let mut body_len = 0;
    if field("transfer-encoding")?.is_some() {
        return Err(Answer::text(411, "a body needs a Content-Length"));
    }
    if let Some(len) = field("content-length")? {
        let digits = len.iter().all(u8::is_ascii_digit) && !len.is_empty();
        let len = std::str::from_utf8(len).ok().filter(|_| digits);
        let Some(len) = len else {
            return Err(Answer::text(400, "the Content-Length is no number"));
        };
        body_len = len.parse().unwrap_or(usize::MAX);
    }
    if body_len > limits.body_bytes {
        return Err(Answer::text(413, "the body is too large"));
    }
    if is_post {
        // A page of another site may have a browser send a POST, but not with this origin nor, unasked, as JSON.
        let own = format!("http://{host}");
        if field("origin")? != Some(own.as_bytes()) {
            return Err(Answer::text(403, "only the page of this server may ask for that"));
        }
        if field("content-type")? != Some(b"application/json") {
            return Err(Answer::text(415, "what is asked for must be application/json"));
        }
    }
    let target = head.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let request = Request {
        is_post,
        path: path.to_owned(),
        query: query.to_owned(),
        body: Vec::new(),
    };
    Ok((request, body_len))
}

/// Whether a visitor means this server by its address, or by `localhost`. Any other name may have been made to lead here by whoever
/// owns it, so that a page of theirs gets at this server (DNS rebinding).
fn is_own_host(host: &str, port: u16) -> bool {
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.port() == port;
    }
    // Without a port it is that of HTTP.
    let (name, of_host) = host.split_once(':').unwrap_or((host, "80"));
    of_host.parse() == Ok(port) && (name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok())
}

/// What a browser may do with an answer: nothing beyond this server, not in a frame, and not kept.
const GUARD: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: default-src 'self'; frame-ancestors 'none'\r\n\
    Connection: close\r\n";

fn write_answer(mut stream: &TcpStream, answer: Answer) -> io::Result<()> {
    match answer {
        Answer::Whole { status, media, body } => {
            let (name, len) = (reason(status), body.len());
            let head = format!(
                "HTTP/1.1 {status} {name}\r\nContent-Type: {media}\r\nContent-Length: {len}\r\n{GUARD}\r\n"
            );
            stream.write_all(head.as_bytes())?;
            stream.write_all(&body)
        }
        Answer::Events(events) => {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{GUARD}\r\n");
            stream.write_all(head.as_bytes())?;
            for event in events {
                match event {
                    Event::Line(line) => stream.write_all(format!("data: {line}\n\n").as_bytes())?,
                    Event::Nothing => stream.write_all(b":\n\n")?,
                }
            }
            Ok(())
        }
    }
}

/// The phrase of a status (RFC 9110 section 15).
const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests;
