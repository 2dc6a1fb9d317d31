//! What the server tells the page. Times are microseconds since the start of the run, nodes are named by their number from 1.
//!
//! What comes in masses is an array whose places have a meaning, so that a second of a busy mesh is some ten kilobytes.

use serde::{Serialize, Serializer};

use crate::frame_kind::FrameKind;

/// What does not change while one looks.
#[derive(Clone, Debug, Serialize)]
pub struct Mesh {
    /// `replay` or `live`.
    pub mode: &'static str,
    /// One line.
    pub title: String,
    /// What tells this run from others of its campaign.
    pub run: String,
    /// The nodes, by number.
    pub nodes: Vec<MeshNode>,
    /// Pairs of nodes that are neighbours by the medium, the lower number first.
    pub links: Vec<(u16, u16)>,
    /// The room of a packet buffer in bytes.
    pub buffer_bytes: u32,
    /// The words for [`Frame::kind`].
    pub kinds: Vec<&'static str>,
    /// The words for [`Frame::fate`].
    pub fates: Vec<&'static str>,
    /// The places of a [`NodeRow`].
    pub columns: Vec<&'static str>,
    /// The places of [`Totals`].
    pub totals: Vec<&'static str>,
    /// Of a recorded run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
}

/// A node of the mesh.
#[derive(Clone, Debug, Serialize)]
pub struct MeshNode {
    /// Its number.
    pub number: u16,
    /// Its name.
    pub name: String,
    /// Metres east.
    pub x: f64,
    /// Metres north.
    pub y: f64,
    /// Metres up.
    pub z: f64,
    /// The next node towards the sink.
    pub parent: Option<u16>,
    /// Hops to the sink.
    pub hops: u16,
}

/// What is there of a recorded run.
#[derive(Clone, Debug, Serialize)]
pub struct Recorded {
    /// How long it was.
    pub duration: u64,
    /// When each of its pieces begins.
    pub chunks: Vec<u64>,
    /// The totals over time.
    pub history: Vec<Totals>,
}

/// What happened since the batch before.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Batch {
    /// Until when.
    #[serde(rename = "t")]
    pub until: u64,
    /// The nodes are all nodes, and nothing of before counts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// Frames that ended, in the order of their ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// Nodes of which something has changed, as they are at the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRow>,
    /// What else happened at nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Frames that happened too and are not told of.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// How time goes, of a mesh that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockState>,
    /// Errors that were given to links: sender, receiver, and the share of frames.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<(u16, u16, f64)>,
    /// The whole mesh at the end.
    pub totals: Totals,
}

impl Batch {
    /// The frames that it tells of, and those that it only counts.
    pub const fn frame_count(&self) -> u64 {
        self.frames.len() as u64 + self.skipped
    }
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How the time of a mesh goes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClockState {
    /// It stands.
    pub paused: bool,
    /// As a multiple of real time; none where it goes as fast as it can.
    pub speed: Option<f64>,
}

/// Whom a frame was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// No node of the mesh: 0.
    None,
    /// This node.
    Node(u16),
    /// All that hear it: -1.
    All,
}

/// A frame that was on the air: when it began, for how long, sender, receiver, kind, bytes, fate, datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When its preamble began.
    pub from_us: u64,
    /// How long it was on the air.
    pub air_us: u32,
    /// Who sent it.
    pub sender: u16,
    /// Whom it was for.
    pub to: To,
    /// What it carried.
    pub kind: FrameKind,
    /// Bytes, check sequence included.
    pub len: u16,
    /// 0 if it arrived, else why not, by the words of the mesh.
    pub fate: u8,
    /// The datagram that it carried a piece of, 0 if none is known.
    pub datagram: u32,
}

impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let to = match self.to {
            To::None => 0,
            To::Node(node) => i32::from(node),
            To::All => -1,
        };
        let kind = self.kind as u8;
        let Self {
            from_us,
            air_us,
            sender,
            len,
            fate,
            datagram,
            ..
        } = *self;
        (from_us, air_us, sender, to, kind, len, fate, datagram).serialize(serializer)
    }
}

