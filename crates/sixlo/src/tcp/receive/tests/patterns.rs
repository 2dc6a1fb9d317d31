//! Every pattern that the bits of a buffer of 32 bytes can have, one byte at a time, in a tree: patterns with a common
//! beginning share the steps that led there.

use super::*;

const BYTES: u32 = 32;

/// A buffer of [`BYTES`] that can be copied.
#[derive(Clone, Copy)]
struct Small {
    receive: Receive,
    store: [u8; 36],
}

impl Small {
    fn new(next: u32, turn: u16) -> Self {
        let mut store = [0; 36];
        let mut receive = Receive::new(&mut store, Seq(next));
        receive.start = turn;
        Self { receive, store }
    }

    fn insert(&mut self, offset: u32, len: u32, byte: u8) -> Taken {
        let seq = self.receive.next() + offset;
        let mut fill = |_, out: &mut [u8]| out.fill(byte);
        self.receive.insert(&mut self.store, seq, len, &mut fill)
    }
}

/// The run of ones in `pattern` that begins at or behind `at`.
fn run(pattern: u32, at: u32) -> Option<(u32, u32)> {
    let rest = pattern.checked_shr(at)?;
    let left = at + (rest != 0).then(|| rest.trailing_zeros())?;
    Some((left, left + (pattern >> left).trailing_ones()))
}

/// A buffer in which the bytes of `pattern` came, in the order of their numbers.
fn check(buffer: &Small, pattern: u32) {
    let next = buffer.receive.next();
    let mut filled = *buffer;
    let blocks = filled.receive.selective_acknowledgement(&mut filled.store);
    // All of them in a row, of which the last four were the last ones.
    let mut runs = [(0, 0); BYTES as usize / 2];
    let (mut count, mut at) = (0, 0);
    while let Some((left, right)) = run(pattern, at) {
        runs[count] = (left, right);
        (count, at) = (count + 1, right);
    }
    assert_eq!(blocks.as_slice().len(), count.min(4), "{pattern:#034b}");
    for (block, (left, right)) in blocks.as_slice().iter().zip(runs[..count].iter().rev()) {
        assert_eq!(
            (block.left, block.right),
            (next + *left, next + *right),
            "{pattern:#034b}"
        );
    }
    // Other bytes over the whole window: the first ones stay.
    assert_eq!(filled.insert(0, BYTES + 5, 2).advanced, BYTES);
    let mut out = [0; BYTES as usize];
    assert_eq!(filled.receive.read(&filled.store, &mut out), out.len());
    let got = out
        .iter()
        .rev()
        .fold(0_u32, |bits, byte| bits << 1 | u32::from(*byte == 1));
    assert_eq!(got, pattern);
    assert!(!filled.receive.has_gap() && filled.store[BYTES as usize..] == [0; 4]);
    // The first such run came twice.
    let twice = filled.receive.selective_acknowledgement(&mut filled.store);
    let twice: Vec<_> = twice
        .as_slice()
        .iter()
        .map(|block| (block.left - next, block.right - next))
        .collect();
    assert_eq!(twice, runs[..count.min(1)]);
}

/// Checks all patterns that have `pattern` so far, where bytes from `at` on to `end` are open.
fn all(buffer: &Small, pattern: u32, at: u32, end: u32) {
    if at == end {
        return check(buffer, pattern);
    }
    all(buffer, pattern, at + 1, end);
    let mut with = *buffer;
    assert_eq!(with.insert(at, 1, 1), taken(0, true));
    all(&with, pattern | 1 << at, at + 1, end);
}

/// A buffer with the bytes of a pattern.
fn with(pattern: u32, next: u32, turn: u16) -> Small {
    let mut buffer = Small::new(next, turn);
    for at in (1..BYTES).filter(|at| pattern >> at & 1 != 0) {
        buffer.insert(at, 1, 1);
    }
    buffer
}

/// Twelve bytes of each pattern are open, in the middle of the ring and over its end; the twenty before them take turns.
#[test]
fn xt20_every_pattern_of_a_buffer_of_32_bytes_is_told_and_filled() {
    let before = [0, 2, 0xf_fffe, 0x5_5554, 0xa_aaaa, 0x8_0000, 0x7_0f0e];
    for (turn, before) in (0..).map(|turn| turn * 9 % BYTES as u16).zip(before) {
        all(&with(before, 0xffff_fff8, turn), before, 20, BYTES);
    }
    all(&Small::new(7, 23), 0, 1, 14);
}

/// The byte before the first one that is missing is never marked, so there are 2^31.
#[test]
#[ignore = "takes a quarter of an hour: cargo test --release -p sixlo -- --ignored xt20"]
fn xt20_all_of_them() {
    std::thread::scope(|scope| {
        for half in [0, 2] {
            scope.spawn(move || all(&with(half, 0xffff_fff8, 27), half, 2, BYTES));
        }
    });
}
