//! What is sent, and when (RFC 9293 section 3.8).

use super::Tcp;
use super::build::Draft;
use super::config::TcpConfig;
use super::connection::Connection;
use super::state::State;
use super::timer::Deadline;
use crate::ground::Cx;
use crate::pktbuf::Pkt;
use crate::time::Instant;
use crate::trace::{PktId, Sink};
use crate::wire::ipv6::Ecn;
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
        let storage_len = storage.len();
        let plan = self.plan(cx, config, storage_len)?;
        let options = self.options(cx.now, config, storage, plan.flags);
        let window = self.window_to_announce(storage_len);
        let draft = Draft {
            ends: &self.ends,
            iface: self.iface,
            seq: plan.seq,
            ack: if self.flags.heard { self.rcv_nxt } else { Seq(0) },
            flags: plan.flags,
            window,
            options,
            ecn: Ecn::NotCapable,
            data: self
                .data
                .as_ref()
                .map(|data| (data, plan.offset as usize, plan.len as usize)),
        };
        match draft.build(cx, PktId::NONE) {
            Ok(packet) => {
                self.sent(cx.now, config, &plan, window);
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

    /// The options of a segment.
    fn options(&mut self, now: Instant, config: &TcpConfig, storage: &mut [u8], flags: Flags) -> Options {
        let mut options = Options::NONE;
        let syn = flags.contains(Flags::SYN);
        if syn {
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
        } else if !flags.contains(Flags::RST) {
            options.timestamps = self.flags.stamps.then(|| self.stamps(now));
            if self.flags.sack && self.receive.has_news() {
                options.sack = self.receive.selective_acknowledgement(storage);
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
    ) -> Option<Plan> {
        match self.state {
            State::Closed => return self.plan_reset(),
            State::SynSent | State::SynReceived => return self.plan_syn(),
            _ => {}
        }
        let queued = self.queued(&cx.core.buf);
        let begin = self.nxt - self.una;
        let (len, fin) = if self.state.may_transmit() {
            self.sendable(queued, begin)
        } else {
            (0, false)
        };
        let announce = self.flags.ack_now || self.window_opened(storage_len);
        if len == 0 && !fin && !announce {
            self.wait_for_window(cx.now, config, queued, begin);
            return None;
        }
        let mut flags = Flags::ACK;
        if fin {
            flags |= Flags::FIN;
        }
        if len > 0 && begin + len == queued {
            flags |= Flags::PSH;
        }
        // What says only that something came in bears the number of what would be sent next.
        let seq = if len == 0 && !fin {
            self.nxt.max(self.max)
        } else {
            self.nxt
        };
        Some(Plan {
            seq,
            len,
            offset: begin.min(queued),
            flags,
        })
    }

    /// The last word (RFC 9293 section 3.10.5).
    fn plan_reset(&mut self) -> Option<Plan> {
        core::mem::take(&mut self.flags.reset).then_some(Plan {
            seq: self.max,
            len: 0,
            offset: 0,
            flags: Flags::RST | Flags::ACK,
        })
    }

    fn plan_syn(&self) -> Option<Plan> {
        let answer = self.state == State::SynReceived;
        if self.nxt != self.iss && !(answer && self.flags.ack_now) {
            return None;
        }
        let flags = if answer {
            Flags::SYN | Flags::ACK
        } else {
            Flags::SYN
        };
        Some(Plan {
            seq: self.iss,
            len: 0,
            offset: 0,
            flags,
        })
    }

    /// How many bytes may go out now from `begin` on, and whether the FIN goes with them.
    fn sendable(&self, queued: u32, begin: u32) -> (u32, bool) {
        let (mss, left) = (u32::from(self.mss), queued.saturating_sub(begin));
        let mut window = u32::from(self.wnd);
        if self.flags.force {
            window = window.max(begin + 1);
        }
        let usable = window.saturating_sub(begin);
        let room = self.congestion.window().saturating_sub(self.pipe());
        let room = if self.flags.force { room.max(1) } else { room };
        let len = left.min(usable).min(room).min(mss);
        let last = begin + len >= queued;
        // The FIN goes out with the last byte, or alone; once, and again after a time-out.
        let fin_at = self.una + queued;
        let fin = self.state.sends_fin() && last && (self.nxt + len) == fin_at && usable >= len;
        if len == 0 {
            return (0, fin);
        }
        let again = self.nxt.lt(self.max);
        let quiet = self.max == self.una;
        let nagle = !(quiet || self.flags.no_delay || self.state.sends_fin());
        let go = len == mss
            || (last && !nagle)
            || again
            || self.flags.force
            // RFC 9293 section 3.8.6.2.1: half of the largest window.
            || 2 * len >= u32::from(self.max_wnd);
        if go { (len, fin) } else { (0, false) }
    }

    /// Data waits, nothing is under way and nothing may go out: the peer's window is probed (RFC 9293 section 3.8.6.1).
    fn wait_for_window(&mut self, now: Instant, config: &TcpConfig, queued: u32, begin: u32) {
        let waits = self.state.may_transmit() && begin < queued;
        if waits && !self.retransmit_at.is_set() {
            self.arm_persist(now, config);
        }
    }

    /// The time to the next probe: that of a retransmission, within bounds.
    pub(super) fn arm_persist(&mut self, now: Instant, config: &TcpConfig) {
        let [shortest, longest] = config.persist;
        let rtt = self.congestion.rtt().timeout(&self.limits(config));
        let wait = rtt.times(1 << self.retries.min(10)).max(shortest).min(longest);
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
        let small = room < storage_len as u32 / 4 && room < u32::from(self.mss);
        let window = if small { promised } else { room.max(promised) };
        window.min(u32::from(u16::MAX)) as u16
    }

    /// The application has read so much that the peer should know (RFC 9293 section 3.8.6.2.2).
    fn window_opened(&self, storage_len: usize) -> bool {
        let promised = self.promised();
        let more = self.receive_room(storage_len).saturating_sub(promised);
        self.state.may_receive()
            && more > 0
            && (more >= 2 * u32::from(self.mss) || 2 * more >= storage_len as u32)
    }

    /// A segment went out.
    fn sent(&mut self, now: Instant, config: &TcpConfig, plan: &Plan, window: u16) {
        let syn = u32::from(plan.flags.contains(Flags::SYN));
        let fin = u32::from(plan.flags.contains(Flags::FIN));
        let len = plan.len + syn + fin;
        let probe = core::mem::take(&mut self.flags.force) && self.flags.persisting;
        self.flags.ack_now = false;
        if self.flags.heard {
            self.ack_at = Deadline::NONE;
            self.acked = self.rcv_nxt;
            self.rcv_adv = self.rcv_adv.max(self.rcv_nxt + u32::from(window));
        }
        if len == 0 || self.state == State::Closed {
            return;
        }
        let new = plan.seq + len;
        if probe {
            // The byte is probed with again, and no timer waits for its acknowledgement.
            self.max = self.max.max(new);
            return;
        }
        if new.gt(self.max) && !self.flags.timing && plan.seq == self.max {
            self.flags.timing = true;
            self.timed = plan.seq;
            self.timed_at = Deadline::at(now);
        } else if plan.seq.le(self.timed) {
            // Karn: what is sent again is not measured (RFC 6298 section 3).
            self.flags.timing = false;
        }
        if self.max == self.una {
            self.progress_at = Deadline::at(now);
        }
        self.nxt = new;
        self.max = self.max.max(new);
        if !self.retransmit_at.is_set() || self.flags.persisting {
            self.arm_retransmit(now, config);
        }
    }
}
