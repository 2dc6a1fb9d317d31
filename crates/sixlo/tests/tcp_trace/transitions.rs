//! Every event in every state, as a table that was reviewed against RFC 9293 section 3.10 and RFC 5961: `transitions.txt`.
//!
//! `UPDATE_TRANSITIONS=1 cargo test -p sixlo --test tcp_trace transition_table` writes it anew; then read what changed.

use std::fmt::Write as _;
use std::path::Path;

use sixlo::stack::Config;
use sixlo::tcp::{State, TcpError};
use sixlo::wire::tcp::Flags;

use crate::tcp::{OWN_PORT, PORT, RECEIVE, Seg, Trace, addr};

/// A row of the table: a state of a connection, and what is known of its numbers.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// No connection, nobody listens.
    Closed,
    /// A listener.
    Listen,
    /// A connection that the peer is opening.
    HalfOpen,
    /// A connection.
    In(State),
}

impl Place {
    fn all() -> impl Iterator<Item = Self> {
        let first = [Self::Closed, Self::Listen, Self::HalfOpen];
        let rest = State::ALL.into_iter().filter(|state| *state != State::Closed);
        first.into_iter().chain(rest.map(Self::In))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::Listen => "LISTEN",
            Self::HalfOpen => "SYN-RECEIVED (the peer opened)",
            Self::In(State::SynReceived) => "SYN-RECEIVED (both opened)",
            Self::In(state) => state.name(),
        }
    }

    fn make(self) -> Trace {
        let plain = |_: &mut Config| ();
        match self {
            Self::Closed => Trace::new(plain),
            Self::Listen => Trace::listening(plain),
            Self::HalfOpen => {
                let mut t = Trace::listening(plain);
                t.send(0, "S 0 win 4096 <mss 500>");
                t.next_seen();
                t
            }
            Self::In(state) => Trace::in_state(state, plain),
        }
    }

    /// Relative SND.UNA, SND.NXT and RCV.NXT.
    fn numbers(self) -> [u32; 3] {
        match self {
            Self::Closed | Self::Listen => [1, 1, 1],
            Self::HalfOpen | Self::In(State::SynReceived) => [0, 1, 1],
            Self::In(State::SynSent) => [0, 1, 0],
            Self::In(State::FinWait1) => [1, 2, 1],
            Self::In(State::FinWait2) => [2, 2, 1],
            Self::In(State::Closing | State::LastAck) => [1, 2, 2],
            Self::In(State::TimeWait) => [2, 2, 2],
            Self::In(State::CloseWait) => [1, 1, 2],
            Self::In(_) => [1, 1, 1],
        }
    }
}

