//! 6LoWPAN: IPv6 over IEEE 802.15.4 (RFC 4944) with header compression (RFC 6282), fragmented at the sender and
//! reassembled at every hop.
//!
//! On the way down nothing is prepared: when the interface is asked for a frame, the header is compressed and the next
//! fragment cut straight into it. On the way up a frame is read where the device holds it, and its bytes are copied
//! once, into the packet that they belong to.

use crate::ground::{Core, Cx};
use crate::netapi::{Msg, Next, Ty};
use crate::netdev::{IfaceId, RxInfo};
use crate::pktbuf::{Class, Meta, Pkt, PktBuf, Queue};
use crate::time::{Instant, sooner};
use crate::trace::{End, Event, FragmentFate, Module, PktId, Reason, Sink};
use crate::wire::ParseError;
use crate::wire::iphc::{self, Context, Contexts, Link};
use crate::wire::lowpan::rh::RoutingHeader;
use crate::wire::lowpan::{Dispatch, frag};

mod cut;
mod fill;
mod forward;
mod peers;
mod reassembly;
mod recover;
mod strategy;
mod vrb;

pub use cut::Piece;
pub(crate) use cut::whole;
pub use forward::Ways;
pub use peers::Peer;
pub use reassembly::{Eviction, REMEMBER_MAX, Reassembly, ReassemblyConfig, TIMEOUT_MAX};
pub use recover::{Inbound, Transfer};
pub use strategy::{ForwardConfig, Gap, RecoverConfig, Strategy};
pub use vrb::Vrb;

use peers::Peers;
use reassembly::{Fragment, Reassembler, tell};
use recover::{Inbounds, Transfers};
use vrb::Vrbs;

/// Whether pages other than the first are known (RFC 8025), and the routing headers in one of them (RFC 8138).
const PAGES: bool = cfg!(feature = "routing-headers");

/// Expanded headers that a frame usually carries: IPv6 and UDP, with room for one extension header, in bytes.
const HEADERS_LEN: usize = 96;

/// The longest expanded headers that are taken from one frame, in bytes. A frame of 127 bytes cannot describe more than
/// this with headers that mean something.
const HEADERS_LEN_MAX: usize = 512;

/// How 6LoWPAN behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LowpanConfig {
    /// How reassembly behaves.
    pub reassembly: ReassemblyConfig,
    /// How fragments of RFC 4944 are forwarded.
    pub forward: ForwardConfig,
    /// How recoverable fragments are sent.
    pub recover: RecoverConfig,
}

/// The module.
pub struct Lowpan<'a> {
    reassembler: Reassembler<'a>,
    contexts: &'a mut [Context],
    vrbs: Vrbs<'a>,
    forward: ForwardConfig,
    /// Payloads of frames that go to the interfaces.
    outbox: Queue,
    /// Datagrams that should have been forwarded by their fragments and were put together here instead.
    fallbacks: u32,
    transfers: Transfers<'a>,
    inbounds: Inbounds<'a>,
    /// The tag of the next datagram that is fragmented.
    tag: u16,
    /// The tag of the next datagram that is sent or forwarded in recoverable fragments.
    short_tag: u8,
}

/// The memory of the module. The length of each slice is a capacity.
pub struct Tables<'a> {
    /// Reassemblies at once.
    pub reassemblies: &'a mut [Reassembly],
    /// Compression contexts, at most 16 (RFC 6282 section 3.1.2).
    pub contexts: &'a mut [Context],
    /// Datagrams whose fragments are forwarded at once.
    pub vrbs: &'a mut [Vrb],
    /// Neighbours between which they are forwarded.
    pub peers: &'a mut [Peer],
    /// Datagrams that are sent in recoverable fragments at once.
    pub transfers: &'a mut [Transfer],
    /// Datagrams that come in in recoverable fragments at once.
    pub inbounds: &'a mut [Inbound],
}

