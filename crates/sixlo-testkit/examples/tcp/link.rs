//! Two nodes and the link between them, in virtual time.

use std::collections::VecDeque;

/// The port of the node that listens.
pub(crate) const PORT: u16 = 7;
/// The largest window.
pub(crate) const WINDOW_MAX: usize = 4 * 1220;
/// The longest frame of either link.
pub(crate) const FRAME_MAX: usize = 1280;

/// What the link carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    /// IPv6 packets of up to 1280 bytes as they are.
    Packets,
    /// Frames of IEEE 802.15.4 with 6LoWPAN: 127 bytes.
    Radio,
}

/// What a SYN offers. Selective acknowledgement always is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Nothing more: what smoltcp does if it is not told otherwise.
    Plain,
    /// Timestamps.
    Timestamps,
    /// Timestamps and ECN: what sixlo does if it is not told otherwise.
    Everything,
}

/// What both ends are told.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) medium: Medium,
    pub(crate) offer: Offer,
    /// Bytes of a full segment, options counted.
    pub(crate) segment: u16,
    /// Bytes of the window and of the send buffer.
    pub(crate) window: usize,
}

/// An end of the connection, as its driver and its application see it. Times are in microseconds.
pub(crate) trait Node {
    /// Whether the connection is established.
    fn is_open(&mut self) -> bool;
    /// The application sends; says how many bytes were taken.
    fn write(&mut self, now: u64, bytes: &[u8]) -> usize;
    /// The application receives; says how many bytes came.
    fn read(&mut self, now: u64, out: &mut [u8]) -> usize;
    /// The device has received a frame.
    fn take(&mut self, now: u64, frame: &[u8]);
    /// The device can send a frame; says how long it is, 0 if there is none.
    fn give(&mut self, now: u64, frame: &mut [u8]) -> usize;
    /// The device has sent the frame.
    fn done(&mut self, now: u64);
    /// A deadline has come.
    fn poll(&mut self, now: u64);
    /// When `poll` is wanted.
    fn deadline(&mut self, now: u64) -> Option<u64>;
}

/// A direction of the link: a frame after the other at a rate, each of them a delay later at the other end, or lost.
struct Direction {
    /// The device is sending until then.
    busy_until: Option<u64>,
    /// Frames under way, and when they arrive.
    under_way: VecDeque<(u64, Vec<u8>)>,
    /// State of the generator that says which frames are lost.
    state: u32,
}

/// Bits a second, as IEEE 802.15.4 at 2.4 GHz.
const RATE: u64 = 250_000;
/// Microseconds from the end of a frame at one end to the other end.
const DELAY: u64 = 10_000;

impl Direction {
    fn new(seed: u32) -> Self {
        Self {
            busy_until: None,
            under_way: VecDeque::new(),
            state: seed,
        }
    }

    /// Whether the next frame is lost, of so many in a thousand. Xorshift (Marsaglia 2003).
    fn loses(&mut self, per_mille: u32) -> bool {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state % 1000 < per_mille
    }

    fn send(&mut self, now: u64, frame: &[u8], per_mille: u32) {
        let end = now + frame.len() as u64 * 8 * 1_000_000 / RATE;
        self.busy_until = Some(end);
        if !self.loses(per_mille) {
            self.under_way.push_back((end + DELAY, frame.to_vec()));
        }
    }

    /// What happens next on it.
    fn next(&self) -> Option<u64> {
        let arrival = self.under_way.front().map(|(at, _)| *at);
        [self.busy_until, arrival].into_iter().flatten().min()
    }
}

/// Both ends: the first one sends, the second one receives.
pub(crate) struct Pair<N> {
    pub(crate) ends: [N; 2],
    directions: [Direction; 2],
    pub(crate) now: u64,
    per_mille: u32,
}

impl<N: Node> Pair<N> {
    /// Two ends with an open connection.
    pub(crate) fn open(ends: [N; 2], seed: u32) -> Self {
        let seeds = [seed, seed ^ 0x5555_5555];
        let mut pair = Self {
            ends,
            directions: seeds.map(Direction::new),
            now: 0,
            per_mille: 0,
        };
        while !pair.ends.iter_mut().all(Node::is_open) {
            pair.send();
            pair.step();
        }
        // Until the last acknowledgement of the handshake has arrived and nothing is under way.
        let quiet = pair.now + 1_000_000;
        while pair.next().is_some_and(|at| at <= quiet) {
            pair.step();
        }
        pair.now = pair.now.max(quiet);
        pair
    }

