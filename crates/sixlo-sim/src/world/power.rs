//! Nodes that are switched off and on.

use super::{Event, World, cx};
use crate::air::Deaf;
use crate::host::Host;
use crate::medium::Loss;
use crate::observer::Observer;
use crate::queue::Class;
use crate::time::Time;

impl<H: Host, O: Observer> World<'_, H, O> {
    /// A reboot of the configuration begins.
    pub(super) fn reboot(&mut self, reboot: u32) {
        let reboot = &self.plan.config.reboots[reboot as usize];
        let index = reboot.node - 1;
        self.queue.push(
            self.now + Time::ms(reboot.down_ms),
            Class::Rest,
            Event::On { node: index },
        );
        self.switch_off(index);
    }

    /// Switches a node off: all that it holds is lost.
    pub(super) fn switch_off(&mut self, index: u16) {
        let node = &mut self.nodes[usize::from(index)];
        if !node.up {
            return;
        }
        node.up = false;
        node.cut_off = self.transmissions;
        node.reading = false;
        node.blocked = false;
        node.outgoing = None;
        node.report = None;
        node.cpu_until = self.now;
        let held = node.device.switch_off(&mut cx!(self, node, index));
        let in_device = node.in_device.take();
        for slot in held {
            self.lose(index, slot, Loss::Deaf(Deaf::Off));
        }
        self.forget_late(index);
        self.forget_outside(index);
        if O::ON {
            self.observer.reboot(self.now, index, false);
        }
        self.reboot_host(index);
        if let Some(id) = in_device {
            self.ledger.carry(id, -1);
        }
    }

    /// Switches a node on again.
    pub(super) fn switch_on(&mut self, index: u16) {
        let node = &mut self.nodes[usize::from(index)];
        if node.up {
            return;
        }
        node.up = true;
        node.device.switch_on(&mut cx!(self, node, index));
        if O::ON {
            self.observer.reboot(self.now, index, true);
        }
        self.service(index);
    }
}
