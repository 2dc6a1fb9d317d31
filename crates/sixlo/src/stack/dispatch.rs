//! The dispatcher: a handler says where its packet goes next, and the dispatcher runs on with it at once, unless packets
//! wait for a lower layer or for the same module, or there are several receivers: then the packet waits in a mailbox.

use super::Modules;
use crate::ground::Cx;
use crate::ipv6::fragment;
use crate::netapi::{Dir, Msg, Next, Ty};
use crate::netdev::IfaceId;
use crate::netif::LinkKind;
use crate::netreg::{ICMPV6, Receiver, Receivers, Registry, TCP, own};
use crate::pktbuf::{NoRoom, Pkt, PktBuf};
use crate::tcp;
use crate::time::sooner;
use crate::timers::TimerId;
use crate::trace::{End, Event, Module, Reason, Sink};
use crate::udp;
use crate::wire::icmpv6::ErrorMessage;

/// Segments of TCP that are sent in one step.
const SEGMENTS_MAX: usize = 8;

/// All who receive a message.
#[inline]
fn receivers(registry: &Registry<'_>, msg: Msg) -> Receivers {
    match (own(msg), registry.receivers(msg)) {
        (None, others) => others,
        (Some(who), Receivers::None) => Receivers::One(who),
        (Some(_), _) => Receivers::Several,
    }
}

/// Why a packet that nobody receives ends.
const fn nobody(msg: Msg) -> Reason {
    match (msg.dir, msg.ty) {
        (Dir::Down, _) | (_, Ty::Link | Ty::Fragment | Ty::Recover) => Reason::NoInterface,
        (_, Ty::Ipv6 | Ty::Transport) => Reason::NextHeaderUnknown,
        (_, Ty::Icmpv6) => Reason::Icmpv6Unhandled,
        (_, Ty::Udp) => Reason::PortUnreachable,
    }
}

/// Ends a packet that nobody receives. RFC 4443 section 3.1: the source is told where it was for a port.
#[cold]
fn unclaimed(msg: Msg, packet: Pkt) -> Next {
    match nobody(msg) {
        reason @ Reason::PortUnreachable => Next::Refuse(packet, reason, ErrorMessage::PORT),
        reason => Next::Drop(packet, reason),
    }
}

