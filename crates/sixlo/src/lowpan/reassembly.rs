//! Reassembly of RFC 4944 fragments.
//!
//! A datagram is known by interface, link source, link destination and tag (RFC 4944 section 5.3; RFC 8930 section 2.3 shows why the
//! size need not be part of it: another size under a live key is a conflict). What came in order is one packet that
//! grows at its tail, in place where the buffer has room behind it; what came out of order waits in packets of its own
//! until the gap closes. So a reassembly occupies what has arrived, not what was announced, and the bytes of a hole
//! exist nowhere. The in-order fragment finds its entry by a hint (Chandranmenon and Varghese 1996).

use crate::ground::Cx;
use crate::netapi::{Dir, Msg, Ty};
use crate::netdev::IfaceId;
use crate::pktbuf::{Class, Kept, Meta, NoRoom, Pkt, PktBuf, Queue};
use crate::time::{Duration, Instant};
use crate::trace::{End, Event, FragmentFate, Module, PktId, Reason, Sink};
use crate::wire::addr::LinkAddr;
use crate::wire::lowpan::frag::{self, DATAGRAM_SIZE_MAX};

/// Fragments begin at multiples of this many bytes (RFC 4944 section 5.3).
const UNIT_LEN: u16 = 8;

/// One bit for each place in a datagram at which a fragment can begin.
const START_WORDS: usize = (DATAGRAM_SIZE_MAX / UNIT_LEN / 32) as usize;
const _: () = assert!(START_WORDS * 32 * UNIT_LEN as usize == DATAGRAM_SIZE_MAX as usize);

/// What happens when a datagram begins and the reassembly table is full, or when memory is short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eviction {
    /// The reassembly that has waited longest for its next fragment gives way, unless it is making progress: two
    /// fragments at least, the last of them within [`ReassemblyConfig::progress_window`]. A flood of first fragments
    /// thus evicts its own kind, and a datagram that is being received stays. Memory is made the same way, for
    /// fragments and for datagrams that come in one frame.
    #[default]
    Stalest,
    /// None gives way: the newcomer is dropped, until the time of one is over.
    Never,
}

/// How reassembly behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyConfig {
    /// How long after its first fragment a datagram may take. At most 60 s, the default (RFC 4944 section 5.3).
    pub timeout: Duration,
    /// How long a datagram that was completed or given up is remembered, so that late fragments open no new
    /// reassembly. Its place in the table is given away earlier if needed. Default 500 ms, more than the MAC's retries
    /// of one frame take.
    pub remember: Duration,
    /// What happens when the table is full.
    pub eviction: Eviction,
    /// See [`Eviction::Stalest`]. Default 500 ms.
    pub progress_window: Duration,
    /// How many reassemblies one link source may have at once; 0 for any number. Default 0.
    pub per_sender_max: u8,
}

/// The bound of RFC 4944 section 5.3 on the time that a reassembly takes.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(60);

impl Default for ReassemblyConfig {
    fn default() -> Self {
        Self {
            timeout: TIMEOUT_MAX,
            remember: Duration::from_millis(500),
            eviction: Eviction::Stalest,
            progress_window: Duration::from_millis(500),
            per_sender_max: 0,
        }
    }
}

/// One reassembly. The empty value is all-zero bits.
#[derive(Default)]
pub struct Reassembly {
    iface: IfaceId,
    src: LinkAddr,
    dst: LinkAddr,
    tag: u16,
    /// The size of the datagram in bytes; 0 if this place is free.
    size: u16,
    /// Bytes received from the beginning on without a gap.
    contiguous: u16,
    /// Fragments received.
    fragments: u16,
    /// Completed or given up: only remembered.
    over: bool,
    /// When the first and the last fragment came in.
    last: Instant,
    /// When it is given up or, if it is over, forgotten.
    deadline: Instant,
    /// The contiguous beginning.
    head: Option<Kept>,
    /// Fragments behind a gap; the context of each packet's message is its offset in bytes.
    waiting: Queue,
    /// Where the fragments of the contiguous beginning start.
    starts: [u32; START_WORDS],
}

impl Reassembly {
    /// A free place.
    pub const EMPTY: Self = Self {
        iface: IfaceId(0),
        src: LinkAddr::None,
        dst: LinkAddr::None,
        tag: 0,
        size: 0,
        contiguous: 0,
        fragments: 0,
        over: false,
        last: Instant::ZERO,
        deadline: Instant::ZERO,
        head: None,
        waiting: Queue::EMPTY,
        starts: [0; START_WORDS],
    };