/// The segments of the peer: a name, and the line with `U`, `N`, `R` for SND.UNA, SND.NXT and RCV.NXT.
const SEGMENTS: [(&str, &str); 34] = [
    ("ACK of all", ". {R} ack {N} win 4096"),
    ("ACK of nothing new", ". {R} ack {U} win 4096"),
    ("ACK of what was never sent", ". {R} ack {N+1} win 4096"),
    ("ACK older than any window", ". {R} ack {U-5000} win 4096"),
    ("ACK before the window", ". {R-1} ack {N} win 4096"),
    ("ACK beyond the window", ". {R+9000} ack {N} win 4096"),
    ("data", "P. {R}(10) ack {U} win 4096"),
    ("data and ACK of all", "P. {R}(10) ack {N} win 4096"),
    ("data, some missing before", "P. {R+10}(10) ack {U} win 4096"),
    ("data before the window", "P. {R-10}(10) ack {U} win 4096"),
    ("data beyond the window", "P. {R+9000}(10) ack {U} win 4096"),
    ("data without ACK", "P {R}(10) win 4096"),
    ("FIN", "F. {R} ack {U} win 4096"),
    ("FIN and ACK of all", "F. {R} ack {N} win 4096"),
    ("FIN behind data", "FP. {R}(10) ack {U} win 4096"),
    ("FIN, data missing before", "F. {R+10} ack {U} win 4096"),
    ("FIN of the number before", "F. {R-1} ack {N} win 4096"),
    ("FIN beyond the window", "F. {R+9000} ack {U} win 4096"),
    ("FIN without ACK", "F {R} win 4096"),
    ("the first SYN", "S 0 win 4096 <mss 500>"),
    ("SYN in the window", "S {R+5} win 4096 <mss 500>"),
    ("SYN beyond the window", "S {R+9000} win 4096 <mss 500>"),
    ("the first SYN and ACK of all", "S. 0 ack {N} win 4096 <mss 500>"),
    ("SYN in the window and ACK", "S. {R+5} ack {N} win 4096 <mss 500>"),
    (
        "SYN and ACK of what was never sent",
        "S. 0 ack {N+1} win 4096 <mss 500>",
    ),
    ("SYN and FIN", "SF {R} win 4096"),
    ("SYN and RST", "SR {R} win 4096"),
    ("RST", "R {R} win 0"),
    ("RST and ACK of all", "R. {R} ack {N} win 0"),
    ("RST in the window", "R {R+5} win 0"),
    ("RST before the window", "R {R-1} win 0"),
    ("RST beyond the window", "R {R+9000} win 0"),
    ("no control bit", "- {R} win 4096"),
    ("all control bits", "SFRP.UEW {R} ack {N} win 4096"),
];

/// What the application does, and time.
const CALLS: [&str; 8] = [
    "connect anew",
    "send",
    "receive",
    "shut down",
    "close",
    "abort",
    "close the listener",
    "an hour passes",
];

/// Fills the numbers in.
fn line(pattern: &str, [una, nxt, rcv]: [u32; 3]) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, behind)) = rest.split_once('{') {
        let (place, after) = behind.split_once('}').expect("a closing brace");
        let base = match &place[..1] {
            "U" => una,
            "N" => nxt,
            _ => rcv,
        };
        let offset: i64 = if place.len() > 1 {
            place[1..].parse().expect("an offset")
        } else {
            0
        };
        write!(out, "{before}{}", i64::from(base) + offset).expect("a string");
        rest = after;
    }
    out + rest
}

/// A segment of the stack, without window and options.
fn short(seg: &Seg) -> String {
    let shown = crate::tcp::show(seg);
    shown.split(" win").next().expect("a segment").to_owned()
}

/// The state in which the connection is now.
fn state(t: &mut Trace, place: Place) -> String {
    if t.id.is_none() {
        t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    }
    match t.id {
        Some(id) => match t.stack.tcp_connection(id) {
            Ok(connection) => connection.state().name().to_owned(),
            Err(_) => "given back".to_owned(),
        },
        // Who is opening a connection is told apart by the timer of our answer.
        None if place == Place::Closed => "CLOSED".to_owned(),
        None if t.stack.next_deadline(t.now).is_some() => "SYN-RECEIVED".to_owned(),
        None => "LISTEN".to_owned(),
    }
}

/// What came of an event.
fn outcome(t: &mut Trace, place: Place, result: Option<Result<usize, TcpError>>) -> String {
    let name = state(t, place);
    let mut out = name;
    if let Some(id) = t.id
        && let Ok(connection) = t.stack.tcp_connection(id)
        && let Some(error) = connection.error()
    {
        write!(out, ", {error}").expect("a string");
    }
    match result {
        Some(Ok(n)) => write!(out, "; ok {n}"),
        Some(Err(error)) => write!(out, "; error: {error}"),
        None => Ok(()),
    }
    .expect("a string");
    let sent: Vec<String> = t.seen.drain(..).map(|(_, seg)| short(&seg)).collect();
    match sent.len() {
        0 => {}
        1..=3 => write!(out, "; sends {}", sent.join(", then ")).expect("a string"),
        n => write!(out, "; sends {n} segments, the last {}", sent[n - 1]).expect("a string"),
    }
    out
}

