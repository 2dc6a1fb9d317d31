//! The fragmenting endpoint of RFC 8931: which fragment of a datagram is sent next, and when an answer is due.
//!
//! Pure state: no packet, no frame and no clock. Fragments exist as bits of a few words: sent, acknowledged, missing, and
//! how often each was sent again.

use crate::time::{Duration, Instant};
use crate::wire::lowpan::rfrag::{Bitmap, FRAGMENTS_MAX, Rfrag, RfragAck, SIZE_LIMIT};

use super::super::strategy::RecoverConfig;

/// Where the fragments of a datagram begin and end, in bytes of its compressed form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Geometry {
    /// Bytes of the whole datagram.
    total: u16,
    /// Bytes of the first fragment.
    first_len: u16,
    /// Where the fragment with the sequence number `base` begins.
    base_start: u16,
    /// Bytes of the fragments from there on, the last one excepted.
    len: u16,
    /// The first sequence number behind those that were abandoned; 1 as long as none was.
    base: u8,
}

impl Geometry {
    const EMPTY: Self = Self {
        total: 0,
        first_len: 0,
        base_start: 0,
        len: 0,
        base: 0,
    };

    /// A datagram of `total` bytes in fragments for frames with room for `room` bytes behind their headers, `slack` of
    /// them left free in the first (RFC 8931 section 4.1). `header_len` bytes must lie in the first fragment (section
    /// 6.1). `None` if that, or 32 fragments, are not enough.
    pub(super) fn new(total: u16, header_len: u16, room: u16, slack: u16) -> Option<Self> {
        // RFC 8931 section 7.1, MaxFragmentSize.
        let len = room.checked_sub(Rfrag::LEN as u16)?.min(SIZE_LIMIT - 1);
        let first_len = len.saturating_sub(slack).max(header_len).min(total);
        let geometry = Self {
            total,
            first_len,
            base_start: first_len,
            len,
            base: 1,
        };
        (first_len <= len && first_len > 0 && geometry.count().is_some()).then_some(geometry)
    }

    /// One more than the highest sequence number. `None` if there are more than 32.
    fn count(&self) -> Option<u8> {
        let rest = self.total.checked_sub(self.base_start)?;
        let count = u16::from(self.base) + rest.checked_add(self.len.checked_sub(1)?)? / self.len;
        (usize::from(count) <= FRAGMENTS_MAX).then_some(count as u8)
    }

    /// The fragments that make up the datagram.
    fn all(&self) -> Bitmap {
        let count = self.count().unwrap_or(0);
        let abandoned = Bitmap::first(self.base).0 & !Bitmap::of(0).0;
        Bitmap(Bitmap::first(count).0 & !abandoned)
    }

    /// Where a fragment begins, and its length.
    fn piece(&self, sequence: u8) -> Option<(u16, u16)> {
        if sequence == 0 {
            return Some((0, self.first_len));
        }
        let before = u16::from(sequence.checked_sub(self.base)?).checked_mul(self.len)?;
        let start = self.base_start.checked_add(before)?;
        let rest = self.total.checked_sub(start).filter(|rest| *rest > 0)?;
        Some((start, rest.min(self.len)))
    }
}

/// What goes into the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Shot {
    /// A fragment.
    Fragment { sequence: u8, ack_request: bool } = 1,
    /// The pseudo fragment that aborts the datagram.
    Abort = 2,
}

/// What a datagram waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// It wants a frame, from this instant on.
    Frame(Instant),
    /// An acknowledgement, until then.
    Answer(Instant),
    /// A new beginning under another tag, from this instant on.
    Restart(Instant),
    /// Nothing: it was received.
    Done,
    /// Nothing: it was given up.
    Failed,
}

/// An acknowledgement that says what cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lie;

/// What an acknowledgement or time-out tells congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Fragments acknowledged for the first time.
    pub(super) acked: u8,
    /// Fragments found missing.
    pub(super) lost: u8,
    /// It answers the request that was sent last, and that once.
    pub(super) timed: bool,
}

/// An instant of the last hour, in half the bytes: the lower bits of its microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp(u32);

impl Stamp {
    const fn new(at: Instant) -> Self {
        Self(at.as_micros() as u32)
    }

    /// The instant, as seen from `now`, which lies less than 71 minutes later.
    fn instant(self, now: Instant) -> Instant {
        let age_us = (now.as_micros() as u32).wrapping_sub(self.0);
        now - Duration::from_micros(u64::from(age_us))
    }
}

/// What the sender is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// Fragments are to be sent.
    #[default]
    Sending,
    /// An acknowledgement was asked for.
    Asked,
    /// The time-out passed: the fragment that asked is sent again (RFC 8931 section 6).
    Asking,
    /// The abort is to be sent.
    Aborting,
    /// This attempt is over; another begins under a new tag.
    Waiting,
    Done,
    Failed,
}

