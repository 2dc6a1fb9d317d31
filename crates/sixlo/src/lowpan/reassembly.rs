//! Reassembly of RFC 4944 fragments.
//!
//! A datagram is known by interface, link source, link destination and tag (RFC 4944 section 5.3; RFC 8930 section 2.3 shows why the
//! size need not be part of it: another size under a live key is a conflict). What came in order is one packet that
//! grows at its tail, in place where the buffer has room behind it; what came out of order waits in packets of its own
//! until the gap closes. So a reassembly occupies what has arrived, not what was announced, and the bytes of a hole
//! exist nowhere. The next fragment in order is expected: it is compared with one note of five words, and copied
//! (Chandranmenon and Varghese 1996, section 3.1).

mod entry;
mod fragment;
mod part;

use crate::ground::Cx;
use crate::netapi::{Msg, Ty};
use crate::pktbuf::{Pkt, PktBuf};
use crate::time::{Duration, Instant};
use crate::trace::{End, Event, FragmentFate, Module, Reason, Sink};
use crate::wire::copy;

use entry::Key;
pub use entry::Reassembly;
use fragment::pair;
pub(super) use fragment::{Fragment, Label};

/// What happens when a datagram begins and the reassembly table is full, or when memory is short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eviction {
    /// The reassembly that has waited longest for its next fragment gives way, unless it is making progress: the first
    /// fragment and another one, the last of them within [`ReassemblyConfig::progress_window`]. A flood of first fragments
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
    /// of one frame take. At most 17 minutes.
    pub remember: Duration,
    /// What happens when the table is full.
    pub eviction: Eviction,
    /// See [`Eviction::Stalest`]. Default 500 ms, at most 17 minutes.
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

/// The fragment that comes next if all goes well: the next one of the datagram of which the last two came (Chandranmenon
/// and Varghese 1996, section 3.1). It is never the last one of its datagram.
struct Expected {
    label: Label,
    /// The last moment at which it is taken: the lower 32 bits of microseconds.
    until: u32,
    /// As in the entry.
    last: u32,
}

impl Expected {
    /// No fragment: none has such a place.
    const NONE: Self = Self {
        label: Label {
            key: Key::EMPTY,
            name: 0,
            place: u32::MAX,
        },
        until: 0,
        last: 0,
    };
}

/// The longest time that is counted with 32 bits of microseconds, with room for what comes late: 17 minutes.
pub const REMEMBER_MAX: Duration = Duration::from_micros(1 << 30);

/// The lower bits of a time.
const fn low(time: Instant) -> u32 {
    time.as_micros() as u32
}

/// The configuration as it is needed, times in microseconds.
struct Limits {
    timeout_us: u32,
    remember_us: u32,
    window_us: u32,
    eviction: Eviction,
    per_sender_max: u8,
}

impl Limits {
    fn of(config: ReassemblyConfig) -> Self {
        let micros = |span: Duration| span.min(REMEMBER_MAX).as_micros() as u32;
        Self {
            timeout_us: micros(config.timeout),
            remember_us: micros(config.remember),
            window_us: micros(config.progress_window),
            eviction: config.eviction,
            per_sender_max: config.per_sender_max,
        }
    }
}

