//! What the peer has acknowledged selectively, and what that says of loss: the scoreboard of RFC 6675.
//!
//! Everything is an offset from the first byte that is not acknowledged (SND.UNA): a window without scaling has at most
//! 65,535. An end is the offset behind the last byte, where the RFC names the last byte itself.

use crate::wire::tcp::options::Block;
use crate::wire::tcp::seq::Seq;

#[cfg(test)]
mod tests;

/// Ranges that are remembered. One more is not: selective acknowledgement is advice (RFC 2018 section 8), and what is not
/// remembered is sent once too often at worst.
pub const RANGES_MAX: usize = 8;

/// Discontiguous ranges above a byte that make it lost (RFC 6675 section 2, RFC 5681 section 3.2).
const DUP_THRESH: u32 = 3;

/// Bytes that are selectively acknowledged, with others before and behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Range {
    start: u16,
    end: u16,
}

impl Range {
    const fn len(self) -> u32 {
        (self.end - self.start) as u32
    }
}

/// What a selective acknowledgement told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Bytes that were not acknowledged before in any way. If there are any, the segment is a duplicate acknowledgement in the
    /// sense of RFC 6675 section 2.
    pub bytes: u32,
    /// What arrived twice (RFC 2883 section 4).
    pub duplicate: Option<Block>,
}

/// What loss recovery sends next (`NextSeg` of RFC 6675 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Rules 1 and 3: so many bytes from this offset on, once more.
    Again {
        /// Offset of the first byte.
        from: u32,
        /// Bytes.
        len: u32,
    },
    /// Rule 2: data that was never sent.
    New,
    /// Rule 4: the end of what is outstanding, once in a recovery, so that acknowledgements go on coming.
    Rescue {
        /// Offset of the first byte.
        from: u32,
        /// Bytes.
        len: u32,
    },
}

/// The scoreboard of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scoreboard {
    /// In their order, no two of them touching.
    ranges: [Range; RANGES_MAX],
    /// How many of them there are.
    count: u8,
    /// The end of what was sent again in this recovery (`HighRxt`).
    again: u16,
    /// How far the cumulative acknowledgement must come before there may be a rescue: one byte past `RescueRxt`.
    rescue_from: u16,
}

impl Scoreboard {
    /// Nothing is acknowledged selectively.
    pub const EMPTY: Self = Self {
        ranges: [Range { start: 0, end: 0 }; RANGES_MAX],
        count: 0,
        again: 0,
        rescue_from: 0,
    };

    /// Takes in that the first `bytes` bytes were acknowledged.
    ///
    /// A range that begins there or before, but goes on, is forgotten: the peer has given up what it had (RFC 2018 section
    /// 8), or never had it.
    pub fn acknowledge(&mut self, bytes: u32) {
        let bytes = u16::try_from(bytes).unwrap_or(u16::MAX);
        let mut kept = 0;
        for at in 0..self.ranges().len() {
            let Range { start, end } = self.ranges[at];
            if start > bytes {
                self.ranges[kept] = Range {
                    start: start - bytes,
                    end: end - bytes,
                };
                kept += 1;
            }
        }
        self.count = kept as u8;
        self.again = self.again.saturating_sub(bytes);
        self.rescue_from = self.rescue_from.saturating_sub(bytes);
    }

    /// Takes in the blocks of a selective acknowledgement (`Update`), where bytes from `una` up to `max` are outstanding. A
    /// block that cannot be true of them is ignored.
    pub fn update(&mut self, una: Seq, max: Seq, blocks: &[Block]) -> Told {
        let mut told = Told {
            bytes: 0,
            duplicate: duplicate(una, blocks),
        };
        for block in blocks {
            // Not the byte at `una` itself: who had that would have acknowledged it.
            if block.left.gt(una) && block.left.lt(block.right) && block.right.le(max) {
                let (start, end) = (u16::try_from(block.left - una), u16::try_from(block.right - una));
                if let (Ok(start), Ok(end)) = (start, end) {
                    told.bytes += self.add(Range { start, end });
                }
            }
        }
        told
    }

    /// Forgets everything, as when the retransmission timer ran out (RFC 2018 section 8).
    pub fn clear(&mut self) {
        *self = Self::EMPTY;
    }

    /// Bytes that are acknowledged selectively.
    pub fn bytes(&self) -> u32 {
        self.ranges().iter().map(|range| range.len()).sum()
    }

    /// Whether nothing is acknowledged selectively.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the first outstanding byte is lost (`IsLost (HighACK + 1)`), segments having at most `smss` bytes.
    pub fn is_first_lost(&self, smss: u32) -> bool {
        is_lost(self.count.into(), self.bytes(), smss)
    }

    /// Begins a recovery, in which the first `len` bytes are sent again at once (RFC 6675 section 5, 4.3).
    pub fn begin(&mut self, len: u32) {
        self.again = offset(len);
        self.rescue_from = self.again.saturating_add(1);
    }

    /// Ends a recovery. What is known of later bytes stays (RFC 6675 section 5, A).
    pub fn end(&mut self) {
        self.again = 0;
        self.rescue_from = 0;
    }

