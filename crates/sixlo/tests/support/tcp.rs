//! TCP in tests: a stack against a peer that the test plays by hand ([`Trace`]), and two stacks against each other
//! ([`Pair`]), in virtual time.
//!
//! A trace reads like a capture. A line is a segment with its time in milliseconds:
//!
//! ```text
//! let mut t = Trace::listening(|_| ());
//! send!(t, 0, "S 0 win 4096 <mss 500>");        // from the peer to the stack
//! recv!(t, 0, "S. 0 ack 1 win 1024 <mss 1220>"); // from the stack to the peer
//! send!(t, 10, ". 1 ack 1 win 4096");
//! send!(t, 20, "P. 1(100) ack 1 win 4096");     // 100 bytes from relative number 1 on
//! recv!(t, 120, ". 1 ack 101");
//! ```
//!
//! Flags: `S` SYN, `F` FIN, `R` RST, `P` PSH, `.` ACK, `U` URG, `E` ECE, `W` CWR, `-` none. Then the sequence number with the
//! bytes of data in brackets, `ack`, `win`, `urg` (the pointer), `ecn` (`not`, `ect0`, `ect1`, `ce`) and options: `mss N`,
//! `sackok`, `ts VALUE ECHO`, `sack LEFT-RIGHT ...`, `nop`, `end`, and `raw HEX` for bytes as they are. Numbers are relative
//! to each side's initial one, and the stack's timestamps to its first one; they count 1.024 ms ([`ticks`]). The peer's are as
//! they stand. What a line of `recv!` does not name is not compared, but for the
//! flags, the number and the data length; the checksum is always checked, and so are the data bytes: both sides send the
//! [`byte`] of each number. A segment that nobody expects fails the test when the time comes to the next line.
#![allow(
    unused,
    reason = "each test binary that includes this module uses a part of it"
)]

use std::collections::VecDeque;
use std::net::Ipv6Addr;

use sixlo::ipv6::Route;
use sixlo::netapi::{Msg, Ty};
use sixlo::netdev::{Caps, FRAME_LEN_MAX, IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::sock::MailboxId;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::tcp::{ConnectionId, ListenerId, State, TcpError};
use sixlo::time::{Duration, Instant};
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::checksum::Checksum;
use sixlo::wire::ieee802154;
use sixlo::wire::ipv6::{self, Ecn, NextHeader, TrafficClass};
use sixlo::wire::lowpan::IPV6;
use sixlo::wire::lowpan::frag::Fragment;
use sixlo::wire::tcp::options::{Block, Blocks, Options};
use sixlo::wire::tcp::seq::Seq;
use sixlo::wire::tcp::{Flags, HEADER_LEN, Header};

#[path = "tcp/line.rs"]
mod line;
#[path = "tcp/pair.rs"]
mod pair;

pub(crate) use line::{Line, Seg, show};
pub(crate) use pair::{Fate, Pair};

pub(crate) const IFACE: IfaceId = IfaceId(0);
/// The port that the stack listens on.
pub(crate) const PORT: u16 = 7;
/// The peer's port.
pub(crate) const PEER_PORT: u16 = 40_000;
/// The port that the stack connects from.
pub(crate) const OWN_PORT: u16 = 50_000;
/// Bytes of receive buffer of each connection.
pub(crate) const RECEIVE: u32 = 1024;
/// The same with the bits that tell what came out of order.
const STORE: usize = 1152;
/// Connections of a [`Trace`], and places in its backlog.
pub(crate) const CONNECTIONS: usize = 4;
/// The peer's initial sequence number: so near the end that numbers wrap.
pub(crate) const PEER_ISS: u32 = 0xffff_ff00;

pub(crate) type Store = Fixed<16384, 96, 4, 4, 4, 0, 0, CONNECTIONS, { CONNECTIONS * STORE }, 2, CONNECTIONS>;

/// The byte that either side sends at a relative sequence number.
pub(crate) fn byte(number: u32) -> u8 {
    (number ^ number >> 8 ^ 0x5a) as u8
}

/// The bytes of `len` numbers from one on.
pub(crate) fn bytes(from: u32, len: u32) -> Vec<u8> {
    (0..len).map(|n| byte(from.wrapping_add(n))).collect()
}

/// The link-local address of node `k`.
pub(crate) fn addr(k: u8) -> Ipv6Addr {
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, u16::from(k))
}