    const fn is_free(&self) -> bool {
        self.size == 0
    }

    /// Whether it is under way.
    const fn is_active(&self) -> bool {
        !self.is_free() && !self.over
    }

    /// Whether it is under way and its time is over.
    fn is_due(&self, now: Instant) -> bool {
        self.is_active() && self.deadline <= now
    }

    /// Whether a fragment of the contiguous beginning starts at `offset`.
    #[inline]
    fn starts_at(&self, offset: u16) -> bool {
        let unit = usize::from(offset / UNIT_LEN);
        self.starts
            .get(unit / 32)
            .is_some_and(|word| word & (1 << (unit % 32)) != 0)
    }

    #[inline]
    fn note_start(&mut self, offset: u16) {
        let unit = usize::from(offset / UNIT_LEN);
        if let Some(word) = self.starts.get_mut(unit / 32) {
            *word |= 1 << (unit % 32);
        }
    }

    /// Whether bytes `offset..end`, all within the contiguous beginning, are exactly one fragment that came in before.
    fn is_one_fragment(&self, offset: u16, end: u16) -> bool {
        let mut inside = (offset / UNIT_LEN + 1)..end.div_ceil(UNIT_LEN);
        self.starts_at(offset)
            && !inside.any(|unit| self.starts_at(unit * UNIT_LEN))
            && (end == self.contiguous || self.starts_at(end))
    }
}

/// A fragment as it came in, with its compressed header expanded.
pub(super) struct Fragment<'f> {
    /// Link addresses and what else the interface knows of the frame.
    pub(super) meta: &'f Meta,
    /// The fragment header.
    pub(super) header: frag::Fragment,
    /// The expanded headers of the datagram (first fragment), or nothing.
    pub(super) expanded: &'f [u8],
    /// The bytes behind them.
    pub(super) data: &'f [u8],
    /// The identity of the datagram.
    pub(super) id: PktId,
}

impl Fragment<'_> {
    fn len(&self) -> usize {
        self.expanded.len() + self.data.len()
    }

    /// Where it begins in the datagram, in bytes.
    fn offset(&self) -> u16 {
        u16::from(self.header.datagram_offset) * UNIT_LEN
    }
}

/// Where a fragment belongs in its reassembly.
enum Place {
    /// At the tail of the contiguous beginning.
    Tail,
    /// Behind a gap.
    Gap,
    /// It came in before.
    Duplicate,
    /// It overlaps another one with different bounds.
    Conflict,
}

/// The reassembly table.
pub(super) struct Reassembler<'a> {
    table: &'a mut [Reassembly],
    config: ReassemblyConfig,
    /// The entry that took the last fragment.
    hint: usize,
    /// [`deadline`](Self::deadline) may be another than when it was last asked for.
    changed: bool,
}

impl<'a> Reassembler<'a> {
    /// Takes the table over and empties it.
    pub(super) fn new(table: &'a mut [Reassembly], config: ReassemblyConfig) -> Self {
        for entry in table.iter_mut() {
            *entry = Reassembly::EMPTY;
        }
        Self {
            table,
            config,
            hint: 0,
            changed: false,
        }
    }

