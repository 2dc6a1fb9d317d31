//! Forwarding of recoverable fragments and their acknowledgements by the virtual reassembly buffer (RFC 8931 sections 4.4,
//! 6.1 to 6.3).

use super::receive::{First, Incoming, Taken};
use crate::ground::Cx;
use crate::lowpan::forward::{HEAD_LEN, Out, Part, body, take_a_hop};
use crate::lowpan::vrb::{Kind, Side};
use crate::lowpan::{Lowpan, Ways};
use crate::netdev::IfaceId;
use crate::netif::{Mark, is_half_full};
use crate::pktbuf::{Meta, Pkt};
use crate::time::{Duration, Instant};
use crate::trace::{FragmentFate, PktId, Reason, Sink};
use crate::wire::copy;
use crate::wire::lowpan::rfrag::{Bitmap, Rfrag, RfragAck};

/// Why a datagram has to be put together here.
pub(super) enum Local {
    /// It is for this node, or needs it whole.
    Belongs,
    /// It should go on, and there is no place to remember where.
    NoRoom,
}

impl Lowpan<'_> {
    /// Forwards a first fragment, and remembers where the others go, unless its datagram has to be put together here (RFC
    /// 8930 section 5, RFC 8931 section 6.1.1).
    pub(super) fn relay_first<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        fragment: &Incoming<'_>,
        first: &First<'_>,
    ) -> Result<Taken, Local> {
        let whole = Part {
            offset: 0,
            pieces: [first.expanded, first.data],
        };
        let mut head = [0; HEAD_LEN];
        let head = whole.head(&mut head).ok_or(Local::Belongs)?;
        let next_hop = ways.relay(head, first.size.into(), fragment.meta);
        let (iface, link_dst) = next_hop.ok_or(Local::Belongs)?;
        take_a_hop(head);
        let out = match Out::new(ways, iface, link_dst) {
            Ok(out) => out,
            Err(reason) => return Ok(Taken::dropped(reason, None)),
        };
        let (index, known) = self.label_switched(cx.now, fragment, &out).ok_or(Local::NoRoom)?;
        if self.vrbs.entry(index).kind == Kind::Full {
            return Ok(late(fragment));
        }
        let sent = self.send_first_on(cx, ways, index, fragment, (&out, head, &whole));
        Ok(match sent {
            Ok(()) => forwarded(),
            // RFC 8930 section 5: if the first fragment cannot be forwarded, the state must be removed. Where it never
            // can be, its sender is told, and those who know of it behind (RFC 8931 section 6.3).
            Err(Reason::PacketTooBig) => self.refuse(cx, index, known, fragment),
            Err(reason) => {
                self.vrbs.free(index);
                Taken::dropped(reason, None)
            }
        })
    }

    /// The entry for a first fragment: the one of before if it goes the same way (then the next hop knows of it), or a new
    /// one (RFC 8931 section 6.1.1).
    fn label_switched(&mut self, now: Instant, fragment: &Incoming<'_>, out: &Out) -> Option<(usize, bool)> {
        let (size, from) = (fragment.header.offset, fragment.from());
        if let Some(index) = self.vrbs.find_in(true, from) {
            let same_way =
                self.vrbs.to(index) == out.link.dst && self.vrbs.entry(index).out_iface == out.iface;
            if same_way && self.vrbs.entry(index).size == size {
                return Some((index, true));
            }
            // Another way, or the tag is used anew.
            self.vrbs.free(index);
        }
        let to = Side {
            iface: out.iface,
            addr: out.link.dst,
            tag: self.next_short_tag(out.iface)?.into(),
        };
        let timeout = self.silence_max();
        let opened = self.open_vrb(now, Kind::Recover, (from, to), size, timeout)?;
        Some((opened, false))
    }

    /// Sends a first fragment on with its headers compressed for the next link.
    fn send_first_on<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        index: usize,
        fragment: &Incoming<'_>,
        (out, head, whole): (&Out, &[u8], &Part<'_>),
    ) -> Result<(), Reason> {
        let mut compressed = [0; HEAD_LEN];
        let room = out.room.saturating_sub(Rfrag::LEN);
        let headers = self.compress_for(out, head, room, &mut compressed)?;
        let len = headers.written + whole.len().saturating_sub(headers.consumed);
        // RFC 8931 section 4.1: fragments are not cut again on their way.
        if len > room {
            return Err(Reason::PacketTooBig);
        }
        // RFC 8931 section 4.4: the difference changes the size here, and the offsets of all that follow.
        let difference = len as i16 - fragment.header.size as i16;
        let total = fragment.header.offset.checked_add_signed(difference);
        let header = Rfrag {
            size: len as u16,
            offset: total.ok_or(Reason::FragmentInvalid)?,
            ..fragment.header
        };
        let packet = self.fragment_on(cx, ways, index, header, out, fragment.id)?;
        let place = body(&mut cx.core.buf, &packet, Rfrag::LEN);
        let copied = copy(place, compressed.get(..headers.written).unwrap_or_default());
        whole.copy(headers.consumed, place.get_mut(copied..).unwrap_or_default());
        let _queued = cx.core.buf.push(&mut self.outbox, packet);
        self.vrbs.entry_mut(index).next = difference.cast_unsigned();
        self.vrbs.set_deadline(index, cx.now + self.silence_max());
        Ok(())
    }

    /// Forwards a fragment other than the first (RFC 8931 section 6.1.2).
    pub(super) fn relay_next<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        index: usize,
        fragment: &Incoming<'_>,
    ) -> Taken {
        if self.vrbs.entry(index).kind == Kind::Full {
            return late(fragment);
        }
        match self.send_next_on(cx, ways, index, fragment) {
            Ok(()) => {
                self.vrbs.entry_mut(index).progressed = true;
                self.vrbs.set_deadline(index, cx.now + self.silence_max());
                forwarded()
            }
            Err(Reason::PacketTooBig) => self.refuse(cx, index, true, fragment),
            Err(reason) => Taken::dropped(reason, None),
        }
    }

    fn send_next_on<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        index: usize,
        fragment: &Incoming<'_>,
    ) -> Result<(), Reason> {
        let entry = self.vrbs.entry(index);
        let (iface, difference) = (entry.out_iface, entry.next.cast_signed());
        let out = Out::new(ways, iface, self.vrbs.to(index))?;
        if Rfrag::LEN + fragment.data.len() > out.room {
            return Err(Reason::PacketTooBig);
        }
        // An abort has no offset to be changed.
        let offset = match fragment.header.offset {
            0 => Some(0),
            offset => offset
                .checked_add_signed(difference)
                .filter(|offset| *offset != 0),
        };
        let header = Rfrag {
            offset: offset.ok_or(Reason::FragmentInvalid)?,
            ..fragment.header
        };
        let packet = self.fragment_on(cx, ways, index, header, &out, fragment.id)?;
        copy(body(&mut cx.core.buf, &packet, Rfrag::LEN), fragment.data);
        let _queued = cx.core.buf.push(&mut self.outbox, packet);
        Ok(())
    }

    /// The payload of a frame with a fragment header in front, under the tag of the next hop.
    fn fragment_on<S: Sink>(
        &self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        index: usize,
        header: Rfrag,
        out: &Out,
        id: PktId,
    ) -> Result<Pkt, Reason> {
        let tag = self.vrbs.entry(index).out_tag;
        let header = Rfrag {
            tag: tag as u8,
            // RFC 8931 section 4.3.
            congested: header.congested || self.is_congested(cx, ways, out.iface),
            ..header
        };
        let len = Rfrag::LEN + usize::from(header.size);
        let packet = out.payload(cx, tag, len, id)?;
        let buf = &mut cx.core.buf;
        buf.meta_mut(&packet).congested = header.congested;
        // It was made for it.
        let written = buf.bytes_mut(&packet).map(|place| header.emit(place));
        debug_assert!(
            matches!(written, Ok(Ok(_))),
            "a new packet has room for its header"
        );
        Ok(packet)
    }

    /// A fragment that no frame to the next hop holds: the datagram is given up in both directions (RFC 8931 section 6.3),
    /// forward where the next hop has `known` of it.
    fn refuse<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        index: usize,
        known: bool,
        fragment: &Incoming<'_>,
    ) -> Taken {
        let entry = *self.vrbs.entry(index);
        if known {
            let mut bytes = [0; Rfrag::LEN];
            let to = Side {
                iface: entry.out_iface,
                addr: self.vrbs.to(index),
                tag: entry.out_tag,
            };
            if Rfrag::abort(entry.out_tag as u8).emit(&mut bytes).is_ok() {
                self.send_bytes(cx, &bytes, to, fragment.id);
            }
        }
        self.vrbs.free(index);
        Taken::refused(Reason::PacketTooBig)
    }

    /// Forwards the abort of a datagram, and forgets it, unless an acknowledgement will come for that (RFC 8931 section
    /// 6.3).
    pub(super) fn relay_abort<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        index: usize,
        fragment: &Incoming<'_>,
    ) -> Taken {
        let sent = self.send_next_on(cx, ways, index, fragment);
        if !fragment.header.ack_request || sent.is_err() {
            self.vrbs.free(index);
        }
        match sent {
            Ok(()) => forwarded(),
            Err(reason) => Taken::dropped(reason, None),
        }
    }

    /// Forwards an acknowledgement back to where the fragments came from (RFC 8931 section 6.2). False if it belongs to
    /// nothing that is forwarded here.
    pub(super) fn relay_back<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ack: &RfragAck,
        meta: &Meta,
        id: PktId,
    ) -> bool {
        let found = self.vrbs.find_out(true, meta.iface, ack.tag.into());
        let Some(index) = found.filter(|index| self.vrbs.to(*index) == meta.link_src) else {
            return false;
        };
        let entry = self.vrbs.entry_mut(index);
        entry.progressed = true;
        let to = Side {
            iface: entry.in_iface,
            addr: self.vrbs.from(index),
            tag: self.vrbs.entry(index).in_tag,
        };
        match ack.bitmap {
            Bitmap::NULL => self.vrbs.free(index),
            Bitmap::FULL => {
                let linger = self.transfers.config().linger;
                self.vrbs.entry_mut(index).kind = Kind::Full;
                self.vrbs.set_deadline(index, cx.now + linger);
            }
            _ => self.vrbs.set_deadline(index, cx.now + self.silence_max()),
        }
        let back = RfragAck {
            // RFC 8931 section 5.1: the tags have 8 bits.
            tag: to.tag as u8,
            ..*ack
        };
        self.send_bytes(cx, &back.emit(), to, id);
        true
    }

    /// How long a datagram is remembered after a fragment or an acknowledgement of it passed (RFC 8931 section 7, inactivity
    /// cleanup timer): a sender that has not given up is silent no longer than its longest time-out.
    fn silence_max(&self) -> Duration {
        let silence = self.transfers.config().arq_timeout_max.times(2);
        silence.min(self.forward.timeout)
    }

    /// Whether fragments that go out over an interface met congestion here.
    fn is_congested<S: Sink>(&self, cx: &mut Cx<'_, '_, S>, ways: &mut Ways<'_, '_>, iface: IfaceId) -> bool {
        let config = ways.netif.config(iface);
        let tables_count = config.is_some_and(|config| config.mark.when == Mark::HalfFull);
        let tables = [self.reassembler.fill(), self.transfers.fill()];
        (tables_count && tables.into_iter().any(is_half_full))
            || ways.netif.marks(&mut cx.core.rng, cx.now, iface)
    }
}

const fn forwarded() -> Taken {
    Taken {
        fate: FragmentFate::Forwarded,
        answer: None,
        packet: None,
    }
}

/// A fragment of a datagram that was received in full (RFC 8931 section 6.2).
fn late(fragment: &Incoming<'_>) -> Taken {
    let answer = fragment.header.ack_request.then_some(Bitmap::FULL);
    Taken::dropped(Reason::FragmentLate, answer)
}

#[cfg(test)]
mod tests;
