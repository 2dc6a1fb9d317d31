//! What is sent, and when (RFC 9293 section 3.8).

use super::build::Draft;
use super::config::TcpConfig;
use super::connection::Connection;
use super::receive::capacity;
use super::recovery::Recovery;
use super::scoreboard::Next;
use super::state::State;
use super::timer::Deadline;
use super::{Tcp, ecn, stamps};
use crate::ground::Cx;
use crate::pktbuf::Pkt;
use crate::time::{Duration, Instant};
use crate::trace::{PktId, Sink};
use crate::wire::tcp::Flags;
use crate::wire::tcp::options::Options;
use crate::wire::tcp::seq::Seq;

/// One segment that is to go out.
struct Plan {
    seq: Seq,
    /// Bytes of data, and where in the send buffer they begin.
    len: u32,
    offset: u32,
    flags: Flags,
    /// It is sent again in a fast recovery, out of turn: what the scoreboard is told, if there is one.
    again: Option<Next>,
}

impl Plan {
    /// A segment without data.
    const fn bare(seq: Seq, flags: Flags) -> Self {
        Self {
            seq,
            len: 0,
            offset: 0,
            flags,
            again: None,
        }
    }
}

impl Tcp<'_> {
    /// The next segment of anybody, ready for the IPv6 output.
    pub fn next_segment<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) -> Option<Pkt> {
        if let Some(packet) = self.next_syn_ack(cx) {
            return Some(packet);
        }
        for _ in 0..self.connections.len() {
            let place = usize::from(self.turn);
            if let Some((connection, storage, config)) = self.connection(place)
                && connection.flags.output
            {
                if let Some(packet) = connection.next_segment(cx, config, storage) {
                    self.changed = true;
                    return Some(packet);
                }
                connection.flags.output = false;
                self.changed = true;
            }
            self.turn = if place + 1 < self.connections.len() {
                self.turn + 1
            } else {
                0
            };
        }
        self.wake = false;
        None
    }
}

