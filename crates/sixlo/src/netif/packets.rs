//! Interfaces whose frames are IPv6 packets as they are: to a tunnel of the operating system, or over a serial line.
//!
//! Such a link has two ends and no link-layer addresses. The device takes a frame whenever it asked for one, and its report
//! ends it. To IPv6 the other end looks like any neighbour: a route names it by its link-local address, whatever that is.

use super::*;
/// What the frames of an interface are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkKind {
    /// Frames of IEEE 802.15.4, with 6LoWPAN.
    #[default]
    Ieee802154,
    /// IPv6 packets as they are.
    Packets,
}

impl LinkKind {
    /// Whether it is compiled in.
    pub const fn is_here(self) -> bool {
        match self {
            Self::Ieee802154 => true,
            Self::Packets => cfg!(feature = "packets"),
        }
    }

    /// A device that takes packets needs neither medium access nor a check sequence.
    pub(super) const PACKETS_CAPS: Caps = Caps {
        csma: true,
        fcs: true,
    };
}

/// Where the first byte of the destination stands in an IPv6 header (RFC 8200 section 3).
const DESTINATION_AT: usize = 24;

impl IfaceConfig {
    /// An interface that carries IPv6 packets as they are, up to 1280 bytes, with the link-local address made of this
    /// extended address, and 8 packets in the queue.
    pub fn packets(extended: [u8; 8]) -> Self {
        Self {
            link: LinkKind::Packets,
            caps: LinkKind::PACKETS_CAPS,
            ..Self::new(extended)
        }
    }
}

impl Interface {
    /// Whether frames are packets as they are.
    pub(super) fn carries_packets(&self) -> bool {
        LinkKind::Packets.is_here() && self.config.link == LinkKind::Packets
    }
}

impl Netif<'_> {
    /// What the frames of an interface are.
    pub fn link(&self, iface: IfaceId) -> Option<LinkKind> {
        self.up(iface).map(|iface| iface.config.link)
    }

    /// The metadata of a packet that came in as it is. A function of its own, so that what a frame takes is not in memory.
    #[inline(never)]
    pub(super) fn accept_packet<'f, S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: IfaceId,
        frame: &'f [u8],
        info: &RxInfo,
    ) -> Result<(&'f [u8], Meta), Reason> {
        let iface = self.up_mut(id).ok_or(Reason::NoInterface)?;
        if frame.len() > usize::from(iface.config.mtu) {
            return Err(Reason::FrameMalformed);
        }
        count(&mut iface.counters.frames_in, 1);
        cx.event(Event::FrameIn {
            id: info.id,
            iface: id,
            from: LinkAddr::None,
            len: frame.len() as u16,
            sequence: 0,
        });
        let meta = Meta {
            iface: id,
            // That of this end: one without came from this node itself. There is no source, as there is in other frames.
            link_dst: iface.source(),
            multicast: frame.get(DESTINATION_AT) == Some(&0xff),
            ..Meta::EMPTY
        };
        Ok((frame, meta))
    }
}
