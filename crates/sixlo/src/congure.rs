//! Congestion control that knows no protocol: how much may be under way, and how far apart messages are sent.
//!
//! The face is that of CongURE (Lenders et al. 2021, section III-D): two questions, the congestion window and the
//! interval between two messages, and six reports, [`Report`]. Sizes are counted in units that the user chooses:
//! fragments for selective fragment recovery, bytes for TCP. Nothing here sends, keeps a queue or runs a timer.
//!
//! A transfer (a datagram under recovery, a connection) holds a [`Congestion`]; what all transfers of an interface have
//! in common is in its [`Params`], handed in with every call. The mechanism is chosen at run time by [`Params::kind`],
//! when the transfer starts.

mod abe;
mod aimd;
mod calm;
mod quic;
mod reno;
mod rfc8931;
mod rtt;

use crate::time::{Duration, Instant};
use crate::trace::Told;

pub use abe::Abe;
pub use calm::Calm;
pub use quic::Quic;
pub use reno::{Reno, initial_window};
pub use rfc8931::AppendixC;
pub use rtt::{Rtt, RttLimits};

/// Which mechanism controls the transfers of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// RFC 8931 appendix C: [`AppendixC`].
    #[default]
    AppendixC = 0,
    /// RFC 5681 with RFC 6582: [`Reno`].
    Reno = 1,
    /// RFC 8511: [`Abe`].
    Abe = 2,
    /// RFC 9002 with pacing: [`Quic`].
    Quic = 3,
    /// For lossy links, after the outlook of Lenders et al. 2021: [`Calm`].
    Calm = 4,
}

impl Kind {
    /// All mechanisms.
    pub const ALL: [Self; 5] = [Self::AppendixC, Self::Reno, Self::Abe, Self::Quic, Self::Calm];

    /// The name that scenarios and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AppendixC => "rfc8931",
            Self::Reno => "reno",
            Self::Abe => "abe",
            Self::Quic => "quic",
            Self::Calm => "calm",
        }
    }
}

/// What the transfers of an interface have in common. Windows and sizes are in the user's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The mechanism.
    pub kind: Kind,
    /// Size of the largest message: 1 if the units are messages, the sender's maximum segment size if they are bytes.
    pub unit: u32,
    /// The window at the start.
    pub initial_window: u32,
    /// The smallest window that [`AppendixC`], [`Quic`] and [`Calm`] shrink to.
    pub minimum_window: u32,
    /// No window grows beyond this.
    pub maximum_window: u32,
    /// What mechanisms that pace take for the round-trip time before it was ever measured.
    pub initial_rtt: Duration,
    /// The smallest interval of [`Calm`]: what the air between the end points needs for one message.
    pub gap: Duration,
    /// Bounds of the retransmission timer.
    pub timer: RttLimits,
}

impl Params {
    /// For fragments as units, as Lenders et al. 2021 (section V-A) ran them: an initial window of 2, except for Reno
    /// and ABE, whose RFC says 4 for small segments (section V-D), and [`Calm`], which starts with 1. RFC 8931 section
    /// 7.1 bounds the window to 1..=32.
    pub const fn fragments(kind: Kind) -> Self {
        Self {
            kind,
            unit: 1,
            initial_window: match kind {
                Kind::AppendixC | Kind::Quic => 2,
                Kind::Reno | Kind::Abe => initial_window(1),
                Kind::Calm => 1,
            },
            minimum_window: 1,
            maximum_window: 32,
            initial_rtt: quic::INITIAL_RTT,
            gap: Duration::ZERO,
            timer: RttLimits::RFC6298,
        }
    }

    /// For bytes as units, in messages of at most `unit` bytes: the windows of RFC 5681 (section 3.1) for Reno and ABE,
    /// of RFC 9002 (section 7.2) for QUIC, one message at first for the rest.
    pub const fn bytes(kind: Kind, unit: u32) -> Self {
        let two = unit.saturating_mul(2);
        let (initial_window, minimum_window) = match kind {
            Kind::Reno | Kind::Abe => (initial_window(unit), unit),
            Kind::Quic => (quic::initial_window(unit), two),
            Kind::AppendixC | Kind::Calm => (unit, unit),
        };
        Self {
            kind,
            unit,
            initial_window,
            minimum_window,
            maximum_window: u32::MAX,
            initial_rtt: quic::INITIAL_RTT,
            gap: Duration::ZERO,
            timer: RttLimits::RFC6298,
        }
    }

    /// The size of the largest message, at least 1.
    const fn unit(&self) -> u32 {
        if self.unit == 0 { 1 } else { self.unit }
    }

    /// The window at the start, within its bounds.
    #[cfg_attr(target_os = "none", inline(never))]
    fn start_window(&self) -> u32 {
        self.initial_window.min(self.maximum_window).max(self.minimum())
    }

    /// The smallest window, at least 1.
    const fn minimum(&self) -> u32 {
        if self.minimum_window == 0 {
            1
        } else {
            self.minimum_window
        }
    }
}

