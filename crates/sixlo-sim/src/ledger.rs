//! The balance of datagrams: everything that was sent is delivered, dropped for a reason, or still in flight.
//!
//! A datagram lives as long as anything carries it: a packet in a stack, a frame in a radio, a frame that is held back by
//! a fault. Each carrier is counted when it comes and when it goes. When none is left, the datagram has met its end, and
//! its entry is forgotten; what is kept is the record of what an application sent.

use std::collections::VecDeque;

use sixlo::trace::{End, Event, FragmentFate, Module, PktId, Reason};

use crate::medium::Loss;
use crate::stream::{Segments, of_port};
use crate::time::Time;

#[cfg(test)]
mod tests;

/// Why a datagram was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A stack dropped it.
    Stack(Reason),
    /// It was lost on the air or in a radio.
    Radio(Loss),
}

impl Cause {
    /// The name that traces and tables show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stack(reason) => reason.name(),
            Self::Radio(loss) => loss.name(),
        }
    }
}

/// What became of a datagram that an application sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// It is under way.
    #[default]
    InFlight,
    /// The application at its destination got it; an echo request: its reply came back.
    Delivered {
        /// When.
        at: Time,
    },
    /// The stack refused it at once.
    Refused(Reason),
    /// It was lost.
    Lost {
        /// The first time that a stack dropped a piece of it, or else the last that was lost on the air.
        first: Cause,
        /// What happened to its last carrier.
        last: Cause,
    },
}

impl Fate {
    /// The name that tables show: of a lost one, its first cause.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::InFlight => "in-flight",
            Self::Delivered { .. } => "delivered",
            Self::Refused(reason) => reason.name(),
            Self::Lost { first, .. } => first.name(),
        }
    }
}

/// A datagram that an application sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The index of its sender.
    pub from: u16,
    /// The index of its destination.
    pub to: u16,
    /// The index of the flow that it belongs to.
    pub flow: u16,
    /// Bytes of payload.
    pub payload_bytes: u16,
    /// Its number among those of its flow, from 0.
    pub sequence: u32,
    /// Hops from sender to destination by the static routes.
    pub hops: u16,
    /// Identities under way that belong to it: its own, and that of the reply to it.
    open: u16,
    /// What those identities that have ended met first and last.
    met: (Option<Cause>, Option<Cause>),
    /// When the application sent it.
    pub sent: Time,
    /// What became of it.
    pub fate: Fate,
    /// Its identity, 0 if the stack refused it.
    pub id: u32,
}

const NO_RECORD: u32 = u32::MAX;

/// A datagram under way.
#[derive(Clone, Copy, Debug)]
struct Entry {
    carriers: i32,
    record: u32,
    first: Option<Cause>,
    last: Option<Cause>,
    ended: bool,
    /// It is a segment with data of a transfer, by its number, and whether it arrived.
    segment: Option<(u16, bool)>,
}

/// What does not add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Imbalance {
    /// More carriers of a datagram went than came.
    NegativeCarriers {
        /// The identity.
        id: u32,
    },
    /// Something carried a datagram that had met its end.
    CarriedAfterItsEnd {
        /// The identity.
        id: u32,
    },
    /// A datagram vanished without a reason on record.
    NoReason {
        /// The identity.
        id: u32,
    },
    /// The packets in all stacks are not those that the ledger knows.
    Packets {
        /// What the ledger knows.
        expected: u64,
        /// What the packet buffers hold.
        found: u64,
    },
    /// Packets on a node are in no table and no queue: they have leaked.
    Leak {
        /// The index of the node.
        node: u16,
        /// How many.
        packets: usize,
    },
    /// No packet is left on a node, but its packet buffer is not empty.
    BufferNotEmpty {
        /// The index of the node.
        node: u16,
        /// Bytes in use.
        bytes: usize,
    },
    /// A payload came in that nobody sent like that.
    WrongPayload {
        /// The index of the node that got it.
        node: u16,
    },
}

impl std::fmt::Display for Imbalance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NegativeCarriers { id } => write!(f, "datagram {id} ended more often than it began"),
            Self::CarriedAfterItsEnd { id } => write!(f, "datagram {id} went on after its end"),
            Self::NoReason { id } => write!(f, "datagram {id} vanished without a reason"),
            Self::Packets { expected, found } => {
                write!(
                    f,
                    "{found} packets are left in the stacks, {expected} by their events"
                )
            }
            Self::Leak { node, packets } => write!(f, "node {} has leaked {packets} packets", node + 1),
            Self::BufferNotEmpty { node, bytes } => {
                write!(
                    f,
                    "node {} has no packet, but {bytes} bytes of its packet buffer are in use",
                    node + 1
                )
            }
            Self::WrongPayload { node } => write!(f, "node {} got a payload that nobody sent", node + 1),
        }
    }
}

