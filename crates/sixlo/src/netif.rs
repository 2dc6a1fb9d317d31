//! Interfaces: what all links have in common, with medium access below (GNRC's netif, Lenders 2016, section 4.4).
//!
//! An interface holds a bounded queue of packets whose next hop is known. The packet at its head is `current`; its
//! frames are written when the device asks for one, straight into the device's frame, and the MAC decides when that is.

use crate::ground::Cx;
use crate::lowpan::{Gap, Strategy};
use crate::mac::csma::{Csma, CsmaConfig, Step};
use crate::mac::duplicates::Duplicates;
use crate::netapi::{Next, Ty};
use crate::netdev::{Caps, FCS_LEN, FRAME_LEN_MAX, IfaceId, RxInfo, TxInfo, TxOutcome, TxReport};
use crate::pktbuf::{Kept, Meta, Pkt, PktBuf, Queue};
use crate::time::Instant;
use crate::timers::TimerId;
use crate::trace::{End, Event, Module, Reason, Sink};
use crate::wire::addr::LinkAddr;
use crate::wire::fcs;
use crate::wire::ieee802154::{FrameType, Header, PAN_BROADCAST};

mod congestion;
mod packets;
mod receive;
#[cfg(test)]
mod tests;
mod turn;

pub use congestion::{Mark, MarkConfig, Red, is_half_full};
pub use packets::LinkKind;

use congestion::Congestion;

/// The MTU of IPv6 over IEEE 802.15.4, in bytes (RFC 4944 section 4).
pub const MTU: u16 = 1280;

/// How an interface behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IfaceConfig {
    /// What its frames are. Of an interface that carries packets as they are, the short address, the PAN, the device's
    /// capabilities, CSMA/CA, strategy and gap mean nothing.
    pub link: LinkKind,
    /// The extended address (EUI-64).
    pub extended: [u8; 8],
    /// The short address, if one was assigned.
    pub short: Option<u16>,
    /// Frames are sent from the short address; it must be set.
    pub send_from_short: bool,
    /// The PAN identifier.
    pub pan: u16,
    /// Frames within the PAN carry its identifier once (IEEE 802.15.4-2020, 7.2.2.6). Default true; GNRC sends it
    /// twice.
    pub pan_id_compression: bool,
    /// What the device does by itself.
    pub caps: Caps,
    /// CSMA/CA, link retries and the times of the physical layer.
    pub csma: CsmaConfig,
    /// Packets that may wait behind the one being sent.
    pub queue_capacity: u16,
    /// What becomes of datagrams that no frame holds. Default: fragments that are put together at every hop.
    pub strategy: Strategy,
    /// The time between frames with fragments, where fragments are forwarded. Default: derived.
    pub fragment_gap: Gap,
    /// When packets that are forwarded are marked because they meet congestion. Default: never.
    pub mark: MarkConfig,
    /// The largest IPv6 packet in bytes. Default 1280, the least that IPv6 allows (RFC 8200 section 5) and all that RFC
    /// 4944 section 4 offers. A smaller value is an experiment (Lenders et al. 2021, section IV-A): what is larger is sent
    /// in IPv6 fragments.
    pub mtu: u16,
}

impl IfaceConfig {
    /// An IEEE 802.15.4 interface with this extended address, all else as usual: PAN 0x0023, a device that does its
    /// check sequence and nothing more, 8 packets in the queue.
    pub fn new(extended: [u8; 8]) -> Self {
        Self {
            link: LinkKind::Ieee802154,
            extended,
            short: None,
            send_from_short: false,
            pan: 0x0023,
            pan_id_compression: true,
            caps: Caps {
                csma: false,
                fcs: true,
            },
            csma: CsmaConfig::default(),
            queue_capacity: 8,
            strategy: Strategy::HopWise,
            fragment_gap: Gap::Derived,
            mark: MarkConfig::default(),
            mtu: MTU,
        }
    }
}