/// What happened at a node, by the number that the page knows it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum What {
    /// Its application sent a datagram.
    Sent = 0,
    /// A datagram reached its application.
    Delivered = 1,
    /// Its stack dropped a packet, frame or fragment, or its radio lost one.
    Dropped = 2,
    /// It lost its memory.
    Off = 3,
    /// It started anew.
    On = 4,
}

/// Something that happened at a node: when, the node, what, and the datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at_us: u64,
    /// The node.
    pub node: u16,
    /// What.
    pub what: What,
    /// The datagram, 0 if none is known.
    pub datagram: u32,
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.at_us, self.node, self.what as u8, self.datagram).serialize(serializer)
    }
}

/// Declares what is sent as an array, with the names of its places.
macro_rules! places {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }

        impl $name {
            /// The names of the places.
            pub const PLACES: &'static [&'static str] = &[$(stringify!($field),)*];
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeSeq;
                let mut sequence = serializer.serialize_seq(Some(Self::PLACES.len()))?;
                $(sequence.serialize_element(&self.$field)?;)*
                sequence.end()
            }
        }
    };
}

places! {
    /// A node at a moment.
    NodeRow {
        /// Its number.
        node: u16,
        /// 1 if it is on, else 0.
        on: u8,
        /// Bytes of its packet buffer in use.
        buffer: u32,
        /// Packets that wait for its radio.
        queued: u32,
        /// Datagrams that it puts together.
        reassemblies: u32,
        /// Datagrams that it forwards fragment by fragment.
        forwards: u32,
        /// Datagrams that it sends in recoverable fragments.
        transfers: u32,
        /// Datagrams that its applications wanted to send.
        sent: u32,
        /// Of these, those that arrived.
        arrived: u32,
        /// Of these, those that were lost.
        lost: u32,
        /// Datagrams that its applications got, of whomever.
        delivered: u32,
        /// Bytes that its applications got.
        bytes: u64,
        /// Frames that it put on the air, acknowledgements not counted.
        frames: u32,
        /// Acknowledgements that it put on the air.
        acks: u32,
        /// Frames for it that arrived.
        received: u32,
        /// Frames for it that did not arrive, or were lost in its radio.
        missed: u32,
        /// Frames that its link layer gave up.
        given_up: u32,
        /// Packets, frames and fragments that its stack dropped.
        dropped: u32,
    }
}

places! {
    /// The mesh at a moment. All but the peak only grow, so that the difference of two moments tells of the time between.
    Totals {
        /// When.
        at: u64,
        /// Datagrams that applications wanted to send.
        sent: u64,
        /// Of these, those that arrived.
        delivered: u64,
        /// Of these, those that were lost.
        lost: u64,
        /// Bytes that applications got.
        bytes: u64,
        /// Bytes of packets that passed the border router, in and out.
        outside: u64,
        /// Frames on the air, acknowledgements included.
        frames: u64,
        /// Bytes in the packet buffers of all nodes, summed over time in seconds.
        buffer_s: f64,
        /// Packets that wait for radios, summed over time in seconds.
        queued_s: f64,
        /// The most bytes in the packet buffer of any node since the totals before.
        buffer_peak: u32,
    }
}

/// A node in all detail.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Detail {
    /// Its number.
    pub node: u16,
    /// When.
    pub at: u64,
    /// Why its stack dropped what it dropped, and how often.
    pub drops: Vec<(&'static str, u32)>,
    /// Why frames for it did not arrive, and how often.
    pub misses: Vec<(&'static str, u32)>,
    /// The nodes that it has to do with.
    pub neighbors: Vec<Neighbor>,
    /// Its routes: the destination, and the next hop.
    pub routes: Vec<(String, u16)>,
    /// The last that happened: when, in words, and whether it is good (1), bad (-1) or neither.
    pub log: Vec<(u64, String, i8)>,
}

/// A neighbour of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Neighbor {
    /// Its number.
    pub node: u16,
    /// Frames to it, acknowledgements not counted, and those of them that arrived.
    pub to: (u32, u32),
    /// Frames from it.
    pub from: (u32, u32),
}
