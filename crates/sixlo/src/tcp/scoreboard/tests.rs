use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

use super::*;

const SMSS: u32 = 10;

fn block(left: u32, right: u32) -> Block {
    Block {
        left: Seq(left),
        right: Seq(right),
    }
}

/// A scoreboard with these ranges, of bytes from 0 on.
fn with(ranges: &[(u32, u32)]) -> Scoreboard {
    let mut board = Scoreboard::EMPTY;
    for &(left, right) in ranges {
        let told = board.update(Seq(0), Seq(60_000), &[block(left, right)]);
        assert_eq!(told.bytes, right - left);
    }
    board
}

/// The ranges of a scoreboard.
fn ranges(board: &Scoreboard) -> Vec<(u16, u16)> {
    board
        .ranges()
        .iter()
        .map(|range| (range.start, range.end))
        .collect()
}

#[test]
fn ranges_that_touch_become_one() {
    let mut board = with(&[(10, 20), (40, 50), (70, 80)]);
    let mut add = |left, right| board.update(Seq(0), Seq(100), &[block(left, right)]).bytes;
    assert_eq!(add(20, 30), 10);
    assert_eq!(add(5, 10), 5);
    assert_eq!(add(12, 18), 0);
    assert_eq!(add(25, 75), 30);
    assert_eq!(add(90, 95), 5);
    assert_eq!(ranges(&board), [(5, 80), (90, 95)]);
    assert_eq!(board.bytes(), 80);
}

#[test]
fn xt3_blocks_that_cannot_be_true_are_ignored() {
    for una in [0, 1000, 0xffff_ff00, 0xffff_ffff] {
        let mut board = Scoreboard::EMPTY;
        let at = |offset: u32| Seq(una) + offset;
        let lies = [
            (50, 40),                    // left behind right
            (50, 50),                    // empty
            (0, 10),                     // the byte that is asked for
            (0u32.wrapping_sub(10), 10), // from below
            (0u32.wrapping_sub(20), 0),  // below
            (90, 101),                   // beyond what was sent
            (101, 110),                  // all of it beyond
            (0x7fff_ffff, 0x8000_0010),  // half around
            (10, 0x8000_0000),           // the longest that there is
            (0x9000_0000, 50),           // around
        ];
        for (left, right) in lies {
            let lie = Block {
                left: at(left),
                right: at(right),
            };
            assert_eq!(
                board.update(at(0), at(100), &[lie]).bytes,
                0,
                "{left} {right} from {una}"
            );
            assert!(board.is_empty(), "{left} {right} from {una}");
        }
        let truth = Block {
            left: at(1),
            right: at(100),
        };
        assert_eq!(board.update(at(0), at(100), &[truth]).bytes, 99);
    }
}

#[test]
fn xt3_four_blocks_that_overlap_count_each_byte_once() {
    let mut board = Scoreboard::EMPTY;
    let blocks = [block(10, 40), block(20, 50), block(5, 15), block(10, 40)];
    assert_eq!(board.update(Seq(0), Seq(100), &blocks).bytes, 45);
    assert_eq!(ranges(&board), [(5, 50)]);
    assert_eq!(board.update(Seq(0), Seq(100), &blocks).bytes, 0);
}

#[test]
fn xt3_a_block_farther_away_than_any_window_is_ignored() {
    let mut board = Scoreboard::EMPTY;
    let max = Seq(0x7000_0000);
    assert_eq!(board.update(Seq(0), max, &[block(65_530, 65_536)]).bytes, 0);
    assert_eq!(board.update(Seq(0), max, &[block(65_530, 65_535)]).bytes, 5);
    board.acknowledge(0x7000_0000);
    assert!(board.is_empty());
}

