//! Fragments of IPv6: cut at the source, put together at the destination (RFC 8200 section 4.5).
//!
//! Fragments wait as they came, each with its headers, until none is missing; then they are hung behind each other
//! without a copy. So an entry of the table holds no addresses: they stand in the fragments.

use super::input::Refusal;
use crate::ground::Cx;
use crate::netapi::{Msg, Next, Ty};
use crate::pktbuf::{Done, Pkt, PktBuf, Queue};
use crate::time::{Duration, Instant, earliest, place_of_earliest};
use crate::trace::{End, Event, Module, Reason, Sink};
use crate::wire::icmpv6::{ErrorMessage, Exceeded, Problem};
use crate::wire::ipv6::{Ecn, HEADER_LEN, NextHeader};
use crate::wire::ipv6_ext::fragment;

/// Whether fragments are compiled in.
pub(crate) const HERE: bool = cfg!(feature = "ipv6-fragments");

/// How long after its first-arriving fragment a packet may take (RFC 8200 section 4.5).
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Extension headers behind the fragment header that are looked at, to see whether a first fragment holds them all.
const HEADERS_MAX: u8 = 8;

/// Where the payload length stands in the fixed header.
const PAYLOAD_LENGTH_AT: usize = 4;

/// Source and destination address, as they stand in the fixed header.
const ADDRESSES_AT: usize = 8;

/// How packets are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentConfig {
    /// How long after its first-arriving fragment a packet may take. Default 60 s (RFC 8200 section 4.5).
    pub timeout: Duration,
    /// The largest packet that is put together, in bytes. Default 1500, what every node must accept (RFC 8200 section 5).
    pub size_max: u16,
    /// A packet is not given up for another one if its last fragment, and at least the second, came within this time.
    /// So first fragments of packets that never get on evict each other, and not what is being received. Default 2 s.
    pub progress_window: Duration,
}

impl Default for FragmentConfig {
    fn default() -> Self {
        Self {
            timeout: TIMEOUT,
            size_max: 1500,
            progress_window: Duration::from_secs(2),
        }
    }
}

/// A packet that is being put together. The empty value is all-zero bits.
pub struct Partial {
    /// When it is given up.
    deadline: Instant,
    /// When its last fragment came.
    last: Instant,
    identification: u32,
    /// Its fragments in the order of their offsets; the cursor of each stands at its data, and the context of its message
    /// is its offset in bytes. Empty in a free place.
    fragments: Queue,
    /// Bytes of the fragmentable part; 0 until the last fragment came.
    size: u16,
    /// Bytes of it that are here.
    received: u16,
    /// Where in the packet with offset 0 the fragment header is named.
    named_at: u16,
    /// Bit n: a fragment came with this ECN codepoint.
    ecn: u8,
    /// It was given up because fragments overlapped; what still comes is dropped as well.
    over: bool,
}

impl Partial {
    /// A free place.
    pub const EMPTY: Self = Self {
        deadline: Instant::ZERO,
        last: Instant::ZERO,
        identification: 0,
        fragments: Queue::EMPTY,
        size: 0,
        received: 0,
        named_at: 0,
        ecn: 0,
        over: false,
    };

    fn is_free(&self) -> bool {
        self.fragments.is_empty()
    }
}

/// Where a fragment lies in the fragmentable part, in bytes.
#[derive(Clone, Copy)]
struct Span {
    from: u16,
    to: u16,
    last: bool,
}

/// The packets that are being put together.
pub struct Reassembler<'a> {
    table: &'a mut [Partial],
    config: FragmentConfig,
    /// [`deadline`](Self::deadline) may be another than when it was last asked for.
    changed: bool,
}

impl<'a> Reassembler<'a> {
    /// Takes the table over and empties it.
    pub fn new(table: &'a mut [Partial], config: FragmentConfig) -> Self {
        table.fill_with(|| Partial::EMPTY);
        Self {
            table,
            config,
            changed: false,
        }
    }

    /// The table, without places where nothing is put together.
    const fn table(&self) -> &[Partial] {
        if HERE { self.table } else { &[] }
    }

