//! Whom a frame on the air is for, acknowledgements included.

use sixlo_sim::frames::To;
use sixlo_sim::medium::{Loss, Signal};
use sixlo_sim::observer::OnAir;

/// Whom a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// No node of the network.
    None,
    /// The node with this index.
    One(u16),
    /// All that hear it.
    All,
}

impl Receiver {
    /// The nodes that a frame was for, and what became of it there.
    pub(crate) fn fates<'f>(
        self,
        frame: &OnAir<'f>,
    ) -> impl Iterator<Item = (u16, Result<Signal, Loss>)> + use<'f> {
        let fates = frame.fates.iter().copied();
        fates.filter(move |(node, _)| self == Self::All || self == Self::One(*node))
    }
}

/// Remembers of frames what tells whom acknowledgements are for.
#[derive(Debug)]
pub(crate) struct Receivers {
    /// The sender of the last frame for each node: the one that an acknowledgement of that node is for.
    last_sender: Vec<Option<u16>>,
}

impl Receivers {
    /// Of frames among so many nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            last_sender: vec![None; nodes],
        }
    }

    /// Whom a frame is for. To be asked once of each frame, in the order of time.
    pub(crate) fn of(&mut self, frame: &OnAir<'_>) -> Receiver {
        match frame.to {
            To::Node(node) => {
                self.last_sender[usize::from(node)] = Some(frame.sender);
                Receiver::One(node)
            }
            To::Awaiting => match self.last_sender[usize::from(frame.sender)] {
                Some(node) => Receiver::One(node),
                None => Receiver::None,
            },
            To::All => Receiver::All,
            To::Nobody => Receiver::None,
        }
    }
}
