//! The stack: all modules put together, and the dispatcher that runs them.
//!
//! Four calls drive it, each with the present time: [`Stack::frame`] when a frame came in, [`Stack::transmit`] when the
//! device is free and [`Stack::wants_transmit`] says so, [`Stack::transmitted`] when the device is done with it, and
//! [`Stack::poll`] when the instant that the last `poll` gave has come. Early, late and repeated calls are safe. Time
//! must not run backwards. After each of the others `poll` has to be called, or asked by [`Stack::next_deadline`].

use crate::ground::{Core, Cx};
use crate::icmpv6::Icmpv6;
use crate::ipv6::{self, Ipv6};
use crate::lowpan::{self, Lowpan, Ways};
use crate::mac::duplicates::Duplicates;
use crate::netdev::{FCS_LEN, FRAME_LEN_MAX, IfaceId, RxInfo, TxInfo, TxReport};
use crate::netif::{LinkKind, Netif};
use crate::netreg::{Receiver, Registry};
use crate::pktbuf::PktBuf;
use crate::rng::Rng;
use crate::sock::Sockets;
use crate::tcp::{self, Tcp};
use crate::time::Instant;
use crate::timers::Timers;
use crate::trace::{Module, Reason, Sink};
use crate::wire::iphc::Link;

mod api;
mod config;
mod dispatch;
mod fragments;
mod memory;
mod options;
mod segment_size;
mod tcp_api;
#[cfg(test)]
pub(crate) mod tests;

pub use api::BringUpError;
pub use config::Config;
pub use memory::{Fixed, Memory, NotEnough};
pub use options::{Opt, OptionError, Target, Value};

/// Steps that one call of [`Stack::poll`] takes at most: a waiting frame waits for no more than these.
const STEPS_MAX: usize = 8;

/// A protocol stack.
pub struct Stack<'a> {
    core: Core<'a>,
    modules: Modules<'a>,
}

/// The modules, beside the ground that they share.
struct Modules<'a> {
    netif: Netif<'a>,
    lowpan: Lowpan<'a>,
    ipv6: Ipv6<'a>,
    icmpv6: Icmpv6,
    tcp: Tcp<'a>,
    sockets: Sockets<'a>,
}

impl<'a> Stack<'a> {
    /// Puts a stack together over memory of the caller, with no interface up.
    ///
    /// # Errors
    ///
    /// If a slice of the memory is too small for the stack's own needs; the error says which.
    pub fn new(memory: Memory<'a>, config: &Config) -> Result<Self, NotEnough> {
        if memory.timers.len() < memory.ifaces.len() + Memory::OWN_TIMERS {
            return Err(NotEnough::Timers);
        }
        let buf = PktBuf::new(memory.bytes, memory.segs, memory.slots, config.reserve_bytes)
            .map_err(|_| NotEnough::Bytes)?
            .with_loans(memory.loans);
        let registry = Registry::new(memory.receivers);
        let mut rng = Rng::new(config.seed);
        let tag = rng.next_u32() as u16;
        let duplicates = Duplicates::new(memory.seen, config.duplicate_window);
        Ok(Self {
            core: Core::new(buf, registry, Timers::new(memory.timers), rng),
            modules: Modules {
                netif: Netif::new(memory.ifaces, duplicates),
                lowpan: Lowpan::new(
                    lowpan::Tables {
                        reassemblies: memory.reassemblies,
                        contexts: memory.contexts,
                        vrbs: memory.vrbs,
                        peers: memory.peers,
                        transfers: memory.transfers,
                        inbounds: memory.inbounds,
                    },
                    config.lowpan,
                    tag,
                ),
                ipv6: Ipv6::new(
                    ipv6::Memory {
                        addresses: memory.addresses,
                        neighbors: memory.neighbors,
                        routes: memory.routes,
                        partials: memory.partials,
                    },
                    config.ipv6,
                ),
                icmpv6: Icmpv6::new(config.icmpv6),
                tcp: Tcp::new(
                    tcp::Tables {
                        connections: memory.connections,
                        listeners: memory.listeners,
                        backlog: memory.backlog,
                        receive: memory.tcp_receive,
                    },
                    config.tcp,
                    // Apart from the numbers that everybody sees.
                    &mut Rng::new(!config.seed),
                ),
                sockets: Sockets::new(memory.mailboxes),
            },
        })
    }

