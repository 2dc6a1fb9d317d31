//! Counts what happens in a mesh, as far as the page shows it.

use std::collections::BTreeMap;

use sixlo::trace::Reason;
use sixlo_sim::medium::Loss;
use sixlo_sim::observer::Occupancy;

use super::messages::{Batch, Detail, Frame, Mark, Neighbor, NodeRow, To, Totals, What};
use crate::frame_kind::FrameKind;

/// What a frame that arrived met, and what one that was for no node, in the words of the page.
const ARRIVED: &str = "arrived";
const NOBODY: &str = "nobody";

/// The words for the fates of frames.
pub fn fates() -> Vec<&'static str> {
    let losses = Loss::all().map(Loss::name);
    [ARRIVED].into_iter().chain(losses).chain([NOBODY]).collect()
}

/// Counts what happens in a mesh.
#[derive(Clone, Debug)]
pub struct Tally {
    now_ns: u64,
    nodes: Vec<NodeTally>,
    /// By sender and receiver: frames, acknowledgements not counted, and those that arrived.
    links: BTreeMap<(u16, u16), (u32, u32)>,
    /// The sources of datagrams that are under way.
    under_way: BTreeMap<u32, u16>,
    totals: Totals,
    /// What all nodes hold together: bytes, and waiting packets.
    held: (u64, u64),
    pending: Option<Batch>,
    /// Frames and marks that it holds at most.
    most: usize,
    /// Sender and receiver of the last frame.
    last: (u16, To),
    nobody: u8,
}

