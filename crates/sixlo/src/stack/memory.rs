//! The memory of a stack: named slices that the caller lends, from a static or from the heap.

use crate::ipv6::fragment::Partial;
use crate::ipv6::{Address, Neighbor, Route};
use crate::lowpan::{Inbound, Peer, Reassembly, Transfer, Vrb};
use crate::mac::duplicates::Seen;
use crate::netif::Interface;
use crate::netreg::Entry;
use crate::pktbuf::{Loan, Seg, Slot};
use crate::sock::Mailbox;
use crate::tcp::{Connection, HalfOpen, Listener};
use crate::timers::Timer;
use crate::wire::iphc::{CONTEXTS_MAX, Context};

/// Everything that a stack stores, lent by its owner. The length of each slice is a capacity.
pub struct Memory<'a> {
    /// The packet buffer's bytes, at most 256 KiB.
    pub bytes: &'a mut [u8],
    /// The packet buffer's segments: one for each piece of a packet after its first.
    pub segs: &'a mut [Seg],
    /// The packet buffer's slots: one for each packet.
    pub slots: &'a mut [Slot],
    /// Lines of the registry: one for each socket or registration.
    pub receivers: &'a mut [Entry],
    /// Timers: one for each interface and [`Memory::OWN_TIMERS`] more.
    pub timers: &'a mut [Timer],
    /// Interfaces.
    pub ifaces: &'a mut [Interface],
    /// Neighbours whose last frame is remembered, to know its retransmission.
    pub seen: &'a mut [Seen],
    /// Reassemblies at once.
    pub reassemblies: &'a mut [Reassembly],
    /// Compression contexts, at most 16 (RFC 6282 section 3.1.2).
    pub contexts: &'a mut [Context],
    /// Datagrams that are forwarded by their fragments at once; none is needed where nothing is forwarded so.
    pub vrbs: &'a mut [Vrb],
    /// Neighbours between which they are forwarded: twice as many suffice in any case.
    pub peers: &'a mut [Peer],
    /// Datagrams that are sent in recoverable fragments at once; none is needed where no interface does so.
    pub transfers: &'a mut [Transfer],
    /// Datagrams that come in in recoverable fragments at once, or did a short time ago: as many as reassemblies suffice.
    pub inbounds: &'a mut [Inbound],
    /// Addresses of this node.
    pub addresses: &'a mut [Address],
    /// Static neighbours.
    pub neighbors: &'a mut [Neighbor],
    /// Static routes.
    pub routes: &'a mut [Route],
    /// Packets that are put together from IPv6 fragments at once.
    pub partials: &'a mut [Partial],
    /// Sockets and mailboxes.
    pub mailboxes: &'a mut [Mailbox],
    /// TCP connections, at most 255; none is needed where there is no TCP.
    pub connections: &'a mut [Connection],
    /// TCP listeners, at most 255.
    pub listeners: &'a mut [Listener],
    /// TCP connections that are being opened by peers.
    pub backlog: &'a mut [HalfOpen],
    /// Receive buffers of TCP, shared out in equal parts among the connections.
    pub tcp_receive: &'a mut [u8],
    /// Pieces of data that TCP may send at once from where the application has them for ever.
    pub loans: &'a mut [Loan],
}

impl Memory<'_> {
    /// Timers beside those of the interfaces.
    pub const OWN_TIMERS: usize = 2;
}

/// A slice of the memory is too small for the stack itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotEnough {
    /// The packet buffer's bytes, or more than it can address.
    Bytes,
    /// Timers.
    Timers,
}

/// Memory of fixed size, for a static: a stack with one interface.
///
/// `BYTES` of packet buffer, up to `PACKETS` packets (and as many further segments), `REASSEMBLIES` at once (of 6LoWPAN and
/// as many of IPv6), `SOCKETS`
/// sockets or mailboxes, `ROUTES` static routes and as many neighbours, `VRBS` datagrams that are forwarded by their
/// fragments, `TRANSFERS` that are sent in recoverable ones, `CONNECTIONS` of TCP with `RECEIVE` bytes of receive buffer in all,
/// `LISTENERS` of it and `BACKLOG` that are being opened by peers. All of it is zero at first, so that a static lies in `.bss`.
pub struct Fixed<
    const BYTES: usize,
    const PACKETS: usize,
    const REASSEMBLIES: usize,
    const SOCKETS: usize,
    const ROUTES: usize,
    const VRBS: usize = 0,
    const TRANSFERS: usize = 0,
    const CONNECTIONS: usize = 0,
    const RECEIVE: usize = 0,
    const LISTENERS: usize = 0,
    const BACKLOG: usize = 0,
