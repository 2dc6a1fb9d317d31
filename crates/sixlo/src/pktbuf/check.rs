//! The invariants of the packet buffer, for tests and debug builds.

use super::arena::is_lent;
use super::slot::Owner;
use super::{Pkt, PktBuf, Seg, Slot};

impl PktBuf<'_> {
    /// Notes that a packet went from one owner to another, and panics if it was not the first one's.
    pub(super) fn note_owner(&mut self, p: &Pkt, from: Owner, to: Owner) {
        let slot = &mut self.slots[p.link()];
        assert_eq!(slot.owner, from, "owner of {p:?}");
        slot.owner = to;
        self.in_hand += u16::from(to == Owner::Hand);
        self.in_hand -= u16::from(from == Owner::Hand);
    }

    /// Panics unless free lists, reference counts, segments and counters agree. Takes time in the square of the
    /// number of packets. Not there in release builds.
    pub fn check(&self) {
        let (mut live, mut in_hand, mut entries) = (0, 0, 0);
        for slot in self.live_slots() {
            live += 1;
            in_hand += usize::from(slot.owner == Owner::Hand);
            entries += self.chain(slot).count() - 1;
            let total: usize = self.chain(slot).map(|seg| usize::from(seg.len)).sum();
            assert_eq!(total, usize::from(slot.total), "bytes of a packet");
            assert!(slot.cursor <= slot.total, "a cursor past the end");
            for seg in self.chain(slot) {
                let end = usize::from(seg.start) + usize::from(seg.len);
                if !is_lent(seg.chunk) {
                    assert!(end <= self.arena.room(seg.chunk), "a segment past its chunk");
                }
            }
        }
        assert_eq!(live, self.live(), "slots in use");
        assert_eq!(in_hand, self.in_hand(), "packets in hand");

        let slots = usize::from(self.slots.len());
        let links = |slot: &Slot| (slot.owner == Owner::Nobody).then_some(slot.link);
        let free = count(self.free_slot, slots, |link| links(&self.slots[link]));
        assert_eq!(free + live, slots, "every slot is free or in use");

        let segs = usize::from(self.segs.len());
        let free = count(self.free_seg, segs, |at| Some(self.segs[at].next));
        assert_eq!(free + entries, segs, "every segment is free or in use");

        let references = |chunk| {
            let all = self.live_slots().flat_map(|slot| self.chain(slot));
            all.filter(|seg| seg.chunk == chunk).count()
        };
        self.arena.check(references);
        for (loan, count) in self.arena.loans() {
            assert_eq!(count, references(loan), "references to loan {loan}");
        }
    }

    fn live_slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.owner != Owner::Nobody)
    }

    /// The segments of a packet, no more than the table has.
    fn chain<'s>(&'s self, slot: &'s Slot) -> impl Iterator<Item = &'s Seg> {
        let next = |seg: &&'s Seg| (seg.next != 0).then(|| &self.segs[seg.next]);
        core::iter::successors(Some(&slot.first), next).take(usize::from(self.segs.len()) + 1)
    }
}

/// Entries of a free list, which are no more than the table has.
fn count(first: u16, entries: usize, next: impl Fn(u16) -> Option<u16>) -> usize {
    let mut found = 0;
    let mut at = first;
    while at != 0 {
        found += 1;
        assert!(found <= entries, "a free list in a circle");
        at = next(at).expect("a used entry in a free list");
    }
    found
}
