//! Any order, duplicates, losses, interleaved senders: exactly the datagram, or nothing.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A datagram that is really sent: who sends it, how long it is, and where it is cut, in units of 8 bytes.
#[derive(Clone, Debug)]
struct Sent {
    src: u16,
    size: u16,
    cuts: Vec<u16>,
}

impl Sent {
    fn pieces(&self, tag: u16) -> Vec<Piece> {
        let inner = self.cuts.iter().map(|unit| unit * 8);
        let mut bounds: Vec<u16> = inner.filter(|at| *at < self.size).collect();
        bounds.extend([0, self.size]);
        bounds.sort_unstable();
        bounds.dedup();
        let pairs = bounds.windows(2);
        pairs
            .map(|pair| Piece::new((self.src, tag), self.size, pair[0], pair[1] - pair[0]))
            .collect()
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    (0..3_u16, 40..=1280_u16, vec(1..160_u16, 0..14)).prop_map(|(src, size, cuts)| Sent { src, size, cuts })
}

/// Fragments of several datagrams, each none, one or several times, in any order.
fn traffic() -> impl Strategy<Value = (Vec<Sent>, Vec<Piece>)> {
    vec(sent(), 1..5).prop_flat_map(|datagrams| {
        let pieces = datagrams.iter().zip(0..).flat_map(|(sent, tag)| sent.pieces(tag));
        let counted: Vec<_> = pieces
            .map(|piece| {
                prop_oneof![1 => Just(0), 40 => Just(1), 6 => Just(2_usize)].prop_map(move |n| vec![piece; n])
            })
            .collect();
        let shuffled = counted.prop_map(|pieces| pieces.concat()).prop_shuffle();
        (Just(datagrams), shuffled)
    })
}

proptest! {
    #[test]
    fn xf14_what_arrives_whole_is_delivered_once_and_nothing_else_is((datagrams, pieces) in traffic()) {
        let mut room = Room::new(32 << 10, 256, 8);
        let mut bench = room.bench(ReassemblyConfig::default());
        let mut missing: BTreeMap<(u16, u16), Vec<(u16, u16)>> = BTreeMap::new();
        for (sent, tag) in datagrams.iter().zip(0..) {
            let bounds = sent.pieces(tag).iter().map(|piece| (piece.offset, piece.len)).collect();
            missing.insert((sent.src, tag), bounds);
        }
        let mut begun = BTreeSet::new();
        for piece in pieces {
            begun.insert(piece.key);
            let left = missing.get_mut(&piece.key).expect("sent");
            let before = left.len();
            left.retain(|bounds| *bounds != (piece.offset, piece.len));
            let expected = (before > 0 && left.is_empty()).then(|| content(piece.key, piece.size));
            prop_assert_eq!(bench.take(piece), expected);
        }
        missing.retain(|key, left| begun.contains(key) && !left.is_empty());
        prop_assert_eq!(bench.reassembler.active(), missing.len());
        bench.pass(TIMEOUT_MAX);
        prop_assert_eq!((bench.used(), bench.core.buf.live(), bench.reassembler.active()), (0, 0, 0));
    }

    /// With too little of everything, datagrams are lost, but none is wrong, none comes twice, and nothing remains.
    #[test]
    fn xf13_with_too_little_memory_nothing_wrong_is_delivered(
        (_, pieces) in traffic(),
        (bytes, packets, entries) in (100..3000_usize, 1..12_usize, 1..4_usize),
        never in any::<bool>(),
        steps in vec(0..300_u64, 100),
    ) {
        let mut room = Room::new(bytes, packets, entries);
        let eviction = if never { Eviction::Never } else { Eviction::Stalest };
        let mut bench = room.bench(ReassemblyConfig { eviction, ..ReassemblyConfig::default() });
        for (piece, step) in pieces.iter().zip(steps.iter().cycle()) {
            if let Some(bytes) = bench.take(*piece) {
                prop_assert_eq!(bytes, content(piece.key, piece.size));
            }
            bench.pass(Duration::from_millis(*step));
        }
        bench.pass(TIMEOUT_MAX);
        prop_assert_eq!((bench.used(), bench.core.buf.live(), bench.reassembler.active()), (0, 0, 0));
    }

    /// Fragments of any bounds, against the rules said in the plainest way.
    #[test]
    fn fragments_of_any_bounds_do_what_the_model_says(ops in vec(op(), 1..120)) {
        let mut room = Room::new(64 << 10, 1024, 8);
        let config = ReassemblyConfig { timeout: Duration::from_millis(2_000), ..ReassemblyConfig::default() };
        let mut bench = room.bench(config);
        let mut model = Model { config, table: BTreeMap::new() };
        for op in ops {
            match op {
                Op::Pass(ms) => bench.pass(Duration::from_millis(ms)),
                Op::Take(piece) => {
                    let expected = model.take(bench.now, piece).then(|| content(piece.key, piece.size));
                    prop_assert_eq!(bench.take(piece), expected, "{:?}", piece);
                }
            }
            prop_assert_eq!(bench.reassembler.active(), model.active(bench.now));
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Pass(u64),
    Take(Piece),
}

fn op() -> impl Strategy<Value = Op> {
    // Few keys, sizes and bounds, so that they meet.
    let key = (0..2_u16, 0..2_u16);
    let size = prop_oneof![8 => Just(120_u16), 1 => Just(128), 1 => Just(121), 1 => Just(1288)];
    let piece = (key, size, 0..17_u16, 1..5_u16, 0..40_u8);
    let piece = piece.prop_map(|(key, size, unit, units, odd)| {
        let offset = unit * 8;
        // Up to the end of the datagram where it lies near, and now and then of a length that is no multiple of 8.
        let len = match size.saturating_sub(offset) {
            left @ 1..=15 => left,
            _ => units * 8 - u16::from(odd == 0),
        };
        Piece::new(key, size, offset, len)
    });
    prop_oneof![1 => (0..1500_u64).prop_map(Op::Pass), 20 => piece.prop_map(Op::Take)]
}

/// A reassembly is a set of bounds.
struct Twin {
    size: u16,
    bounds: Vec<(u16, u16)>,
    /// When its time is over, and when it is forgotten once it is over.
    deadline: Instant,
    over: bool,
}

struct Model {
    config: ReassemblyConfig,
    table: BTreeMap<(u16, u16), Twin>,
}

impl Model {
    /// Takes a fragment; whether the datagram is complete now.
    fn take(&mut self, now: Instant, piece: Piece) -> bool {
        let end = piece.offset + piece.len;
        let fits = end <= piece.size && (end == piece.size || piece.len.is_multiple_of(8));
        if !fits || piece.size > 1280 {
            return false;
        }
        self.tick(now);
        let new = || Twin {
            size: piece.size,
            bounds: Vec::new(),
            deadline: now + self.config.timeout,
            over: false,
        };
        let twin = self.table.entry(piece.key).or_insert_with(new);
        if twin.over {
            return false;
        }
        if twin.bounds.contains(&(piece.offset, end)) && twin.size == piece.size {
            return false;
        }
        let overlaps = |(from, to): &(u16, u16)| *from < end && piece.offset < *to;
        if twin.size != piece.size || twin.bounds.iter().any(overlaps) {
            *twin = new();
        }
        twin.bounds.push((piece.offset, end));
        let complete = twin.bounds.iter().map(|(from, to)| to - from).sum::<u16>() == piece.size;
        if complete {
            twin.over = true;
            twin.deadline = now + self.config.remember;
        }
        complete
    }

    /// Gives up and forgets what is due.
    fn tick(&mut self, now: Instant) {
        let remember = self.config.remember;
        for twin in self
            .table
            .values_mut()
            .filter(|twin| !twin.over && twin.deadline <= now)
        {
            twin.over = true;
            twin.deadline += remember;
        }
        self.table.retain(|_, twin| !(twin.over && twin.deadline <= now));
    }

    fn active(&mut self, now: Instant) -> usize {
        self.tick(now);
        self.table.values().filter(|twin| !twin.over).count()
    }
}