/// RFC 2883 section 4: below the acknowledgement, or within the second block.
#[test]
fn xt3_what_arrived_twice_is_known_by_its_block() {
    let duplicate = |blocks: &[Block]| {
        Scoreboard::default()
            .update(Seq(4000), Seq(9000), blocks)
            .duplicate
    };
    let twice = block(3000, 3500);
    assert_eq!(duplicate(&[twice]), Some(twice));
    assert_eq!(duplicate(&[twice, block(4500, 5000)]), Some(twice));
    let twice = block(5000, 5500);
    assert_eq!(duplicate(&[twice, block(4500, 5500)]), Some(twice));
    assert_eq!(duplicate(&[block(4500, 5500), twice]), None, "not the first one");
    assert_eq!(duplicate(&[twice]), None);
    assert_eq!(duplicate(&[block(3500, 3000)]), None);
    assert_eq!(duplicate(&[block(3900, 4100)]), None, "not below as a whole");
    assert_eq!(duplicate(&[]), None);
}

#[test]
fn xt3_what_finds_no_room_is_not_remembered() {
    let mut board = with(&[]);
    for left in 1..=RANGES_MAX as u32 {
        assert_eq!(
            board
                .update(Seq(0), Seq(1000), &[block(20 * left, 20 * left + 5)])
                .bytes,
            5
        );
    }
    let full = board;
    for left in [10, 50, 500] {
        assert_eq!(board.update(Seq(0), Seq(1000), &[block(left, left + 5)]).bytes, 0);
        assert_eq!(board, full);
    }
    assert_eq!(
        board.update(Seq(0), Seq(1000), &[block(45, 60)]).bytes,
        15,
        "two become one"
    );
    assert_eq!(board.update(Seq(0), Seq(1000), &[block(500, 505)]).bytes, 5);
}

/// RFC 2018 section 8: the data receiver may discard what it has acknowledged selectively.
#[test]
fn what_the_peer_gives_up_is_forgotten() {
    for (acknowledged, left) in [
        (9, vec![(1, 11), (21, 31)]),
        (10, vec![(20, 30)]),
        (15, vec![(15, 25)]),
    ] {
        let mut board = with(&[(10, 20), (30, 40)]);
        board.acknowledge(acknowledged);
        assert_eq!(ranges(&board), left);
    }
    let mut board = with(&[(10, 20), (30, 40)]);
    board.clear();
    assert!(board.is_empty());
}

/// RFC 6675 section 4, `IsLost`.
#[test]
fn three_ranges_or_more_than_two_segments_above_make_a_byte_lost() {
    assert!(!with(&[]).is_first_lost(SMSS));
    assert!(!with(&[(10, 11), (12, 13)]).is_first_lost(SMSS));
    assert!(with(&[(10, 11), (12, 13), (14, 15)]).is_first_lost(SMSS));
    assert!(!with(&[(10, 30)]).is_first_lost(SMSS));
    assert!(with(&[(10, 31)]).is_first_lost(SMSS));
}

/// A window of ten segments of which the first, the third and the fourth were lost.
#[test]
fn a_recovery_sends_the_holes_then_new_data() {
    let mut board = with(&[(10, 20), (40, 100)]);
    assert!(board.is_first_lost(SMSS));
    board.begin(10);
    assert_eq!(board.pipe(100, SMSS), 10, "the first segment, once more");
    let next = board.next_segment(100, SMSS, true);
    assert_eq!(next, Some(Next::Again { from: 20, len: 10 }));
    board.sent(next.unwrap(), 100);
    assert_eq!(board.pipe(100, SMSS), 20);
    let next = board.next_segment(100, SMSS, true);
    assert_eq!(next, Some(Next::Again { from: 30, len: 10 }));
    board.sent(next.unwrap(), 100);
    assert_eq!(board.next_segment(100, SMSS, true), Some(Next::New));
    assert_eq!(
        board.next_segment(100, SMSS, false),
        None,
        "no rescue before the first one arrived"
    );
    board.acknowledge(20);
    assert_eq!(ranges(&board), [(20, 80)]);
    assert_eq!(board.pipe(80, SMSS), 20);
    let rescue = Next::Rescue { from: 10, len: 10 };
    assert_eq!(board.next_segment(80, SMSS, false), Some(rescue), "rule 4");
    board.sent(rescue, 80);
    assert_eq!(board.next_segment(80, SMSS, false), None, "once");
    board.acknowledge(10);
    assert_eq!(board.next_segment(70, SMSS, false), None, "in a recovery");
    board.end();
    assert_eq!(ranges(&board), [(10, 70)], "RFC 6675 section 5, A");
}

