//! Frames in devices and on the air: a slab, so that no transmission allocates.

use sixlo::netdev::FRAME_LEN_MAX;
use sixlo::trace::PktId;
use sixlo::wire::fcs;

use crate::air::Span;
use crate::medium::{Signal, Transmission};
use crate::phy;

/// The number of a frame in the slab.
pub type Slot = u32;

/// Whom a frame is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum To {
    /// This node.
    Node(u16),
    /// Every node that hears it.
    #[default]
    All,
    /// Every node that waits for an acknowledgement.
    Awaiting,
    /// No node of this network.
    Nobody,
}

/// One frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    bytes: [u8; FRAME_LEN_MAX],
    /// Without check sequence.
    len: u8,
    /// Holders: its device, the air, and receivers that have not read it yet.
    holders: u16,
    /// Who sends it.
    pub sender: u16,
    /// Whom it is for.
    pub to: To,
    /// It asks for an acknowledgement.
    pub ack_request: bool,
    /// Its sequence number.
    pub sequence: u8,
    /// The datagram that it carries a piece of.
    pub id: PktId,
    /// When it is or was on the air last.
    pub span: Span,
    /// The number of that transmission.
    pub number: u64,
    /// How well it came in, where it is held back.
    pub signal: Signal,
    /// For an acknowledgement: the sender of what it acknowledges.
    pub answers: u16,
}

impl Frame {
    const EMPTY: Self = Self {
        bytes: [0; FRAME_LEN_MAX],
        len: 0,
        holders: 0,
        sender: 0,
        to: To::All,
        ack_request: false,
        sequence: 0,
        id: PktId::NONE,
        span: Span {
            from: crate::time::Time::ZERO,
            until: crate::time::Time::ZERO,
        },
        number: 0,
        signal: Signal { rssi_dbm: 0, lqi: 0 },
        answers: 0,
    };

    /// Its bytes without check sequence.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Its bytes with check sequence, which is computed here: no model needs it.
    pub fn bytes_with_fcs(&self, out: &mut [u8; FRAME_LEN_MAX]) -> usize {
        let len = usize::from(self.len);
        out[..len].copy_from_slice(self.bytes());
        let [low, high] = fcs::compute(self.bytes()).to_le_bytes();
        out[len..len + phy::FCS_BYTES].copy_from_slice(&[low, high]);
        len + phy::FCS_BYTES
    }

    /// Its length on the air, check sequence included, preamble and PHY header not.
    #[inline]
    pub const fn mpdu_len(&self) -> usize {
        self.len as usize + phy::FCS_BYTES
    }

    /// Its last transmission.
    #[inline]
    pub fn transmission(&self) -> Transmission {
        Transmission {
            sender: self.sender,
            span: self.span,
            is_ack: self.to == To::Awaiting,
            number: self.number,
        }
    }
}

/// All frames.
#[derive(Debug, Default)]
pub struct Frames {
    all: Vec<Frame>,
    free: Vec<Slot>,
}