    /// Gives the table back; every packet must have been given up before.
    pub fn into_table(self) -> &'a mut [Partial] {
        self.table
    }

    /// Whether [`deadline`](Self::deadline) may have changed since this was last asked.
    pub fn changed(&mut self) -> bool {
        HERE && core::mem::take(&mut self.changed)
    }

    /// When [`expire`](Self::expire) wants to be called.
    pub fn deadline(&self) -> Option<Instant> {
        let taken = self.table().iter().filter(|partial| !partial.is_free());
        earliest(taken.map(|partial| partial.deadline))
    }

    /// Takes a fragment, its cursor at the fragment header, which is named `named_at` bytes from the beginning. Sends the
    /// packet back into the module if it is whole now.
    ///
    /// An atomic fragment does not belong here: it is processed alone (RFC 6946 section 4).
    pub fn insert<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, packet: Pkt, named_at: usize) -> Next {
        let (header, span) = match self.judge(&cx.core.buf, &packet) {
            Ok(fragment) => fragment,
            Err(refusal) => return refusal.about(packet),
        };
        let index = match self.find(&cx.core.buf, &packet, header.identification) {
            // RFC 5722 section 4: those not yet received too. What is due is as good as given up.
            Some(index) if self.table[index].over || self.table[index].deadline <= cx.now => {
                return Next::Drop(packet, Reason::FragmentLate);
            }
            Some(index) => match self.place(&cx.core.buf, index, span) {
                Ok(()) => index,
                // RFC 8200 section 4.5: an exact duplicate may be dropped, and the others kept.
                Err(Reason::FragmentDuplicate) => return Next::Drop(packet, Reason::FragmentDuplicate),
                Err(reason) => {
                    self.overlap(cx, index, reason);
                    return Next::Drop(packet, reason);
                }
            },
            None => match self.make_place(cx) {
                Some(index) => index,
                None => return Next::Drop(packet, Reason::ReassemblyFull),
            },
        };
        // A packet of its own for each fragment: without a bound, a sender of the smallest fragments could take all packets
        // of this node for a minute.
        while cx.core.buf.live() > cx.core.buf.live_max() / 2 {
            let Some(victim) = self.stalest(cx.now, Some(index)) else {
                return Next::Drop(packet, Reason::NoSlot);
            };
            self.give_up(cx, victim, Reason::ReassemblyEvicted);
        }
        let stored = self.store(cx, index, packet, (header, span, named_at));
        let partial = &self.table[index];
        let whole = partial.size != 0 && partial.received == partial.size;
        let completed = if whole { self.complete(cx, index) } else { None };
        completed.unwrap_or(Next::Taken(stored))
    }

    /// What of a fragment can be judged alone.
    fn judge(&self, buf: &PktBuf<'_>, packet: &Pkt) -> Result<(fragment::Header, Span), Refusal> {
        let bytes = buf
            .read::<{ fragment::HEADER_LEN }>(packet)
            .ok_or(Reason::Ipv6Malformed)?;
        let header = fragment::Header::parse(&bytes);
        let (at, len) = (buf.marked(packet), buf.len(packet) - fragment::HEADER_LEN);
        if header.more && len % 8 != 0 {
            let (reason, at) = (Reason::FragmentInvalid, PAYLOAD_LENGTH_AT);
            return Err(Refusal::problem(reason, Problem::Field, at));
        }
        let to = header.offset_bytes() + len;
        let payload_len = at - HEADER_LEN + to;
        if payload_len > usize::from(u16::MAX) {
            // The offset stands behind next header and reserved byte.
            return Err(Refusal::problem(Reason::FragmentInvalid, Problem::Field, at + 2));
        }
        if len == 0 {
            return Err(Reason::FragmentInvalid.into());
        }
        if HEADER_LEN + payload_len > usize::from(self.config.size_max) {
            return Err(Reason::DatagramTooLarge.into());
        }
        if header.offset == 0 && !holds_all_headers(buf, packet, header.next_header) {
            return Err(Refusal::problem(
                Reason::FragmentInvalid,
                Problem::FirstFragment,
                0,
            ));
        }
        let span = Span {
            // Both fit, because the payload length does.
            from: header.offset_bytes() as u16,
            to: to as u16,
            last: !header.more,
        };
        Ok((header, span))
    }

    /// The packet that a fragment belongs to: that of the same source, destination and identification.
    fn find(&self, buf: &PktBuf<'_>, packet: &Pkt, identification: u32) -> Option<usize> {
        let key = addresses(buf, packet)?;
        self.table.iter().position(|partial| {
            let same = |front| addresses(buf, front) == Some(key);
            partial.identification == identification && partial.fragments.front().is_some_and(same)
        })
    }

    /// Whether a fragment fits those that are here.
    fn place(&self, buf: &PktBuf<'_>, index: usize, span: Span) -> Result<(), Reason> {
        let partial = &self.table[index];
        let mut verdict = Ok(());
        let mut end = 0;
        buf.walk(&partial.fragments, &mut |packet| {
            let from = buf.msg(packet).context;
            let to = from + buf.len(packet) as u16;
            end = end.max(to);
            if from == span.from && to == span.to {
                verdict = Err(Reason::FragmentDuplicate);
            } else if from < span.to && span.from < to {
                verdict = Err(Reason::ReassemblyConflict);
            }
        });
        // Neither is there anything behind the last fragment, nor are there two: the second lies behind the first, or before
        // its end.
        let beyond = partial.size != 0 && span.to > partial.size;
        if verdict == Ok(()) && (beyond || (span.last && end > span.to)) {
            return Err(Reason::ReassemblyConflict);
        }
        verdict
    }

    /// RFC 8200 section 4.5 and RFC 5722 section 4: all fragments of the packet are dropped silently. The header of one
    /// stays, so that those which still come are known.
    fn overlap<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, index: usize, reason: Reason) {
        let partial = &mut self.table[index];
        partial.over = true;
        for _ in 1..partial.fragments.len() {
            if let Some(packet) = cx.core.buf.pop(&mut partial.fragments) {
                let _ended = cx.drop(packet, Module::Ipv6, reason);
            }
        }
        if let Some(packet) = cx.core.buf.pop(&mut partial.fragments) {
            cx.core.buf.truncate(&packet, 0);
            let _queued = cx.core.buf.push(&mut partial.fragments, packet);
        }
    }

    /// A free place in the table: one that is free, else that of a packet which gave up already, else the one whose last
    /// fragment lies furthest back, unless it makes progress.
    fn make_place<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) -> Option<usize> {
        if let Some(free) = self.table.iter().position(Partial::is_free) {
            return Some(free);
        }
        let index = self.stalest(cx.now, None)?;
        self.give_up(cx, index, Reason::ReassemblyEvicted);
        Some(index)
    }

    /// The packet that gives way for others: one that was given up already, else the one whose last fragment lies furthest
    /// back, unless it makes progress. `keep` does not.
    fn stalest(&self, now: Instant, keep: Option<usize>) -> Option<usize> {
        let window = self.config.progress_window;
        let gives_way = |partial: &Partial| {
            !partial.is_free()
                && (partial.over || partial.fragments.len() < 2 || now.since(partial.last) > window)
        };
        let candidates = self.table.iter().enumerate();
        let candidates = candidates.filter(|(index, partial)| Some(*index) != keep && gives_way(partial));
        place_of_earliest(candidates.map(|(index, partial)| {
            let since = if partial.over { Instant::ZERO } else { partial.last };
            (index, since)
        }))
    }

    /// Puts a fragment among the others of its packet.
    fn store<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        index: usize,
        packet: Pkt,
        (header, span, named_at): (fragment::Header, Span, usize),
    ) -> Done {
        self.changed = true;
        let (partial, buf) = (&mut self.table[index], &mut cx.core.buf);
        if partial.is_free() {
            partial.identification = header.identification;
            partial.deadline = cx.now + self.config.timeout;
        }
        partial.last = cx.now;
        partial.received += span.to - span.from;
        partial.ecn |= 1 << ecn(buf, &packet) as u8;
        if span.last {
            partial.size = span.to;
        }
        if span.from == 0 {
            partial.named_at = named_at as u16;
        }
        buf.mark(&packet, fragment::HEADER_LEN);
        buf.set_msg(&packet, Msg::up(Ty::Transport, span.from));
        // In behind those that lie before it, and then those behind it once round the queue.
        let mut before = 0;
        buf.walk(&partial.fragments, &mut |other| {
            before += usize::from(buf.msg(other).context < span.from);
        });
        let behind = partial.fragments.len() - before;
        rotate(buf, &mut partial.fragments, before);
        let stored = buf.push(&mut partial.fragments, packet);
        rotate(buf, &mut partial.fragments, behind);
        stored
    }

    /// Hangs the fragments of a packet behind each other; none is missing.
    fn complete<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, index: usize) -> Option<Next> {
        self.changed = true;
        let mut partial = core::mem::replace(&mut self.table[index], Partial::EMPTY);
        let first = cx.core.buf.pop(&mut partial.fragments)?;
        let mut joined = join_headers(&mut cx.core.buf, &first, &partial);
        while let Some(packet) = cx.core.buf.pop(&mut partial.fragments) {
            let id = cx.core.buf.id(&packet);
            if let Err(reason) = joined {
                let _ended = cx.drop(packet, Module::Ipv6, reason);
                continue;
            }
            cx.core.buf.discard_marked(&packet);
            match cx.core.buf.append(&first, packet) {
                Ok(_appended) => cx.event(Event::End {
                    id,
                    module: Module::Ipv6,
                    end: End::Consumed,
                }),
                Err(packet) => {
                    joined = Err(Reason::NoBuffer);
                    let _ended = cx.drop(packet, Module::Ipv6, Reason::NoBuffer);
                }
            }
        }
        Some(match joined {
            Ok(()) => {
                let iface = cx.core.buf.meta(&first).iface;
                Next::To(Msg::up(Ty::Ipv6, u16::from(iface.0)), first)
            }
            Err(reason) => Next::Drop(first, reason),
        })
    }

    /// Gives up one packet whose time is over, if there is one. Its source is told if the first fragment came (RFC 8200
    /// section 4.5).
    pub fn expire<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) -> Option<Next> {
        let due = |partial: &Partial| !partial.is_free() && partial.deadline <= cx.now;
        let index = self.table().iter().position(due)?;
        let partial = &mut self.table[index];
        let first = cx.core.buf.pop(&mut partial.fragments)?;
        let tell = !partial.over && cx.core.buf.msg(&first).context == 0;
        let reason = if partial.over {
            Reason::ReassemblyConflict
        } else {
            Reason::ReassemblyTimeout
        };
        self.give_up(cx, index, reason);
        Some(if tell {
            Next::Refuse(first, reason, ErrorMessage::time_exceeded(Exceeded::Reassembly))
        } else {
            Next::Drop(first, reason)
        })
    }

    /// Ends the fragments of a packet and frees its place.
    fn give_up<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, index: usize, reason: Reason) {
        self.changed = true;
        let mut partial = core::mem::replace(&mut self.table[index], Partial::EMPTY);
        while let Some(packet) = cx.core.buf.pop(&mut partial.fragments) {
            let _ended = cx.drop(packet, Module::Ipv6, reason);
        }
    }

    /// Ends every packet that is kept here.
    pub fn give_up_all<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        for index in 0..self.table.len() {
            self.give_up(cx, index, reason);
        }
    }

    /// Shows every packet that is kept here to an audit.
    pub fn holds(&self, buf: &PktBuf<'_>, see: &mut dyn FnMut(&Pkt)) {
        for partial in self.table.iter() {
            buf.walk(&partial.fragments, see);
        }
    }
}

