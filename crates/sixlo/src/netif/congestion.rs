//! Whether packets that go out over an interface meet congestion there, so that those that can carry a mark are marked
//! instead of dropped: fragments of RFC 8931 (section 4.3), and IPv6 packets of transports that understand it (RFC 3168
//! section 5). One decision for all of them, by the queue of the interface. What cannot carry a mark is not dropped for
//! it: the queue's capacity bounds that.

use super::{Interface, Netif};
use crate::lowpan::Strategy;
use crate::netdev::IfaceId;
use crate::rng::Rng;
use crate::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// When packets are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mark {
    /// Never.
    #[default]
    Never,
    /// While the queue of the interface is more than half full; fragments also while the reassembly table or that of
    /// datagrams under recovery is (Lenders et al. 2021, section V-A).
    HalfFull,
    /// Random early detection: the likelier, the longer the queue was on average (Floyd and Jacobson 1993; RFC 7567 sections
    /// 1.2 and 2.2).
    Red,
    /// While packets wait in the queue for too long, as one of them shows at a time (RFC 7567 section 2.2; the measure is
    /// that of RFC 8289).
    Waiting,
}

impl Mark {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Never, Self::HalfFull, Self::Red, Self::Waiting];
}

/// When packets that go out over an interface are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkConfig {
    /// Which of the rules. Default: never.
    pub when: Mark,
    /// For [`Mark::Red`].
    pub red: Red,
    /// For [`Mark::Waiting`]: how long a packet may wait. Default 100 ms, about what half a queue of 8 fragments takes with
    /// the derived gap between them.
    pub wait_max: Duration,
}

/// Random early detection: the algorithm of Floyd and Jacobson 1993, "Random Early Detection Gateways for Congestion
/// Avoidance". The defaults are ours: theirs (a weight of 0.002, thresholds of 5 and 15 packets, a probability of 1/50) are
/// for queues of a hundred packets that live for seconds, and RFC 7567 sections 1.2 and 4.3 say that none suit every queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Red {
    /// Nothing is marked while the average queue is shorter, in percent of the queue's capacity. Default 25: 2 packets of 8.
    pub min_percent: u8,
    /// Everything is marked while the average queue is this long or longer, in percent of the queue's capacity. Default 75:
    /// three times the other, as theirs are.
    pub max_percent: u8,
    /// Each packet that joins counts for 2^-n in the average. Default 4, the greatest weight with which 8 packets at once
    /// into an empty queue of 8 leave the average below its first threshold, their condition for a weight.
    pub weight_shift: u8,
    /// How likely a mark is just below the second threshold, in percent, before the packets since the last mark are
    /// counted. Default 10: one mark in 5 packets or so. With their 2 a datagram of 13 fragments, the longest, would rarely get one.
    pub probability_percent: u8,
}

impl Red {
    /// The greatest [`weight_shift`](Self::weight_shift).
    pub const WEIGHT_SHIFT_MAX: u8 = 10;
}

impl Default for Red {
    fn default() -> Self {
        Self {
            min_percent: 25,
            max_percent: 75,
            weight_shift: 4,
            probability_percent: 10,
        }
    }
}

impl Default for MarkConfig {
    fn default() -> Self {
        Self {
            when: Mark::Never,
            red: Red::default(),
            wait_max: Duration::from_millis(100),
        }
    }
}

impl MarkConfig {
    /// All-zero bits, for a place that is not in use.
    pub(super) const ZERO: Self = Self {
        when: Mark::Never,
        red: Red {
            min_percent: 0,
            max_percent: 0,
            weight_shift: 0,
            probability_percent: 0,
        },
        wait_max: Duration::ZERO,
    };
}

/// Whether anything carries marks: recoverable fragments do.
const MARKS: bool = Strategy::Recover.is_here();

/// One, in the fixed point of averages and probabilities.
const ONE: u64 = 1 << 16;

/// What an interface remembers for it. The empty value is all-zero bits.
#[derive(Debug)]
pub(super) struct Congestion {
    /// Red: the average length of the queue, in 2^-16 packets.
    average: u32,
    /// Red: packets since the last one that was marked, or since the average passed the first threshold.
    unmarked: u16,
    /// Waiting: the place of the probe, a packet whose time is taken, in its queue, from 1 on; 0 if there is none.
    probe: u16,
    /// Waiting: the probe is in the queue of fragments.
    paced: bool,
    /// Waiting: the last probe had waited for too long.
    late: bool,
    /// Red: when the interface had nothing more to send. Waiting: when the probe joined its queue.
    since: Instant,
}

const _: () = assert!(size_of::<Congestion>() == 24);

impl Congestion {
    pub(super) const EMPTY: Self = Self {
        average: 0,
        unmarked: 0,
        probe: 0,
        paced: false,
        late: false,
        since: Instant::ZERO,
    };