/// How far a datagram has come. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sender {
    geometry: Geometry,
    phase: Phase,
    /// The fragment that asked for an acknowledgement last.
    asked: u8,
    /// Attempts that failed.
    attempts: u8,
    /// Time-outs since the last acknowledgement.
    back_offs: u8,
    /// All bytes were sent at least once in this attempt.
    all_sent: bool,
    /// The next frame takes the first fragment, to make the path anew.
    remake: bool,
    /// Sent at least once.
    tried: Bitmap,
    /// Received by the other end.
    acked: Bitmap,
    /// Found missing.
    lost: Bitmap,
    /// How often each was sent again: bit n of each count in word n.
    retries: [u32; 3],
    /// When the phase ends by itself, or a frame may be sent.
    until: Instant,
    /// When the first fragment since the last answer was sent, and the one that asked.
    round_since: Stamp,
    asked_at: Stamp,
}

impl Sender {
    pub(super) const EMPTY: Self = Self {
        geometry: Geometry::EMPTY,
        phase: Phase::Sending,
        asked: 0,
        attempts: 0,
        back_offs: 0,
        all_sent: false,
        remake: false,
        tried: Bitmap::NULL,
        acked: Bitmap::NULL,
        lost: Bitmap::NULL,
        retries: [0; 3],
        until: Instant::ZERO,
        round_since: Stamp(0),
        asked_at: Stamp(0),
    };

    /// Begins, or begins anew under another tag (RFC 8931 section 6.1): nothing is known of the fragments until
    /// [`begin`](Self::begin).
    pub(super) const fn restart(&mut self) {
        *self = Self {
            attempts: self.attempts,
            ..Self::EMPTY
        };
    }

    /// Whether it is not known yet what the fragments are.
    pub(super) const fn is_fresh(&self) -> bool {
        self.geometry.total == 0
    }

    /// The fragments are these.
    pub(super) const fn begin(&mut self, geometry: Geometry) {
        self.geometry = geometry;
    }

    /// The header of what goes into the next frame, under a tag (RFC 8931 section 5.1).
    pub(super) fn header(&self, shot: Shot, tag: u8) -> Option<Rfrag> {
        let Shot::Fragment {
            sequence,
            ack_request,
        } = shot
        else {
            return Some(Rfrag::abort(tag));
        };
        let (start, size) = self.geometry.piece(sequence)?;
        Some(Rfrag {
            congested: false,
            tag,
            ack_request,
            sequence,
            size,
            offset: if sequence == 0 { self.geometry.total } else { start },
        })
    }

    /// What the datagram waits for.
    pub(super) const fn need(&self) -> Need {
        match self.phase {
            Phase::Sending | Phase::Asking | Phase::Aborting => Need::Frame(self.until),
            Phase::Asked => Need::Answer(self.until),
            Phase::Waiting => Need::Restart(self.until),
            Phase::Done => Need::Done,
            Phase::Failed => Need::Failed,
        }
    }

    /// Fragments that were sent and of which nothing was heard.
    fn outstanding(&self) -> Bitmap {
        Bitmap(self.tried.0 & !self.acked.0 & !self.lost.0 & self.geometry.all().0)
    }

    /// How many these are.
    pub(super) fn flight(&self) -> u8 {
        self.outstanding().count()
    }

    /// Fragments that were never sent.
    fn unsent(&self) -> Bitmap {
        Bitmap(self.geometry.all().0 & !self.tried.0 & !self.acked.0)
    }

    /// The fragment that is sent next.
    fn next(&self) -> Option<u8> {
        if self.remake {
            return Some(0);
        }
        if self.phase == Phase::Asking {
            return Some(self.asked);
        }
        // Nothing can follow a first fragment that did not even reach the next hop.
        if self.acked == Bitmap::NULL && self.lost.has(0) {
            return Some(0);
        }
        // RFC 8931 section 6: all for a first time before any is sent again, and of these the oldest first.
        self.unsent().lowest().or_else(|| self.lost.lowest())
    }

    /// How often a fragment was sent again.
    fn retries(&self, sequence: u8) -> u8 {
        let bit = |word: &u32, value| {
            if word & Bitmap::of(sequence).0 == 0 {
                0
            } else {
                value
            }
        };
        let [ones, twos, fours] = &self.retries;
        bit(ones, 1) + bit(twos, 2) + bit(fours, 4)
    }

    /// Counts one more; a count of 7 stays.
    fn count_retry(&mut self, sequence: u8) {
        let mut carry = Bitmap::of(sequence).0;
        if self.retries(sequence) < 7 {
            for word in &mut self.retries {
                let both = *word & carry;
                *word ^= carry;
                carry = both;
            }
        }
    }

