//! What follows from header sizes alone (claims F1 and F2): computed with the stack's own codecs.

use std::net::Ipv6Addr;

use sixlo::netdev::FRAME_LEN_MAX;
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::ieee802154;
use sixlo::wire::iphc::{self, Context, Contexts, Link};
use sixlo::wire::ipv6::{self, NextHeader, TrafficClass};
use sixlo::wire::ipv6_ext::fragment;
use sixlo::wire::lowpan::frag::Fragment;
use sixlo::wire::lowpan::rfrag::Rfrag;
use sixlo::wire::udp;
use sixlo_sim::config::Strategy;

/// Where a fragment is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// By the source: its address follows from the frame's, and its hop limit is one of those that are elided.
    Source,
    /// By a forwarder to another one: neither is so.
    Forwarder,
}

/// The frames of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// Extended addresses, the PAN identifier twice, as RIOT sends them.
    Published,
    /// Extended addresses, the PAN identifier once.
    Extended,
    /// Short addresses, the PAN identifier once.
    Short,
}

impl Frames {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Published, Self::Extended, Self::Short];

    /// What they are called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "extended addresses, PAN identifier twice",
            Self::Extended => "extended addresses",
            Self::Short => "short addresses",
        }
    }

    /// The link-layer address of a node.
    fn node(self, number: u8) -> LinkAddr {
        match self {
            Self::Published | Self::Extended => LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, number]),
            Self::Short => LinkAddr::Short(u16::from(number)),
        }
    }

    /// Bytes of a frame that are left for 6LoWPAN.
    pub fn payload_len(self) -> usize {
        let mut header = ieee802154::Header::data(0, 0x23, self.node(1), self.node(2));
        header.src_pan = (self == Self::Published).then_some(0x23);
        FRAME_LEN_MAX - header.emit_len() - FCS_LEN
    }
}

/// Bytes of the frame check sequence.
const FCS_LEN: usize = 2;
/// A port that no compression elides.
const PORT: u16 = 5_683;
/// Bytes of IPv6 and UDP headers.
const HEADERS_LEN: usize = ipv6::HEADER_LEN + udp::HEADER_LEN;
/// Fragments of IPv6 and of RFC 4944 hold multiples of so many bytes, the last one apart.
const UNIT: usize = 8;

/// The global address of the node with this number: fd00::/64 is context 0.
fn address(frames: Frames, number: u8) -> Ipv6Addr {
    let iid = frames.node(number).interface_id().map_or(0, u64::from_be_bytes);
    Ipv6Addr::from_bits(0xfd00_u128 << 112 | u128::from(iid))
}

/// The IPv6 header of what node 4 sends to node 1, at the source or at a forwarder.
fn ipv6_header(frames: Frames, place: Place, next_header: NextHeader, payload_len: usize) -> ipv6::Header {
    ipv6::Header {
        traffic_class: TrafficClass(0),
        flow_label: 0,
        payload_len: payload_len as u16,
        next_header,
        hop_limit: match place {
            Place::Source => 64,
            Place::Forwarder => 63,
        },
        src: address(frames, 4),
        dst: address(frames, 1),
    }
}

/// Bytes before and after compression of the headers that `packet` begins with, on the way from node 4 or its next hop.
fn compressed(frames: Frames, place: Place, packet: &[u8]) -> (usize, usize) {
    let (from, to) = match place {
        Place::Source => (4, 3),
        Place::Forwarder => (3, 2),
    };
    let link = Link {
        src: frames.node(from),
        dst: frames.node(to),
    };
    let contexts = [Context::new(address(frames, 0).octets(), 64)];
    let mut out = [0; FRAME_LEN_MAX];
    match iphc::compress(packet, &link, &Contexts(&contexts), &mut out) {
        Ok(done) => (done.consumed, done.written),
        Err(_) => (0, 0),
    }
}

/// Bytes of compressed IPv6 and UDP headers.
pub fn headers_len(frames: Frames, place: Place) -> usize {
    let mut packet = ipv6_header(frames, place, NextHeader::UDP, udp::HEADER_LEN)
        .emit()
        .to_vec();
    packet.extend(udp_header(0).emit());
    compressed(frames, place, &packet).1
}

const fn udp_header(payload: usize) -> udp::Header {
    udp::Header {
        src_port: PORT,
        dst_port: PORT,
        len: (udp::HEADER_LEN + payload) as u16,
        checksum: 0xabcd,
    }
}

