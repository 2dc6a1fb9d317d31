//! Forwarding of RFC 4944 fragments without putting the datagram together (RFC 8930).
//!
//! The first fragment is routed: its header is decompressed, the hop limit taken down by one, and it is compressed again
//! for the next link, where it may need more room. What does not fit any more goes in a fragment of its own behind it:
//! each fragment of RFC 4944 tells its offset. Those that follow get another tag, no more. Each is written once, as the
//! payload of the frame that it goes out in.

use super::cut::compress_head;
use super::reassembly::{Fragment, tell};
use super::vrb::{Kind, Side};
use super::{Eviction, Lowpan};
use crate::ground::Cx;
use crate::ipv6::Ipv6;
use crate::netapi::{Msg, Ty};
use crate::netdev::IfaceId;
use crate::netif::{LinkKind, Netif};
use crate::pktbuf::{Class, Meta, Pkt, PktBuf};
use crate::time::{Duration, Instant};
use crate::trace::{FragmentFate, Module, PktId, Reason, Sink};
use crate::wire::addr::LinkAddr;
use crate::wire::copy;
use crate::wire::iphc::{Compressed, Contexts, Link};
use crate::wire::lowpan::frag;

/// Whether forwarding is compiled in.
pub(super) const HERE: bool = cfg!(feature = "forward");

/// What forwarding has to know of the other modules: routes and interfaces.
pub struct Ways<'w, 'a> {
    /// Routes.
    pub ipv6: &'w Ipv6<'a>,
    /// Interfaces.
    pub netif: &'w mut Netif<'a>,
}

impl Ways<'_, '_> {
    /// The interface and the next hop for a datagram of `size` bytes that begins with `head`, if its fragments can be
    /// forwarded: IPv6 has no need of it as a whole (see [`Ipv6::relay`]), nor has the interface.
    pub(super) fn relay(&self, head: &[u8], size: usize, meta: &Meta) -> Option<(IfaceId, LinkAddr)> {
        let way = self.ipv6.relay(head, size, meta)?;
        (self.netif.link(way.0) == Some(LinkKind::Ieee802154)).then_some(way)
    }
}

/// The longest headers that are looked at for compression, in bytes.
pub(super) const HEAD_LEN: usize = 128;

/// Where a hop limit lies in an IPv6 header, in bytes (RFC 8200 section 3).
const HOP_LIMIT_AT: usize = 7;

/// The next hop of a datagram, and what its frames carry.
pub(super) struct Out {
    pub(super) iface: IfaceId,
    pub(super) link: Link,
    /// Bytes behind the MAC header.
    pub(super) room: usize,
}

/// A part of a datagram: two pieces of its bytes, one behind the other, and where they begin in it.
pub(super) struct Part<'p> {
    pub(super) offset: usize,
    pub(super) pieces: [&'p [u8]; 2],
}

impl Part<'_> {
    pub(super) fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }

    /// The beginning of a datagram in `head`, as far as it has to be known to be sent on: the headers that were expanded, or
    /// what came as it is. `None` if it is longer than any that is looked at.
    pub(super) fn head<'h>(&self, head: &'h mut [u8; HEAD_LEN]) -> Option<&'h mut [u8]> {
        let [expanded, data] = self.pieces;
        let len = match expanded.len() {
            0 => data.len().min(HEAD_LEN),
            len => len,
        };
        let head = head.get_mut(..len)?;
        self.copy(0, head);
        Some(head)
    }

    /// Copies bytes from `from` on into `out`, as many as fit.
    pub(super) fn copy(&self, from: usize, mut out: &mut [u8]) {
        let mut skip = from;
        for piece in self.pieces {
            let rest = piece.get(skip..).unwrap_or_default();
            skip = skip.saturating_sub(piece.len());
            let copied = copy(out, rest);
            out = out.get_mut(copied..).unwrap_or_default();
        }
    }
}

