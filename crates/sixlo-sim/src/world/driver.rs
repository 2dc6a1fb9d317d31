//! The driver of a node: what its CPU does next, between radio and stack.
//!
//! Received frames come first, then what is to be sent, then what the stack wants to do by itself. Each step takes the
//! CPU its time, and nothing else happens on the node meanwhile; what a step brings about leaves the node when its time
//! is over.

use sixlo::netdev::RxInfo;
use sixlo::wire::ieee802154::{FrameType, Header};

use super::{Event, World, cx};
use crate::app;
use crate::config::WhenReceiving;
use crate::frames::{Slot, To};
use crate::host::Host;
use crate::ledger::Imbalance;
use crate::medium::{Loss, Signal};
use crate::observer::{AppEvent, Observer};
use crate::queue::Class;
use crate::radio::Readiness;
use crate::time::Time;

/// Builds the sink of a node.
macro_rules! tap {
    ($world:expr, $node:expr, $index:expr) => {
        $crate::world::tap::Tap {
            now: $world.now,
            node: $index,
            ledger: &mut $world.ledger,
            accounts: &mut $world.accounts,
            counters: &mut $node.stack,
            observer: &mut *$world.observer,
            messages: 0,
        }
    };
}

pub(super) use tap;

impl<H: Host, O: Observer> World<'_, H, O> {
    /// Lets a node do all that it can do now.
    pub(super) fn service(&mut self, index: u16) {
        while self.step(index) {}
        let node = &mut self.nodes[usize::from(index)];
        if !node.up || node.cpu_until > self.now {
            return;
        }
        if node.host.has_streams() {
            self.pump(index);
        }
        if self.nodes[usize::from(index)].host.listens() {
            self.deliver(index);
        }
        if self.outside.is_of(index) {
            self.take_packets_out(index);
        }
        let node = &mut self.nodes[usize::from(index)];
        if (node.host.buffer_used(), node.host.reassemblies()) != (node.full_since.1, node.full_since.2) {
            node.note_occupancy(self.now);
        }
        if O::ON {
            let occupancy = node.host.occupancy();
            if occupancy != node.occupancy {
                node.occupancy = occupancy;
                self.observer.occupancy(self.now, index, occupancy);
            }
        }
        if let Some(deadline) = node.host.next_deadline(self.now.to_stack()) {
            let deadline = Time::from_stack(deadline).max(self.now);
            if deadline < node.wake_at {
                node.wake_at = deadline;
                self.queue
                    .push(deadline, Class::Rest, Event::Wake { node: index });
            }
        }
    }

    /// One step of a node. False if there is nothing to do, or the CPU is busy.
    fn step(&mut self, index: u16) -> bool {
        let now = self.now;
        let node = &mut self.nodes[usize::from(index)];
        if !node.up || node.cpu_until > now {
            return false;
        }
        if std::mem::take(&mut node.reading) {
            self.read(index);
            return true;
        }
        if let Some(report) = node.report.take() {
            let mut tap = tap!(self, node, index);
            node.host.transmitted(now.to_stack(), report, &mut tap);
            let cost = self.costs.messages(tap.messages);
            if let Some(id) = node.in_device.take() {
                self.ledger.carry(id, -1);
            }
            self.compute(index, cost);
            return true;
        }
        if let Some((slot, signal)) = node.late.pop_front() {
            self.frame(index, slot, signal);
            return true;
        }
        if !node.blocked {
            if let Some(time) = node.device.received(&self.frames) {
                if time == Time::ZERO {
                    self.read(index);
                } else {
                    node.reading = true;
                    self.compute(index, time);
                }
                return true;
            }
            if let Some(time) = node.device.copy_again(&mut cx!(self, node, index)) {
                self.compute(index, time);
                return true;
            }
        }
        if self.outside.is_of(index) && self.let_packet_in(index) {
            return true;
        }
        if self.transmit(index) {
            return true;
        }
        let node = &mut self.nodes[usize::from(index)];
        if node.blocked
            || node
                .host
                .next_deadline(now.to_stack())
                .is_none_or(|at| Time::from_stack(at) > now)
        {
            return false;
        }
        let mut tap = tap!(self, node, index);
        node.host.poll(now.to_stack(), &mut tap);
        let cost = self.costs.messages(tap.messages);
        self.compute(index, cost);
        true
    }

    /// The CPU of a node is busy for a while, from when it is done with what it does now.
    pub(super) fn compute(&mut self, index: u16, time: Time) {
        if time > Time::ZERO {
            let node = &mut self.nodes[usize::from(index)];
            node.cpu_until = node.cpu_until.max(self.now) + time;
            self.queue
                .push(node.cpu_until, Class::Rest, Event::Cpu { node: index });
        }
    }

    /// A received frame was read out of the radio.
    fn read(&mut self, index: u16) {
        let node = &mut self.nodes[usize::from(index)];
        let read = node.device.read(&mut cx!(self, node, index));
        if let Some((slot, signal)) = read {
            self.frame(index, slot, signal);
        }
    }

    /// Hands a frame to the stack.
    fn frame(&mut self, index: u16, slot: Slot, signal: Signal) {
        let node = &mut self.nodes[usize::from(index)];
        let frame = self.frames.get(slot);
        let info = RxInfo {
            rssi_dbm: signal.rssi_dbm,
            lqi: signal.lqi,
            id: frame.id,
        };
        let mut tap = tap!(self, node, index);
        node.host
            .frame(self.now.to_stack(), frame.bytes(), info, &mut tap);
        let cost = self.costs.frame_in(frame.mpdu_len()) + self.costs.messages(tap.messages);
        if frame.to != To::Awaiting {
            self.ledger.carry(frame.id, -1);
        }
        self.frames.release(slot);
        self.compute(index, cost);
    }

    /// Gives the radio the next frame, if there is one and the radio can take it. False if not.
    fn transmit(&mut self, index: u16) -> bool {
        let node = &mut self.nodes[usize::from(index)];
        if node.outgoing.is_none() && !node.host.wants_transmit() {
            return false;
        }
        match node.device.readiness(&cx!(self, node, index)) {
            Readiness::Ready | Readiness::Receiving(WhenReceiving::Abort) => {}
            Readiness::Receiving(what) => {
                node.radio.waited_for_reception += u64::from(!node.waited);
                node.waited = true;
                node.blocked = what == WhenReceiving::Block;
                return false;
            }
            Readiness::Busy => return false,
        }
        let Some(again) = node.outgoing else {
            let made = self.make(index);
            self.nodes[usize::from(index)].blocked &= made;
            return made;
        };
        node.outgoing = None;
        node.blocked = false;
        node.waited = false;
        let slot = node.slot;
        let time = node.device.begin(&mut cx!(self, node, index), slot, again);
        self.account_for_overwritten(index);
        self.compute(index, time);
        true
    }

    /// Lets the stack make the next frame.
    fn make(&mut self, index: u16) -> bool {
        let node = &mut self.nodes[usize::from(index)];
        if !self.frames.is_sole(node.slot) {
            // A receiver has not read the last one yet.
            let fresh = self.frames.copied(node.slot);
            self.frames.release(node.slot);
            node.slot = fresh;
        }
        let slot = node.slot;
        let mut tap = tap!(self, node, index);
        let info = node
            .host
            .transmit(self.now.to_stack(), self.frames.room(slot), &mut tap);
        let messages = tap.messages;
        let Some(info) = info else { return false };
        if !info.again {
            self.frames.set_len(slot, info.len);
            self.address(index, slot);
        }
        let frame = self.frames.get_mut(slot);
        frame.id = info.id;
        frame.ack_request = info.ack_request;
        let cost = self.costs.frame_out(frame.mpdu_len()) + self.costs.messages(messages);
        self.ledger.carry(info.id, 1);
        let node = &mut self.nodes[usize::from(index)];
        node.in_device = Some(info.id);
        node.outgoing = Some(info.again);
        self.compute(index, cost);
        true
    }

    /// Reads from the header of a fresh frame whom it is for, as the radios of its receivers will.
    fn address(&mut self, sender: u16, slot: Slot) {
        let (to, sequence) = match Header::parse(self.frames.get(slot).bytes()) {
            Ok((header, _)) => {
                let to = match header.frame_type {
                    FrameType::Ack => To::Awaiting,
                    _ if header.dst.is_broadcast() => To::All,
                    _ => self
                        .addresses
                        .get(&header.dst)
                        .map_or(To::Nobody, |&node| To::Node(node)),
                };
                (to, header.sequence.unwrap_or(0))
            }
            Err(_) => (To::Nobody, 0),
        };
        let frame = self.frames.get_mut(slot);
        frame.sender = sender;
        frame.to = to;
        frame.sequence = sequence;
    }

    /// Frames that were lost in the radio of a node, because another took their place.
    pub(super) fn account_for_overwritten(&mut self, index: u16) {
        while let Some(slot) = self.overwritten.pop() {
            self.lose(index, slot, Loss::Overwritten);
        }
    }

    /// An application sends a datagram.
    pub(super) fn send(&mut self, flow: u16, sequence: u32, record: u32) {
        let flow = &self.flows[usize::from(flow)];
        let index = flow.from;
        let payload = &mut self.payload[..usize::from(flow.payload_bytes)];
        app::fill(payload, flow.number, sequence);
        let node = &mut self.nodes[usize::from(index)];
        let sent = if node.up {
            let mut tap = tap!(self, node, index);
            let sent = node.host.send(
                self.now.to_stack(),
                flow.to,
                flow.service(sequence),
                payload,
                &mut tap,
            );
            let cost = self.costs.messages(tap.messages);
            self.compute(index, cost);
            sent
        } else {
            Err(sixlo::trace::Reason::TornDown)
        };
        match sent {
            Ok(id) => self.ledger.sent(record, id),
            Err(reason) => self.ledger.refused(record, reason),
        }
        let id = sent.unwrap_or(sixlo::trace::PktId::NONE);
        if O::ON {
            self.observer.app(self.now, index, &AppEvent::Sent { record, id });
        }
    }

    /// Takes what has come in for the applications of a node, and checks it.
    fn deliver(&mut self, index: u16) {
        loop {
            let node = &mut self.nodes[usize::from(index)];
            let mut tap = tap!(self, node, index);
            let Some(len) = node.host.take(self.now.to_stack(), &mut self.payload, &mut tap) else {
                break;
            };
            let payload = self.payload.get(..len).unwrap_or_default();
            let known = app::check(payload).and_then(|(number, sequence)| {
                let flow = self.flows.get(usize::from(number & !crate::ledger::ECHO_FLOW))?;
                let receiver = if number & crate::ledger::ECHO_FLOW == 0 {
                    flow.to
                } else {
                    flow.from
                };
                let right =
                    flow.number == number && receiver == index && len == usize::from(flow.payload_bytes);
                flow.records.get(sequence as usize).copied().filter(|_| right)
            });
            let Some(record) = known else {
                // Changes in several fragments can cancel each other in the checksum.
                if self.faults.corrupt() {
                    self.undetected += 1;
                } else {
                    self.ledger.imbalance(Imbalance::WrongPayload { node: index });
                }
                continue;
            };
            if !self.ledger.delivered(record, self.now) {
                self.duplicates += 1;
            } else if O::ON {
                let of = self.ledger.get(record);
                let event = AppEvent::Delivered {
                    record,
                    latency: self.now.since(of.sent),
                    payload_bytes: of.payload_bytes,
                };
                self.observer.app(self.now, index, &event);
            }
        }
    }

    /// The stack of a node loses its memory.
    pub(super) fn reboot_host(&mut self, index: u16) {
        let node = &mut self.nodes[usize::from(index)];
        let mut tap = tap!(self, node, index);
        node.host.reboot(self.now.to_stack(), &mut tap);
        node.note_occupancy(self.now);
    }
}