    /// Takes the length of the queue, in packets, into the average: avg = (1 - w) avg + w q.
    fn sample(&mut self, queue_len: usize, shift: u8) {
        let sample = (queue_len.min(0xffff) as u32) << 16;
        if sample >= self.average {
            self.average += (sample - self.average) >> shift;
        } else {
            self.average -= (self.average - sample) >> shift;
        }
    }

    /// The average falls as if so many packets had found the queue empty: those that could have been sent meanwhile.
    fn decay(&mut self, mut packets: u64, shift: u8) {
        let mut factor = ONE;
        let mut base = ONE - (ONE >> shift);
        // Squares: as many steps as the number has bits.
        while packets > 0 && factor > 0 {
            if packets & 1 == 1 {
                factor = factor * base / ONE;
            }
            base = base * base / ONE;
            packets >>= 1;
        }
        self.average = (u64::from(self.average) * factor / ONE) as u32;
    }

    /// Whether the next packet is marked: with p / (1 - n p) after n packets without a mark, so that marks come after a
    /// number of packets that is uniform, not geometric (the second of their two methods).
    fn red(&mut self, red: &Red, capacity: u16, rng: &mut Rng) -> bool {
        let share = |percent: u8| u64::from(capacity) * ONE * u64::from(percent) / 100;
        let (average, min, max) = (
            u64::from(self.average),
            share(red.min_percent),
            share(red.max_percent),
        );
        let marked = if average == 0 || average < min {
            self.unmarked = 0;
            return false;
        } else if average >= max {
            true
        } else {
            let most = u64::from(red.probability_percent) * ONE / 100;
            let chance = most * (average - min) / (max - min);
            let rest = ONE.saturating_sub(chance * u64::from(self.unmarked));
            u64::from(rng.below(rest as u32)) < chance
        };
        self.unmarked = if marked {
            0
        } else {
            self.unmarked.saturating_add(1)
        };
        marked
    }
}

impl Interface {
    /// A packet is about to join a queue: that of fragments or the other.
    #[inline]
    pub(super) fn joins(&mut self, now: Instant, paced: bool, is_idle: bool) {
        if MARKS && matches!(self.config.mark.when, Mark::Red | Mark::Waiting) {
            self.watch(now, paced, is_idle);
        }
    }

    #[cold]
    fn watch(&mut self, now: Instant, paced: bool, is_idle: bool) {
        let waiting = self.waiting();
        let ahead = if paced { &self.paced } else { &self.queue }.len();
        let (state, config) = (&mut self.congestion, &self.config);
        let shift = config.mark.red.weight_shift.min(Red::WEIGHT_SHIFT_MAX);
        if config.mark.when == Mark::Waiting {
            if state.probe == 0 {
                state.probe = u16::try_from(ahead + 1).unwrap_or(u16::MAX);
                state.paced = paced;
                state.since = now;
            }
        } else if is_idle {
            let frame_us = config.csma.frame_time().as_micros().max(1);
            state.decay(now.since(state.since).as_micros() / frame_us, shift);
        } else {
            state.sample(waiting, shift);
        }
    }

    /// A packet was taken from a queue: that of fragments or the other.
    #[inline]
    pub(super) fn leaves(&mut self, now: Instant, paced: bool) {
        let state = &mut self.congestion;
        if !MARKS || state.probe == 0 || state.paced != paced {
            return;
        }
        state.probe -= 1;
        if state.probe == 0 {
            state.late = now.since(state.since) > self.config.mark.wait_max;
        }
    }

    /// There is nothing more to send.
    #[inline]
    pub(super) const fn idles(&mut self, now: Instant) {
        if MARKS {
            self.congestion.since = now;
            self.congestion.late = false;
        }
    }
}

impl Netif<'_> {
    /// Whether a packet that can carry a mark of congestion gets one, as it is about to go to this interface. To be asked
    /// once a packet.
    pub fn marks(&mut self, rng: &mut Rng, now: Instant, id: IfaceId) -> bool {
        let Some(iface) = self.up_mut(id) else {
            return false;
        };
        let waiting = iface.waiting();
        let (state, config) = (&mut iface.congestion, &iface.config);
        match config.mark.when {
            Mark::Never => false,
            Mark::HalfFull => is_half_full((waiting, usize::from(config.queue_capacity))),
            Mark::Red => state.red(&config.mark.red, config.queue_capacity, rng),
            Mark::Waiting => {
                // The one whose time is taken may have waited for too long already.
                let overdue = state.probe != 0 && now.since(state.since) > config.mark.wait_max;
                state.late || overdue
            }
        }
    }

    /// Changes when packets are marked. What was watched until now is forgotten. False if there is no such interface.
    pub fn set_mark(&mut self, id: IfaceId, mark: MarkConfig) -> bool {
        let iface = self.up_mut(id);
        iface
            .map(|iface| {
                iface.congestion = Congestion::EMPTY;
                iface.config.mark = mark;
            })
            .is_some()
    }
}

/// Whether more than half of a capacity is used.
pub const fn is_half_full((used, capacity): (usize, usize)) -> bool {
    used * 2 > capacity
}