    fn next(&mut self) -> Option<u64> {
        let now = self.now;
        let links = self.directions.iter().filter_map(Direction::next);
        let deadlines = self.ends.iter_mut().filter_map(|end| end.deadline(now));
        links.chain(deadlines).min()
    }

    /// What happens next, and what both devices do about it.
    fn step(&mut self) {
        let next = self.next().expect("something is under way, or a timer runs");
        self.now = self.now.max(next);
        let now = self.now;
        for side in [0, 1] {
            let mine = &mut self.directions[side];
            if mine.busy_until.is_some_and(|until| until <= now) {
                mine.busy_until = None;
                self.ends[side].done(now);
            }
            let theirs = &mut self.directions[1 - side].under_way;
            while theirs.front().is_some_and(|(at, _)| *at <= now)
                && let Some((_, frame)) = theirs.pop_front()
            {
                self.ends[side].take(now, &frame);
            }
            if self.ends[side].deadline(now).is_some_and(|at| at <= now) {
                self.ends[side].poll(now);
            }
        }
        self.send();
    }

    /// Lets each device that is free have a frame.
    fn send(&mut self) {
        let mut frame = [0; FRAME_MAX];
        for (end, direction) in self.ends.iter_mut().zip(&mut self.directions) {
            if direction.busy_until.is_none() {
                let len = end.give(self.now, &mut frame);
                if len > 0 {
                    direction.send(self.now, &frame[..len], self.per_mille);
                }
            }
        }
    }

    /// Sends `bytes` through the connection while frames are lost, and says how many microseconds it took.
    pub(crate) fn transfer(&mut self, bytes: usize, per_mille: u32) -> u64 {
        self.per_mille = per_mille;
        let began = self.now;
        let (mut written, mut read) = (0, 0);
        let mut out = [0; FRAME_MAX];
        while read < bytes {
            // The byte of each place says which place it is.
            let data: Vec<u8> = (written..bytes.min(written + 8192)).map(byte).collect();
            if !data.is_empty() {
                written += self.ends[0].write(self.now, &data);
            }
            loop {
                let len = self.ends[1].read(self.now, &mut out);
                let right = out[..len]
                    .iter()
                    .zip(read..)
                    .all(|(got, place)| *got == byte(place));
                assert!(right, "other bytes came than were sent");
                read += len;
                if len == 0 {
                    break;
                }
            }
            self.send();
            self.step();
        }
        self.now - began
    }

    /// One segment with `bytes` bytes, and its acknowledgement, without a link between them. Calls `mark` after each of the
    /// four: segment out, segment in, acknowledgement out, acknowledgement in.
    pub(crate) fn exchange(&mut self, bytes: usize, mut mark: impl FnMut()) {
        let data = vec![0xa5; bytes];
        assert_eq!(
            self.ends[0].write(self.now, &data),
            bytes,
            "the send buffer is empty"
        );
        let segment = self.frames(0);
        mark();
        for frame in &segment {
            self.ends[1].take(self.now, frame);
        }
        let mut out = [0; FRAME_MAX];
        let len = self.ends[1].read(self.now, &mut out);
        assert_eq!(out[..len], data, "the segment arrived");
        mark();
        assert!(self.frames(1).is_empty(), "an acknowledgement that comes at once");
        // Longer than either waits with an acknowledgement.
        self.now += 200_000;
        self.ends[1].poll(self.now);
        let acknowledgement = self.frames(1);
        assert_eq!(acknowledgement.len(), 1, "one acknowledgement");
        mark();
        for frame in &acknowledgement {
            self.ends[0].take(self.now, frame);
        }
        mark();
        assert!(self.frames(0).is_empty(), "nothing is left to say");
        self.ends[0].poll(self.now);
    }

    /// What an end sends now.
    fn frames(&mut self, side: usize) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        let mut frame = [0; FRAME_MAX];
        loop {
            let len = self.ends[side].give(self.now, &mut frame);
            if len == 0 {
                return frames;
            }
            self.ends[side].done(self.now);
            frames.push(frame[..len].to_vec());
        }
    }
}

/// The byte at a place of the stream.
fn byte(place: usize) -> u8 {
    (place ^ place >> 8) as u8
}
