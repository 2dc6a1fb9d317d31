//! The seam between a mesh in real time and those who steer and watch it.

use std::sync::mpsc::{self, Receiver, Sender, SyncSender};

use sixlo_host::wait::Waker;
use sixlo_sim::frames::To;
use sixlo_sim::time::Time;

use super::clock::Speed;
use super::watch::NodeCounts;
use crate::web::messages::Detail;

/// What can be asked of a running mesh. Nodes are named by their number, from 1.
#[derive(Clone, Debug)]
pub enum Command {
    /// Time stands, or goes on.
    Pause(bool),
    /// Time goes faster or slower.
    Speed(Speed),
    /// A node loses its memory and is off, or starts anew.
    Switch {
        /// The number of the node.
        node: u16,
        /// Whether it is to be on.
        on: bool,
    },
    /// Frames from one node to another are lost, beside what the medium does, in so many of all cases.
    LinkErrors {
        /// The number of the sender.
        from: u16,
        /// The number of the receiver.
        to: u16,
        /// 0 to 1.
        probability: f64,
    },
    /// A picture of the present.
    Look(SyncSender<Box<Snapshot>>),
    /// What the page tells of a node, by its number; none if there is no such node, or no page.
    Detail {
        /// The number of the node.
        node: u16,
        /// Where the answer is to go.
        answer: SyncSender<Option<Box<Detail>>>,
    },
    /// From now on, all that happens, as far as the receiver keeps up: what it has no room for is counted and lost to it.
    Subscribe(SyncSender<Happening>),
    /// Ends the run.
    Stop,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// A frame was on the air.
    Frame {
        /// When it began, and when it ended.
        span: (Time, Time),
        /// The number of its sender.
        from: u16,
        /// Whom it was for, by index from 0.
        to: To,
        /// What it is: `"data"`, `"ack"`, `"beacon"`, `"command"` or `"other"`.
        kind: &'static str,
        /// Bytes, check sequence included.
        len: u16,
        /// Whether it was received by the node that it was for, or by any if it was for all.
        received: bool,
    },
    /// A node went off or on.
    Switched {
        /// When.
        at: Time,
        /// The number of the node.
        node: u16,
        /// Whether it is on.
        on: bool,
    },
    /// A packet came in from outside (true) or went out.
    Packet {
        /// When.
        at: Time,
        /// From outside.
        inward: bool,
        /// Bytes.
        len: u16,
    },
    /// So many happenings were lost to this receiver, because it did not keep up.
    Missed(u64),
}

/// A picture of the present.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Simulated time.
    pub now: Time,
    /// How fast it goes.
    pub speed: Speed,
    /// It stands.
    pub paused: bool,
    /// All nodes, in the order of their numbers.
    pub nodes: Vec<NodeState>,
    /// Packets from outside, to outside, and from outside that were lost before the border router took them.
    pub packets: [u64; 3],
    /// Frames on the air so far.
    pub frames: u64,
    /// Lateness of events in microseconds: median, 99th percentile, maximum.
    pub lateness_us: [u64; 3],
}

/// A node in a picture.
#[derive(Clone, Debug)]
pub struct NodeState {
    /// Whether it is on.
    pub on: bool,
    /// What it has counted.
    pub counts: NodeCounts,
    /// Bytes of its packet buffer in use.
    pub buffer_bytes: usize,
    /// Packets that it dropped, by reason, those that there were.
    pub drops: Vec<(&'static str, u32)>,
}

/// Steers and watches a mesh from another thread.
#[derive(Clone, Debug)]
pub struct Handle {
    commands: Sender<Command>,
    waker: Waker,
}

impl Handle {
    /// A handle, and where its commands arrive.
    pub fn new(waker: Waker) -> (Self, Receiver<Command>) {
        let (commands, received) = mpsc::channel();
        (Self { commands, waker }, received)
    }

    /// Asks for something. False if the mesh has ended.
    pub fn send(&self, command: Command) -> bool {
        let sent = self.commands.send(command).is_ok();
        self.waker.wake();
        sent
    }

    /// A picture of the present; `None` if the mesh has ended.
    pub fn look(&self) -> Option<Box<Snapshot>> {
        let (answer, picture) = mpsc::sync_channel(1);
        self.send(Command::Look(answer));
        picture.recv().ok()
    }
}
