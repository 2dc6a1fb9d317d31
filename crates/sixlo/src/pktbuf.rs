//! The central packet buffer.
//!
//! A packet is a slot over segments of chunks. Chunks are reference-counted pieces of one arena; a segment is a part of a
//! chunk; the slot holds the first segment, the metadata, the queue link and the cursor. What lies before the cursor is
//! marked: a header that was read stays readable for those who come later ([`read_back`](PktBuf::read_back)), and no
//! byte is moved. Several receivers get a slot each over the same chunks; who writes into a shared chunk gets a copy of
//! that segment first.
//!
//! All memory is the caller's. A packet holds at most 65,535 bytes. Whatever finds no room leaves its packet as it was.

mod arena;
#[cfg(any(test, debug_assertions))]
mod check;
mod meta;
mod read;
mod slot;
mod table;
mod tail;
#[cfg(test)]
mod tests;
mod write;

pub use arena::Loan;
pub use meta::{Class, Meta, NoRoom};
pub use slot::{Done, Kept, Pile, Pkt, Queue, Seg, Slot};

use crate::netapi::Msg;
use crate::trace::PktId;
use arena::Arena;
use slot::Owner;
use table::Table;

/// The packet buffer of a stack: arena, segment table, slot table.
///
/// Debug builds know the owner of each packet and count those in hand: asking for one, sharing, popping and resuming add
/// one; releasing, appending, pushing and keeping take one away. Between two steps of the stack the count is 0, or a
/// packet was lost in the last step.
pub struct PktBuf<'a> {
    arena: Arena<'a>,
    segs: Table<'a, Seg>,
    slots: Table<'a, Slot>,
    free_seg: u16,
    free_slot: u16,
    live: u16,
    #[cfg(any(test, debug_assertions))]
    in_hand: u16,
}

impl<'a> PktBuf<'a> {
    /// A buffer without packets over the caller's memory, whatever lay in it.
    ///
    /// `reserve`: for each [`Class`], in its order, the bytes that the other class cannot take, chunk headers (4 bytes
    /// each) included. At most 131,068 bytes, 16,383 segments and 16,383 slots are used.
    ///
    /// # Errors
    ///
    /// [`NoRoom::Bytes`] if the reserves are larger than the arena.
    pub fn new(
        bytes: &'a mut [u8],
        segs: &'a mut [Seg],
        slots: &'a mut [Slot],
        reserve: [usize; 2],
    ) -> Result<Self, NoRoom> {
        let arena = Arena::new(bytes, reserve).ok_or(NoRoom::Bytes)?;
        let mut buf = Self {
            arena,
            segs: Table::new(segs, Seg::EMPTY),
            slots: Table::new(slots, Slot::EMPTY),
            free_seg: 0,
            free_slot: 0,
            live: 0,
            #[cfg(any(test, debug_assertions))]
            in_hand: 0,
        };
        // From behind, so that the first entries are taken first.
        let mut at = buf.segs.len();
        while at > 0 {
            buf.put_seg(at);
            at -= 1;
        }
        let mut link = buf.slots.len();
        while link > 0 {
            let slot = &mut buf.slots[link];
            slot.link = buf.free_slot;
            #[cfg(any(test, debug_assertions))]
            {
                slot.owner = Owner::Nobody;
            }
            buf.free_slot = link;
            link -= 1;
        }
        Ok(buf)
    }

    /// The same with room for bytes that are lent for ever ([`lend`](Self::lend)): one place for each loan that is in use.
    #[must_use]
    pub fn with_loans(mut self, loans: &'a mut [Loan]) -> Self {
        self.arena.set_loans(loans);
        self
    }