/// Rule 3 of `NextSeg`, and pieces smaller than a segment.
#[test]
fn a_hole_that_is_not_surely_lost_is_sent_after_new_data() {
    let mut board = with(&[(14, 20)]);
    board.begin(10);
    assert_eq!(board.next_segment(30, SMSS, true), Some(Next::New));
    let next = Next::Again { from: 10, len: 4 };
    assert_eq!(board.next_segment(30, SMSS, false), Some(next));
    board.sent(next, 30);
    assert_eq!(board.next_segment(30, SMSS, false), None);
}

#[test]
fn the_state_of_a_scoreboard_is_small() {
    assert!(size_of::<Scoreboard>() <= 4 * RANGES_MAX + 6);
}

/// The bytes from the first that is not acknowledged on, each marked for itself; and the variables of RFC 6675.
struct Model {
    sacked: Vec<bool>,
    flight: usize,
    high_rxt: usize,
    rescue: Option<usize>,
}

impl Model {
    fn runs(&self) -> usize {
        let edges = |pair: &&[bool]| !pair[0] && pair[1];
        self.sacked.windows(2).filter(edges).count()
    }

    fn add(&mut self, left: usize, right: usize) -> u32 {
        let before = self.sacked.clone();
        self.sacked[left..right].fill(true);
        if self.runs() > RANGES_MAX {
            self.sacked = before;
            return 0;
        }
        before
            .iter()
            .zip(&self.sacked)
            .filter(|(before, now)| before != now)
            .count() as u32
    }

    fn acknowledge(&mut self, bytes: usize) {
        self.sacked.drain(..bytes);
        self.sacked.resize(self.sacked.len() + bytes, false);
        // The peer asks for the first byte, so it has not got it.
        let reneged = self.sacked.iter().take_while(|sacked| **sacked).count();
        self.sacked[..reneged].fill(false);
        self.flight -= bytes;
        self.high_rxt = self.high_rxt.saturating_sub(bytes);
        // None: the acknowledgement is past it.
        self.rescue = self.rescue.and_then(|rescue| rescue.checked_sub(bytes));
    }

    fn is_lost(&self, at: usize) -> bool {
        let above = &self.sacked[at..];
        let runs = above.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let bytes = above.iter().filter(|sacked| **sacked).count();
        runs >= 3 || bytes > 2 * SMSS as usize
    }

    fn pipe(&self) -> u32 {
        let mut pipe = 0;
        for at in (0..self.flight).filter(|at| !self.sacked[*at]) {
            pipe += u32::from(!self.is_lost(at)) + u32::from(at < self.high_rxt);
        }
        pipe
    }

    /// Bytes from `at` on, up to a segment, that are not acknowledged.
    fn again(&self, at: usize) -> Next {
        let len = self.sacked[at..].iter().take_while(|sacked| !**sacked).count() as u32;
        Next::Again {
            from: at as u32,
            len: len.min(SMSS),
        }
    }