/// Moves `count` packets from the front of a queue to its end.
fn rotate(buf: &mut PktBuf<'_>, queue: &mut Queue, count: usize) {
    for _ in 0..count {
        if let Some(packet) = buf.pop(queue) {
            let _queued = buf.push(queue, packet);
        }
    }
}

/// Source and destination of a packet, wherever its cursor stands.
fn addresses(buf: &PktBuf<'_>, packet: &Pkt) -> Option<[u8; 32]> {
    buf.read_back::<32>(packet, buf.marked(packet).checked_sub(ADDRESSES_AT)?)
}

/// The ECN codepoint of a packet, wherever its cursor stands.
fn ecn(buf: &PktBuf<'_>, packet: &Pkt) -> Ecn {
    let bytes = buf.read_back::<2>(packet, buf.marked(packet)).unwrap_or_default();
    match bytes[1] >> 4 & 3 {
        0 => Ecn::NotCapable,
        1 => Ecn::Capable1,
        2 => Ecn::Capable0,
        _ => Ecn::Congestion,
    }
}

/// Whether a first fragment, its cursor at the fragment header, holds all headers up to and with that of the upper layer
/// (RFC 8200 section 4.5, RFC 7112 section 4).
fn holds_all_headers(buf: &PktBuf<'_>, packet: &Pkt, first: NextHeader) -> bool {
    let (mut next, mut at) = (first, fragment::HEADER_LEN);
    for _ in 0..HEADERS_MAX {
        let upper_len = match next {
            NextHeader::HOP_BY_HOP
            | NextHeader::ROUTING
            | NextHeader::DESTINATION
            | NextHeader::MOBILITY
            | NextHeader::FRAGMENT => {
                let Some([following, units]) = buf.read_at::<2>(packet, at) else {
                    return false;
                };
                let units = if next == NextHeader::FRAGMENT { 0 } else { units };
                (next, at) = (NextHeader(following), at + (usize::from(units) + 1) * 8);
                continue;
            }
            NextHeader::UDP => 8,
            NextHeader::TCP => 20,
            NextHeader::ICMPV6 => 4,
            NextHeader::NONE => 0,
            _ => 1,
        };
        return buf.len(packet) >= at + upper_len;
    }
    false
}