/// Messages that are reported together, in one acknowledgment or one expiry of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Their sizes, summed up, in units.
    pub size: u32,
    /// When the first of them was sent, for the last time before this report.
    pub oldest: Instant,
    /// When the last of them was sent.
    pub newest: Instant,
    /// One of them was sent more than once.
    pub resent: bool,
}

impl Batch {
    /// One message of `size` units that was sent once.
    pub const fn one(size: u32, sent_at: Instant) -> Self {
        Self {
            size,
            oldest: sent_at,
            newest: sent_at,
            resent: false,
        }
    }

    /// The same, but sent before.
    pub const fn again(size: u32, sent_at: Instant) -> Self {
        Self {
            resent: true,
            ..Self::one(size, sent_at)
        }
    }
}

/// What happened to messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// A message of this size was sent, for the first time or again.
    Sent {
        /// Its size in units.
        size: u32,
    },
    /// A message of this size is no longer waited for, for another reason than a loss.
    Discarded {
        /// Its size in units.
        size: u32,
    },
    /// The retransmission timer expired for these. One report for each expiry.
    TimedOut(Batch),
    /// These were found missing by an acknowledgment. None that was sent between the oldest and the newest of them has
    /// been acknowledged.
    Lost(Batch),
    /// These were acknowledged.
    Acked {
        /// What was acknowledged for the first time.
        batch: Batch,
        /// The user had too little to send to fill the window (RFC 9002 section 7.8); waiting for an interval to pass
        /// does not count.
        limited: bool,
    },
    /// An acknowledgment says that a message sent at this time met congestion.
    Ecn {
        /// When the message was sent.
        sent_at: Instant,
    },
}

/// Window and interval, and what the control was told last (Lenders et al. 2021, Fig. 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The congestion window in units.
    pub window: u32,
    /// The interval after a message of full size, `None` if the mechanism does not pace.
    pub gap: Option<Duration>,
    /// What the control was told.
    pub told: Told,
}

/// What a mechanism is told with each report.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The present time.
    pub now: Instant,
    /// The settings of the interface.
    pub params: &'a Params,
    /// The round-trip time, this report's sample included.
    pub rtt: &'a Rtt,
    /// The round-trip time that this report gave, if it gave one (RFC 6298 section 3).
    pub sample: Option<Duration>,
    /// Units under way before this report.
    pub flight: u32,
    /// The user had too little to send to fill the window.
    pub limited: bool,
}

/// A mechanism of congestion control.
pub trait Mechanism {
    /// The congestion window in units, never 0.
    fn window(&self) -> u32;

    /// How long to wait after a message of `size` units before the next, `None` if the mechanism does not pace.
    fn interval(&self, _params: &Params, _rtt: &Rtt, _size: u32) -> Option<Duration> {
        None
    }

    /// Messages were acknowledged.
    fn acked(&mut self, facts: &Facts<'_>, batch: &Batch);

    /// Messages were found missing by an acknowledgment.
    fn lost(&mut self, facts: &Facts<'_>, batch: &Batch);

    /// The retransmission timer expired.
    fn timed_out(&mut self, facts: &Facts<'_>, batch: &Batch) {
        self.lost(facts, batch);
    }

    /// A message that was sent at this time met congestion.
    fn ecn(&mut self, facts: &Facts<'_>, sent_at: Instant);

    /// What to go back to if the next loss turns out to be none.
    fn save(&self) -> Saved {
        Saved {
            window: self.window(),
            threshold: 0,
        }
    }

    /// The last loss was none: goes back, no further than to where it was. Mechanisms that do not take one loss so hard do
    /// nothing.
    fn restore(&mut self, _saved: &Saved) {}
}

/// The state of a transfer's mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    AppendixC(AppendixC),
    Reno(Reno),
    Abe(Abe),
    Quic(Quic),
    Calm(Calm),
}

/// What a mechanism was before it reacted to a loss, to go back to. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    window: u32,
    threshold: u32,
}

impl Saved {
    /// Nothing to go back to.
    pub const EMPTY: Self = Self {
        window: 0,
        threshold: 0,
    };
}

/// Calls the same of whichever mechanism it is.
macro_rules! each {
    ($control:expr, $mechanism:ident => $call:expr) => {
        match $control {
            Control::AppendixC($mechanism) => $call,
            Control::Reno($mechanism) => $call,
            Control::Abe($mechanism) => $call,
            Control::Quic($mechanism) => $call,
            Control::Calm($mechanism) => $call,
        }
    };
}

/// Congestion control of one transfer. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    rtt: Rtt,
    flight: u32,
    control: Control,
}

impl Congestion {
    /// No transfer. Its window is 1 and nothing is known; [`new`](Self::new) starts one.
    pub const EMPTY: Self = Self {
        rtt: Rtt::EMPTY,
        flight: 0,
        control: Control::AppendixC(AppendixC::EMPTY),
    };

