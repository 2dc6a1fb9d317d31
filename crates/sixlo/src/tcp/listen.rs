//! Passive opens: listeners, and the backlog of connections whose handshake is not over (RFC 9293 section 3.5).
//!
//! Until the peer has acknowledged our SYN, it takes an entry here and no connection, so that a flood of SYNs costs the
//! backlog only (RFC 4987 section 3.2). A full backlog gives up its oldest entry.

use super::build::Draft;
use super::connection::{Connection, Endpoints};
use super::receive::{self, Receive};
use super::segment::Segment;
use super::state::State;
use super::timer::Deadline;
use super::{Path, Tcp, TcpConfig, stamps};
use crate::ground::Cx;
use crate::netdev::IfaceId;
use crate::pktbuf::Pkt;
use crate::time::{Duration, Instant, place_of_earliest};
use crate::trace::{PktId, Reason, Sink};
use crate::wire::ipv6::Ecn;
use crate::wire::tcp::Flags;
use crate::wire::tcp::options::{Options, Timestamps};
use crate::wire::tcp::seq::Seq;

/// A listener. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listener {
    /// The port, 0 if the place is free.
    pub(super) port: u16,
    /// Connections that may wait for it, half open ones counted.
    pub(super) backlog: u8,
    /// Counts those that had this place before.
    pub(super) round: u8,
}

impl Listener {
    /// A free place.
    pub const EMPTY: Self = Self {
        port: 0,
        backlog: 0,
        round: 0,
    };
}

/// A connection that a peer is opening: SYN-RECEIVED. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfOpen {
    ends: Endpoints,
    iface: IfaceId,
    /// The listener, counted from 1; 0 if the place is free.
    pub(super) listener: u8,
    retries: u8,
    /// Our SYN is to be sent.
    send: bool,
    /// An acknowledgement is to be sent: something came that is not acceptable.
    answer: bool,
    iss: Seq,
    /// RCV.NXT.
    rcv_nxt: Seq,
    own_mss: u16,
    peer_mss: u16,
    /// What the peer's SYN offered and we take.
    sack: bool,
    ecn: bool,
    stamps: bool,
    ts_recent: u32,
    ts_offset: u32,
    began: Deadline,
    again_at: Deadline,
}

impl HalfOpen {
    /// A free place.
    pub const EMPTY: Self = Self {
        ends: Endpoints::NONE,
        iface: IfaceId(0),
        listener: 0,
        retries: 0,
        send: false,
        answer: false,
        iss: Seq(0),
        rcv_nxt: Seq(0),
        own_mss: 0,
        peer_mss: 0,
        sack: false,
        ecn: false,
        stamps: false,
        ts_recent: 0,
        ts_offset: 0,
        began: Deadline::NONE,
        again_at: Deadline::NONE,
    };

    /// When it wants to be sent again.
    pub(super) fn deadline(&self) -> Instant {
        self.again_at.or_never()
    }

    fn wait(&mut self, now: Instant, config: &TcpConfig) {
        // RFC 6298 section 5: doubled each time.
        let wait: Duration = config.timer.initial.times(1 << self.retries.min(10));
        self.again_at = Deadline::at(now + wait);
    }
}

