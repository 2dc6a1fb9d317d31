//! The table of datagrams under recovery at their sender.

use super::HERE;
use super::sender::{Geometry, Need, Sender, Shot};
use crate::congure::{Change, Congestion, Kind, Params, Report, RttLimits};
use crate::ground::Cx;
use crate::lowpan::RecoverConfig;
use crate::netdev::IfaceId;
use crate::pktbuf::{Kept, Pkt};
use crate::time::{Duration, Instant, earliest};
use crate::trace::{Event, Module, PktId, Reason, Sink, Told};
use crate::wire::addr::LinkAddr;
use crate::wire::iphc::Compressed;

/// A datagram under recovery, at its sender. The empty value is all-zero bits.
pub struct Transfer {
    pub(super) sender: Sender,
    congestion: Congestion,
    /// The packet, while it does not wait at the interface.
    pub(super) kept: Option<Kept>,
    /// What is in the device's frame.
    pub(super) shot: Option<Shot>,
    next_hop: LinkAddr,
    iface: IfaceId,
    pub(super) tag: u8,
    /// The place is taken.
    pub(super) used: bool,
    /// Congestion control has a say.
    controlled: bool,
    /// Bytes that the headers have more than when they are compressed.
    pub(super) shift: i16,
    id: PktId,
}

#[cfg(not(feature = "trace"))]
const _: () = assert!(size_of::<Transfer>() <= 128);

impl Transfer {
    /// A free place.
    pub const EMPTY: Self = Self {
        sender: Sender::EMPTY,
        congestion: Congestion::EMPTY,
        kept: None,
        shot: None,
        next_hop: LinkAddr::None,
        iface: IfaceId(0),
        tag: 0,
        used: false,
        controlled: false,
        shift: 0,
        id: PktId::NONE,
    };
}

/// The datagrams under recovery.
pub(in crate::lowpan) struct Transfers<'a> {
    table: &'a mut [Transfer],
    config: RecoverConfig,
    params: Params,
    /// [`deadline`](Self::deadline) may be another than when it was last asked for.
    changed: bool,
}

impl<'a> Transfers<'a> {
    /// Takes the table over and empties it.
    pub(in crate::lowpan) fn new(table: &'a mut [Transfer], config: RecoverConfig) -> Self {
        for entry in table.iter_mut() {
            *entry = Transfer::EMPTY;
        }
        let mut transfers = Self {
            table,
            config,
            params: Params::fragments(Kind::AppendixC),
            changed: false,
        };
        transfers.set_config(config);
        transfers
    }

    /// The table, without entries where nothing is recovered.
    const fn table(&self) -> &[Transfer] {
        if HERE { self.table } else { &[] }
    }

