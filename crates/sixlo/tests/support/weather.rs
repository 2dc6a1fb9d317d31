//! A link between two stacks with random weather: frames are lost, doubled, altered and late, so that they overtake each other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use sixlo::netdev::{FRAME_LEN_MAX, RxInfo, TxOutcome, TxReport};
use sixlo::rng::Rng;
use sixlo::stack::Stack;
use sixlo::time::{Duration, Instant};

use crate::tcp::IFACE;

/// Bytes of the frames' header: data, both addresses of 64 bits, one PAN.
const MAC_LEN: usize = 21;

/// What a link does to frames: shares in a thousand, and times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    lost: u32,
    doubled: u32,
    /// One bit is altered, as what gets past the check sequence of a frame.
    altered: u32,
    /// The share that is late, and by how much at most.
    late: u32,
    late_us: u32,
    /// What every frame needs.
    delay_us: u32,
    /// All frames of a datagram share its fate, and what is doubled is a datagram.
    whole: bool,
}

impl Weather {
    /// Some weather; if it is `mild`, a connection whose segments take so many frames lives through it.
    pub(crate) fn draw(rng: &mut Rng, mild: Option<u32>) -> Self {
        let mut share = |most: u32| {
            let most = mild.map_or(most, |frames| most / 2 / frames);
            if rng.below(3) == 0 { 0 } else { rng.below(most + 1) }
        };
        let (lost, doubled, altered, late) = (share(300), share(300), share(100), share(500));
        Self {
            lost,
            doubled,
            altered,
            late,
            late_us: [5_000, 200_000, 3_000_000][rng.below(3) as usize],
            delay_us: [0, 3_000, 100_000, 700_000][rng.below(4) as usize],
            whole: rng.below(2) == 0,
        }
    }
}

/// A frame under way: when it arrives, its number, where it goes.
type UnderWay = Reverse<(Instant, u64, usize, Vec<u8>)>;

/// The link.
pub(crate) struct Link {
    weather: Weather,
    seed: u64,
    rng: Rng,
    under_way: BinaryHeap<UnderWay>,
    frames: u64,
    /// Datagrams that were altered, by their tags.
    altered: HashSet<(usize, [u8; 2])>,
}

/// The tag of the datagram of which a frame carries a fragment (RFC 4944 section 5.3), and where it stands.
fn tag(frame: &mut [u8]) -> Option<&mut [u8]> {
    let payload = frame.get_mut(MAC_LEN..)?;
    let fragment = payload.first().is_some_and(|dispatch| dispatch & 0xd8 == 0xc0);
    payload.get_mut(2..4).filter(|_| fragment)
}

impl Link {
    pub(crate) fn new(weather: Weather, seed: u64) -> Self {
        Self {
            weather,
            seed,
            rng: Rng::new(seed),
            under_way: BinaryHeap::new(),
            frames: 0,
            altered: HashSet::new(),
        }
    }

    /// Takes a frame that node `from` wants to send; true if there was one.
    pub(crate) fn take(&mut self, now: Instant, from: usize, stack: &mut Stack<'_>) -> bool {
        let mut frame = [0; FRAME_LEN_MAX];
        let Some(info) = stack.transmit(now, IFACE, &mut frame, &mut ()) else {
            return false;
        };
        let report = TxReport {
            outcome: TxOutcome::Acked,
            attempts: 1,
            busy: 0,
        };
        stack.transmitted(now, IFACE, report, &mut ());
        self.carry(now, 1 - from, frame[..info.len].to_vec());
        true
    }

    fn carry(&mut self, now: Instant, to: usize, mut frame: Vec<u8>) {
        let weather = self.weather;
        // Two draws that belong to the frame, or to the datagram.
        let mut fate = match tag(&mut frame).filter(|_| weather.whole) {
            Some(tag) => {
                let tag = u64::from(tag[0]) << 8 | u64::from(tag[1]);
                Rng::new(self.seed ^ tag << 8 ^ to as u64)
            }
            None => Rng::new(u64::from(self.rng.next_u32())),
        };
        let copies = 1 + u32::from(fate.below(1000) < weather.doubled);
        for copy in 0..copies {
            let mut frame = frame.clone();
            if fate.below(1000) < weather.lost {
                continue;
            }
            let late = fate.below(1000) < weather.late;
            let late_us = if late { fate.below(weather.late_us) } else { 0 };
            if copy > 0
                && weather.whole
                && let Some(tag) = tag(&mut frame)
            {
                tag[0] ^= 0x80;
            }
            // One alteration a datagram: a second might make up for the first in its checksum.
            let datagram = tag(&mut frame).map(|tag| (to, [tag[0], tag[1]]));
            let first = datagram.is_none_or(|datagram| !self.altered.contains(&datagram));
            if self.rng.below(1000) < weather.altered && first {
                self.altered.extend(datagram);
                let bit = self.rng.below(frame.len() as u32 * 8);
                frame[bit as usize / 8] ^= 1 << (bit % 8);
            }
            let at = now + Duration::from_micros(u64::from(weather.delay_us + late_us));
            self.frames += 1;
            self.under_way.push(Reverse((at, self.frames, to, frame)));
        }
    }

    /// Gives node `to` a frame that has arrived; true if there was one.
    pub(crate) fn give(&mut self, now: Instant, to: usize, stack: &mut Stack<'_>) -> bool {
        let due = |Reverse(first): &UnderWay| first.0 <= now && first.2 == to;
        if !self.under_way.peek().is_some_and(due) {
            return false;
        }
        let Some(Reverse((.., frame))) = self.under_way.pop() else {
            return false;
        };
        stack.frame(now, IFACE, &frame, RxInfo::default(), &mut ());
        true
    }

    /// When the next frame arrives.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.under_way.peek().map(|Reverse(first)| first.0)
    }
}
