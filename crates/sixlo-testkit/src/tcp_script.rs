//! TCP as a whole: calls of the application, segments of a peer that may lie, and time.

use core::net::Ipv6Addr;
use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use sixlo::congure::Kind;
use sixlo::ipv6::Route;
use sixlo::netdev::{IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::tcp::{ConnectionId, ListenerId, TcpConfig};
use sixlo::time::{Duration, Instant};
use sixlo::wire::checksum::Checksum;
use sixlo::wire::ipv6::{self, Ecn, NextHeader, TrafficClass};
use sixlo::wire::tcp::options::{Block, Options, Timestamps};
use sixlo::wire::tcp::seq::Seq;
use sixlo::wire::tcp::{Flags, HEADER_LEN, Header};

const IFACE: IfaceId = IfaceId(0);
const OURS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
const PEERS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
/// Ports of ours, of which the first is listened on at times; the peer's are the same.
const PORTS: [u16; 2] = [7, 8];
const CONNECTIONS: usize = 3;
/// More calls, or packets, than one step can ask for.
const CALLS_MAX: usize = 3_000;

type Store = Fixed<8192, 48, 1, 2, 2, 0, 0, CONNECTIONS, 1500, 1, 2>;

#[derive(Arbitrary, Debug)]
struct Script<'a> {
    mss: u8,
    send_buffer: u8,
    switches: u8,
    steps: Vec<Step<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    /// Milliseconds, and seconds.
    Wait(u16, u8),
    Listen,
    CloseListener,
    Connect(bool, bool),
    Accept,
    Write(u8, u16),
    Reserve(u8, u16),
    Commit(u8, u16),
    Read(u8, u16),
    Consume(u8, u16),
    Shutdown(u8),
    Close(u8),
    Abort(u8),
    KeepAlive(u8, bool),
    /// The peer acknowledges all and sends so many bytes more.
    Honest(bool, bool, u8),
    Segment(Segment<'a>),
}

/// A segment whose checksum is right.
#[derive(Arbitrary, Debug)]
struct Segment<'a> {
    ports: (bool, bool),
    flags: u8,
    /// From the number that the stack expects, and from the last that it sent.
    seq: i16,
    ack: i16,
    window: u16,
    len: u8,
    congestion: bool,
    stamps: Option<(i8, i16)>,
    sack: [(i16, u8); 2],
    /// Options as bytes in place of these.
    options: Option<&'a [u8]>,
}

/// What the peer knows of a connection.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The number behind the last that came, and the one that is expected.
    end: Seq,
    ack: Seq,
    /// The right edge of the window, once a number was acknowledged.
    edge: Option<Seq>,
    /// What the data differ by from their numbers.
    shift: Option<u8>,
    stamp: u32,
}

/// A connection of the application's, with the byte that is written and the one that is read next.
struct Open {
    id: ConnectionId,
    written: u8,
    read: Option<u8>,
}

struct Run<'m> {
    stack: Stack<'m>,
    now: Instant,
    listener: Option<ListenerId>,
    open: Vec<Open>,
    seen: BTreeMap<(u16, u16), Seen>,
}

/// Whatever is called and comes: no panic, no end of work, no leak; data in order and not other than before, windows that are
/// not taken back; in the end nothing left.
pub fn tcp_script(data: &[u8]) {
    let Ok(script) = Script::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    let mut config = Config::new(script.switches.into());
    let on = |bit: u8| script.switches >> bit & 1 == 1;
    config.tcp = TcpConfig {
        mss: (script.mss > 0).then_some(64 + u16::from(script.mss) * 4),
        send_buffer: 50 + u16::from(script.send_buffer) * 20,
        sack: on(0),
        timestamps: on(1),
        ecn: on(2),
        nagle: on(3),
        congestion: [Kind::Reno, Kind::Abe, Kind::Quic, Kind::Calm][usize::from(script.switches >> 4 & 3)],
        ..TcpConfig::default()
    };
    let mut store = Box::new(Store::new());
    let mut stack = Stack::new(store.lend(), &config).expect("the memory suffices");
    let mut iface = IfaceConfig::packets([2, 0, 0, 0, 0, 0, 0, 1]);
    iface.queue_capacity = 32;
    stack.bring_up(IFACE, iface).expect("there is an interface");
    stack.add_address(IFACE, OURS).expect("room");
    let hop = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);
    stack.add_route(Route::default_via(IFACE, hop)).expect("room");
    let mut run = Run {
        stack,
        now: Instant::from_micros(1_000_000),
        listener: None,
        open: Vec::new(),
        seen: BTreeMap::new(),
    };
    for step in script.steps.iter().take(300) {
        run.step(step);
        run.settle();
        run.check();
    }
    run.end();
}

