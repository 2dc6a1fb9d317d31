//! Retransmissions that were not needed: known by timestamps (Eifel, RFC 3522) or by what is acknowledged after a time-out
//! (F-RTO, RFC 5682), and undone (RFC 4015).

use super::connection::Connection;
use super::recovery::Recovery;
use super::segment::Segment;
use super::stamps;
use crate::congure::Saved;
use crate::ground::Cx;
use crate::time::Instant;
use crate::trace::{Sink, Told};

/// How far F-RTO is (RFC 5682 section 2.1). The empty value, `Off`, is all-zero bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Frto {
    /// Not at work.
    #[default]
    Off = 0,
    /// Waits for the first acknowledgement after the time-out.
    First = 1,
    /// Has sent new data and waits for the second.
    Second = 2,
}

/// What was, before a loss was taken for one. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    pub(super) saved: Saved,
    /// Our timestamp at the first retransmission.
    pub(super) stamp: u32,
    /// It may still turn out not to have been needed.
    pub(super) open: bool,
    pub(super) frto: Frto,
}

impl Before {
    pub(super) const NONE: Self = Self {
        saved: Saved::EMPTY,
        stamp: 0,
        open: false,
        frto: Frto::Off,
    };
}

impl Connection {
    /// Remembers what to go back to, before congestion control hears of a loss.
    pub(super) fn save_for_undo(&mut self, now: Instant) {
        self.before = Before {
            saved: self.congestion.save(),
            stamp: stamps::clock(now, self.ts_offset),
            open: true,
            frto: Frto::Off,
        };
    }

    /// An acknowledgement came that acknowledges something new. Whether the retransmission was not needed: it answers a
    /// segment that was sent before (RFC 3522 section 3.2 (5)).
    pub(super) fn undo_by_stamps<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, segment: &Segment) {
        if !core::mem::take(&mut self.before.open) {
            return;
        }
        let echo = segment.options.timestamps.filter(|_| self.flags.stamps);
        match echo {
            Some(stamps) if stamps.echo != 0 && stamps::is_before(stamps.echo, self.before.stamp) => {
                self.undo(cx);
            }
            // Without timestamps F-RTO still has to tell.
            None if self.before.frto != Frto::Off => self.before.open = true,
            _ => {}
        }
    }

    /// Undoes what was done about a loss that was none (RFC 4015 section 3).
    fn undo<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) {
        self.before.open = false;
        self.before.frto = Frto::Off;
        self.congestion.restore(&self.before.saved);
        self.tell(cx, Told::Undone);
        self.nxt = self.max;
        self.retries = 0;
        self.end_recovery();
    }

    /// After a time-out (RFC 5682 section 2.1): step 1.
    pub(super) fn begin_frto(&mut self, first: bool) {
        let applies = first && !self.flags.stamps;
        self.before.frto = if applies { Frto::First } else { Frto::Off };
    }

    /// An acknowledgement after a time-out: steps 2 and 3. `new` says that it acknowledged something; `unsent` that data was
    /// never sent and the window has room for it.
    pub(super) fn step_frto<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, new: bool, unsent: bool) {
        match self.before.frto {
            Frto::Off => {}
            // Step 2 (b): what was sent before the time-out arrives; two segments of new data tell more.
            Frto::First if new && unsent && self.una.lt(self.recover) => {
                self.before.frto = Frto::Second;
                self.nxt = self.max;
            }
            // Step 3 (b): and goes on arriving.
            Frto::Second if new => self.undo(cx),
            // Steps 2 (a) and 3 (a): the usual recovery.
            _ => {
                if self.before.frto == Frto::Second {
                    self.nxt = self.una;
                }
                self.before.frto = Frto::Off;
                self.before.open = false;
            }
        }
    }

    /// Bytes of new data that F-RTO lets go out.
    pub(super) fn frto_room(&self) -> Option<u32> {
        let active = self.recovery == Recovery::Timeout && self.before.frto == Frto::Second;
        let sent = self.nxt.offset_from(self.recover).max(0) as u32;
        active.then(|| (2 * u32::from(self.mss)).saturating_sub(sent))
    }
}