    /// Gives the table back; every packet must have been given up before.
    pub(super) fn into_table(self) -> &'a mut [Reassembly] {
        self.table
    }

    /// How it behaves now.
    pub(super) const fn config(&self) -> ReassemblyConfig {
        self.config
    }

    /// Changes the behaviour for what begins from now on.
    pub(super) fn set_config(&mut self, config: ReassemblyConfig) {
        self.config = config;
    }

    /// Reassemblies that are under way.
    pub(super) fn active(&self) -> usize {
        self.table.iter().filter(|entry| entry.is_active()).count()
    }

    /// Whether [`deadline`](Self::deadline) may have changed since this was last asked.
    pub(super) fn changed(&mut self) -> bool {
        core::mem::take(&mut self.changed)
    }

    /// When [`expire`](Self::expire) wants to be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let active = self.table.iter().filter(|entry| entry.is_active());
        active.map(|entry| entry.deadline).min()
    }

    /// Takes a fragment. Gives the datagram if it is complete now.
    pub(super) fn insert<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, fragment: &Fragment<'_>) -> Option<Pkt> {
        // RFC 4944 section 5.3: within the datagram, not empty, and a multiple of eight bytes unless it is the last.
        if fragment.header.check(fragment.len()).is_err() {
            let too_large = fragment.header.datagram_size > DATAGRAM_SIZE_MAX;
            let reason = if too_large {
                Reason::DatagramTooLarge
            } else {
                Reason::FragmentInvalid
            };
            tell(cx, fragment, FragmentFate::Dropped(reason));
            return None;
        }
        // It fits the datagram, and so the type.
        let end = fragment.offset() + fragment.len() as u16;
        let found = self.find(fragment, cx.now);
        if let Some(index) = found
            && self.table[index].is_due(cx.now)
        {
            // RFC 4944 section 5.3: its time is over, even if the timer has not been asked yet.
            self.give_up(cx, index, Reason::ReassemblyTimeout);
        }
        let index = match found {
            Some(index) if self.table[index].over => {
                tell(cx, fragment, FragmentFate::Dropped(Reason::FragmentLate));
                return None;
            }
            // RFC 4944 section 5.3: an overlap with different bounds, or another size, discards what is there, and
            // the newest fragment starts anew.
            Some(index) => match self.place(&cx.core.buf, index, fragment, end) {
                Place::Duplicate => {
                    tell(cx, fragment, FragmentFate::Dropped(Reason::FragmentDuplicate));
                    return None;
                }
                Place::Conflict => {
                    self.give_up(cx, index, Reason::ReassemblyConflict);
                    self.open(index, cx.now, fragment);
                    index
                }
                Place::Tail | Place::Gap => index,
            },
            None => {
                let index = self.make_place(cx, fragment)?;
                self.open(index, cx.now, fragment);
                index
            }
        };
        self.hint = index;
        self.take(cx, index, fragment, end)
    }

    /// The entry of the datagram that a fragment belongs to.
    #[inline]
    pub(super) fn find(&self, fragment: &Fragment<'_>, now: Instant) -> Option<usize> {
        let same = |entry: &Reassembly| {
            entry.tag == fragment.header.datagram_tag
                && !entry.is_free()
                && entry.src == fragment.meta.link_src
                && entry.iface == fragment.meta.iface
                && entry.dst == fragment.meta.link_dst
                && !(entry.over && entry.deadline <= now)
        };
        if self.table.get(self.hint).is_some_and(same) {
            return Some(self.hint);
        }
        self.table.iter().position(same)
    }

    #[inline]
    fn place(&self, buf: &PktBuf<'_>, index: usize, fragment: &Fragment<'_>, end: u16) -> Place {
        let entry = &self.table[index];
        if entry.size != fragment.header.datagram_size {
            return Place::Conflict;
        }
        if fragment.offset() < entry.contiguous {
            let known = end <= entry.contiguous && entry.is_one_fragment(fragment.offset(), end);
            return if known { Place::Duplicate } else { Place::Conflict };
        }
        let mut verdict = if fragment.offset() == entry.contiguous {
            Place::Tail
        } else {
            Place::Gap
        };
        if !entry.waiting.is_empty() {
            buf.walk(&entry.waiting, &mut |packet| {
                let from = buf.msg(packet).context;
                let to = from + buf.len(packet) as u16;
                if from == fragment.offset() && to == end {
                    verdict = Place::Duplicate;
                } else if from < end && fragment.offset() < to {
                    verdict = Place::Conflict;
                }
            });
        }
        verdict
    }

    fn open(&mut self, index: usize, now: Instant, fragment: &Fragment<'_>) {
        self.changed = true;
        self.table[index] = Reassembly {
            iface: fragment.meta.iface,
            src: fragment.meta.link_src,
            dst: fragment.meta.link_dst,
            tag: fragment.header.datagram_tag,
            size: fragment.header.datagram_size,
            deadline: now + self.config.timeout,
            ..Reassembly::EMPTY
        };
    }

    /// A free place in the table, by eviction if the policy allows.
    fn make_place<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, fragment: &Fragment<'_>) -> Option<usize> {
        let (src, bound) = (fragment.meta.link_src, usize::from(self.config.per_sender_max));
        let of_sender = |entry: &&Reassembly| entry.is_active() && entry.src == src;
        if bound != 0 && self.table.iter().filter(of_sender).count() >= bound {
            tell(cx, fragment, FragmentFate::Dropped(Reason::ReassemblyFull));
            return None;
        }
        if let Some(free) = self.table.iter().position(Reassembly::is_free) {
            return Some(free);
        }
        if let Some(over) = self.oldest(|entry| entry.over) {
            return Some(over);
        }
        let victim = self.victim(cx.now, None);
        match victim {
            Some(victim) => self.give_up(cx, victim, Reason::ReassemblyEvicted),
            None => tell(cx, fragment, FragmentFate::Dropped(Reason::ReassemblyFull)),
        }
        victim
    }

    /// The reassembly that gives way: the one whose last fragment lies furthest back, unless it makes progress.
    fn victim(&self, now: Instant, spare: Option<usize>) -> Option<usize> {
        if self.config.eviction == Eviction::Never {
            return None;
        }
        let spared = spare.map(|index| core::ptr::from_ref(&self.table[index]));
        self.oldest(|entry| {
            let progressing = entry.fragments > 1 && now.since(entry.last) <= self.config.progress_window;
            entry.is_active() && !progressing && Some(core::ptr::from_ref(entry)) != spared
        })
    }

    /// Where memory is short: the stalest reassembly but `spare` gives way, as for a place in the table. False if none
    /// may. Each call that says true frees an entry, so a table's length bounds the rounds of whoever calls again.
    #[cold]
    pub(super) fn make_room<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, spare: Option<usize>) -> bool {
        let victim = self.victim(cx.now, spare);
        if let Some(victim) = victim {
            self.give_up(cx, victim, Reason::ReassemblyEvicted);
            self.table[victim] = Reassembly::EMPTY;
        }
        victim.is_some()
    }

    fn oldest(&self, which: impl Fn(&Reassembly) -> bool) -> Option<usize> {
        let candidates = self.table.iter().enumerate().filter(|(_, entry)| which(entry));
        candidates
            .min_by_key(|(_, entry)| entry.last)
            .map(|(index, _)| index)
    }

    /// Stores a fragment at its place and completes the datagram if it was the last one missing.
    fn take<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        index: usize,
        fragment: &Fragment<'_>,
        end: u16,
    ) -> Option<Pkt> {
        let in_order = fragment.offset() == self.table[index].contiguous;
        let mut stored = self.store(cx, index, fragment, in_order);
        while stored.is_err() && self.make_room(cx, Some(index)) {
            stored = self.store(cx, index, fragment, in_order);
        }
        if let Err(reason) = stored {
            // Without this fragment the datagram can never be complete: its memory serves others better.
            tell(cx, fragment, FragmentFate::Dropped(reason));
            self.give_up(cx, index, reason);
            return None;
        }
        let now = cx.now;
        let entry = &mut self.table[index];
        entry.last = now;
        entry.fragments += 1;
        let first = entry.fragments == 1;
        if in_order {
            entry.note_start(fragment.offset());
            entry.contiguous = end;
            if !entry.waiting.is_empty() && !close_gaps(cx, entry) {
                tell(cx, fragment, FragmentFate::Dropped(Reason::NoBuffer));
                self.give_up(cx, index, Reason::NoBuffer);
                return None;
            }
        }
        let entry = &mut self.table[index];
        let complete = entry.contiguous == entry.size;
        let fate = match (complete, first, in_order) {
            (true, _, _) => FragmentFate::Completed,
            (_, true, _) => FragmentFate::Started,
            (_, _, true) => FragmentFate::InOrder,
            (_, _, false) => FragmentFate::OutOfOrder,
        };
        tell(cx, fragment, fate);
        if !complete {
            return None;
        }
        entry.over = true;
        entry.deadline = now + self.config.remember;
        self.changed = true;
        let kept = entry.head.take()?;
        Some(cx.core.buf.resume(kept))
    }

    /// Copies a fragment into the buffer: at the tail of the datagram, or into a packet of its own.
    fn store<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        index: usize,
        fragment: &Fragment<'_>,
        in_order: bool,
    ) -> Result<(), Reason> {
        let entry = &mut self.table[index];
        let (expanded, data) = (fragment.expanded, fragment.data);
        if in_order && let Some(head) = &entry.head {
            let room = cx.core.buf.grow(head.pkt(), data.len())?;
            room.copy_from_slice(data);
            return Ok(());
        }
        // A packet of its own for each fragment behind a gap: were there no bound, a sender of the smallest fragments
        // could take all packets of this node for the minute that a reassembly may last.
        if !in_order && cx.core.buf.live() >= cx.core.buf.live_max() / 2 {
            return Err(Reason::NoSlot);
        }
        let class = Class::Receive;
        let packet = cx.new_packet(Module::Lowpan, class, 0, fragment.len(), fragment.id, PktId::NONE)?;
        let buf = &mut cx.core.buf;
        *buf.meta_mut(&packet) = *fragment.meta;
        let written = buf
            .write_bytes(&packet, 0, expanded)
            .and_then(|()| buf.write_bytes(&packet, expanded.len(), data))
            .map_err(NoRoom::reason);
        if let Err(reason) = written {
            let _ended = cx.drop(packet, Module::Lowpan, reason);
            return Err(reason);
        }
        if in_order {
            entry.head = Some(buf.keep(packet));
        } else {
            buf.set_msg(
                &packet,
                Msg {
                    dir: Dir::Up,
                    ty: Ty::Link,
                    context: fragment.offset(),
                },
            );
            let _queued = buf.push(&mut entry.waiting, packet);
        }
        Ok(())
    }

    /// Gives up the reassemblies whose time is over.
    pub(super) fn expire<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) {
        for index in 0..self.table.len() {
            if self.table[index].is_due(cx.now) {
                self.give_up(cx, index, Reason::ReassemblyTimeout);
            }
        }
    }

    /// Ends the packets of a reassembly; what remains only remembers that it was given up.
    fn give_up<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, index: usize, reason: Reason) {
        let remember = self.config.remember;
        let entry = &mut self.table[index];
        if let Some(head) = entry.head.take() {
            let packet = cx.core.buf.resume(head);
            let _ended = cx.drop(packet, Module::Lowpan, reason);
        }
        while let Some(packet) = cx.core.buf.pop(&mut entry.waiting) {
            let _ended = cx.drop(packet, Module::Lowpan, reason);
        }
        entry.over = true;
        entry.deadline = cx.now + remember;
        self.changed = true;
    }

    /// Ends every packet that is kept here.
    pub(super) fn give_up_all<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        for index in 0..self.table.len() {
            if !self.table[index].is_free() {
                self.give_up(cx, index, reason);
            }
        }
    }

    /// Shows every packet that is kept here to an audit.
    pub(super) fn holds(&self, buf: &PktBuf<'_>, see: &mut dyn FnMut(&Pkt)) {
        for entry in self.table.iter() {
            if let Some(head) = &entry.head {
                see(head.pkt());
            }
            buf.walk(&entry.waiting, see);
        }
    }
}

