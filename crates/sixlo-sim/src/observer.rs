//! What a run tells whoever watches it. Watching never changes a run.

use sixlo::trace::PktId;

use crate::frames::To;
use crate::ledger::Fate;
use crate::medium::{Loss, Signal};
use crate::time::Time;

/// A frame that was on the air.
#[derive(Clone, Copy, Debug)]
pub struct OnAir<'a> {
    /// The index of its sender.
    pub sender: u16,
    /// Whom it was for.
    pub to: To,
    /// When its preamble began.
    pub from: Time,
    /// When it ended.
    pub until: Time,
    /// Its bytes, check sequence included.
    pub bytes: &'a [u8],
    /// The datagram that it carries a piece of or, for an acknowledgement, acknowledges a piece of.
    pub id: PktId,
    /// Counts the transmissions of the run from 1.
    pub number: u64,
    /// What became of it at each node that might have received it, in node order, whether it was for that node or not.
    pub fates: &'a [(u16, Result<Signal, Loss>)],
}

/// What an application did or saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppEvent {
    /// It sent a datagram: the index of its record.
    Sent {
        /// The index in the run's table of datagrams.
        record: u32,
        /// Its identity; none if the stack refused it.
        id: PktId,
    },
    /// A datagram, or the reply to an echo request, was delivered and its bytes were right.
    Delivered {
        /// The index in the run's table of datagrams.
        record: u32,
        /// From the call that sent it until now.
        latency: Time,
        /// Bytes of its payload.
        payload_bytes: u16,
    },
    /// A datagram met its end without being delivered.
    Lost {
        /// The index in the run's table of datagrams.
        record: u32,
        /// Why.
        fate: Fate,
    },
    /// The receiver of a transfer got so many bytes more, and they were right.
    Received {
        /// The number of the transfer.
        stream: u16,
        /// How many.
        bytes: u32,
    },
}

/// What a node holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Bytes of the packet buffer.
    pub buffer_bytes: usize,
    /// Datagrams that are being put together.
    pub reassemblies: usize,
    /// Datagrams that are being forwarded fragment by fragment.
    pub forwards: usize,
    /// Datagrams that it sends in recoverable fragments.
    pub transfers: usize,
    /// Packets that wait for the radio, the one being sent not counted.
    pub queued: usize,
}

/// Watches a run. All calls come in the order of time.
pub trait Observer {
    /// False if nobody watches: then nothing is prepared for the calls, and none is made.
    const ON: bool = true;

    /// A frame has just left the air: `now` is its end.
    fn on_air(&mut self, frame: &OnAir<'_>) {
        let _ = frame;
    }

    /// Something happened in a radio after a frame was received: it was lost there after all.
    fn lost_in_radio(&mut self, now: Time, node: u16, id: PktId, loss: Loss) {
        let _ = (now, node, id, loss);
    }

    /// Something happened in the stack of a node.
    fn stack(&mut self, now: Time, node: u16, event: &sixlo::trace::Event) {
        let _ = (now, node, event);
    }

    /// Something happened in an application of a node.
    fn app(&mut self, now: Time, node: u16, event: &AppEvent) {
        let _ = (now, node, event);
    }

    /// A node holds more or less than before.
    fn occupancy(&mut self, now: Time, node: u16, occupancy: Occupancy) {
        let _ = (now, node, occupancy);
    }

    /// A node lost its memory (`up` is false) or starts anew.
    fn reboot(&mut self, now: Time, node: u16, up: bool) {
        let _ = (now, node, up);
    }
}

/// Nobody watches.
impl Observer for () {
    const ON: bool = false;
}
