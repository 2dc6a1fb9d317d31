//! What is done with recoverable fragments that come in: they are put together, forwarded, or refused (RFC 8931 sections
//! 5.1, 6 and 6.1).

use super::inbound::{Inbound, State};
use super::relay::Local;
use crate::ground::Cx;
use crate::lowpan::reassembly::{Fragment, Label};
use crate::lowpan::vrb::Side;
use crate::lowpan::{Frame, HEADERS_LEN, HEADERS_LEN_MAX, Lowpan, Ways, expand, header_reason, strip};
use crate::netapi::{Msg, Ty};
use crate::pktbuf::{Class, Meta, Pkt};
use crate::trace::{Event, FragmentFate, Module, PktId, Reason, Sink};
use crate::wire::ParseError;
use crate::wire::iphc::Contexts;
use crate::wire::lowpan::Dispatch;
use crate::wire::lowpan::frag::{self, DATAGRAM_SIZE_MAX};
use crate::wire::lowpan::rfrag::{Bitmap, Rfrag, RfragAck};

/// A recoverable fragment as it came in.
pub(super) struct Incoming<'f> {
    pub(super) header: Rfrag,
    pub(super) data: &'f [u8],
    pub(super) meta: &'f Meta,
    pub(super) id: PktId,
}

impl Incoming<'_> {
    /// Where it comes from.
    pub(super) fn from(&self) -> Side {
        Side {
            iface: self.meta.iface,
            addr: self.meta.link_src,
            tag: self.header.tag.into(),
        }
    }
}

/// What became of a fragment, and what its sender is told.
pub(super) struct Taken {
    pub(super) fate: FragmentFate,
    /// The bitmap of the acknowledgement, if there is one.
    pub(super) answer: Option<Bitmap>,
    /// The datagram, if it is complete now.
    pub(super) packet: Option<Pkt>,
}

impl Taken {
    pub(super) const fn dropped(reason: Reason, answer: Option<Bitmap>) -> Self {
        Self {
            fate: FragmentFate::Dropped(reason),
            answer,
            packet: None,
        }
    }

    /// RFC 8931 sections 6.1.2 and 6.3: the datagram is not known or not wanted here.
    pub(super) const fn refused(reason: Reason) -> Self {
        Self::dropped(reason, Some(Bitmap::NULL))
    }
}

/// What a first fragment says of its datagram.
pub(super) struct First<'f> {
    pub(super) expanded: &'f [u8],
    pub(super) data: &'f [u8],
    /// Bytes of the datagram, its headers expanded.
    pub(super) size: u16,
    /// Bytes that they have more than when they are compressed.
    shift: i16,
}