    /// Gives the table of loans back.
    pub fn take_loans(&mut self) -> &'a mut [Loan] {
        self.arena.take_loans()
    }

    /// The memory back, bytes in whole units of 4. What the packets held is lost.
    pub fn into_parts(self) -> (&'a mut [u8], &'a mut [Seg], &'a mut [Slot]) {
        (
            self.arena.into_bytes(),
            self.segs.into_entries(),
            self.slots.into_entries(),
        )
    }

    /// A packet of `len` bytes, in one chunk, with room for `headroom` bytes in front. Nothing is marked. The bytes are
    /// whatever lay there (in debug builds 0xa5).
    ///
    /// # Errors
    ///
    /// Whatever there is none left of.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn alloc(&mut self, class: Class, headroom: usize, len: usize) -> Result<Pkt, NoRoom> {
        let bytes = headroom.saturating_add(len);
        if bytes > usize::from(u16::MAX) {
            return Err(NoRoom::Bytes);
        }
        if self.free_slot == 0 {
            return Err(NoRoom::Slots);
        }
        let chunk = self.arena.alloc(class, bytes).ok_or(NoRoom::Bytes)?;
        self.take_slot(Seg {
            chunk,
            start: headroom as u16,
            len: len as u16,
            next: 0,
        })
    }

    /// Ends a packet: gives back its slot, its segments, and the chunks that nobody else refers to.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(crate) fn release(&mut self, p: Pkt) -> Done {
        self.hand_over(&p, Owner::Hand, Owner::Nobody);
        let first = self.slots[p.link()].first;
        self.arena.release(first.chunk);
        if first.next != 0 {
            self.release_chain(first.next);
        }
        self.put_slot(p)
    }

    /// Another packet over the same chunks, with the same cursor, metadata, message and identity.
    ///
    /// # Errors
    ///
    /// [`NoRoom::Slots`], or [`NoRoom::Segments`] for a packet of several.
    pub fn share(&mut self, p: &Pkt) -> Result<Pkt, NoRoom> {
        if self.free_slot == 0 {
            return Err(NoRoom::Slots);
        }
        let mut first = self.slots[p.link()].first;
        first.next = self.share_chain(first.next)?;
        self.arena.share(first.chunk);
        let twin = self.take_slot(first)?;
        self.slots[twin.link()] = Slot {
            first,
            // The twin is in hand, whoever has the packet.
            #[cfg(any(test, debug_assertions))]
            owner: Owner::Hand,
            ..self.slots[p.link()]
        };
        Ok(twin)
    }

    /// Puts a packet into a table of a module.
    pub fn keep(&mut self, p: Pkt) -> Kept {
        self.hand_over(&p, Owner::Hand, Owner::Table);
        Kept(p)
    }

    /// Takes a packet from a table of a module.
    pub fn resume(&mut self, k: Kept) -> Pkt {
        self.hand_over(&k.0, Owner::Table, Owner::Hand);
        k.0
    }

    /// Puts a packet at the end of a queue.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn push(&mut self, q: &mut Queue, p: Pkt) -> Done {
        self.hand_over(&p, Owner::Hand, Owner::Queue);
        let link = p.link();
        self.slots[link].link = 0;
        if q.head.is_none() {
            q.head = Some(p);
        } else {
            self.slots[q.tail].link = link;
        }
        q.tail = link;
        q.len += 1;
        Done(())
    }

    /// Takes the packet at the front of a queue.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn pop(&mut self, q: &mut Queue) -> Option<Pkt> {
        let p = q.head.take()?;
        self.hand_over(&p, Owner::Queue, Owner::Hand);
        q.head = Pkt::from_link(self.slots[p.link()].link);
        q.len -= 1;
        Some(p)
    }

    /// Shows each packet of a queue, from the front.
    pub fn walk(&self, q: &Queue, see: &mut dyn FnMut(&Pkt)) {
        self.walk_links(q.head.as_ref().map_or(0, Pkt::link), see);
    }

    fn walk_links(&self, mut link: u16, see: &mut dyn FnMut(&Pkt)) {
        while let Some(p) = Pkt::from_link(link) {
            link = self.slots[p.link()].link;
            see(&p);
        }
    }

    /// The metadata.
    pub fn meta(&self, p: &Pkt) -> &Meta {
        &self.slots[p.link()].meta
    }

    /// The metadata, to be changed. Packets that share bytes have their own.
    pub fn meta_mut(&mut self, p: &Pkt) -> &mut Meta {
        &mut self.slots[p.link()].meta
    }

    /// The message as which the packet was last sent between modules.
    pub fn msg(&self, p: &Pkt) -> Msg {
        self.slots[p.link()].msg
    }

    /// Notes the message as which the packet is sent.
    pub fn set_msg(&mut self, p: &Pkt, msg: Msg) {
        self.slots[p.link()].msg = msg;
    }

    /// The identity of the datagram.
    pub fn id(&self, p: &Pkt) -> PktId {
        self.slots[p.link()].id
    }

    /// Gives the packet an identity.
    pub fn set_id(&mut self, p: &Pkt, id: PktId) {
        self.slots[p.link()].id = id;
    }

    /// Packets that the running step owns: 0 between two steps. Counted in debug builds alone, otherwise 0.
    pub fn in_hand(&self) -> usize {
        #[cfg(any(test, debug_assertions))]
        return usize::from(self.in_hand);
        #[cfg(not(any(test, debug_assertions)))]
        return 0;
    }

    /// Packets there are: slots in use.
    pub fn live(&self) -> usize {
        usize::from(self.live)
    }

    /// Packets there can be at once: slots.
    pub fn live_max(&self) -> usize {
        usize::from(self.slots.len())
    }

    /// Bytes of the arena in use, chunk headers included.
    pub fn used(&self) -> usize {
        self.arena.used()
    }

    /// The most bytes of the arena that were ever in use, chunk headers included.
    pub fn high_water(&self) -> usize {
        self.arena.high_water()
    }

    /// Bytes of the arena.
    pub fn capacity(&self) -> usize {
        self.arena.capacity()
    }

    /// Whether `more` bytes can be taken so that as many segments as a packet has, and `segs` more, and `bytes` of the arena
    /// stay free: then it can still be sent, and what comes in be received.
    pub fn leaves_room(&self, p: &Pkt, more: usize, segs: u8, bytes: usize) -> bool {
        let (mut at, mut free, mut spare) = (self.slots[p.link()].first.next, self.free_seg, segs);
        while at != 0 || spare > 0 {
            if free == 0 {
                return false;
            }
            free = self.segs[free].next;
            if at != 0 {
                at = self.segs[at].next;
            } else {
                spare -= 1;
            }
        }
        self.used() + more + bytes <= self.capacity()
    }

    /// The entry of a segment: 0 is the one in the slot, others are counted from 1.
    #[cfg_attr(target_os = "none", inline(never))]
    fn seg(&self, p: &Pkt, at: u16) -> &Seg {
        match at {
            0 => &self.slots[p.link()].first,
            at => &self.segs[at],
        }
    }

    /// The entry of a segment, to be changed.
    #[cfg_attr(target_os = "none", inline(never))]
    fn seg_mut(&mut self, p: &Pkt, at: u16) -> &mut Seg {
        match at {
            0 => &mut self.slots[p.link()].first,
            at => &mut self.segs[at],
        }
    }

    /// The segment that holds byte `pos` of the packet, marked ones counted, and how many bytes lie before that segment.
    /// Past the end it is the last one.
    #[cfg_attr(target_os = "none", inline(never))]
    fn find(&self, p: &Pkt, pos: usize) -> (u16, usize) {
        let (mut at, mut before) = (0, 0);
        loop {
            let seg = self.seg(p, at);
            let end = before + usize::from(seg.len);
            if pos < end || seg.next == 0 {
                return (at, before);
            }
            (at, before) = (seg.next, end);
        }
    }

    /// A packet of this one segment, and of those behind it.
    #[cfg_attr(target_os = "none", inline(never))]
    fn take_slot(&mut self, first: Seg) -> Result<Pkt, NoRoom> {
        let p = Pkt::from_link(self.free_slot).ok_or(NoRoom::Slots)?;
        let slot = &mut self.slots[p.link()];
        self.free_slot = slot.link;
        *slot = Slot {
            first,
            total: first.len,
            ..Slot::EMPTY
        };
        self.live += 1;
        self.hand_over(&p, Owner::Nobody, Owner::Hand);
        Ok(p)
    }

    /// Gives back a slot that nobody owns any more; nothing is done about its segments.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn put_slot(&mut self, p: Pkt) -> Done {
        self.slots[p.link()].link = self.free_slot;
        self.free_slot = p.link();
        self.live -= 1;
        Done(())
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn take_seg(&mut self, filled: Seg) -> Option<u16> {
        let at = self.free_seg;
        if at == 0 {
            return None;
        }
        self.free_seg = core::mem::replace(&mut self.segs[at], filled).next;
        Some(at)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn put_seg(&mut self, at: u16) {
        self.segs[at].next = self.free_seg;
        self.free_seg = at;
    }

    /// Gives back a segment and all behind it.
    #[cfg_attr(target_os = "none", inline(never))]
    fn release_chain(&mut self, mut at: u16) {
        while at != 0 {
            let seg = self.segs[at];
            self.arena.release(seg.chunk);
            self.put_seg(at);
            at = seg.next;
        }
    }

    /// Doubles a segment and all behind it over the same chunks; gives the first one's twin.
    fn share_chain(&mut self, mut from: u16) -> Result<u16, NoRoom> {
        let (mut first, mut tail) = (0, 0);
        while from != 0 {
            let seg = self.segs[from];
            let Some(twin) = self.take_seg(Seg { next: 0, ..seg }) else {
                self.release_chain(first);
                return Err(NoRoom::Segments);
            };
            self.arena.share(seg.chunk);
            match tail {
                0 => first = twin,
                tail => self.segs[tail].next = twin,
            }
            (tail, from) = (twin, seg.next);
        }
        Ok(first)
    }

    /// A handle whose packet is another's, or nobody's, is an error of the stack itself: debug builds find it where it is
    /// used.
    #[inline]
    fn hand_over(&mut self, p: &Pkt, from: Owner, to: Owner) {
        #[cfg(any(test, debug_assertions))]
        self.note_owner(p, from, to);
        #[cfg(not(any(test, debug_assertions)))]
        let _ = (p, from, to);
    }
}
