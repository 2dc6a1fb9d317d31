//! Segments as packets: a header in front of a window on the data.

use super::connection::Endpoints;
use crate::ground::Cx;
use crate::netdev::IfaceId;
use crate::pktbuf::{Class, Kept, Pkt};
use crate::trace::{Event, Module, PktId, Reason, Sink};
use crate::udp;
use crate::wire::checksum::Checksum;
use crate::wire::ipv6::{self, Ecn, NextHeader, TrafficClass};
use crate::wire::tcp::options::Options;
use crate::wire::tcp::seq::Seq;
use crate::wire::tcp::{Flags, HEADER_LEN, Header, OPTIONS_LEN_MAX};

/// What a segment is to say.
pub(super) struct Draft<'d> {
    pub(super) ends: &'d Endpoints,
    pub(super) iface: IfaceId,
    pub(super) seq: Seq,
    pub(super) ack: Seq,
    pub(super) flags: Flags,
    pub(super) window: u16,
    pub(super) options: Options,
    pub(super) ecn: Ecn,
    /// Where in the data it begins, and how many bytes it carries.
    pub(super) data: Option<(&'d Kept, usize, usize)>,
}

impl Draft<'_> {
    /// The packet, ready for the IPv6 output; `cause` is the packet that it answers.
    pub(super) fn build<S: Sink>(&self, cx: &mut Cx<'_, '_, S>, cause: PktId) -> Result<Pkt, Reason> {
        let mut room = [0; ipv6::HEADER_LEN + HEADER_LEN + OPTIONS_LEN_MAX];
        let len = self.headers(&mut room);
        let headers = room.get(..len).unwrap_or_default();
        let packet = match self.data {
            Some((data, offset, bytes)) if bytes > 0 => {
                let window = cx.core.buf.window(data.pkt(), offset, bytes)?;
                if let Err(no_room) = cx.core.buf.prepend_bytes(&window, headers) {
                    let _released = cx.core.buf.release(window);
                    return Err(no_room.reason());
                }
                let id = cx.sink.identity();
                cx.core.buf.set_id(&window, id);
                let len = cx.core.buf.len(&window) as u16;
                cx.event(Event::Start {
                    id,
                    module: Module::Tcp,
                    len,
                    cause,
                });
                window
            }
            _ => {
                let packet = cx.new_packet(Module::Tcp, Class::Transmit, 0, len, PktId::NONE, cause)?;
                if let Err(no_room) = cx.core.buf.write_bytes(&packet, 0, headers) {
                    let reason = no_room.reason();
                    let _ended = cx.drop(packet, Module::Tcp, reason);
                    return Err(reason);
                }
                packet
            }
        };
        cx.core.buf.meta_mut(&packet).iface = self.iface;
        // The IPv6 output adds the pseudo-header.
        let sum = !udp::sum(&cx.core.buf, &packet, ipv6::HEADER_LEN, Checksum::new()).finish();
        let written = cx
            .core
            .buf
            .write_bytes(&packet, ipv6::HEADER_LEN + 16, &sum.to_be_bytes());
        match written {
            Ok(()) => {
                self.tell(cx, &packet);
                Ok(packet)
            }
            Err(no_room) => {
                let _ended = cx.drop(packet, Module::Tcp, no_room.reason());
                Err(no_room.reason())
            }
        }
    }

    fn tell<S: Sink>(&self, cx: &mut Cx<'_, '_, S>, packet: &Pkt) {
        let id = cx.core.buf.id(packet);
        cx.event(Event::SegmentOut {
            id,
            from_port: self.ends.local_port,
            to_port: self.ends.remote_port,
            flags: self.flags,
            seq: self.seq.0,
            ack: self.ack.0,
            len: self.data.map_or(0, |(_, _, bytes)| bytes as u16),
            window: self.window,
        });
    }

    /// Writes the headers, without their checksum; says how long they are.
    fn headers(&self, room: &mut [u8; ipv6::HEADER_LEN + HEADER_LEN + OPTIONS_LEN_MAX]) -> usize {
        let options_len = self.options.emit_len();
        let outer = ipv6::Header {
            traffic_class: TrafficClass::new(0, self.ecn),
            flow_label: 0,
            payload_len: 0,
            next_header: NextHeader::TCP,
            hop_limit: 0,
            src: self.ends.local,
            dst: self.ends.remote,
        };
        let header = Header {
            src_port: self.ends.local_port,
            dst_port: self.ends.remote_port,
            seq: self.seq,
            ack: self.ack,
            options_len: options_len as u8,
            flags: self.flags,
            window: self.window,
            checksum: 0,
            urgent: 0,
        };
        let (front, rest) = room.split_at_mut(ipv6::HEADER_LEN);
        let (middle, rest) = rest.split_at_mut(HEADER_LEN);
        front.copy_from_slice(&outer.emit());
        middle.copy_from_slice(&header.emit());
        // It fits: no options are longer.
        let written = self.options.emit(rest).unwrap_or_default();
        ipv6::HEADER_LEN + HEADER_LEN + written
    }
}
