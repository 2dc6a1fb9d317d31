//! Packets that grow piece by piece, and loose packets of one owner.

use super::slot::Owner;
use super::{Done, Pile, Pkt, PktBuf};

impl PktBuf<'_> {
    /// Makes `p` the packet that [`append_open`](Self::append_open) grows, by at most `more` bytes, as far as there are
    /// free ones behind it. That ends when anyone else asks for bytes or gives some back.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn open(&mut self, p: &Pkt, more: u16) {
        let (at, _) = self.find(p, usize::MAX);
        let last = *self.seg(p, at);
        self.arena.open(last.chunk, last.start + last.len, more);
    }

    /// Adds `len` bytes to the packet that was opened last, and gives them to be written. `None`, and nothing done, if it
    /// was closed or there is no such room.
    ///
    /// Its length follows with [`set_len`](Self::set_len) only.
    #[inline(always)]
    pub fn append_open(&mut self, len: usize) -> Option<&mut [u8]> {
        self.arena.append_open(len)
    }

    /// Makes the packet as long as it became by [`append_open`](Self::append_open): `total` bytes, marked ones counted.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn set_len(&mut self, p: &Pkt, total: u16) {
        let more = total.saturating_sub(self.slots[p.link()].total);
        if more > 0 {
            let (at, _) = self.find(p, usize::MAX);
            self.seg_mut(p, at).len += more;
            self.slots[p.link()].total = total;
        }
    }

    /// Puts a packet onto a pile.
    pub fn pile(&mut self, pile: &mut Pile, p: Pkt) -> Done {
        self.hand_over(&p, Owner::Hand, Owner::Queue);
        self.slots[p.link()].link = pile.0;
        pile.0 = p.link();
        Done(())
    }

    /// Takes a packet from a pile whose message has this context, or any if that does not matter.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn unpile(&mut self, pile: &mut Pile, context: Option<u16>) -> Option<Pkt> {
        let mut before = 0;
        let mut link = pile.0;
        loop {
            let p = Pkt::from_link(link)?;
            let slot = &self.slots[link];
            let next = slot.link;
            if context.is_none_or(|context| context == slot.msg.context) {
                match before {
                    0 => pile.0 = next,
                    before => self.slots[before].link = next,
                }
                self.hand_over(&p, Owner::Queue, Owner::Hand);
                return Some(p);
            }
            (before, link) = (link, next);
        }
    }

    /// For each packet of a pile, the context of its message and its bytes behind the cursor.
    pub fn piled(&self, pile: &Pile) -> impl Iterator<Item = (u16, u16)> {
        let mut link = pile.0;
        core::iter::from_fn(move || {
            let slot = (link != 0).then(|| &self.slots[link])?;
            link = slot.link;
            Some((slot.msg.context, slot.total - slot.cursor))
        })
    }

    /// Shows each packet of a pile.
    pub fn walk_pile(&self, pile: &Pile, see: &mut dyn FnMut(&Pkt)) {
        self.walk_links(pile.0, see);
    }
}