/// Makes the headers of the packet from those of its first fragment: without the fragment header, with the next header
/// that this one named, and the length of the whole. The cursor stands at the beginning then.
fn join_headers(buf: &mut PktBuf<'_>, first: &Pkt, partial: &Partial) -> Result<(), Reason> {
    let congestion = partial.ecn & (1 << Ecn::Congestion as u8) != 0;
    // RFC 3168 section 5.3: a mark must not be lost, and not be set on a packet of which a part cannot carry one.
    if congestion && partial.ecn & (1 << Ecn::NotCapable as u8) != 0 {
        return Err(Reason::ReassemblyConflict);
    }
    let marked = buf.marked(first);
    buf.unmark(first, marked);
    let at = marked
        .checked_sub(fragment::HEADER_LEN)
        .ok_or(Reason::Ipv6Malformed)?;
    let [following] = buf.read_at::<1>(first, at).ok_or(Reason::Ipv6Malformed)?;
    *buf.write_at::<1>(first, usize::from(partial.named_at))? = [following];
    // It fits, because every fragment was judged.
    let payload_len = (at - HEADER_LEN) as u16 + partial.size;
    *buf.write_at::<2>(first, PAYLOAD_LENGTH_AT)? = payload_len.to_be_bytes();
    if congestion {
        let [class] = buf.write_at::<1>(first, 1)?;
        *class |= 3 << 4;
    }
    // The headers move over the fragment header, the last first. Each has a multiple of 8 bytes.
    for place in (0..at / 8).rev() {
        let bytes = buf.read_at::<8>(first, place * 8).ok_or(Reason::Ipv6Malformed)?;
        *buf.write_at::<8>(first, place * 8 + fragment::HEADER_LEN)? = bytes;
    }
    buf.mark(first, fragment::HEADER_LEN);
    buf.discard_marked(first);
    Ok(())
}

