//! A node with all services and a client, each with a stack of its own, joined by a link in memory, in virtual time.
#![allow(
    dead_code,
    reason = "each test binary that includes this module uses a part of it"
)]

use std::net::Ipv6Addr;

use sixlo::ipv6::Neighbor;
use sixlo::netdev::{IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::tcp::{ConnectionId, TcpError};
use sixlo::time::{Duration, Instant};
use sixlo::wire::addr::LinkAddr;
use sixlo_services::{Limits, Node, Room, Sample, Service, Services};

pub(crate) const IFACE: IfaceId = IfaceId(0);
/// Connections that the node serves at once.
pub(crate) const CONVERSATIONS: usize = 2;
/// Bytes of a request's head that the node takes.
pub(crate) const HEAD: usize = 512;

type Store = Fixed<32768, 96, 2, 8, 4, 0, 0, 6, 13824, 4, 4>;

/// The address of the node, and of the client.
pub(crate) const NODE: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
pub(crate) const CLIENT: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);

/// Both, and the time.
pub(crate) struct World {
    pub(crate) node: Stack<'static>,
    pub(crate) client: Stack<'static>,
    pub(crate) services: Services<'static, Node<'static>>,
    pub(crate) now: Instant,
    /// When the services want their turn.
    pub(crate) wake: Option<Instant>,
}

fn stack(k: u8) -> Stack<'static> {
    let eui = |k| [2, 0, 0, 0, 0, 0, 0, k];
    let memory = Box::leak(Box::new(Store::new()));
    let mut stack = Stack::new(memory.lend(), &Config::new(u64::from(k))).expect("the memory suffices");
    stack
        .bring_up(IFACE, IfaceConfig::packets(eui(k)))
        .expect("an interface");
    stack
        .add_neighbor(Neighbor {
            iface: IFACE,
            addr: if k == 1 { CLIENT } else { NODE },
            link: LinkAddr::Extended(eui(3 - k)),
        })
        .expect("room");
    stack
}

/// Lets a stack run and carries a packet to the other; true if there is more to do.
fn step(from: &mut Stack<'_>, to: &mut Stack<'_>, now: Instant) -> bool {
    let busy = from.poll(now, &mut ()).is_some_and(|at| at <= now);
    let mut packet = [0; 1280];
    let Some(info) = from.transmit(now, IFACE, &mut packet, &mut ()) else {
        return busy;
    };
    to.frame(now, IFACE, &packet[..info.len], RxInfo::default(), &mut ());
    let report = TxReport {
        outcome: TxOutcome::Sent,
        attempts: 1,
        busy: 0,
    };
    from.transmitted(now, IFACE, report, &mut ());
    true
}

impl World {
    /// All services open on their ports.
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::DEFAULT)
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        let room: &'static mut Room<CONVERSATIONS, { CONVERSATIONS * HEAD }> =
            Box::leak(Box::new(Room::new()));
        let samples = Box::leak(Box::new([Sample::EMPTY; 4]));
        let site = Node::new(Node::PAGES, samples);
        let mut services = Services::new(room.lend(), site).with_limits(limits);
        let mut node = stack(1);
        for service in Service::ALL {
            services
                .open(&mut node, service, service.port())
                .expect("a place");
        }
        Self {
            node,
            client: stack(2),
            services,
            now: Instant::from_micros(1_000_000),
            wake: None,
        }
    }

    /// Runs until nobody has anything to do before time passes.
    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            let now = self.now;
            let mut busy = false;
            for from in 0..2 {
                let (from, to) = match from {
                    0 => (&mut self.node, &mut self.client),
                    _ => (&mut self.client, &mut self.node),
                };
                busy |= step(from, to, now);
            }
            self.wake = self.services.turn(&mut self.node, now, &mut ());
            busy |= self.node.next_deadline(now).is_some_and(|at| at <= now);
            if !busy {
                return;
            }
        }
        panic!("they do not settle");
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        self.settle();
        loop {
            let stacks = [
                self.node.next_deadline(self.now),
                self.client.next_deadline(self.now),
                self.wake,
            ];
            let Some(due) = stacks.into_iter().flatten().min().filter(|at| *at <= end) else {
                break;
            };
            self.now = self.now.max(due);
            self.settle();
        }
        self.now = end;
    }

    /// Connects to a port of the node.
    pub(crate) fn connect(&mut self, port: u16) -> ConnectionId {
        let id = self
            .client
            .tcp_connect(self.now, (NODE, port), &mut ())
            .expect("a place");
        self.settle();
        id
    }

    /// Sends all of it; time passes as needed.
    pub(crate) fn send(&mut self, id: ConnectionId, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match self.client.tcp_send(self.now, id, bytes, &mut ()) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(TcpError::WouldBlock | TcpError::NoRoom) => self.pass(Duration::from_millis(20)),
                Err(error) => panic!("with {} bytes to go: {error:?}", bytes.len()),
            }
            self.settle();
        }
    }

    /// What is there; `Err` if the connection is gone, `Ok` with true at its end.
    pub(crate) fn take(&mut self, id: ConnectionId) -> Result<(Vec<u8>, bool), TcpError> {
        let (mut all, mut piece) = (Vec::new(), [0; 700]);
        loop {
            match self.client.tcp_recv(self.now, id, &mut piece, &mut ()) {
                Ok(0) => return Ok((all, true)),
                Ok(len) => all.extend(&piece[..len]),
                Err(TcpError::WouldBlock) => break,
                Err(error) if all.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        self.settle();
        Ok((all, false))
    }

    /// What comes in so much time, until the end of the connection.
    pub(crate) fn receive(&mut self, id: ConnectionId, span: Duration) -> (Vec<u8>, bool) {
        let (end, mut all) = (self.now + span, Vec::new());
        while self.now < end {
            match self.take(id) {
                Ok((more, ended)) => {
                    all.extend(more);
                    if ended {
                        return (all, true);
                    }
                }
                Err(_) => return (all, true),
            }
            self.pass(Duration::from_millis(10));
        }
        (all, false)
    }

    /// Says a request of HTTP and gives what comes in two seconds.
    pub(crate) fn ask(&mut self, id: ConnectionId, request: &str) -> Vec<u8> {
        self.send(id, request.as_bytes());
        self.receive(id, Duration::from_secs(2)).0
    }

    /// Nothing of a client is left.
    pub(crate) fn assert_quiet(&mut self) {
        self.pass(Duration::from_secs(200));
        assert_eq!(self.services.conversations(), 0, "conversations are left");
        assert_eq!(self.node.buffer().live(), 0, "packets are left");
        assert_eq!(self.node.audit(), 0);
    }
}