impl<'a> Lowpan<'a> {
    /// Puts the module together. `tag` is where the datagram tags begin: random, so that a reboot does not continue
    /// reassemblies of before.
    pub fn new(tables: Tables<'a>, config: LowpanConfig, tag: u16) -> Self {
        tables.contexts.fill(Context::EMPTY);
        Self {
            reassembler: Reassembler::new(tables.reassemblies, config.reassembly),
            contexts: tables.contexts,
            vrbs: Vrbs::new(tables.vrbs, Peers::new(tables.peers)),
            forward: config.forward,
            outbox: Queue::EMPTY,
            fallbacks: 0,
            transfers: Transfers::new(tables.transfers, config.recover),
            inbounds: Inbounds::new(tables.inbounds),
            tag,
            short_tag: (tag >> 8) as u8,
        }
    }

    /// Gives the tables back.
    pub fn into_tables(self) -> Tables<'a> {
        let (vrbs, peers) = self.vrbs.into_parts();
        Tables {
            reassemblies: self.reassembler.into_table(),
            contexts: self.contexts,
            vrbs,
            peers: peers.into_table(),
            transfers: self.transfers.into_table(),
            inbounds: self.inbounds.into_table(),
        }
    }

    /// Sets or deletes (`None`) a compression context (RFC 6282 section 3.1.2). False if there is no such place.
    pub fn set_context(&mut self, number: u8, context: Option<Context>) -> bool {
        let place = self.contexts.get_mut(usize::from(number));
        place
            .map(|place| *place = context.unwrap_or(Context::EMPTY))
            .is_some()
    }

    /// The compression contexts.
    pub const fn contexts(&self) -> &[Context] {
        self.contexts
    }

    /// The reassembly table's behaviour.
    pub fn reassembly_config(&self) -> ReassemblyConfig {
        self.reassembler.config()
    }

    /// Changes the reassembly table's behaviour.
    pub fn set_reassembly_config(&mut self, config: ReassemblyConfig) {
        self.reassembler.set_config(config);
    }

    /// Reassemblies that are under way.
    pub fn reassemblies(&self) -> usize {
        self.reassembler.active()
    }

    /// Whether [`deadline`](Self::deadline) may have changed since this was last asked.
    pub fn deadline_changed(&mut self) -> bool {
        // All are asked, so that all forget.
        let own = self.transfers.changed() | self.inbounds.changed();
        self.reassembler.changed() | self.vrbs.changed() | own
    }

    /// When [`expire`](Self::expire) wants to be called.
    pub fn deadline(&self) -> Option<Instant> {
        let mut deadline = self.reassembler.deadline();
        if forward::HERE {
            deadline = sooner(deadline, self.vrbs.deadline());
        }
        if recover::HERE {
            deadline = sooner(
                deadline,
                sooner(self.transfers.deadline(), self.inbounds.deadline()),
            );
        }
        deadline
    }

    /// Gives up the reassemblies, and forgets the forwarded datagrams, whose time is over; and does what is due for those
    /// under recovery.
    pub fn expire<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) {
        self.reassembler.expire(cx);
        self.vrbs.expire(cx.now);
        self.inbounds.expire(cx.now);
        self.expire_transfers(cx);
    }

    /// A frame's payload that is to be sent: its metadata names interface and next hop, its message what it is.
    pub fn outgoing(&mut self, core: &mut Core<'_>) -> Option<Pkt> {
        // Nothing else is made here before an interface asks for it.
        if forward::HERE {
            core.buf.pop(&mut self.outbox)
        } else {
            None
        }
    }

    /// Datagrams that are forwarded by their fragments.
    pub fn forwards_under_way(&self) -> usize {
        self.vrbs.used()
    }

    /// Datagrams that should have been forwarded by their fragments and were put together here instead.
    pub const fn fallbacks(&self) -> u32 {
        self.fallbacks
    }

    /// Datagrams that this node sends in recoverable fragments.
    pub fn transfers(&self) -> usize {
        self.transfers.used()
    }

    /// How recoverable fragments are sent.
    pub const fn recover_config(&self) -> &RecoverConfig {
        self.transfers.config()
    }

    /// Changes how recoverable fragments are sent.
    pub fn set_recover_config(&mut self, config: RecoverConfig) {
        self.transfers.set_config(config);
    }

    /// How fragments are forwarded.
    pub const fn forward_config(&self) -> ForwardConfig {
        self.forward
    }

    /// Changes how fragments are forwarded, from the next datagram on.
    pub const fn set_forward_config(&mut self, config: ForwardConfig) {
        self.forward = config;
    }

    /// Ends every packet that is kept here.
    pub fn give_up<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        self.reassembler.give_up_all(cx, reason);
        self.vrbs.clear();
        self.transfers.give_up(cx, reason);
        self.inbounds.clear();
        while let Some(packet) = cx.core.buf.pop(&mut self.outbox) {
            let _ended = cx.drop(packet, Module::Lowpan, reason);
        }
    }

    /// Shows every packet that is kept here to an audit.
    pub fn holds(&self, buf: &PktBuf<'_>, see: &mut dyn FnMut(&Pkt)) {
        self.reassembler.holds(buf, see);
        buf.walk(&self.outbox, see);
        self.transfers.holds(see);
    }

    /// The link is done with a frame of this packet: it was sent, or it failed.
    pub fn settle<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, packet: Pkt, failed: Option<Reason>) {
        let buf = &cx.core.buf;
        let (iface, msg) = (buf.meta(&packet).iface, buf.msg(&packet));
        let tag = msg.context;
        if msg.ty == Ty::Recover {
            return self.settle_transfer(cx, packet, tag.into(), failed);
        }
        // The tags of RFC 8931 are others.
        if is_fragment(buf.read(&packet)) {
            self.forwarded(iface, tag, failed.is_some());
        }
        let _ended = cx.end(packet, Module::Netif, failed.map_or(End::Sent, End::Dropped));
    }

    /// Takes the payload of a frame that the interface accepted.
    pub fn frame<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        payload: &[u8],
        meta: &Meta,
        info: &RxInfo,
    ) -> Option<Next> {
        match self.read(cx, ways, payload, meta, info) {
            Ok(packet) => packet.map(|packet| Next::To(Msg::up(Ty::Ipv6, u16::from(meta.iface.0)), packet)),
            Err(reason) => {
                refused(cx, meta.iface, reason, info.id);
                None
            }
        }
    }

    /// Takes a packet that came as it is, over an interface of such. Where memory is short, stale reassemblies give way.
    pub fn packet<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        packet: &[u8],
        meta: &Meta,
        info: &RxInfo,
    ) -> Option<Next> {
        let iface = meta.iface;
        loop {
            match new_packet(cx, &[], packet, meta, info.id) {
                Ok(packet) => return Some(Next::To(Msg::up(Ty::Ipv6, u16::from(iface.0)), packet)),
                Err(_) if self.reassembler.make_room(cx, None) => {}
                Err(reason) => {
                    refused(cx, iface, reason, info.id);
                    return None;
                }
            }
        }
    }

    /// What a frame's payload is: a datagram, a piece of one, or nothing for us. Gives a datagram that is complete.
    fn read<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        payload: &[u8],
        meta: &Meta,
        info: &RxInfo,
    ) -> Result<Option<Pkt>, Reason> {
        let id = info.id;
        // Most frames of a long datagram have nothing that would have to be skipped.
        let (dispatch, body) = if frag::Fragment::is_subsequent(payload) {
            (Dispatch::FragN, payload)
        } else {
            strip(payload)?
        };
        if dispatch == Dispatch::FragN {
            return self.subsequent(cx, ways, body, meta, id);
        }
        let mut frame = Frame {
            dispatch,
            body,
            first: None,
            meta,
            id,
        };
        if dispatch == Dispatch::Frag1 {
            let (header, data) = frag::Fragment::parse(body).map_err(|_| Reason::FragmentInvalid)?;
            // RFC 4944 section 5.3 and RFC 8138 section 3.2.1: a first fragment carries what a frame would, but no
            // fragment.
            (frame.dispatch, frame.body) = strip(data)?;
            frame.first = Some(header);
        }
        // RFC 8931: they tell their datagrams apart by themselves.
        match frame.dispatch {
            _ if frame.first.is_some() => {}
            Dispatch::Rfrag if recover::HERE => return self.recoverable(cx, ways, body, meta, id),
            Dispatch::RfragAck if recover::HERE => {
                return self.acknowledgement(cx, body, meta, id).map(|()| None);
            }
            _ => {}
        }
        // RFC 4944 section 10 is deprecated by RFC 6282 section 1.
        if !matches!(frame.dispatch, Dispatch::Iphc | Dispatch::Ipv6) {
            return Err(Reason::LowpanDispatch);
        }
        match self.datagram(cx, ways, &frame, &mut [0; HEADERS_LEN]) {
            Err(ParseError::NoRoom) => self.datagram_of_many_headers(cx, ways, &frame),
            taken => taken,
        }
        .unwrap_or_else(|error| Err(header_reason(error)))
    }

    /// A fragment other than the first. On a small processor a function of its own, whose values fit the registers.
    #[cfg_attr(target_os = "none", inline(never))]
    fn subsequent<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        body: &[u8],
        meta: &Meta,
        id: PktId,
    ) -> Result<Option<Pkt>, Reason> {
        let (header, data) = frag::Fragment::parse(body).map_err(|_| Reason::FragmentInvalid)?;
        let fragment = Fragment {
            meta,
            header,
            expanded: &[],
            data,
            id,
        };
        if self.reassembler.insert_expected(cx, &fragment) {
            return Ok(None);
        }
        // A copy: what is lent goes to memory, and it shall do so from here on only.
        Ok(self.follow_up(cx, ways, &Fragment { ..fragment }))
    }

    /// As [`datagram`](Self::datagram), with room for more headers. A function of its own, for that is not always on the
    /// call stack.
    #[cold]
    #[inline(never)]
    fn datagram_of_many_headers<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        frame: &Frame<'_>,
    ) -> Result<Result<Option<Pkt>, Reason>, ParseError> {
        self.datagram(cx, ways, frame, &mut [0; HEADERS_LEN_MAX])
    }

    /// A datagram in one frame, or its first fragment. Its headers are expanded into `headers`.
    #[cfg_attr(target_os = "none", inline(never))]
    fn datagram<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        frame: &Frame<'_>,
        headers: &mut [u8],
    ) -> Result<Result<Option<Pkt>, Reason>, ParseError> {
        let &Frame { meta, id, body, .. } = frame;
        let (expanded, data) = expand(frame, &Contexts(self.contexts), headers)?;
        Ok(match frame.first {
            Some(header) => {
                let fragment = Fragment {
                    meta,
                    header,
                    expanded,
                    data,
                    id,
                };
                Ok(self.first_fragment(cx, ways, &fragment))
            }
            None => self.store(cx, expanded, data, body.len(), meta, id).map(Some),
        })
    }

    /// A packet of a datagram that came in one frame. Where memory is short, stale reassemblies give way.
    fn store<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        header: &[u8],
        data: &[u8],
        compressed_len: usize,
        meta: &Meta,
        id: PktId,
    ) -> Result<Pkt, Reason> {
        loop {
            match store(cx, header, data, compressed_len, meta, id) {
                Err(_) if self.reassembler.make_room(cx, None) => {}
                stored => return stored,
            }
        }
    }

    /// A first fragment; gives the datagram if it is complete now.
    fn first_fragment<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        fragment: &Fragment<'_>,
    ) -> Option<Pkt> {
        if self.forwards(ways, fragment.meta) && self.reassembler.find(fragment, cx.now).is_none() {
            match self.forward_first(cx, ways, fragment) {
                Ok(true) => return None,
                Ok(false) => {}
                Err(reason) if !self.forward.fallback || reason == Reason::FragmentDuplicate => {
                    tell(cx, fragment, FragmentFate::Dropped(reason));
                    return None;
                }
                Err(_) => return self.fall_back(cx, fragment),
            }
        }
        self.reassembler.insert(cx, fragment)
    }

    /// A fragment other than the first; gives the datagram if it is complete now.
    fn follow_up<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ways: &mut Ways<'_, '_>,
        fragment: &Fragment<'_>,
    ) -> Option<Pkt> {
        let refused = if let Some(index) = self.vrbs.find_in(false, forward::key(fragment)) {
            self.forward_next(cx, ways, index, fragment).err()
        } else if !self.forwards(ways, fragment.meta) || self.reassembler.find(fragment, cx.now).is_some() {
            return self.reassembler.insert(cx, fragment);
        } else if self.forward.fallback {
            return self.fall_back(cx, fragment);
        } else {
            // RFC 8930 section 5: without state of the first fragment it must be dropped.
            Some(Reason::FragmentUnknown)
        };
        if let Some(reason) = refused {
            tell(cx, fragment, FragmentFate::Dropped(reason));
        }
        None
    }

    /// The first fragment to come of a datagram that should be forwarded and is put together here (Lenders et al. 2021,
    /// section III-B), if there is room for that.
    fn fall_back<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, fragment: &Fragment<'_>) -> Option<Pkt> {
        let whole = self.reassembler.insert(cx, fragment);
        if whole.is_some() || self.reassembler.find(fragment, cx.now).is_some() {
            self.fallbacks = self.fallbacks.saturating_add(1);
            tell(cx, fragment, FragmentFate::FellBack);
        }
        whole
    }
}

