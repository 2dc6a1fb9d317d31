//! A transmission ends: what became of it at each receiver, all in one event and in node order.

use super::{Event, World, cx};
use crate::faults::Strike;
use crate::forge::{context, forge};
use crate::frames::{Slot, To};
use crate::host::Host;
use crate::medium::{Loss, Signal, Transmission};
use crate::observer::{Observer, OnAir};
use crate::queue::Class;

impl<H: Host, O: Observer> World<'_, H, O> {
    pub(super) fn ended(&mut self, slot: Slot) {
        let frame = self.frames.get(slot);
        let (to, sent) = (frame.to, frame.transmission());
        let sender = sent.sender;
        let plan = self.plan;
        let cut_off = sent.number <= self.nodes[usize::from(sender)].cut_off;
        if O::ON {
            self.report_on_air(slot, &sent, cut_off);
        }
        self.touched.clear();
        if !cut_off {
            match to {
                To::Node(node) => self.arrive(slot, &sent, node),
                To::All => {
                    for &node in plan.medium.receivers(sender) {
                        self.arrive(slot, &sent, node);
                    }
                }
                To::Awaiting => {
                    for &node in plan.medium.receivers(sender) {
                        if self.nodes[usize::from(node)].device.awaits_ack() {
                            self.arrive_ack(slot, &sent, node);
                        }
                    }
                }
                To::Nobody => {}
            }
            let node = &mut self.nodes[usize::from(sender)];
            let report = node.device.sent(&mut cx!(self, node, sender), slot);
            node.report = node.report.take().or(report);
        }
        self.frames.release(slot);
        self.service(sender);
        let touched = std::mem::take(&mut self.touched);
        for &node in &touched {
            self.service(node);
        }
        self.touched = touched;
    }

    /// What becomes of a transmission at a receiver, faults of the scenario included.
    fn outcome(&self, sent: &Transmission, receiver: u16) -> (Result<Signal, Loss>, Strike) {
        let ear = &self.ears[usize::from(receiver)];
        match self.plan.medium.receive(&self.air, ear, sent, receiver) {
            Ok(signal) if !self.faults.is_empty() => {
                match self.faults.strike(self.now, sent.sender, receiver, sent.number) {
                    Strike::Lose(loss) => (Err(loss), Strike::Pass),
                    strike => (Ok(signal), strike),
                }
            }
            outcome => (outcome, Strike::Pass),
        }
    }

    /// A frame that carries data reaches a receiver that it is for, or does not.
    fn arrive(&mut self, slot: Slot, sent: &Transmission, index: u16) {
        let (outcome, strike) = self.outcome(sent, index);
        let id = self.frames.get(slot).id;
        // Even if the frame is lost: a driver may have waited for its end.
        self.touched.push(index);
        let signal = match outcome {
            Ok(signal) => signal,
            Err(loss) => {
                self.nodes[usize::from(index)].radio.lost[loss.index()] += 1;
                self.ledger.lost(id, loss);
                return;
            }
        };
        self.ledger.carry(id, 1);
        let node = &mut self.nodes[usize::from(index)];
        node.radio.received += 1;
        match strike {
            Strike::Pass | Strike::Lose(_) => {
                node.device.heard(&mut cx!(self, node, index), slot, signal, true);
            }
            Strike::Duplicate => {
                node.device.heard(&mut cx!(self, node, index), slot, signal, true);
                self.frames.hold(slot);
                self.ledger.carry(id, 1);
                node.late.push_back((slot, signal));
            }
            Strike::Forge(forgery, luck) => {
                node.device.heard(&mut cx!(self, node, index), slot, signal, true);
                let contexts = [context(&self.plan.config.link)];
                let heard = self.frames.get(slot).bytes();
                if let Some(bytes) = forge(heard, forgery, luck, &contexts) {
                    let forged = self.frames.forged(slot, &bytes);
                    self.nodes[usize::from(index)].late.push_back((forged, signal));
                }
            }
            Strike::Corrupt(luck) => {
                // It may be taken for something else and vanish without a word.
                self.ledger.lost(id, Loss::Fault);
                let copy = self.frames.corrupted(slot, luck);
                node.device.heard(&mut cx!(self, node, index), copy, signal, true);
                self.frames.release(copy);
            }
            Strike::Delay(time) => {
                node.device
                    .heard(&mut cx!(self, node, index), slot, signal, false);
                let copy = self.frames.copied(slot);
                self.frames.get_mut(copy).signal = signal;
                self.queue.push(
                    self.now + time,
                    Class::Rest,
                    Event::Late {
                        node: index,
                        slot: copy,
                    },
                );
            }
        }
        self.account_for_overwritten(index);
    }

    /// An acknowledgement reaches a node that waits for one, or does not.
    fn arrive_ack(&mut self, slot: Slot, sent: &Transmission, index: u16) {
        let Ok(signal) = self.outcome(sent, index).0 else {
            let node = &mut self.nodes[usize::from(index)];
            node.radio.acks_lost += u64::from(self.frames.get(slot).answers == index);
            return;
        };
        self.touched.push(index);
        let node = &mut self.nodes[usize::from(index)];
        let report = node.device.heard_ack(&mut cx!(self, node, index), slot, signal);
        node.report = node.report.take().or(report);
        self.account_for_overwritten(index);
    }

    /// Tells whoever watches.
    #[cold]
    fn report_on_air(&mut self, slot: Slot, sent: &Transmission, cut_off: bool) {
        let mut fates = std::mem::take(&mut self.fates);
        fates.clear();
        if !cut_off {
            let receivers = self.plan.medium.receivers(sent.sender);
            fates.extend(receivers.iter().map(|&node| (node, self.outcome(sent, node).0)));
        }
        let frame = self.frames.get(slot);
        let mut bytes = [0; sixlo::netdev::FRAME_LEN_MAX];
        let len = frame.bytes_with_fcs(&mut bytes);
        self.observer.on_air(&OnAir {
            sender: sent.sender,
            to: frame.to,
            from: sent.span.from,
            until: sent.span.until,
            bytes: &bytes[..len],
            id: frame.id,
            number: sent.number,
            fates: &fates,
        });
        self.fates = fates;
    }
}