    /// Bytes that are thought to be in the network (`SetPipe`), of `flight` outstanding ones.
    pub fn pipe(&self, flight: u32, smss: u32) -> u32 {
        let (mut pipe, mut at, mut above) = (0, 0, self.bytes());
        let mut left = u32::from(self.count);
        let again = u32::from(self.again);
        for &range in self.ranges() {
            let start = u32::from(range.start);
            if !is_lost(left, above, smss) {
                pipe += start - at;
            }
            pipe += start.min(again).saturating_sub(at);
            above -= range.len();
            left -= 1;
            at = range.end.into();
        }
        pipe + flight.saturating_sub(at) + flight.min(again).saturating_sub(at)
    }

    /// What to send next in a recovery (`NextSeg`), of `flight` outstanding bytes, in segments of at most `smss`. `new` says
    /// that there is data which was never sent, and that the peer's window has room for it.
    pub fn next_segment(&self, flight: u32, smss: u32, new: bool) -> Option<Next> {
        let mut again = None;
        let (mut at, mut above) = (u32::from(self.again), self.bytes());
        for (&range, left) in self.ranges().iter().zip((0..=u32::from(self.count)).rev()) {
            let start = u32::from(range.start);
            if at < start {
                let len = (start - at).min(smss);
                again = Some(Next::Again { from: at, len });
                // Rule 1. What follows is lost only if this is.
                if is_lost(left, above, smss) {
                    return again;
                }
                break;
            }
            above -= range.len();
            at = at.max(range.end.into());
        }
        if new {
            return Some(Next::New);
        }
        again.or_else(|| self.rescue(flight, smss))
    }

    /// Rule 4 of `NextSeg`: a segment that includes the last outstanding byte that is not acknowledged in any way.
    fn rescue(&self, flight: u32, smss: u32) -> Option<Next> {
        if self.rescue_from > 0 {
            return None;
        }
        // Ranges do not touch: if the last one is at the end, what lies before it is not acknowledged.
        let (mut begin, mut end) = (0, flight);
        for range in self.ranges() {
            if u32::from(range.end) < flight {
                begin = range.end.into();
            } else {
                end = range.start.into();
            }
        }
        let from = begin.max(end.saturating_sub(smss));
        (from < end).then(|| Next::Rescue {
            from,
            len: end - from,
        })
    }

    /// Takes in that this was sent (RFC 6675 section 5, C.2), `flight` bytes being outstanding. Of a segment that became
    /// shorter, what was sent is meant.
    pub fn sent(&mut self, segment: Next, flight: u32) {
        match segment {
            Next::Again { from, len } => self.again = offset(from + len),
            // Past the point at which the recovery ends: there is no second one.
            Next::Rescue { .. } => self.rescue_from = offset(flight).saturating_add(1),
            Next::New => {}
        }
    }

    /// The first bytes from an offset on that are not acknowledged, up to `end`: offset and number. For sending again after the
    /// timer ran out, where what has arrived since is left out (RFC 6675 section 5.1).
    pub fn gap(&self, from: u32, end: u32) -> Option<(u32, u32)> {
        let mut at = from;
        for range in self.ranges() {
            let start = u32::from(range.start);
            if at < start {
                let until = start.min(end);
                return (at < until).then(|| (at, until - at));
            }
            at = at.max(range.end.into());
        }
        (at < end).then(|| (at, end - at))
    }

    fn ranges(&self) -> &[Range] {
        self.ranges.get(..usize::from(self.count)).unwrap_or(&self.ranges)
    }

    /// Adds a range, joined with those that it touches, and gives the number of bytes that are new.
    fn add(&mut self, new: Range) -> u32 {
        let ranges = self.ranges();
        let first = ranges.iter().take_while(|range| range.end < new.start).count();
        let behind = ranges.iter().take_while(|range| range.start <= new.end).count();
        let touched = ranges.get(first..behind).unwrap_or_default();
        let (mut joined, mut had) = (new, 0);
        for range in touched {
            joined.start = joined.start.min(range.start);
            joined.end = joined.end.max(range.end);
            had += range.len();
        }
        let count = usize::from(self.count) + 1 - touched.len();
        if count > RANGES_MAX {
            return 0;
        }
        // In the place of those that were touched goes the new one; the others move by one, or by how many went.
        let mut table = [Range::default(); RANGES_MAX];
        let (before, after) = (ranges.iter().take(first), ranges.iter().skip(behind));
        for (place, range) in table.iter_mut().zip(before.chain([&joined]).chain(after)) {
            *place = *range;
        }
        self.ranges = table;
        self.count = count as u8;
        joined.len() - had
    }
}

/// Whether bytes with so many ranges above them, of so many bytes, are lost (`IsLost` of RFC 6675 section 4).
const fn is_lost(ranges: u32, bytes: u32, smss: u32) -> bool {
    ranges >= DUP_THRESH || bytes > (DUP_THRESH - 1) * smss
}

/// An offset as it is kept: no farther than any window reaches.
const fn offset(bytes: u32) -> u16 {
    if bytes < u16::MAX as u32 {
        bytes as u16
    } else {
        u16::MAX
    }
}

/// The first block, if it tells of what arrived twice: it is below the acknowledgement, or within the second one (RFC 2883
/// section 4).
fn duplicate(una: Seq, blocks: &[Block]) -> Option<Block> {
    let (&first, others) = blocks.split_first()?;
    let within = |second: &Block| second.left.le(first.left) && first.right.le(second.right);
    let twice = first.right.le(una) || others.first().is_some_and(within);
    (first.left.lt(first.right) && twice).then_some(first)
}
