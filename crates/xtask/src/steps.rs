//! What a datagram is made of: the same experiment once more, with its messages counted.

use std::collections::BTreeMap;

use sixlo::time::Instant;
use sixlo::trace::{Event, Sink};

use crate::tools::Failure;

#[path = "../../sixlo/examples/traverse/experiment.rs"]
mod experiment;

use experiment::{Frames, Memory, Node, PAYLOAD_MAX, PAYLOAD_MIN, PAYLOAD_STEP};

/// What a datagram is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    /// Frames.
    pub(crate) frames: u32,
    /// Their bytes, with the check sequence.
    pub(crate) bytes: u32,
    /// Messages between modules of the sender, and of the receiver.
    pub(crate) messages: [u32; 2],
}

/// Messages between modules.
#[derive(Default)]
struct Messages(u32);

impl Sink for Messages {
    fn event(&mut self, _now: Instant, event: &Event) {
        self.0 += u32::from(matches!(event, Event::Hop { .. }));
    }
}

/// Bytes of the check sequence of a frame, which a device adds.
const FCS_LEN: usize = 2;

/// All payloads of the experiment.
pub(crate) fn payloads() -> impl Iterator<Item = usize> {
    (PAYLOAD_MIN..=PAYLOAD_MAX).step_by(PAYLOAD_STEP)
}

/// What datagrams with these payloads are made of.
pub(crate) fn of(payloads: &[usize]) -> Result<BTreeMap<usize, Steps>, Failure> {
    let (mut memory, mut other) = (Memory::new(), Memory::new());
    let (mut sender, mut receiver) = (Node::new(&mut memory, 1), Node::new(&mut other, 2));
    let mut frames = Frames::EMPTY;
    let mut out = [0; PAYLOAD_MAX];
    let mut found = BTreeMap::new();
    for &payload in payloads {
        let (mut sending, mut receiving) = (Messages::default(), Messages::default());
        sender.send(2, &vec![0; payload], &mut frames, &mut sending);
        if receiver.receive(&frames, &mut out, &mut receiving) != Some(payload) {
            return Err(Failure::Wrong(format!(
                "a datagram of {payload} bytes did not arrive"
            )));
        }
        let bytes: usize = frames.iter().map(|frame| frame.len() + FCS_LEN).sum();
        let steps = Steps {
            frames: frames.count as u32,
            bytes: bytes as u32,
            messages: [sending.0, receiving.0],
        };
        found.insert(payload, steps);
        sender.rest();
        receiver.rest();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lenders 2016, section 5.3.4: a second fragment from 96 bytes between link-local addresses, then one every 96.
    #[test]
    fn fragments_begin_at_96_bytes_and_every_96_after() {
        let all: Vec<usize> = payloads().collect();
        for (payload, steps) in of(&all).expect("a working stack") {
            assert_eq!(steps.frames as usize, payload / 96 + 1, "{payload}");
        }
    }
}
