//! The traversal experiment of Lenders 2016, section 5.3.2, on the host and on the chip: a UDP datagram goes from the
//! application's call to the last frame in the device's buffer, and from the first frame to the application's buffer.
//!
//! As there: link-local addresses that are elided whole, extended link addresses, a device that does medium access by
//! itself, and a packet buffer for one datagram.

use core::net::Ipv6Addr;

use sixlo::netdev::{Caps, FRAME_LEN_MAX, IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::sock::MailboxId;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::time::Instant;
use sixlo::trace::Sink;

/// Payloads in bytes: the first, the last, and from each to the next.
pub(crate) const PAYLOAD_MIN: usize = 8;
pub(crate) const PAYLOAD_MAX: usize = 1232;
pub(crate) const PAYLOAD_STEP: usize = 8;

/// Frames of the longest datagram, and one to spare.
pub(crate) const FRAMES_MAX: usize = 14;

/// The memory of a node: GNRC's packet buffer, and a reassembly.
pub(crate) type Memory = Fixed<1676, 4, 1, 1, 2>;

const RADIO: IfaceId = IfaceId(0);
const PORT: u16 = 5683;

/// The frames of one datagram, as the device holds them.
#[derive(Clone)]
pub(crate) struct Frames {
    pub(crate) bytes: [[u8; FRAME_LEN_MAX]; FRAMES_MAX],
    /// Bytes of each.
    pub(crate) lens: [usize; FRAMES_MAX],
    /// How many there are.
    pub(crate) count: usize,
}

impl Frames {
    pub(crate) const EMPTY: Self = Self {
        bytes: [[0; FRAME_LEN_MAX]; FRAMES_MAX],
        lens: [0; FRAMES_MAX],
        count: 0,
    };

    /// The frames.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let frames = self.bytes.iter().zip(self.lens);
        frames.take(self.count).map(|(bytes, len)| &bytes[..len])
    }
}

/// A node with a socket.
pub(crate) struct Node<'m> {
    stack: Stack<'m>,
    socket: MailboxId,
    now: Instant,
}

/// The extended address of a node.
pub(crate) const fn eui(number: u8) -> [u8; 8] {
    [2, 0, 0, 0, 0, 0, 0, number]
}

/// The link-local address of a node.
pub(crate) const fn address(number: u8) -> Ipv6Addr {
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, number as u16)
}

impl<'m> Node<'m> {
    /// A node with nothing to send.
    pub(crate) fn new(memory: &'m mut Memory, number: u8) -> Self {
        let mut stack = Stack::new(memory.lend(), &Config::new(number.into())).expect("enough memory");
        let mut iface = IfaceConfig::new(eui(number));
        iface.caps = Caps {
            csma: true,
            fcs: true,
        };
        stack.bring_up(RADIO, iface).expect("one interface");
        let socket = stack.udp_bind(PORT, 1).expect("one socket");
        Self {
            stack,
            socket,
            now: Instant::ZERO,
        }
    }

    /// Lets a second pass, so that nothing of the last datagram is remembered.
    pub(crate) fn rest(&mut self) {
        self.now += sixlo::time::Duration::from_secs(1);
        self.stack.poll(self.now, &mut ());
    }

    /// Sends a datagram to node `to`: from the call to the last frame in the device's buffer.
    #[inline(never)]
    pub(crate) fn send(&mut self, to: u8, payload: &[u8], frames: &mut Frames, sink: &mut impl Sink) {
        let to = (address(to), PORT);
        frames.count = 0;
        if self
            .stack
            .udp_send_to(self.now, self.socket, to, payload, sink)
            .is_err()
        {
            return;
        }
        for (frame, len) in frames.bytes.iter_mut().zip(&mut frames.lens) {
            let Some(info) = self.stack.transmit(self.now, RADIO, frame, sink) else {
                break;
            };
            *len = info.len;
            frames.count += 1;
            let report = TxReport {
                outcome: TxOutcome::Acked,
                attempts: 1,
                busy: 0,
            };
            self.stack.transmitted(self.now, RADIO, report, sink);
        }
    }

    /// Receives a datagram: from the first frame to the payload in the application's buffer; gives its length.
    #[inline(never)]
    pub(crate) fn receive(
        &mut self,
        frames: &Frames,
        payload: &mut [u8],
        sink: &mut impl Sink,
    ) -> Option<usize> {
        for frame in frames.iter() {
            self.stack.frame(self.now, RADIO, frame, RxInfo::default(), sink);
        }
        let received = self.stack.udp_receive(self.now, self.socket, payload, sink)?;
        Some(received.len)
    }
}
