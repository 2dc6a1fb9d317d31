//! What all modules share: packet buffer, registry, mailboxes, timers, counters, random numbers; and the context in
//! which a handler runs.

use crate::netapi::Msg;
use crate::netreg::{Registry, own};
use crate::pktbuf::{Class, Done, NoRoom, Pkt, PktBuf, Queue};
use crate::rng::Rng;
use crate::time::Instant;
use crate::timers::Timers;
use crate::trace::{End, Event, Module, PktId, Reason, Sink};

/// The ground of a stack.
pub struct Core<'a> {
    /// The packet buffer.
    pub buf: PktBuf<'a>,
    /// Who receives what.
    pub registry: Registry<'a>,
    /// All timers.
    pub timers: Timers<'a>,
    /// The random numbers of this stack (back-off, tags, identifiers).
    pub rng: Rng,
    /// Packets that wait for a module, one queue a module.
    mailboxes: [Queue; Module::ALL.len()],
    /// Bit n: a packet waits for the module with the number n.
    waiting: u8,
    /// Dropped packets and refused frames by reason.
    drops: [u32; Reason::ALL.len()],
}

impl<'a> Core<'a> {
    /// Puts the ground together.
    pub fn new(buf: PktBuf<'a>, registry: Registry<'a>, timers: Timers<'a>, rng: Rng) -> Self {
        let mailboxes = core::array::from_fn(|_| Queue::default());
        Self {
            buf,
            registry,
            timers,
            rng,
            mailboxes,
            waiting: 0,
            drops: [0; Reason::ALL.len()],
        }
    }

    /// Takes the ground apart.
    pub fn into_parts(self) -> (PktBuf<'a>, Registry<'a>, Timers<'a>) {
        (self.buf, self.registry, self.timers)
    }

    /// Whether anybody receives `msg`: a module of the stack, or who is entered in the registry.
    pub fn receives(&self, msg: Msg) -> bool {
        own(msg).is_some() || self.registry.knows(msg)
    }

    /// How many packets and frames were dropped for this reason since the stack started.
    pub const fn drops(&self, reason: Reason) -> u32 {
        self.drops[reason.place()]
    }

    /// Whether a packet has to wait before it goes to `module`: others wait for one of higher priority, or for the same,
    /// and none overtakes another there.
    pub(crate) const fn must_wait(&self, module: Module) -> bool {
        self.waiting & ((2 << module as u8) - 1) != 0
    }

    /// The module with the highest priority for which a packet waits, and the first such packet.
    pub(crate) fn next_waiting(&mut self) -> Option<(Module, Pkt)> {
        let module = *Module::ALL.get(self.waiting.trailing_zeros() as usize)?;
        let queue = &mut self.mailboxes[module as usize];
        let packet = self.buf.pop(queue);
        if queue.is_empty() {
            self.waiting &= !(1 << module as u8);
        }
        packet.map(|packet| (module, packet))
    }

    /// Whether any packet waits for a module.
    pub(crate) const fn anything_waits(&self) -> bool {
        self.waiting != 0
    }

    /// Puts a packet into the mailbox of a module.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn post(&mut self, module: Module, msg: Msg, packet: Pkt) -> Done {
        self.buf.set_msg(&packet, msg);
        self.waiting |= 1 << module as u8;
        self.buf.push(&mut self.mailboxes[module as usize], packet)
    }

    /// Shows every packet in the mailboxes to an audit.
    pub(crate) fn walk(&self, see: &mut dyn FnMut(&Pkt)) {
        for queue in &self.mailboxes {
            self.buf.walk(queue, see);
        }
    }
}

/// The context in which a handler runs: the ground, the sink and the present time.
pub struct Cx<'c, 'a, S: Sink> {
    /// The ground.
    pub core: &'c mut Core<'a>,
    /// Where events go.
    pub sink: &'c mut S,
    /// The present time.
    pub now: Instant,
}

impl<S: Sink> Cx<'_, '_, S> {
    /// Tells the sink.
    #[inline]
    pub fn event(&mut self, event: Event) {
        self.sink.event(self.now, &event);
    }

    /// A new packet of `len` bytes behind `headroom`, with its identity: `id` if it continues a datagram from elsewhere,
    /// else a new one. `cause` is the packet that it answers.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn new_packet(
        &mut self,
        module: Module,
        class: Class,
        headroom: usize,
        len: usize,
        id: PktId,
        cause: PktId,
    ) -> Result<Pkt, Reason> {
        let packet = self
            .core
            .buf
            .alloc(class, headroom, len)
            .map_err(NoRoom::reason)?;
        let id = if id == PktId::NONE {
            self.sink.identity()
        } else {
            id
        };
        self.core.buf.set_id(&packet, id);
        self.event(Event::Start {
            id,
            module,
            len: len as u16,
            cause,
        });
        Ok(packet)
    }

    /// Ends a packet: the one way to do so.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn end(&mut self, packet: Pkt, module: Module, end: End) -> Done {
        let id = self.core.buf.id(&packet);
        if let End::Dropped(reason) = end {
            self.count(reason);
        }
        self.event(Event::End { id, module, end });
        self.core.buf.release(packet)
    }

    /// Makes a packet another one over the same bytes: what came in ends as done, and its answer starts.
    pub fn turn_around(&mut self, packet: &Pkt, module: Module) {
        let before = self.core.buf.id(packet);
        self.event(Event::End {
            id: before,
            module,
            end: End::Consumed,
        });
        let id = self.sink.identity();
        self.core.buf.set_id(packet, id);
        let len = self.core.buf.len(packet) as u16;
        self.event(Event::Start {
            id,
            module,
            len,
            cause: before,
        });
    }

    /// Ends a packet that is dropped.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn drop(&mut self, packet: Pkt, module: Module, reason: Reason) -> Done {
        self.end(packet, module, End::Dropped(reason))
    }

    /// Counts something dropped that was no packet yet, or no packet any more.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn count(&mut self, reason: Reason) {
        let counter = &mut self.core.drops[reason.place()];
        *counter = counter.saturating_add(1);
    }
}
