//! Reassembly alone: fragments in, datagrams out, time by hand.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::ground::Core;
use crate::netreg::Registry;
use crate::pktbuf::{Meta, Seg, Slot};
use crate::rng::Rng;
use crate::timers::Timers;
use crate::trace::PktId;
use crate::wire::addr::LinkAddr;
use crate::wire::lowpan::frag;

mod any_order;
mod hostile;
mod policy;
mod rules;

/// Memory for one reassembler and its ground.
struct Room {
    bytes: Vec<u8>,
    segs: Vec<Seg>,
    slots: Vec<Slot>,
    table: Vec<Reassembly>,
}

impl Room {
    fn new(bytes: usize, packets: usize, entries: usize) -> Self {
        Self {
            // What a reused static may hold: debug builds fill what is new with the same.
            bytes: vec![0xa5; bytes],
            segs: vec![Seg::EMPTY; packets],
            slots: vec![Slot::EMPTY; packets],
            table: (0..entries).map(|_| Reassembly::EMPTY).collect(),
        }
    }

    fn bench(&mut self, config: ReassemblyConfig) -> Bench<'_> {
        let buf = PktBuf::new(&mut self.bytes, &mut self.segs, &mut self.slots, [0; 2]).expect("no reserve");
        Bench {
            core: Core::new(buf, Registry::new(&mut []), Timers::new(&mut []), Rng::new(1)),
            reassembler: Reassembler::new(&mut self.table, config),
            now: Instant::from_micros(1_000_000),
            fates: Fates::default(),
        }
    }
}

/// What became of each fragment, and of each packet that was dropped.
#[derive(Default)]
struct Fates {
    fragments: Vec<FragmentFate>,
    dropped: Vec<Reason>,
}

impl Sink for Fates {
    fn event(&mut self, _now: Instant, event: &Event) {
        match *event {
            Event::FragmentIn { fate, .. } => self.fragments.push(fate),
            Event::End {
                end: End::Dropped(reason),
                ..
            } => self.dropped.push(reason),
            _ => {}
        }
    }
}

/// What the interface knows of a frame from this node.
fn meta(src: u16) -> Meta {
    Meta {
        link_src: LinkAddr::Short(src),
        link_dst: LinkAddr::Short(0),
        ..Meta::EMPTY
    }
}

/// A fragment as a test names it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The number of the node that sent it, and the datagram's tag.
    key: (u16, u16),
    size: u16,
    offset: u16,
    len: u16,
}

impl Piece {
    const fn new(key: (u16, u16), size: u16, offset: u16, len: u16) -> Self {
        Self {
            key,
            size,
            offset,
            len,
        }
    }
}

/// The bytes of a datagram: none of them is 0xa5, which stands in memory that nobody has written.
fn content((src, tag): (u16, u16), size: u16) -> Vec<u8> {
    let first = usize::from(src) * 31 + usize::from(tag) * 7 + usize::from(size);
    (0..usize::from(size))
        .map(|i| ((first + i) % 0xa5) as u8)
        .collect()
}

/// The pieces of a datagram, all of `step` bytes but the last.
fn cut(key: (u16, u16), size: u16, step: u16) -> Vec<Piece> {
    let offsets = (0..size).step_by(usize::from(step));
    offsets
        .map(|offset| Piece::new(key, size, offset, step.min(size - offset)))
        .collect()
}

struct Bench<'a> {
    core: Core<'a>,
    reassembler: Reassembler<'a>,
    now: Instant,
    fates: Fates,
}

impl Bench<'_> {
    /// Takes a fragment of the datagram that its key and size name; gives what is complete now.
    fn take(&mut self, piece: Piece) -> Option<Vec<u8>> {
        let bytes = content(piece.key, piece.size);
        let (from, to) = (usize::from(piece.offset), usize::from(piece.offset + piece.len));
        // What lies beyond the datagram's end is refused for its bounds, whatever it holds.
        let bytes: Vec<u8> = bytes.into_iter().chain([0; 2048]).collect();
        self.take_bytes(piece, &bytes[from..to])
    }

    /// As [`take`](Self::take), with these bytes.
    fn take_bytes(&mut self, piece: Piece, bytes: &[u8]) -> Option<Vec<u8>> {
        // The first fragment comes with expanded headers.
        let (expanded, data) = match piece.offset {
            0 => bytes.split_at(bytes.len().min(48)),
            _ => (&[][..], bytes),
        };
        let meta = meta(piece.key.0);
        let header = frag::Fragment {
            datagram_size: piece.size,
            datagram_tag: piece.key.1,
            datagram_offset: (piece.offset / 8) as u8,
        };
        let fragment = Fragment {
            meta: &meta,
            header,
            expanded,
            data,
            id: PktId::NONE,
        };
        let mut cx = Cx {
            core: &mut self.core,
            sink: &mut self.fates,
            now: self.now,
        };
        let whole = if self.reassembler.insert_expected(&mut cx, &fragment) {
            None
        } else {
            self.reassembler.insert(&mut cx, &fragment)
        };
        let whole = whole.map(|packet| {
            let mut bytes = vec![0; cx.core.buf.len(&packet)];
            assert_eq!(cx.core.buf.copy_out(&packet, 0, &mut bytes), bytes.len());
            let _ended = cx.end(packet, Module::Lowpan, End::Delivered);
            bytes
        });
        self.check();
        whole
    }

    /// Takes fragments of which none is the last that is missing.
    fn take_all(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            assert_eq!(self.take(*piece), None, "{piece:?}");
        }
    }

    /// Lets time pass, with each time-out at its time.
    fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        while let Some(at) = self.reassembler.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.expire();
        }
        self.now = end;
    }

    fn expire(&mut self) {
        let mut cx = Cx {
            core: &mut self.core,
            sink: &mut self.fates,
            now: self.now,
        };
        self.reassembler.expire(&mut cx);
        self.check();
    }

    /// Nothing is in hand, and every packet that lives is in the table.
    fn check(&self) {
        let mut held = 0;
        self.reassembler.holds(&self.core.buf, &mut |_| held += 1);
        assert_eq!((self.core.buf.live(), self.core.buf.in_hand()), (held, 0));
        self.core.buf.check();
    }

    fn used(&self) -> usize {
        self.core.buf.used()
    }

    /// The fates since the last time.
    fn fates(&mut self) -> Vec<FragmentFate> {
        core::mem::take(&mut self.fates.fragments)
    }

    /// Why the last fragment was not taken.
    fn refusal(&self) -> Option<Reason> {
        match self.fates.fragments.last() {
            Some(FragmentFate::Dropped(reason)) => Some(*reason),
            _ => None,
        }
    }
}
