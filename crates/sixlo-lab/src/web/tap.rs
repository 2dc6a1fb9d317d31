//! Watches a mesh that runs, for its page.

use std::collections::{BTreeMap, VecDeque};

use sixlo::netdev::TxOutcome;
use sixlo::trace::{End, Event, FragmentFate, PktId};
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::iphc::{Context, Contexts};
use sixlo_sim::config::Addresses;
use sixlo_sim::forge::context;
use sixlo_sim::medium::Loss;
use sixlo_sim::observer::{AppEvent, Observer, Occupancy, OnAir};
use sixlo_sim::time::Time;
use sixlo_sim::world::Plan;

use super::messages::{Batch, Detail, To};
use super::replay::routes_of;
use super::tally::Tally;
use crate::frame_kind::FrameKind;
use crate::receivers::{Receiver, Receivers};
use crate::trace::{Line, Writer, tell};

/// Frames and marks of a batch; of more, only the number is told.
const BATCH_MAX: usize = 1_000;
/// What a node did last: events.
const LOG_EVENTS: usize = 60;

/// The observer of a mesh for its page.
#[derive(Debug)]
pub struct Tap {
    tally: Tally,
    receivers: Receivers,
    contexts: [Context; 1],
    /// The datagrams under way, by record.
    datagrams: BTreeMap<u32, u32>,
    /// What each node did last.
    logs: Vec<VecDeque<(u64, Event)>>,
    addresses: Vec<(LinkAddr, u16)>,
    routes: Vec<Vec<(String, u16)>>,
}

impl Tap {
    /// Of the mesh that a plan describes.
    pub fn new(plan: &Plan) -> Self {
        let mut tally = Tally::new(plan.nodes());
        tally.collect(BATCH_MAX);
        let kinds = [Addresses::Extended, Addresses::Short];
        let addresses = kinds.iter().flat_map(|kind| {
            let of = |index| (plan.network.link_addr(index, *kind), index + 1);
            plan.network.indices().map(of)
        });
        Self {
            tally,
            receivers: Receivers::new(plan.network.nodes.len()),
            contexts: [context(&plan.config.link)],
            datagrams: BTreeMap::new(),
            logs: vec![VecDeque::new(); plan.network.nodes.len()],
            addresses: addresses.collect(),
            routes: routes_of(plan),
        }
    }

    /// What has happened since the last batch, until now; `None` if nothing has.
    pub fn batch(&mut self, now: Time) -> Option<Batch> {
        self.tally.advance(now.as_ns());
        self.tally.batch()
    }

    /// All nodes as they are. What has happened since the last batch is not told any more; frames are counted.
    pub fn whole(&mut self, now: Time) -> Batch {
        let untold = self.batch(now).map_or(0, |batch| batch.frame_count());
        Batch {
            skipped: untold,
            ..self.tally.whole()
        }
    }

    /// A batch in which nothing happens.
    pub fn nothing(&mut self, now: Time) -> Batch {
        self.tally.advance(now.as_ns());
        self.tally.nothing()
    }

    /// A packet of so many bytes passed the border router.
    pub const fn outside(&mut self, bytes: usize) {
        self.tally.outside(bytes as u64);
    }

    /// A node in all detail.
    pub fn detail(&self, number: u16) -> Option<Detail> {
        let index = usize::from(number).checked_sub(1)?;
        Some(Detail {
            routes: self.routes.get(index)?.clone(),
            log: self.told(number, self.logs.get(index)?),
            ..self.tally.detail(number)?
        })
    }

    /// Events in words, as a trace tells them.
    fn told(&self, number: u16, events: &VecDeque<(u64, Event)>) -> Vec<(u64, String, i8)> {
        let Ok(mut writer) = Writer::new(Vec::new(), self.addresses.iter().copied()) else {
            return Vec::new();
        };
        for (time_ns, event) in events {
            // Into memory nothing fails to be written.
            let _ = writer.stack(*time_ns, number, event);
        }
        let text = String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default();
        let lines = text.lines().skip(1).filter_map(|line| Line::parse(line).ok());
        let told = lines.map(|line| {
            (
                line.time_ns / 1_000,
                tell::event(&line),
                tell::weight(&line).sign(),
            )
        });
        told.collect()
    }

    fn dropped(&mut self, node: u16, id: PktId, reason: sixlo::trace::Reason) {
        self.tally.dropped(node + 1, id.number(), reason.name());
    }
}

impl Observer for Tap {
    fn on_air(&mut self, frame: &OnAir<'_>) {
        self.tally.advance(frame.until.as_ns());
        let receiver = self.receivers.of(frame);
        let to = match receiver {
            Receiver::None => To::None,
            Receiver::One(node) => To::Node(node + 1),
            Receiver::All => To::All,
        };
        let kind = FrameKind::of(frame.bytes, &Contexts(&self.contexts));
        let (sender, air_ns) = (frame.sender + 1, frame.until.since(frame.from).as_ns());
        let (len, id) = (frame.bytes.len() as u16, frame.id.number());
        self.tally.frame(sender, to, kind, len, air_ns, id);
        for (node, fate) in receiver.fates(frame) {
            let lost = fate.err().map(Loss::name);
            self.tally.heard(node + 1, sender, kind == FrameKind::Ack, lost);
        }
    }

    fn lost_in_radio(&mut self, now: Time, node: u16, id: PktId, loss: Loss) {
        self.tally.advance(now.as_ns());
        self.tally.lost_in_radio(node + 1, id.number(), loss.name());
    }

    fn stack(&mut self, now: Time, node: u16, event: &Event) {
        self.tally.advance(now.as_ns());
        match *event {
            Event::Hop { .. } => return,
            Event::FrameDone { outcome, .. } if !matches!(outcome, TxOutcome::Acked | TxOutcome::Sent) => {
                self.tally.given_up(node + 1);
            }
            Event::FrameDropped { id, reason, .. }
            | Event::FragmentIn {
                id,
                fate: FragmentFate::Dropped(reason),
                ..
            }
            | Event::RecoverableIn {
                id,
                fate: FragmentFate::Dropped(reason),
                ..
            }
            | Event::End {
                id,
                end: End::Dropped(reason),
                ..
            } => self.dropped(node, id, reason),
            _ => {}
        }
        if let Some(log) = self.logs.get_mut(usize::from(node)) {
            if log.len() == LOG_EVENTS {
                log.pop_front();
            }
            log.push_back((now.as_ns(), *event));
        }
    }

    fn app(&mut self, now: Time, node: u16, event: &AppEvent) {
        self.tally.advance(now.as_ns());
        match *event {
            AppEvent::Sent { record, id } => {
                if id != PktId::NONE {
                    self.datagrams.insert(record, id.number());
                }
                self.tally.sent(node + 1, id.number());
            }
            AppEvent::Delivered {
                record,
                payload_bytes,
                ..
            } => {
                let id = self.datagrams.remove(&record).unwrap_or_default();
                self.tally.delivered(node + 1, id, payload_bytes.into());
            }
            AppEvent::Lost { record, .. } => {
                let id = self.datagrams.remove(&record).unwrap_or_default();
                self.tally.lost(id);
            }
            AppEvent::Received { bytes, .. } => self.tally.received(node + 1, bytes.into()),
        }
    }

    fn occupancy(&mut self, now: Time, node: u16, occupancy: Occupancy) {
        self.tally.advance(now.as_ns());
        self.tally.occupancy(node + 1, &occupancy);
    }

    fn reboot(&mut self, now: Time, node: u16, up: bool) {
        self.tally.advance(now.as_ns());
        self.tally.switched(node + 1, up);
    }
}

#[cfg(test)]
mod tests;
