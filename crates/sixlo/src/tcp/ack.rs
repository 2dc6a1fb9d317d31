//! Acknowledgements that come in (RFC 9293 section 3.10.7.4, fifth).

use super::config::TcpConfig;
use super::connection::Connection;
use super::recovery::Recovery;
use super::segment::Segment;
use super::state::State;
use super::timer::Deadline;
use crate::congure::{Batch, Report};
use crate::ground::Cx;
use crate::time::Instant;
use crate::trace::Sink;

impl Connection {
    /// Takes the acknowledgement and the window of a segment. False if the segment goes no further.
    pub(super) fn acknowledge<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        segment: &Segment,
    ) -> bool {
        let ack = segment.ack;
        // RFC 5961 section 5.2: what was never sent, or is older than any window, is not believed.
        let oldest = self.una - u32::from(self.max_wnd);
        if ack.gt(self.max) || ack.lt(oldest) {
            self.challenge(cx);
            return false;
        }
        if self.flags.persisting {
            // It lives (RFC 9293 section 3.8.6.1: as long as probes are answered, the connection stays).
            self.progress_at = Deadline::at(cx.now);
        }
        let plain = self.looks_duplicate(segment);
        let new = ack.gt(self.una);
        self.heed_congestion(cx, config, segment);
        if new {
            self.acked_until(cx, config, segment);
        }
        self.update_window(segment, cx.now);
        if (new || plain) && self.recovery == Recovery::Timeout {
            let queued = self.queued(&cx.core.buf);
            let sent = self.max - self.una;
            let unsent = sent < queued && sent < u32::from(self.wnd);
            self.step_frto(cx, new, unsent);
        }
        if self.state.may_transmit() && ack.ge(self.una) {
            self.look_for_loss(cx, config, segment.options.sack.as_slice(), (plain, new));
        }
        true
    }

    /// The peer has everything before the acknowledgement number.
    pub(super) fn acked_until<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        segment: &Segment,
    ) {
        let bytes = segment.ack - self.una;
        let queued = self.queued(&cx.core.buf);
        let fin_acked = self.state.sends_fin() && bytes > queued;
        self.undo_by_stamps(cx, segment);
        let batch = self.batch(cx.now, bytes, segment);
        let pipe = self.pipe();
        let limited = pipe + u32::from(self.mss) <= self.congestion.window();
        self.report(cx, config, pipe, &Report::Acked { batch, limited });
        self.drop_front(cx, bytes.min(queued));
        self.una = segment.ack;
        self.nxt = self.nxt.max(self.una);
        self.retries = 0;
        self.progress_at = Deadline::at(cx.now);
        self.flags.unreachable = false;
        // Where nothing waits to be sent, it lets nothing go.
        self.flags.output |= self.data.is_some() || self.state.sends_fin();
        // RFC 6582 section 3.2 step 5: in a recovery without selective acknowledgements the timer starts anew at the first
        // partial acknowledgement only.
        let first = !(self.recovery == Recovery::Fast && !self.flags.sack && self.flags.partial);
        self.flags.partial = true;
        self.go_on_recovering(bytes);
        if !self.flags.persisting {
            // RFC 6298 (5.2) and (5.3).
            if self.una == self.max {
                self.retransmit_at = Deadline::NONE;
            } else if first || self.recovery != Recovery::Fast {
                self.arm_retransmit(cx.now, config);
            }
        }
        if fin_acked {
            self.fin_acked(cx, config);
        }
    }

    /// Our FIN is acknowledged.
    fn fin_acked<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, config: &TcpConfig) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                if !self.flags.owned {
                    self.end_at = Deadline::at(cx.now + config.fin_wait_2_timeout);
                }
            }
            State::Closing => self.wait_out(cx, config),
            _ => self.finish(cx, None),
        }
    }

    /// What congestion control is told of `bytes` that are acknowledged.
    fn batch(&mut self, now: Instant, bytes: u32, segment: &Segment) -> Batch {
        let timed = self
            .timed_at
            .get()
            .filter(|_| self.flags.timing && segment.ack.gt(self.timed));
        let sent_at = self.echoed(now, segment).or(timed);
        if timed.is_some() {
            self.flags.timing = false;
        }
        if self.recovery == Recovery::Fast {
            // The window does not grow in a recovery (RFC 6675 section 5, RFC 6582 section 3.2), whatever was sent in it.
            if let Some(sent_at) = sent_at {
                self.congestion.sample(now, &Batch::one(bytes, sent_at));
            }
            return Batch::again(bytes, Instant::ZERO);
        }
        sent_at.map_or(Batch::again(bytes, now), |sent_at| Batch::one(bytes, sent_at))
    }

    /// RFC 9293 section 3.10.7.4: SND.WND is that of the newest segment.
    fn update_window(&mut self, segment: &Segment, now: Instant) {
        let [seq, ack] = self.wl;
        let newer = seq.lt(segment.seq)
            || (seq == segment.seq
                && (ack.lt(segment.ack) || (ack == segment.ack && segment.window > self.wnd)));
        if !newer {
            return;
        }
        self.wl = [segment.seq, segment.ack];
        self.max_wnd = self.max_wnd.max(segment.window);
        if segment.window == self.wnd {
            return;
        }
        self.wnd = segment.window;
        self.flags.output = true;
        // Whether it is large enough now is seen when something is to be sent; else the probes begin anew.
        if self.wnd > 0 && self.flags.persisting {
            self.flags.persisting = false;
            self.flags.force = false;
            self.retransmit_at = Deadline::NONE;
            self.retries = 0;
            self.progress_at = Deadline::at(now);
        }
    }

    /// The retransmission timer starts anew (RFC 6298 section 5).
    pub(super) fn arm_retransmit(&mut self, now: Instant, config: &TcpConfig) {
        self.flags.persisting = false;
        self.retransmit_at = Deadline::at(now + self.timeout(config));
    }
}
