//! What unslotted CSMA/CA of IEEE 802.15.4 at 2.4 GHz must do, worked out without the stack and without the simulator:
//! symbol arithmetic, an exact enumeration for two senders, and a small model of its own for any number.
//!
//! The situation is always the same. Senders that always have a next frame (they start it at the instant at which the
//! last one ended, well or badly), all of one length, send to one receiver and ask for acknowledgements. All hear each
//! other, two frames that overlap are both lost, there is no other loss, and nothing takes time but the air:
//!
//! - An assessment takes 8 symbols and finds the channel busy if anything is on the air in any part of them.
//! - Clear: 12 symbols of turnaround, then the frame. In them the sender is blind, so a neighbour's frame collides.
//! - The acknowledgement starts 12 symbols after the frame and takes 22. In the 12 symbols between, an assessment fits
//!   and finds the channel clear: then the acknowledgement is lost, and the frame that destroys it as well, since its
//!   receiver sends while it starts.
//! - Acknowledged: the next frame's back-off starts 40 symbols (LIFS) after the acknowledgement. Not acknowledged: the
//!   sender starts over 54 symbols after its frame, with the same frame or, after the last retry, with the next.
//! - Busy: another back-off at once; too often busy: the next frame's back-off at once.
//!
//! Times are in symbols of 16 µs; intervals are half open, so frames that touch do not collide. All senders start at the
//! same instant: what they do later keeps to the grid of symbols that they start on, so that another offset within a
//! symbol, which no back-off takes away, gives slightly other rates.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// One symbol in microseconds.
pub(crate) const SYMBOL_US: u64 = 16;
const ASSESSMENT: i64 = 8;
const TURNAROUND: i64 = 12;
const ACK: i64 = 22;
const ACK_WAIT: i64 = 54;
const LIFS: i64 = 40;
const UNIT_BACKOFF: i64 = 20;
/// From the start of an assessment that finds the channel clear to the start of the frame.
const LEAD: i64 = ASSESSMENT + TURNAROUND;
/// From the end of a frame to the end of its acknowledgement.
const ANSWER: i64 = TURNAROUND + ACK;

/// Who contends, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contention {
    /// Saturated senders.
    pub(crate) senders: usize,
    /// Length of each frame in bytes, with its frame check sequence; more than 18.
    pub(crate) frame_len: usize,
    /// The first and the largest back-off exponent.
    pub(crate) exponents: (u8, u8),
    /// Busy assessments after the first before an attempt fails.
    pub(crate) max_backoffs: u8,
}

impl Contention {
    /// `senders` of the longest frames, with the defaults of the standard (IEEE 802.15.4-2020, table 8-94).
    pub(crate) fn saturated(senders: usize) -> Self {
        Self {
            senders,
            frame_len: 127,
            exponents: (3, 5),
            max_backoffs: 4,
        }
    }

    /// Symbols of a frame on the air, with preamble, start-of-frame delimiter and PHY header.
    pub(crate) fn airtime(&self) -> i64 {
        (self.frame_len as i64 + 6) * 2
    }

    /// The number of back-offs to choose from after `busy` busy assessments.
    fn choices(&self, busy: u8) -> i64 {
        1 << (self.exponents.0 + busy).min(self.exponents.1)
    }
}

/// The time of an isolated frame with acknowledgement, from the start of its back-off of `units` unit periods to the end
/// of the acknowledgement, in microseconds.
pub(crate) fn isolated_us(frame_len: usize, units: u64) -> u64 {
    let airtime = Contention {
        frame_len,
        ..Contention::saturated(1)
    }
    .airtime();
    units * UNIT_BACKOFF as u64 * SYMBOL_US + (LEAD + airtime + ANSWER) as u64 * SYMBOL_US
}

