//! Selective fragment recovery (RFC 8931): datagrams that this node sends in recoverable fragments.
//!
//! A datagram occupies its own bytes and an entry here, and no fragment of it exists but in the device's frame. Its
//! packet is either kept here, waiting for an acknowledgement, for its time, or for a new beginning; or it waits at the
//! interface for a frame, and the entry says what goes into that.

mod inbound;
mod receive;
mod relay;
mod sender;
mod transfer;

pub use inbound::Inbound;
pub use transfer::Transfer;

use super::Lowpan;
use super::cut::Piece;
use crate::congure::{Batch, Report};
use crate::ground::Cx;
use crate::netapi::{Msg, Ty};
use crate::netdev::IfaceId;
use crate::pktbuf::{Meta, Pkt};
use crate::trace::{End, Event, Module, PktId, Reason, Sink};
use crate::wire::addr::LinkAddr;
use crate::wire::iphc::{Compressed, Link};
use crate::wire::lowpan::rfrag::{Rfrag, RfragAck};
pub(in crate::lowpan) use inbound::Inbounds;
use sender::Need;
pub(in crate::lowpan) use transfer::Transfers;

/// Whether recovery is compiled in.
pub(super) const HERE: bool = cfg!(feature = "recover");

impl Lowpan<'_> {
    /// Begins to send a datagram that no frame holds in recoverable fragments, the first of them into `out`.
    pub(super) fn begin_transfer<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        packet: &Pkt,
        link: &Link,
        out: &mut [u8],
    ) -> Result<Piece, Reason> {
        let (id, iface) = (cx.core.buf.id(packet), cx.core.buf.meta(packet).iface);
        let tag = self.next_short_tag(iface).ok_or(Reason::RecoverFull)?;
        let place = self.transfers.open(cx, id, (iface, link.dst), tag);
        let place = place.ok_or(Reason::RecoverFull)?;
        let msg = Msg::down(Ty::Recover, place as u16);
        cx.core.buf.set_msg(packet, msg);
        self.cut_transfer(cx, packet, place, link, out)
    }

    /// A tag that no datagram under recovery has that goes out over an interface, forwarded ones included (RFC 8931
    /// section 5); `None` if all 256 are taken.
    pub(super) fn next_short_tag(&mut self, iface: IfaceId) -> Option<u8> {
        (0..=255_u8).find_map(|_| {
            let tag = self.short_tag;
            self.short_tag = tag.wrapping_add(1);
            let taken = self.transfers.has_tag(iface, tag)
                || self.vrbs.find_out(true, iface, u16::from(tag)).is_some();
            (!taken).then_some(tag)
        })
    }

    /// Whether the next hop of a datagram under recovery should be looked up anew.
    pub fn doubts_path(&self, place: u16) -> bool {
        self.transfers.doubts_path(place.into())
    }

    /// A datagram under recovery goes over another next hop from now on.
    pub fn reroute(&mut self, place: u16, iface: IfaceId, next_hop: LinkAddr) {
        self.transfers.reroute(place.into(), iface, next_hop);
    }

    /// Writes the next fragment of a datagram under recovery into `out`.
    pub(super) fn cut_transfer<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        packet: &Pkt,
        place: usize,
        link: &Link,
        out: &mut [u8],
    ) -> Result<Piece, Reason> {
        let room = out.len() as u16;
        let (head, body) = out.split_at_mut_checked(Rfrag::LEN).ok_or(Reason::LinkRefused)?;
        let (id, size) = (cx.core.buf.id(packet), cx.core.buf.len(packet));
        let mut headers = None;
        if self.transfers.is_fresh(place) {
            let compressed = self.compress(&cx.core.buf, packet, link, body)?;
            self.transfers.plan(place, size, &compressed, room)?;
            headers = Some(compressed);
        }
        let (transfers, config, params) = self.transfers.parts();
        let entry = transfers.get_mut(place).ok_or(Reason::RecoverGivenUp)?;
        entry.shot = entry.sender.shoot(cx.now, entry.window(&config), room, &config);
        let (tag, shift) = (entry.tag, entry.shift);
        let header = entry
            .shot
            .and_then(|shot| entry.sender.header(shot, tag))
            .ok_or(Reason::RecoverGivenUp)?;
        entry.report(cx, &params, &Report::Sent { size: 1 });
        header.emit(head).map_err(|_| Reason::DatagramTooLarge)?;
        let body = body
            .get_mut(..usize::from(header.size))
            .ok_or(Reason::LinkRefused)?;
        if header.is_first() && !header.is_abort() {
            let Compressed { written, consumed } = match headers {
                Some(headers) => headers,
                None => self.compress(&cx.core.buf, packet, link, body)?,
            };
            // For another next hop, headers may be shorter or longer: then all offsets are others, and the attempt ends
            // like one whose first fragment never gets through.
            if consumed as i16 - written as i16 != shift {
                return Err(Reason::LowpanHeader);
            }
            let data = body.get_mut(written..).unwrap_or_default();
            cx.core.buf.copy_out(packet, consumed, data);
        } else {
            let from = i32::from(header.offset) + i32::from(shift);
            cx.core
                .buf
                .copy_out(packet, usize::try_from(from).unwrap_or(0), body);
        }
        cx.event(Event::RecoverableOut {
            id,
            to: link.dst,
            tag,
            sequence: header.sequence,
            offset: header.start(),
            len: header.size,
            ack_request: header.ack_request,
        });
        Ok(Piece {
            len: Rfrag::LEN + usize::from(header.size),
            more: false,
        })
    }

    /// Tells of a fragment or acknowledgement that was ready before and is in the device's frame now.
    pub(super) fn tell_recoverable<S: Sink>(
        &self,
        cx: &mut Cx<'_, '_, S>,
        packet: &Pkt,
        link: &Link,
        payload: &[u8],
    ) {
        let (id, to) = (cx.core.buf.id(packet), link.dst);
        if let Ok((header, _)) = Rfrag::parse(payload) {
            cx.event(Event::RecoverableOut {
                id,
                to,
                tag: header.tag,
                sequence: header.sequence,
                offset: header.start(),
                len: header.size,
                ack_request: header.ack_request,
            });
        } else if let Ok(ack) = RfragAck::parse(payload) {
            cx.event(Event::RecoverableAckOut {
                id,
                to,
                tag: ack.tag,
                bitmap: ack.bitmap.0,
                congested: ack.congested,
            });
        }
    }

    /// The link is done with a frame of a datagram under recovery, or none could be cut.
    pub(super) fn settle_transfer<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        packet: Pkt,
        place: usize,
        failed: Option<Reason>,
    ) {
        let (transfers, config, params) = self.transfers.parts();
        let Some(entry) = transfers.get_mut(place).filter(|entry| entry.used) else {
            let _ended = cx.drop(packet, Module::Lowpan, failed.unwrap_or(Reason::TornDown));
            return;
        };
        let times = entry.times(&config, &params);
        match (entry.shot.take(), failed) {
            (Some(shot), _) => {
                if entry
                    .sender
                    .settle(cx.now, shot, failed.is_none(), times, &config)
                {
                    let lost = Report::Lost(Batch::one(1, cx.now));
                    entry.report(cx, &params, &lost);
                }
            }
            // Nothing could be cut, though it wants a frame: so it would be for ever.
            (None, Some(reason)) if matches!(entry.sender.need(), Need::Frame(_)) => {
                *entry = Transfer::EMPTY;
                let _ended = cx.drop(packet, Module::Lowpan, reason);
                return;
            }
            (None, _) => {}
        }
        self.advance(cx, place, packet);
    }

    /// Does with a datagram what it needs now: to the interface, wait here, or end.
    fn advance<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, place: usize, packet: Pkt) {
        let need = self.transfers.need(place);
        let end = match need {
            Need::Restart(at) if at <= cx.now => {
                let iface = cx.core.buf.meta(&packet).iface;
                let tag = self.next_short_tag(iface);
                match tag.filter(|tag| self.transfers.restart(place, *tag)) {
                    Some(_) => {
                        let _queued = cx.core.buf.push(&mut self.outbox, packet);
                        return;
                    }
                    None => End::Dropped(Reason::RecoverFull),
                }
            }
            Need::Frame(at) if at <= cx.now => {
                let _queued = cx.core.buf.push(&mut self.outbox, packet);
                return;
            }
            Need::Frame(_) | Need::Answer(_) | Need::Restart(_) => {
                let kept = cx.core.buf.keep(packet);
                self.transfers.keep(place, kept);
                return;
            }
            Need::Done => End::Sent,
            Need::Failed => End::Dropped(Reason::RecoverGivenUp),
        };
        self.transfers.close(place);
        let _ended = cx.end(packet, Module::Lowpan, end);
    }

    /// Takes the payload of a frame that is an acknowledgement.
    pub(super) fn acknowledgement<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        body: &[u8],
        meta: &Meta,
        id: PktId,
    ) -> Result<(), Reason> {
        let ack = RfragAck::parse(body).map_err(|_| Reason::FragmentInvalid)?;
        cx.event(Event::RecoverableAckIn {
            id,
            from: meta.link_src,
            tag: ack.tag,
            bitmap: ack.bitmap.0,
            congested: ack.congested,
        });
        if self.acknowledged(cx, &ack, meta)? || self.relay_back(cx, &ack, meta, id) {
            Ok(())
        } else {
            // RFC 8931 section 6.2: dropped without an answer.
            Err(Reason::FragmentUnknown)
        }
    }

    /// Takes an acknowledgement for a datagram of this node. False if there is none.
    fn acknowledged<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        ack: &RfragAck,
        meta: &Meta,
    ) -> Result<bool, Reason> {
        // RFC 8931 section 6.2: found by interface, own link address (which a frame for this node has) and tag; and it
        // must come from where the fragments went.
        let Some(place) = self.transfers.find(meta.iface, meta.link_src, ack.tag) else {
            return Ok(false);
        };
        let (transfers, config, params) = self.transfers.parts();
        let Some(entry) = transfers.get_mut(place) else {
            return Ok(false);
        };
        let (timeout, _) = entry.times(&config, &params);
        let (oldest, newest) = entry.sender.round(cx.now);
        let room_left = entry.sender.flight() < entry.window(&config);
        let news = entry.sender.acknowledged(cx.now, ack, timeout, &config);
        let news = news.map_err(|_| Reason::RecoverLie)?;
        let batch = |size: u8| Batch {
            size: size.into(),
            oldest,
            newest,
            resent: !news.timed,
        };
        if ack.congested && config.ecn {
            entry.report(cx, &params, &Report::Ecn { sent_at: newest });
        }
        if news.acked > 0 {
            let acked = Report::Acked {
                batch: batch(news.acked),
                limited: room_left,
            };
            entry.report(cx, &params, &acked);
        }
        if news.lost > 0 {
            entry.report(cx, &params, &Report::Lost(batch(news.lost)));
        }
        if let Some(kept) = entry.kept.take() {
            let packet = cx.core.buf.resume(kept);
            self.advance(cx, place, packet);
        }
        Ok(true)
    }

    /// Does what is due for the datagrams that are kept here.
    pub(super) fn expire_transfers<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) {
        for place in 0..self.transfers.capacity() {
            let (transfers, config, params) = self.transfers.parts();
            let due = |entry: &&mut Transfer| entry.sender.need().deadline().is_some_and(|at| at <= cx.now);
            let Some(entry) = transfers.get_mut(place).filter(due) else {
                continue;
            };
            let Some(kept) = entry.kept.take() else { continue };
            let (oldest, newest) = entry.sender.round(cx.now);
            let lost = entry.sender.expire(cx.now, &config);
            if lost > 0 {
                let batch = Batch {
                    size: lost.into(),
                    oldest,
                    newest,
                    resent: true,
                };
                entry.report(cx, &params, &Report::TimedOut(batch));
            }
            let packet = cx.core.buf.resume(kept);
            self.advance(cx, place, packet);
        }
    }
}