impl Lowpan<'_> {
    /// Takes the payload of a frame that is a recoverable fragment. Gives the datagram if it is complete now.
    pub(in crate::lowpan) fn recoverable<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        body: &[u8],
        meta: &Meta,
        id: PktId,
    ) -> Result<Option<Pkt>, Reason> {
        let (header, data) = Rfrag::parse(body).map_err(|_| Reason::FragmentInvalid)?;
        if meta.multicast {
            // An answer from each of many would be more than was asked for.
            return Err(Reason::FragmentInvalid);
        }
        let fragment = Incoming {
            header,
            data,
            meta,
            id,
        };
        let place = self.inbounds.find(fragment.from());
        let taken = if header.is_abort() {
            self.aborted(cx, ways, &fragment, place)
        } else if let Some(index) = self.vrbs.find_in(true, fragment.from())
            && !header.is_first()
        {
            self.relay_next(cx, ways, index, &fragment)
        } else if header.is_first() {
            self.take_first(cx, ways, &fragment, place)
        } else if let Some(place) = place {
            self.take_next(cx, place, &fragment)
        } else {
            // RFC 8931 section 6.1.2.
            Taken::refused(Reason::FragmentUnknown)
        };
        if let FragmentFate::Dropped(reason) = taken.fate {
            cx.count(reason);
        }
        tell(cx, &fragment, taken.fate);
        if let Some(bitmap) = taken.answer {
            let place = self.inbounds.find(fragment.from());
            let entry = place.and_then(|place| self.inbounds.get_mut(place));
            let ack = RfragAck {
                congested: entry.map_or(header.congested, Inbound::take_echo),
                tag: header.tag,
                bitmap,
            };
            self.acknowledge(cx, &ack, fragment.from(), id);
        }
        Ok(taken.packet)
    }

    /// A first fragment: its datagram is forwarded, or put together here.
    #[cfg_attr(target_os = "none", inline(never))]
    fn take_first<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        fragment: &Incoming<'_>,
        place: Option<usize>,
    ) -> Taken {
        let mut headers = [0; HEADERS_LEN];
        let mut long_headers;
        let mut first = self.first_of(fragment, &mut headers);
        if let Err(Reason::NoBuffer) = first {
            long_headers = [0; HEADERS_LEN_MAX];
            first = self.first_of(fragment, &mut long_headers);
        }
        let first = match first {
            Ok(first) => first,
            Err(reason) => return Taken::refused(reason),
        };
        if let Some(place) = place {
            match self.inbounds.get_mut(place) {
                Some(entry) if entry.size == first.size && entry.shift == first.shift => {
                    return self.take_next(cx, place, fragment);
                }
                // The tag is used anew: the datagram of before will not be continued.
                _ => self.forget(cx, place, Reason::ReassemblyConflict),
            }
        }
        match self.relay_first(cx, ways, fragment, &first) {
            Ok(taken) => taken,
            Err(Local::Belongs) => self.open(cx, fragment, &first),
            Err(Local::NoRoom) => {
                let taken = self.open(cx, fragment, &first);
                if !matches!(taken.fate, FragmentFate::Dropped(_)) {
                    self.fallbacks = self.fallbacks.saturating_add(1);
                    tell(cx, fragment, FragmentFate::FellBack);
                }
                taken
            }
        }
    }

    /// The datagram of a first fragment, with its headers expanded into `headers`.
    fn first_of<'f>(&self, fragment: &Incoming<'f>, headers: &'f mut [u8]) -> Result<First<'f>, Reason> {
        let (dispatch, body) = strip(fragment.data)?;
        if !matches!(dispatch, Dispatch::Iphc | Dispatch::Ipv6) {
            return Err(Reason::LowpanDispatch);
        }
        let mut frame = Frame {
            dispatch,
            body,
            first: None,
            meta: fragment.meta,
            id: fragment.id,
        };
        let contexts = Contexts(self.contexts);
        let refuse = |error| match error {
            ParseError::NoRoom => Reason::NoBuffer,
            error => header_reason(error),
        };
        // What is missing is as long compressed as it is expanded; of the rest, only expansion tells.
        let missing = usize::from(fragment.header.offset - fragment.header.size);
        let (expanded, data) = expand(&frame, &contexts, headers).map_err(refuse)?;
        let size = expanded.len() + data.len() + missing;
        if size > usize::from(DATAGRAM_SIZE_MAX) {
            return Err(Reason::DatagramTooLarge);
        }
        frame.first = Some(frag::Fragment {
            datagram_size: size as u16,
            ..frag::Fragment::default()
        });
        let (expanded, data) = expand(&frame, &contexts, headers).map_err(refuse)?;
        Ok(First {
            expanded,
            data,
            size: size as u16,
            // Both are at most as large as a datagram.
            shift: (size as i32 - i32::from(fragment.header.offset)) as i16,
        })
    }

    /// Opens a reassembly with its first fragment.
    fn open<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, fragment: &Incoming<'_>, first: &First<'_>) -> Taken {
        let deadline = cx.now + self.reassembler.config().timeout;
        let entry = Inbound::new(fragment.from(), first.size, first.shift, deadline);
        let reassembler = &self.reassembler;
        let is_gone = |entry: &Inbound| !reassembler.is_open(&label(entry, 0, 0));
        let Some(place) = self.inbounds.enter(entry, is_gone) else {
            return Taken::refused(Reason::ReassemblyFull);
        };
        let part = Fragment {
            meta: fragment.meta,
            header: Default::default(),
            expanded: first.expanded,
            data: first.data,
            id: fragment.id,
        };
        let label = label(&entry, 0, first.expanded.len() + first.data.len());
        let stored = self.reassembler.insert_part(cx, &label, &part);
        self.stored(cx, place, fragment, stored)
    }

    /// A fragment of a datagram that is being put together here, or was a short time ago.
    fn take_next<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, place: usize, fragment: &Incoming<'_>) -> Taken {
        let header = &fragment.header;
        let answers = |bitmap| header.ack_request.then_some(bitmap);
        let Some(entry) = self.inbounds.get_mut(place) else {
            return Taken::refused(Reason::FragmentUnknown);
        };
        entry.congested |= header.congested;
        if entry.state == State::Full {
            // RFC 8931 section 6: what was still in flight is absorbed.
            return Taken::dropped(Reason::FragmentLate, answers(Bitmap::FULL));
        }
        if entry.received.has(header.sequence) {
            return Taken::dropped(Reason::FragmentDuplicate, answers(entry.received));
        }
        let from = i32::from(header.start()) + i32::from(entry.shift);
        let end = from + i32::from(header.size);
        if from < 0 || end > i32::from(entry.size) {
            return Taken::dropped(Reason::FragmentInvalid, None);
        }
        let (mut from, end) = (from as u16, end as u16);
        let (entry, start) = (*entry, from);
        // Fragments may overlap (RFC 8931 section 6.1.2): what is there already stays.
        let mut stored = Ok((None, FragmentFate::InOrder));
        while let Some((gap_from, gap_end)) = self
            .reassembler
            .gap(cx, &label(&entry, from, usize::from(end - from)))
        {
            let data = fragment
                .data
                .get(usize::from(gap_from - start)..usize::from(gap_end - start));
            let part = Fragment {
                meta: fragment.meta,
                header: Default::default(),
                expanded: &[],
                data: data.unwrap_or_default(),
                id: fragment.id,
            };
            let label = label(&entry, gap_from, part.data.len());
            stored = self.reassembler.insert_part(cx, &label, &part);
            from = gap_end;
            if !matches!(stored, Ok((None, _))) || from >= end {
                break;
            }
        }
        self.stored(cx, place, fragment, stored)
    }

    /// A fragment was stored, or could not be.
    fn stored<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        place: usize,
        fragment: &Incoming<'_>,
        stored: Result<(Option<Pkt>, FragmentFate), Reason>,
    ) -> Taken {
        let header = &fragment.header;
        let linger = self.transfers.config().linger;
        let Some(entry) = self.inbounds.get_mut(place) else {
            return Taken::refused(Reason::FragmentUnknown);
        };
        match stored {
            Ok((packet, fate)) => {
                entry.received.0 |= Bitmap::of(header.sequence).0;
                entry.congested |= header.congested;
                let received = entry.received;
                let open = self.reassembler.is_open(&label(entry, 0, 0));
                let complete = packet.is_some();
                if complete {
                    self.inbounds.fill(place, cx.now + linger);
                } else if !open {
                    // Given up meanwhile, for its time or for want of memory.
                    self.inbounds.free(place);
                    return Taken::refused(Reason::FragmentUnknown);
                }
                Taken {
                    fate,
                    // RFC 8931 section 6: when asked for, and when the datagram is complete.
                    answer: match (complete, header.ack_request) {
                        (true, _) => Some(Bitmap::FULL),
                        (false, true) => Some(received),
                        (false, false) => None,
                    },
                    packet,
                }
            }
            Err(reason) => {
                self.inbounds.free(place);
                Taken::refused(reason)
            }
        }
    }

    /// The sender, or a node on the path, gave the datagram up (RFC 8931 section 6.3).
    fn aborted<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        fragment: &Incoming<'_>,
        place: Option<usize>,
    ) -> Taken {
        let header = &fragment.header;
        if let Some(index) = self.vrbs.find_in(true, fragment.from()) {
            return self.relay_abort(cx, ways, index, fragment);
        }
        let answer = header.ack_request.then_some(Bitmap::NULL);
        match place {
            Some(place) => {
                self.forget(cx, place, Reason::RecoverAborted);
                Taken::dropped(Reason::RecoverAborted, answer)
            }
            // RFC 8931 section 5.1: nothing to clean up.
            None if header.is_first() => Taken::dropped(Reason::FragmentUnknown, answer),
            None => Taken::refused(Reason::FragmentUnknown),
        }
    }

    /// Forgets a datagram and what was stored of it.
    fn forget<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, place: usize, reason: Reason) {
        if let Some(entry) = self.inbounds.get_mut(place) {
            let entry = *entry;
            self.reassembler.discard(cx, &label(&entry, 0, 0), reason);
            self.inbounds.free(place);
        }
    }

    /// Sends an acknowledgement to where fragments came from.
    fn acknowledge<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, ack: &RfragAck, to: Side, id: PktId) {
        self.send_bytes(cx, &ack.emit(), to, id);
    }

    /// Sends what takes no more room than an acknowledgement.
    pub(super) fn send_bytes<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, bytes: &[u8], to: Side, id: PktId) {
        let packet = cx.new_packet(Module::Lowpan, Class::Transmit, 0, bytes.len(), id, PktId::NONE);
        let packet = match packet {
            Ok(packet) => packet,
            Err(reason) => return cx.count(reason),
        };
        let buf = &mut cx.core.buf;
        // It was made for it.
        let _written = buf.write_bytes(&packet, 0, bytes);
        let meta = buf.meta_mut(&packet);
        meta.iface = to.iface;
        meta.link_dst = to.addr;
        buf.set_msg(&packet, Msg::down(Ty::Link, to.tag));
        let _queued = buf.push(&mut self.outbox, packet);
    }
}

/// What the reassembler knows a part of a datagram by.
fn label(entry: &Inbound, offset: u16, len: usize) -> Label {
    Label::recoverable(entry.from(), entry.size, offset, len as u16)
}

pub(super) fn tell<S: Sink>(cx: &mut Cx<'_, '_, S>, fragment: &Incoming<'_>, fate: FragmentFate) {
    let header = &fragment.header;
    cx.event(Event::RecoverableIn {
        id: fragment.id,
        from: fragment.meta.link_src,
        tag: header.tag,
        sequence: header.sequence,
        offset: header.start(),
        len: header.size,
        ack_request: header.ack_request,
        congested: header.congested,
        fate,
    });
}
