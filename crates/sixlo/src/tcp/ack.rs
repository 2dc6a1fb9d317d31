//! Acknowledgements that come in (RFC 9293 section 3.10.7.4, fifth).

use super::config::TcpConfig;
use super::connection::Connection;
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
            self.challenge();
            return false;
        }
        if ack.gt(self.una) {
            self.acked_until(cx, config, segment);
        }
        if self.flags.persisting {
            // It lives (RFC 9293 section 3.8.6.1: as long as probes are answered, the connection stays).
            self.progress_at = Deadline::at(cx.now);
        }
        self.update_window(segment, cx.now);
        true
    }

    /// The peer has everything before `ack`.
    fn acked_until<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, config: &TcpConfig, segment: &Segment) {
        let ack = segment.ack;
        let bytes = ack - self.una;
        let queued = self.queued(&cx.core.buf);
        let fin_acked = self.state.sends_fin() && bytes > queued;
        let batch = self.batch(cx.now, bytes, segment);
        let limited = self.pipe() + u32::from(self.mss) <= self.congestion.window();
        self.report(config, cx.now, &Report::Acked { batch, limited });
        self.drop_front(cx, bytes.min(queued));
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.retries = 0;
        self.progress_at = Deadline::at(cx.now);
        self.flags.output = true;
        if !self.flags.persisting {
            // RFC 6298 (5.2) and (5.3).
            self.retransmit_at = Deadline::NONE;
            if self.una != self.max {
                self.arm_retransmit(cx.now, config);
            }
        }
        if fin_acked {
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
    }

    /// What congestion control is told of `bytes` up to `ack`.
    fn batch(&mut self, now: Instant, bytes: u32, segment: &Segment) -> Batch {
        if let Some(sent_at) = self.echoed(now, segment) {
            return Batch::one(bytes, sent_at);
        }
        match self.timed_at.get() {
            Some(sent_at) if self.flags.timing && segment.ack.gt(self.timed) => {
                self.flags.timing = false;
                Batch::one(bytes, sent_at)
            }
            _ => self.untimed(now, bytes, false),
        }
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
        if segment.window != self.wnd {
            self.wnd = segment.window;
            self.flags.output = true;
        }
        if self.wnd > 0 && self.flags.persisting {
            self.flags.persisting = false;
            self.retransmit_at = Deadline::NONE;
            self.retries = 0;
            self.progress_at = Deadline::at(now);
        }
    }

    /// The retransmission timer starts anew (RFC 6298 section 5).
    pub(super) fn arm_retransmit(&mut self, now: Instant, config: &TcpConfig) {
        self.flags.persisting = false;
        self.retransmit_at = Deadline::at(now + self.congestion.rtt().timeout(&self.limits(config)));
    }
}