/// What is counted of a node.
#[derive(Clone, Debug)]
struct NodeTally {
    row: NodeRow,
    drops: Vec<(&'static str, u32)>,
    misses: Vec<(&'static str, u32)>,
    /// Something has changed since the last batch.
    changed: bool,
}

impl Tally {
    /// Of a mesh of so many nodes, all of which are on.
    pub fn new(nodes: u16) -> Self {
        let node = |number| NodeTally {
            row: NodeRow {
                node: number,
                on: 1,
                ..NodeRow::default()
            },
            drops: Vec::new(),
            misses: Vec::new(),
            changed: false,
        };
        Self {
            now_ns: 0,
            nodes: (1..=nodes).map(node).collect(),
            links: BTreeMap::new(),
            under_way: BTreeMap::new(),
            totals: Totals::default(),
            held: (0, 0),
            pending: None,
            most: 0,
            last: (0, To::None),
            nobody: (fates().len() - 1) as u8,
        }
    }

    /// Frames and marks are kept for batches from now on, so many at most.
    pub fn collect(&mut self, most: usize) {
        self.pending = Some(Batch::default());
        self.most = most;
    }

    /// When the last thing happened that it was told.
    pub const fn now_us(&self) -> u64 {
        self.now_ns / 1_000
    }

    /// Time passes.
    pub fn advance(&mut self, time_ns: u64) {
        let passed_s = time_ns.saturating_sub(self.now_ns) as f64 / 1e9;
        self.totals.buffer_s += self.held.0 as f64 * passed_s;
        self.totals.queued_s += self.held.1 as f64 * passed_s;
        self.now_ns = self.now_ns.max(time_ns);
        self.totals.at = self.now_us();
    }

    /// A node, to be changed.
    fn node(&mut self, number: u16) -> Option<&mut NodeTally> {
        let node = self.nodes.get_mut(usize::from(number).checked_sub(1)?)?;
        node.changed = true;
        Some(node)
    }

    fn mark(&mut self, node: u16, what: What, datagram: u32) {
        let at_us = self.now_us();
        if let Some(batch) = self
            .pending
            .as_mut()
            .filter(|batch| batch.marks.len() < self.most)
        {
            batch.marks.push(Mark {
                at_us,
                node,
                what,
                datagram,
            });
        }
    }

    /// A frame has left the air. What becomes of it, [`heard`](Self::heard) tells.
    pub fn frame(&mut self, sender: u16, to: To, kind: FrameKind, len: u16, air_ns: u64, datagram: u32) {
        let frame = Frame {
            from_us: self.now_ns.saturating_sub(air_ns) / 1_000,
            air_us: (air_ns / 1_000) as u32,
            sender,
            to,
            kind,
            len,
            fate: self.nobody,
            datagram,
        };
        self.totals.frames += 1;
        self.last = (sender, to);
        if let Some(node) = self.node(sender) {
            match kind {
                FrameKind::Ack => node.row.acks += 1,
                _ => node.row.frames += 1,
            }
        }
        if let (To::Node(to), true) = (to, kind != FrameKind::Ack) {
            self.links.entry((sender, to)).or_default().0 += 1;
        }
        if let Some(batch) = &mut self.pending {
            if batch.frames.len() < self.most {
                batch.frames.push(frame);
            } else {
                batch.skipped += 1;
            }
        }
    }

    /// What became of the last frame at a node that it was for.
    pub fn heard(&mut self, node: u16, sender: u16, is_ack: bool, lost: Option<&str>) {
        let name = lost.map(loss_name);
        if let Some(node) = self.node(node).filter(|_| !is_ack) {
            match name {
                None => node.row.received += 1,
                Some(name) => node.miss(name),
            }
        }
        if lost.is_none()
            && !is_ack
            && self.last == (sender, To::Node(node))
            && let Some(link) = self.links.get_mut(&(sender, node))
        {
            link.1 += 1;
        }
        let frame = self
            .pending
            .as_mut()
            .filter(|batch| batch.skipped == 0)
            .and_then(|batch| batch.frames.last_mut())
            .filter(|frame| frame.sender == sender);
        if let Some(frame) = frame {
            // A broadcast arrived if it arrived anywhere.
            match name {
                None => frame.fate = 0,
                Some(name) if frame.fate != 0 => frame.fate = fate_of(name),
                Some(_) => {}
            }
        }
    }

    /// A frame that had arrived was lost in the radio of a node.
    pub fn lost_in_radio(&mut self, node: u16, datagram: u32, cause: &str) {
        if let Some(node) = self.node(node) {
            node.miss(loss_name(cause));
        }
        self.mark(node, What::Dropped, datagram);
    }

    /// The stack of a node dropped something.
    pub fn dropped(&mut self, node: u16, datagram: u32, reason: &str) {
        if let Some(node) = self.node(node) {
            let name = Reason::ALL.iter().map(|reason| reason.name());
            let name = name.into_iter().find(|name| *name == reason).unwrap_or("unknown");
            node.row.dropped += 1;
            count(&mut node.drops, name);
        }
        self.mark(node, What::Dropped, datagram);
    }

    /// The link layer of a node gave up a frame.
    pub fn given_up(&mut self, node: u16) {
        if let Some(node) = self.node(node) {
            node.row.given_up += 1;
        }
    }

    /// An application of a node wanted to send a datagram; refused ones have the number 0.
    pub fn sent(&mut self, node: u16, datagram: u32) {
        self.totals.sent += 1;
        let refused = datagram == 0;
        self.totals.lost += u64::from(refused);
        if let Some(node) = self.node(node) {
            node.row.sent += 1;
            node.row.lost += u32::from(refused);
        }
        if refused {
            self.mark(node, What::Dropped, 0);
        } else {
            self.under_way.insert(datagram, node);
            self.mark(node, What::Sent, datagram);
        }
    }

    /// A datagram reached the application of a node.
    pub fn delivered(&mut self, node: u16, datagram: u32, payload_bytes: u64) {
        self.received(node, payload_bytes);
        if let Some(node) = self.node(node) {
            node.row.delivered += 1;
        }
        if let Some(source) = self.under_way.remove(&datagram) {
            self.totals.delivered += 1;
            if let Some(source) = self.node(source) {
                source.row.arrived += 1;
            }
        }
        self.mark(node, What::Delivered, datagram);
    }

    /// The application of a node got bytes.
    pub fn received(&mut self, node: u16, bytes: u64) {
        self.totals.bytes += bytes;
        if let Some(node) = self.node(node) {
            node.row.bytes += bytes;
        }
    }

    /// A packet of so many bytes passed the border router.
    pub const fn outside(&mut self, bytes: u64) {
        self.totals.outside += bytes;
    }

    /// Nothing carries a datagram any more that was not delivered.
    pub fn lost(&mut self, datagram: u32) {
        if let Some(source) = self.under_way.remove(&datagram) {
            self.totals.lost += 1;
            if let Some(source) = self.node(source) {
                source.row.lost += 1;
            }
        }
    }

    /// A node holds more or less than before.
    pub fn occupancy(&mut self, node: u16, occupancy: &Occupancy) {
        let (bytes, queued) = (occupancy.buffer_bytes as u32, occupancy.queued as u32);
        self.totals.buffer_peak = self.totals.buffer_peak.max(bytes);
        let Some(node) = self.node(node) else {
            return;
        };
        let before = (u64::from(node.row.buffer), u64::from(node.row.queued));
        node.row.buffer = bytes;
        node.row.queued = queued;
        node.row.reassemblies = occupancy.reassemblies as u32;
        node.row.forwards = occupancy.forwards as u32;
        node.row.transfers = occupancy.transfers as u32;
        self.held.0 = self.held.0 + u64::from(bytes) - before.0;
        self.held.1 = self.held.1 + u64::from(queued) - before.1;
    }

    /// A node lost its memory, or starts anew.
    pub fn switched(&mut self, node: u16, on: bool) {
        if let Some(node) = self.node(node) {
            node.row.on = on.into();
        }
        self.mark(node, if on { What::On } else { What::Off }, 0);
    }

    /// The totals, after which the peak begins anew.
    pub fn totals(&mut self) -> Totals {
        let totals = self.totals;
        self.totals.buffer_peak = self.nodes.iter().map(|node| node.row.buffer).max().unwrap_or(0);
        totals
    }

    /// All nodes as they are, to begin with.
    pub fn whole(&self) -> Batch {
        Batch {
            until: self.now_us(),
            whole: true,
            nodes: self.nodes.iter().map(|node| node.row).collect(),
            totals: self.totals,
            ..Batch::default()
        }
    }

    /// A batch in which nothing happens.
    pub fn nothing(&mut self) -> Batch {
        Batch {
            until: self.now_us(),
            totals: self.totals(),
            ..Batch::default()
        }
    }

    /// What has happened since the last batch; `None` if nothing has.
    pub fn batch(&mut self) -> Option<Batch> {
        let changed = self.nodes.iter_mut().filter(|node| node.changed);
        let nodes: Vec<NodeRow> = changed
            .map(|node| {
                node.changed = false;
                node.row
            })
            .collect();
        let pending = self.pending.replace(Batch::default()).unwrap_or_default();
        if nodes.is_empty() && pending.frames.is_empty() && pending.marks.is_empty() {
            return None;
        }
        Some(Batch {
            until: self.now_us(),
            nodes,
            totals: self.totals(),
            ..pending
        })
    }

    /// What is counted of a node beside its row.
    pub fn detail(&self, number: u16) -> Option<Detail> {
        let node = self.nodes.get(usize::from(number).checked_sub(1)?)?;
        let mut neighbors: BTreeMap<u16, Neighbor> = BTreeMap::new();
        for (&(from, to), &count) in &self.links {
            let other = if from == number { to } else { from };
            if from != number && to != number {
                continue;
            }
            let neighbor = neighbors.entry(other).or_insert(Neighbor {
                node: other,
                to: (0, 0),
                from: (0, 0),
            });
            if from == number {
                neighbor.to = count;
            } else {
                neighbor.from = count;
            }
        }
        let most_first = |counts: &[(&'static str, u32)]| {
            let mut counts = counts.to_vec();
            counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
            counts
        };
        Some(Detail {
            node: number,
            at: self.now_us(),
            drops: most_first(&node.drops),
            misses: most_first(&node.misses),
            neighbors: neighbors.into_values().collect(),
            ..Detail::default()
        })
    }
}

impl NodeTally {
    /// A frame for the node did not arrive.
    fn miss(&mut self, cause: &'static str) {
        self.row.missed += 1;
        count(&mut self.misses, cause);
    }
}

fn count(counts: &mut Vec<(&'static str, u32)>, name: &'static str) {
    match counts.iter_mut().find(|(other, _)| *other == name) {
        Some((_, count)) => *count += 1,
        None => counts.push((name, 1)),
    }
}

/// The name of a loss on the radio, as the program knows it.
fn loss_name(name: &str) -> &'static str {
    let mut all = Loss::all().map(Loss::name);
    all.find(|known| *known == name).unwrap_or(NOBODY)
}

/// The number of a loss among the fates.
fn fate_of(name: &str) -> u8 {
    let place = Loss::all().position(|loss| loss.name() == name);
    place.map_or_else(|| fates().len() - 1, |place| place + 1) as u8
}

#[cfg(test)]
mod tests;
