//! Radios: between the air and the stack of a node.
//!
//! A radio hears about the air only when something ends: a frame for its node, an acknowledgement that it waits for, or
//! its own transmission. The world asks the medium whether the frame survived, and the radio what it does with it.

use crate::air::{Air, Deaf, Ear, Span};
use crate::config::{self, Mac};
use crate::frames::{Frames, Slot, To};
use crate::medium::{Loss, Medium, Signal};
use crate::phy;
use crate::queue::{Class, Queue};
use crate::rng::Rng;
use crate::time::Time;
use crate::world::Event;
use sixlo::netdev::TxReport;

mod at86rf23x;
mod ideal;

/// What a radio has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames put on the air, each attempt counted, acknowledgements not.
    pub frames_sent: u64,
    /// Acknowledgements put on the air.
    pub acks_sent: u64,
    /// Frames for this node that survived the air and were kept.
    pub received: u64,
    /// Frames for this node that were lost at its antenna or in its radio, by cause.
    pub lost: [u64; Loss::COUNT],
    /// Acknowledgements for this node that were lost.
    pub acks_lost: u64,
    /// Channel assessments that found the channel clear.
    pub assessed_clear: u64,
    /// Channel assessments that found it busy.
    pub assessed_busy: u64,
    /// Frames that could not be given to the radio at once, because it received or acknowledged another.
    pub waited_for_reception: u64,
    /// Frames to send that had to be copied into the radio anew, because a received frame had taken their place.
    pub copied_again: u64,
    /// Time on the air.
    pub airtime: Time,
}

/// What a radio needs of the world to act.
pub struct Cx<'w> {
    pub(crate) now: Time,
    pub(crate) node: u16,
    pub(crate) queue: &'w mut Queue<Event>,
    pub(crate) air: &'w mut Air,
    pub(crate) medium: &'w Medium,
    pub(crate) frames: &'w mut Frames,
    pub(crate) ear: &'w mut Ear,
    pub(crate) rng: &'w mut Rng,
    pub(crate) mac: &'w Mac,
    pub(crate) counters: &'w mut Counters,
    /// The last frame on the air for each node.
    pub(crate) incoming: &'w mut [Span],
    /// Transmissions so far.
    pub(crate) transmissions: &'w mut u64,
    /// Received frames that were overwritten, for the world to account for.
    pub(crate) overwritten: &'w mut Vec<Slot>,
}

impl Cx<'_> {
    /// Calls the radio's timer at `at`, unless its generation has changed by then.
    fn timer(&mut self, at: Time, generation: u32) {
        let node = self.node;
        self.queue
            .push(at, Class::Rest, Event::Radio { node, generation });
    }

    /// The verdict of a channel assessment that began at `since` and ends now.
    fn is_clear(&mut self, since: Time) -> bool {
        let span = Span {
            from: since,
            until: self.now,
        };
        let busy = self.medium.busy(self.air, self.node, &span);
        if busy {
            self.counters.assessed_busy += 1;
        } else {
            self.counters.assessed_clear += 1;
        }
        !busy
    }

    /// Turns around and sends a frame.
    fn send(&mut self, slot: Slot) {
        let from = self.now + phy::TURNAROUND;
        let frame = self.frames.get_mut(slot);
        let airtime = phy::airtime(frame.mpdu_len());
        let span = Span {
            from,
            until: from + airtime,
        };
        *self.transmissions += 1;
        frame.span = span;
        frame.number = *self.transmissions;
        let to = frame.to;
        self.frames.hold(slot);
        self.air.send(self.node, span);
        self.counters.airtime += airtime;
        match to {
            To::Awaiting => self.counters.acks_sent += 1,
            _ => self.counters.frames_sent += 1,
        }
        match to {
            To::Node(node) => self.incoming[usize::from(node)] = span,
            To::All => {
                for &node in self.medium.receivers(self.node) {
                    self.incoming[usize::from(node)] = span;
                }
            }
            To::Awaiting | To::Nobody => {}
        }
        self.queue.push(span.until, Class::End, Event::Ended { slot });
    }

    /// Turns around and acknowledges a frame.
    fn acknowledge(&mut self, of: Slot) {
        let ack = self.frames.acknowledgement(of, self.node);
        self.send(ack);
        self.frames.release(ack);
    }

    /// Whether a frame for this node is on the air, which the radio heard from its beginning.
    fn is_receiving(&self) -> bool {
        let incoming = self.incoming[usize::from(self.node)];
        let so_far = Span {
            from: incoming.from,
            until: self.now,
        };
        incoming.from <= self.now && self.now < incoming.until && self.ear.missed(&so_far).is_none()
    }
}

