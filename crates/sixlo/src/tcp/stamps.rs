//! Timestamps (RFC 7323): the clock, the one to echo, and the protection against wrapped sequence numbers.

use super::connection::Connection;
use super::segment::Segment;
use crate::time::{Duration, Instant};
use crate::wire::tcp::Flags;
use crate::wire::tcp::options::Timestamps;

/// Bytes of the option in a segment, two no-operations counted (RFC 7323 appendix A).
pub(super) const OPTION_LEN: u16 = 12;

/// The clock ticks each 2^10 us: 1.024 ms (RFC 7323 section 5.4 wants 1 ms to 1 s), which takes no division.
const TICK_SHIFT: u32 = 10;

/// The age of TS.Recent is counted in 2^20 us.
const AGE_SHIFT: u32 = 20;

/// TS.Recent is no longer believed after 24 days (RFC 7323 section 5.5), in 2^20 us.
const AGE_MAX: u32 = ((24 * 24 * 3600 * 1_000_000_u64) >> AGE_SHIFT) as u32;

/// A round trip cannot take so many ticks (an hour): whoever echoes such a timestamp is not believed.
const ROUND_TRIP_TICKS_MAX: u32 = 1 << 22;

/// The timestamp clock of a connection.
pub(super) const fn clock(now: Instant, offset: u32) -> u32 {
    ((now.as_micros() >> TICK_SHIFT) as u32).wrapping_add(offset)
}

/// Whether a timestamp lies before another (RFC 7323 section 5.2).
pub(super) const fn is_before(stamp: u32, other: u32) -> bool {
    (stamp.wrapping_sub(other) as i32) < 0
}

const fn age_clock(now: Instant) -> u32 {
    (now.as_micros() >> AGE_SHIFT) as u32
}

impl Connection {
    /// Notes TS.Recent.
    pub(super) fn remember_stamp(&mut self, now: Instant, stamp: u32) {
        self.ts_recent = stamp;
        self.ts_recent_at = age_clock(now);
    }

    /// Whether a segment passes (RFC 7323 sections 3.2 and 5.3, R1). One without timestamps does not (FreeBSD), a RST does.
    pub(super) fn passes_stamps(&mut self, now: Instant, segment: &Segment) -> Result<(), Late> {
        if !self.flags.stamps || segment.flags.contains(Flags::RST) {
            return Ok(());
        }
        let Some(stamps) = segment.options.timestamps else {
            return Err(Late::Silent);
        };
        if !is_before(stamps.value, self.ts_recent) {
            return Ok(());
        }
        if age_clock(now).wrapping_sub(self.ts_recent_at) > AGE_MAX {
            // Section 5.5: after so long a time it says nothing; the segment is taken and sets it anew.
            self.ts_recent = stamps.value;
            return Ok(());
        }
        Err(Late::Answered)
    }

    /// TS.Recent is that of the segment that the next acknowledgement is about (RFC 7323 section 4.3 (2)).
    pub(super) fn update_stamp(&mut self, now: Instant, segment: &Segment) {
        if let Some(stamps) = segment.options.timestamps
            && self.flags.stamps
            && !is_before(stamps.value, self.ts_recent)
            && segment.seq.le(self.acked)
        {
            self.remember_stamp(now, stamps.value);
        }
    }

    /// The timestamps of a segment that goes out.
    pub(super) fn stamps(&self, now: Instant) -> Timestamps {
        Timestamps {
            value: clock(now, self.ts_offset),
            echo: self.ts_recent,
        }
    }

    /// When the segment was sent that an acknowledgement echoes, to a tick.
    pub(super) fn echoed(&self, now: Instant, segment: &Segment) -> Option<Instant> {
        let stamps = segment.options.timestamps.filter(|_| self.flags.stamps)?;
        let ticks = clock(now, self.ts_offset).wrapping_sub(stamps.echo);
        let believed = stamps.echo != 0 && ticks < ROUND_TRIP_TICKS_MAX;
        let span = Duration::from_micros(u64::from(ticks) << TICK_SHIFT);
        believed.then(|| now - span)
    }
}

/// Why a segment does not pass.
pub(super) enum Late {
    /// It is dropped.
    Silent,
    /// It is dropped, and its sender learns where we are.
    Answered,
}