impl<'a> Modules<'a> {
    /// Hands a packet to a module.
    pub(super) fn call<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, 'a, S>,
        who: Receiver,
        msg: Msg,
        packet: Pkt,
    ) -> Next {
        match who.module {
            Module::Netif => self.send_down(cx, msg, packet),
            Module::Ipv6 if msg.dir == Dir::Up => {
                let next = self.ipv6.receive(cx, packet);
                if self.ipv6.deadline_changed() {
                    self.rearm_reassembly(cx);
                }
                next
            }
            Module::Ipv6 => self.ipv6.send(cx, packet),
            Module::Icmpv6 => {
                let next = self.icmpv6.receive(cx, packet);
                self.show_error_to_tcp(cx, next)
            }
            Module::Udp if msg.dir == Dir::Up => match udp::receive(&mut cx.core.buf, &packet) {
                Ok(message) => Next::To(message, packet),
                Err(reason) => Next::Drop(packet, reason),
            },
            Module::Udp => udp::send(cx, packet),
            Module::Tcp if tcp::HERE => {
                let (tcp, ways) = self.tcp_and_ways();
                tcp.receive(cx, &ways, packet)
            }
            Module::App => Next::Taken(self.sockets.deliver(cx, who.instance, msg, packet)),
            // The adaptation layer is called with frames and asked for frames; no message goes to it.
            Module::Lowpan | Module::Tcp => Next::Drop(packet, nobody(msg)),
        }
    }

    /// TCP learns from ICMPv6 errors, whoever else takes them.
    fn show_error_to_tcp<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>, next: Next) -> Next {
        match next {
            next if !tcp::HERE => next,
            Next::Drop(packet, Reason::Icmpv6Unhandled) if self.tcp.heed_error(cx, &packet) => {
                Next::Taken(cx.end(packet, Module::Tcp, End::Consumed))
            }
            Next::To(msg, packet) if msg.ty == Ty::Icmpv6 => {
                self.tcp.heed_error(cx, &packet);
                Next::To(msg, packet)
            }
            next => next,
        }
    }

    /// Runs on with what a handler in `module` returned, until the packet is taken, waits or has ended.
    pub(super) fn follow<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>, module: Module, next: Next) {
        let (mut module, mut next) = (module, next);
        loop {
            match next {
                Next::Taken(_done) => return,
                Next::Drop(packet, reason) => {
                    let _ended = cx.drop(packet, module, reason);
                    return;
                }
                Next::Refuse(packet, reason, message) => {
                    let own = |addr: &_| self.ipv6.owns(addr);
                    let error = self.icmpv6.error(cx, &packet, message, own);
                    let _ended = cx.drop(packet, module, reason);
                    let Some(error) = error else { return };
                    module = Module::Icmpv6;
                    next = Next::To(Msg::down(Ty::Transport, ICMPV6), error);
                }
                Next::To(msg, packet) => match receivers(&cx.core.registry, msg) {
                    Receivers::One(who) => {
                        let id = cx.core.buf.id(&packet);
                        let queued = who.module != Module::App && cx.core.must_wait(who.module);
                        cx.event(Event::Hop {
                            id,
                            from: module,
                            to: who.module,
                            queued,
                        });
                        if queued {
                            let _posted = cx.core.post(who.module, msg, packet);
                            return;
                        }
                        next = self.call(cx, who, msg, packet);
                        module = who.module;
                    }
                    Receivers::None => next = unclaimed(msg, packet),
                    Receivers::Several => {
                        self.fan_out(cx, module, msg, packet);
                        return;
                    }
                },
            }
        }
    }

    /// A timer is due.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn timer<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>, timer: TimerId) {
        if usize::from(timer.0) < self.netif.capacity() {
            self.netif.timer(cx, IfaceId(timer.0));
            self.settle(cx, IfaceId(timer.0));
        } else if tcp::HERE && timer == self.tcp_timer() {
            self.tcp.expire(cx);
        } else {
            self.lowpan.expire(cx);
            while let Some(next) = self.ipv6.expire(cx) {
                self.follow(cx, Module::Ipv6, next);
            }
            self.send_outgoing(cx);
            self.rearm_reassembly(cx);
        }
    }

    /// Gives the interfaces what the adaptation layer made.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn send_outgoing<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>) {
        // After most frames there is nothing.
        while let Some(packet) = self.lowpan.outgoing(cx.core) {
            self.send_packet(cx, packet);
        }
    }

    /// Gives an interface a packet that the adaptation layer made.
    fn send_packet<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>, packet: Pkt) {
        let msg = cx.core.buf.msg(&packet);
        if msg.ty == Ty::Recover && self.lowpan.doubts_path(msg.context) {
            self.reroute(cx, msg.context, &packet);
        }
        if let Next::Drop(packet, reason) = self.netif.send(cx, msg, packet) {
            self.lowpan.settle(cx, packet, Some(reason));
        }
    }

    /// Looks up the next hop of a datagram under recovery anew.
    fn reroute<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>, place: u16, packet: &Pkt) {
        if let Some((iface, next_hop)) = self.ipv6.way_of(&cx.core.buf, packet) {
            let cuts = self.netif.link(iface) == Some(LinkKind::Ieee802154);
            let meta = cx.core.buf.meta_mut(packet);
            if (meta.iface, meta.link_dst) != (iface, next_hop) && cuts {
                meta.iface = iface;
                meta.link_dst = next_hop;
                self.lowpan.reroute(place, iface, next_hop);
            }
        }
    }

    /// Lets the adaptation layer decide about a packet of which the link is done with a frame.
    pub(super) fn settle<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>, iface: IfaceId) {
        if let Some((packet, failed)) = self.netif.settling(cx, iface) {
            self.lowpan.settle(cx, packet, failed);
            self.send_outgoing(cx);
            if self.lowpan.deadline_changed() {
                self.rearm_reassembly(cx);
            }
            self.netif.next_turn(cx, iface);
        }
    }

    /// Sets the timer of reassembly to the earliest deadline there.
    pub(super) fn rearm_reassembly<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>) {
        let timer = TimerId(self.netif.capacity() as u8);
        let mut deadline = self.lowpan.deadline();
        if fragment::HERE {
            deadline = sooner(deadline, self.ipv6.deadline());
        }
        cx.core.timers.set(timer, deadline);
    }

    const fn tcp_timer(&self) -> TimerId {
        TimerId(self.netif.capacity() as u8 + 1)
    }

    /// Lets TCP send what it may, a bounded number of segments, and sets its timer. Not from within a handler: what TCP
    /// sends may come back to it.
    pub(super) fn pump<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>) {
        if !tcp::HERE {
            return;
        }
        for _ in 0..SEGMENTS_MAX {
            if !self.tcp.wants_output() {
                break;
            }
            let Some(packet) = self.tcp.next_segment(cx) else {
                break;
            };
            let message = Msg::down(Ty::Transport, TCP);
            self.follow(cx, Module::Tcp, Next::To(message, packet));
        }
        if self.tcp.deadline_changed() {
            cx.core.timers.set(self.tcp_timer(), self.tcp.deadline());
        }
    }

    /// Ends every packet that a module keeps or that waits for one.
    pub(super) fn give_up<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>, reason: Reason) {
        self.netif.give_up(cx, reason);
        self.lowpan.give_up(cx, reason);
        self.ipv6.give_up(cx, reason);
        self.tcp.give_up(cx, reason);
        self.sockets.give_up(cx, reason);
        while let Some((module, packet)) = cx.core.next_waiting() {
            let _ended = cx.drop(packet, module, reason);
        }
    }

    /// Shows every packet that a module keeps to an audit.
    pub(super) fn holds(&self, buf: &PktBuf<'_>, see: &mut dyn FnMut(&Pkt)) {
        self.netif.holds(buf, see);
        self.lowpan.holds(buf, see);
        self.ipv6.holds(buf, see);
        self.tcp.holds(buf, see);
        self.sockets.holds(buf, see);
    }

    /// Gives a packet to several receivers: each gets a slot of its own over the same bytes. Where there is no room for
    /// one more, that receiver gets nothing, and this is on record.
    fn fan_out<S: Sink>(&mut self, cx: &mut Cx<'_, 'a, S>, from: Module, msg: Msg, packet: Pkt) {
        let id = cx.core.buf.id(&packet);
        let mut place = 0;
        let mut last = own(msg);
        while let Some((who, next)) = cx.core.registry.nth(msg, place) {
            place = next;
            // The last receiver gets the original, so each one waits here until the next is found.
            let Some(earlier) = last.replace(who) else {
                continue;
            };
            cx.event(Event::Share {
                id,
                module: earlier.module,
            });
            match cx.core.buf.share(&packet) {
                Ok(copy) => self.hand_out(cx, from, earlier, msg, copy),
                Err(no_room) => {
                    let reason = NoRoom::reason(no_room);
                    cx.count(reason);
                    cx.event(Event::End {
                        id,
                        module: earlier.module,
                        end: End::Dropped(reason),
                    });
                }
            }
        }
        match last {
            Some(who) => self.hand_out(cx, from, who, msg, packet),
            None => {
                let _ended = cx.drop(packet, from, nobody(msg));
            }
        }
    }

    /// Gives a packet to one of several receivers: into its mailbox.
    fn hand_out<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, 'a, S>,
        from: Module,
        who: Receiver,
        msg: Msg,
        packet: Pkt,
    ) {
        let id = cx.core.buf.id(&packet);
        cx.event(Event::Hop {
            id,
            from,
            to: who.module,
            queued: true,
        });
        let _taken = match who.module {
            // What the application receives waits in the application's own mailboxes.
            Module::App => self.sockets.deliver(cx, who.instance, msg, packet),
            module => cx.core.post(module, msg, packet),
        };
    }
}
