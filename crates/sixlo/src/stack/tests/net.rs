//! A few stacks joined by links that lose what a test tells them to, in virtual time.
//!
//! Every device does CSMA by itself: a frame is handed over, arrives or not, and is reported at once. Node `k` (1, 2, ...)
//! has the EUI-64 02:00:00:00:00:00:00:0k, the addresses fe80::k and fd00::k, and context 0 is fd00::/64.

use core::net::Ipv6Addr;
use std::boxed::Box;
use std::vec::Vec;

use crate::ipv6::Route;
use crate::netdev::{Caps, FRAME_LEN_MAX, IfaceId, RxInfo, TxInfo, TxOutcome, TxReport};
use crate::netif::IfaceConfig;
use crate::sock::MailboxId;
use crate::stack::{Config, Fixed, Stack};
use crate::time::{Duration, Instant};
use crate::trace::{End, Event, PktId, Reason, Sink};
use crate::wire::addr::LinkAddr;
use crate::wire::ieee802154::Header;
use crate::wire::iphc::Context;

pub(crate) const IFACE: IfaceId = IfaceId(0);
pub(crate) const PREFIX: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 0);

pub(crate) type TestMemory = Fixed<8192, 64, 4, 8, 16, 4, 4>;

/// Keeps all events, and gives the identities behind a number.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Vec<(Instant, Event)>, u32);

impl Sink for Log {
    fn event(&mut self, now: Instant, event: &Event) {
        self.0.push((now, *event));
    }

    fn identity(&mut self) -> PktId {
        self.1 += 1;
        PktId::new(self.1)
    }
}

impl Log {
    /// The packets that were dropped, by reason, in order.
    pub(crate) fn drops(&self) -> Vec<Reason> {
        let dropped = |(_, event): &(Instant, Event)| match event {
            Event::End {
                end: End::Dropped(reason),
                ..
            } => Some(*reason),
            _ => None,
        };
        self.0.iter().filter_map(dropped).collect()
    }
}

/// The extended link-layer address of node `k`.
pub(crate) fn eui(k: usize) -> [u8; 8] {
    [2, 0, 0, 0, 0, 0, (k >> 8) as u8, k as u8]
}

/// The global address of node `k`.
pub(crate) fn global(k: usize) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, k as u16)
}

/// The link-local address of node `k`.
pub(crate) fn link_local(k: usize) -> Ipv6Addr {
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, k as u16)
}

/// A table that lives for ever.
pub(crate) fn lent<T>(len: usize, empty: impl Fn() -> T) -> &'static mut [T] {
    Box::leak((0..len).map(|_| empty()).collect())
}

/// A stack as node `k`, with one interface that is up.
pub(crate) fn stack(k: usize, config: &Config) -> Stack<'static> {
    stack_with(k, config, |_| ())
}

/// The same, with an interface that is configured otherwise.
pub(crate) fn stack_with(k: usize, config: &Config, change: impl Fn(&mut IfaceConfig)) -> Stack<'static> {
    let memory: &'static mut TestMemory = Box::leak(Box::new(Fixed::new()));
    let mut stack = Stack::new(memory.lend(), config).expect("the memory suffices");
    let mut iface = IfaceConfig {
        caps: Caps {
            csma: true,
            fcs: true,
        },
        ..IfaceConfig::new(eui(k))
    };
    change(&mut iface);
    stack.bring_up(IFACE, iface).expect("there is an interface");
    stack.add_address(IFACE, global(k)).expect("there is room");
    assert!(stack.set_context(0, Some(Context::new(PREFIX.octets(), 64))));
    stack
}

/// A node and its event log.
pub(crate) struct Node {
    pub(crate) stack: Stack<'static>,
    pub(crate) log: Log,
    frame: [u8; FRAME_LEN_MAX],
}

/// Nodes in one place: each hears each.
pub(crate) struct Net {
    pub(crate) nodes: Vec<Node>,
    pub(crate) now: Instant,
    /// Every frame that was sent: by whom, and its bytes.
    pub(crate) air: Vec<(usize, Vec<u8>)>,
    /// What becomes of the frame with this number: true if it arrives.
    pub(crate) arrives: Box<dyn FnMut(usize) -> bool>,
    /// The link says of every frame that it arrived.
    pub(crate) unnoticed: bool,
    /// Frames that were put in by hand, and the last tag of datagrams so fragmented.
    pub(crate) injected: usize,
    pub(crate) tag: u16,
}

impl Net {
    /// Nodes 1 to `n` with routes along the chain 1 - 2 - ... - n.
    pub(crate) fn chain(n: usize) -> Self {
        Self::chain_with(n, |_| (), |_| ())
    }