fn eui(k: u8) -> [u8; 8] {
    [2, 0, 0, 0, 0, 0, 0, k]
}

/// Node `k`: its device does everything by itself. Options that change segments are off, so that a line says all: SACK,
/// timestamps, ECN. The segment size is not derived from the link.
pub(crate) fn node(k: u8, change: impl Fn(&mut Config)) -> Stack<'static> {
    node_in(Box::leak(Box::new(Fixed::new())), k, change)
}

/// The same, in this memory.
pub(crate) fn node_in(memory: &mut Store, k: u8, change: impl Fn(&mut Config)) -> Stack<'_> {
    let mut config = Config::new(u64::from(k));
    config.tcp.sack = false;
    config.tcp.timestamps = false;
    config.tcp.ecn = false;
    config.tcp.mss = Some(1220);
    change(&mut config);
    let mut stack = Stack::new(memory.lend(), &config).expect("the memory suffices");
    let mut iface = IfaceConfig::new(eui(k));
    iface.caps = Caps {
        csma: true,
        fcs: true,
    };
    iface.queue_capacity = 64;
    stack.bring_up(IFACE, iface).expect("there is an interface");
    stack
}

/// What a [`Trace`] has seen of the stack: when, and what.
type Seen = VecDeque<(Instant, Seg)>;

/// A stack, and a peer that the test plays.
pub(crate) struct Trace {
    pub(crate) stack: Stack<'static>,
    pub(crate) now: Instant,
    /// The listener, if the stack listens.
    pub(crate) listener: Option<ListenerId>,
    /// The connection, once there is one that the application has.
    pub(crate) id: Option<ConnectionId>,
    /// Ports: the stack's and the peer's.
    pub(crate) ports: (u16, u16),
    /// The address that the peer uses now.
    pub(crate) peer: Ipv6Addr,
    /// The initial numbers: the stack's, once it was seen, and the peer's.
    pub(crate) iss: (u32, u32),
    /// The first timestamp of the stack that was seen.
    pub(crate) stamp: Option<u32>,
    /// The stack sends nothing that is asked for twice: segments that wait for a line of `recv!`.
    pub(crate) seen: Seen,
    /// The next relative number of the application's stream, written and read.
    pub(crate) written: u32,
    pub(crate) read: u32,
    mailbox: MailboxId,
    sequence: u8,
    tag: u16,
}

/// The instant that lies so many milliseconds behind the start.
pub(crate) fn at(ms: u64) -> Instant {
    Instant::from_micros(START_US + ms * 1000)
}

/// Ticks of the stack's timestamp clock from the start of a trace to so many milliseconds behind it.
pub(crate) fn ticks(ms: u64) -> u64 {
    (at(ms).as_micros() >> 10) - (at(0).as_micros() >> 10)
}

/// The start of each trace. Not zero, so that what mistakes zero for a time is found.
const START_US: u64 = 5_000_000;

impl Trace {
    /// A stack without a connection.
    pub(crate) fn new(change: impl Fn(&mut Config)) -> Self {
        let mut stack = node(1, change);
        let mailbox = stack.open_mailbox(64).expect("a mailbox");
        stack
            .register(mailbox, Msg::down(Ty::Ipv6, 0), true)
            .expect("a line of the registry");
        Self {
            stack,
            now: at(0),
            listener: None,
            id: None,
            ports: (PORT, PEER_PORT),
            peer: addr(2),
            iss: (0, PEER_ISS),
            stamp: None,
            seen: VecDeque::new(),
            written: 1,
            read: 1,
            mailbox,
            sequence: 0,
            tag: 0,
        }
    }

    /// A stack that listens on [`PORT`], with a backlog of [`CONNECTIONS`].
    pub(crate) fn listening(change: impl Fn(&mut Config)) -> Self {
        let mut trace = Self::new(change);
        trace.listener = Some(
            trace
                .stack
                .tcp_listen(PORT, CONNECTIONS as u8)
                .expect("a listener"),
        );
        trace
    }

