//! Segments that come in (RFC 9293 section 3.10.7).

use super::Tcp;
use super::build::Draft;
use super::config::TcpConfig;
use super::connection::Connection;
use super::error::TcpError;
use super::listen::Answer;
use super::segment::Segment;
use super::state::State;
use super::timer::Deadline;
use crate::congure::{Batch, Congestion};
use crate::ground::Cx;
use crate::netapi::{Msg, Next, Ty};
use crate::pktbuf::Pkt;
use crate::time::Instant;
use crate::trace::{End, Module, PktId, Reason, Sink};
use crate::wire::ipv6::{Ecn, NextHeader};
use crate::wire::tcp::Flags;
use crate::wire::tcp::options::Options;
use crate::wire::tcp::seq::Seq;

impl Tcp<'_> {
    /// A segment on its way up; the cursor stands at its header.
    pub fn receive<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, packet: Pkt) -> Next {
        let mut segment = match Segment::read(&cx.core.buf, &packet) {
            Ok(segment) => segment,
            Err(reason) => return Next::Drop(packet, reason),
        };
        match self.take(cx, &mut segment, &packet) {
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

    fn take<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, segment: &mut Segment, packet: &Pkt) -> Answer {
        let place = match self.find(&segment.ends) {
            Some(place) => place,
            None => match self.find_half_open(&segment.ends) {
                Some(entry) => match self.complete(cx, entry, segment) {
                    Ok(place) => place,
                    Err(answer) => return answer,
                },
                None => return self.for_listener(cx, segment),
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

    /// A segment of no connection: RFC 9293 section 3.10.7.1 and 3.10.7.2.
    fn for_listener<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, segment: &Segment) -> Answer {
        let flags = segment.flags;
        let listener = self.listener_on(segment.ends.local_port);
        match listener {
            _ if flags.contains(Flags::RST) => Answer::Drop(Reason::TcpRefused),
            Some(listener) if !flags.contains(Flags::ACK) => {
                // What has neither is not worth an answer (3.10.7.2, fourth); SYN and FIN at once is no SYN of anybody's
                // (FreeBSD's `drop_synfin`).
                if flags.contains(Flags::SYN) && !flags.contains(Flags::FIN) {
                    match self.hear_syn(cx, listener, segment) {
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
        if self.state == State::SynSent {
            match self.syn_sent(cx, config, storage.len(), segment) {
                Ok(()) => {}
                Err(answer) => return answer,
            }
        } else if let Err(answer) = self.acceptable(cx, config, storage.len(), segment) {
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
        storage_len: usize,
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
        self.rcv_adv = self.rcv_nxt + storage_len as u32;
        self.mss = self.mss.min(segment.peer_mss());
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
        self.state = if core::mem::take(&mut self.flags.shut) {
            State::FinWait1
        } else {
            State::Established
        };
        self.wnd = segment.window;
        self.max_wnd = segment.window;
        self.wl = [segment.seq, segment.ack];
        self.congestion = Congestion::new(&self.params(config));
        self.retries = 0;
        self.flags.timing = false;
        self.flags.output = true;
        self.retransmit_at = Deadline::NONE;
        self.end_at = Deadline::NONE;
        self.progress_at = Deadline::at(cx.now);
    }

    /// The round trip of the SYN was measured.
    pub(super) fn first_sample(&mut self, now: Instant, began: Instant) {
        self.congestion.sample(now, &Batch::one(1, began));
    }

    /// Whether a segment is to be looked at: its numbers, RST and SYN (RFC 9293 section 3.10.7.4, first to fourth). It is
    /// trimmed to the window.
    fn acceptable<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        _config: &TcpConfig,
        storage_len: usize,
        segment: &mut Segment,
    ) -> Result<(), Answer> {
        let flags = segment.flags;
        let room = self.receive_room(storage_len);
        // What was announced stays promised, even if the room is less now.
        let window = room.max(if self.rcv_adv.gt(self.rcv_nxt) {
            self.rcv_adv - self.rcv_nxt
        } else {
            0
        });
        let len = segment.len();
        let in_window = |seq: Seq| seq == self.rcv_nxt || seq.is_in(self.rcv_nxt, window);
        let fits = in_window(segment.seq) && (window > 0 || len == 0);
        let last_fits = len > 0 && window > 0 && in_window(segment.seq + (len - 1));
        if flags.contains(Flags::RST) {
            // RFC 5961 section 3.2.
            if segment.seq == self.rcv_nxt {
                let error = if self.state == State::SynReceived {
                    TcpError::Refused
                } else {
                    TcpError::Reset
                };
                self.finish(cx, Some(error));
                return Err(Answer::Taken);
            }
            if in_window(segment.seq) {
                self.challenge();
            }
            return Err(Answer::Drop(Reason::TcpUnacceptable));
        }
        if flags.contains(Flags::SYN) {
            // RFC 5961 section 4.2.
            if self.state == State::SynReceived && segment.seq + 1 == self.rcv_nxt {
                // The peer's SYN once more: ours was lost, or this is its answer to ours in a simultaneous open.
                if !flags.contains(Flags::ACK) {
                    self.nxt = self.iss;
                    self.flags.output = true;
                    return Err(Answer::Taken);
                }
                segment.seq += 1;
                segment.flags = flags.without(Flags::SYN);
                return Ok(());
            }
            self.challenge();
            return Err(Answer::Drop(Reason::TcpUnacceptable));
        }
        if !(fits
            || last_fits
            || (len > 0 && segment.seq.lt(self.rcv_nxt) && (segment.seq + len).gt(self.rcv_nxt)))
        {
            // An old segment or one beyond the window: the peer learns where we are (section 3.10.7.4, first), but its
            // acknowledgement counts if only the window is closed (section 3.10.7.4: "special allowance").
            self.flags.ack_now = true;
            self.flags.output = true;
            let useful = segment.seq == self.rcv_nxt && window == 0;
            if !useful || !flags.contains(Flags::ACK) {
                return Err(Answer::Drop(Reason::TcpUnacceptable));
            }
        }
        if !flags.contains(Flags::ACK) {
            return Err(Answer::Drop(Reason::TcpUnacceptable));
        }
        self.trim(segment, window);
        Ok(())
    }

    /// Cuts off what came before already and what lies beyond the window.
    fn trim(&mut self, segment: &mut Segment, window: u32) {
        if segment.seq.lt(self.rcv_nxt) {
            let old = (self.rcv_nxt - segment.seq).min(segment.data_len);
            segment.seq += old;
            segment.data_at += old as usize;
            segment.data_len -= old;
            self.flags.ack_now = true;
            self.flags.output = true;
        }
        let end = self.rcv_nxt + window;
        let segment_end = segment.seq + segment.data_len;
        if segment_end.gt(end) {
            let surplus = (segment_end - end).min(segment.data_len);
            segment.data_len -= surplus;
            segment.flags = segment.flags.without(Flags::FIN);
            self.flags.ack_now = true;
            self.flags.output = true;
        }
    }

    /// Answers something that might be an attack with an acknowledgement of where we are (RFC 5961).
    pub(super) fn challenge(&mut self) {
        self.flags.ack_now = true;
        self.flags.output = true;
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
            // The peer's FIN has come: nothing can lie behind it. A FIN sent again is answered.
            self.flags.ack_now = true;
            self.flags.output = true;
            if self.state == State::TimeWait {
                self.end_at = Deadline::at(cx.now + config.segment_lifetime.times(2));
            }
            return Answer::Taken;
        }
        if segment.data_len > 0 && !self.flags.owned {
            // Nobody will read it: RFC 9293 section 3.6.1 lets the peer know.
            self.finish(cx, None);
            return Answer::Reset;
        }
        if segment.seq != self.rcv_nxt {
            // Something before it is missing: RFC 5681 section 4.2 wants the acknowledgement at once.
            self.flags.ack_now = true;
            self.flags.output = true;
            return Answer::Taken;
        }
        let mut taken = 0;
        for piece in cx.core.buf.pieces(packet, segment.data_at) {
            let left = segment.data_len - taken;
            let piece = piece.get(..left as usize).unwrap_or(piece);
            taken += self.ring.push(storage, piece) as u32;
        }
        self.rcv_nxt += taken;
        self.flags.output = true;
        if taken < segment.data_len {
            self.flags.ack_now = true;
            return Answer::Taken;
        }
        if taken > 0 {
            self.delay_ack(cx.now, config);
        }
        if fin {
            self.hear_fin(cx, config);
        }
        Answer::Taken
    }

    /// The next acknowledgement may wait, unless one waits already (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2).
    fn delay_ack(&mut self, now: Instant, config: &TcpConfig) {
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
    }
}
