//! Frames that came in before: link retransmissions whose acknowledgement was lost on its way to the sender.

use crate::netdev::IfaceId;
use crate::time::{Duration, Instant};
use crate::wire::addr::LinkAddr;

/// How long after a frame its retransmissions can come: 500 ms.
///
/// With the defaults of IEEE 802.15.4-2020, table 8-94, a retransmission of the longest frame ends at most 42.8 ms after
/// the attempt before it: 0.864 ms wait for the acknowledgement, (7 + 15 + 31 + 31 + 31) * 0.320 ms back-offs,
/// 5 * 0.128 ms assessments, 0.192 ms turnaround and 4.256 ms frame. That makes 128 ms for the 3 retries of the default,
/// 299 ms for the 7 that the standard allows, and 248 ms for 3 with a delay of up to 40 ms before each (Kumar et al.,
/// NSDI 2020, section 7.1). The rest is for devices that are slow to copy a frame.
///
/// A sender that counts all its sequence numbers through in this time has sent 256 frames in less than 2 ms each, which
/// only the shortest frames allow, and none of the 255 others was for us, or the last frame taken would be another one.
pub const WINDOW: Duration = Duration::from_millis(500);

/// The last frame taken from a source, which is an address on an interface. The empty value, of no source, is all-zero bits.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    at: Instant,
    iface: IfaceId,
    source: LinkAddr,
    len: u16,
    sequence: u8,
}

impl Seen {
    /// No source.
    pub const EMPTY: Self = Self {
        at: Instant::ZERO,
        iface: IfaceId(0),
        source: LinkAddr::None,
        len: 0,
        sequence: 0,
    };
}

/// Finds frames that came in before, by a table of the last frame of each source.
///
/// A sender puts no other frame between two attempts, so a frame is a duplicate if it has the source, the sequence
/// number and the length of the last frame that was taken from its source, less than the window ago. When the table is
/// full, the source whose last frame is oldest makes room.
#[derive(Debug)]
pub struct Duplicates<'a> {
    table: &'a mut [Seen],
    window: Duration,
}

impl<'a> Duplicates<'a> {
    /// Nothing seen yet. The table holds one entry a source; an empty table or a window of zero finds no duplicates.
    pub fn new(table: &'a mut [Seen], window: Duration) -> Self {
        table.fill(Seen::EMPTY);
        Self { table, window }
    }

    /// Whether a frame that came in now did so before; if not, it is remembered as the last of its source.
    ///
    /// The window counts from the frame that was taken, not from its last duplicate, so no train of duplicates, real or
    /// forged, makes it longer. Frames without a source address are never duplicates.
    #[inline]
    pub fn is_duplicate(
        &mut self,
        now: Instant,
        iface: IfaceId,
        source: LinkAddr,
        sequence: u8,
        len: usize,
    ) -> bool {
        if source.is_empty() {
            return false;
        }
        let len = u16::try_from(len).unwrap_or(u16::MAX);
        let age = |seen: &Seen| (!seen.source.is_empty(), seen.at);
        let mut place: Option<&mut Seen> = None;
        for seen in &mut *self.table {
            if seen.source == source && seen.iface == iface {
                if seen.sequence == sequence && seen.len == len && now.since(seen.at) < self.window {
                    return true;
                }
                place = Some(seen);
                break;
            }
            if place.as_deref().is_none_or(|oldest| age(seen) < age(oldest)) {
                place = Some(seen);
            }
        }
        if let Some(place) = place {
            *place = Seen {
                at: now,
                iface,
                source,
                len,
                sequence,
            };
        }
        false
    }

    /// Gives the table back.
    pub fn into_table(self) -> &'a mut [Seen] {
        self.table
    }
}

#[cfg(test)]
mod tests;