> {
    bytes: [u8; BYTES],
    segs: [Seg; PACKETS],
    slots: [Slot; PACKETS],
    receivers: [Entry; RECEIVERS],
    timers: [Timer; 1 + Memory::OWN_TIMERS],
    ifaces: [Interface; 1],
    seen: [Seen; SEEN],
    reassemblies: [Reassembly; REASSEMBLIES],
    contexts: [Context; CONTEXTS_MAX],
    vrbs: [Vrb; VRBS],
    peers: [[Peer; 2]; VRBS],
    transfers: [Transfer; TRANSFERS],
    inbounds: [Inbound; REASSEMBLIES],
    addresses: [Address; ADDRESSES],
    neighbors: [Neighbor; ROUTES],
    routes: [Route; ROUTES],
    partials: [Partial; REASSEMBLIES],
    mailboxes: [Mailbox; SOCKETS],
    connections: [Connection; CONNECTIONS],
    listeners: [Listener; LISTENERS],
    backlog: [HalfOpen; BACKLOG],
    tcp_receive: [u8; RECEIVE],
    loans: [Loan; CONNECTIONS],
}

/// Lines of the registry of a [`Fixed`], for sockets and registrations.
const RECEIVERS: usize = 9;
/// Neighbours whose last frame a [`Fixed`] remembers.
const SEEN: usize = 8;
/// Addresses of a [`Fixed`]: two link-local ones and two global ones.
const ADDRESSES: usize = 4;

impl<
    const BYTES: usize,
    const PACKETS: usize,
    const REASSEMBLIES: usize,
    const SOCKETS: usize,
    const ROUTES: usize,
    const VRBS: usize,
    const TRANSFERS: usize,
    const CONNECTIONS: usize,
    const RECEIVE: usize,
    const LISTENERS: usize,
    const BACKLOG: usize,
>
    Fixed<
        BYTES,
        PACKETS,
        REASSEMBLIES,
        SOCKETS,
        ROUTES,
        VRBS,
        TRANSFERS,
        CONNECTIONS,
        RECEIVE,
        LISTENERS,
        BACKLOG,
    >
{
    /// Memory with nothing in it: all-zero bits.
    pub const fn new() -> Self {
        Self {
            bytes: [0; BYTES],
            segs: [Seg::EMPTY; PACKETS],
            slots: [Slot::EMPTY; PACKETS],
            receivers: [Entry::EMPTY; RECEIVERS],
            timers: [Timer::EMPTY; 1 + Memory::OWN_TIMERS],
            ifaces: [const { Interface::EMPTY }; 1],
            seen: [Seen::EMPTY; SEEN],
            reassemblies: [const { Reassembly::EMPTY }; REASSEMBLIES],
            contexts: [Context::EMPTY; CONTEXTS_MAX],
            vrbs: [Vrb::EMPTY; VRBS],
            peers: [[Peer::EMPTY; 2]; VRBS],
            transfers: [const { Transfer::EMPTY }; TRANSFERS],
            inbounds: [Inbound::EMPTY; REASSEMBLIES],
            addresses: [Address::EMPTY; ADDRESSES],
            neighbors: [Neighbor::EMPTY; ROUTES],
            routes: [Route::EMPTY; ROUTES],
            partials: [const { Partial::EMPTY }; REASSEMBLIES],
            mailboxes: [const { Mailbox::EMPTY }; SOCKETS],
            connections: [const { Connection::EMPTY }; CONNECTIONS],
            listeners: [Listener::EMPTY; LISTENERS],
            backlog: [HalfOpen::EMPTY; BACKLOG],
            tcp_receive: [0; RECEIVE],
            loans: [Loan::EMPTY; CONNECTIONS],
        }
    }

    /// Lends the memory to a stack.
    pub fn lend(&mut self) -> Memory<'_> {
        Memory {
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
            peers: self.peers.as_flattened_mut(),
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
            loans: &mut self.loans,
        }
    }
}

impl<
    const BYTES: usize,
    const PACKETS: usize,
    const REASSEMBLIES: usize,
    const SOCKETS: usize,
    const ROUTES: usize,
    const VRBS: usize,
    const TRANSFERS: usize,
    const CONNECTIONS: usize,
    const RECEIVE: usize,
    const LISTENERS: usize,
    const BACKLOG: usize,
> Default
    for Fixed<
        BYTES,
        PACKETS,
        REASSEMBLIES,
        SOCKETS,
        ROUTES,
        VRBS,
        TRANSFERS,
        CONNECTIONS,
        RECEIVE,
        LISTENERS,
        BACKLOG,
    >
{
    fn default() -> Self {
        Self::new()
    }
}