    fn next_segment(&self, new: bool) -> Option<Next> {
        let highest = self.sacked.iter().rposition(|sacked| *sacked).unwrap_or(0);
        let mut holes = (self.high_rxt..highest).filter(|at| !self.sacked[*at]);
        let first = holes.clone().next();
        if let Some(at) = holes.find(|at| self.is_lost(*at)) {
            return Some(self.again(at));
        }
        if new {
            return Some(Next::New);
        }
        if let Some(at) = first {
            return Some(self.again(at));
        }
        if self.rescue.is_some() {
            return None;
        }
        let last = (0..self.flight).rev().find(|at| !self.sacked[*at])?;
        let len = (0..=last)
            .rev()
            .take(SMSS as usize)
            .take_while(|at| !self.sacked[*at])
            .count();
        Some(Next::Rescue {
            from: (last + 1 - len) as u32,
            len: len as u32,
        })
    }
}

#[derive(Debug, Clone)]
enum Op {
    Acknowledge(prop::sample::Index),
    Sack(Vec<(u32, u32)>),
    Send(bool),
    Begin(u8),
    End,
}

fn op() -> impl Strategy<Value = Op> {
    let near = (0_u32..220, 0_u32..220);
    let block = prop_oneof![
        6 => (0_u32..150, 1_u32..20).prop_map(|(left, len)| (left, left + len)),
        1 => near,
        1 => any::<(u32, u32)>(),
    ];
    prop_oneof![
        1 => any::<prop::sample::Index>().prop_map(Op::Acknowledge),
        4 => proptest::collection::vec(block, 0..5).prop_map(Op::Sack),
        4 => any::<bool>().prop_map(Op::Send),
        1 => (1_u8..=SMSS as u8).prop_map(Op::Begin),
        1 => Just(Op::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn xt3_the_scoreboard_does_what_one_of_single_bytes_does(first: u32, ops in proptest::collection::vec(op(), 1..40)) {
        let mut board = Scoreboard::EMPTY;
        let mut una = Seq(first);
        let mut model = Model { sacked: vec![false; 400], flight: 150, high_rxt: 0, rescue: None };
        for op in ops {
            match op {
                Op::Acknowledge(bytes) => {
                    let bytes = bytes.index(model.flight + 1);
                    board.acknowledge(bytes as u32);
                    una += bytes as u32;
                    model.acknowledge(bytes);
                    model.flight += bytes;
                }
                Op::Sack(blocks) => {
                    let max = una + model.flight as u32;
                    let (mut told, mut expected) = (0, 0);
                    for (left, right) in blocks {
                        let block = Block { left: una + left, right: una + right };
                        told += board.update(una, max, &[block]).bytes;
                        if 0 < left && left < right && right <= model.flight as u32 {
                            expected += model.add(left as usize, right as usize);
                        }
                    }
                    prop_assert_eq!(told, expected);
                }
                Op::Send(new) => {
                    let flight = model.flight as u32;
                    let next = board.next_segment(flight, SMSS, new);
                    prop_assert_eq!(next, model.next_segment(new));
                    if let Some(next) = next {
                        board.sent(next, flight);
                        match next {
                            Next::Again { from, len } => model.high_rxt = (from + len) as usize,
                            Next::Rescue { .. } => model.rescue = Some(model.flight),
                            Next::New => {}
                        }
                    }
                }
                Op::Begin(len) => {
                    board.begin(len.into());
                    (model.high_rxt, model.rescue) = (len.into(), Some(len.into()));
                }
                Op::End => {
                    board.end();
                    (model.high_rxt, model.rescue) = (0, None);
                }
            }
            let flight = model.flight as u32;
            prop_assert_eq!(board.pipe(flight, SMSS), model.pipe());
            prop_assert_eq!(board.is_first_lost(SMSS), model.is_lost(0));
            prop_assert_eq!(board.bytes() as usize, model.sacked.iter().filter(|sacked| **sacked).count());
            let mut gaps = vec![true; model.flight];
            let mut at = 0;
            while let Some((from, len)) = board.gap(at, flight) {
                at = from + len;
                gaps[from as usize..at as usize].fill(false);
            }
            prop_assert_eq!(&gaps[..], &model.sacked[..model.flight]);
        }
    }
}