fn call(t: &mut Trace, name: &str) -> Result<usize, TcpError> {
    let now = t.now;
    let none = |_: ()| 0;
    match name {
        "connect anew" => {
            let (own, remote) = t.ports;
            let port = if t.id.is_some() { own } else { OWN_PORT };
            let remote = if t.id.is_some() { remote } else { PORT };
            let opened = t.stack.tcp_connect_from(now, port, (addr(2), remote), &mut ())?;
            t.settle();
            t.stack.tcp_abort(now, opened, &mut ()).map(none)
        }
        "close the listener" => {
            let listener = t.listener.ok_or(TcpError::NotOpen)?;
            let closed = t.stack.tcp_close_listener(now, listener, &mut ()).map(none);
            t.settle();
            closed
        }
        "an hour passes" => {
            t.run_until(crate::tcp::at(3_600_000));
            Ok(0)
        }
        _ if t.id.is_none() => Err(TcpError::NotOpen),
        "send" => t.try_write(10),
        "receive" => t.read(10),
        "shut down" => t.shutdown().map(none),
        "close" => t.close().map(none),
        _ => t.abort().map(none),
    }
}

fn table() -> String {
    let mut out = String::from(
        "Every event in every state: the state afterwards, what the call says, what is sent. Numbers are relative; both sides\n\
         begin at 0. The peer's window is 4096 bytes, ours less than 9000.\n",
    );
    for place in Place::all() {
        writeln!(out, "\n{}", place.name()).expect("a string");
        for (event, pattern) in SEGMENTS {
            let mut t = place.make();
            // By then our initial numbers are newer than those of what was before.
            let ms = if place == Place::In(State::TimeWait) {
                10
            } else {
                0
            };
            t.send(ms, &line(pattern, place.numbers()));
            let what = outcome(&mut t, place, None);
            writeln!(out, "  {event:<36}{what}").expect("a string");
        }
        for event in CALLS {
            let mut t = place.make();
            let result = call(&mut t, event);
            let what = outcome(&mut t, place, Some(result).filter(|_| event != "an hour passes"));
            writeln!(out, "  {event:<36}{what}").expect("a string");
        }
    }
    out
}

#[test]
fn the_transition_table_is_as_reviewed() {
    const { assert!(RECEIVE < 9000) };
    let now = table();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tcp_trace/transitions.txt");
    if std::env::var_os("UPDATE_TRANSITIONS").is_some() {
        std::fs::write(&path, &now).expect("the checkout can be written to");
    }
    let reviewed = std::fs::read_to_string(&path).expect("the table");
    let mut row = "";
    for (ours, theirs) in now.lines().zip(reviewed.lines()) {
        if !theirs.starts_with(' ') {
            row = theirs;
        }
        assert_eq!(ours, theirs, "in the row {row}");
    }
    assert_eq!(now.lines().count(), reviewed.lines().count());
}

/// What holds of the whole table, whatever is written in it.
#[test]
fn no_answer_to_a_reset_and_none_to_an_answer() {
    for place in Place::all() {
        for (event, pattern) in SEGMENTS {
            let mut t = place.make();
            let text = line(pattern, place.numbers());
            t.send(0, &text);
            let answers: Vec<Seg> = t.seen.drain(..).map(|(_, seg)| seg).collect();
            assert!(answers.len() <= 1, "{} {event}: {answers:?}", place.name());
            let reset = text.split(' ').next().is_some_and(|flags| flags.contains('R'));
            // RFC 9293 section 3.10.7.1: no RST answers a RST, else two that have forgotten a connection never end.
            let answered = answers.iter().any(|seg| seg.flags.contains(Flags::RST));
            assert!(!(reset && answered), "{} {event}", place.name());
        }
    }
}
