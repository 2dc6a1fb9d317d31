//! Watches a mesh in real time: counts, captures, and tells those who subscribed.

use std::io;
use std::sync::mpsc::{SyncSender, TrySendError};

use sixlo::trace::{Event, PktId};
use sixlo_sim::frames::To;
use sixlo_sim::medium::{Loss, Signal};
use sixlo_sim::observer::{AppEvent, Observer, Occupancy, OnAir};
use sixlo_sim::time::Time;

use super::command::Happening;
use crate::record::{Recorder, kind_of};
use crate::web::live::Feed;

/// What a node has sent and received on the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// Frames that it sent, acknowledgements included.
    pub sent: u64,
    /// Frames for it that it received.
    pub received: u64,
    /// Frames for it, or acknowledgements and frames for all in its range, that it did not receive.
    pub lost: u64,
}

/// The observer of the world.
#[derive(Debug)]
pub struct Watch {
    nodes: Vec<NodeCounts>,
    frames: u64,
    subscribers: Vec<Subscriber>,
    recorder: Option<Recorder>,
    page: Option<Feed>,
}

#[derive(Debug)]
struct Subscriber {
    out: SyncSender<Happening>,
    missed: u64,
}

impl Watch {
    /// Nothing was seen yet of so many nodes.
    pub fn new(nodes: u16) -> Self {
        Self {
            nodes: vec![NodeCounts::default(); usize::from(nodes)],
            frames: 0,
            subscribers: Vec::new(),
            recorder: None,
            page: None,
        }
    }

    /// What is seen is also recorded.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// The run is over: writes what is left to record.
    ///
    /// # Errors
    ///
    /// If not all could be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.recorder.take().map_or(Ok(()), Recorder::finish)
    }

    /// A packet passed the link to the outside.
    pub fn packet(&mut self, at: Time, inward: bool, packet: &[u8]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.outside(at, packet);
        }
        if let Some(page) = &mut self.page {
            page.tap().outside(packet.len());
        }
        let len = packet.len().min(0xffff) as u16;
        self.tell(Happening::Packet { at, inward, len });
    }

    /// Shows the mesh on a page, too.
    pub fn show(&mut self, page: Feed) {
        self.page = Some(page);
    }

    /// Its page, if there is one.
    pub const fn page(&mut self) -> Option<&mut Feed> {
        self.page.as_mut()
    }

    /// What a node has sent and received.
    pub fn counts(&self, index: u16) -> NodeCounts {
        self.nodes.get(usize::from(index)).copied().unwrap_or_default()
    }

    /// Frames on the air so far.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// Somebody wants to know all that happens.
    pub fn subscribe(&mut self, out: SyncSender<Happening>) {
        self.subscribers.push(Subscriber { out, missed: 0 });
    }

    /// Tells those who subscribed. Who does not keep up misses it and is told so; who is gone is forgotten.
    pub fn tell(&mut self, happening: Happening) {
        self.subscribers
            .retain_mut(|subscriber| subscriber.tell(happening));
    }
}

impl Subscriber {
    /// False if it is gone.
    fn tell(&mut self, happening: Happening) -> bool {
        if self.missed > 0 {
            match self.out.try_send(Happening::Missed(self.missed)) {
                Ok(()) => self.missed = 0,
                Err(TrySendError::Full(_)) => {}
                Err(TrySendError::Disconnected(_)) => return false,
            }
        }
        match self.out.try_send(happening) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.missed += 1;
                true
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }
}

impl Observer for Watch {
    fn on_air(&mut self, frame: &OnAir<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.on_air(frame);
        }
        if let Some(page) = &mut self.page {
            page.tap().on_air(frame);
        }
        self.frames += 1;
        if let Some(sender) = self.nodes.get_mut(usize::from(frame.sender)) {
            sender.sent += 1;
        }
        let is_for = |node: u16| match frame.to {
            To::Node(to) => to == node,
            To::All | To::Awaiting => true,
            To::Nobody => false,
        };
        let mut received = false;
        for (node, fate) in frame.fates.iter().filter(|(node, _)| is_for(*node)) {
            if let Some(counts) = self.nodes.get_mut(usize::from(*node)) {
                count(counts, fate);
            }
            received |= fate.is_ok();
        }
        if !self.subscribers.is_empty() {
            self.tell(Happening::Frame {
                span: (frame.from, frame.until),
                from: frame.sender + 1,
                to: frame.to,
                kind: kind_of(frame.bytes),
                len: frame.bytes.len() as u16,
                received,
            });
        }
    }

    fn lost_in_radio(&mut self, now: Time, node: u16, id: PktId, loss: Loss) {
        if let Some(page) = &mut self.page {
            page.tap().lost_in_radio(now, node, id, loss);
        }
    }

    fn stack(&mut self, now: Time, node: u16, event: &Event) {
        if let Some(page) = &mut self.page {
            page.tap().stack(now, node, event);
        }
    }

    fn app(&mut self, now: Time, node: u16, event: &AppEvent) {
        if let Some(page) = &mut self.page {
            page.tap().app(now, node, event);
        }
    }

    fn occupancy(&mut self, now: Time, node: u16, occupancy: Occupancy) {
        if let Some(page) = &mut self.page {
            page.tap().occupancy(now, node, occupancy);
        }
    }

    fn reboot(&mut self, at: Time, node: u16, on: bool) {
        if let Some(page) = &mut self.page {
            page.tap().reboot(at, node, on);
        }
        self.tell(Happening::Switched {
            at,
            node: node + 1,
            on,
        });
    }
}

fn count(counts: &mut NodeCounts, fate: &Result<Signal, Loss>) {
    match fate {
        Ok(_) => counts.received += 1,
        Err(_) => counts.lost += 1,
    }
}
