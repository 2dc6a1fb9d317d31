//! What is on the air, and who could not hear it.
//!
//! A transmission is entered when it is decided, one turnaround before it begins; nothing can stop it then. So nothing
//! happens when it begins, and all that depends on it is asked for when something ends: a channel assessment, or a
//! frame. Whoever asks looks at the few nodes that it hears.

use crate::time::Time;

#[cfg(test)]
mod tests;

/// The transmissions of a node that are remembered. A frame is on the air for at most 4.3 ms; in that time a node can
/// send at most 5 others, because an acknowledgement follows a frame of at least 9 bytes, and its own frames follow a
/// channel assessment and an interframe space.
const SENT: usize = 8;

/// The times of deafness that are remembered. All times of deafness begin before they are asked about, so that the last
/// few tell whether there was one; only its first cause can be forgotten.
const DEAF: usize = 4;

/// A time with beginning and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// From here on.
    pub from: Time,
    /// Until here.
    pub until: Time,
}

impl Span {
    /// Whether both have more than an instant in common.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.from < other.until && other.from < self.until
    }

    /// The time that both have in common.
    pub fn common(&self, other: &Self) -> Time {
        self.until.min(other.until).since(self.from.max(other.from))
    }
}

/// Why a radio does not hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Deaf {
    /// It is switched off.
    Off = 0,
    /// It turns around and sends a frame.
    Transmitting = 1,
    /// It turns around and sends an acknowledgement.
    Acknowledging = 2,
    /// A frame is being prepared and copied into its buffer.
    Preparing = 3,
    /// It backs off or assesses the channel by itself.
    BackingOff = 4,
    /// It waits for an acknowledgement.
    AwaitingAck = 5,
    /// Its only buffer holds a received frame that was not read out yet.
    BufferFull = 6,
    /// Its driver still handles the frame before.
    Busy = 7,
}

impl Deaf {
    /// All causes.
    pub const ALL: [Self; 8] = [
        Self::Off,
        Self::Transmitting,
        Self::Acknowledging,
        Self::Preparing,
        Self::BackingOff,
        Self::AwaitingAck,
        Self::BufferFull,
        Self::Busy,
    ];

    /// The name that counters and traces show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "radio-off",
            Self::Transmitting => "radio-transmitting",
            Self::Acknowledging => "radio-acknowledging",
            Self::Preparing => "radio-preparing",
            Self::BackingOff => "radio-backing-off",
            Self::AwaitingAck => "radio-awaiting-ack",
            Self::BufferFull => "radio-buffer-full",
            Self::Busy => "radio-busy",
        }
    }
}

/// The last transmissions of a node, the newest first.
#[derive(Clone, Copy, Debug, Default)]
struct Sent([Span; SENT]);

/// When a radio did not hear.
#[derive(Clone, Debug)]
pub struct Ear {
    /// The newest first. One that still lasts ends never.
    spans: [(Span, Deaf); DEAF],
    /// Time by cause, of what is over.
    total: [Time; Deaf::ALL.len()],
}

impl Default for Ear {
    fn default() -> Self {
        Self {
            spans: [(Span::default(), Deaf::Off); DEAF],
            total: [Time::ZERO; Deaf::ALL.len()],
        }
    }
}

impl Ear {
    /// From now on the radio does not hear, for this cause, or hears.
    pub fn set(&mut self, now: Time, cause: Option<Deaf>) {
        let (last, of) = &mut self.spans[0];
        if last.until == Time::NEVER {
            if cause == Some(*of) {
                return;
            }
            last.until = now;
            self.total[*of as usize] += now.since(last.from);
        }
        let Some(cause) = cause else { return };
        let (last, of) = &mut self.spans[0];
        if last.until == now && *of == cause && last.from < now {
            // Deaf again at once, for the same cause: one time.
            self.total[cause as usize] = self.total[cause as usize] - now.since(last.from);
            last.until = Time::NEVER;
            return;
        }
        if last.from < last.until {
            self.spans.rotate_right(1);
        }
        let until = Time::NEVER;
        self.spans[0] = (Span { from: now, until }, cause);
    }

    /// The same for an acknowledgement, which a radio that waits for one does hear.
    pub fn missed_ack(&self, span: &Span) -> Option<Deaf> {
        let hits = self.spans.iter().rev().filter(|(deaf, _)| deaf.overlaps(span));
        hits.map(|&(_, cause)| cause)
            .find(|&cause| cause != Deaf::AwaitingAck)
    }

    /// Whether the radio is deaf now, and why.
    pub fn deaf(&self) -> Option<Deaf> {
        let (last, cause) = self.spans[0];
        (last.until == Time::NEVER).then_some(cause)
    }

    /// Why the radio missed what was on the air in `span`, if it did; the first cause, if there were several.
    #[inline]
    pub fn missed(&self, span: &Span) -> Option<Deaf> {
        let hit = self.spans.iter().rev().find(|(deaf, _)| deaf.overlaps(span));
        hit.map(|&(_, cause)| cause)
    }

    /// How long the radio was deaf for this cause.
    pub fn total(&self, cause: Deaf, now: Time) -> Time {
        let (last, of) = self.spans[0];
        let open = if last.until == Time::NEVER && of == cause {
            now.since(last.from)
        } else {
            Time::ZERO
        };
        self.total[cause as usize] + open
    }
}

/// What all nodes have sent lately.
#[derive(Debug)]
pub struct Air {
    sent: Vec<Sent>,
}

impl Air {
    /// Silence over so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self {
            sent: vec![Sent::default(); nodes],
        }
    }

    /// A node is going to send.
    #[inline]
    pub fn send(&mut self, node: u16, span: Span) {
        let sent = &mut self.sent[usize::from(node)].0;
        sent.copy_within(..SENT - 1, 1);
        sent[0] = span;
    }

    /// Whether a node was on the air at some time in `span`.
    #[inline]
    pub fn sends(&self, node: u16, span: &Span) -> bool {
        let sent = &self.sent[usize::from(node)].0;
        // The transmissions of a node follow each other. Of those that begin before the end of `span` the last one ends
        // last; at most one lies in the future.
        let last = if sent[0].from < span.until {
            &sent[0]
        } else {
            &sent[1]
        };
        last.overlaps(span)
    }

    /// The transmissions of a node that overlap `span`, the newest first.
    pub fn sent(&self, node: u16, span: Span) -> impl Iterator<Item = Span> {
        let sent = &self.sent[usize::from(node)].0;
        sent.iter()
            .copied()
            .take_while(move |s| s.until > span.from)
            .filter(move |s| s.overlaps(&span))
    }
}