/// What an interface has counted since the stack started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames that came in and were taken.
    pub frames_in: u32,
    /// Frames that were handed to the device for the first time.
    pub frames_out: u32,
    /// Transmissions on the air, retries included.
    pub transmissions: u32,
    /// Transmissions after the first of a frame.
    pub retransmissions: u32,
    /// Channel assessments that found the channel busy.
    pub busy: u32,
    /// Frames given up for want of an acknowledgement.
    pub no_ack: u32,
    /// Frames given up because the channel was always busy.
    pub channel_busy: u32,
    /// Acknowledgements that fitted no frame of ours.
    pub stray_acks: u32,
}

/// What an interface is doing about its current packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing to send.
    #[default]
    Idle,
    /// The MAC waits: back-off, interframe space, or an acknowledgement.
    Waiting,
    /// The device may ask for the frame.
    Ready,
    /// The device may ask for the frame that it was given last time.
    ReadyAgain,
    /// The device has the frame.
    InDevice,
    /// The link is done with a frame, and the adaptation layer decides about its packet.
    Settling,
    /// Only frames with fragments wait, and their gap is not over.
    Pacing,
}

/// One interface. The empty value is all-zero bits.
pub struct Interface {
    config: IfaceConfig,
    up: bool,
    sequence: u8,
    phase: Phase,
    /// More of the current packet is to follow the frame that the device has.
    more: bool,
    /// Why the frame was not sent, if it was not; for [`Phase::Settling`].
    failed: Option<Reason>,
    /// The last packet came from [`Interface::paced`].
    paced_last: bool,
    ack_request: bool,
    attempt: u8,
    frame_len: u16,
    current: Option<Kept>,
    queue: Queue,
    /// What carries fragments and keeps the gap between them.
    paced: Queue,
    /// When the gap after the last fragment is over.
    paced_after: Instant,
    congestion: Congestion,
    csma: Csma,
    counters: Counters,
}

/// Counts `n` more; a counter that is full stays so.
const fn count(counter: &mut u32, n: u32) {
    *counter = counter.saturating_add(n);
}

impl IfaceConfig {
    /// The link-layer addresses: the extended one, and the short one or none.
    pub fn link_addrs(&self) -> [LinkAddr; 2] {
        let short = self.short.map_or(LinkAddr::None, LinkAddr::Short);
        [LinkAddr::Extended(self.extended), short]
    }
}

impl Interface {
    /// A place for an interface.
    pub const EMPTY: Self = Self {
        config: IfaceConfig {
            link: LinkKind::Ieee802154,
            extended: [0; 8],
            short: None,
            send_from_short: false,
            pan: 0,
            pan_id_compression: false,
            caps: Caps {
                csma: false,
                fcs: false,
            },
            csma: CsmaConfig::ZERO,
            queue_capacity: 0,
            strategy: Strategy::HopWise,
            fragment_gap: Gap::Derived,
            mark: MarkConfig::ZERO,
            mtu: 0,
        },
        up: false,
        sequence: 0,
        phase: Phase::Idle,
        more: false,
        failed: None,
        paced_last: false,
        ack_request: false,
        attempt: 0,
        frame_len: 0,
        current: None,
        queue: Queue::EMPTY,
        paced: Queue::EMPTY,
        paced_after: Instant::ZERO,
        congestion: Congestion::EMPTY,
        csma: Csma::new(),
        counters: Counters {
            frames_in: 0,
            frames_out: 0,
            transmissions: 0,
            retransmissions: 0,
            busy: 0,
            no_ack: 0,
            channel_busy: 0,
            stray_acks: 0,
        },
    };

    /// The address that frames are sent from.
    fn source(&self) -> LinkAddr {
        match self.config.short {
            Some(short) if self.config.send_from_short => LinkAddr::Short(short),
            _ => LinkAddr::Extended(self.config.extended),
        }
    }

    /// Whether a frame with this destination is for this interface.
    fn is_me(&self, addr: LinkAddr) -> bool {
        match addr {
            LinkAddr::None => false,
            LinkAddr::Short(short) => self.config.short == Some(short),
            LinkAddr::Extended(extended) => self.config.extended == extended,
        }
    }
}

