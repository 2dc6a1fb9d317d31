//! What a run found out.

use sixlo::netdev::TxOutcome;
use sixlo::trace::Reason;

use crate::air::Deaf;
use crate::config::Currents;
use crate::config::Problem;
use crate::ledger::{Fate, Imbalance, Record};
use crate::medium::Loss;
use crate::radio::Counters;
use crate::stream::StreamResult;
use crate::time::Time;

/// What the stack of a node has counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackCounters {
    /// Packets, frames and fragments dropped, by [`Reason`].
    pub drops: [u32; Reason::ALL.len()],
    /// Frames that the radio was given and is done with.
    pub frames: u64,
    /// Transmissions of these frames.
    pub attempts: u64,
    /// Transmissions after the first of a frame.
    pub retransmissions: u64,
    /// Channel assessments that found the channel busy.
    pub busy: u64,
    /// Frames that were acknowledged.
    pub acknowledged: u64,
    /// Frames given up for want of an acknowledgement.
    pub no_ack: u64,
    /// Frames given up because the channel was always busy.
    pub channel_busy: u64,
    /// Datagrams that were put together at a forwarder because they could not be forwarded.
    pub fallbacks: u64,
    /// Bytes of the packet buffer in use, summed over time in ns.
    pub buffer_byte_ns: u128,
    /// Datagrams that were being put together, summed over time in ns.
    pub reassembly_ns: u128,
    /// The most that were put together at a time.
    pub reassemblies_max: usize,
}

impl Default for StackCounters {
    fn default() -> Self {
        Self {
            drops: [0; Reason::ALL.len()],
            frames: 0,
            attempts: 0,
            retransmissions: 0,
            busy: 0,
            acknowledged: 0,
            no_ack: 0,
            channel_busy: 0,
            fallbacks: 0,
            buffer_byte_ns: 0,
            reassembly_ns: 0,
            reassemblies_max: 0,
        }
    }
}

impl StackCounters {
    #[inline]
    pub(crate) fn frame_done(&mut self, outcome: TxOutcome, attempts: u8, busy: u8) {
        self.frames += 1;
        self.attempts += u64::from(attempts);
        self.retransmissions += u64::from(attempts.saturating_sub(1));
        self.busy += u64::from(busy);
        match outcome {
            TxOutcome::Acked => self.acknowledged += 1,
            TxOutcome::NoAck => self.no_ack += 1,
            TxOutcome::ChannelBusy => self.channel_busy += 1,
            TxOutcome::Sent | TxOutcome::Refused => {}
        }
    }
}

/// What one node has seen.
#[derive(Clone, Debug)]
pub struct NodeResult {
    /// Hops to the sink.
    pub depth: u16,
    /// The index of the next node towards the sink.
    pub parent: Option<u16>,
    /// What its stack counted.
    pub stack: StackCounters,
    /// What its radio counted.
    pub radio: Counters,
    /// How long its radio did not hear, in the order of [`Deaf::ALL`].
    pub deaf: [Time; Deaf::ALL.len()],
    /// The most that was ever in use of its packet buffer, in bytes.
    pub buffer_high_water: usize,
}

impl NodeResult {
    /// How long the radio was neither deaf nor sending.
    pub fn listening(&self, duration: Time) -> Time {
        self.deaf.iter().fold(duration, |left, &deaf| left.since(deaf))
    }

    /// How long the radio was on, but neither listening nor sending.
    pub fn idle(&self) -> Time {
        let all: u64 = self.deaf.iter().map(|time| time.as_ns()).sum();
        let off = self.deaf[Deaf::Off as usize];
        Time::ns(all).since(off).since(self.radio.airtime)
    }

    /// The charge that the radio drew, in mC.
    pub fn charge_mc(&self, duration: Time, currents: &Currents) -> f64 {
        self.radio.airtime.as_secs() * currents.transmit_ma
            + self.listening(duration).as_secs() * currents.listen_ma
            + self.idle().as_secs() * currents.deaf_ma
    }

    /// The mean use of the packet buffer in bytes.
    pub fn buffer_mean(&self, duration: Time) -> f64 {
        over_time(self.stack.buffer_byte_ns, duration)
    }

    /// The mean number of datagrams that were being put together.
    pub fn reassemblies_mean(&self, duration: Time) -> f64 {
        over_time(self.stack.reassembly_ns, duration)
    }

    /// Frames for this node that were lost because its radio did something else, or lost what it held.
    pub fn lost_to_busy_radio(&self) -> u64 {
        let busy = Loss::all().filter(|loss| loss.is_busy_radio());
        busy.map(|loss| self.radio.lost[loss.index()]).sum()
    }
}

/// The mean of something that was summed over time in ns.
fn over_time(sum_ns: u128, duration: Time) -> f64 {
    sum_ns as f64 / duration.as_ns().max(1) as f64
}

/// What a run found out.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// What the applications sent, in the order of time.
    pub records: Vec<Record>,
    /// The transfers over TCP, in the order of the configuration.
    pub streams: Vec<StreamResult>,
    /// The nodes, by index.
    pub nodes: Vec<NodeResult>,
    /// How long the run was, in simulated time.
    pub duration: Time,
    /// Frames and acknowledgements on the air.
    pub transmissions: u64,
    /// Events of the simulator.
    pub events: u64,
    /// Datagrams that were delivered again.
    pub duplicates: u64,
    /// Datagrams whose bytes were wrong and whose checksum was right: only where the scenario corrupts frames.
    pub undetected: u64,
    /// Datagrams still under way at the end, control messages included.
    pub in_flight: u64,
}

impl RunResult {
    /// Delivered datagrams and all that were sent or refused.
    pub fn delivered(&self) -> (usize, usize) {
        let delivered = self
            .records
            .iter()
            .filter(|record| matches!(record.fate, Fate::Delivered { .. }));
        (delivered.count(), self.records.len())
    }
}

/// Why a run has no result.
#[derive(Clone, Debug)]
pub enum RunError {
    /// The configuration is wrong.
    Config(Problem),
    /// The books do not balance: a mistake in stack or simulator. The result is there for whoever searches for it.
    Unbalanced {
        /// What does not add up.
        imbalances: Vec<Imbalance>,
        /// What the run found out.
        result: Box<RunResult>,
    },
}

impl From<Problem> for RunError {
    fn from(problem: Problem) -> Self {
        Self::Config(problem)
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(problem) => problem.fmt(f),
            Self::Unbalanced { imbalances, .. } => {
                f.write_str("the run does not add up: ")?;
                for (i, imbalance) in imbalances.iter().enumerate() {
                    write!(f, "{}{imbalance}", if i == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for RunError {}
