//! Fragmentation at the sender (RFC 4944 section 5.3), one frame at a time.

use crate::ground::Cx;
use crate::netapi::{Msg, Ty};
use crate::pktbuf::{Pkt, PktBuf};
use crate::trace::{Event, Reason, Sink};
use crate::wire::ParseError;
use crate::wire::iphc::{self, Contexts, Link};
use crate::wire::ipv6;
use crate::wire::lowpan::frag::Fragment;

use super::{Lowpan, Strategy, forward, recover};

/// A piece of a datagram in the device's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes written.
    pub len: usize,
    /// More of the datagram is to follow.
    pub more: bool,
}

/// The beginning of a packet that is looked at for compression, in bytes. Compression cannot save more than this.
const HEAD_LEN: usize = 128;

impl Lowpan<'_> {
    /// Writes the next piece of `packet` into `out`: all of it with its header compressed if it fits, else its next
    /// fragment. The packet's message tells what it is, and its cursor how much of it lies in fragments already.
    pub fn cut<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        packet: &crate::pktbuf::Kept,
        link: &Link,
        strategy: Strategy,
        out: &mut [u8],
    ) -> Result<Piece, Reason> {
        let packet = packet.pkt();
        let msg = cx.core.buf.msg(packet);
        match msg.ty {
            Ty::Link if forward::HERE => self.ready(cx, packet, link, out),
            Ty::Fragment => next(cx, packet, link, msg.context, out),
            Ty::Recover if recover::HERE => self.cut_transfer(cx, packet, msg.context.into(), link, out),
            _ => self.first(cx, packet, link, strategy, out),
        }
    }

    /// The whole datagram, or its first fragment.
    fn first<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        packet: &Pkt,
        link: &Link,
        strategy: Strategy,
        out: &mut [u8],
    ) -> Result<Piece, Reason> {
        let buf = &cx.core.buf;
        let (size, id) = (buf.len(packet), buf.id(packet));
        // A datagram that much longer than the frame is fragmented whatever compression saves; so its headers are
        // compressed to where they belong at once.
        let surely_cut = size > out.len() + HEAD_LEN;
        if !surely_cut {
            let compressed = self.compress(buf, packet, link, out)?;
            let rest = size - compressed.consumed;
            if let Some(room) = out.get_mut(compressed.written..compressed.written + rest) {
                buf.copy_out(packet, compressed.consumed, room);
                let (header_len, compressed_len) = (compressed.consumed as u16, compressed.written as u16);
                cx.event(Event::Compressed {
                    id,
                    to: link.dst,
                    header_len,
                    compressed_len,
                });
                return Ok(Piece {
                    len: compressed.written + rest,
                    more: false,
                });
            }
        }
        // Nobody acknowledges what goes to many.
        if recover::HERE && strategy == Strategy::Recover && !link.dst.is_broadcast() {
            return self.begin_transfer(cx, packet, link, out);
        }
        let datagram_size = u16::try_from(size).map_err(|_| Reason::DatagramTooLarge)?;
        let tag = self.next_tag(buf.meta(packet).iface);
        let fragment = Fragment {
            datagram_size,
            datagram_tag: tag,
            datagram_offset: 0,
        };
        let head = fragment.emit(out).map_err(|_| Reason::DatagramTooLarge)?;
        let room = out.get_mut(head..).unwrap_or_default();
        let compressed = self.compress(buf, packet, link, room)?;
        let data_room = room.get_mut(compressed.written..).unwrap_or_default();
        // RFC 4944 section 5.3: what the fragment stands for, uncompressed, is a multiple of eight bytes.
        // With nothing more in the first one, headers can grow on the way (RFC 8930 section 6).
        let end = if forward::HERE && strategy == Strategy::Forward {
            compressed.consumed.next_multiple_of(8)
        } else {
            (compressed.consumed + data_room.len()) / 8 * 8
        };
        let data_len = end.checked_sub(compressed.consumed).ok_or(Reason::LowpanHeader)?;
        let data_room = data_room.get_mut(..data_len).ok_or(Reason::LowpanHeader)?;
        buf.copy_out(packet, compressed.consumed, data_room);
        cx.core.buf.set_msg(packet, Msg::down(Ty::Fragment, tag));
        let _fits = cx.core.buf.mark(packet, end);
        let (to, len) = (link.dst, end as u16);
        cx.event(Event::FragmentOut {
            id,
            to,
            tag,
            size: datagram_size,
            offset: 0,
            len,
        });
        Ok(Piece {
            len: head + compressed.written + data_len,
            more: true,
        })
    }

    /// The payload of a frame that was ready before.
    fn ready<S: Sink>(
        &self,
        cx: &mut Cx<'_, '_, S>,
        packet: &Pkt,
        link: &Link,
        out: &mut [u8],
    ) -> Result<Piece, Reason> {
        let buf = &cx.core.buf;
        let (iface, tag) = (buf.meta(packet).iface, buf.msg(packet).context);
        let room = out.get_mut(..buf.len(packet)).ok_or(Reason::LinkRefused)?;
        let len = buf.copy_out(packet, 0, room);
        if let Ok((fragment, data)) = Fragment::parse(room) {
            if self.is_broken(iface, tag) {
                return Err(Reason::FragmentBroken);
            }
            let id = buf.id(packet);
            cx.event(Event::FragmentOut {
                id,
                to: link.dst,
                tag,
                size: fragment.datagram_size,
                offset: fragment.start() as u16,
                len: data.len() as u16,
            });
        } else {
            self.tell_recoverable(cx, packet, link, room);
        }
        Ok(Piece { len, more: false })
    }

    /// Compresses the headers of a packet into `out`.
    pub(super) fn compress(
        &self,
        buf: &PktBuf<'_>,
        packet: &Pkt,
        link: &Link,
        out: &mut [u8],
    ) -> Result<iphc::Compressed, Reason> {
        let contexts = Contexts(self.contexts);
        let mut copy;
        let mut head = buf.contiguous(packet);
        if head.len() < HEAD_LEN && head.len() != buf.len(packet) {
            copy = [0; HEAD_LEN];
            let len = buf.copy_out(packet, 0, &mut copy);
            head = copy.get(..len).unwrap_or_default();
        }
        let head = head.get(..HEAD_LEN).unwrap_or(head);
        compress_head(head, link, &contexts, out)
    }
}