/// The mean time from acknowledgement to acknowledgement of a single saturated sender, in microseconds.
pub(crate) fn mean_exchange_us(contention: &Contention) -> f64 {
    let back_off = (contention.choices(0) - 1) as f64 / 2.0 * UNIT_BACKOFF as f64;
    let rest = LIFS + LEAD + contention.airtime() + ANSWER;
    (back_off + rest as f64) * SYMBOL_US as f64
}

/// What happens in the long run, all senders together. As a sum it holds counts and symbols, as a result counts a second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    /// Frames put on the air.
    pub(crate) attempts: f64,
    /// Frames that reached the receiver, retransmissions of such frames included.
    pub(crate) received: f64,
    /// Frames whose acknowledgement reached the sender.
    pub(crate) acknowledged: f64,
    /// Assessments that found the channel busy.
    pub(crate) busy: f64,
    /// Frames given up because the channel was busy too often.
    pub(crate) access_failures: f64,
}

impl Rates {
    fn add(&mut self, other: &Self, weight: f64) {
        self.attempts += weight * other.attempts;
        self.received += weight * other.received;
        self.acknowledged += weight * other.acknowledged;
        self.busy += weight * other.busy;
        self.access_failures += weight * other.access_failures;
    }

    fn a_second(&self, symbols: f64) -> Self {
        let mut rates = Self::default();
        rates.add(self, 1e6 / (symbols * SYMBOL_US as f64));
        rates
    }
}

/// A state of two senders. One of them, the first, has a frame on the air from time 0 on; the other is to assess the
/// channel at `assess`, which lies before the frame if the two overlap in blindness.
///
/// How many retries either has left is no part of it: a retry and the next frame after the last retry take the same
/// course, and so do another back-off's failure and a new frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pair {
    assess: i64,
    /// Busy assessments of the other sender's attempt so far.
    busy: u8,
    /// The first sender's frame destroyed an acknowledgement and is lost.
    doomed: bool,
}

/// A step of two senders: the states that can follow with their probabilities, the time that the origin moves on in the
/// mean, and what happened.
#[derive(Default)]
struct PairStep {
    next: Vec<(Pair, f64)>,
    symbols: f64,
    happened: Rates,
}

impl PairStep {
    /// Two senders on a clear channel: whoever assesses first has it. `one` and `two` are the times of the assessments
    /// and the busy ones before them.
    fn clear(&mut self, one: (i64, u8), two: (i64, u8), probability: f64) {
        let (first, other) = if one.0 <= two.0 { (one, two) } else { (two, one) };
        let origin = first.0 + LEAD;
        self.next.push((
            Pair {
                assess: other.0 - origin,
                busy: other.1,
                doomed: false,
            },
            probability,
        ));
        self.symbols += origin as f64 * probability;
    }
}

