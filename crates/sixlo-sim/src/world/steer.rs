//! What somebody who drives the world can change and look at while it goes on.

use super::World;
use crate::host::Host;
use crate::observer::Observer;
use crate::radio::Counters;
use crate::result::StackCounters;

/// A node as it is now.
#[derive(Clone, Copy, Debug)]
pub struct NodeNow<'w, H> {
    /// Its software.
    pub host: &'w H,
    /// Whether it is on.
    pub on: bool,
    /// What its stack has counted.
    pub stack: &'w StackCounters,
    /// What its radio has counted.
    pub radio: &'w Counters,
}

impl<H: Host, O: Observer> World<'_, H, O> {
    /// Switches a node off, so that all that it holds is lost, or on again. False if there is no such node.
    pub fn switch(&mut self, index: u16, on: bool) -> bool {
        if usize::from(index) >= self.nodes.len() {
            return false;
        }
        if on {
            self.switch_on(index);
        } else {
            self.switch_off(index);
        }
        self.settle();
        true
    }

    /// From now on, frames from one node to another are lost in so many of all cases (0 to 1), beside what the medium and
    /// the faults of the configuration do.
    pub fn set_link_errors(&mut self, sender: u16, receiver: u16, probability: f64) {
        self.faults.set_link(sender, receiver, probability);
    }

    /// A node as it is now.
    pub fn node(&self, index: u16) -> Option<NodeNow<'_, H>> {
        let node = self.nodes.get(usize::from(index))?;
        Some(NodeNow {
            host: &node.host,
            on: node.up,
            stack: &node.stack,
            radio: &node.radio,
        })
    }
}
