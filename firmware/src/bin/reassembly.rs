//! What a fragment costs where fragments lie in a list that is searched from its head, for comparison with the stack: as
//! the reassembly of 4.4BSD does it (Wright and Stevens 1995, section 10.6), over copies instead of chained buffers.
//!
//! One datagram each of 2 to 16 fragments in order; `cargo xtask reassembly` counts the instructions of each call of `insert`.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use sixlo_firmware::board::exit;

/// Fragments of the longest datagram.
const FRAGMENTS_MAX: usize = 16;

/// Bytes of a fragment.
const LEN: usize = 96;

/// A fragment in the list.
#[derive(Clone, Copy)]
struct Piece {
    offset: u16,
    len: u16,
    /// The place of the next fragment, counted from 1, or 0.
    next: u16,
}

/// A datagram that is being put together.
struct Datagram {
    source: [u32; 2],
    tag: u16,
    size: u16,
    deadline: u32,
    /// The place of the first fragment, counted from 1, or 0.
    first: u16,
    used: u16,
    pieces: [Piece; FRAGMENTS_MAX],
    bytes: [u8; FRAGMENTS_MAX * LEN],
}

/// A fragment as it came in.
struct Fragment<'f> {
    source: [u32; 2],
    tag: u16,
    size: u16,
    offset: u16,
    data: &'f [u8],
}

impl Datagram {
    const EMPTY: Self = Self {
        source: [0; 2],
        tag: 0,
        size: 0,
        deadline: 0,
        first: 0,
        used: 0,
        pieces: [Piece {
            offset: 0,
            len: 0,
            next: 0,
        }; FRAGMENTS_MAX],
        bytes: [0; FRAGMENTS_MAX * LEN],
    };

    fn piece(&mut self, place: u16) -> Option<&mut Piece> {
        self.pieces.get_mut(usize::from(place).wrapping_sub(1))
    }
}

/// Takes a fragment; whether the datagram is complete now.
#[inline(never)]
fn insert(datagrams: &mut [Datagram], now: u32, fragment: &Fragment<'_>) -> bool {
    let same = |datagram: &&mut Datagram| {
        datagram.tag == fragment.tag && datagram.source == fragment.source && datagram.size == fragment.size
    };
    let Some(datagram) = datagrams.iter_mut().find(same) else {
        return false;
    };
    if now >= datagram.deadline {
        return false;
    }
    // The fragment before which it belongs.
    let (mut before, mut at, mut free_from) = (0, datagram.first, 0);
    while let Some(piece) = datagram.piece(at) {
        if piece.offset > fragment.offset {
            break;
        }
        free_from = piece.offset + piece.len;
        (before, at) = (at, piece.next);
    }
    let len = fragment.data.len() as u16;
    let end = fragment.offset + len;
    let overlaps = datagram.piece(at).is_some_and(|next| next.offset < end);
    if fragment.offset < free_from || overlaps || end > datagram.size {
        return false;
    }
    datagram.used += 1;
    let place = datagram.used;
    let Some(new) = datagram.piece(place) else {
        return false;
    };
    *new = Piece {
        offset: fragment.offset,
        len,
        next: at,
    };
    match datagram.piece(before) {
        Some(piece) => piece.next = place,
        None => datagram.first = place,
    }
    let Some(room) = datagram
        .bytes
        .get_mut(usize::from(fragment.offset)..usize::from(end))
    else {
        return false;
    };
    room.copy_from_slice(fragment.data);
    // Complete if there is no gap.
    let (mut next, mut at) = (0, datagram.first);
    while let Some(piece) = datagram.piece(at) {
        if piece.offset != next {
            return false;
        }
        (next, at) = (next + piece.len, piece.next);
    }
    next == datagram.size
}

#[entry]
fn main() -> ! {
    static mut DATAGRAMS: [Datagram; 1] = [Datagram::EMPTY];
    let data = [0x5a; LEN];
    for count in 2..=FRAGMENTS_MAX {
        let [datagram] = DATAGRAMS;
        *datagram = Datagram::EMPTY;
        (datagram.source, datagram.tag) = ([1, 2], count as u16);
        (datagram.size, datagram.deadline) = ((count * LEN) as u16, u32::MAX);
        for number in 0..count {
            let fragment = Fragment {
                source: [1, 2],
                tag: count as u16,
                size: (count * LEN) as u16,
                offset: (number * LEN) as u16,
                data: &data,
            };
            let complete = insert(
                core::hint::black_box(DATAGRAMS),
                1,
                core::hint::black_box(&fragment),
            );
            assert!(complete == (number + 1 == count));
        }
    }
    exit();
}