    /// A stack that has opened a connection from [`OWN_PORT`]: its SYN is the first segment that is seen.
    pub(crate) fn connecting(change: impl Fn(&mut Config)) -> Self {
        let mut trace = Self::new(change);
        trace.ports = (OWN_PORT, PORT);
        let remote = (trace.peer, PORT);
        let id = trace.stack.tcp_connect_from(trace.now, OWN_PORT, remote, &mut ());
        trace.id = Some(id.expect("a way and a place"));
        trace.settle();
        trace
    }

    /// An established connection that the peer opened and the application has accepted, at 0 ms. The next number of both
    /// sides is 1; the peer's window is 4096 bytes and its segments 500.
    pub(crate) fn established(change: impl Fn(&mut Config)) -> Self {
        Self::established_with(change, "<mss 500>")
    }

    /// The same, with these options in the peer's SYN.
    pub(crate) fn established_with(change: impl Fn(&mut Config), options: &str) -> Self {
        let mut trace = Self::listening(change);
        trace.send(0, &format!("S 0 win 4096 {options}"));
        let answer = trace.next_seen();
        assert_eq!(answer.flags.0 & 0x3f, (Flags::SYN | Flags::ACK).0, "SYN, ACK");
        let echo = answer.options.timestamps.map_or(String::new(), |ts| {
            let own = Line::parse(&format!("S 0 {options}"))
                .options
                .and_then(|it| it.timestamps);
            format!("<ts {} {}>", own.map_or(0, |own| own.value), ts.value)
        });
        trace.send(0, &format!(". 1 ack 1 win 4096 {echo}"));
        let listener = trace.listener.expect("it listens");
        trace.id = Some(trace.stack.tcp_accept(listener).expect("it is established"));
        trace
    }

    /// A connection in this state, with the segments that led there over: the next numbers of both sides are 1, or 2 where
    /// they have sent FIN.
    ///
    /// # Panics
    ///
    /// For [`State::Closed`].
    pub(crate) fn in_state(state: State, change: impl Fn(&mut Config)) -> Self {
        if state == State::SynSent || state == State::SynReceived {
            let mut trace = Self::connecting(change);
            trace.next_seen();
            if state == State::SynReceived {
                trace.send(0, "S 0 win 4096 <mss 500>");
                trace.next_seen();
            }
            assert_eq!(trace.state(), state);
            return trace;
        }
        let mut trace = Self::established(change);
        match state {
            State::Established => {}
            State::FinWait1 => trace.shut_down(),
            State::FinWait2 => {
                trace.shut_down();
                trace.send(0, ". 1 ack 2 win 4096");
            }
            State::Closing => {
                trace.shut_down();
                trace.peer_fin("F. 1 ack 1 win 4096");
            }
            State::TimeWait => {
                trace.shut_down();
                trace.peer_fin("F. 1 ack 2 win 4096");
            }
            State::CloseWait => trace.peer_fin("F. 1 ack 1 win 4096"),
            State::LastAck => {
                trace.peer_fin("F. 1 ack 1 win 4096");
                trace.shut_down();
            }
            _ => panic!("no connection is in {state:?}"),
        }
        assert_eq!(trace.state(), state);
        trace
    }

    fn shut_down(&mut self) {
        self.shutdown().expect("it is open");
        let fin = self.next_seen();
        assert!(fin.flags.contains(Flags::FIN), "{fin:?}");
    }

    fn peer_fin(&mut self, line: &str) {
        self.send(0, line);
        self.next_seen();
    }

    /// The connection's handle.
    pub(crate) fn id(&self) -> ConnectionId {
        self.id.expect("a connection")
    }

    /// The state of the connection, [`State::Closed`] if there is none any more.
    pub(crate) fn state(&self) -> State {
        let connection = self.id.and_then(|id| self.stack.tcp_connection(id).ok());
        connection.map_or(State::Closed, sixlo::tcp::Connection::state)
    }