impl Connection {
    /// The next segment that may go out now.
    fn next_segment<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        storage: &mut [u8],
    ) -> Option<Pkt> {
        let options = self.options(cx.now, config, storage);
        let mut plan = self.plan(cx, config, storage.len(), &options)?;
        let window = self.window_to_announce(storage.len());
        let ecn = self.ecn_of(&mut plan.flags, plan.len > 0, plan.seq.lt(self.max));
        let draft = Draft {
            ends: &self.ends,
            iface: self.iface,
            seq: plan.seq,
            ack: if self.flags.heard { self.rcv_nxt } else { Seq(0) },
            flags: plan.flags,
            window,
            options,
            ecn,
            data: self
                .data
                .as_ref()
                .map(|data| (data, plan.offset as usize, plan.len as usize)),
        };
        match draft.build(cx, PktId::NONE) {
            Ok(packet) => {
                self.sent(cx.now, config, &plan, window);
                // Nothing more is to be looked for where all has been sent, which is what most segments leave.
                let unsent = self.queued(&cx.core.buf) > self.nxt - self.una || self.state.sends_fin();
                self.flags.output = unsent || self.recovery != Recovery::None || self.flags.keep_probe;
                Some(packet)
            }
            Err(_) => {
                // No room: the timer tries again, as if it had been lost.
                if plan.len > 0 || plan.flags.intersects(Flags::SYN | Flags::FIN) {
                    if !self.retransmit_at.is_set() {
                        self.arm_retransmit(cx.now, config);
                    }
                } else {
                    self.ack_at = Deadline::at(cx.now + config.delayed_ack);
                }
                self.flags.ack_now = false;
                None
            }
        }
    }

    /// The options of the next segment.
    fn options(&mut self, now: Instant, config: &TcpConfig, storage: &mut [u8]) -> Options {
        let mut options = Options::NONE;
        match self.state {
            State::Closed => {}
            State::SynSent | State::SynReceived => {
                // An answer offers only what the peer has offered.
                let answer = self.flags.heard;
                options.mss = Some(self.own_mss);
                options.sack_permitted = if answer { self.flags.sack } else { config.sack };
                let stamps = if answer {
                    self.flags.stamps
                } else {
                    config.timestamps
                };
                options.timestamps = stamps.then(|| self.stamps(now));
            }
            _ => {
                options.timestamps = self.flags.stamps.then(|| self.stamps(now));
                if self.flags.sack && self.receive.has_news() {
                    options.sack = self.receive.selective_acknowledgement(storage);
                }
            }
        }
        options
    }

    /// What goes out next, if anything may.
    fn plan<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        storage_len: usize,
        options: &Options,
    ) -> Option<Plan> {
        match self.state {
            State::Closed => return self.plan_reset(),
            State::SynSent | State::SynReceived => return self.plan_syn(config),
            _ => {}
        }
        let queued = self.queued(&cx.core.buf);
        // What options take that not every segment has, is not there for data (RFC 6691 section 2).
        let usual = if self.flags.stamps { stamps::OPTION_LEN } else { 0 };
        let limit = (u32::from(self.mss) + u32::from(usual)).saturating_sub(options.emit_len() as u32);
        if self.state.may_transmit()
            && self.recovery == Recovery::Fast
            && let Some(plan) = self.plan_recovery(queued, limit)
        {
            return Some(plan);
        }
        let (len, fin) = if self.state.may_transmit() {
            self.sendable(queued, limit)
        } else {
            (0, false)
        };
        let begin = self.nxt - self.una;
        let announce = self.flags.ack_now || self.window_opened(storage_len);
        if len == 0 && !fin && !announce {
            self.wait_for_window(cx.now, config, queued, begin);
            return core::mem::take(&mut self.flags.keep_probe)
                // RFC 9293 section 3.8.4: a number that was acknowledged long ago, and no data.
                .then(|| Plan::bare(self.una - 1, Flags::ACK));
        }
        let mut flags = Flags::ACK;
        if fin {
            flags |= Flags::FIN;
        }
        if len > 0 && begin + len == queued {
            flags |= Flags::PSH;
        }
        // What says only that something came in bears the number of what would be sent next: of the byte that a closed window
        // is probed with, too. With the one behind it, two that probe each other would take nothing from each other.
        let bare = len == 0 && !fin && !self.flags.persisting;
        let seq = if bare { self.max } else { self.nxt };
        Some(Plan {
            seq,
            len,
            offset: begin.min(queued),
            flags,
            again: None,
        })
    }

    /// The last word (RFC 9293 section 3.10.5).
    fn plan_reset(&mut self) -> Option<Plan> {
        let reset = core::mem::take(&mut self.flags.reset);
        reset.then(|| Plan::bare(self.max, Flags::RST | Flags::ACK))
    }

    /// Our SYN, or once it is under way what answers a segment that is not acceptable.
    fn plan_syn(&self, config: &TcpConfig) -> Option<Plan> {
        let answer = self.state == State::SynReceived;
        if self.nxt != self.iss {
            let acknowledge = answer && self.flags.ack_now;
            return acknowledge.then(|| Plan::bare(self.nxt, Flags::ACK));
        }
        let flags = match answer {
            true if self.flags.ecn => Flags::SYN | Flags::ACK | Flags::ECE,
            true => Flags::SYN | Flags::ACK,
            // RFC 3168 section 6.1.1.1: whoever does not answer may not like the offer.
            false if config.ecn && self.retries == 0 => Flags::SYN | ecn::OFFER,
            false => Flags::SYN,
        };
        Some(Plan::bare(self.nxt, flags))
    }

    /// What a fast recovery sends next, if that is something once more (RFC 6675 section 5, RFC 6582 section 3.2).
    fn plan_recovery(&self, queued: u32, limit: u32) -> Option<Plan> {
        if self.flags.again {
            return self.plan_again(queued, 0, limit, Next::Again { from: 0, len: limit });
        }
        let (flight, mss) = (self.max - self.una, u32::from(self.mss));
        if !self.flags.sack || self.pipe() + mss > self.congestion.window() {
            return None;
        }
        let new = queued > flight && u32::from(self.wnd) > flight;
        let next = self.scoreboard.next_segment(flight, mss, new)?;
        match next {
            Next::Again { from, len } | Next::Rescue { from, len } => {
                self.plan_again(queued, from, len.min(limit), next)
            }
            Next::New => None,
        }
    }

    /// Data once more, from `offset` on, and the FIN if it was sent behind it.
    fn plan_again(&self, queued: u32, offset: u32, len: u32, next: Next) -> Option<Plan> {
        // Nothing that was never sent: it is not under way yet, and the window may have no room for it.
        let sent = queued.min(self.max - self.una);
        let len = sent.saturating_sub(offset).min(len);
        let fin = self.state.sends_fin() && offset + len >= queued && self.max - self.una > queued;
        let mut flags = Flags::ACK;
        if fin {
            flags |= Flags::FIN;
        }
        if len > 0 && offset + len == queued {
            flags |= Flags::PSH;
        }
        let again = match next {
            Next::Again { from, .. } => Next::Again {
                from,
                len: len + u32::from(fin),
            },
            other => other,
        };
        (len > 0 || fin).then(|| Plan {
            seq: self.una + offset,
            len,
            offset: offset.min(queued),
            flags,
            again: Some(again),
        })
    }

    /// How many bytes may go out now from SND.NXT on, at most `limit`, and whether the FIN goes with them.
    fn sendable(&mut self, queued: u32, limit: u32) -> (u32, bool) {
        let mut run = u32::MAX;
        if self.flags.sack && self.nxt.lt(self.max) {
            // What has arrived since the time-out is not sent again.
            match self.scoreboard.gap(self.nxt - self.una, self.max - self.una) {
                Some((from, len)) => {
                    self.nxt = self.una + from;
                    run = len;
                }
                None => self.nxt = self.max,
            }
        }
        let begin = self.nxt - self.una;
        let left = queued.saturating_sub(begin).min(run);
        let usable = self.peer_room(begin);
        let room = match self.frto_room() {
            _ if self.flags.force => limit,
            Some(room) => room,
            None => self.congestion.window().saturating_sub(self.pipe()),
        };
        let len = left.min(usable).min(room).min(limit);
        let last = begin + len >= queued;
        // The FIN goes out with the last byte, or alone; once, and again after a time-out.
        let fin = self.state.sends_fin() && last && self.nxt + len == self.una + queued;
        if len == 0 {
            return (0, fin);
        }
        if self.pace_at.is_set() && !self.flags.force {
            // The interval after the last segment is not over.
            return (0, false);
        }
        // The first segment that is not acknowledged goes out again whatever the window leaves of it: it is what all wait for.
        let again = self.nxt.lt(self.max) && (begin == 0 || len == left.min(limit));
        let quiet = self.max == self.una;
        let nagle = !(quiet || self.flags.no_delay || self.state.sends_fin());
        let go = len == limit
            || (last && !nagle)
            || again
            || self.flags.force
            // RFC 9293 section 3.8.6.2.1: half of the largest window.
            || 2 * len >= u32::from(self.max_wnd);
        if go { (len, fin) } else { (0, false) }
    }

    /// Bytes that the peer's window takes beyond `begin`; one more than none where it is probed.
    fn peer_room(&self, begin: u32) -> u32 {
        let window = u32::from(self.wnd);
        let window = if self.flags.force {
            window.max(begin + 1)
        } else {
            window
        };
        window.saturating_sub(begin)
    }

    /// Data waits, nothing is under way and nothing may go out: the peer's window is probed (RFC 9293 section 3.8.6.1).
    fn wait_for_window(&mut self, now: Instant, config: &TcpConfig, queued: u32, begin: u32) {
        let waits = self.state.may_transmit() && begin < queued;
        if waits && !self.retransmit_at.is_set() && !self.pace_at.is_set() {
            self.arm_persist(now, config);
        }
    }

    /// The time to the next probe: that of a retransmission, within bounds.
    pub(super) fn arm_persist(&mut self, now: Instant, config: &TcpConfig) {
        let [shortest, longest] = config.persist;
        let wait = self
            .timeout(config)
            .times(1 << self.retries.min(10))
            .max(shortest)
            .min(longest);
        self.flags.persisting = true;
        self.retransmit_at = Deadline::at(now + wait);
    }

    /// Bytes of the window that was announced last and that are still to come.
    pub(super) fn promised(&self) -> u32 {
        if self.rcv_adv.gt(self.rcv_nxt) {
            self.rcv_adv - self.rcv_nxt
        } else {
            0
        }
    }

    /// The window that the next segment announces: never less than was promised (RFC 9293 section 3.8.6), and not opened by
    /// little (section 3.8.6.2.2).
    fn window_to_announce(&self, storage_len: usize) -> u16 {
        let room = self.receive_room(storage_len);
        let promised = self.promised();
        let small = room < capacity(storage_len) as u32 / 4 && room < u32::from(self.mss);
        let window = if small { promised } else { room.max(promised) };
        window.min(u32::from(u16::MAX)) as u16
    }

    /// The application has read so much that the peer should know (RFC 9293 section 3.8.6.2.2).
    pub(super) fn window_opened(&self, storage_len: usize) -> bool {
        let promised = self.promised();
        let more = self.receive_room(storage_len).saturating_sub(promised);
        self.state.may_receive()
            && more > 0
            && (more >= 2 * u32::from(self.mss) || 2 * more >= capacity(storage_len) as u32)
    }

    /// A segment went out.
    fn sent(&mut self, now: Instant, config: &TcpConfig, plan: &Plan, window: u16) {
        let syn = u32::from(plan.flags.contains(Flags::SYN));
        let fin = u32::from(plan.flags.contains(Flags::FIN));
        let len = plan.len + syn + fin;
        // What fits the window is no probe but data that has waited for a larger one.
        let forced = core::mem::take(&mut self.flags.force) && self.flags.persisting;
        let probe = forced && plan.seq - self.una >= u32::from(self.wnd);
        self.flags.ack_now = false;
        if self.flags.heard {
            self.ack_at = Deadline::NONE;
            self.acked = self.rcv_nxt;
            self.rcv_adv = self.rcv_adv.max(self.rcv_nxt + u32::from(window));
        }
        if len == 0 || self.state == State::Closed {
            return;
        }
        let end = plan.seq + len;
        let new = plan.seq == self.max;
        if self.max == self.una {
            self.progress_at = Deadline::at(now);
        }
        if probe {
            // The byte is probed with again, and no timer waits for its acknowledgement.
            self.max = self.max.max(end);
            return;
        }
        if !new && plan.seq.le(self.timed) {
            // Karn: what is sent again is not measured (RFC 6298 section 3).
            self.flags.timing = false;
        }
        if let Some(next) = plan.again {
            self.sent_again(now, config, next, len);
            return;
        }
        if new && !self.flags.timing && self.recovery != Recovery::Timeout {
            self.flags.timing = true;
            self.timed = plan.seq;
            self.timed_at = Deadline::at(now);
        }
        self.nxt = end;
        self.max = self.max.max(end);
        if forced {
            self.retries = 0;
        }
        if plan.len > 0
            && let Some(interval) = self.congestion.interval(&self.params(config), plan.len)
            && interval > Duration::ZERO
        {
            self.pace_at = Deadline::at(now + interval);
        }
        if !self.retransmit_at.is_set() || self.flags.persisting {
            self.arm_retransmit(now, config);
        }
    }

    /// A segment of a fast recovery went out once more.
    fn sent_again(&mut self, now: Instant, config: &TcpConfig, next: Next, len: u32) {
        if core::mem::take(&mut self.flags.again) {
            self.scoreboard.begin(len);
            if !self.flags.partial || !self.retransmit_at.is_set() {
                self.arm_retransmit(now, config);
            }
        } else {
            self.scoreboard.sent(next, self.max - self.una);
        }
    }
}