impl Frames {
    /// A frame with one holder, whose bytes are what they last were in this place.
    #[inline]
    pub fn allocate(&mut self) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.all.push(Frame::EMPTY);
            self.all.len() as Slot - 1
        });
        self.all[slot as usize].holders = 1;
        slot
    }

    /// One more holds the frame.
    #[inline]
    pub fn hold(&mut self, slot: Slot) {
        self.all[slot as usize].holders += 1;
    }

    /// One fewer holds the frame.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        let frame = &mut self.all[slot as usize];
        debug_assert!(frame.holders > 0, "frame {slot} is released once too often");
        frame.holders -= 1;
        if frame.holders == 0 {
            self.free.push(slot);
        }
    }

    /// Whether only one holds the frame.
    pub fn is_sole(&self, slot: Slot) -> bool {
        self.all[slot as usize].holders == 1
    }

    /// The room for the bytes of a frame.
    pub fn room(&mut self, slot: Slot) -> &mut [u8; FRAME_LEN_MAX] {
        &mut self.all[slot as usize].bytes
    }

    /// Says how long the frame is that was written, without check sequence; at most what fits with it.
    pub fn set_len(&mut self, slot: Slot, len: usize) {
        self.all[slot as usize].len = len.min(FRAME_LEN_MAX - phy::FCS_BYTES) as u8;
    }

    /// A frame.
    #[inline]
    pub fn get(&self, slot: Slot) -> &Frame {
        &self.all[slot as usize]
    }

    /// A frame, to be changed.
    #[inline]
    pub fn get_mut(&mut self, slot: Slot) -> &mut Frame {
        &mut self.all[slot as usize]
    }

    /// The immediate acknowledgement of a frame (IEEE 802.15.4-2020, 7.3.3).
    pub fn acknowledgement(&mut self, of: Slot, sender: u16) -> Slot {
        let &Frame {
            sequence,
            id,
            sender: answers,
            ..
        } = self.get(of);
        let slot = self.allocate();
        let frame = self.get_mut(slot);
        frame.bytes[..3].copy_from_slice(&[0x02, 0x00, sequence]);
        frame.len = 3;
        frame.sender = sender;
        frame.to = To::Awaiting;
        frame.ack_request = false;
        frame.sequence = sequence;
        frame.id = id;
        frame.answers = answers;
        slot
    }

    /// A copy of a frame.
    pub fn copied(&mut self, slot: Slot) -> Slot {
        let original = *self.get(slot);
        let copy = self.allocate();
        *self.get_mut(copy) = Frame {
            holders: 1,
            ..original
        };
        copy
    }

    /// A copy of a frame with one byte changed: which and how, `luck` decides.
    pub fn corrupted(&mut self, slot: Slot, luck: u64) -> Slot {
        let copy = self.copied(slot);
        let frame = self.get_mut(copy);
        let at = luck as usize % usize::from(frame.len).max(1);
        frame.bytes[at] ^= ((luck >> 32) as u8) | 1;
        copy
    }

    /// A frame like another one, but with these bytes, of no datagram that anyone sent.
    pub fn forged(&mut self, slot: Slot, bytes: &[u8]) -> Slot {
        let copy = self.copied(slot);
        let frame = self.get_mut(copy);
        let len = bytes.len().min(FRAME_LEN_MAX - phy::FCS_BYTES);
        frame.bytes[..len].copy_from_slice(&bytes[..len]);
        frame.len = len as u8;
        frame.id = PktId::NONE;
        copy
    }

    /// How many frames are held.
    pub fn held(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_lives_as_long_as_somebody_holds_it() {
        let mut frames = Frames::default();
        let a = frames.allocate();
        frames.hold(a);
        frames.release(a);
        assert!(frames.is_sole(a));
        let b = frames.allocate();
        assert_ne!(a, b);
        frames.release(a);
        assert_eq!(frames.held(), 1);
        assert_eq!(frames.allocate(), a);
    }

    #[test]
    fn an_acknowledgement_is_five_bytes_with_its_check_sequence() {
        let mut frames = Frames::default();
        let data = frames.allocate();
        frames.get_mut(data).sequence = 0x56;
        let ack = frames.acknowledgement(data, 3);
        let mut out = [0; FRAME_LEN_MAX];
        let len = frames.get(ack).bytes_with_fcs(&mut out);
        assert_eq!(len, phy::ACK_BYTES);
        assert_eq!(fcs::check(&out[..len]), Ok(&[0x02, 0x00, 0x56][..]));
    }

    #[test]
    fn corruption_changes_exactly_one_byte_of_a_copy() {
        let mut frames = Frames::default();
        let data = frames.allocate();
        frames.room(data)[..20].copy_from_slice(&[7; 20]);
        frames.set_len(data, 20);
        for luck in [0, 0x100_0000_0003, u64::MAX] {
            let copy = frames.corrupted(data, luck);
            let changed = frames.get(copy).bytes().iter().filter(|&&byte| byte != 7).count();
            assert_eq!(changed, 1);
            frames.release(copy);
        }
        assert_eq!(frames.get(data).bytes(), [7; 20]);
    }
}
