//! Echo, discard and the source of characters over UDP.

use sixlo::sock::MailboxId;
use sixlo::stack::Stack;
use sixlo::time::Instant;
use sixlo::trace::Sink;

use crate::services::{Counters, Service};
use crate::streams::characters;

/// The ports that servers have by right: what comes from one is not answered, since two services that answer each other never
/// stop.
const SERVER_PORTS: u16 = 1024;

/// Serves what waits in a socket.
pub(crate) fn serve(
    stack: &mut Stack<'_>,
    now: Instant,
    sink: &mut impl Sink,
    (service, socket, port): (Service, MailboxId, u16),
    scratch: &mut [u8],
    counters: &mut Counters,
) {
    while let Some(datagram) = stack.udp_receive(now, socket, scratch, sink) {
        counters.datagrams = counters.datagrams.wrapping_add(1);
        if service == Service::UdpDiscard {
            continue;
        }
        let answer = scratch.get_mut(..datagram.len).filter(|_| {
            // Nor to a group: each member would answer.
            !datagram.dst.is_multicast() && datagram.src_port >= SERVER_PORTS && datagram.src_port != port
        });
        let sent = answer.is_some_and(|answer| {
            if service == Service::UdpSource {
                // RFC 864 asks for up to 512 characters. No more than came in: who writes a victim's address into a request
                // gains nothing.
                characters(0, answer);
            }
            let to = (datagram.src, datagram.src_port);
            stack.udp_send_to(now, socket, to, answer, sink).is_ok()
        });
        if !sent {
            counters.unanswered = counters.unanswered.wrapping_add(1);
        }
    }
}