    /// The next segment that the stack has sent until now.
    pub(crate) fn next_seen(&mut self) -> Seg {
        self.settle();
        self.seen.pop_front().expect("a segment").1
    }

    /// The peer sends a segment at this time.
    pub(crate) fn send(&mut self, ms: u64, line: &str) {
        self.run_until(at(ms));
        self.none_before(line);
        let packet = self.packet(&Line::parse(line));
        self.inject(&packet);
        self.settle();
    }

    /// The peer receives this segment at this time, and no other before it.
    pub(crate) fn recv(&mut self, ms: u64, line: &str) {
        self.run_until(at(ms));
        let Some((when, seg)) = self.seen.pop_front() else {
            panic!("nothing was sent until {ms} ms; expected: {line}");
        };
        let shown = show(&seg);
        let sent_ms = (when.as_micros() - START_US) as f64 / 1000.0;
        assert_eq!(
            when,
            at(ms),
            "sent at {sent_ms} ms: {shown}; expected at {ms} ms: {line}"
        );
        let wanted = Line::parse(line);
        let fail = |what: &str| panic!("{what}; at {ms} ms came:\n  {shown}\nexpected:\n  {line}");
        if seg.flags != wanted.flags {
            fail("flags");
        }
        if seg.seq != wanted.seq {
            fail("sequence number");
        }
        if seg.data.len() != wanted.len as usize {
            fail("data length");
        }
        if wanted.ack.is_some_and(|ack| ack != seg.ack) {
            fail("acknowledgement");
        }
        if wanted.window.is_some_and(|window| window != seg.window) {
            fail("window");
        }
        if wanted.urgent.is_some_and(|urgent| urgent != seg.urgent) {
            fail("urgent pointer");
        }
        if wanted.ecn.is_some_and(|ecn| ecn != seg.ecn) {
            fail("ECN");
        }
        if let Some(raw) = &wanted.raw {
            if *raw != seg.raw {
                fail("bytes of the options");
            }
        } else if wanted.options.is_some_and(|options| options != seg.options) {
            fail("options");
        }
        assert_eq!(seg.data, bytes(seg.seq, wanted.len), "data");
    }

    /// Nothing is sent until this time.
    pub(crate) fn quiet(&mut self, ms: u64) {
        self.run_until(at(ms));
        self.none_before("nothing");
    }

    fn none_before(&self, line: &str) {
        if let Some((when, seg)) = self.seen.front() {
            let ms = (when.as_micros() - START_US) as f64 / 1000.0;
            panic!("unexpected at {ms} ms: {}; next line: {line}", show(seg));
        }
    }

    /// The application writes `len` bytes of the stream; all are taken.
    pub(crate) fn write(&mut self, len: u32) {
        let taken = self.try_write(len);
        assert_eq!(taken, Ok(len as usize), "taken of {len} bytes");
    }

    /// The application writes up to `len` bytes of the stream.
    pub(crate) fn try_write(&mut self, len: u32) -> Result<usize, TcpError> {
        let data = bytes(self.written, len);
        let taken = self.stack.tcp_send(self.now, self.id(), &data, &mut ());
        self.written = self.written.wrapping_add(*taken.as_ref().unwrap_or(&0) as u32);
        self.settle();
        taken
    }

    /// The application reads what is there, up to `len` bytes, which must be those of the stream.
    pub(crate) fn read(&mut self, len: usize) -> Result<usize, TcpError> {
        let mut out = vec![0; len];
        let taken = self.stack.tcp_recv(self.now, self.id(), &mut out, &mut ())?;
        assert_eq!(out[..taken], bytes(self.read, taken as u32), "data");
        self.read = self.read.wrapping_add(taken as u32);
        self.settle();
        Ok(taken)
    }

    pub(crate) fn shutdown(&mut self) -> Result<(), TcpError> {
        let done = self.stack.tcp_shutdown(self.now, self.id(), &mut ());
        self.settle();
        done
    }

    pub(crate) fn close(&mut self) -> Result<(), TcpError> {
        let done = self.stack.tcp_close(self.now, self.id(), &mut ());
        self.settle();
        done
    }

