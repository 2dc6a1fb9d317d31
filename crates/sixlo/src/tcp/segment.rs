//! A segment as it came in.

use super::connection::Endpoints;
use crate::netdev::IfaceId;
use crate::pktbuf::{Pkt, PktBuf};
use crate::trace::Reason;
use crate::udp;
use crate::wire::ipv6::{Ecn, NextHeader};
use crate::wire::tcp::options::Options;
use crate::wire::tcp::seq::Seq;
use crate::wire::tcp::{Flags, HEADER_LEN, Header, OPTIONS_LEN_MAX};

/// A peer that announces less is taken for one that announces this: else a segment could carry less data than header
/// (RFC 9293 section 3.7.1 allows any number).
pub(super) const MSS_MIN: u16 = 64;

/// What a peer takes that announces nothing (RFC 9293 section 3.7.1, MUST-15: 1220 over IPv6).
pub(super) const MSS_DEFAULT: u16 = 1220;

/// A segment, without its data.
pub(super) struct Segment {
    pub(super) ends: Endpoints,
    pub(super) iface: IfaceId,
    pub(super) seq: Seq,
    pub(super) ack: Seq,
    pub(super) flags: Flags,
    pub(super) window: u16,
    pub(super) options: Options,
    /// Where its data begins, in bytes behind the cursor of the packet, and how many bytes there are: trimmed to the window
    /// on the way.
    pub(super) data_at: usize,
    pub(super) data_len: u32,
    /// What the packet met on its way (RFC 3168 section 5).
    pub(super) ecn: Ecn,
}

impl Segment {
    /// Reads the segment at the cursor, if it is one and its checksum is right.
    pub(super) fn read(buf: &PktBuf<'_>, packet: &Pkt) -> Result<Self, Reason> {
        let available = buf.len(packet);
        let bytes = buf.read::<HEADER_LEN>(packet).ok_or(Reason::TcpMalformed)?;
        let header = Header::parse(&bytes, available).map_err(|_| Reason::TcpMalformed)?;
        if !udp::is_intact(buf, packet, NextHeader::TCP) {
            return Err(Reason::TcpChecksum);
        }
        let outer = udp::ipv6_header(buf, packet).ok_or(Reason::TcpMalformed)?;
        // RFC 9293 section 3.9.2.3 (MUST-57): only from one node to one node.
        if outer.dst.is_multicast() || outer.src.is_unspecified() || outer.src.is_multicast() {
            return Err(Reason::Ipv6Address);
        }
        let mut room = [0; OPTIONS_LEN_MAX];
        let options = room
            .get_mut(..usize::from(header.options_len))
            .unwrap_or_default();
        buf.copy_out(packet, HEADER_LEN, options);
        Ok(Self {
            ends: Endpoints {
                local: outer.dst,
                remote: outer.src,
                local_port: header.dst_port,
                remote_port: header.src_port,
            },
            iface: buf.meta(packet).iface,
            seq: header.seq,
            ack: header.ack,
            flags: header.flags,
            window: header.window,
            options: Options::parse(options, header.flags),
            ecn: outer.traffic_class.ecn(),
            data_at: header.len(),
            data_len: available.saturating_sub(header.len()) as u32,
        })
    }

    /// Sequence numbers that it takes: SEG.LEN.
    pub(super) fn len(&self) -> u32 {
        let flags = self.flags;
        let controls = u32::from(flags.contains(Flags::SYN)) + u32::from(flags.contains(Flags::FIN));
        self.data_len + controls
    }

    /// The largest segment that the peer takes, from its SYN.
    pub(super) fn peer_mss(&self) -> u16 {
        self.options.mss.unwrap_or(MSS_DEFAULT).max(MSS_MIN)
    }
}
