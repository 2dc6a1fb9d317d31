//! Three nodes in a row with any strategies for large datagrams, and frames that are lost, doubled and late.

use core::net::Ipv6Addr;
use std::collections::VecDeque;

use arbitrary::{Arbitrary, Unstructured};
use sixlo::ipv6::Route;
use sixlo::lowpan::{Eviction, Gap, Strategy};
use sixlo::netdev::{Caps, FRAME_LEN_MAX, IfaceId, RxInfo, TxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::sock::MailboxId;
use sixlo::stack::{Config, Fixed, Opt, Stack, Target};
use sixlo::time::{Duration, Instant};
use sixlo::wire::ieee802154::Header;
use sixlo::wire::iphc::Context;

use crate::link::{extended, global};

/// The memory of a node: little of everything.
type Store = Fixed<4096, 24, 2, 2, 4, 2, 2>;

const IFACE: IfaceId = IfaceId(0);
const NODES: usize = 3;
const PORT: u16 = 0xf0b0;

/// The MTU of IPv6 where it is fragmented end to end (Lenders et al. 2021, section IV-A).
const SMALL_MTU: u16 = 124;

/// More rounds of polling and sending than a network of three can need.
const ROUNDS_MAX: usize = 2_000;

/// Longer than anything is remembered.
const LONG_S: u64 = 200;

#[derive(Arbitrary, Debug)]
struct Run {
    strategies: [u8; NODES],
    fallback: bool,
    evicts: bool,
    gap_ms: u8,
    steps: Vec<Step>,
    /// What becomes of frames, one after the other; those beyond the end arrive.
    fates: Vec<Fate>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// A datagram from the first or the last node to the other end.
    Send(bool, u16),
    /// Milliseconds pass.
    Wait(u16),
    /// A frame that is late arrives: the one at this place.
    Arrive(u8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Fate {
    Arrives,
    Lost,
    /// It arrives, and its acknowledgement does not.
    Unheard,
    /// It is acknowledged, and lost behind the radio.
    Swallowed,
    /// It arrives later, or never.
    Late,
    /// It arrives now and once more later.
    Twice,
}

struct Member<'a> {
    stack: Stack<'a>,
    socket: MailboxId,
    frame: [u8; FRAME_LEN_MAX],
}

struct Mesh<'a> {
    members: Vec<Member<'a>>,
    now: Instant,
    fates: VecDeque<Fate>,
    late: Vec<Vec<u8>>,
    sent: u16,
    twice: bool,
    /// Whether a node begins a datagram anew that was not acknowledged (RFC 8931 section 7.1, MaxDatagramRetries).
    repeats: bool,
    received: Vec<u16>,
}

/// Whatever is lost: what arrives is what was sent, and in the end no table, buffer or timer holds anything.
pub fn mesh(data: &[u8]) {
    let Ok(run) = Run::arbitrary(&mut Unstructured::new(data)) else {
        return;
    };
    let mut stores: [Store; NODES] = [const { Store::new() }; NODES];
    let members = stores.iter_mut().zip(run.strategies).enumerate();
    let members = members.map(|(index, (store, strategy))| Member::boot(index + 1, store, strategy, &run));
    let mut mesh = Mesh {
        members: members.collect(),
        now: Instant::from_micros(1_000_000),
        fates: run.fates.iter().copied().take(400).collect(),
        late: Vec::new(),
        sent: 0,
        twice: false,
        repeats: run
            .strategies
            .iter()
            .any(|strategy| strategy_of(*strategy) == Strategy::Recover),
        received: Vec::new(),
    };
    for step in run.steps.iter().take(60) {
        match *step {
            Step::Send(back, len) => mesh.send(back, usize::from(len % 1_200)),
            Step::Wait(ms) => mesh.pass(Duration::from_millis(ms.into())),
            Step::Arrive(place) => mesh.arrive(place.into()),
        }
        mesh.settle();
        mesh.check();
    }
    mesh.pass(Duration::from_secs(LONG_S));
    mesh.check();
    for member in &mesh.members {
        let buf = member.stack.buffer();
        assert_eq!((buf.live(), buf.used()), (0, 0), "something is left");
        assert_eq!(member.stack.next_deadline(mesh.now), None, "a timer is left");
        assert_eq!(member.stack.get(Target::Stack, Opt::Forwards), Ok(0));
        assert_eq!(member.stack.get(Target::Stack, Opt::Transfers), Ok(0));
        assert_eq!(member.stack.reassemblies(), 0);
    }
}

impl<'a> Member<'a> {
    fn boot(number: usize, store: &'a mut Store, strategy: u8, run: &Run) -> Self {
        let mut config = Config::new(number as u64);
        config.lowpan.forward.fallback = run.fallback;
        config.lowpan.reassembly.eviction = if run.evicts {
            Eviction::Stalest
        } else {
            Eviction::Never
        };
        let mut stack = Stack::new(store.lend(), &config).expect("it suffices");
        let strategy = strategy_of(strategy);
        let mut iface = IfaceConfig::new([2, 0, 0, 0, 0, 0, 0, number as u8]);
        iface.caps = Caps {
            csma: true,
            fcs: true,
        };
        iface.strategy = strategy;
        iface.fragment_gap = Gap::Fixed(Duration::from_millis(run.gap_ms.into()));
        if strategy == Strategy::EndToEnd {
            iface.mtu = SMALL_MTU;
        }
        stack.bring_up(IFACE, iface).expect("an interface");
        stack
            .add_address(IFACE, global(0, number as u8))
            .expect("a place");
        stack.set_context(0, Some(Context::new(global(0, 0).octets(), 64)));
        for other in (1..=NODES).filter(|other| *other != number) {
            let next = if other > number { number + 1 } else { number - 1 };
            let link_local = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, next as u16);
            let route = Route::via(global(0, other as u8), 128, IFACE, link_local);
            stack.add_route(route).expect("a place");
        }
        let socket = stack.udp_bind(PORT, 4).expect("a socket");
        Self {
            stack,
            socket,
            frame: [0; FRAME_LEN_MAX],
        }
    }
}

