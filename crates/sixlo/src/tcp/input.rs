//! Segments that come in (RFC 9293 section 3.10.7).

use super::build::Draft;
use super::config::TcpConfig;
use super::connection::Connection;
use super::error::TcpError;
use super::listen::Answer;
use super::receive::Receive;
use super::segment::Segment;
use super::stamps::{self, Late};
use super::state::State;
use super::timer::Deadline;
use super::{Path, Tcp};
use crate::congure::{Batch, Congestion};
use crate::ground::Cx;
use crate::netapi::{Msg, Next, Ty};
use crate::pktbuf::Pkt;
use crate::time::Instant;
use crate::trace::{End, Module, PktId, Reason, Sink, Told};
use crate::wire::ipv6::{Ecn, NextHeader};
use crate::wire::tcp::Flags;
use crate::wire::tcp::options::Options;
use crate::wire::tcp::seq::Seq;

/// Challenge acknowledgements of a connection in about a second: this many at least, and fewer than twice as many.
const CHALLENGES_MIN: u8 = 5;

impl Tcp<'_> {
    /// A segment on its way up; the cursor stands at its header.
    pub fn receive<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, path: &impl Path, packet: Pkt) -> Next {
        let mut segment = match Segment::read(&cx.core.buf, &packet) {
            Ok(segment) => segment,
            Err(reason) => return Next::Drop(packet, reason),
        };
        match self.take(cx, path, &mut segment, &packet) {
            Answer::Taken => Next::Taken(cx.end(packet, Module::Tcp, End::Consumed)),
            Answer::Drop(reason) => Next::Drop(packet, reason),
            Answer::Reset => {
                let cause = cx.core.buf.id(&packet);
                let reset = self.reset_for(cx, &segment, cause);
                match reset {
                    Some(reset) => {
                        let _ended = cx.drop(packet, Module::Tcp, Reason::TcpRefused);
                        Next::To(Msg::down(Ty::Transport, u16::from(NextHeader::TCP.0)), reset)
                    }
                    None => Next::Drop(packet, Reason::TcpRefused),
                }
            }
        }
    }

    fn take<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        path: &impl Path,
        segment: &mut Segment,
        packet: &Pkt,
    ) -> Answer {
        self.end_time_wait(cx, segment);
        let place = match self.find(&segment.ends) {
            Some(place) => place,
            None => match self.find_half_open(&segment.ends) {
                Some(entry) => match self.complete(cx, entry, segment) {
                    Ok(place) => place,
                    Err(answer) => return answer,
                },
                None => return self.for_listener(cx.now, path, segment),
            },
        };
        let Some((connection, storage, config)) = self.connection(place) else {
            return Answer::Reset;
        };
        let answer = connection.segment(cx, config, storage, segment, packet);
        self.wake |= connection.flags.output;
        self.changed = true;
        answer
    }

    /// A new SYN for a connection in TIME-WAIT takes its place, if nothing old can be mistaken for what follows (RFC 9293
    /// section 3.6.1; RFC 6191 section 2).
    fn end_time_wait<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, segment: &Segment) {
        let others = Flags::ACK | Flags::RST | Flags::FIN;
        let wanted = segment.flags.contains(Flags::SYN) && !segment.flags.intersects(others);
        if !wanted || self.listener_on(segment.ends.local_port).is_none() {
            return;
        }
        let iss = self.initial_seq(cx.now, &segment.ends);
        let place = self.find(&segment.ends);
        let Some(connection) = place.and_then(|place| self.connections.get_mut(place)) else {
            return;
        };
        let stamp = segment.options.timestamps.filter(|_| connection.flags.stamps);
        let newer = match stamp {
            Some(stamps) if stamps.value != connection.ts_recent => {
                stamps::is_before(connection.ts_recent, stamps.value)
            }
            _ => segment.seq.gt(connection.rcv_nxt),
        };
        // Ours must be newer too (section 3.6.1 (1)): what was sent faster than the clock of the numbers runs is waited for.
        if connection.state == State::TimeWait && newer && iss.gt(connection.max) {
            connection.finish(cx, None);
            self.changed = true;
        }
    }

    /// A segment of no connection: RFC 9293 section 3.10.7.1 and 3.10.7.2.
    fn for_listener(&mut self, now: Instant, path: &impl Path, segment: &Segment) -> Answer {
        let flags = segment.flags;
        let listener = self.listener_on(segment.ends.local_port);
        match listener {
            _ if flags.contains(Flags::RST) => Answer::Drop(Reason::TcpRefused),
            Some(listener) if !flags.contains(Flags::ACK) => {
                // What has neither is not worth an answer (3.10.7.2, fourth); SYN and FIN at once is no SYN of anybody's
                // (FreeBSD's `drop_synfin`).
                // From ourselves to itself it would be answered for ever.
                let ends = &segment.ends;
                let itself = (ends.local, ends.local_port) == (ends.remote, ends.remote_port);
                if flags.contains(Flags::SYN) && !flags.contains(Flags::FIN) && !itself {
                    match self.hear_syn(now, path, listener, segment) {
                        Ok(()) => Answer::Taken,
                        Err(reason) => Answer::Drop(reason),
                    }
                } else {
                    Answer::Drop(Reason::TcpUnacceptable)
                }
            }
            _ => Answer::Reset,
        }
    }

    /// The RST that tells the sender of a segment that there is no such connection (RFC 9293 section 3.5.2, group 1).
    fn reset_for<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, segment: &Segment, cause: PktId) -> Option<Pkt> {
        if segment.flags.contains(Flags::RST) || !self.may_answer(cx.now) {
            return None;
        }
        let (seq, ack, flags) = match segment.flags.contains(Flags::ACK) {
            true => (segment.ack, Seq(0), Flags::RST),
            false => (Seq(0), segment.seq + segment.len(), Flags::RST | Flags::ACK),
        };
        let draft = Draft {
            ends: &segment.ends,
            iface: segment.iface,
            seq,
            ack,
            flags,
            window: 0,
            options: Options::NONE,
            ecn: Ecn::NotCapable,
            data: None,
        };
        draft.build(cx, cause).ok()
    }
}