/// The ledger of a run.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Datagrams by identity, from `base` on; those that have ended are forgotten from the front.
    entries: VecDeque<Entry>,
    base: u32,
    /// Datagrams without carriers, to be looked at when the event is over.
    idle: Vec<u32>,
    /// Datagrams that have not ended.
    live: usize,
    /// Packets in all stacks.
    packets: u64,
    /// Identities given out.
    given: u32,
    records: Vec<Record>,
    /// The segments of each transfer, with the sequence number behind the last that was sent.
    segments: Vec<(Segments, Option<u32>)>,
    imbalances: Vec<Imbalance>,
}

/// How many imbalances are kept: one is enough to fail a run.
const IMBALANCES_MAX: usize = 20;

impl Ledger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self {
            base: 1,
            ..Self::default()
        }
    }

    /// A new identity.
    pub fn identity(&mut self) -> PktId {
        self.given += 1;
        self.entries.push_back(Entry {
            carriers: 0,
            record: NO_RECORD,
            first: None,
            last: None,
            ended: false,
            segment: None,
        });
        self.live += 1;
        self.idle.push(self.given);
        PktId::new(self.given)
    }

    #[inline]
    fn entry(&mut self, id: PktId) -> Option<&mut Entry> {
        let at = id.number().checked_sub(self.base)?;
        self.entries.get_mut(at as usize)
    }

    /// A carrier of a datagram came (+1) or went (-1).
    #[inline]
    pub fn carry(&mut self, id: PktId, change: i32) {
        if id == PktId::NONE {
            return;
        }
        let Some(entry) = self.entry(id).filter(|entry| !entry.ended) else {
            self.imbalance(Imbalance::CarriedAfterItsEnd { id: id.number() });
            return;
        };
        entry.carriers += change;
        match entry.carriers {
            0 => self.idle.push(id.number()),
            ..0 => self.imbalance(Imbalance::NegativeCarriers { id: id.number() }),
            _ => {}
        }
    }

    /// A piece of a datagram was lost on the air or in a radio; it may be sent again.
    #[inline]
    pub fn lost(&mut self, id: PktId, loss: Loss) {
        if let Some(entry) = self.entry(id) {
            entry.last = Some(Cause::Radio(loss));
        }
    }

    fn dropped(&mut self, id: PktId, reason: Reason) {
        if let Some(entry) = self.entry(id) {
            let cause = Cause::Stack(reason);
            entry.first.get_or_insert(cause);
            entry.last = Some(cause);
        }
    }

    /// Something happened in a stack.
    #[inline]
    pub fn event(&mut self, event: &Event) {
        match *event {
            Event::Start { id, cause, .. } => {
                self.packets += 1;
                self.carry(id, 1);
                if cause != PktId::NONE {
                    self.answer(id, cause);
                }
            }
            Event::Share { id, .. } => {
                self.packets += 1;
                self.carry(id, 1);
            }
            Event::End { id, end, module } => {
                self.packets = self.packets.wrapping_sub(1);
                if module == Module::Tcp {
                    self.segment_arrived(id);
                }
                if let End::Dropped(reason) = end {
                    self.dropped(id, reason);
                }
                self.carry(id, -1);
            }
            Event::SegmentOut {
                id,
                from_port,
                seq,
                len,
                ..
            } if len > 0 => self.segment(id, from_port, seq, len),
            // What came twice is no loss.
            Event::FragmentIn {
                fate: FragmentFate::Dropped(Reason::FragmentDuplicate | Reason::FragmentLate),
                ..
            }
            | Event::RecoverableIn {
                fate: FragmentFate::Dropped(Reason::FragmentDuplicate | Reason::FragmentLate),
                ..
            }
            | Event::FrameDropped {
                reason: Reason::FrameDuplicate,
                ..
            } => {}
            Event::FragmentIn {
                id,
                fate: FragmentFate::Dropped(reason),
                ..
            }
            | Event::RecoverableIn {
                id,
                fate: FragmentFate::Dropped(reason),
                ..
            }
            | Event::FrameDropped { id, reason, .. } => self.dropped(id, reason),
            _ => {}
        }
    }

    /// A segment with data was sent.
    fn segment(&mut self, id: PktId, from_port: u16, seq: u32, len: u16) {
        let Some(number) = of_port(from_port) else { return };
        if let Some(entry) = self.entry(id) {
            entry.segment = Some((number, false));
        }
        if self.segments.len() <= usize::from(number) {
            self.segments.resize(usize::from(number) + 1, Default::default());
        }
        let (segments, end) = &mut self.segments[usize::from(number)];
        segments.sent += 1;
        let again = end.is_some_and(|end| seq.wrapping_sub(end).cast_signed() < 0);
        segments.again += u64::from(again);
        let new_end = seq.wrapping_add(len.into());
        if end.is_none_or(|end| new_end.wrapping_sub(end).cast_signed() > 0) {
            *end = Some(new_end);
        }
    }

    /// TCP is done with a segment: no other node's than its receiver's is.
    fn segment_arrived(&mut self, id: PktId) {
        if let Some(Entry {
            segment: Some((_, arrived)),
            ..
        }) = self.entry(id)
        {
            *arrived = true;
        }
    }

    /// The segments of a transfer.
    pub fn segments(&self, number: u16) -> Segments {
        self.segments
            .get(usize::from(number))
            .copied()
            .unwrap_or_default()
            .0
    }

    /// A datagram that answers another belongs to the same record, if the record waits for an answer.
    fn answer(&mut self, id: PktId, cause: PktId) {
        let Some(record) = self.entry(cause).map(|entry| entry.record) else {
            return;
        };
        let Some(of) = self.records.get_mut(record as usize) else {
            return;
        };
        if of.answered() && of.fate == Fate::InFlight {
            of.open += 1;
            if let Some(entry) = self.entry(id) {
                entry.record = record;
            }
        }
    }

    /// An application sends: the record of it. Its identity, or the refusal, is to be told with [`sent`](Self::sent).
    pub fn record(&mut self, record: Record) -> u32 {
        self.records.push(record);
        self.records.len() as u32 - 1
    }

    /// What an application sent got this identity.
    pub fn sent(&mut self, record: u32, id: PktId) {
        if let Some(entry) = self.entry(id) {
            entry.record = record;
        }
        let of = &mut self.records[record as usize];
        of.id = id.number();
        of.open += 1;
    }

    /// What an application wanted to send was refused.
    pub fn refused(&mut self, record: u32, reason: Reason) {
        self.records[record as usize].fate = Fate::Refused(reason);
    }

    /// What an application sent was delivered. False if it was delivered before.
    pub fn delivered(&mut self, record: u32, at: Time) -> bool {
        let fate = &mut self.records[record as usize].fate;
        let first = !matches!(fate, Fate::Delivered { .. });
        if first {
            *fate = Fate::Delivered { at };
        }
        first
    }

    /// The event is over: the datagrams that nothing carries any more have ended. Tells the records that are lost.
    #[inline]
    pub fn settle(&mut self, lost: impl FnMut(u32, u16, Fate)) {
        if !self.idle.is_empty() {
            self.settle_idle(lost);
        }
    }

    fn settle_idle(&mut self, mut lost: impl FnMut(u32, u16, Fate)) {
        while let Some(number) = self.idle.pop() {
            let id = PktId::new(number);
            let Some(entry) = self.entry(id).filter(|entry| entry.carriers == 0 && !entry.ended) else {
                continue;
            };
            entry.ended = true;
            let Entry {
                record,
                first,
                last,
                segment,
                ..
            } = *entry;
            self.live -= 1;
            if let Some((number, false)) = segment {
                self.segments[usize::from(number)].0.lost += 1;
            }
            let Some(of) = self.records.get_mut(record as usize) else {
                continue;
            };
            of.open = of.open.saturating_sub(1);
            of.met = (of.met.0.or(first), last.or(of.met.1));
            let (first, last) = of.met;
            if of.open > 0 || of.fate != Fate::InFlight {
                continue;
            }
            match first.or(last).zip(last) {
                Some((first, last)) => {
                    of.fate = Fate::Lost { first, last };
                    lost(record, of.from, of.fate);
                }
                None => self.imbalance(Imbalance::NoReason { id: number }),
            }
        }
        while self.entries.front().is_some_and(|entry| entry.ended) {
            self.entries.pop_front();
            self.base += 1;
        }
    }

    /// Something does not add up.
    pub fn imbalance(&mut self, what: Imbalance) {
        if self.imbalances.len() < IMBALANCES_MAX {
            self.imbalances.push(what);
        }
    }

    /// Datagrams under way.
    pub const fn live(&self) -> usize {
        self.live
    }

    /// Packets in all stacks, by their events.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// A record.
    pub fn get(&self, record: u32) -> &Record {
        &self.records[record as usize]
    }

    /// All records, and what does not add up.
    pub fn into_parts(self) -> (Vec<Record>, Vec<Imbalance>) {
        (self.records, self.imbalances)
    }
}

impl Record {
    /// What a flow sends at a time.
    pub const fn new(
        from: u16,
        to: u16,
        flow: u16,
        sequence: u32,
        payload_bytes: u16,
        hops: u16,
        sent: Time,
    ) -> Self {
        Self {
            from,
            to,
            flow,
            payload_bytes,
            sequence,
            hops,
            open: 0,
            met: (None, None),
            sent,
            fate: Fate::InFlight,
            id: 0,
        }
    }

    const fn answered(&self) -> bool {
        self.flow & ECHO_FLOW != 0
    }
}

/// The bit of a flow's number that says that it waits for answers.
pub const ECHO_FLOW: u16 = 0x8000;