/// The reassembly table.
pub(super) struct Reassembler<'a> {
    /// What most fragments are compared with first, and alone.
    expected: Expected,
    table: &'a mut [Reassembly],
    limits: Limits,
    /// The entry that took the last fragment: `expected` is of it.
    hint: usize,
    /// When the table was last looked at: a time of which the table has the lower bits lies less than [`REMEMBER_MAX`] away.
    seen: Instant,
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
            expected: Expected::NONE,
            table,
            limits: Limits::of(config),
            hint: 0,
            seen: Instant::ZERO,
            changed: false,
        }
    }

    /// Gives the table back; every packet must have been given up before.
    pub(super) fn into_table(self) -> &'a mut [Reassembly] {
        self.table
    }

    /// How it behaves now.
    pub(super) fn config(&self) -> ReassemblyConfig {
        let span = |micros: u32| Duration::from_micros(micros.into());
        ReassemblyConfig {
            timeout: span(self.limits.timeout_us),
            remember: span(self.limits.remember_us),
            eviction: self.limits.eviction,
            progress_window: span(self.limits.window_us),
            per_sender_max: self.limits.per_sender_max,
        }
    }

    /// Changes the behaviour for what begins from now on.
    pub(super) fn set_config(&mut self, config: ReassemblyConfig) {
        self.limits = Limits::of(config);
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
        let seen = low(self.seen);
        let active = self.table.iter().filter(|entry| entry.is_active());
        // What was due when the table was last looked at is not there any more.
        let left = active.fold(u32::MAX, |least, entry| {
            least.min(entry.deadline.wrapping_sub(seen))
        });
        (left != u32::MAX).then(|| self.seen + Duration::from_micros(left.into()))
    }

    /// Takes the fragment that is expected next; false, and nothing done, if this is another one. There is no more to be
    /// done for it: it was judged when it became expected.
    #[inline(always)]
    pub(super) fn insert_expected<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        fragment: &Fragment<'_>,
    ) -> bool {
        let (label, data) = (fragment.label(), fragment.data);
        let Some(room) = self.append_expected(&mut cx.core.buf, low(cx.now), &label, data.len()) else {
            return false;
        };
        copy(room, data);
        tell(cx, fragment, FragmentFate::InOrder);
        true
    }

    /// Adds the expected fragment to its datagram, and gives the room for its `len` bytes of data; `None`, and nothing
    /// done, if it is another one.
    #[inline(always)]
    fn append_expected<'b>(
        &mut self,
        buf: &'b mut PktBuf<'_>,
        now: u32,
        label: &Label,
        len: usize,
    ) -> Option<&'b mut [u8]> {
        let expected = &mut self.expected;
        // RFC 4944 section 5.3: its time is not over. All ones if it is.
        let late = expected.until.wrapping_sub(now).cast_signed() >> 31;
        // All words are compared with one branch.
        if expected.label.difference(label) | late.cast_unsigned() != 0 {
            return None;
        }
        let room = buf.append_open(len)?;
        // The next one begins where this one ends, and is as long.
        expected.label.place = label.place + (label.place << 16);
        expected.last = now;
        Some(room)
    }

    /// Takes a fragment that is not the expected one, or finds no room there. Gives the datagram if it is complete now.
    #[cold]
    #[inline(never)]
    pub(super) fn insert<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, fragment: &Fragment<'_>) -> Option<Pkt> {
        let label = fragment.label();
        let taken = fragment.judge(&label).and_then(|()| {
            let (index, left) = self.admit(cx, &label)?;
            let fate = self.fate(index, left, &label);
            Ok((self.take(cx, index, left, &label, fragment)?, fate))
        });
        match taken {
            Ok((packet, fate)) => {
                tell(cx, fragment, fate);
                packet
            }
            Err(reason) => {
                tell(cx, fragment, FragmentFate::Dropped(reason));
                None
            }
        }
    }

    /// What a fragment is to those of its datagram that came before, if it can be stored.
    fn fate(&self, index: usize, left: u16, label: &Label) -> FragmentFate {
        match self.table.get(index) {
            _ if left == 0 => FragmentFate::Completed,
            Some(entry) if !entry.is_active() => FragmentFate::Started,
            Some(entry) if label.offset() != entry.contiguous => FragmentFate::OutOfOrder,
            _ => FragmentFate::InOrder,
        }
    }

    /// The entry of the datagram that a fragment belongs to: under way, or over and remembered.
    pub(super) fn find(&self, fragment: &Fragment<'_>, now: Instant) -> Option<usize> {
        let index = self.find_label(&fragment.label())?;
        let entry = self.table.get(index)?;
        (entry.is_active() || !entry.is_due(low(now))).then_some(index)
    }

    fn find_label(&self, label: &Label) -> Option<usize> {
        let same =
            |entry: &Reassembly| entry.tag == label.tag() && !entry.is_free() && entry.key.is(&label.key);
        self.table.iter().position(same)
    }

    /// The entry for a fragment, new if its datagram has none, and how many bytes of the datagram are missing when the
    /// fragment is in.
    fn admit<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, label: &Label) -> Result<(usize, u16), Reason> {
        self.expire(cx);
        let found = self
            .find_label(label)
            .and_then(|index| Some((index, self.table.get(index)?)));
        let (index, left, reason) = match found {
            Some((index, entry)) => (
                index,
                place(&cx.core.buf, entry, label)?,
                Reason::ReassemblyConflict,
            ),
            None => (
                self.free_place(cx.now, label)?,
                label.size(),
                Reason::ReassemblyEvicted,
            ),
        };
        if left == label.size()
            && let Some(entry) = self.table.get_mut(index)
        {
            // RFC 4944 section 5.3: an overlap with different bounds, or another size, discards what is there, and the
            // newest fragment starts anew.
            give_up(cx, entry, 0, reason);
            *entry = Reassembly {
                key: label.key,
                tag: label.tag(),
                size: label.size(),
                deadline: low(cx.now).wrapping_add(self.limits.timeout_us),
                ..Reassembly::EMPTY
            };
        }
        Ok((index, left - label.len()))
    }

    /// A free place in the table, by eviction if the policy allows.
    fn free_place(&self, now: Instant, label: &Label) -> Result<usize, Reason> {
        let bound = usize::from(self.limits.per_sender_max);
        let of_sender = |entry: &&Reassembly| entry.is_active() && entry.key.same_src(&label.key);
        if bound != 0 && self.table.iter().filter(of_sender).count() >= bound {
            return Err(Reason::ReassemblyFull);
        }
        self.yielding(now, None).ok_or(Reason::ReassemblyFull)
    }

    /// The entry that gives way: a free one, else the one that is over for longest, else the one under way whose last
    /// fragment lies furthest back, unless it makes progress. With `spare` none but those under way, and not that one.
    fn yielding(&self, now: Instant, spare: Option<usize>) -> Option<usize> {
        // Rank, and age in units of 4 us; 0 is less than those of any.
        let (mut most, mut best) = (0, None);
        for (index, entry) in self.table.iter().enumerate() {
            let age = low(now).wrapping_sub(entry.last);
            let rank: u32 = if entry.is_active() {
                let progresses = age <= self.limits.window_us && entry.has_several();
                if progresses || self.limits.eviction == Eviction::Never || spare == Some(index) {
                    continue;
                }
                1
            } else if spare.is_some() {
                continue;
            } else {
                2 + u32::from(entry.is_free())
            };
            let rank = rank << 30 | age >> 2;
            if rank > most {
                (most, best) = (rank, Some(index));
            }
        }
        best
    }

    /// Where memory is short: the stalest reassembly but `spare` gives way, as for a place in the table. False if none
    /// may. Each call that says true frees an entry, so a table's length bounds the rounds of whoever calls again.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, spare: Option<usize>) -> bool {
        self.expire(cx);
        // No index is as large as that.
        let spare = spare.unwrap_or(usize::MAX);
        let victim = self.yielding(cx.now, Some(spare));
        let Some(victim) = victim.and_then(|index| self.table.get_mut(index)) else {
            return false;
        };
        give_up(cx, victim, self.limits.remember_us, Reason::ReassemblyEvicted);
        true
    }

    /// Stores a fragment at its place and completes the datagram if no byte is `left` to come.
    fn take<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        index: usize,
        left: u16,
        label: &Label,
        fragment: &Fragment<'_>,
    ) -> Result<Option<Pkt>, Reason> {
        let stored = loop {
            match self.store(cx, index, label, fragment) {
                Err(_) if self.make_room(cx, Some(index)) => {}
                stored => break stored,
            }
        };
        let again = core::mem::replace(&mut self.hint, index) == index;
        let entry = self.table.get_mut(index).ok_or(Reason::ReassemblyFull)?;
        if let Err(reason) = stored.and_then(|()| close_gaps(cx, entry, left == 0)) {
            // Without this fragment the datagram can never be complete: its memory serves others better.
            give_up(cx, entry, self.limits.remember_us, reason);
            return Err(reason);
        }
        entry.last = low(cx.now);
        if left == 0 {
            entry.deadline = entry.last.wrapping_add(self.limits.remember_us);
            let head = entry.head.take();
            return Ok(head.map(|head| cx.core.buf.resume(head)));
        }
        if again {
            expect(cx, entry, &mut self.expected);
        }
        Ok(None)
    }

    /// Copies a fragment into the buffer.
    fn store<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        index: usize,
        label: &Label,
        fragment: &Fragment<'_>,
    ) -> Result<(), Reason> {
        let entry = self.table.get_mut(index).ok_or(Reason::ReassemblyFull)?;
        let at_tail = label.offset() == entry.contiguous && entry.is_regular(label.len(), label.end());
        if at_tail && let Some(head) = &entry.head {
            let room = cx.core.buf.grow(head.pkt(), fragment.data.len())?;
            copy(room, fragment.data);
            entry.note_step(label.len());
            entry.contiguous = label.end();
            return Ok(());
        }
        // Were there no bound, a sender of the smallest fragments could take all packets of this node for the minute that
        // a reassembly may last.
        if !at_tail && cx.core.buf.live() >= cx.core.buf.live_max() / 2 {
            return Err(Reason::NoSlot);
        }
        let packet = super::new_packet(cx, fragment.expanded, fragment.data, fragment.meta, fragment.id)?;
        let context = if at_tail { label.len() } else { label.offset() };
        cx.core.buf.set_msg(&packet, Msg::up(Ty::Link, context));
        if at_tail {
            entry.head = Some(cx.core.buf.keep(packet));
            entry.contiguous = label.end();
        } else {
            let _piled = cx.core.buf.pile(&mut entry.waiting, packet);
        }
        Ok(())
    }

    /// Brings the table up to date: writes down what the expected fragments changed, gives up the reassemblies whose time
    /// is over, and forgets what was remembered for long enough.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn expire<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) {
        let expected = &mut self.expected;
        let place = core::mem::replace(&mut expected.label.place, Expected::NONE.label.place);
        if place != Expected::NONE.label.place
            && let Some(entry) = self.table.get_mut(self.hint)
            && let Some(head) = &entry.head
        {
            entry.contiguous = (place >> 16) as u16;
            entry.last = expected.last;
            cx.core.buf.set_len(head.pkt(), entry.contiguous);
        }
        // So much later, 32 bits do not tell what is due: all is.
        let all = cx.now.since(self.seen) >= REMEMBER_MAX;
        let now = low(cx.now);
        for entry in self.table.iter_mut() {
            if !all && !entry.is_due(now) {
                continue;
            }
            if entry.is_active() {
                give_up(cx, entry, self.limits.remember_us, Reason::ReassemblyTimeout);
            } else {
                entry.size = 0;
            }
        }
        self.seen = cx.now;
        self.changed = true;
    }

    /// Ends every packet that is kept here.
    pub(super) fn give_up_all<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        self.expected = Expected::NONE;
        for entry in self.table.iter_mut() {
            give_up(cx, entry, 0, reason);
        }
    }

    /// Shows every packet that is kept here to an audit.
    pub(super) fn holds(&self, buf: &PktBuf<'_>, see: &mut dyn FnMut(&Pkt)) {
        for entry in self.table.iter() {
            if let Some(head) = &entry.head {
                see(head.pkt());
            }
            buf.walk_pile(&entry.waiting, see);
        }
    }
}