/// Cuts the fragment that begins `offset` bytes into the fragmentable part of a packet (all behind its fixed header), for
/// a link that takes `mtu` bytes. Gives the fragment and where the next one begins, if there is one. The bytes are shared
/// with the packet, not copied.
///
/// Only for a packet that does not fit: a source makes no atomic fragments (RFC 8021).
///
/// # Errors
///
/// [`Reason::PacketTooBig`] if not even eight bytes fit the MTU, else what the buffer is short of.
pub fn cut(
    buf: &mut PktBuf<'_>,
    packet: &Pkt,
    offset: u16,
    mtu: u16,
    identification: u32,
) -> Result<(Pkt, Option<u16>), Reason> {
    const HEADERS_LEN: usize = HEADER_LEN + fragment::HEADER_LEN;
    let room = usize::from(mtu).saturating_sub(HEADERS_LEN) & !7;
    let at = HEADER_LEN + usize::from(offset);
    let left = buf.len(packet).checked_sub(at).ok_or(Reason::Ipv6Malformed)?;
    if room == 0 {
        return Err(Reason::PacketTooBig);
    }
    let more = left > room;
    let len = left.min(room);
    let mut fixed = buf.read::<HEADER_LEN>(packet).ok_or(Reason::Ipv6Malformed)?;
    let header = fragment::Header {
        next_header: NextHeader(fixed[super::extensions::NEXT_HEADER_AT]),
        offset: offset / 8,
        more,
        identification,
    };
    fixed[super::extensions::NEXT_HEADER_AT] = NextHeader::FRAGMENT.0;
    let payload_len = (len + fragment::HEADER_LEN) as u16;
    [fixed[PAYLOAD_LENGTH_AT], fixed[PAYLOAD_LENGTH_AT + 1]] = payload_len.to_be_bytes();
    let piece = buf.share(packet)?;
    buf.mark(&piece, at);
    buf.discard_marked(&piece);
    buf.truncate(&piece, len);
    match buf.prepend::<HEADERS_LEN>(&piece) {
        Ok(place) => {
            let (front, back) = place.split_at_mut(HEADER_LEN);
            front.copy_from_slice(&fixed);
            back.copy_from_slice(&header.emit());
        }
        Err(no_room) => {
            let _ended = buf.release(piece);
            return Err(no_room.reason());
        }
    }
    Ok((piece, more.then_some(offset + len as u16)))
}

#[cfg(test)]
mod tests;