impl Connection {
    /// A segment of this connection.
    fn segment<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        storage: &mut [u8],
        segment: &mut Segment,
        packet: &Pkt,
    ) -> Answer {
        if self.take_predicted(cx, config, storage, segment, packet) {
            return Answer::Taken;
        }
        if self.state == State::SynSent {
            match self.syn_sent(cx, config, storage, segment) {
                Ok(()) => {}
                Err(answer) => return answer,
            }
        } else if let Err(answer) = self.acceptable(cx, config, storage, segment) {
            return answer;
        }
        if self.state == State::SynReceived {
            if segment.ack != self.iss + 1 {
                return Answer::Reset;
            }
            self.una = segment.ack;
            self.nxt = self.nxt.max(self.una);
            self.become_established(cx, config, segment);
        } else if !self.acknowledge(cx, config, segment) {
            return Answer::Drop(Reason::TcpUnacceptable);
        }
        if self.state == State::Closed {
            return Answer::Taken;
        }
        self.take_data(cx, config, storage, segment, packet)
    }

    /// SYN-SENT (RFC 9293 section 3.10.7.3). `Ok` if the connection is established and the rest of the segment counts.
    fn syn_sent<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        storage: &mut [u8],
        segment: &mut Segment,
    ) -> Result<(), Answer> {
        let flags = segment.flags;
        let acks = flags.contains(Flags::ACK);
        if acks && segment.ack != self.iss + 1 {
            return Err(match flags.contains(Flags::RST) {
                true => Answer::Drop(Reason::TcpUnacceptable),
                false => Answer::Reset,
            });
        }
        if flags.contains(Flags::RST) {
            if !acks {
                return Err(Answer::Drop(Reason::TcpUnacceptable));
            }
            self.finish(cx, Some(TcpError::Refused));
            return Err(Answer::Taken);
        }
        if !flags.contains(Flags::SYN) {
            return Err(Answer::Drop(Reason::TcpUnacceptable));
        }
        self.rcv_nxt = segment.seq + 1;
        self.acked = self.rcv_nxt;
        self.receive = Receive::new(storage, self.rcv_nxt);
        self.rcv_adv = self.rcv_nxt + self.receive_room(storage.len());
        self.mss = self.mss.min(segment.peer_mss());
        self.flags.sack = config.sack && segment.options.sack_permitted;
        // RFC 3168 section 6.1.1: a SYN offers it with both flags, the answer takes it with one.
        self.flags.ecn = match acks {
            true => config.ecn && flags.contains(Flags::ECE) && !flags.contains(Flags::CWR),
            false => Self::is_offered(config, segment),
        };
        if let Some(stamps) = segment.options.timestamps.filter(|_| config.timestamps) {
            self.flags.stamps = true;
            self.remember_stamp(cx.now, stamps.value);
        }
        self.flags.heard = true;
        self.flags.ack_now = true;
        self.flags.output = true;
        // The SYN took a number; data behind it, if any, begins with the next.
        segment.seq += 1;
        if !acks {
            // Simultaneous open (section 3.5, figure 8): our SYN goes out again, with an acknowledgement.
            self.state = State::SynReceived;
            self.nxt = self.iss;
            self.flags.timing = false;
            return Err(Answer::Taken);
        }
        let began = self.timed_at.get().filter(|_| self.flags.timing);
        self.una = segment.ack;
        self.nxt = self.nxt.max(self.una);
        self.become_established(cx, config, segment);
        if let Some(began) = began {
            self.first_sample(cx.now, began);
        }
        Ok(())
    }

    /// The handshake is over.
    pub(super) fn become_established<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        segment: &Segment,
    ) {
        if self.flags.stamps {
            // The option is in every segment, so there is less room for data (RFC 6691).
            self.mss -= stamps::OPTION_LEN;
        }
        self.state = if core::mem::take(&mut self.flags.shut) {
            State::FinWait1
        } else {
            State::Established
        };
        self.wnd = segment.window;
        self.max_wnd = segment.window;
        self.wl = [segment.seq, segment.ack];
        self.congestion = Congestion::new(&self.params(config));
        self.tell(cx, Told::Start);
        self.retries = 0;
        self.flags.timing = false;
        self.flags.output = true;
        self.retransmit_at = Deadline::NONE;
        self.end_at = Deadline::NONE;
        self.progress_at = Deadline::at(cx.now);
        self.heard(cx.now, config);
    }

    /// The round trip of the SYN was measured.
    pub(super) fn first_sample(&mut self, now: Instant, began: Instant) {
        self.congestion.sample(now, &Batch::one(1, began));
    }

    /// Whether a segment is to be looked at: its timestamps, its numbers, RST and SYN (RFC 9293 section 3.10.7.4, first to
    /// fourth).
    fn acceptable<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        storage: &mut [u8],
        segment: &mut Segment,
    ) -> Result<(), Answer> {
        let flags = segment.flags;
        let window = self.window(storage.len());
        if let Err(late) = self.passes_stamps(cx.now, segment) {
            if matches!(late, Late::Answered) {
                self.answer_old(storage, segment);
            }
            return Err(Answer::Drop(Reason::TcpUnacceptable));
        }
        let in_window = segment.seq == self.rcv_nxt || segment.seq.is_in(self.rcv_nxt, window);
        if flags.contains(Flags::RST) {
            return Err(self.hear_reset(cx, segment.seq, in_window));
        }
        if flags.contains(Flags::SYN) {
            return self.syn_again(cx, segment);
        }
        // RFC 9293 section 3.10.7.4, first: the table of four cases. A segment of which a part is in the window counts.
        let end = segment.seq + segment.len();
        let reaches_in = end.gt(self.rcv_nxt) && segment.seq.lt(self.rcv_nxt);
        let fits = if segment.len() == 0 {
            // A peer that has filled the window acknowledges with the number behind it: refused, two that both wait for a
            // lost segment would never hear each other.
            in_window || segment.seq == self.rcv_nxt + window
        } else {
            window > 0 && (in_window || reaches_in)
        };
        if !fits {
            // The answer to what is sent again, because the last acknowledgement was lost, echoes this segment and not the
            // one before: else the peer takes all its waiting for a round trip (FreeBSD).
            if segment.seq.lt(self.rcv_nxt) && end.ge(self.acked) {
                self.update_stamp(cx.now, segment);
            }
            if segment.len() == 0 {
                self.challenge(cx);
            } else {
                self.answer_old(storage, segment);
            }
            if self.state == State::TimeWait && flags.contains(Flags::FIN) && end == self.rcv_nxt {
                // The peer's FIN again: 2 MSL begin anew (section 3.10.7.4, fifth, TIME-WAIT; FreeBSD's `tcp_twcheck`).
                self.end_at = Deadline::at(cx.now + config.segment_lifetime.times(2));
            }
            // While the window is closed, the acknowledgement counts all the same ("special allowance"), and so does that of a
            // segment with the number before: a FIN or a probe again, of a peer that has not heard us. Refused, two whose
            // FINs or probes have crossed would never hear each other (RFC 9293 appendix A.2).
            let before = self.state.is_synchronized() && segment.seq + 1 == self.rcv_nxt;
            let useful = before || segment.seq == self.rcv_nxt && window == 0;
            if !useful {
                return Err(Answer::Drop(Reason::TcpUnacceptable));
            }
            segment.data_len = 0;
            segment.flags = flags.without(Flags::FIN);
        }
        if !flags.contains(Flags::ACK) {
            return Err(Answer::Drop(Reason::TcpUnacceptable));
        }
        self.update_stamp(cx.now, segment);
        self.hear_congestion(segment);
        self.heard(cx.now, config);
        Ok(())
    }

    /// RST (RFC 5961 section 3.2).
    fn hear_reset<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, seq: Seq, in_window: bool) -> Answer {
        if self.state == State::TimeWait {
            // RFC 1337 section 3 (F1): else a segment of old, answered by a peer that has ended, ends it here too.
            return Answer::Drop(Reason::TcpUnacceptable);
        }
        if seq == self.rcv_nxt {
            let refused = self.state == State::SynReceived;
            let error = if refused {
                TcpError::Refused
            } else {
                TcpError::Reset
            };
            self.finish(cx, Some(error));
            return Answer::Taken;
        }
        if in_window {
            self.challenge(cx);
        }
        Answer::Drop(Reason::TcpUnacceptable)
    }

    /// The window from RCV.NXT on: what there is room for, and what was promised even if the room is less now.
    fn window(&self, storage_len: usize) -> u32 {
        self.receive_room(storage_len).max(self.promised())
    }

    /// An old segment, or one beyond the window: the peer learns where we are, and what it sent twice (RFC 2883).
    fn answer_old(&mut self, storage: &mut [u8], segment: &Segment) {
        if segment.seq.lt(self.rcv_nxt) && self.state.may_receive() {
            let old = (self.rcv_nxt - segment.seq).min(segment.data_len);
            self.receive.insert(storage, segment.seq, old, &mut |_, _| ());
        }
        self.flags.ack_now = true;
        self.flags.output = true;
    }

    /// SYN in a connection (RFC 5961 section 4.2).
    fn syn_again<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, segment: &mut Segment) -> Result<(), Answer> {
        let flags = segment.flags;
        if self.state == State::SynReceived && segment.seq + 1 == self.rcv_nxt {
            // The peer's SYN once more: ours was lost, or this is its answer to ours in a simultaneous open.
            if !flags.contains(Flags::ACK) {
                self.nxt = self.iss;
                self.flags.output = true;
                return Err(Answer::Taken);
            }
            if segment.ack == self.iss + 1 {
                segment.seq += 1;
                segment.flags = flags.without(Flags::SYN);
                return Ok(());
            }
        }
        self.challenge(cx);
        Err(Answer::Drop(Reason::TcpUnacceptable))
    }

    /// Answers something that might be an attack with an acknowledgement of where we are (RFC 5961), a few times in each while
    /// of about a second. How often differs each time, so that nobody can count what others caused (section 7, and
    /// Cao et al., "Off-Path TCP Exploits", 2016).
    pub(super) fn challenge<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) {
        let epoch = (cx.now.as_micros() >> 20) as u8;
        if self.challenges_at != epoch || self.challenges == 0 && !self.flags.challenged {
            self.challenges_at = epoch;
            self.challenges = CHALLENGES_MIN + cx.core.rng.below(u32::from(CHALLENGES_MIN)) as u8;
            self.flags.challenged = true;
        }
        if self.challenges > 0 {
            self.challenges -= 1;
            self.flags.ack_now = true;
            self.flags.output = true;
        }
    }

    /// Data and FIN (RFC 9293 section 3.10.7.4, seventh and eighth).
    fn take_data<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        storage: &mut [u8],
        segment: &Segment,
        packet: &Pkt,
    ) -> Answer {
        let fin = segment.flags.contains(Flags::FIN);
        if segment.data_len == 0 && !fin {
            return Answer::Taken;
        }
        if !self.state.may_receive() {
            // The peer's FIN has come: nothing can lie behind it.
            self.flags.ack_now = true;
            self.flags.output = true;
            return Answer::Taken;
        }
        if segment.data_len > 0 && !self.flags.owned {
            // Nobody will read it: RFC 9293 section 3.6.1 lets the peer know.
            self.finish(cx, None);
            return Answer::Reset;
        }
        let fin_at = segment.seq + segment.data_len;
        // A FIN beyond the window, or behind another, is none.
        let fits = fin_at.le(self.rcv_nxt + self.window(storage.len()));
        if fin && fits && !self.flags.fin_known {
            self.flags.fin_known = true;
            self.fin_at = fin_at;
        }
        // Behind the peer's FIN there is nothing.
        let mut len = segment.data_len;
        if self.flags.fin_known && fin_at.gt(self.fin_at) {
            len = len.saturating_sub(fin_at - self.fin_at);
        }
        let buf = &cx.core.buf;
        let taken = self
            .receive
            .insert(storage, segment.seq, len, &mut |offset, room| {
                buf.copy_out(packet, segment.data_at + offset, room);
            });
        self.rcv_nxt = self.receive.next();
        if taken.acknowledge || segment.seq != self.rcv_nxt - taken.advanced {
            self.flags.ack_now = true;
        }
        if taken.advanced > 0 {
            self.delay_ack(cx.now, config);
        }
        if self.flags.fin_known && self.fin_at == self.rcv_nxt {
            self.hear_fin(cx, config);
        }
        // Else it lets nothing go.
        self.flags.output |= self.flags.ack_now;
        Answer::Taken
    }

    /// The next acknowledgement may wait, unless one waits already (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2).
    pub(super) fn delay_ack(&mut self, now: Instant, config: &TcpConfig) {
        let second = self.ack_at.is_set() || self.rcv_nxt - self.acked >= 2 * u32::from(self.mss);
        if second || config.delayed_ack.as_micros() == 0 {
            self.flags.ack_now = true;
        } else {
            self.ack_at = Deadline::at(now + config.delayed_ack);
        }
    }

    /// The peer's FIN is next.
    fn hear_fin<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, config: &TcpConfig) {
        self.rcv_nxt += 1;
        self.flags.ack_now = true;
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            _ => self.wait_out(cx, config),
        }
    }

    /// TIME-WAIT begins.
    pub(super) fn wait_out<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, config: &TcpConfig) {
        self.state = State::TimeWait;
        self.drop_data(cx, Reason::TornDown);
        self.retransmit_at = Deadline::NONE;
        self.pace_at = Deadline::NONE;
        self.end_at = Deadline::at(cx.now + config.segment_lifetime.times(2));
    }

    /// It ends. The place is free once the application has been told or does not have it any more.
    pub(super) fn finish<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, error: Option<TcpError>) {
        self.drop_data(cx, Reason::TornDown);
        self.state = State::Closed;
        self.error = self.error.or(error);
        self.flags.output = false;
        // A connection that was never accepted is nobody's to tell.
        if self.flags.ready {
            self.flags.ready = false;
            self.flags.owned = false;
        }
        self.retransmit_at = Deadline::NONE;
        self.ack_at = Deadline::NONE;
        self.end_at = Deadline::NONE;
        self.pace_at = Deadline::NONE;
    }
}