impl Lowpan<'_> {
    /// Whether an interface forwards fragments.
    pub(super) fn forwards(&self, ways: &Ways<'_, '_>, meta: &Meta) -> bool {
        let config = ways.netif.config(meta.iface).filter(|_| HERE);
        config.is_some_and(|config| config.strategy == super::Strategy::Forward) && !meta.multicast
    }

    /// Forwards a first fragment whose headers were expanded, and remembers where the others go. False if the datagram
    /// is not one to be forwarded by its first fragment, and has to be put together.
    pub(super) fn forward_first<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &Ways<'_, '_>,
        fragment: &Fragment<'_>,
    ) -> Result<bool, Reason> {
        let (header, size) = (fragment.header, usize::from(fragment.header.datagram_size));
        let whole = Part {
            offset: 0,
            pieces: [fragment.expanded, fragment.data],
        };
        let mut head = [0; HEAD_LEN];
        let Some(head) = whole.head(&mut head) else {
            return Ok(false);
        };
        let Some((iface, link_dst)) = ways.relay(head, size, fragment.meta) else {
            return Ok(false);
        };
        header.check(whole.len()).map_err(|_| Reason::FragmentInvalid)?;
        let from = key(fragment);
        if let Some(index) = self.vrbs.find_in(false, from) {
            let entry = self.vrbs.entry(index);
            if entry.kind == Kind::Plain && usize::from(entry.size) == size && !entry.progressed {
                return Err(Reason::FragmentDuplicate);
            }
            // RFC 4944 section 5.3: the tag is used anew.
            self.vrbs.free(index);
        }
        let out = Out::new(ways, iface, link_dst)?;
        let tag = self.next_tag(iface);
        let to = Side {
            iface,
            addr: link_dst,
            tag,
        };
        let timeout = self.forward.timeout;
        let entry = self
            .open_vrb(cx.now, Kind::Plain, (from, to), header.datagram_size, timeout)
            .ok_or(Reason::ForwardFull)?;
        take_a_hop(head);
        let sent = self.send_first(cx, &out, entry, fragment, head, &whole);
        if let Err(reason) = sent {
            // RFC 8930 section 5: if the first fragment cannot be forwarded, then the state must be removed.
            self.vrbs.free(entry);
            return Err(reason);
        }
        self.vrbs.entry_mut(entry).next = whole.len() as u16;
        tell(cx, fragment, FragmentFate::Forwarded);
        Ok(true)
    }

    /// Sends the first fragment on with its headers compressed for the next link, and behind it what it has no room for.
    fn send_first<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        out: &Out,
        entry: usize,
        fragment: &Fragment<'_>,
        head: &[u8],
        whole: &Part<'_>,
    ) -> Result<(), Reason> {
        let header = frag::Fragment {
            datagram_tag: self.vrbs.entry(entry).out_tag,
            ..fragment.header
        };
        let mut compressed = [0; HEAD_LEN];
        let room = out.room.saturating_sub(frag::Fragment::FIRST_LEN);
        let iphc = self.compress_for(out, head, room, &mut compressed)?;
        let behind = whole.len().saturating_sub(iphc.consumed);
        let fits = behind <= room - iphc.written;
        // RFC 4944 section 5.3: what the fragment stands for, uncompressed, is a multiple of eight bytes.
        let end = if fits {
            whole.len()
        } else {
            (iphc.consumed + room - iphc.written) / 8 * 8
        };
        let carried = end.checked_sub(iphc.consumed).ok_or(Reason::LowpanHeader)?;
        let packet = self.piece(cx, out, entry, header, iphc.written + carried, fragment.id)?;
        let place = body(&mut cx.core.buf, &packet, frag::Fragment::FIRST_LEN);
        let copied = copy(place, compressed.get(..iphc.written).unwrap_or_default());
        whole.copy(iphc.consumed, place.get_mut(copied..).unwrap_or_default());
        self.queue(cx, entry, packet);
        if fits {
            return Ok(());
        }
        self.send_next(cx, out, entry, header, whole, end, fragment.id)
    }

    /// Forwards a fragment other than the first.
    pub(super) fn forward_next<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &Ways<'_, '_>,
        index: usize,
        fragment: &Fragment<'_>,
    ) -> Result<(), Reason> {
        let entry = self.vrbs.entry_mut(index);
        let (start, len) = (fragment.header.start(), fragment.data.len());
        // RFC 4944 section 5.3: another size is another datagram, of which there is no first fragment.
        if fragment.header.check(len).is_err() || fragment.header.datagram_size != entry.size {
            return Err(Reason::FragmentInvalid);
        }
        let (expected, end) = (usize::from(entry.next), start + len);
        if start < expected {
            return Err(Reason::FragmentDuplicate);
        }
        entry.next = end as u16;
        // Over one link fragments keep their order: those that were skipped are lost, and the rest is of no use to anyone
        // (RFC 8930 section 6).
        if start > expected {
            entry.kind = Kind::Broken;
        }
        if entry.kind == Kind::Broken {
            self.vrbs.free_if_done(index);
            return Err(Reason::FragmentBroken);
        }
        let header = frag::Fragment {
            datagram_tag: entry.out_tag,
            ..fragment.header
        };
        let part = Part {
            offset: start,
            pieces: [fragment.data, &[]],
        };
        let iface = entry.out_iface;
        self.vrbs.heard(index, cx.now + self.forward.timeout);
        let sent = Out::new(ways, iface, self.vrbs.to(index))
            .and_then(|out| self.send_next(cx, &out, index, header, &part, start, fragment.id));
        if let Err(reason) = sent {
            self.vrbs.entry_mut(index).kind = Kind::Broken;
            self.vrbs.free_if_done(index);
            return Err(reason);
        }
        tell(cx, fragment, FragmentFate::Forwarded);
        Ok(())
    }

    /// Sends a part of a datagram from byte `from` of the datagram on, in as many fragments as it takes: one, unless the
    /// next link has less room.
    #[expect(clippy::too_many_arguments, reason = "where from, where to, and what")]
    fn send_next<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        out: &Out,
        entry: usize,
        header: frag::Fragment,
        part: &Part<'_>,
        from: usize,
        id: PktId,
    ) -> Result<(), Reason> {
        let (mut from, end) = (from, part.offset + part.len());
        let room = out.room.saturating_sub(frag::Fragment::SUBSEQUENT_LEN);
        while from < end {
            let len = if end - from <= room {
                end - from
            } else {
                room / 8 * 8
            };
            if len == 0 {
                return Err(Reason::LinkRefused);
            }
            let header = frag::Fragment {
                datagram_offset: (from / 8) as u8,
                ..header
            };
            let packet = self.piece(cx, out, entry, header, len, id)?;
            let place = body(&mut cx.core.buf, &packet, frag::Fragment::SUBSEQUENT_LEN);
            part.copy(from - part.offset, place);
            self.queue(cx, entry, packet);
            from += len;
        }
        Ok(())
    }

    /// A frame's payload with a fragment header in front and `len` bytes behind it.
    fn piece<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        out: &Out,
        entry: usize,
        header: frag::Fragment,
        len: usize,
        id: PktId,
    ) -> Result<Pkt, Reason> {
        let tag = self.vrbs.entry(entry).out_tag;
        let packet = out.payload(cx, tag, header.emit_len() + len, id)?;
        // It was made for it.
        let written = cx.core.buf.bytes_mut(&packet).map(|place| header.emit(place));
        debug_assert!(
            matches!(written, Ok(Ok(_))),
            "a new packet has room for its header"
        );
        Ok(packet)
    }

    /// Puts a frame's payload where the stack takes it from for the interface.
    fn queue<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, entry: usize, packet: Pkt) {
        let _queued = cx.core.buf.push(&mut self.outbox, packet);
        let entry = self.vrbs.entry_mut(entry);
        entry.queued = entry.queued.saturating_add(1);
    }

    /// A frame with a forwarded fragment was sent, or failed: then the rest of the datagram is not sent on.
    pub(super) fn forwarded(&mut self, iface: IfaceId, tag: u16, failed: bool) {
        let Some(index) = self.vrbs.find_out(false, iface, tag) else {
            return;
        };
        let entry = self.vrbs.entry_mut(index);
        entry.queued = entry.queued.saturating_sub(1);
        if failed && !entry.progressed && !self.forward.fallback {
            // RFC 8930 section 5: if the first fragment cannot be forwarded, then the state must be removed.
            return self.vrbs.free(index);
        }
        if failed {
            entry.kind = Kind::Broken;
        }
        self.vrbs.free_if_done(index);
    }

    /// Whether the datagram of a forwarded fragment is broken, so that what waits of it is not to be sent any more.
    pub(super) fn is_broken(&self, iface: IfaceId, tag: u16) -> bool {
        let index = self.vrbs.find_out(false, iface, tag);
        index.is_some_and(|index| self.vrbs.entry(index).kind == Kind::Broken)
    }

    /// Opens an entry of the virtual reassembly buffer, which makes room as reassembly does.
    pub(super) fn open_vrb(
        &mut self,
        now: Instant,
        kind: Kind,
        ends: (Side, Side),
        size: u16,
        timeout: Duration,
    ) -> Option<usize> {
        let reassembly = self.reassembler.config();
        let evict = (reassembly.eviction == Eviction::Stalest).then_some(reassembly.progress_window);
        self.vrbs.open(now, kind, ends, size, timeout, evict)
    }

    /// Compresses headers for the next link into `out`, of which at most `room` bytes are written.
    pub(super) fn compress_for(
        &self,
        next: &Out,
        head: &[u8],
        room: usize,
        out: &mut [u8; HEAD_LEN],
    ) -> Result<Compressed, Reason> {
        let out = out.get_mut(..room.min(HEAD_LEN)).unwrap_or_default();
        compress_head(head, &next.link, &Contexts(self.contexts), out)
    }

    /// A tag that no datagram has which this node forwards by an interface.
    pub(super) fn next_tag(&mut self, iface: IfaceId) -> u16 {
        loop {
            let tag = self.tag;
            self.tag = tag.wrapping_add(1);
            // The table is smaller than the range of tags.
            if self.vrbs.find_out(false, iface, tag).is_none() {
                return tag;
            }
        }
    }
}

