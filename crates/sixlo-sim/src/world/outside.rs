//! The link of the border router to the outside, which is beyond the simulation: messages go in and come out.

use std::collections::VecDeque;

use super::World;
use super::driver::tap;
use crate::host::Host;
use crate::observer::Observer;
use crate::stack_host::OUTSIDE_MTU;

/// Packets that wait at most for the CPU of the border router.
const WAITING_MAX: usize = 64;

/// Packets that wait at most for whoever is at the other end; more wait in the border router.
const GONE_OUT_MAX: usize = 1_024;

/// The ends of the link.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// The index of the border router, once somebody is at the other end.
    node: Option<u16>,
    inward: VecDeque<Vec<u8>>,
    outward: VecDeque<Vec<u8>>,
}

impl Outside {
    /// Whether packets pass between this node and the outside.
    pub(super) fn is_of(&self, node: u16) -> bool {
        self.node == Some(node)
    }
}

impl<H: Host, O: Observer> World<'_, H, O> {
    /// Somebody is at the other end of the border router's link to the outside from now on. Until then what goes out waits,
    /// as if no cable were plugged in. False if there is no border router.
    pub fn connect_outside(&mut self) -> bool {
        self.outside.node = self.plan.border();
        self.outside.node.is_some()
    }

    /// A packet comes in from outside now. False if it is lost, because too many wait.
    pub fn packet_in(&mut self, packet: &[u8]) -> bool {
        let Some(node) = self.outside.node else {
            return false;
        };
        let taken = self.outside.inward.len() < WAITING_MAX && self.nodes[usize::from(node)].up;
        if taken {
            self.outside.inward.push_back(packet.to_vec());
            self.service(node);
            self.settle();
        }
        taken
    }

    /// The next packet that has gone out.
    pub fn packet_out(&mut self) -> Option<Vec<u8>> {
        let full = self.outside.outward.len() >= GONE_OUT_MAX;
        let packet = self.outside.outward.pop_front();
        if let Some(node) = self.outside.node.filter(|_| full) {
            self.take_packets_out(node);
        }
        packet
    }

    /// Hands the border router a packet, if one waits.
    pub(super) fn let_packet_in(&mut self, index: u16) -> bool {
        let Some(packet) = self.outside.inward.pop_front() else {
            return false;
        };
        let node = &mut self.nodes[usize::from(index)];
        let mut tap = tap!(self, node, index);
        node.host.packet_in(self.now.to_stack(), &packet, &mut tap);
        let cost = self.costs.messages(tap.messages);
        self.compute(index, cost);
        true
    }

    /// Takes what the border router sends to the outside.
    pub(super) fn take_packets_out(&mut self, index: u16) {
        let mut packet = [0; OUTSIDE_MTU as usize];
        let node = &mut self.nodes[usize::from(index)];
        let mut tap = tap!(self, node, index);
        while self.outside.outward.len() < GONE_OUT_MAX {
            let now = self.now.to_stack();
            let Some(len) = node.host.packet_out(now, &mut packet, &mut tap) else {
                break;
            };
            self.outside.outward.push_back(packet[..len].to_vec());
        }
    }

    /// The border router loses its memory, and so does its link.
    pub(super) fn forget_outside(&mut self, index: u16) {
        if self.outside.is_of(index) {
            self.outside.inward.clear();
        }
    }
}