/// How many bytes of the datagram are missing before the fragment is in: all if it begins anew, because it overlaps another
/// one with different bounds, or is of a datagram of another size.
///
/// Fails if the fragment came in before, or its datagram is over.
fn place(buf: &PktBuf<'_>, entry: &Reassembly, label: &Label) -> Result<u16, Reason> {
    let (offset, end) = (label.offset(), label.end());
    if !entry.is_active() {
        return Err(Reason::FragmentLate);
    }
    if entry.size != label.size() {
        return Ok(label.size());
    }
    if let Some(head) = &entry.head
        && offset < entry.contiguous
    {
        let first_len = buf.msg(head.pkt()).context;
        return if entry.is_one_fragment(offset, end, first_len) {
            Err(Reason::FragmentDuplicate)
        } else {
            Ok(entry.size)
        };
    }
    let mut left = entry.size - entry.contiguous;
    for (from, len) in buf.piled(&entry.waiting) {
        if from < end && offset < from + len {
            let known = from == offset && from + len == end;
            return if known {
                Err(Reason::FragmentDuplicate)
            } else {
                Ok(entry.size)
            };
        }
        left -= len;
    }
    Ok(left)
}

/// Notes the fragment that comes next in order, for which the packet is opened. None is expected before.
fn expect<S: Sink>(cx: &mut Cx<'_, '_, S>, entry: &Reassembly, expected: &mut Expected) {
    let left = entry.size - entry.contiguous;
    match &entry.head {
        Some(head) if entry.waiting.is_empty() && (1..left).contains(&entry.step) => {
            // One whose length is known, and not the last one: that completes the datagram.
            cx.core.buf.open(head.pkt(), left - 1);
            *expected = Expected {
                label: Label {
                    key: entry.key,
                    name: pair(entry.tag, entry.size),
                    place: pair(entry.contiguous, entry.step),
                },
                until: entry.deadline.wrapping_sub(1),
                last: entry.last,
            };
        }
        _ => {}
    }
}