    pub(crate) fn abort(&mut self) -> Result<(), TcpError> {
        let done = self.stack.tcp_abort(self.now, self.id(), &mut ());
        self.settle();
        done
    }

    /// Lets the stack run with every timer at its time.
    pub(crate) fn run_until(&mut self, end: Instant) {
        assert!(end >= self.now, "time runs backwards");
        self.settle();
        while let Some(due) = self.stack.next_deadline(self.now).filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.settle();
        }
        self.now = end;
    }

    /// Lets the stack do what it has to do now.
    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            let due = self
                .stack
                .poll(self.now, &mut ())
                .is_some_and(|due| due <= self.now);
            let mut frame = [0; FRAME_LEN_MAX];
            let sent = self
                .stack
                .transmit(self.now, IFACE, &mut frame, &mut ())
                .is_some();
            if sent {
                let report = TxReport {
                    outcome: TxOutcome::Acked,
                    attempts: 1,
                    busy: 0,
                };
                self.stack.transmitted(self.now, IFACE, report, &mut ());
            }
            self.collect();
            if !due && !sent {
                return;
            }
        }
        panic!("the stack does not settle");
    }

    /// Takes what the stack sent out of the mailbox.
    fn collect(&mut self) {
        let mut out = [0; 1500];
        while let Some((_, len)) = self
            .stack
            .mailbox_receive(self.now, self.mailbox, &mut out, &mut ())
        {
            if let Some(seg) = self.read_packet(&out[..len]) {
                self.seen.push_back((self.now, seg));
            }
        }
    }

    /// A packet that the stack sent, if it is TCP.
    fn read_packet(&mut self, packet: &[u8]) -> Option<Seg> {
        let (head, upper) = packet
            .split_first_chunk::<{ ipv6::HEADER_LEN }>()
            .expect("a packet");
        let outer = ipv6::Header::parse(head).expect("IPv6");
        if outer.next_header != NextHeader::TCP {
            return None;
        }
        assert_eq!(usize::from(outer.payload_len), upper.len());
        let mut sum = Checksum::pseudo_header(&outer.src, &outer.dst, NextHeader::TCP, upper.len() as u32);
        sum.add(upper);
        assert!(sum.is_valid(), "the checksum");
        let (head, rest) = upper.split_first_chunk::<HEADER_LEN>().expect("a header");
        let header = Header::parse(head, upper.len()).expect("a header");
        let (raw, data) = rest.split_at(usize::from(header.options_len));
        let mut options = Options::parse(raw, header.flags);
        if header.flags.contains(Flags::SYN) {
            self.iss.0 = header.seq.0;
        }
        // Relative to the peer's numbers.
        let mut sack = Blocks::EMPTY;
        for block in options.sack.as_slice() {
            sack.push(Block {
                left: Seq(block.left.0.wrapping_sub(self.iss.1)),
                right: Seq(block.right.0.wrapping_sub(self.iss.1)),
            });
        }
        options.sack = sack;
        if let Some(stamps) = &mut options.timestamps {
            let base = *self.stamp.get_or_insert(stamps.value);
            stamps.value = stamps.value.wrapping_sub(base);
        }
        let acks = header.flags.contains(Flags::ACK);
        Some(Seg {
            flags: header.flags,
            seq: header.seq.0.wrapping_sub(self.iss.0),
            data: data.to_vec(),
            ack: if acks {
                header.ack.0.wrapping_sub(self.iss.1)
            } else {
                0
            },
            window: header.window,
            urgent: header.urgent,
            ecn: outer.traffic_class.ecn(),
            options,
            raw: raw.to_vec(),
        })
    }

    /// The packet of a line that the peer sends.
    pub(crate) fn packet(&self, line: &Line) -> Vec<u8> {
        let mut options = line.options.unwrap_or(Options::NONE);
        let mut sack = Blocks::EMPTY;
        for block in options.sack.as_slice() {
            sack.push(Block {
                left: block.left + self.iss.0,
                right: block.right + self.iss.0,
            });
        }
        options.sack = sack;
        if let (Some(stamps), Some(base)) = (&mut options.timestamps, self.stamp)
            && line.flags.contains(Flags::ACK)
        {
            stamps.echo = stamps.echo.wrapping_add(base);
        }
        let mut room = [0; 40];
        let len = options.emit(&mut room).expect("room");
        let raw = line.raw.clone().unwrap_or_else(|| room[..len].to_vec());
        let header = Header {
            src_port: self.ports.1,
            dst_port: self.ports.0,
            seq: Seq(line.seq) + self.iss.1,
            ack: line.ack.map_or(Seq(0), |ack| Seq(ack) + self.iss.0),
            options_len: raw.len() as u8,
            flags: line.flags,
            window: line.window.unwrap_or(0),
            checksum: 0,
            urgent: line.urgent.unwrap_or(0),
        };
        let data = bytes(line.seq, line.len);
        let mut upper = [&header.emit()[..], &raw, &data].concat();
        let (src, dst) = (self.peer, addr(1));
        let mut sum = Checksum::pseudo_header(&src, &dst, NextHeader::TCP, upper.len() as u32);
        sum.add(&upper);
        upper[16..18].copy_from_slice(&sum.finish().to_be_bytes());
        ip_packet(src, dst, line.ecn.unwrap_or_default(), NextHeader::TCP, &upper)
    }

    /// A packet comes in over the link.
    pub(crate) fn inject(&mut self, packet: &[u8]) {
        const PIECE_LEN: usize = 80;
        self.tag += 1;
        let whole = packet.len() <= PIECE_LEN;
        for (index, piece) in packet.chunks(PIECE_LEN).enumerate() {
            let mut payload = [0; 6];
            let mut len = 0;
            if !whole {
                let fragment = Fragment {
                    datagram_size: packet.len() as u16,
                    datagram_tag: self.tag,
                    datagram_offset: (index * PIECE_LEN / 8) as u8,
                };
                len = fragment.emit(&mut payload).expect("room");
            }
            if index == 0 {
                payload[len] = IPV6;
                len += 1;
            }
            let frame = self.frame(&[&payload[..len], piece].concat());
            self.stack
                .frame(self.now, IFACE, &frame, RxInfo::default(), &mut ());
        }
    }

    fn frame(&mut self, payload: &[u8]) -> Vec<u8> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut bytes = [0; FRAME_LEN_MAX];
        let (dst, src) = (LinkAddr::Extended(eui(1)), LinkAddr::Extended(eui(2)));
        let len = ieee802154::Header::data(self.sequence, 0x0023, dst, src)
            .emit(&mut bytes)
            .expect("room");
        [&bytes[..len], payload].concat()
    }

    /// No connection, no timer and no packet is left.
    pub(crate) fn assert_idle(&mut self) {
        self.settle();
        assert_eq!(self.stack.next_deadline(self.now), None, "a timer is left");
        assert_eq!(self.stack.buffer().live(), 0, "packets are left");
        assert_eq!(self.stack.buffer().used(), 0, "bytes are left");
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.stack.audit(), self.stack.buffer().live(), "a leak");
        }
    }
}

/// An IPv6 packet with hop limit 64.
pub(crate) fn ip_packet(src: Ipv6Addr, dst: Ipv6Addr, ecn: Ecn, next: NextHeader, upper: &[u8]) -> Vec<u8> {
    let outer = ipv6::Header {
        traffic_class: TrafficClass::new(0, ecn),
        flow_label: 0,
        payload_len: upper.len() as u16,
        next_header: next,
        hop_limit: 64,
        src,
        dst,
    };
    [&outer.emit()[..], upper].concat()
}

/// A segment from the peer to the stack: `send!(trace, ms, "line")`.
macro_rules! send {
    ($trace:expr, $ms:expr, $($line:tt)+) => { $trace.send($ms, &format!($($line)+)) };
}
/// A segment from the stack to the peer: `recv!(trace, ms, "line")`.
macro_rules! recv {
    ($trace:expr, $ms:expr, $($line:tt)+) => { $trace.recv($ms, &format!($($line)+)) };
}
pub(crate) use {recv, send};