impl Out {
    pub(super) fn new(ways: &Ways<'_, '_>, iface: IfaceId, dst: LinkAddr) -> Result<Self, Reason> {
        let src = ways.netif.source(iface).ok_or(Reason::NoInterface)?;
        let room = ways.netif.room(iface, dst).ok_or(Reason::NoInterface)?;
        Ok(Self {
            iface,
            link: Link { src, dst },
            room,
        })
    }

    /// A frame's payload of `len` bytes to the next hop, under a tag.
    pub(super) fn payload<S: Sink>(
        &self,
        cx: &mut Cx<'_, '_, S>,
        tag: u16,
        len: usize,
        id: PktId,
    ) -> Result<Pkt, Reason> {
        let packet = cx.new_packet(Module::Lowpan, Class::Receive, 0, len, id, PktId::NONE)?;
        let buf = &mut cx.core.buf;
        let meta = buf.meta_mut(&packet);
        meta.iface = self.iface;
        meta.link_src = self.link.src;
        meta.link_dst = self.link.dst;
        buf.set_msg(&packet, Msg::down(Ty::Link, tag));
        Ok(packet)
    }
}

/// Takes one off the hop limit of a header that is forwarded (RFC 8200 section 3).
pub(super) fn take_a_hop(head: &mut [u8]) {
    if let Some(hop_limit) = head.get_mut(HOP_LIMIT_AT) {
        *hop_limit = hop_limit.saturating_sub(1);
    }
}

/// Where a fragment comes from.
pub(super) fn key(fragment: &Fragment<'_>) -> Side {
    Side {
        iface: fragment.meta.iface,
        addr: fragment.meta.link_src,
        tag: fragment.header.datagram_tag,
    }
}

/// The bytes of a new packet behind its first `at`.
pub(super) fn body<'b>(buf: &'b mut PktBuf<'_>, packet: &Pkt, at: usize) -> &'b mut [u8] {
    let bytes = buf.bytes_mut(packet).unwrap_or_default();
    bytes.get_mut(at..).unwrap_or_default()
}