/// The frame that the device is given: where its payload begins, and between whom it travels.
pub struct FrameHead {
    /// Bytes of the MAC header.
    pub len: usize,
    /// Bytes that may follow it.
    pub room: usize,
    /// The link source.
    pub src: LinkAddr,
    /// The link destination.
    pub dst: LinkAddr,
    /// What becomes of a datagram that the frame does not hold.
    pub strategy: Strategy,
    /// What the frame is.
    pub link: LinkKind,
}

/// The module.
pub struct Netif<'a> {
    ifaces: &'a mut [Interface],
    duplicates: Duplicates<'a>,
}

impl<'a> Netif<'a> {
    /// Puts the module together, with no interface up.
    pub fn new(ifaces: &'a mut [Interface], duplicates: Duplicates<'a>) -> Self {
        for iface in ifaces.iter_mut() {
            *iface = Interface::EMPTY;
        }
        Self { ifaces, duplicates }
    }

    /// Gives the tables back.
    pub fn into_parts(self) -> (&'a mut [Interface], Duplicates<'a>) {
        (self.ifaces, self.duplicates)
    }

    /// Brings an interface up. `sequence` is where its frame sequence numbers begin: random, so that a reboot is not
    /// taken for a retransmission. False if there is no such place, or packets still wait in it.
    pub fn bring_up(&mut self, iface: IfaceId, config: IfaceConfig, sequence: u8) -> bool {
        let place = self.ifaces.get_mut(usize::from(iface.0));
        place
            .filter(|place| place.current.is_none() && place.waiting() == 0)
            .map(|place| {
                *place = Interface::EMPTY;
                place.config = config;
                if place.carries_packets() {
                    place.config.caps = LinkKind::PACKETS_CAPS;
                }
                place.up = true;
                place.sequence = sequence;
            })
            .is_some()
    }

    /// How many interfaces there can be.
    pub const fn capacity(&self) -> usize {
        self.ifaces.len()
    }

    /// How an interface is configured.
    pub fn config(&self, iface: IfaceId) -> Option<&IfaceConfig> {
        self.up(iface).map(|iface| &iface.config)
    }

    /// Changes how an interface behaves from the next frame on.
    pub fn config_mut(&mut self, iface: IfaceId) -> Option<&mut IfaceConfig> {
        self.up_mut(iface).map(|iface| &mut iface.config)
    }

    /// What an interface has counted.
    pub fn counters(&self, iface: IfaceId) -> Option<&Counters> {
        self.up(iface).map(|iface| &iface.counters)
    }

    /// The address that an interface sends from.
    pub fn source(&self, iface: IfaceId) -> Option<LinkAddr> {
        self.up(iface).map(Interface::source)
    }

    /// The largest IPv6 packet, in bytes.
    pub fn mtu(&self, iface: IfaceId) -> Option<u16> {
        self.up(iface).map(|iface| iface.config.mtu)
    }

    /// Bytes of payload that a frame to this destination holds.
    pub fn room(&self, iface: IfaceId, dst: LinkAddr) -> Option<usize> {
        let iface = self.up(iface)?;
        if iface.carries_packets() {
            return Some(iface.config.mtu.into());
        }
        let header_len = Header::data_len([dst, iface.source()], iface.config.pan_id_compression);
        Some(FRAME_LEN_MAX - FCS_LEN - header_len)
    }