/// Moves what waits behind a gap that has closed to the tail. False if the buffer has no descriptor left for it.
fn close_gaps<S: Sink>(cx: &mut Cx<'_, '_, S>, entry: &mut Reassembly) -> bool {
    // Each round takes one packet off the queue; a full turn without a match ends it.
    let mut passed = 0;
    while passed < entry.waiting.len() {
        let Some(packet) = cx.core.buf.pop(&mut entry.waiting) else {
            break;
        };
        let (offset, len) = (cx.core.buf.msg(&packet).context, cx.core.buf.len(&packet) as u16);
        if offset != entry.contiguous {
            let _queued = cx.core.buf.push(&mut entry.waiting, packet);
            passed += 1;
            continue;
        }
        let Some(head) = &entry.head else {
            let _ended = cx.drop(packet, Module::Lowpan, Reason::ReassemblyConflict);
            return false;
        };
        let id = cx.core.buf.id(&packet);
        match cx.core.buf.append(head.pkt(), packet) {
            Ok(_appended) => cx.event(Event::End {
                id,
                module: Module::Lowpan,
                end: End::Consumed,
            }),
            Err(packet) => {
                let _ended = cx.drop(packet, Module::Lowpan, Reason::NoBuffer);
                return false;
            }
        }
        entry.note_start(offset);
        entry.contiguous += len;
        passed = 0;
    }
    true
}

pub(super) fn tell<S: Sink>(cx: &mut Cx<'_, '_, S>, fragment: &Fragment<'_>, fate: FragmentFate) {
    if let FragmentFate::Dropped(reason) = fate {
        cx.count(reason);
    }
    cx.event(Event::FragmentIn {
        id: fragment.id,
        from: fragment.meta.link_src,
        tag: fragment.header.datagram_tag,
        size: fragment.header.datagram_size,
        offset: fragment.offset(),
        len: fragment.len() as u16,
        fate,
    });
}

#[cfg(test)]
mod tests;
