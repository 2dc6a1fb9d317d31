//! Whose turn it is: packets wait in two queues, one for what carries fragments and keeps a gap between them (RFC 8930
//! section 5, RFC 8931 section 4.2), one for all else, which need not wait behind such a gap.

use super::*;
use crate::lowpan::Gap;
use crate::netapi::Msg;
use crate::time::Duration;

/// Whether anything keeps a gap: where datagrams are put together at every hop, all fragments of one follow each other.
const PACES: bool = Strategy::Forward.is_here();

impl Interface {
    /// Packets that wait behind the current one.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len() + if PACES { self.paced.len() } else { 0 }
    }

    /// Whether something waits that carries fragments.
    fn any_paced(&self) -> bool {
        PACES && !self.paced.is_empty()
    }

    /// How long frames with fragments keep apart.
    fn gap(&self) -> Duration {
        match self.config.fragment_gap {
            Gap::Fixed(gap) => gap,
            Gap::Derived => self.config.csma.frame_time().times(u64::from(Gap::HOPS)),
        }
    }

    /// Whether the rest of a datagram that is being cut gives way to others after each fragment.
    fn takes_turns(&self) -> bool {
        PACES && self.config.strategy == Strategy::Forward
    }

    /// Makes the packet whose turn it is the current one and contends for the channel.
    pub(super) fn begin<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId) {
        if self.phase == Phase::Pacing {
            cx.core.timers.disarm(TimerId(id.0));
        }
        self.phase = Phase::Idle;
        // Where both may go, they take turns.
        let gap_is_over = self.any_paced() && self.paced_after <= cx.now;
        let paced = gap_is_over && (self.queue.is_empty() || !self.paced_last);
        let queue = if paced { &mut self.paced } else { &mut self.queue };
        match cx.core.buf.pop(queue) {
            Some(packet) => {
                self.paced_last = paced;
                self.leaves(cx.now, paced);
                self.current = Some(cx.core.buf.keep(packet));
                self.contend(cx, id);
            }
            None if self.any_paced() => {
                self.phase = Phase::Pacing;
                cx.core.timers.arm(TimerId(id.0), self.paced_after);
            }
            None => self.idles(cx.now),
        }
    }

    /// The link is done with a frame of the current packet: it was sent, or it failed.
    pub(super) fn frame_ended<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: IfaceId,
        failed: Option<Reason>,
    ) {
        let Some(current) = self.current.as_ref().map(Kept::pkt) else {
            return;
        };
        let msg = cx.core.buf.msg(current);
        self.failed = failed;
        let goes_on = failed.is_none() && self.more;
        if is_paced(msg) && (self.takes_turns() || msg.ty != Ty::Fragment) {
            self.paced_after = cx.now + self.gap();
        }
        if is_paced(msg) && msg.ty != Ty::Fragment {
            self.phase = Phase::Settling;
            return;
        }
        if goes_on && !self.takes_turns() {
            return self.contend(cx, id);
        }
        let Some(current) = self.current.take() else {
            return;
        };
        let packet = cx.core.buf.resume(current);
        let _done = if goes_on {
            cx.core.buf.push(&mut self.paced, packet)
        } else {
            cx.end(packet, Module::Netif, failed.map_or(End::Sent, End::Dropped))
        };
        self.begin(cx, id);
    }
}

/// Whether packets with this message carry a fragment, or part of one.
const fn is_paced(msg: Msg) -> bool {
    PACES && matches!(msg.ty, Ty::Link | Ty::Fragment | Ty::Recover)
}

impl Netif<'_> {
    /// Takes a packet on its way down whose next hop's link address is in its metadata: an IPv6 packet, a datagram under
    /// recovery, or the payload of a frame.
    pub fn send<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, msg: Msg, packet: Pkt) -> Next {
        let &Meta {
            iface: iface_id,
            link_dst,
            ..
        } = cx.core.buf.meta(&packet);
        let Some(iface) = self.up_mut(iface_id) else {
            return Next::Drop(packet, Reason::NoInterface);
        };
        let ahead = iface.waiting() + usize::from(iface.current.is_some());
        // Datagrams under recovery are bounded by their own table, and come back here for each fragment.
        let is_full = iface.waiting() >= usize::from(iface.config.queue_capacity);
        if iface.current.is_some() && is_full && msg.ty != Ty::Recover {
            return Next::Drop(packet, Reason::QueueFull);
        }
        let id = cx.core.buf.id(&packet);
        cx.event(Event::Queued {
            id,
            iface: iface_id,
            to: link_dst,
            ahead: ahead as u16,
        });
        cx.core.buf.set_msg(&packet, msg);
        let paced = is_paced(msg);
        iface.joins(cx.now, paced, iface.phase == Phase::Idle);
        let queue = if paced { &mut iface.paced } else { &mut iface.queue };
        let queued = cx.core.buf.push(queue, packet);
        if matches!(iface.phase, Phase::Idle | Phase::Pacing) {
            iface.begin(cx, iface_id);
        }
        Next::Taken(queued)
    }

    /// The current packet cannot be written into a frame: it ends, and the next one follows.
    pub fn abandon<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId, reason: Reason) {
        if let Some(iface) = self.up_mut(id) {
            iface.frame_ended(cx, id, Some(reason));
        }
    }

    /// A packet about which the adaptation layer has to decide, because the link is done with a frame of it, and why
    /// the frame was not sent, if it was not. Afterwards comes [`next_turn`](Self::next_turn).
    pub fn settling<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: IfaceId,
    ) -> Option<(Pkt, Option<Reason>)> {
        let settles = |iface: &&mut Interface| PACES && iface.phase == Phase::Settling;
        let iface = self.up_mut(id).filter(settles)?;
        let packet = cx.core.buf.resume(iface.current.take()?);
        Some((packet, iface.failed))
    }

    /// The packet that was [`settling`](Self::settling) is settled: on with the next one.
    pub fn next_turn<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId) {
        if let Some(iface) = self.up_mut(id).filter(|iface| iface.phase == Phase::Settling) {
            iface.begin(cx, id);
        }
    }
}