/// Moves what waits behind a gap that has closed to the tail: of a datagram that is `complete` all, else what is regular.
/// Fails if the buffer has no descriptor left for it.
fn close_gaps<S: Sink>(cx: &mut Cx<'_, '_, S>, entry: &mut Reassembly, complete: bool) -> Result<(), Reason> {
    let Some(head) = &entry.head else {
        return Ok(());
    };
    while let Some(packet) = cx.core.buf.unpile(&mut entry.waiting, Some(entry.contiguous)) {
        let buf = &mut cx.core.buf;
        let (id, len) = (buf.id(&packet), buf.len(&packet) as u16);
        if !complete && entry.step != 0 && entry.step != len {
            let _piled = buf.pile(&mut entry.waiting, packet);
            break;
        }
        if let Err(packet) = buf.append(head.pkt(), packet) {
            let _ended = cx.drop(packet, Module::Lowpan, Reason::NoBuffer);
            return Err(Reason::NoBuffer);
        }
        cx.event(Event::End {
            id,
            module: Module::Lowpan,
            end: End::Consumed,
        });
        if entry.step == 0 {
            entry.step = len;
        }
        entry.contiguous += len;
    }
    Ok(())
}

/// Ends the packets of a reassembly that is under way; what remains only remembers that it was given up.
#[cfg_attr(target_os = "none", inline(never))]
fn give_up<S: Sink>(cx: &mut Cx<'_, '_, S>, entry: &mut Reassembly, remember_us: u32, reason: Reason) {
    if entry.is_active() {
        entry.deadline = low(cx.now).wrapping_add(remember_us);
    }
    let mut next = entry.head.take().map(|head| cx.core.buf.resume(head));
    while let Some(packet) = next
        .take()
        .or_else(|| cx.core.buf.unpile(&mut entry.waiting, None))
    {
        let _ended = cx.drop(packet, Module::Lowpan, reason);
    }
}

/// Tells what became of a fragment, and counts one that was dropped.
#[inline(always)]
pub(super) fn tell<S: Sink>(cx: &mut Cx<'_, '_, S>, fragment: &Fragment<'_>, fate: FragmentFate) {
    if let FragmentFate::Dropped(reason) = fate {
        cx.count(reason);
    }
    cx.event(Event::FragmentIn {
        id: fragment.id,
        from: fragment.meta.link_src,
        tag: fragment.header.datagram_tag,
        size: fragment.header.datagram_size,
        offset: fragment.header.start() as u16,
        len: (fragment.expanded.len() + fragment.data.len()) as u16,
        fate,
    });
}

#[cfg(test)]
mod tests;
