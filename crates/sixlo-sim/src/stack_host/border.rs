//! The interface of a border router to the outside.

use std::net::Ipv6Addr;

use sixlo::ipv6::BorderConfig;
use sixlo::netdev::{RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::stack::Stack;
use sixlo::time::{Duration, Instant};
use sixlo::trace::Sink;

use super::OUTSIDE;
use super::routes::PREFIX_LEN;
use crate::config::Border;

/// The largest packet that the link to the outside brings: that of an Ethernet. What is larger than the mesh takes is told to
/// its source (RFC 8200 section 5).
pub const OUTSIDE_MTU: u16 = 1_500;

impl Border {
    /// As the stack takes it.
    pub(super) fn of_stack(&self, mesh: Ipv6Addr) -> BorderConfig {
        BorderConfig {
            outside: OUTSIDE,
            prefix: mesh,
            prefix_len: PREFIX_LEN,
            time_per_byte: Duration::from_micros(self.us_per_byte()),
            in_advance: Duration::from_millis(self.enter_at_once_ms.into()),
        }
    }
}

/// Brings the interface up, beside that to the mesh.
pub(super) fn bring_up(stack: &mut Stack<'_>, border: &Border, mesh: &IfaceConfig) {
    let enough = "the memory is as large as its user asks for";
    let mut extended = mesh.extended;
    // Another link-local address than that of the interface to the mesh.
    extended[4] ^= 0xb0;
    let mut config = IfaceConfig::packets(extended);
    config.queue_capacity = mesh.queue_capacity;
    config.mtu = OUTSIDE_MTU;
    stack.bring_up(OUTSIDE, config).expect(enough);
    stack.add_address(OUTSIDE, border.own_address()).expect(enough);
}

/// A packet came in.
pub(super) fn packet_in(stack: &mut Stack<'_>, now: Instant, packet: &[u8], sink: &mut impl Sink) {
    stack.frame(now, OUTSIDE, packet, RxInfo::default(), sink);
}

/// The next packet that goes out, and its length.
pub(super) fn packet_out(
    stack: &mut Stack<'_>,
    now: Instant,
    out: &mut [u8],
    sink: &mut impl Sink,
) -> Option<usize> {
    let info = stack.transmit(now, OUTSIDE, out, sink)?;
    let report = TxReport {
        outcome: TxOutcome::Sent,
        attempts: 1,
        busy: 0,
    };
    stack.transmitted(now, OUTSIDE, report, sink);
    Some(info.len)
}