/// Puts on record that a frame was not taken.
fn refused<S: Sink>(cx: &mut Cx<'_, '_, S>, iface: IfaceId, reason: Reason, id: PktId) {
    cx.count(reason);
    cx.event(Event::FrameDropped { id, iface, reason });
}

/// Whether a payload that begins so is a fragment of RFC 4944.
const fn is_fragment(first: Option<[u8; 1]>) -> bool {
    matches!(first, Some([byte]) if matches!(Dispatch::of(byte, 0), Dispatch::Frag1 | Dispatch::FragN))
}

/// A frame that carries a datagram from its beginning on.
struct Frame<'a> {
    dispatch: Dispatch,
    /// The datagram, from its dispatch on.
    body: &'a [u8],
    /// The fragment header, if there is one.
    first: Option<frag::Fragment>,
    meta: &'a Meta,
    id: PktId,
}

/// Skips what stands before a datagram or fragment in a frame.
///
/// What of this a node would have to act upon ends the frame, since nothing here does, and is not looked into: mesh-under
/// forwarding (RFC 4944 section 11; a frame that went through a mesh has other addresses than its MAC header says) and
/// critical routing headers (RFC 8138 section 4.2). Those that are elective are skipped (section 4.1).
#[cfg_attr(target_os = "none", inline(never))]
fn strip(payload: &[u8]) -> Result<(Dispatch, &[u8]), Reason> {
    let (mut rest, mut page) = (payload, 0);
    let (mut paged, mut routed, mut behind_row) = (false, false, false);
    while let [byte, tail @ ..] = rest {
        match Dispatch::of(*byte, page) {
            Dispatch::Page(_) if !PAGES => break,
            Dispatch::Page(next) => {
                page = next;
                paged |= page != 0;
                behind_row = routed;
                rest = tail;
            }
            // RFC 8138 section 3.2: all of them are in one row.
            Dispatch::ElectiveRoutingHeader if behind_row => break,
            Dispatch::ElectiveRoutingHeader => {
                let skipped = RoutingHeader::parse(rest);
                (_, rest) = skipped.map_err(|_| Reason::LowpanDispatch)?;
                routed = true;
            }
            Dispatch::CriticalRoutingHeader => return Err(Reason::LowpanCriticalHeader),
            Dispatch::Mesh => return Err(Reason::LowpanMesh),
            Dispatch::Nalp | Dispatch::Esc | Dispatch::Unknown | Dispatch::Bc0 => break,
            // RFC 8025 section 4: these are before the first page other than 0.
            Dispatch::Frag1 | Dispatch::FragN | Dispatch::Rfrag | Dispatch::RfragAck if paged => break,
            dispatch => return Ok((dispatch, rest)),
        }
    }
    Err(Reason::LowpanDispatch)
}

