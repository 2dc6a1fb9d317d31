//! What an application and an administrator call.

use core::net::Ipv6Addr;

use super::Stack;
use crate::ipv6::{Neighbor, Route, TableFull};
use crate::netapi::{Msg, Ty};
use crate::netdev::IfaceId;
use crate::netif::{Counters, IfaceConfig};
use crate::pktbuf::{Pkt, PktBuf};
use crate::sock::{MailboxId, OpenError, Received, SendError};
use crate::time::Instant;
use crate::trace::{Module, PktId, Reason, Sink};
use crate::wire::iphc::Context;
use crate::wire::ipv6::NextHeader;

/// Why an interface does not come up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BringUpError {
    /// There is no such place, packets still wait in it, or there is none for its addresses.
    NoPlace,
    /// Its strategy, or its kind of link, is not compiled in.
    NotBuilt,
}

impl Stack<'_> {
    /// Brings an interface up, with its link-local addresses (RFC 4944 section 7). One that is up already starts anew,
    /// without those that it had.
    ///
    /// # Errors
    ///
    /// [`BringUpError::NoPlace`], [`BringUpError::NotBuilt`].
    pub fn bring_up(&mut self, iface: IfaceId, config: IfaceConfig) -> Result<(), BringUpError> {
        if !(config.strategy.is_here() && config.link.is_here()) {
            return Err(BringUpError::NotBuilt);
        }
        let before = self.modules.netif.config(iface).map(IfaceConfig::link_addrs);
        let sequence = self.core.rng.next_u32() as u8;
        if !self.modules.netif.bring_up(iface, config, sequence) {
            return Err(BringUpError::NoPlace);
        }
        for addr in before.unwrap_or_default() {
            if let Some(link_local) = addr.link_local() {
                self.modules.ipv6.remove_address(link_local);
            }
        }
        for addr in config.link_addrs() {
            if let Some(link_local) = addr.link_local() {
                self.modules
                    .ipv6
                    .add_address(iface, link_local)
                    .map_err(|_| BringUpError::NoPlace)?;
            }
        }
        Ok(())
    }

    /// Gives an interface an address.
    ///
    /// # Errors
    ///
    /// If there is no place left.
    pub fn add_address(&mut self, iface: IfaceId, addr: Ipv6Addr) -> Result<(), TableFull> {
        self.modules.ipv6.add_address(iface, addr)
    }

    /// Takes an address away; true if it was there.
    pub fn remove_address(&mut self, addr: Ipv6Addr) -> bool {
        self.modules.ipv6.remove_address(addr)
    }

    /// Enters a static neighbour.
    ///
    /// # Errors
    ///
    /// If there is no place left.
    pub fn add_neighbor(&mut self, neighbor: Neighbor) -> Result<(), TableFull> {
        self.modules.ipv6.add_neighbor(neighbor)
    }

    /// Enters a static route, in place of one to the same prefix.
    ///
    /// # Errors
    ///
    /// If there is no place left.
    pub fn add_route(&mut self, route: Route) -> Result<(), TableFull> {
        self.modules.ipv6.add_route(route)
    }

    /// Removes the route to a prefix; true if it was there.
    pub fn remove_route(&mut self, prefix: Ipv6Addr, prefix_len: u8) -> bool {
        self.modules.ipv6.remove_route(prefix, prefix_len)
    }

    /// Sets or deletes (`None`) a compression context. False if there is no such place.
    pub fn set_context(&mut self, number: u8, context: Option<Context>) -> bool {
        self.modules.lowpan.set_context(number, context)
    }

    /// What an interface has counted.
    pub fn counters(&self, iface: IfaceId) -> Option<&Counters> {
        self.modules.netif.counters(iface)
    }

    /// How many packets and frames were dropped for this reason.
    pub const fn drops(&self, reason: Reason) -> u32 {
        self.core.drops(reason)
    }

    /// The packet buffer, to look at.
    pub const fn buffer(&self) -> &PktBuf<'_> {
        &self.core.buf
    }

    /// Reassemblies that are under way.
    pub fn reassemblies(&self) -> usize {
        self.modules.lowpan.reassemblies()
    }

    /// Packets in the transmit queue of an interface, the one being sent not counted.
    pub fn queue_len(&self, iface: IfaceId) -> usize {
        self.modules.netif.queue_len(iface)
    }

    /// Opens a UDP socket that holds up to `capacity` datagrams.
    ///
    /// # Errors
    ///
    /// If there is no place for it, or the port is 0.
    pub fn udp_bind(&mut self, port: u16, capacity: u16) -> Result<MailboxId, OpenError> {
        self.modules.sockets.bind(&mut self.core, port, capacity)
    }

    /// Sends a datagram. That it was taken says nothing about its arrival.
    ///
    /// # Errors
    ///
    /// If it was not taken.
    pub fn udp_send_to(
        &mut self,
        now: Instant,
        socket: MailboxId,
        dst: (Ipv6Addr, u16),
        payload: &[u8],
        sink: &mut impl Sink,
    ) -> Result<PktId, SendError> {
        let (mut cx, modules) = self.parts(now, sink);
        let packet = modules.sockets.datagram(&mut cx, socket, dst, payload)?;
        let id = cx.core.buf.id(&packet);
        let message = Msg::down(Ty::Udp, dst.1);
        modules.follow(&mut cx, Module::App, crate::netapi::Next::To(message, packet));
        self.after_step();
        Ok(id)
    }

    /// Takes the first datagram out of a socket and copies its payload into `out`. `None` if nothing waits, or what waits
    /// first is no datagram that came in ([`mailbox_receive`](Self::mailbox_receive) takes it).
    pub fn udp_receive(
        &mut self,
        now: Instant,
        socket: MailboxId,
        out: &mut [u8],
        sink: &mut impl Sink,
    ) -> Option<Received> {
        let (mut cx, modules) = self.parts(now, sink);
        let received = modules.sockets.receive(&mut cx, socket, out);
        self.after_step();
        received
    }

    /// Opens a mailbox that holds up to `capacity` packets.
    ///
    /// # Errors
    ///
    /// If there is no place for it.
    pub fn open_mailbox(&mut self, capacity: u16) -> Result<MailboxId, OpenError> {
        self.modules.sockets.open(capacity)
    }

    /// Registers a mailbox for messages like `msg`, of any context if `any`: an application's own protocol, or a look
    /// at those of the stack.
    ///
    /// # Errors
    ///
    /// If the mailbox is not open or the registry is full.
    pub fn register(&mut self, mailbox: MailboxId, msg: Msg, any: bool) -> Result<(), OpenError> {
        self.modules.sockets.register(&mut self.core, mailbox, msg, any)
    }

    /// Removes a mailbox from messages like `msg`; true if it was registered for them.
    pub fn unregister(&mut self, mailbox: MailboxId, msg: Msg) -> bool {
        self.modules.sockets.unregister(&mut self.core, mailbox, msg)
    }

    /// Takes the first packet out of a mailbox: copies it into `out`, from where its receiver's header begins, and gives
    /// its message and its whole length. `None` if nothing waits.
    pub fn mailbox_receive(
        &mut self,
        now: Instant,
        mailbox: MailboxId,
        out: &mut [u8],
        sink: &mut impl Sink,
    ) -> Option<(Msg, usize)> {
        let (mut cx, modules) = self.parts(now, sink);
        let received = modules.sockets.receive_any(&mut cx, mailbox, out);
        self.after_step();
        received
    }

    /// Sends what an application's own protocol puts over IPv6: `payload` with this next header. The checksum field
    /// of UDP and ICMPv6 must hold the sum over header and payload; other protocols' checksums are their own affair.
    ///
    /// # Errors
    ///
    /// If it was not taken.
    pub fn send_transport(
        &mut self,
        now: Instant,
        dst: Ipv6Addr,
        next_header: NextHeader,
        payload: &[u8],
        sink: &mut impl Sink,
    ) -> Result<PktId, SendError> {
        let (mut cx, modules) = self.parts(now, sink);
        let packet = modules.sockets.transport(&mut cx, dst, next_header, payload)?;
        let id = cx.core.buf.id(&packet);
        let message = Msg::down(Ty::Transport, u16::from(next_header.0));
        modules.follow(&mut cx, Module::App, crate::netapi::Next::To(message, packet));
        self.after_step();
        Ok(id)
    }

    /// Packets that wait in a socket or mailbox.
    pub fn waiting(&self, mailbox: MailboxId) -> usize {
        self.modules.sockets.waiting(mailbox)
    }

    /// Closes a socket or mailbox; what waits in it is dropped. False if it was not open.
    pub fn close(&mut self, now: Instant, mailbox: MailboxId, sink: &mut impl Sink) -> bool {
        let (mut cx, modules) = self.parts(now, sink);
        let closed = modules.sockets.close(&mut cx, mailbox);
        self.after_step();
        closed
    }

    /// Counts the live packets that a table or queue of the stack holds. It equals [`PktBuf::live`]; anything else is
    /// a leak.
    pub fn audit(&self) -> usize {
        let mut reached = 0;
        let mut see = |_: &Pkt| reached += 1;
        self.core.walk(&mut see);
        self.modules.holds(&self.core.buf, &mut see);
        reached
    }
}
