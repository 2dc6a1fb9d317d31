//! Timers that are due.

use super::Tcp;
use super::config::TcpConfig;
use super::connection::Connection;
use super::state::State;
use super::timer::Deadline;
use crate::congure::{Batch, Report};
use crate::ground::Cx;
use crate::time::Instant;
use crate::trace::Sink;

impl Tcp<'_> {
    /// Does what is due in every connection and in the backlog.
    pub fn expire<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) {
        for connection in self.connections.iter_mut() {
            connection.expire(cx, &self.config);
            self.wake |= connection.flags.output;
        }
        self.expire_backlog(cx.now);
        self.changed = true;
    }
}

impl Connection {
    fn expire<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, config: &TcpConfig) {
        if self.ack_at.is_due(cx.now) {
            self.ack_at = Deadline::NONE;
            self.flags.ack_now = true;
            self.flags.output = true;
        }
        if self.pace_at.is_due(cx.now) {
            self.pace_at = Deadline::NONE;
            self.flags.output = true;
        }
        if self.end_at.is_due(cx.now) {
            self.end_at = Deadline::NONE;
            self.end(cx, config);
        }
        if self.retransmit_at.is_due(cx.now) {
            self.retransmit_at = Deadline::NONE;
            self.flags.output = true;
            if self.gives_up(cx.now, config) {
                self.abort(cx, Some(self.silence()));
            } else if self.flags.persisting || (self.wnd == 0 && self.queued(&cx.core.buf) > 0) {
                self.probe(cx.now, config);
            } else {
                self.time_out(cx, config);
            }
        }
    }

    /// The end of an open, of FIN-WAIT-2 or of TIME-WAIT; or a connection was quiet for long.
    fn end<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, config: &TcpConfig) {
        match self.state {
            State::SynSent => self.finish(cx, Some(self.silence())),
            State::SynReceived => self.abort(cx, Some(self.silence())),
            State::TimeWait => self.finish(cx, None),
            State::FinWait2 if !self.flags.owned => self.finish(cx, None),
            _ => self.keep_alive(cx, config),
        }
    }

    /// RFC 9293 section 3.8.4.
    fn keep_alive<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, config: &TcpConfig) {
        if !self.flags.keep_alive {
            return;
        }
        if self.probes >= config.keep_alive_probes {
            self.abort(cx, Some(self.silence()));
            return;
        }
        self.probes += 1;
        self.flags.keep_probe = true;
        self.flags.output = true;
        self.end_at = Deadline::at(cx.now + config.keep_alive_interval);
    }

    /// Something came from the peer: the connection is not quiet.
    pub(super) fn heard(&mut self, now: Instant, config: &TcpConfig) {
        if self.flags.keep_alive
            && self.flags.owned
            && self.state.is_synchronized()
            && self.state != State::TimeWait
        {
            self.probes = 0;
            self.end_at = Deadline::at(now + config.keep_alive_idle);
        }
    }

    /// Whether the peer was silent too long (RFC 9293 section 3.8.3, R2, and the user time-out of section 3.9.1.1).
    fn gives_up(&self, now: Instant, config: &TcpConfig) -> bool {
        let since = self.progress_at.get().unwrap_or(now);
        // A window is probed as long as the peer answers (section 3.8.6.1), if an application waits for it.
        let counts = !(self.flags.persisting && self.flags.owned);
        let too_often = self.retries >= config.retries_max && counts;
        self.state.is_synchronized() && (too_often || now.since(since) >= config.user_timeout)
    }

    /// The window is probed with one byte (RFC 9293 section 3.8.6.1).
    fn probe(&mut self, now: Instant, config: &TcpConfig) {
        if !self.flags.persisting {
            // The window was closed while data was under way: all of it waits (section 3.8.6, MUST-35).
            self.retries = 0;
            self.begin_again();
        }
        self.retries = self.retries.saturating_add(1);
        self.flags.force = true;
        self.arm_persist(now, config);
    }

    /// RFC 6298 (5.4) to (5.6): the first segment that is not acknowledged is sent again, and the timer runs longer.
    fn time_out<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, config: &TcpConfig) {
        let now = cx.now;
        let under_way = self.max - self.una;
        let first = self.retries == 0;
        if first {
            self.save_for_undo(now);
        }
        // The threshold is set at the first time-out only (RFC 5681 section 3.1).
        let batch = Batch {
            resent: !first,
            ..Batch::one(under_way, now)
        };
        self.report(cx, config, under_way, &Report::TimedOut(batch));
        self.retries = self.retries.saturating_add(1);
        self.flags.syn_lost |= !self.state.is_synchronized();
        self.flags.timing = false;
        self.begin_frto(first);
        self.begin_again();
        self.arm_retransmit(now, config);
    }
}
