//! The medium: who senses whom, and what becomes of a frame at a receiver.
//!
//! All that depends on positions alone is computed once. A question costs as much as the node asked about has
//! neighbours that it senses.

use crate::air::{Air, Deaf, Ear, Span};
use crate::config::{self, Problem};
use crate::rng::mix;
use crate::time::Time;
use crate::topology::Network;

mod disc;
mod log_distance;
mod oqpsk;

pub use oqpsk::bit_error_rate;

#[cfg(test)]
mod tests;

/// Why a frame on the air was lost at a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Another transmission destroyed it.
    Collision,
    /// The link destroyed it, although nothing else was on the air.
    FrameError,
    /// It was too weak to be noticed.
    Weak,
    /// The radio did not hear.
    Deaf(Deaf),
    /// It was received and perhaps acknowledged, but overwritten in the radio's buffer before it was read out.
    Overwritten,
    /// A fault of the scenario struck it.
    Fault,
    /// Sender and receiver were kept apart by the scenario.
    Partition,
}

impl Loss {
    /// How many causes there are.
    pub const COUNT: usize = 6 + Deaf::ALL.len();

    /// A number below [`COUNT`](Self::COUNT).
    pub const fn index(self) -> usize {
        match self {
            Self::Collision => 0,
            Self::FrameError => 1,
            Self::Weak => 2,
            Self::Overwritten => 3,
            Self::Fault => 4,
            Self::Partition => 5,
            Self::Deaf(cause) => 6 + cause as usize,
        }
    }

    /// All causes, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        [
            Self::Collision,
            Self::FrameError,
            Self::Weak,
            Self::Overwritten,
            Self::Fault,
            Self::Partition,
        ]
        .into_iter()
        .chain(Deaf::ALL.into_iter().map(Self::Deaf))
    }

    /// Whether the frame was lost because the radio was on and did something else, or overwrote what it held.
    pub const fn is_busy_radio(self) -> bool {
        match self {
            Self::Overwritten => true,
            Self::Deaf(cause) => !matches!(cause, Deaf::Off),
            _ => false,
        }
    }

    /// The name that counters and traces show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Collision => "collision",
            Self::FrameError => "frame-error",
            Self::Weak => "below-sensitivity",
            Self::Overwritten => "radio-overwritten",
            Self::Fault => "fault",
            Self::Partition => "partition",
            Self::Deaf(cause) => cause.name(),
        }
    }
}

/// How well a frame came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Strength in dBm.
    pub rssi_dbm: i8,
    /// Quality, 0 to 255.
    pub lqi: u8,
}

/// A frame on the air.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// Who sends.
    pub sender: u16,
    /// When.
    pub span: Span,
    /// It is an acknowledgement.
    pub is_ack: bool,
    /// Counts the transmissions of the run; the luck of the frame at each receiver depends on it.
    pub number: u64,
}

/// Lists of different lengths, one for each node, in one piece of memory.
#[derive(Clone, Debug)]
struct Lists<T> {
    items: Vec<T>,
    ends: Vec<u32>,
}

impl<T> Lists<T> {
    fn new(lists: impl Iterator<Item = Vec<T>>) -> Self {
        let (mut items, mut ends) = (Vec::new(), vec![0]);
        for list in lists {
            items.extend(list);
            ends.push(items.len() as u32);
        }
        Self { items, ends }
    }

    #[inline]
    fn of(&self, node: u16) -> &[T] {
        let node = usize::from(node);
        &self.items[self.ends[node] as usize..self.ends[node + 1] as usize]
    }
}

/// The medium of a run.
#[derive(Debug)]
pub struct Medium {
    model: Model,
    seed: u64,
}

#[derive(Debug)]
enum Model {
    Disc(disc::Disc),
    LogDistance(log_distance::LogDistance),
}

impl Medium {
    /// The medium over a network; what is random is drawn from `seed`.
    pub fn build(config: &config::Medium, network: &Network, seed: u64) -> Result<Self, Problem> {
        let model = match config {
            config::Medium::Disc(disc) => Model::Disc(disc::Disc::of_ranges(disc, network)?),
            config::Medium::Links(links) => Model::Disc(disc::Disc::of_links(links, network)?),
            config::Medium::LogDistance(log) => {
                Model::LogDistance(log_distance::LogDistance::new(log, network, seed)?)
            }
        };
        let seed = mix(mix(seed) ^ crate::rng::Purpose::Medium as u64);
        Ok(Self { model, seed })
    }

    /// Whether a channel assessment of `node` over `span`, which ends now, finds the channel busy.
    #[inline]
    pub fn busy(&self, air: &Air, node: u16, span: &Span) -> bool {
        match &self.model {
            Model::Disc(disc) => disc.busy(air, node, span),
            Model::LogDistance(log) => log.busy(air, node, span),
        }
    }

    /// The nodes that may receive what `sender` sends, in their order.
    #[inline]
    pub fn receivers(&self, sender: u16) -> &[u16] {
        match &self.model {
            Model::Disc(disc) => disc.receivers(sender),
            Model::LogDistance(log) => log.receivers(sender),
        }
    }

    /// What becomes of a transmission, which ends now, at a receiver.
    #[inline]
    pub fn receive(&self, air: &Air, ear: &Ear, sent: &Transmission, receiver: u16) -> Result<Signal, Loss> {
        let missed = if sent.is_ack {
            ear.missed_ack(&sent.span)
        } else {
            ear.missed(&sent.span)
        };
        if let Some(cause) = missed {
            return Err(Loss::Deaf(cause));
        }
        let luck = mix(mix(self.seed ^ sent.number) ^ u64::from(receiver));
        match &self.model {
            Model::Disc(disc) => disc.receive(air, sent, receiver, luck),
            Model::LogDistance(log) => log.receive(air, ear, sent, receiver, luck),
        }
    }

    /// The share of frames of 127 bytes from `from` to `to` that arrive if nothing else is on the air.
    pub fn delivery_ratio(&self, from: u16, to: u16) -> f64 {
        match &self.model {
            Model::Disc(disc) => disc.delivery_ratio(from, to),
            Model::LogDistance(log) => log.delivery_ratio(from, to),
        }
    }

    /// Whether routes may use the link from `from` to `to`.
    pub fn linked(&self, from: u16, to: u16) -> bool {
        let least = match &self.model {
            Model::Disc(_) => f64::MIN_POSITIVE,
            Model::LogDistance(log) => log.link_success_min(),
        };
        self.delivery_ratio(from, to) >= least
    }
}

fn check(key: &str, value: f64, range: std::ops::RangeInclusive<f64>, unit: &str) -> Result<(), Problem> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Problem::new(
        format!("medium.{key}"),
        format!("{value}{unit}"),
        format!("{}{unit} to {}{unit}", range.start(), range.end()),
    ))
}

/// Time in bits: 4 us each.
fn bits(time: Time) -> f64 {
    time.as_ns() as f64 / 4_000.0
}
