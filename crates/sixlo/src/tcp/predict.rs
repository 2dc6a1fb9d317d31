//! Header prediction (Jacobson, "4BSD TCP Header Prediction", 1990): what nearly every segment of a connection is, data that
//! comes next or an acknowledgement of data that flows one way, goes past all questions that do not arise.

use super::config::TcpConfig;
use super::connection::Connection;
use super::recovery::Recovery;
use super::segment::Segment;
use super::stamps;
use super::state::State;
use crate::ground::Cx;
use crate::pktbuf::Pkt;
use crate::trace::Sink;
use crate::wire::ipv6::Ecn;
use crate::wire::tcp::Flags;

impl Connection {
    /// Takes a segment if it is as foreseen. What is done is what the long way does with such a segment, and no more.
    pub(super) fn take_predicted<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        storage: &mut [u8],
        segment: &Segment,
        packet: &Pkt,
    ) -> bool {
        let foreseen = self.state == State::Established
            && segment.flags.without(Flags::PSH) == Flags::ACK
            && segment.seq == self.rcv_nxt
            && segment.window == self.wnd
            && self.nxt == self.max
            && self.recovery == Recovery::None
            && segment.ecn != Ecn::Congestion
            && segment.options.sack.is_empty()
            && !self.flags.persisting
            && !self.flags.fin_known;
        if !foreseen {
            return false;
        }
        // With timestamps, they must be there and not of old (RFC 7323 section 5.3).
        let stamp = segment.options.timestamps;
        if self.flags.stamps && stamp.is_none_or(|stamp| stamps::is_before(stamp.value, self.ts_recent)) {
            return false;
        }
        if segment.data_len == 0 {
            let acks = segment.ack.gt(self.una) && segment.ack.le(self.max);
            if !acks || self.duplicates > 0 || !self.scoreboard.is_empty() {
                return false;
            }
            self.update_stamp(cx.now, segment);
            self.heard(cx.now, config);
            self.wl = [segment.seq, segment.ack];
            self.acked_until(cx, config, segment);
            return true;
        }
        let fits = segment.data_len <= self.receive.room(storage.len());
        if segment.ack != self.una || self.receive.has_news() || !fits || !self.flags.owned {
            return false;
        }
        self.update_stamp(cx.now, segment);
        self.heard(cx.now, config);
        self.wl = [segment.seq, segment.ack];
        let buf = &cx.core.buf;
        self.receive
            .insert(storage, segment.seq, segment.data_len, &mut |offset, room| {
                buf.copy_out(packet, segment.data_at + offset, room);
            });
        self.rcv_nxt = self.receive.next();
        self.delay_ack(cx.now, config);
        self.flags.output |= self.flags.ack_now;
        true
    }
}