    /// Takes the next fragment for a frame with room for `room` bytes behind its own header. `None` if there is none to
    /// send, or the attempt had to end.
    pub(super) fn shoot(
        &mut self,
        now: Instant,
        window: u8,
        room: u16,
        config: &RecoverConfig,
    ) -> Option<Shot> {
        match self.phase {
            Phase::Aborting => return Some(Shot::Abort),
            Phase::Sending | Phase::Asking => {}
            _ => return None,
        }
        let mut sequence = self.next()?;
        let (_, len) = self.geometry.piece(sequence)?;
        if usize::from(room) < usize::from(len) + Rfrag::LEN {
            if !self.refit(room) {
                // RFC 8931 section 6.1: a smaller Fragment_Size for the whole datagram needs a new tag.
                self.fail_attempt(now, Duration::ZERO, true, config);
                return matches!(self.phase, Phase::Aborting).then_some(Shot::Abort);
            }
            sequence = self.next()?;
        }
        let asks_again = self.remake || self.phase == Phase::Asking;
        let bit = Bitmap::of(sequence).0;
        if self.outstanding() == Bitmap::NULL {
            self.round_since = Stamp::new(now);
        }
        if self.tried.0 & bit != 0 {
            self.count_retry(sequence);
        }
        self.tried.0 |= bit;
        self.lost.0 &= !bit;
        self.remake = false;
        self.all_sent |= self.unsent() == Bitmap::NULL;
        // RFC 8931 section 6: the request marks the end of a window, and stands in the last fragment of each round.
        let last = self.unsent() == Bitmap::NULL && self.lost == Bitmap::NULL;
        let ack_request = asks_again || last || self.outstanding().count() >= window;
        if ack_request {
            self.phase = Phase::Asked;
            self.asked = sequence;
            self.asked_at = Stamp::new(now);
            // Until the link is done with the frame, nothing is due.
            self.until = now + config.arq_timeout_max;
        }
        Some(Shot::Fragment {
            sequence,
            ack_request,
        })
    }

    /// Makes the fragments that are still missing short enough for a path that is narrower than the one before, under
    /// sequence numbers that were not used (RFC 8931 section 6.2). False if that cannot be done within this attempt.
    fn refit(&mut self, room: u16) -> bool {
        let geometry = self.geometry;
        let missing = Bitmap(geometry.all().0 & !self.acked.0 & !Bitmap::of(0).0);
        let len = room.saturating_sub(Rfrag::LEN as u16).min(SIZE_LIMIT - 1);
        // What a first fragment must hold is not known here: where it does not fit, only a new attempt helps.
        let (true, Some(oldest)) = (geometry.first_len <= len, missing.lowest()) else {
            return false;
        };
        let Some((base_start, _)) = geometry.piece(oldest) else {
            return false;
        };
        let used = FRAGMENTS_MAX as u32 - self.tried.0.trailing_zeros().min(FRAGMENTS_MAX as u32);
        let narrow = Geometry {
            base: used.max(1) as u8,
            base_start,
            len,
            ..geometry
        };
        if narrow.count().is_none() {
            return false;
        }
        self.geometry = narrow;
        self.lost.0 &= narrow.all().0;
        if self.phase == Phase::Asking {
            self.phase = Phase::Sending;
        }
        true
    }