    /// Gives the table back; every packet must have been given up before.
    pub(in crate::lowpan) fn into_table(self) -> &'a mut [Transfer] {
        self.table
    }

    pub(in crate::lowpan) const fn config(&self) -> &RecoverConfig {
        &self.config
    }

    /// Changes the behaviour for what begins from now on.
    pub(in crate::lowpan) fn set_config(&mut self, config: RecoverConfig) {
        self.config = config;
        self.params = Params {
            timer: RttLimits {
                initial: config.arq_timeout,
                minimum: config.arq_timeout_min,
                maximum: config.arq_timeout_max,
                ..RttLimits::RFC6298
            },
            ..Params::fragments(config.control.unwrap_or(Kind::AppendixC))
        };
    }

    /// Datagrams under recovery.
    pub(in crate::lowpan) fn used(&self) -> usize {
        self.table().iter().filter(|entry| entry.used).count()
    }

    /// Entries in use, and how many there are.
    pub(super) fn fill(&self) -> (usize, usize) {
        (self.used(), self.table.len())
    }

    /// Whether a datagram goes out over an interface under this tag.
    pub(in crate::lowpan) fn has_tag(&self, iface: IfaceId, tag: u8) -> bool {
        let same = |entry: &Transfer| entry.used && entry.tag == tag && entry.iface == iface;
        self.table().iter().any(same)
    }

    pub(in crate::lowpan) fn changed(&mut self) -> bool {
        HERE && core::mem::take(&mut self.changed)
    }

    /// When a datagram that is kept here wants something to happen.
    pub(in crate::lowpan) fn deadline(&self) -> Option<Instant> {
        let kept = self.table().iter().filter(|entry| entry.kept.is_some());
        earliest(kept.filter_map(|entry| entry.sender.need().deadline()))
    }

    /// Shows every packet that is kept here to an audit.
    pub(in crate::lowpan) fn holds(&self, see: &mut dyn FnMut(&Pkt)) {
        for kept in self.table.iter().filter_map(|entry| entry.kept.as_ref()) {
            see(kept.pkt());
        }
    }

    /// Ends every packet that is kept here, and forgets those that are not.
    pub(in crate::lowpan) fn give_up<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        for entry in self.table.iter_mut() {
            if let Some(kept) = core::mem::replace(entry, Transfer::EMPTY).kept {
                let packet = cx.core.buf.resume(kept);
                let _ended = cx.drop(packet, Module::Lowpan, reason);
            }
        }
    }

    /// The entries, and what they all need.
    pub(super) const fn parts(&mut self) -> (&mut [Transfer], RecoverConfig, Params) {
        (self.table, self.config, self.params)
    }

    pub(super) const fn capacity(&self) -> usize {
        self.table().len()
    }

    /// Opens an entry for a datagram: the one that the last datagram over this next hop had, or any.
    pub(super) fn open<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: PktId,
        (iface, next_hop): (IfaceId, LinkAddr),
        tag: u8,
    ) -> Option<usize> {
        let before = |entry: &Transfer| !entry.used && entry.next_hop == next_hop && entry.iface == iface;
        let place = self.table.iter().position(before);
        let place = place.or_else(|| self.table.iter().position(|entry| !entry.used))?;
        let entry = self.table.get_mut(place)?;
        let congestion = if before(entry) {
            Congestion::follow(&self.params, &entry.congestion)
        } else {
            Congestion::new(&self.params)
        };
        *entry = Transfer {
            congestion,
            next_hop,
            iface,
            tag,
            used: true,
            controlled: self.config.control.is_some(),
            id,
            ..Transfer::EMPTY
        };
        let mut start = entry.congestion.state(&self.params, Told::Start);
        if !entry.controlled {
            start.window = entry.window(&self.config).into();
        }
        entry.tell(cx, &start);
        Some(place)
    }

    /// The datagram that an acknowledgement from `next_hop` is for.
    pub(super) fn find(&self, iface: IfaceId, next_hop: LinkAddr, tag: u8) -> Option<usize> {
        self.table.iter().position(|entry| {
            entry.used && entry.tag == tag && entry.iface == iface && entry.next_hop == next_hop
        })
    }

    /// Whether nothing is known of a datagram's fragments yet.
    pub(super) fn is_fresh(&self, place: usize) -> bool {
        let entry = self.table.get(place);
        entry.is_some_and(|entry| entry.used && entry.sender.is_fresh())
    }

    /// Settles what the fragments of a datagram of `size` bytes are, for frames with room for `room` bytes.
    pub(super) fn plan(
        &mut self,
        place: usize,
        size: usize,
        headers: &Compressed,
        room: u16,
    ) -> Result<(), Reason> {
        let slack = self.config.slack_len;
        let total = u16::try_from((size + headers.written).saturating_sub(headers.consumed));
        let geometry = total
            .ok()
            .and_then(|total| Geometry::new(total, headers.written as u16, room, slack.into()));
        let entry = self.table.get_mut(place).ok_or(Reason::RecoverGivenUp)?;
        // Both are lengths of headers in one frame.
        entry.shift = headers.consumed as i16 - headers.written as i16;
        entry.sender.begin(geometry.ok_or(Reason::DatagramTooLarge)?);
        Ok(())
    }

    /// What a datagram needs now.
    pub(super) fn need(&self, place: usize) -> Need {
        let entry = self.table.get(place).filter(|entry| entry.used);
        entry.map_or(Need::Failed, |entry| entry.sender.need())
    }

    /// Keeps the packet of a datagram.
    pub(super) fn keep(&mut self, place: usize, kept: Kept) {
        if let Some(entry) = self.table.get_mut(place) {
            entry.kept = Some(kept);
        }
        self.changed = true;
    }

    /// Begins anew under another tag. False if the datagram is not there.
    pub(super) fn restart(&mut self, place: usize, tag: u8) -> bool {
        let entry = self.table.get_mut(place).filter(|entry| entry.used);
        entry
            .map(|entry| {
                entry.tag = tag;
                entry.sender.restart();
            })
            .is_some()
    }

    /// Whether the next hop of a datagram may not be the right one any more.
    pub(super) fn doubts_path(&self, place: usize) -> bool {
        let entry = self.table.get(place);
        entry.is_some_and(|entry| entry.used && entry.sender.doubts_path())
    }

    /// A datagram goes over another next hop from now on.
    pub(super) fn reroute(&mut self, place: usize, iface: IfaceId, next_hop: LinkAddr) {
        if let Some(entry) = self.table.get_mut(place) {
            entry.iface = iface;
            entry.next_hop = next_hop;
            entry.sender.reroute();
        }
    }

    /// A datagram is done. What congestion control has learned stays for the next one over the same next hop.
    pub(super) fn close(&mut self, place: usize) {
        if let Some(entry) = self.table.get_mut(place) {
            entry.used = false;
        }
        self.changed = true;
    }
}

impl Need {
    pub(super) const fn deadline(self) -> Option<Instant> {
        match self {
            Self::Frame(at) | Self::Answer(at) | Self::Restart(at) => Some(at),
            Self::Done | Self::Failed => None,
        }
    }
}

impl Transfer {
    /// Fragments that may be under way.
    pub(super) fn window(&self, config: &RecoverConfig) -> u8 {
        let window = if self.controlled {
            self.congestion.window()
        } else {
            config.window.into()
        };
        // RFC 8931 section 7.1: at least 1 and less than 33.
        window.clamp(1, 32) as u8
    }

    /// How long an acknowledgement may take, and how far fragments are kept apart beside the interface's own gap.
    pub(super) fn times(&self, config: &RecoverConfig, params: &Params) -> (Duration, Duration) {
        let timeout = if config.adaptive {
            self.congestion.rtt().timeout(&params.timer)
        } else {
            config.arq_timeout.times(1 << self.sender.back_offs().min(16))
        };
        // RFC 8931 section 7.1: never beyond the configured boundaries.
        let timeout = timeout.max(config.arq_timeout_min).min(config.arq_timeout_max);
        let gap = match self.controlled {
            true => self.congestion.interval(params, 1).unwrap_or_default(),
            false => Duration::ZERO,
        };
        (timeout, gap)
    }

    /// Tells congestion control, and the sink what window and gap are after that.
    pub(super) fn report<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, params: &Params, report: &Report) {
        if let Some(change) = self.congestion.report(params, cx.now, report)
            && self.controlled
        {
            self.tell(cx, &change);
        }
    }

    fn tell<S: Sink>(&self, cx: &mut Cx<'_, '_, S>, change: &Change) {
        cx.event(Event::Window {
            id: self.id,
            tag: self.tag.into(),
            window: change.window as u16,
            interval: change.gap,
            told: change.told,
        });
    }
}

#[cfg(test)]
mod tests;