/// Whether a radio can be given a frame to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// It receives or acknowledges a frame; what the driver does about that is the configuration's.
    Receiving(config::WhenReceiving),
    /// It is busy with a frame of its own.
    Busy,
}

/// The radio of a node.
#[derive(Debug)]
pub enum Device {
    /// See [`config::Ideal`].
    Ideal(ideal::Ideal),
    /// See [`config::At86rf23x`].
    At86rf23x(at86rf23x::At86rf23x),
}

macro_rules! either {
    ($self:expr, $device:ident => $call:expr) => {
        match $self {
            Device::Ideal($device) => $call,
            Device::At86rf23x($device) => $call,
        }
    };
}

impl Device {
    /// The radio that a configuration describes, switched on and listening.
    pub fn new(config: &config::Radio) -> Self {
        match config {
            config::Radio::Ideal(_) => Self::Ideal(ideal::Ideal::default()),
            config::Radio::At86rf23x(at86) => Self::At86rf23x(at86rf23x::At86rf23x::new(at86)),
        }
    }

    /// Whether it can be given a frame to send.
    #[inline]
    pub fn readiness(&self, cx: &Cx<'_>) -> Readiness {
        either!(self, device => device.readiness(cx))
    }

    /// Gives it a frame to send. The CPU is busy with that for the time it returns.
    pub fn begin(&mut self, cx: &mut Cx<'_>, slot: Slot, again: bool) -> Time {
        either!(self, device => device.begin(cx, slot, again))
    }

    /// Its timer is due.
    pub fn timer(&mut self, cx: &mut Cx<'_>, generation: u32) -> Option<TxReport> {
        either!(self, device => device.timer(cx, generation))
    }

    /// Its own transmission has ended.
    pub fn sent(&mut self, cx: &mut Cx<'_>, slot: Slot) -> Option<TxReport> {
        either!(self, device => device.sent(cx, slot))
    }

    /// A frame for this node has come in whole: it is kept, unless somebody else keeps it, and acknowledged if it asks for that.
    pub fn heard(&mut self, cx: &mut Cx<'_>, slot: Slot, signal: Signal, keep: bool) {
        either!(self, device => device.heard(cx, slot, signal, keep));
    }

    /// Whether it cares for acknowledgements now.
    #[inline]
    pub fn awaits_ack(&self) -> bool {
        either!(self, device => device.awaits_ack())
    }

    /// An acknowledgement has come in whole.
    pub fn heard_ack(&mut self, cx: &mut Cx<'_>, slot: Slot, signal: Signal) -> Option<TxReport> {
        either!(self, device => device.heard_ack(cx, slot, signal))
    }

    /// The next received frame, and how long the CPU is busy reading it out.
    #[inline]
    pub fn received(&self, frames: &Frames) -> Option<Time> {
        either!(self, device => device.received(frames))
    }

    /// The next received frame was read out.
    pub fn read(&mut self, cx: &mut Cx<'_>) -> Option<(Slot, Signal)> {
        either!(self, device => device.read(cx))
    }

    /// Copies the frame to send into the radio once more, if a received one has taken its place and was read out since.
    /// The CPU is busy with that for the time it returns.
    #[inline]
    pub fn copy_again(&mut self, cx: &mut Cx<'_>) -> Option<Time> {
        match self {
            Self::Ideal(_) => None,
            Self::At86rf23x(at86) => at86.copy_again(cx),
        }
    }

    /// Switched off: what it holds is lost. The frames that it held are returned.
    pub fn switch_off(&mut self, cx: &mut Cx<'_>) -> Vec<Slot> {
        let held = either!(self, device => device.switch_off());
        cx.ear.set(cx.now, Some(Deaf::Off));
        held
    }

    /// Switched on again: it listens.
    pub fn switch_on(&mut self, cx: &mut Cx<'_>) {
        cx.ear.set(cx.now, None);
    }
}