    /// The link is done with the frame of a shot. `timeout` is how long the answer may take, `gap` how far the next
    /// fragment must be from this one. Says whether the fragment was lost.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        shot: Shot,
        sent: bool,
        (timeout, gap): (Duration, Duration),
        config: &RecoverConfig,
    ) -> bool {
        let Shot::Fragment {
            sequence,
            ack_request,
        } = shot
        else {
            if self.phase == Phase::Aborting {
                self.end_attempt(now, Duration::ZERO, config);
            }
            return false;
        };
        let waits = ack_request && self.phase == Phase::Asked && self.asked == sequence;
        if sent {
            if waits {
                self.asked_at = Stamp::new(now);
                self.until = now + timeout;
            } else if self.phase == Phase::Sending {
                self.until = now + gap;
            }
            return false;
        }
        if self.acked.has(sequence) || !matches!(self.phase, Phase::Sending | Phase::Asked) {
            return false;
        }
        self.lost.0 |= Bitmap::of(sequence).0;
        if waits {
            self.phase = Phase::Sending;
        }
        self.until = now + gap;
        if self.retries(sequence) >= config.fragment_retries {
            // Nobody there hears an abort either.
            self.fail_attempt(now, Duration::ZERO, false, config);
        }
        true
    }

    /// An acknowledgement came in.
    ///
    /// # Errors
    ///
    /// [`Lie`] if it acknowledges what was never sent: nothing is changed.
    pub(super) fn acknowledged(
        &mut self,
        now: Instant,
        ack: &RfragAck,
        timeout: Duration,
        config: &RecoverConfig,
    ) -> Result<News, Lie> {
        if matches!(self.phase, Phase::Done | Phase::Failed | Phase::Waiting) {
            return Err(Lie);
        }
        let before = self.acked;
        match ack.bitmap {
            Bitmap::NULL => {
                // RFC 8931 section 6.3: the attempt must end, and the acknowledgement has cleaned up the path.
                self.fail_attempt(now, timeout, false, config);
                return Ok(News::default());
            }
            // RFC 8931 section 5.2: received, whatever the single bits would say.
            Bitmap::FULL if self.all_sent => self.acked = self.geometry.all(),
            bitmap if bitmap.0 & !self.tried.0 != 0 => return Err(Lie),
            bitmap => self.acked.0 |= bitmap.0,
        }
        self.lost.0 &= !self.acked.0;
        let all = self.geometry.all();
        let mut news = News {
            acked: Bitmap(self.acked.0 & !before.0 & all.0).count(),
            ..News::default()
        };
        if all.0 & !self.acked.0 == 0 {
            // RFC 8931 section 5.1: what was acknowledged covers the datagram.
            news.timed = self.is_timed();
            self.phase = Phase::Done;
            return Ok(news);
        }
        // An answer to an earlier request does not have the fragment that asked last.
        let answers = matches!(self.phase, Phase::Asked | Phase::Asking) && ack.bitmap.has(self.asked);
        if answers {
            news.timed = self.is_timed();
            let missing = self.outstanding();
            news.lost = missing.count();
            self.lost.0 |= missing.0;
            self.phase = Phase::Sending;
            self.until = now;
            self.back_offs = 0;
            self.check_retries(now, config);
        } else if self.phase == Phase::Sending && self.next().is_none() {
            // The request was lost on the link, or so it seemed: what is still out is asked for again.
            self.lost.0 |= self.outstanding().0;
        }
        Ok(news)
    }

    /// Whether an answer to the last request tells the round-trip time (RFC 6298 section 3).
    fn is_timed(&self) -> bool {
        self.phase == Phase::Asked && self.retries(self.asked) == 0
    }

    /// Ends the attempt if the next fragment was sent again too often.
    fn check_retries(&mut self, now: Instant, config: &RecoverConfig) {
        let Some(next) = self.next() else { return };
        if self.tried.has(next) && self.retries(next) >= config.fragment_retries {
            self.fail_attempt(now, Duration::ZERO, true, config);
        }
    }

    /// Time has passed: the answer may be overdue. Says how many fragments are then taken for lost.
    pub(super) fn expire(&mut self, now: Instant, config: &RecoverConfig) -> u8 {
        if self.phase != Phase::Asked || now < self.until {
            return 0;
        }
        let lost = self.outstanding().count().max(1);
        self.back_offs = self.back_offs.saturating_add(1);
        self.phase = Phase::Asking;
        self.until = now;
        self.check_retries(now, config);
        lost
    }

    /// Whether something went wrong that another path might help against.
    pub(super) fn doubts_path(&self) -> bool {
        self.phase == Phase::Asking || self.is_fresh() || self.lost.has(0)
    }

    /// The next hop is another one now: the first fragment makes the path anew, and asks what was received over the
    /// old one (RFC 8931 section 6).
    pub(super) fn reroute(&mut self) {
        if matches!(self.phase, Phase::Sending | Phase::Asking) && self.tried != Bitmap::NULL {
            self.remake = true;
        }
    }

    /// The attempt has failed: the path is told by an abort if it may still be there (RFC 8931 section 6.3).
    fn fail_attempt(&mut self, now: Instant, pause: Duration, tell: bool, config: &RecoverConfig) {
        if tell {
            self.phase = Phase::Aborting;
            self.until = now;
        } else {
            self.end_attempt(now, pause, config);
        }
    }

    fn end_attempt(&mut self, now: Instant, pause: Duration, config: &RecoverConfig) {
        self.attempts = self.attempts.saturating_add(1);
        self.until = now + pause;
        self.phase = if self.attempts > config.datagram_retries {
            Phase::Failed
        } else {
            Phase::Waiting
        };
    }

    /// How often the time-out is doubled now (RFC 8931 section 6, exponential back-off).
    pub(super) const fn back_offs(&self) -> u8 {
        self.back_offs
    }

    /// When the first fragment since the last answer was sent, and the one that asked for the next.
    pub(super) fn round(&self, now: Instant) -> (Instant, Instant) {
        (self.round_since.instant(now), self.asked_at.instant(now))
    }
}

#[cfg(test)]
mod tests;