/// Bytes that header compression saves on an IPv6 fragment: the first, which has the UDP header, or a later one.
pub fn saved(frames: Frames, place: Place, first: bool) -> usize {
    let header = fragment::Header {
        next_header: NextHeader::UDP,
        offset: if first { 0 } else { 9 },
        more: true,
        identification: 1,
    };
    let data = udp_header(200).emit();
    let len = fragment::HEADER_LEN + data.len();
    let mut packet = ipv6_header(frames, place, NextHeader::FRAGMENT, len)
        .emit()
        .to_vec();
    packet.extend(header.emit());
    packet.extend(data);
    let (before, after) = compressed(frames, place, &packet);
    before.saturating_sub(after)
}

/// The MTU with which no IPv6 fragment overflows a frame: the frame's payload and the least that compression saves.
pub fn end_to_end_mtu(frames: Frames) -> usize {
    let places = [Place::Source, Place::Forwarder];
    let all = places
        .into_iter()
        .flat_map(|place| [(place, true), (place, false)]);
    let least = all.map(|(place, first)| saved(frames, place, first)).min();
    frames.payload_len() + least.unwrap_or(0)
}

/// How datagrams are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutting {
    /// The strategy.
    pub strategy: Strategy,
    /// The frames.
    pub frames: Frames,
    /// Bytes that the first recoverable fragment leaves free.
    pub slack: usize,
    /// The MTU of IPv6 fragments.
    pub mtu: usize,
}

impl Cutting {
    /// How many frames a UDP payload takes at a place.
    pub fn frames_of(&self, payload: usize, place: Place) -> usize {
        let room = self.frames.payload_len();
        let headers = headers_len(self.frames, place);
        if self.strategy == Strategy::EndToEnd {
            return end_to_end(payload, self.mtu);
        }
        if headers + payload <= room {
            return 1;
        }
        // What the source sent in fragments is forwarded fragment by fragment, but what came in one frame is cut here.
        let headers = match place {
            Place::Forwarder
                if self.strategy != Strategy::HopWise && self.frames_of(payload, Place::Source) > 1 =>
            {
                return self.frames_of(payload, Place::Source);
            }
            _ => headers,
        };
        match self.strategy {
            Strategy::HopWise => hop_wise(payload, headers, room),
            Strategy::Forward => 1 + later(payload, room),
            Strategy::Recover => recover(payload + headers, room, self.slack),
            Strategy::EndToEnd => end_to_end(payload, self.mtu),
        }
    }

    /// The payloads, in steps of `step` up to `most`, at which one frame more is needed.
    pub fn bounds(&self, place: Place, step: usize, most: usize) -> Vec<usize> {
        (2..=most / step)
            .map(|i| i * step)
            .filter(|&payload| self.frames_of(payload, place) > self.frames_of(payload - step, place))
            .collect()
    }
}

/// RFC 4944 section 5.3: the first fragment as full as it gets.
fn hop_wise(payload: usize, headers: usize, room: usize) -> usize {
    // The headers that are compressed are a multiple of 8 bytes, so what of the payload goes with them must be one too.
    debug_assert!(HEADERS_LEN.is_multiple_of(UNIT));
    let first = (room - Fragment::FIRST_LEN - headers) / UNIT * UNIT;
    1 + later(payload - first, room)
}

/// Fragments after the first for so many bytes.
fn later(bytes: usize, room: usize) -> usize {
    let most = room - Fragment::SUBSEQUENT_LEN;
    let (mut rest, mut count) = (bytes, 1);
    while rest > most {
        rest -= most / UNIT * UNIT;
        count += 1;
    }
    count
}

/// RFC 8931: fragments of the compressed datagram, the first with room for headers that grow.
fn recover(compressed: usize, room: usize, slack: usize) -> usize {
    let most = room - Rfrag::LEN;
    1 + (compressed - (most - slack).min(compressed)).div_ceil(most)
}

/// RFC 8200 section 4.5.
fn end_to_end(payload: usize, mtu: usize) -> usize {
    let packet = HEADERS_LEN + payload;
    if packet <= mtu {
        return 1;
    }
    let most = mtu - ipv6::HEADER_LEN - fragment::HEADER_LEN;
    let (mut rest, mut count) = (packet - ipv6::HEADER_LEN, 1);
    while rest > most {
        rest -= most / UNIT * UNIT;
        count += 1;
    }
    count
}