fn strategy_of(number: u8) -> Strategy {
    Strategy::ALL[usize::from(number) % Strategy::ALL.len()]
}

/// The payload of a datagram: its number, and bytes that follow from it.
fn payload(number: u16, len: usize) -> Vec<u8> {
    let bytes = (2..len.max(2)).map(|at| (at as u16).wrapping_mul(7).wrapping_add(number) as u8);
    number.to_be_bytes().into_iter().chain(bytes).collect()
}

impl Mesh<'_> {
    fn send(&mut self, back: bool, len: usize) {
        let (from, to) = if back { (NODES, 1) } else { (1, NODES) };
        let bytes = payload(self.sent, len);
        let member = &mut self.members[from - 1];
        let destination = (global(0, to as u8), PORT);
        let sent = member
            .stack
            .udp_send_to(self.now, member.socket, destination, &bytes, &mut ());
        // Where there is no room it is not sent.
        self.sent += u16::from(sent.is_ok());
    }

    fn hand_over(&mut self, frame: &[u8]) {
        let (header, _) = Header::parse(frame).expect("a frame of ours");
        let to = (1..=NODES).find(|number| header.dst == extended(*number as u8));
        if let Some(number) = to {
            let member = &mut self.members[number - 1];
            member
                .stack
                .frame(self.now, IFACE, frame, RxInfo::default(), &mut ());
        }
    }

    fn arrive(&mut self, place: usize) {
        if !self.late.is_empty() {
            let frame = self.late.remove(place % self.late.len());
            self.hand_over(&frame);
        }
    }

    /// One node sends a frame, if it wants to.
    fn transmit(&mut self, index: usize) -> bool {
        let member = &mut self.members[index];
        let frame = member.stack.transmit(self.now, IFACE, &mut member.frame, &mut ());
        let Some(TxInfo { len, ack_request, .. }) = frame else {
            return false;
        };
        let frame = member.frame[..len].to_vec();
        let fate = self.fates.pop_front().unwrap_or(Fate::Arrives);
        if matches!(fate, Fate::Arrives | Fate::Unheard | Fate::Twice) {
            self.hand_over(&frame);
        }
        if matches!(fate, Fate::Late | Fate::Twice) {
            self.twice |= matches!(fate, Fate::Twice);
            self.late.push(frame);
        }
        // Whoever did not hear the acknowledgement may send again, be it the link's or that of the datagram.
        let unheard = match fate {
            Fate::Unheard => true,
            Fate::Lost | Fate::Swallowed | Fate::Late => self.repeats,
            Fate::Arrives | Fate::Twice => false,
        };
        self.twice |= unheard;
        let outcome = match fate {
            Fate::Lost | Fate::Unheard if ack_request => TxOutcome::NoAck,
            _ if ack_request => TxOutcome::Acked,
            _ => TxOutcome::Sent,
        };
        let report = TxReport {
            outcome,
            attempts: 1,
            busy: 0,
        };
        self.members[index]
            .stack
            .transmitted(self.now, IFACE, report, &mut ());
        true
    }

    /// Runs until nobody has anything to do but timers.
    fn settle(&mut self) {
        for _ in 0..ROUNDS_MAX {
            let mut busy = false;
            for index in 0..NODES {
                let again = self.members[index].stack.poll(self.now, &mut ());
                busy |= again.is_some_and(|at| at <= self.now);
                busy |= self.transmit(index);
            }
            self.receive();
            if !busy {
                return;
            }
        }
        panic!("no end of work");
    }

    /// Takes what came to the sockets.
    fn receive(&mut self) {
        for member in &mut self.members {
            let mut bytes = [0; 2048];
            while let Some(received) = member
                .stack
                .udp_receive(self.now, member.socket, &mut bytes, &mut ())
            {
                let bytes = &bytes[..received.len];
                let number = u16::from_be_bytes([bytes[0], bytes[1]]);
                assert!(number < self.sent, "a datagram that nobody sent");
                assert_eq!(bytes, payload(number, bytes.len()), "another datagram's bytes");
                assert!(
                    self.twice || !self.received.contains(&number),
                    "a datagram came twice"
                );
                self.received.push(number);
            }
        }
    }

    /// Lets time pass, with every timer at its time.
    fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        for _ in 0..ROUNDS_MAX {
            self.settle();
            let deadlines = self.members.iter();
            let deadlines = deadlines.filter_map(|member| member.stack.next_deadline(self.now));
            match deadlines.min() {
                Some(at) if at <= end => self.now = self.now.max(at),
                _ => {
                    self.now = end;
                    return;
                }
            }
        }
        panic!("timers without end");
    }

    /// The promises that hold between any two calls.
    fn check(&self) {
        for member in &self.members {
            let buf = member.stack.buffer();
            assert_eq!(buf.in_hand(), 0, "a packet is in hand");
            assert_eq!(member.stack.audit(), buf.live(), "a leak");
            // Release builds have no such check.
            #[cfg(debug_assertions)]
            buf.check();
        }
    }
}