    /// Ends every packet and gives the memory back, for a reboot.
    pub fn into_memory(mut self, now: Instant, sink: &mut impl Sink) -> Memory<'a> {
        let mut cx = Cx {
            core: &mut self.core,
            sink,
            now,
        };
        self.modules.give_up(&mut cx, Reason::TornDown);
        let Modules {
            netif,
            lowpan,
            ipv6,
            icmpv6: _,
            tcp,
            sockets,
        } = self.modules;
        let (ifaces, duplicates) = netif.into_parts();
        let lowpan::Tables {
            reassemblies,
            contexts,
            vrbs,
            peers,
            transfers,
            inbounds,
        } = lowpan.into_tables();
        let ipv6::Memory {
            addresses,
            neighbors,
            routes,
            partials,
        } = ipv6.into_tables();
        let tcp::Tables {
            connections,
            listeners,
            backlog,
            receive,
        } = tcp.into_tables();
        let (mut buf, registry, timers) = self.core.into_parts();
        let loans = buf.take_loans();
        let (bytes, segs, slots) = buf.into_parts();
        Memory {
            bytes,
            segs,
            slots,
            receivers: registry.into_lines(),
            timers: timers.into_table(),
            ifaces,
            seen: duplicates.into_table(),
            reassemblies,
            contexts,
            vrbs,
            peers,
            transfers,
            inbounds,
            addresses,
            neighbors,
            routes,
            partials,
            mailboxes: sockets.into_table(),
            connections,
            listeners,
            backlog,
            tcp_receive: receive,
            loans,
        }
    }

    /// A frame came in over an interface. It is read where it lies; what stays is copied.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn frame(&mut self, now: Instant, iface: IfaceId, frame: &[u8], info: RxInfo, sink: &mut impl Sink) {
        let (mut cx, modules) = self.parts(now, sink);
        let taken = modules.netif.receive(&mut cx, iface, frame, &info);
        let Some((payload, meta)) = taken else {
            // It may have been the acknowledgement that the current packet waited for.
            modules.settle(&mut cx, iface);
            return self.after_step();
        };
        let mut ways = Ways {
            ipv6: &modules.ipv6,
            netif: &mut modules.netif,
        };
        let next = if LinkKind::Packets.is_here() && meta.link_src.is_empty() {
            modules.lowpan.packet(&mut cx, payload, &meta, &info)
        } else {
            modules.lowpan.frame(&mut cx, &mut ways, payload, &meta, &info)
        };
        modules.send_outgoing(&mut cx);
        if modules.lowpan.deadline_changed() {
            modules.rearm_reassembly(&mut cx);
        }
        if let Some(next) = next {
            modules.follow(&mut cx, Module::Lowpan, next);
            modules.pump(&mut cx);
        }
        self.after_step();
    }

    /// Whether the device may ask for a frame.
    pub fn wants_transmit(&self, iface: IfaceId) -> bool {
        self.modules.netif.wants_transmit(iface)
    }

    /// The device asks for a frame: it is written into `out`, which holds what it held after the last such call on
    /// this interface. `None` if there is nothing to send now.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn transmit(
        &mut self,
        now: Instant,
        iface: IfaceId,
        out: &mut [u8],
        sink: &mut impl Sink,
    ) -> Option<TxInfo> {
        let (mut cx, modules) = self.parts(now, sink);
        if let Some(again) = modules.netif.again(&mut cx, iface) {
            return Some(again);
        }
        // A packet that cannot be cut ends, and the next one gets its turn; the queue bounds the rounds.
        let info = loop {
            let Some((head, packet)) = modules.netif.head(&mut cx, iface, out) else {
                // Where a whole frame would fit, it is the packet that has no header: it must not stay for ever.
                if !modules.netif.wants_transmit(iface) || out.len() < FRAME_LEN_MAX - FCS_LEN {
                    break None;
                }
                modules.netif.abandon(&mut cx, iface, Reason::LinkRefused);
                modules.settle(&mut cx, iface);
                continue;
            };
            let link = Link {
                src: head.src,
                dst: head.dst,
            };
            let strategy = head.strategy;
            let body = out.get_mut(head.len..head.len + head.room).unwrap_or_default();
            let piece = match head.link {
                LinkKind::Packets if LinkKind::Packets.is_here() => {
                    lowpan::whole(&cx.core.buf, packet.pkt(), body)
                }
                _ => modules.lowpan.cut(&mut cx, packet, &link, strategy, body),
            };
            match piece {
                Ok(piece) => {
                    break modules
                        .netif
                        .commit(&mut cx, iface, out, head.len + piece.len, piece.more);
                }
                Err(reason) => {
                    modules.netif.abandon(&mut cx, iface, reason);
                    modules.settle(&mut cx, iface);
                }
            }
        };
        self.after_step();
        info
    }

    /// The device is done with the frame that it was given last.
    pub fn transmitted(&mut self, now: Instant, iface: IfaceId, report: TxReport, sink: &mut impl Sink) {
        let (mut cx, modules) = self.parts(now, sink);
        modules.netif.transmitted(&mut cx, iface, report);
        modules.settle(&mut cx, iface);
        self.after_step();
    }

    /// Runs what is due, a bounded number of steps, and says when it wants to run again: at once if steps are left,
    /// never (`None`) if only a frame or the application can bring work.
    pub fn poll(&mut self, now: Instant, sink: &mut impl Sink) -> Option<Instant> {
        for _ in 0..STEPS_MAX {
            if !self.step(now, sink) {
                break;
            }
        }
        self.next_deadline(now)
    }

    /// When [`poll`](Self::poll) wants to be called next.
    pub fn next_deadline(&self, now: Instant) -> Option<Instant> {
        if self.core.anything_waits() || self.modules.tcp.wants_output() {
            Some(now)
        } else {
            self.core.timers.next()
        }
    }

    /// One step: a timer that is due, or the most urgent packet that waits. False if there was nothing to do.
    pub fn step(&mut self, now: Instant, sink: &mut impl Sink) -> bool {
        let (mut cx, modules) = self.parts(now, sink);
        let stepped = if let Some(timer) = cx.core.timers.expire(now) {
            modules.timer(&mut cx, timer);
            true
        } else if let Some((module, packet)) = cx.core.next_waiting() {
            let message = cx.core.buf.msg(&packet);
            let next = modules.call(&mut cx, Receiver { module, instance: 0 }, message, packet);
            modules.follow(&mut cx, module, next);
            true
        } else {
            modules.tcp.wants_output()
        };
        modules.pump(&mut cx);
        self.after_step();
        stepped
    }

    /// The modules and the context in which they run.
    fn parts<'s, S: Sink>(
        &'s mut self,
        now: Instant,
        sink: &'s mut S,
    ) -> (Cx<'s, 'a, S>, &'s mut Modules<'a>) {
        (
            Cx {
                core: &mut self.core,
                sink,
                now,
            },
            &mut self.modules,
        )
    }

    /// No packet is in hand between two steps: one that is, was lost by the step that has just run.
    fn after_step(&self) {
        debug_assert_eq!(self.core.buf.in_hand(), 0, "a step lost a packet");
    }
}