impl Tcp<'_> {
    /// The listener on a port.
    pub(super) fn listener_on(&self, port: u16) -> Option<usize> {
        self.listeners
            .iter()
            .position(|listener| listener.port == port && port != 0)
    }

    /// The entry of the backlog between these ends.
    pub(super) fn find_half_open(&self, ends: &Endpoints) -> Option<usize> {
        self.backlog
            .iter()
            .position(|entry| entry.listener != 0 && entry.ends == *ends)
    }

    /// A SYN for a listener (RFC 9293 section 3.10.7.2, third).
    pub(super) fn hear_syn(
        &mut self,
        now: Instant,
        path: &impl Path,
        listener: usize,
        segment: &Segment,
    ) -> Result<(), Reason> {
        let number = listener as u8 + 1;
        let most = self
            .listeners
            .get(listener)
            .map_or(0, |listener| listener.backlog);
        let waiting = self
            .connections
            .iter()
            .filter(|connection| connection.flags.ready && connection.listener == number)
            .count();
        if waiting >= usize::from(most) {
            return Err(Reason::TcpBacklogFull);
        }
        let opening = self.backlog.iter().filter(|entry| entry.listener == number);
        let full = waiting + opening.count() >= usize::from(most);
        let iss = self.initial_seq(now, &segment.ends);
        let place = self.place_for_half_open(full.then_some(number));
        let own_mss = self.mss_to(path, segment.iface, &segment.ends);
        let sack = self.config.sack && segment.options.sack_permitted;
        let stamps = segment.options.timestamps.filter(|_| self.config.timestamps);
        let ts_offset = self.stamp_offset(&segment.ends);
        let entry = place.and_then(|place| self.backlog.get_mut(place));
        let Some(entry) = entry else {
            return Err(Reason::TcpBacklogFull);
        };
        *entry = HalfOpen {
            ends: segment.ends,
            iface: segment.iface,
            listener: number,
            send: true,
            iss,
            rcv_nxt: segment.seq + 1,
            own_mss,
            peer_mss: segment.peer_mss(),
            sack,
            ecn: Connection::is_offered(&self.config, segment),
            stamps: stamps.is_some(),
            ts_recent: stamps.map_or(0, |stamps| stamps.value),
            ts_offset,
            began: Deadline::at(now),
            ..HalfOpen::EMPTY
        };
        self.wake = true;
        Ok(())
    }

    /// A place in the backlog: a free one, or else the oldest; the oldest of one listener if that has as many as it may.
    fn place_for_half_open(&self, of: Option<u8>) -> Option<usize> {
        let free = self.backlog.iter().position(|entry| entry.listener == 0);
        if let Some(free) = free.filter(|_| of.is_none()) {
            return Some(free);
        }
        let begun = |(place, entry): (usize, &HalfOpen)| {
            let eligible = entry.listener != 0 && of.is_none_or(|of| of == entry.listener);
            Some((place, entry.began.get().filter(|_| eligible)?))
        };
        place_of_earliest(self.backlog.iter().enumerate().filter_map(begun))
    }

    /// A segment for an entry of the backlog (RFC 9293 section 3.10.7.4 in SYN-RECEIVED). `Ok` with the place of the
    /// connection that it became, which is to take the segment.
    pub(super) fn complete<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        place: usize,
        segment: &Segment,
    ) -> Result<usize, Answer> {
        let window = receive::capacity(self.receive_len()) as u32;
        let Some(&entry) = self.backlog.get(place) else {
            return Err(Answer::Drop(Reason::TcpUnacceptable));
        };
        let flags = segment.flags;
        let expected = segment.seq == entry.rcv_nxt;
        let syn = flags.contains(Flags::SYN);
        let reset = flags.contains(Flags::RST);
        // Up to the number behind the window, which is what a peer bears that has filled it. An answer to a SYN is for nobody
        // who has sent none.
        let in_window = segment.seq - entry.rcv_nxt <= window && (reset || !syn);
        if syn && !flags.intersects(Flags::RST | Flags::ACK) {
            // The same SYN again: our answer was lost. To another SYN our answer is the challenge (FreeBSD): a peer that
            // begins anew resets what it does not know.
            self.change_half_open(place, |entry| entry.send = true);
            return Err(Answer::Taken);
        }
        if reset && expected {
            self.change_half_open(place, |entry| *entry = HalfOpen::EMPTY);
        } else if reset == in_window && self.may_answer(cx.now) {
            // RFC 5961 section 3.2, RFC 9293 section 3.10.7.4, first.
            self.change_half_open(place, |entry| entry.answer = true);
        }
        if reset || !in_window || !flags.contains(Flags::ACK) {
            return Err(Answer::Drop(Reason::TcpUnacceptable));
        }
        if segment.ack != entry.iss + 1 {
            return Err(Answer::Reset);
        }
        if entry.stamps
            && segment
                .options
                .timestamps
                .is_none_or(|stamps| stamps::is_before(stamps.value, entry.ts_recent))
        {
            // RFC 7323 sections 3.2 and 5.3.
            return Err(Answer::Drop(Reason::TcpUnacceptable));
        }
        let Some(free) = self.free_place() else {
            // The peer will say so again, or our SYN will be.
            return Err(Answer::Drop(Reason::TcpBacklogFull));
        };
        self.establish(cx, place, free, &entry, segment);
        Ok(free)
    }

    fn change_half_open(&mut self, place: usize, change: impl FnOnce(&mut HalfOpen)) {
        if let Some(entry) = self.backlog.get_mut(place) {
            change(entry);
            self.wake = true;
            self.changed = true;
        }
    }

    fn establish<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        place: usize,
        free: usize,
        entry: &HalfOpen,
        segment: &Segment,
    ) {
        self.order = self.order.wrapping_add(1);
        let order = self.order;
        let Some((connection, store, config)) = self.connection(free) else {
            return;
        };
        connection.open(entry.ends, entry.iface, entry.iss, entry.own_mss, config);
        connection.listener = entry.listener;
        connection.order = order;
        connection.flags.owned = true;
        connection.flags.ready = true;
        connection.flags.heard = true;
        connection.rcv_nxt = entry.rcv_nxt;
        connection.acked = entry.rcv_nxt;
        connection.receive = Receive::new(store, entry.rcv_nxt);
        connection.rcv_adv = entry.rcv_nxt + connection.receive_room(store.len());
        connection.flags.sack = entry.sack;
        connection.flags.ecn = entry.ecn;
        connection.flags.stamps = entry.stamps;
        connection.ts_offset = entry.ts_offset;
        connection.remember_stamp(cx.now, entry.ts_recent);
        connection.mss = entry.own_mss.min(entry.peer_mss);
        connection.flags.syn_lost = entry.retries > 0;
        connection.nxt = entry.iss + 1;
        connection.max = connection.nxt;
        connection.una = connection.nxt;
        connection.become_established(cx, config, segment);
        if entry.retries == 0
            && let Some(began) = entry.began.get()
        {
            connection.first_sample(cx.now, began);
        }
        if let Some(entry) = self.backlog.get_mut(place) {
            *entry = HalfOpen::EMPTY;
        }
        self.changed = true;
        debug_assert!(
            self.connections
                .get(free)
                .is_some_and(|it| it.state == State::Established)
        );
    }

    /// The next segment of the backlog that is to be sent.
    pub(super) fn next_syn_ack<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) -> Option<Pkt> {
        let place = self.backlog.iter().position(|entry| entry.send || entry.answer)?;
        let window = receive::capacity(self.receive_len()) as u16;
        let entry = self.backlog.get_mut(place)?;
        let syn = core::mem::take(&mut entry.send);
        entry.answer = false;
        if syn {
            entry.wait(cx.now, &self.config);
            self.changed = true;
        }
        let draft = Draft {
            ends: &entry.ends,
            iface: entry.iface,
            seq: if syn { entry.iss } else { entry.iss + 1 },
            ack: entry.rcv_nxt,
            flags: match syn {
                true if entry.ecn => Flags::SYN | Flags::ACK | Flags::ECE,
                true => Flags::SYN | Flags::ACK,
                false => Flags::ACK,
            },
            window,
            options: Options {
                mss: syn.then_some(entry.own_mss),
                sack_permitted: syn && entry.sack,
                timestamps: entry.stamps.then(|| Timestamps {
                    value: stamps::clock(cx.now, entry.ts_offset),
                    echo: entry.ts_recent,
                }),
                ..Options::NONE
            },
            ecn: Ecn::NotCapable,
            data: None,
        };
        draft.build(cx, PktId::NONE).ok()
    }

    /// Sends answers of the backlog again whose time has come, or gives up.
    pub(super) fn expire_backlog(&mut self, now: Instant) {
        for entry in self.backlog.iter_mut() {
            if !entry.again_at.is_due(now) {
                continue;
            }
            entry.again_at = Deadline::NONE;
            self.changed = true;
            if entry.retries >= self.config.syn_ack_retries_max {
                *entry = HalfOpen::EMPTY;
                continue;
            }
            entry.retries += 1;
            entry.send = true;
            self.wake = true;
        }
    }
}

/// What becomes of a segment.
pub(super) enum Answer {
    /// It was used.
    Taken,
    /// It was not.
    Drop(Reason),
    /// Its sender is told that there is no such connection.
    Reset,
}