impl Run<'_> {
    fn step(&mut self, step: &Step<'_>) {
        let now = self.now;
        match *step {
            Step::Wait(ms, s) => self.wait(Duration::from_millis(u64::from(ms) + u64::from(s) * 1000)),
            Step::Listen => {
                if let Ok(listener) = self.stack.tcp_listen(PORTS[0], 2) {
                    self.listener = Some(listener);
                }
            }
            Step::CloseListener => {
                if let Some(listener) = self.listener.take() {
                    self.stack
                        .tcp_close_listener(now, listener, &mut ())
                        .expect("it is there");
                }
            }
            Step::Connect(own, peer) => {
                let (own, peer) = (PORTS[usize::from(own)], PORTS[usize::from(peer)]);
                let id = self.stack.tcp_connect_from(now, own, (PEERS, peer), &mut ());
                self.open.extend(id.ok().map(open));
            }
            Step::Accept => {
                let id = self
                    .listener
                    .and_then(|listener| self.stack.tcp_accept(listener).ok());
                self.open.extend(id.map(open));
            }
            Step::Honest(own, peer, len) => {
                let seen = self.seen.get(&ports((own, peer))).copied().unwrap_or_default();
                self.segment(
                    ports((own, peer)),
                    &seen,
                    Flags::ACK | Flags::PSH,
                    4096,
                    len,
                    Options::NONE,
                );
            }
            Step::Segment(ref segment) => self.lie(segment),
            ref call => self.call(call),
        }
    }

    /// What an application does with a connection that it has.
    fn call(&mut self, step: &Step<'_>) {
        let (now, stack) = (self.now, &mut self.stack);
        let (Step::Write(which, _)
        | Step::Reserve(which, _)
        | Step::Commit(which, _)
        | Step::Read(which, _)
        | Step::Consume(which, _)
        | Step::Shutdown(which)
        | Step::Close(which)
        | Step::Abort(which)
        | Step::KeepAlive(which, _)) = *step
        else {
            return;
        };
        if self.open.is_empty() {
            return;
        }
        let which = usize::from(which) % self.open.len();
        let open = &mut self.open[which];
        match *step {
            Step::Write(_, n) => {
                let bytes: Vec<u8> = (0..n % 3000)
                    .map(|n| open.written.wrapping_add(n as u8))
                    .collect();
                let taken = stack.tcp_send(now, open.id, &bytes, &mut ()).unwrap_or(0);
                open.written = open.written.wrapping_add(taken as u8);
            }
            Step::Reserve(_, n) => {
                if let Ok(room) = stack.tcp_reserve(now, open.id, usize::from(n % 3000), &mut ()) {
                    for (n, byte) in room.iter_mut().enumerate() {
                        *byte = open.written.wrapping_add(n as u8);
                    }
                }
            }
            Step::Commit(_, n) => {
                let committed = stack.tcp_commit(now, open.id, usize::from(n % 3000), &mut ());
                let sent = committed.map_or(0, |()| (n % 3000) as u8);
                open.written = open.written.wrapping_add(sent);
            }
            Step::Read(_, n) => {
                let mut out = vec![0; usize::from(n % 2000)];
                let len = stack.tcp_recv(now, open.id, &mut out, &mut ()).unwrap_or(0);
                open.take(&out[..len]);
            }
            Step::Consume(_, n) => {
                let Ok(piece) = stack.tcp_peek(open.id) else {
                    return;
                };
                let len = piece.len().min(n.into());
                open.take(&piece[..len]);
                stack.tcp_consume(now, open.id, len, &mut ()).expect("it has it");
            }
            Step::Shutdown(_) => drop(stack.tcp_shutdown(now, open.id, &mut ())),
            Step::KeepAlive(_, on) => drop(stack.tcp_set_keep_alive(now, open.id, on, &mut ())),
            Step::Close(_) => {
                stack.tcp_close(now, open.id, &mut ()).expect("it has it");
                self.open.remove(which);
            }
            Step::Abort(_) => {
                stack.tcp_abort(now, open.id, &mut ()).expect("it has it");
                self.open.remove(which);
            }
            _ => {}
        }
    }

    /// The peer sends what it likes.
    fn lie(&mut self, lie: &Segment<'_>) {
        let mut seen = self.seen.get(&ports(lie.ports)).copied().unwrap_or_default();
        let by = |seq: Seq, by: i16| Seq(seq.0.wrapping_add_signed(by.into()));
        let mut options = Options::NONE;
        let flags = Flags(lie.flags);
        if flags.contains(Flags::SYN) {
            options.mss = (lie.len > 0).then_some(u16::from(lie.len) * 8);
            options.sack_permitted = lie.window & 1 == 1;
        }
        options.timestamps = lie.stamps.map(|(value, echo)| Timestamps {
            value: (self.now.as_micros() >> 10) as u32 ^ value as u32,
            echo: seen.stamp.wrapping_add_signed(echo.into()),
        });
        for (at, len) in lie.sack.into_iter().filter(|(at, _)| *at != 0) {
            let left = by(seen.end, at);
            options.sack.push(Block {
                left,
                right: left + u32::from(len),
            });
        }
        (seen.ack, seen.end) = (by(seen.ack, lie.seq), by(seen.end, lie.ack));
        self.segment_with(ports(lie.ports), &seen, flags, lie.window, lie.len, options, lie);
    }

    fn segment(
        &mut self,
        ports: (u16, u16),
        seen: &Seen,
        flags: Flags,
        window: u16,
        len: u8,
        options: Options,
    ) {
        let none = Segment {
            ports: (false, false),
            flags: 0,
            seq: 0,
            ack: 0,
            window: 0,
            len: 0,
            congestion: false,
            stamps: None,
            sack: [(0, 0); 2],
            options: None,
        };
        let mut options = options;
        options.timestamps = (seen.stamp != 0).then_some(Timestamps {
            value: (self.now.as_micros() >> 10) as u32,
            echo: seen.stamp,
        });
        self.segment_with(ports, seen, flags, window, len, options, &none);
    }

    #[expect(clippy::too_many_arguments, reason = "a segment has so many parts")]
    fn segment_with(
        &mut self,
        (own, peer): (u16, u16),
        seen: &Seen,
        flags: Flags,
        window: u16,
        len: u8,
        options: Options,
        lie: &Segment<'_>,
    ) {
        let mut raw = [0; 40];
        let written = options.emit(&mut raw).unwrap_or(0);
        let mut raw = raw[..written].to_vec();
        if let Some(bytes) = lie.options {
            raw = bytes[..bytes.len().min(40) / 4 * 4].to_vec();
        }
        let header = Header {
            src_port: peer,
            dst_port: own,
            seq: seen.ack,
            ack: if flags.contains(Flags::ACK) {
                seen.end
            } else {
                Seq(0)
            },
            options_len: raw.len() as u8,
            flags,
            window,
            checksum: 0,
            urgent: 0,
        };
        // Data are the low bytes of their numbers.
        let first = seen.ack + u32::from(flags.contains(Flags::SYN));
        let data: Vec<u8> = (0..u32::from(len)).map(|n| (first + n).0 as u8).collect();
        let mut upper = [&header.emit()[..], &raw, &data].concat();
        let mut sum = Checksum::pseudo_header(&PEERS, &OURS, NextHeader::TCP, upper.len() as u32);
        sum.add(&upper);
        upper[16..18].copy_from_slice(&sum.finish().to_be_bytes());
        let ecn = if lie.congestion {
            Ecn::Congestion
        } else {
            Ecn::NotCapable
        };
        let outer = ipv6::Header {
            traffic_class: TrafficClass::new(0, ecn),
            flow_label: 0,
            payload_len: upper.len() as u16,
            next_header: NextHeader::TCP,
            hop_limit: 64,
            src: PEERS,
            dst: OURS,
        };
        let packet = [&outer.emit()[..], &upper].concat();
        self.stack
            .frame(self.now, IFACE, &packet, RxInfo::default(), &mut ());
    }

    /// Lets the stack do what it has to do now, and looks at what it sends.
    fn settle(&mut self) {
        for _ in 0..CALLS_MAX {
            let now = self.now;
            let due = self.stack.poll(now, &mut ()).is_some_and(|due| due <= now);
            let mut packet = [0; 1500];
            let sent = self.stack.transmit(now, IFACE, &mut packet, &mut ());
            if let Some(info) = sent {
                let report = TxReport {
                    outcome: TxOutcome::Sent,
                    attempts: 1,
                    busy: 0,
                };
                self.stack.transmitted(now, IFACE, report, &mut ());
                self.see(&packet[..info.len]);
            } else if !due {
                return;
            }
        }
        panic!("no end of work");
    }

    fn see(&mut self, packet: &[u8]) {
        let (outer, upper) = packet.split_first_chunk().expect("a packet");
        let outer = ipv6::Header::parse(outer).expect("a packet");
        if outer.next_header != NextHeader::TCP {
            return;
        }
        let mut sum = Checksum::pseudo_header(&outer.src, &outer.dst, NextHeader::TCP, upper.len() as u32);
        sum.add(upper);
        assert!(sum.is_valid(), "the checksum");
        let (header, rest) = upper.split_first_chunk::<HEADER_LEN>().expect("a header");
        let header = Header::parse(header, upper.len()).expect("a header");
        let (raw, data) = rest.split_at(header.options_len.into());
        let stamps = Options::parse(raw, header.flags).timestamps;
        let seen = self.seen.entry((header.src_port, header.dst_port)).or_default();
        if header.flags.contains(Flags::SYN) {
            *seen = Seen {
                ack: seen.ack,
                ..Seen::default()
            };
            seen.end = header.seq;
        }
        if header.flags.contains(Flags::RST) {
            seen.edge = None;
            return;
        }
        let syn = u32::from(header.flags.contains(Flags::SYN));
        let fin = u32::from(header.flags.contains(Flags::FIN));
        let end = header.seq + (data.len() as u32 + syn + fin);
        seen.end = seen.end.max(end);
        seen.stamp = stamps.map_or(0, |stamps| stamps.value);
        if let Some(first) = data.first() {
            let shift = first.wrapping_sub(header.seq.0 as u8);
            assert_eq!(*seen.shift.get_or_insert(shift), shift, "other data at a number");
            let in_row = data.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
            assert!(in_row, "data out of order");
        }
        if header.flags.contains(Flags::ACK) {
            let edge = header.ack + u32::from(header.window);
            if let Some(before) = seen.edge {
                assert!(edge.ge(before), "the window is taken back");
            }
            (seen.edge, seen.ack) = (Some(edge), header.ack);
        }
    }

    /// Lets time pass, with every timer at its time.
    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        self.settle();
        for _ in 0..CALLS_MAX {
            let Some(due) = self.stack.next_deadline(self.now).filter(|due| *due <= end) else {
                self.now = end;
                return;
            };
            self.now = self.now.max(due);
            self.settle();
        }
        panic!("no end of timers");
    }

    /// The promises that hold between any two steps.
    fn check(&self) {
        let buf = self.stack.buffer();
        assert_eq!(buf.in_hand(), 0, "a packet is in hand");
        assert_eq!(self.stack.audit(), buf.live(), "a leak");
        #[cfg(debug_assertions)]
        buf.check();
    }

    /// The application goes, and after a while nothing is left.
    fn end(&mut self) {
        if let Some(listener) = self.listener.take() {
            self.stack
                .tcp_close_listener(self.now, listener, &mut ())
                .expect("it is there");
        }
        for open in core::mem::take(&mut self.open) {
            self.stack
                .tcp_close(self.now, open.id, &mut ())
                .expect("it has it");
        }
        self.wait(Duration::from_secs(3600));
        self.check();
        assert_eq!(self.stack.next_deadline(self.now), None, "a timer is left");
        assert_eq!(self.stack.buffer().used(), 0, "bytes are left");
    }
}

fn ports((own, peer): (bool, bool)) -> (u16, u16) {
    (PORTS[usize::from(own)], PORTS[usize::from(peer)])
}

fn open(id: ConnectionId) -> Open {
    Open {
        id,
        written: 0,
        read: None,
    }
}

impl Open {
    /// What is read goes on where it ended.
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let expected = *self.read.get_or_insert(*byte);
            assert_eq!(*byte, expected, "not the peer's stream");
            self.read = Some(byte.wrapping_add(1));
        }
    }
}