    /// Starts a transfer of which nothing is known.
    pub fn new(params: &Params) -> Self {
        let control = match params.kind {
            Kind::AppendixC => Control::AppendixC(AppendixC::new(params)),
            Kind::Reno => Control::Reno(Reno::new(params)),
            Kind::Abe => Control::Abe(Abe::new(params)),
            Kind::Quic => Control::Quic(Quic::new(params)),
            Kind::Calm => Control::Calm(Calm::new(params)),
        };
        Self {
            control,
            ..Self::EMPTY
        }
    }

    /// Starts a transfer over the path of an earlier one. Only [`Calm`] learns from it; with the others, what was done
    /// about congestion ends with the transfer (RFC 8931 appendix C).
    pub fn follow(params: &Params, earlier: &Self) -> Self {
        let mut next = Self::new(params);
        if let (Control::Calm(next_calm), Control::Calm(calm)) = (&mut next.control, &earlier.control) {
            next_calm.inherit(calm);
            next.rtt = earlier.rtt;
            next.rtt.reset_back_off();
        }
        next
    }

    /// The congestion window in units, at least 1.
    pub fn window(&self) -> u32 {
        each!(&self.control, mechanism => mechanism.window()).max(1)
    }

    /// Units under way: sent, and nothing was heard of them.
    pub const fn flight(&self) -> u32 {
        self.flight
    }

    /// Counts what is under way anew: for users that know it better than the sum of their reports, because they hear of
    /// messages that left the network before they are acknowledged (`pipe` of RFC 6675 section 4).
    pub const fn set_flight(&mut self, units: u32) {
        self.flight = units;
    }

    /// Takes a measurement of the round-trip time that no message of the transfer gave.
    pub fn sample(&mut self, now: Instant, batch: &Batch) {
        self.rtt.acked(now, batch);
    }

    /// What to go back to if the next loss turns out to be none.
    pub fn save(&self) -> Saved {
        each!(&self.control, mechanism => mechanism.save())
    }

    /// The last loss was none (RFC 4015 section 3.2): window and threshold are what they were.
    pub fn restore(&mut self, saved: &Saved) {
        self.rtt.reset_back_off();
        each!(&mut self.control, mechanism => mechanism.restore(saved));
    }

    /// Units that may be sent now.
    pub fn room(&self) -> u32 {
        self.window().saturating_sub(self.flight)
    }

    /// How long to wait after a message of `size` units before the next; `None` if the mechanism does not pace and the
    /// user's own gap holds.
    pub fn interval(&self, params: &Params, size: u32) -> Option<Duration> {
        each!(&self.control, mechanism => mechanism.interval(params, &self.rtt, size))
    }

    /// The round-trip time, and with it the retransmission timer.
    pub const fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Window and interval as they are, for a trace.
    pub fn state(&self, params: &Params, told: Told) -> Change {
        Change {
            window: self.window(),
            gap: self.interval(params, params.unit()),
            told,
        }
    }

    /// Takes a report. Gives window and interval as they are after it, if it is one that the mechanism hears of: also
    /// where nothing changed, because a control that stays calm is told apart from one that hears nothing.
    pub fn report(&mut self, params: &Params, now: Instant, report: &Report) -> Option<Change> {
        let told = match report {
            Report::Sent { size } => {
                self.flight = self.flight.saturating_add(*size);
                return None;
            }
            Report::Discarded { size } => {
                self.flight = self.flight.saturating_sub(*size);
                return None;
            }
            Report::TimedOut(_) => Told::TimedOut,
            Report::Lost(_) => Told::Lost,
            Report::Acked { .. } => Told::Acked,
            Report::Ecn { .. } => Told::Ecn,
        };
        self.control_report(params, now, report);
        Some(self.state(params, told))
    }

    /// Takes a report that the mechanism hears of.
    #[cfg_attr(target_os = "none", inline(never))]
    fn control_report(&mut self, params: &Params, now: Instant, report: &Report) {
        let mut facts = Facts {
            now,
            params,
            rtt: &Rtt::EMPTY,
            sample: None,
            flight: self.flight,
            limited: false,
        };
        let ended = match report {
            Report::Acked { batch, limited } => {
                facts.limited = *limited;
                facts.sample = self.rtt.acked(now, batch);
                batch.size
            }
            Report::TimedOut(batch) => {
                self.rtt.back_off();
                batch.size
            }
            Report::Lost(batch) => batch.size,
            _ => 0,
        };
        facts.rtt = &self.rtt;
        each!(&mut self.control, mechanism => match report {
            Report::Acked { batch, .. } => mechanism.acked(&facts, batch),
            Report::TimedOut(batch) => mechanism.timed_out(&facts, batch),
            Report::Lost(batch) => mechanism.lost(&facts, batch),
            Report::Ecn { sent_at } => mechanism.ecn(&facts, *sent_at),
            Report::Sent { .. } | Report::Discarded { .. } => {}
        });
        self.flight = self.flight.saturating_sub(ended);
    }
}

#[cfg(test)]
mod tests;