    /// Packets that wait behind the one being sent.
    pub fn queue_len(&self, iface: IfaceId) -> usize {
        self.up(iface).map_or(0, Interface::waiting)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn up(&self, iface: IfaceId) -> Option<&Interface> {
        self.ifaces.get(usize::from(iface.0)).filter(|iface| iface.up)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn up_mut(&mut self, iface: IfaceId) -> Option<&mut Interface> {
        self.ifaces.get_mut(usize::from(iface.0)).filter(|iface| iface.up)
    }

    /// The timer of an interface is due.
    pub fn timer<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId) {
        let Some(iface) = self.up_mut(id) else { return };
        match iface.phase {
            Phase::Waiting => {}
            Phase::Pacing => return iface.begin(cx, id),
            _ => return,
        }
        if let Some(step) = iface.csma.timer(cx.now, &iface.config.csma, &mut cx.core.rng) {
            iface.follow(cx, id, step);
        }
    }

    /// Whether the device may ask for a frame.
    pub fn wants_transmit(&self, iface: IfaceId) -> bool {
        self.up(iface)
            .is_some_and(|iface| matches!(iface.phase, Phase::Ready | Phase::ReadyAgain))
    }

    /// The frame that the device was given last time, if the MAC wants just that once more.
    pub fn again<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId) -> Option<TxInfo> {
        let iface = self.up_mut(id).filter(|iface| iface.phase == Phase::ReadyAgain)?;
        Some(iface.hand_over(cx, id, true))
    }

    /// Writes the MAC header for the next frame of the current packet. The packet is given with it, for the adaptation
    /// layer to cut the payload from.
    pub fn head<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: IfaceId,
        out: &mut [u8],
    ) -> Option<(FrameHead, &Kept)> {
        let iface = self.up_mut(id).filter(|iface| iface.phase == Phase::Ready)?;
        let packet = iface.current.as_ref()?;
        let (src, dst) = (iface.source(), cx.core.buf.meta(packet.pkt()).link_dst);
        let (link, strategy) = (iface.config.link, iface.config.strategy);
        if iface.carries_packets() {
            let head = FrameHead {
                len: 0,
                room: out.len(),
                src,
                dst,
                strategy,
                link,
            };
            return Some((head, packet));
        }
        let sequence = iface.sequence.wrapping_add(1);
        let (pan, compressed) = (iface.config.pan, iface.config.pan_id_compression);
        let len = Header::emit_data([dst, src], pan, compressed, iface.ack_request, sequence, out).ok()?;
        iface.sequence = sequence;
        // The check sequence takes its room in the buffer only if it is written there.
        let fcs_len = if iface.config.caps.fcs { 0 } else { FCS_LEN };
        let body = out.len().saturating_sub(fcs_len).min(FRAME_LEN_MAX - FCS_LEN);
        let room = body.saturating_sub(len);
        let head = FrameHead {
            len,
            room,
            src,
            dst,
            strategy,
            link,
        };
        iface.current.as_ref().map(|packet| (head, packet))
    }

    /// The frame is whole, `len` bytes of it: it goes to the device.
    pub fn commit<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: IfaceId,
        out: &mut [u8],
        len: usize,
        more: bool,
    ) -> Option<TxInfo> {
        let iface = self.up_mut(id)?;
        let mut len = len;
        if !iface.config.caps.fcs {
            len = fcs::append(out, len).ok()?;
        }
        iface.more = more;
        iface.frame_len = len as u16;
        count(&mut iface.counters.frames_out, 1);
        Some(iface.hand_over(cx, id, false))
    }

    /// The device is done with the frame.
    pub fn transmitted<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId, report: TxReport) {
        let Some(iface) = self.up_mut(id).filter(|iface| iface.phase == Phase::InDevice) else {
            return;
        };
        if iface.config.caps.csma {
            return iface.finish(cx, id, report);
        }
        // The device adds the check sequence that the stack does not write.
        let fcs_len = if iface.config.caps.fcs { FCS_LEN } else { 0 };
        let (len, config) = (usize::from(iface.frame_len) + fcs_len, &iface.config.csma);
        if let Some(step) = iface
            .csma
            .transmitted(cx.now, len, report.outcome, config, &mut cx.core.rng)
        {
            iface.follow(cx, id, step);
        }
    }

    /// Ends every packet that is kept here.
    pub fn give_up<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        for iface in self.ifaces.iter_mut() {
            if let Some(current) = iface.current.take() {
                let packet = cx.core.buf.resume(current);
                let _ended = cx.drop(packet, Module::Netif, reason);
            }
            for queue in [&mut iface.queue, &mut iface.paced] {
                while let Some(packet) = cx.core.buf.pop(queue) {
                    let _ended = cx.drop(packet, Module::Netif, reason);
                }
            }
            iface.phase = Phase::Idle;
        }
    }

    /// Shows every packet that is kept here to an audit.
    pub fn holds(&self, buf: &PktBuf<'_>, see: &mut dyn FnMut(&Pkt)) {
        for iface in self.ifaces.iter() {
            if let Some(current) = &iface.current {
                see(current.pkt());
            }
            buf.walk(&iface.queue, see);
            buf.walk(&iface.paced, see);
        }
    }
}

