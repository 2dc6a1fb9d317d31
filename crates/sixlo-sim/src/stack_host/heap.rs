//! The memory of a node's stack.

use sixlo::ipv6::fragment::Partial;
use sixlo::ipv6::{Address, Neighbor, Route};
use sixlo::lowpan::{Inbound, Peer, Reassembly, Transfer, Vrb};
use sixlo::mac::duplicates::Seen;
use sixlo::netif::Interface;
use sixlo::netreg::Entry;
use sixlo::pktbuf::{Seg, Slot};
use sixlo::sock::Mailbox;
use sixlo::stack::Memory;
use sixlo::tcp::receive::capacity;
use sixlo::tcp::{Connection, HalfOpen, Listener};
use sixlo::timers::Timer;
use sixlo::wire::iphc::{CONTEXTS_MAX, Context};

use super::services::{self, Room};
use super::{BACKLOG, Setup};
use crate::config;

/// Addresses of a node: two link-local ones and a global one.
const ADDRESSES: usize = 3;

/// Addresses of an interface to the outside: a link-local one and a global one.
const ADDRESSES_OUTSIDE: usize = 2;

/// Neighbours whose last frame a node remembers, to know its retransmission.
const SEEN: usize = 16;

/// The memory of a node's stack, on the heap.
pub struct Heap {
    bytes: Vec<u8>,
    segs: Vec<Seg>,
    slots: Vec<Slot>,
    receivers: Vec<Entry>,
    timers: Vec<Timer>,
    ifaces: Vec<Interface>,
    seen: Vec<Seen>,
    reassemblies: Vec<Reassembly>,
    contexts: Vec<Context>,
    vrbs: Vec<Vrb>,
    peers: Vec<Peer>,
    transfers: Vec<Transfer>,
    inbounds: Vec<Inbound>,
    addresses: Vec<Address>,
    neighbors: Vec<Neighbor>,
    routes: Vec<Route>,
    partials: Vec<Partial>,
    mailboxes: Vec<Mailbox>,
    connections: Vec<Connection>,
    listeners: Vec<Listener>,
    backlog: Vec<HalfOpen>,
    tcp_receive: Vec<u8>,
    services: Option<Room>,
}

impl Heap {
    /// The memory that the stack of a node needs.
    pub fn new(config: &config::Stack, setup: &Setup) -> Self {
        let packets = usize::from(config.packets);
        let reassemblies = if setup.index == 0 {
            config.sink_reassembly_entries
        } else {
            config.reassembly_entries
        };
        let services = setup.services.then(Room::new);
        let (udp, tcp, served) = match services {
            Some(_) => (
                services::udp_and_tcp().0,
                services::udp_and_tcp().1,
                services::CONVERSATIONS + 2,
            ),
            None => (0, 0, 0),
        };
        let mailboxes = setup.ports.len() + 1 + udp;
        let (listeners, connections) = (setup.tcp_ports.len() + tcp, setup.connections + served);
        let (ifaces, addresses) = match setup.border {
            Some(_) => (2, ADDRESSES + ADDRESSES_OUTSIDE),
            None => (1, ADDRESSES),
        };
        Self {
            bytes: vec![0; config.packet_buffer_bytes as usize],
            segs: vec![Seg::EMPTY; packets],
            slots: vec![Slot::EMPTY; packets],
            receivers: vec![Entry::EMPTY; mailboxes],
            timers: vec![Timer::EMPTY; ifaces + Memory::OWN_TIMERS],
            ifaces: (0..ifaces).map(|_| Interface::EMPTY).collect(),
            seen: vec![Seen::EMPTY; SEEN],
            reassemblies: (0..reassemblies).map(|_| Reassembly::EMPTY).collect(),
            contexts: vec![Context::EMPTY; CONTEXTS_MAX],
            vrbs: vec![Vrb::EMPTY; usize::from(config.vrb_entries)],
            peers: vec![Peer::EMPTY; 2 * usize::from(config.vrb_entries)],
            transfers: (0..config.fragmentation_entries)
                .map(|_| Transfer::EMPTY)
                .collect(),
            inbounds: vec![Inbound::EMPTY; usize::from(reassemblies)],
            addresses: vec![Address::EMPTY; addresses],
            neighbors: Vec::new(),
            routes: vec![Route::EMPTY; setup.routes.len()],
            partials: (0..reassemblies).map(|_| Partial::EMPTY).collect(),
            mailboxes: (0..mailboxes).map(|_| Mailbox::EMPTY).collect(),
            connections: (0..connections).map(|_| Connection::EMPTY).collect(),
            listeners: vec![Listener::EMPTY; listeners],
            backlog: vec![HalfOpen::EMPTY; listeners * usize::from(BACKLOG)],
            tcp_receive: vec![0; connections * receive_store(config.tcp.receive_buffer_bytes)],
            services,
        }
    }

    /// Lends the memory to a stack, and that of its services if it has some.
    pub(super) fn lend(&mut self) -> (Memory<'_>, Option<&mut Room>) {
        let memory = Memory {
            bytes: &mut self.bytes,
            segs: &mut self.segs,
            slots: &mut self.slots,
            receivers: &mut self.receivers,
            timers: &mut self.timers,
            ifaces: &mut self.ifaces,
            seen: &mut self.seen,
            reassemblies: &mut self.reassemblies,
            contexts: &mut self.contexts,
            vrbs: &mut self.vrbs,
            peers: &mut self.peers,
            transfers: &mut self.transfers,
            inbounds: &mut self.inbounds,
            addresses: &mut self.addresses,
            neighbors: &mut self.neighbors,
            routes: &mut self.routes,
            partials: &mut self.partials,
            mailboxes: &mut self.mailboxes,
            connections: &mut self.connections,
            listeners: &mut self.listeners,
            backlog: &mut self.backlog,
            tcp_receive: &mut self.tcp_receive,
            loans: &mut [],
        };
        (memory, self.services.as_mut())
    }
}

/// Bytes of memory for a receive window: a ninth is for the bits that tell what came out of order.
fn receive_store(window: u16) -> usize {
    let store = usize::from(window).div_ceil(8) * 9;
    debug_assert!(capacity(store) >= usize::from(window));
    store
}
