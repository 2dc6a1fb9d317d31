//! Random operations, against a model in which a packet is a vector of bytes and a cursor.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::super::{Class, Kept, NoRoom, Pkt, PktBuf, Queue};
use super::{Room, bytes};

/// What one operation does; packets are named by an index modulo their number.
#[derive(Clone, Debug)]
enum Op {
    Alloc {
        transmit: bool,
        headroom: usize,
        len: usize,
    },
    Release(usize),
    Share(usize),
    Mark(usize, usize),
    Unmark(usize, usize),
    Truncate(usize, usize),
    Discard(usize),
    Prepend(usize),
    PrependLong(usize),
    WriteAt(usize, usize),
    WriteBytes(usize, usize, usize),
    Grow(usize, usize),
    Append(usize, usize),
    Keep(usize),
    Push(usize),
    Pop,
}

/// A packet and what it should hold.
struct Twin<P> {
    p: P,
    bytes: Vec<u8>,
    cursor: usize,
}

/// The buffer beside its model.
struct Pair<'a> {
    buf: PktBuf<'a>,
    hand: Vec<Twin<Pkt>>,
    queue: Queue,
    /// In the order of the queue; the handles are in there.
    queued: Vec<Twin<()>>,
    next: u8,
}

fn op() -> impl Strategy<Value = Op> {
    let which = 0..8_usize;
    let short = 0..20_usize;
    prop_oneof![
        4 => (any::<bool>(), 0..16_usize, 0..60_usize)
            .prop_map(|(transmit, headroom, len)| Op::Alloc { transmit, headroom, len }),
        3 => which.clone().prop_map(Op::Release),
        2 => which.clone().prop_map(Op::Share),
        2 => (which.clone(), short.clone()).prop_map(|(p, n)| Op::Mark(p, n)),
        1 => (which.clone(), short.clone()).prop_map(|(p, n)| Op::Unmark(p, n)),
        1 => (which.clone(), 0..60_usize).prop_map(|(p, n)| Op::Truncate(p, n)),
        1 => which.clone().prop_map(Op::Discard),
        2 => which.clone().prop_map(Op::Prepend),
        1 => which.clone().prop_map(Op::PrependLong),
        2 => (which.clone(), 0..60_usize).prop_map(|(p, at)| Op::WriteAt(p, at)),
        2 => (which.clone(), 0..60_usize, 0..40_usize).prop_map(|(p, at, n)| Op::WriteBytes(p, at, n)),
        3 => (which.clone(), 0..30_usize).prop_map(|(p, n)| Op::Grow(p, n)),
        3 => (which.clone(), which.clone()).prop_map(|(to, p)| Op::Append(to, p)),
        1 => which.clone().prop_map(Op::Keep),
        1 => which.prop_map(Op::Push),
        1 => Just(Op::Pop),
    ]
}

