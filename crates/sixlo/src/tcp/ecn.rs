//! Explicit congestion notification (RFC 3168 section 6.1).

use super::config::TcpConfig;
use super::connection::Connection;
use super::recovery::Recovery;
use super::segment::Segment;
use crate::congure::Report;
use crate::ground::Cx;
use crate::trace::Sink;
use crate::wire::ipv6::Ecn;
use crate::wire::tcp::Flags;

/// The flags of a SYN that offers it (section 6.1.1).
pub(super) const OFFER: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

impl Connection {
    /// Whether a SYN offers it.
    pub(super) fn is_offered(config: &TcpConfig, segment: &Segment) -> bool {
        config.ecn && segment.flags.contains(OFFER)
    }

    /// What a segment that came in says of the way to us (section 6.1.3): each acknowledgement tells of congestion until the
    /// peer says that it has slowed down.
    pub(super) fn hear_congestion(&mut self, segment: &Segment) {
        if !self.flags.ecn {
            return;
        }
        if segment.flags.contains(Flags::CWR) {
            self.flags.echo_congestion = false;
        }
        if segment.ecn == Ecn::Congestion {
            self.flags.echo_congestion = true;
        }
    }

    /// What an acknowledgement says of the way to the peer (section 6.1.2): once for each window.
    pub(super) fn heed_congestion<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        segment: &Segment,
    ) {
        // The flag of a SYN agrees on it and tells of nothing.
        let told =
            self.flags.ecn && segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::SYN);
        if told && self.recovery == Recovery::None && self.una.ge(self.ecn_recover) {
            let flight = self.max - self.una;
            self.report(cx, config, flight, &Report::Ecn { sent_at: cx.now });
            self.ecn_recover = self.max;
            self.flags.slowed_down = true;
        }
    }

    /// Flags and field of a segment with `data`, sent for the first time or `again`.
    pub(super) fn ecn_of(&mut self, flags: &mut Flags, data: bool, again: bool) -> Ecn {
        if !self.flags.ecn || flags.intersects(Flags::SYN | Flags::RST) {
            return Ecn::NotCapable;
        }
        if self.flags.echo_congestion {
            *flags |= Flags::ECE;
        }
        // Sections 6.1.4 to 6.1.6: neither acknowledgements nor what is sent again nor probes.
        if !data || again || self.flags.force {
            return Ecn::NotCapable;
        }
        if core::mem::take(&mut self.flags.slowed_down) {
            *flags |= Flags::CWR;
        }
        Ecn::Capable0
    }
}