/// The headers in full, in `headers`, and what follows them. Beside the errors of [`iphc::decompress`] there is
/// [`ParseError::Checksum`] for one that is missing.
#[inline]
fn expand<'b>(
    frame: &Frame<'b>,
    contexts: &Contexts<'_>,
    headers: &'b mut [u8],
) -> Result<(&'b [u8], &'b [u8]), ParseError> {
    let body = frame.body;
    if frame.dispatch == Dispatch::Ipv6 {
        // RFC 4944 section 5.1: the header follows the dispatch as it is.
        return Ok((&[], body.get(1..).unwrap_or_default()));
    }
    let link = Link {
        src: frame.meta.link_src,
        dst: frame.meta.link_dst,
    };
    // Of a first fragment, the frame does not tell the size of the datagram.
    let size = frame.first.map(|header| header.datagram_size.into());
    let expanded = iphc::decompress(body, &link, contexts, size, headers)?;
    if expanded.udp_checksum_elided.is_some() {
        // RFC 6282 section 4.3.2: nobody here authorises that.
        return Err(ParseError::Checksum);
    }
    let header = headers.get(..expanded.written).ok_or(ParseError::NoRoom)?;
    let data = body.get(expanded.consumed..).ok_or(ParseError::Length)?;
    Ok((header, data))
}

