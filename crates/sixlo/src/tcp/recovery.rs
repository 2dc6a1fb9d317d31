//! Losses that acknowledgements tell of: fast retransmit and recovery by selective acknowledgements (RFC 6675), without them
//! by duplicate ones (RFC 5681 section 3.2, RFC 6582), limited transmit (RFC 3042).
//!
//! Congestion control is told of a loss once, and its window is not inflated: what has left the network is not counted as
//! being under way instead.

use super::config::TcpConfig;
use super::connection::Connection;
use super::segment::Segment;
use crate::congure::{Batch, Report};
use crate::ground::Cx;
use crate::trace::Sink;
use crate::wire::tcp::Flags;
use crate::wire::tcp::options::Block;

/// Duplicate acknowledgements that mean a loss (RFC 5681 section 3.2).
const DUPLICATES: u8 = 3;

/// What a connection is doing about a loss. The empty value, `None`, is all-zero bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Recovery {
    /// Nothing.
    #[default]
    None = 0,
    /// Fast recovery, until everything is acknowledged that was sent when it began.
    Fast = 1,
    /// All that was not acknowledged at a time-out is sent again.
    Timeout = 2,
}

impl Connection {
    /// What is lost, going by an acknowledgement that was taken in. `plain` says that it looked like a duplicate (RFC 5681
    /// section 2) and `new` that it acknowledged something.
    pub(super) fn look_for_loss<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        blocks: &[Block],
        (plain, new): (bool, bool),
    ) {
        let duplicate = if self.flags.sack {
            self.scoreboard.update(self.una, self.max, blocks).bytes > 0
        } else {
            plain
        };
        if new && self.recovery == Recovery::None {
            self.duplicates = 0;
            self.left = 0;
        }
        if !duplicate {
            return;
        }
        self.flags.output = true;
        self.duplicates = self.duplicates.saturating_add(1);
        if self.recovery == Recovery::None && self.is_lost() {
            self.begin_recovery(cx, config);
        }
        if !self.flags.sack && self.recovery != Recovery::Timeout {
            // Each says that a segment has left the network (RFC 3042, RFC 6582 section 3.2 step 3). As they may be made up,
            // not more than two before recovery, and not more than were under way when it began (RFC 5681 section 3.2 (4)).
            let most = match self.recovery {
                Recovery::Fast => self.recover - self.una,
                _ => 2 * u32::from(self.mss),
            };
            let most = u16::try_from(most).unwrap_or(u16::MAX).min(self.flight_u16());
            self.left = self.left.saturating_add(self.mss).min(most);
        }
    }

    /// Whether the first outstanding segment is lost.
    fn is_lost(&self) -> bool {
        if self.flags.sack {
            let first = self.scoreboard.is_first_lost(u32::from(self.mss));
            return (self.duplicates >= DUPLICATES || first) && self.una.ge(self.recover);
        }
        // RFC 6582 section 3.2 step 2: duplicates may come from what was sent twice in the recovery before.
        self.duplicates >= DUPLICATES && self.una.gt(self.recover)
    }

    /// RFC 6675 section 5 (4), RFC 6582 section 3.2 step 2.
    fn begin_recovery<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, config: &TcpConfig) {
        self.save_for_undo(cx.now);
        let lost = Batch::again(u32::from(self.mss), cx.now);
        self.report(cx, config, self.max - self.una, &Report::Lost(lost));
        self.recovery = Recovery::Fast;
        self.recover = self.max;
        self.flags.again = true;
        self.flags.timing = false;
        self.flags.partial = false;
        self.scoreboard.begin(0);
    }

    /// The peer has acknowledged `bytes` more: recovery goes on or ends.
    pub(super) fn go_on_recovering(&mut self, bytes: u32) {
        self.scoreboard.acknowledge(bytes);
        if self.recovery == Recovery::None {
            return;
        }
        if self.una.ge(self.recover) {
            self.end_recovery();
        } else if self.recovery == Recovery::Fast && !self.flags.sack {
            // RFC 6582 section 3.2 step 3, partial acknowledgement: the next hole, and the window deflated.
            self.flags.again = true;
            let left = u32::from(self.left) + u32::from(self.mss);
            self.left = (left.saturating_sub(bytes) as u16).min(self.flight_u16());
        }
    }

    /// Everything is acknowledged that was sent before it began.
    pub(super) fn end_recovery(&mut self) {
        self.recovery = Recovery::None;
        self.duplicates = 0;
        self.left = 0;
        self.flags.again = false;
        self.scoreboard.end();
    }

    /// The retransmission timer has run out: everything is to be sent again (RFC 5681 section 3.1, RFC 6582 section 3.2
    /// step 4). What was selectively acknowledged is forgotten, as the peer may have dropped it (RFC 2018 section 8).
    pub(super) fn begin_again(&mut self) {
        self.recovery = Recovery::Timeout;
        self.recover = self.max;
        self.duplicates = 0;
        self.left = 0;
        self.flags.again = false;
        self.scoreboard.clear();
        self.nxt = self.una;
    }

    fn flight_u16(&self) -> u16 {
        u16::try_from(self.max - self.una).unwrap_or(u16::MAX)
    }

    /// Whether a segment is a duplicate acknowledgement by its looks (RFC 5681 section 2).
    pub(super) fn looks_duplicate(&self, segment: &Segment) -> bool {
        segment.ack == self.una
            && self.max != self.una
            // The answer to a probe of a closed window says nothing of a loss (FreeBSD: the retransmission timer runs).
            && !self.flags.persisting
            && segment.data_len == 0
            && !segment.flags.intersects(Flags::SYN | Flags::FIN)
            && segment.window == self.wnd
    }

    /// Bytes that are under way as far as is known (RFC 6675 section 4, SetPipe).
    pub(super) fn pipe(&self) -> u32 {
        let begun = self.nxt - self.una;
        if !self.flags.sack {
            return begun.saturating_sub(self.left.into());
        }
        if self.scoreboard.is_empty() && self.recovery != Recovery::Fast {
            return begun;
        }
        if self.recovery == Recovery::Fast {
            return self.scoreboard.pipe(self.max - self.una, self.mss.into());
        }
        let (mut pipe, mut at) = (0, 0);
        while let Some((from, len)) = self.scoreboard.gap(at, begun) {
            pipe += len;
            at = from + len;
        }
        pipe
    }
}