    /// The same, with all stacks and interfaces configured otherwise.
    pub(crate) fn chain_with(
        n: usize,
        change: impl Fn(&mut Config),
        change_iface: impl Fn(&mut IfaceConfig),
    ) -> Self {
        let mut nodes = Vec::new();
        for k in 1..=n {
            let mut config = Config::new(k as u64);
            change(&mut config);
            let mut stack = stack_with(k, &config, &change_iface);
            for other in (1..=n).filter(|other| *other != k) {
                let next = if other > k { k + 1 } else { k - 1 };
                stack
                    .add_route(Route::via(global(other), 128, IFACE, link_local(next)))
                    .expect("room");
            }
            nodes.push(Node {
                stack,
                log: Log(Vec::new(), 1000 * k as u32),
                frame: [0; FRAME_LEN_MAX],
            });
        }
        Self {
            nodes,
            now: Instant::from_micros(1_000),
            air: Vec::new(),
            arrives: Box::new(|_| true),
            unnoticed: false,
            injected: 0,
            tag: 0,
        }
    }

    /// Node `k`, counted from 1.
    pub(crate) fn node(&mut self, k: usize) -> &mut Node {
        &mut self.nodes[k - 1]
    }

    pub(crate) fn bind(&mut self, k: usize, port: u16) -> MailboxId {
        self.node(k).stack.udp_bind(port, 4).expect("a free socket")
    }

    pub(crate) fn send(&mut self, k: usize, socket: MailboxId, to: (Ipv6Addr, u16), payload: &[u8]) {
        let now = self.now;
        let node = self.node(k);
        node.stack
            .udp_send_to(now, socket, to, payload, &mut node.log)
            .expect("room");
    }

    pub(crate) fn receive(&mut self, k: usize, socket: MailboxId) -> Option<Vec<u8>> {
        let mut out = [0; 2048];
        let now = self.now;
        let node = self.node(k);
        let received = node.stack.udp_receive(now, socket, &mut out, &mut node.log)?;
        Some(out[..received.len].to_vec())
    }

    /// Lets node `k` send one frame, if it has one, and reports it; gives the frame.
    pub(crate) fn transmit(&mut self, k: usize) -> Option<Vec<u8>> {
        let now = self.now;
        let node = &mut self.nodes[k - 1];
        let TxInfo { len, id, .. } = node.stack.transmit(now, IFACE, &mut node.frame, &mut node.log)?;
        let frame = node.frame[..len].to_vec();
        let number = self.air.len();
        self.air.push((k, frame.clone()));
        let arrives = (self.arrives)(number);
        let (header, _) = Header::parse(&frame).expect("our own frame");
        let (dst, broadcast) = (header.dst, header.dst.is_broadcast());
        if arrives {
            for (index, node) in self.nodes.iter_mut().enumerate() {
                if index + 1 != k && (broadcast || dst == LinkAddr::Extended(eui(index + 1))) {
                    let info = RxInfo {
                        rssi_dbm: -50,
                        lqi: 255,
                        id,
                    };
                    node.stack.frame(now, IFACE, &frame, info, &mut node.log);
                }
            }
        }
        let outcome = match (broadcast, arrives || self.unnoticed) {
            (true, _) => TxOutcome::Sent,
            (false, true) => TxOutcome::Acked,
            (false, false) => TxOutcome::NoAck,
        };
        let report = TxReport {
            outcome,
            attempts: 1,
            busy: 0,
        };
        let node = &mut self.nodes[k - 1];
        node.stack.transmitted(now, IFACE, report, &mut node.log);
        Some(frame)
    }

    /// Runs until nobody has anything to do but timers.
    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            let mut busy = false;
            for k in 1..=self.nodes.len() {
                let now = self.now;
                let node = self.node(k);
                busy |= node.stack.poll(now, &mut node.log).is_some_and(|at| at <= now);
                busy |= self.transmit(k).is_some();
            }
            if !busy {
                return;
            }
        }
        panic!("the network does not settle");
    }

    /// Lets time pass, with every timer at its time.
    pub(crate) fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            self.settle();
            let deadlines = self
                .nodes
                .iter()
                .filter_map(|node| node.stack.next_deadline(self.now));
            match deadlines.min() {
                Some(at) if at <= end => self.now = self.now.max(at),
                _ => break,
            }
        }
        self.now = end;
    }

    /// Nothing is left behind anywhere.
    pub(crate) fn assert_idle(&self) {
        for (index, node) in self.nodes.iter().enumerate() {
            let buf = node.stack.buffer();
            assert_eq!(
                (buf.live(), buf.used(), buf.in_hand()),
                (0, 0, 0),
                "node {}",
                index + 1
            );
            assert_eq!(node.stack.audit(), 0);
            buf.check();
        }
    }

    /// Frames that node `k` has sent.
    pub(crate) fn frames_of(&self, k: usize) -> usize {
        self.air.iter().filter(|(sender, _)| *sender == k).count()
    }
}

impl Drop for Net {
    /// Whatever a test does, every live packet is in a table or a queue.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        for node in &self.nodes {
            assert_eq!(node.stack.audit(), node.stack.buffer().live(), "a leak");
        }
    }
}