/// Why a compressed header cannot be used.
const fn header_reason(error: ParseError) -> Reason {
    match error {
        ParseError::Unknown => Reason::LowpanContext,
        ParseError::Checksum => Reason::LowpanChecksumElided,
        _ => Reason::LowpanHeader,
    }
}

/// A packet of a datagram that came in one frame.
#[inline]
fn store<S: Sink>(
    cx: &mut Cx<'_, '_, S>,
    header: &[u8],
    data: &[u8],
    compressed_len: usize,
    meta: &Meta,
    id: PktId,
) -> Result<Pkt, Reason> {
    let packet = new_packet(cx, header, data, meta, id)?;
    cx.event(Event::Decompressed {
        id,
        compressed_len: compressed_len as u16,
        len: (header.len() + data.len()) as u16,
    });
    Ok(packet)
}

/// A packet of headers and what follows them, with this metadata.
#[cfg_attr(target_os = "none", inline(never))]
#[cfg_attr(not(target_os = "none"), inline)]
fn new_packet<S: Sink>(
    cx: &mut Cx<'_, '_, S>,
    header: &[u8],
    data: &[u8],
    meta: &Meta,
    id: PktId,
) -> Result<Pkt, Reason> {
    let len = header.len() + data.len();
    let packet = cx.new_packet(Module::Lowpan, Class::Receive, 0, len, id, PktId::NONE)?;
    if let Err(reason) = fill(&mut cx.core.buf, &packet, meta, header, data) {
        let _ended = cx.drop(packet, Module::Lowpan, reason);
        return Err(reason);
    }
    Ok(packet)
}

/// Writes metadata, headers and what follows them into a new packet of just their length.
#[inline]
fn fill(buf: &mut PktBuf<'_>, packet: &Pkt, meta: &Meta, header: &[u8], data: &[u8]) -> Result<(), Reason> {
    *buf.meta_mut(packet) = *meta;
    let room = buf.bytes_mut(packet)?;
    let (place, rest) = room.split_at_mut_checked(header.len()).ok_or(Reason::NoBuffer)?;
    place.copy_from_slice(header);
    rest.copy_from_slice(data);
    Ok(())
}

#[cfg(test)]
mod tests;