impl Interface {
    /// Asks the MAC when the next frame of the current packet may be sent.
    fn contend<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId) {
        self.attempt = 0;
        let to = self
            .current
            .as_ref()
            .map(|packet| cx.core.buf.meta(packet.pkt()).link_dst);
        // IEEE 802.15.4-2020, 6.7.4.2: a broadcast is never acknowledged.
        self.ack_request = to.is_some_and(|to| !to.is_broadcast()) && !self.carries_packets();
        if self.config.caps.csma {
            self.phase = Phase::Ready;
            return;
        }
        let sequence = self.ack_request.then_some(self.sequence.wrapping_add(1));
        let step = self
            .csma
            .start(cx.now, sequence, &self.config.csma, &mut cx.core.rng);
        self.follow(cx, id, step);
    }

    /// Does what the MAC says.
    fn follow<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId, step: Step) {
        match step {
            Step::Wait(at) => {
                self.phase = Phase::Waiting;
                cx.core.timers.arm(TimerId(id.0), at);
            }
            Step::Transmit { again } => {
                cx.core.timers.disarm(TimerId(id.0));
                self.phase = if again { Phase::ReadyAgain } else { Phase::Ready };
            }
            Step::Finished(report) => {
                cx.core.timers.disarm(TimerId(id.0));
                self.finish(cx, id, report);
            }
        }
    }

    /// The MAC is done with a frame: on to the next of the packet, or to the next packet.
    fn finish<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId, report: TxReport) {
        let TxReport {
            outcome,
            attempts,
            busy,
        } = report;
        let packet = self
            .current
            .as_ref()
            .map(|packet| cx.core.buf.id(packet.pkt()))
            .unwrap_or_default();
        count(&mut self.counters.transmissions, u32::from(attempts));
        count(
            &mut self.counters.retransmissions,
            u32::from(attempts.saturating_sub(1)),
        );
        count(&mut self.counters.busy, u32::from(busy));
        cx.event(Event::FrameDone {
            id: packet,
            iface: id,
            outcome,
            attempts,
            busy,
        });
        let failed = match outcome {
            TxOutcome::Sent | TxOutcome::Acked => None,
            TxOutcome::NoAck => {
                count(&mut self.counters.no_ack, 1);
                Some(Reason::LinkNoAck)
            }
            TxOutcome::ChannelBusy => {
                count(&mut self.counters.channel_busy, 1);
                Some(Reason::LinkChannelBusy)
            }
            TxOutcome::Refused => Some(Reason::LinkRefused),
        };
        self.frame_ended(cx, id, failed);
    }

    /// Gives the frame to the device.
    fn hand_over<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId, again: bool) -> TxInfo {
        self.phase = Phase::InDevice;
        let packet = self.current.as_ref().map(Kept::pkt);
        let (pkt, to) = packet
            .map(|packet| (cx.core.buf.id(packet), cx.core.buf.meta(packet).link_dst))
            .unwrap_or_default();
        let len = usize::from(self.frame_len);
        cx.event(Event::FrameOut {
            id: pkt,
            iface: id,
            to,
            len: len as u16,
            sequence: self.sequence,
            attempt: self.attempt,
        });
        self.attempt = self.attempt.saturating_add(1);
        TxInfo {
            len,
            ack_request: self.ack_request,
            again,
            csma: self.config.csma.params,
            id: pkt,
        }
    }
}