impl Pair<'_> {
    /// Bytes that no one wrote before.
    fn fresh(&mut self, n: usize) -> Vec<u8> {
        (0..n)
            .map(|_| {
                self.next = self.next.wrapping_add(1);
                self.next
            })
            .collect()
    }

    fn pick(&self, which: usize) -> Option<usize> {
        which.checked_rem(self.hand.len())
    }

    fn run(&mut self, op: &Op) -> Option<()> {
        match *op {
            Op::Alloc {
                transmit,
                headroom,
                len,
            } => self.alloc(transmit, headroom, len),
            Op::Release(p) => {
                let twin = self.hand.swap_remove(self.pick(p)?);
                let _ = self.buf.release(twin.p);
            }
            Op::Share(p) => {
                let twin = &self.hand[self.pick(p)?];
                if let Ok(p) = self.buf.share(&twin.p) {
                    let (bytes, cursor) = (twin.bytes.clone(), twin.cursor);
                    self.hand.push(Twin { p, bytes, cursor });
                }
            }
            Op::Mark(p, n) => {
                let at = self.pick(p)?;
                let twin = &mut self.hand[at];
                let fits = twin.cursor + n <= twin.bytes.len();
                assert_eq!(self.buf.mark(&twin.p, n), fits);
                twin.cursor += if fits { n } else { 0 };
            }
            Op::Unmark(p, n) => {
                let at = self.pick(p)?;
                let twin = &mut self.hand[at];
                let fits = n <= twin.cursor;
                assert_eq!(self.buf.unmark(&twin.p, n), fits);
                twin.cursor -= if fits { n } else { 0 };
            }
            Op::Truncate(p, n) => {
                let at = self.pick(p)?;
                let twin = &mut self.hand[at];
                self.buf.truncate(&twin.p, n);
                twin.bytes.truncate(twin.cursor + n);
            }
            Op::Discard(p) => {
                let at = self.pick(p)?;
                let twin = &mut self.hand[at];
                self.buf.discard_marked(&twin.p);
                twin.bytes.drain(..twin.cursor);
                twin.cursor = 0;
            }
            Op::Prepend(p) => self.prepend::<3>(p)?,
            Op::PrependLong(p) => self.prepend::<17>(p)?,
            Op::WriteAt(p, at) => self.write_at::<6>(p, at)?,
            Op::WriteBytes(p, at, n) => self.write_bytes(p, at, n)?,
            Op::Grow(p, n) => {
                let at = self.pick(p)?;
                let new = self.fresh(n);
                let twin = &mut self.hand[at];
                if let Ok(room) = self.buf.grow(&twin.p, n) {
                    room.copy_from_slice(&new);
                    twin.bytes.extend(new);
                }
            }
            Op::Append(to, p) => self.append(to, p)?,
            Op::Keep(p) => {
                let at = self.pick(p)?;
                let Twin { p, bytes, cursor } = self.hand.swap_remove(at);
                let kept: Option<Kept> = Some(self.buf.keep(p));
                self.buf.check();
                let p = self.buf.resume(kept?);
                self.hand.push(Twin { p, bytes, cursor });
            }
            Op::Push(p) => {
                let at = self.pick(p)?;
                let Twin { p, bytes, cursor } = self.hand.swap_remove(at);
                let _ = self.buf.push(&mut self.queue, p);
                self.queued.push(Twin { p: (), bytes, cursor });
            }
            Op::Pop => {
                let popped = self.buf.pop(&mut self.queue);
                assert_eq!(popped.is_some(), !self.queued.is_empty());
                let p = popped?;
                let Twin { bytes, cursor, .. } = self.queued.remove(0);
                self.hand.push(Twin { p, bytes, cursor });
            }
        }
        Some(())
    }

    fn alloc(&mut self, transmit: bool, headroom: usize, len: usize) {
        let class = if transmit { Class::Transmit } else { Class::Receive };
        let live = self.buf.live();
        match self.buf.alloc(class, headroom, len) {
            Ok(p) => {
                let bytes = self.fresh(len);
                self.buf.write_bytes(&p, 0, &bytes).expect("its own bytes");
                self.hand.push(Twin { p, bytes, cursor: 0 });
            }
            Err(NoRoom::Slots) => assert_eq!(live, 8),
            Err(why) => assert_eq!(why, NoRoom::Bytes),
        }
    }

    fn prepend<const N: usize>(&mut self, p: usize) -> Option<()> {
        let at = self.pick(p)?;
        let new = self.fresh(N);
        let twin = &mut self.hand[at];
        if let Ok(room) = self.buf.prepend::<N>(&twin.p) {
            room.copy_from_slice(&new);
            twin.bytes.splice(..twin.cursor, new);
            twin.cursor = 0;
        }
        Some(())
    }

    fn write_at<const N: usize>(&mut self, p: usize, offset: usize) -> Option<()> {
        let at = self.pick(p)?;
        let new = self.fresh(N);
        let twin = &mut self.hand[at];
        let place = twin.cursor + offset;
        match self.buf.write_at::<N>(&twin.p, offset) {
            Ok(room) => {
                room.copy_from_slice(&new);
                twin.bytes[place..place + N].copy_from_slice(&new);
            }
            Err(why) => assert_eq!(why, NoRoom::Bytes),
        }
        Some(())
    }

    fn write_bytes(&mut self, p: usize, offset: usize, n: usize) -> Option<()> {
        let at = self.pick(p)?;
        let new = self.fresh(n);
        let twin = &mut self.hand[at];
        let place = twin.cursor + offset;
        if self.buf.write_bytes(&twin.p, offset, &new).is_ok() {
            twin.bytes[place..place + n].copy_from_slice(&new);
        }
        Some(())
    }

    fn append(&mut self, to: usize, p: usize) -> Option<()> {
        let (to, p_at) = (self.pick(to)?, self.pick(p)?);
        if to == p_at {
            return None;
        }
        let Twin { p, bytes, cursor } = self.hand.remove(p_at);
        let to = if to < self.hand.len() {
            to
        } else {
            self.hand.len() - 1
        };
        let twin = &mut self.hand[to];
        match self.buf.append(&twin.p, p) {
            Ok(_) => twin.bytes.extend(&bytes[cursor..]),
            Err(p) => self.hand.push(Twin { p, bytes, cursor }),
        }
        Some(())
    }

    /// Every packet is what the model says, and no invariant is broken.
    fn compare(&self) {
        self.buf.check();
        assert_eq!(self.buf.in_hand(), self.hand.len());
        assert_eq!(self.buf.live(), self.hand.len() + self.queued.len());
        for twin in &self.hand {
            let rest = &twin.bytes[twin.cursor..];
            assert_eq!(bytes(&self.buf, &twin.p), rest);
            assert_eq!(self.buf.len(&twin.p), rest.len());
            assert_eq!(self.buf.marked(&twin.p), twin.cursor);
            assert_eq!(self.buf.read(&twin.p), rest.first_chunk::<6>().copied());
            let later = rest.get(9..).and_then(<[u8]>::first_chunk::<4>);
            assert_eq!(self.buf.read_at(&twin.p, 9), later.copied());
            let earlier = twin.cursor.checked_sub(3).map(|at| &twin.bytes[at..]);
            let earlier = earlier.and_then(<[u8]>::first_chunk::<3>);
            assert_eq!(self.buf.read_back(&twin.p, 3), earlier.copied());
            let contiguous = self.buf.contiguous(&twin.p);
            assert!(rest.starts_with(contiguous));
            assert_eq!(contiguous.is_empty(), rest.is_empty());
            let mut out = [0; 30];
            let copied = self.buf.copy_out(&twin.p, 5, &mut out);
            let expected = rest.get(5..).unwrap_or_default();
            let expected = &expected[..expected.len().min(30)];
            assert_eq!(&out[..copied], expected);
        }
    }
}

proptest! {
    #[test]
    fn packets_hold_what_a_model_holds_whatever_is_done(ops in prop::collection::vec(op(), 1..120)) {
        let mut room = Room::new(404, 6, 8);
        let mut pair = Pair {
            buf: room.reserving([40, 60]),
            hand: Vec::new(),
            queue: Queue::default(),
            queued: Vec::new(),
            next: 0,
        };
        for op in &ops {
            pair.run(op);
            pair.compare();
        }
        while let Some(p) = pair.buf.pop(&mut pair.queue) {
            let Twin { bytes, cursor, .. } = pair.queued.remove(0);
            pair.hand.push(Twin { p, bytes, cursor });
        }
        pair.compare();
        for twin in pair.hand.drain(..) {
            let _ = pair.buf.release(twin.p);
        }
        prop_assert_eq!((pair.buf.used(), pair.buf.live(), pair.buf.in_hand()), (0, 0, 0));
        let whole = pair.buf.alloc(Class::Receive, 0, 404 - 60 - 4);
        prop_assert!(whole.is_ok(), "the arena is whole again");
        pair.buf.check();
        let _ = pair.buf.release(whole.unwrap());
    }
}