/// The next fragment of a datagram whose beginning was sent.
fn next<S: Sink>(
    cx: &mut Cx<'_, '_, S>,
    packet: &Pkt,
    link: &Link,
    tag: u16,
    out: &mut [u8],
) -> Result<Piece, Reason> {
    let buf = &mut cx.core.buf;
    let (start, rest) = (buf.marked(packet), buf.len(packet));
    let size = (start + rest) as u16;
    let fragment = Fragment {
        datagram_size: size,
        datagram_tag: tag,
        datagram_offset: (start / 8) as u8,
    };
    let head = fragment.emit(out).map_err(|_| Reason::DatagramTooLarge)?;
    let room = out.get_mut(head..).unwrap_or_default();
    let (len, more) = if rest <= room.len() {
        (rest, false)
    } else {
        (room.len() / 8 * 8, true)
    };
    buf.copy_out(packet, 0, room.get_mut(..len).unwrap_or_default());
    let _fits = buf.mark(packet, len);
    let id = buf.id(packet);
    cx.event(Event::FragmentOut {
        id,
        to: link.dst,
        tag,
        size,
        offset: start as u16,
        len: len as u16,
    });
    Ok(Piece {
        len: head + len,
        more,
    })
}

/// Writes a packet as it is, for an interface of such.
pub(crate) fn whole(buf: &PktBuf<'_>, packet: &Pkt, out: &mut [u8]) -> Result<Piece, Reason> {
    let room = out.get_mut(..buf.len(packet)).ok_or(Reason::LinkRefused)?;
    let len = buf.copy_out(packet, 0, room);
    Ok(Piece { len, more: false })
}

/// Compresses the headers at the beginning of a packet into `out`.
pub(super) fn compress_head(
    head: &[u8],
    link: &Link,
    contexts: &Contexts<'_>,
    out: &mut [u8],
) -> Result<iphc::Compressed, Reason> {
    let mut head = head;
    loop {
        match iphc::compress(head, link, contexts, out) {
            // RFC 6282 section 2: a header that does not fit the first fragment must not be compressed. So where not all
            // fit, only the fixed one is compressed, and those behind it travel as they are.
            Err(ParseError::NoRoom) if head.len() > ipv6::HEADER_LEN => {
                head = head.get(..ipv6::HEADER_LEN).unwrap_or_default();
            }
            compressed => return compressed.map_err(|_| Reason::LowpanHeader),
        }
    }
}