/// The next step from a state, with every back-off that can be drawn in it.
fn pair_step(contention: &Contention, pair: Pair) -> PairStep {
    let mut step = PairStep::default();
    let end = contention.airtime();
    let fresh = contention.choices(0);
    let draw = 1.0 / fresh as f64;
    let first_again = |units: i64| end + ACK_WAIT + units * UNIT_BACKOFF;
    if pair.assess + ASSESSMENT <= 0 {
        // The other did not see the frame coming: both collide, both wait in vain and start over.
        step.happened = Rates {
            attempts: 2.0,
            ..Rates::default()
        };
        let other_again = pair.assess + LEAD + end + ACK_WAIT;
        for one in 0..fresh {
            for two in 0..fresh {
                let other = other_again + two * UNIT_BACKOFF;
                step.clear((first_again(one), 0), (other, 0), draw * draw);
            }
        }
    } else if pair.assess < end
        || (!pair.doomed && pair.assess + ASSESSMENT > end + TURNAROUND && pair.assess < end + ANSWER)
    {
        // The other hears the frame or its acknowledgement.
        let failed = pair.busy == contention.max_backoffs;
        let busy = if failed { 0 } else { pair.busy + 1 };
        let access_failures = f64::from(failed);
        step.happened = Rates {
            busy: 1.0,
            access_failures,
            ..Rates::default()
        };
        let choices = contention.choices(busy);
        for units in 0..choices {
            let assess = pair.assess + ASSESSMENT + units * UNIT_BACKOFF;
            step.next
                .push((Pair { assess, busy, ..pair }, 1.0 / choices as f64));
        }
    } else if !pair.doomed && pair.assess < end + ANSWER {
        // The other's assessment fits between the frame and its acknowledgement: it becomes the first, and both lose.
        step.happened = Rates {
            attempts: 1.0,
            received: 1.0,
            ..Rates::default()
        };
        let origin = pair.assess + LEAD;
        step.symbols = origin as f64;
        for units in 0..fresh {
            let assess = first_again(units) - origin;
            step.next.push((
                Pair {
                    assess,
                    busy: 0,
                    doomed: true,
                },
                draw,
            ));
        }
    } else {
        // The other comes when all is over. The first has sent its frame, well or, if it was doomed, in vain.
        let well = f64::from(!pair.doomed);
        step.happened = Rates {
            attempts: 1.0,
            received: well,
            acknowledged: well,
            ..Rates::default()
        };
        for units in 0..fresh {
            let acknowledged = end + ANSWER + LIFS + units * UNIT_BACKOFF;
            let first = if pair.doomed {
                first_again(units)
            } else {
                acknowledged
            };
            step.clear((first, 0), (pair.assess, pair.busy), draw);
        }
    }
    step
}

/// The long-run rates of two senders that start together, exactly: every state that they can reach with every back-off
/// that they can draw is enumerated, and the stationary distribution of the Markov chain is solved to 1e-12.
pub(crate) fn two_senders(contention: &Contention) -> Rates {
    assert_eq!(contention.senders, 2);
    let mut start = PairStep::default();
    for one in 0..contention.choices(0) {
        for two in 0..contention.choices(0) {
            start.clear((one * UNIT_BACKOFF, 0), (two * UNIT_BACKOFF, 0), 1.0);
        }
    }
    let mut numbers = HashMap::new();
    let mut open: Vec<Pair> = Vec::new();
    let mut number = |pair: Pair, open: &mut Vec<Pair>| {
        let new = numbers.len();
        *numbers.entry(pair).or_insert_with(|| {
            open.push(pair);
            new
        })
    };
    for &(pair, _) in &start.next {
        number(pair, &mut open);
    }
    let mut steps = Vec::new();
    while let Some(&pair) = open.get(steps.len()) {
        let step = pair_step(contention, pair);
        let next: Vec<(usize, f64)> = step
            .next
            .iter()
            .map(|&(next, p)| (number(next, &mut open), p))
            .collect();
        steps.push((next, step.symbols, step.happened));
    }
    // Half of each step stays where it is, so that a periodic chain settles as well.
    let mut share = vec![1.0 / steps.len() as f64; steps.len()];
    loop {
        let mut next: Vec<f64> = share.iter().map(|p| p / 2.0).collect();
        for ((targets, ..), p) in steps.iter().zip(&share) {
            for &(target, q) in targets {
                next[target] += p * q / 2.0;
            }
        }
        let change: f64 = share.iter().zip(&next).map(|(old, new)| (old - new).abs()).sum();
        share = next;
        if change < 1e-12 {
            break;
        }
    }
    let (mut sum, mut symbols) = (Rates::default(), 0.0);
    for ((_, time, happened), p) in steps.iter().zip(&share) {
        sum.add(happened, *p);
        symbols += p * time;
    }
    sum.a_second(symbols)
}

/// What is next for a sender of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// Its frame, on the air since this instant, ends.
    FrameEnds(i64),
    /// The acknowledgement ends, if there is one.
    AnswerEnds { acknowledged: bool },
    /// It assesses the channel.
    Assesses,
}

/// Any number of senders, by drawing: a model with a list of what is on the air and three kinds of events.
///
/// When an event comes up, everything that can touch it is on the list: a frame is entered [`LEAD`] before it starts.
struct Model {
    contention: Contention,
    random: u64,
    events: BinaryHeap<Reverse<(i64, Next, usize)>>,
    /// Start, end and sender of frames and acknowledgements; the receiver is the sender of the latter.
    on_air: Vec<(i64, i64, usize)>,
    busy: Vec<u8>,
    sum: Rates,
}

impl Model {
    /// A number below a power of two (a linear congruential generator; its upper bits).
    fn below(&mut self, power_of_two: i64) -> i64 {
        self.random = self.random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (self.random >> 40) as i64 % power_of_two
    }

    fn is_clear(&self, start: i64, end: i64, but_for: usize) -> bool {
        !self
            .on_air
            .iter()
            .any(|&(from, to, who)| who != but_for && from < end && start < to)
    }

    fn back_off(&mut self, from: i64, sender: usize) {
        let units = self.below(self.contention.choices(self.busy[sender]));
        self.events
            .push(Reverse((from + units * UNIT_BACKOFF, Next::Assesses, sender)));
    }

    fn start_over(&mut self, from: i64, sender: usize) {
        self.busy[sender] = 0;
        self.back_off(from, sender);
    }

    fn assess(&mut self, now: i64, sender: usize) {
        if self.is_clear(now, now + ASSESSMENT, sender) {
            let (start, end) = (now + LEAD, now + LEAD + self.contention.airtime());
            self.sum.attempts += 1.0;
            self.on_air.push((start, end, sender));
            self.events.push(Reverse((end, Next::FrameEnds(start), sender)));
            return;
        }
        self.sum.busy += 1.0;
        if self.busy[sender] == self.contention.max_backoffs {
            self.sum.access_failures += 1.0;
            self.start_over(now + ASSESSMENT, sender);
        } else {
            self.busy[sender] += 1;
            self.back_off(now + ASSESSMENT, sender);
        }
    }

    fn frame_ends(&mut self, start: i64, now: i64, sender: usize) {
        let received = self.is_clear(start, now, sender);
        if received {
            self.sum.received += 1.0;
            let receiver = self.contention.senders;
            self.on_air.push((now + TURNAROUND, now + ANSWER, receiver));
        }
        let next = Next::AnswerEnds {
            acknowledged: received,
        };
        self.events.push(Reverse((now + ANSWER, next, sender)));
        self.on_air
            .retain(|&(_, end, _)| end + 2 * self.contention.airtime() > now);
    }

    fn answer_ends(&mut self, now: i64, acknowledged: bool, sender: usize) {
        if acknowledged && self.is_clear(now - ACK, now, self.contention.senders) {
            self.sum.acknowledged += 1.0;
            self.start_over(now + LIFS, sender);
        } else {
            self.start_over(now - ANSWER + ACK_WAIT, sender);
        }
    }
}

/// The rates of any number of senders that start together, drawn until so many frames were put on the air.
pub(crate) fn many_senders(contention: &Contention, attempts: u32, seed: u64) -> Rates {
    let mut model = Model {
        contention: *contention,
        random: seed,
        events: BinaryHeap::new(),
        on_air: Vec::new(),
        busy: vec![0; contention.senders],
        sum: Rates::default(),
    };
    for sender in 0..contention.senders {
        model.back_off(0, sender);
    }
    let mut last = 0;
    while model.sum.attempts < f64::from(attempts) {
        let Some(Reverse((now, next, sender))) = model.events.pop() else {
            unreachable!("all senders are saturated")
        };
        last = now;
        match next {
            Next::FrameEnds(start) => model.frame_ends(start, now, sender),
            Next::AnswerEnds { acknowledged } => model.answer_ends(now, acknowledged, sender),
            Next::Assesses => model.assess(now, sender),
        }
    }
    model.sum.a_second(last as f64)
}
