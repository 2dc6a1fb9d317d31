//! A node of sixlo with one connection.

use core::net::Ipv6Addr;

use sixlo::netdev::{Caps, FRAME_LEN_MAX, IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::tcp::{ConnectionId, ListenerId, State};
use sixlo::time::Instant;

use crate::link::{Medium, Node, Offer, PORT, Setup, WINDOW_MAX};

const IFACE: IfaceId = IfaceId(0);

/// The memory of a node: a window of data each way, in segments of any length, and 4 reassemblies.
pub(crate) type Memory = Fixed<16384, 128, 4, 1, 2, 0, 0, 1, { receive_memory(WINDOW_MAX) }, 1, 1>;

/// Bytes of receive memory for a window: a bit more for each byte says whether it came out of order.
const fn receive_memory(window: usize) -> usize {
    (window * 9).div_ceil(8)
}

/// A node.
pub(crate) struct Ours<'m> {
    stack: Stack<'m>,
    listener: Option<ListenerId>,
    connection: Option<ConnectionId>,
}

/// The extended address of a node.
pub(crate) const fn eui(number: u8) -> [u8; 8] {
    [2, 0, 0, 0, 0, 0, 0, number]
}

/// The link-local address of a node.
pub(crate) const fn address(number: u8) -> Ipv6Addr {
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, number as u16)
}

const fn at(now: u64) -> Instant {
    Instant::from_micros(now)
}

impl<'m> Ours<'m> {
    /// A node that listens (2), or connects to the one that does (1).
    pub(crate) fn new(memory: &'m mut Memory, number: u8, setup: &Setup) -> Self {
        let mut memory = memory.lend();
        // Of the receive memory as much as the window takes.
        memory.tcp_receive = &mut memory.tcp_receive[..receive_memory(setup.window)];
        let mut config = Config::new(number.into());
        config.tcp.mss = Some(setup.segment);
        config.tcp.send_buffer = setup.window as u16;
        let all = setup.offer == Offer::Everything;
        config.tcp.timestamps = all || setup.offer == Offer::Timestamps;
        config.tcp.ecn = all;
        let mut stack = Stack::new(memory, &config).expect("enough memory");
        let mut iface = match setup.medium {
            Medium::Packets => IfaceConfig::packets(eui(number)),
            Medium::Radio => IfaceConfig::new(eui(number)),
        };
        iface.caps = Caps {
            csma: true,
            fcs: true,
        };
        // What finds the queue full is lost.
        iface.queue_capacity = 64;
        stack.bring_up(IFACE, iface).expect("one interface");
        let listens = number == 2;
        let listener = listens.then(|| stack.tcp_listen(PORT, 1).expect("one listener"));
        let connection = (!listens).then(|| {
            let opened = stack.tcp_connect(at(0), (address(2), PORT), &mut ());
            opened.expect("one connection")
        });
        Self {
            stack,
            listener,
            connection,
        }
    }

    #[inline(never)]
    fn send(&mut self, now: u64, id: ConnectionId, bytes: &[u8]) -> usize {
        self.stack.tcp_send(at(now), id, bytes, &mut ()).unwrap_or(0)
    }

    #[inline(never)]
    fn receive(&mut self, now: u64, id: ConnectionId, out: &mut [u8]) -> usize {
        self.stack.tcp_recv(at(now), id, out, &mut ()).unwrap_or(0)
    }

    #[inline(never)]
    fn frame(&mut self, now: u64, frame: &[u8]) {
        self.stack
            .frame(at(now), IFACE, frame, RxInfo::default(), &mut ());
    }

    #[inline(never)]
    fn transmit(&mut self, now: u64, frame: &mut [u8]) -> usize {
        let info = self.stack.transmit(at(now), IFACE, frame, &mut ());
        info.map_or(0, |info| info.len)
    }

    #[inline(never)]
    fn transmitted(&mut self, now: u64) {
        let report = TxReport {
            outcome: TxOutcome::Acked,
            attempts: 1,
            busy: 0,
        };
        self.stack.transmitted(at(now), IFACE, report, &mut ());
    }

    #[inline(never)]
    fn run(&mut self, now: u64) {
        self.stack.poll(at(now), &mut ());
    }
}

impl Node for Ours<'_> {
    fn is_open(&mut self) -> bool {
        if let Some(listener) = self.listener
            && self.connection.is_none()
        {
            self.connection = self.stack.tcp_accept(listener).ok();
        }
        let state = self.connection.and_then(|id| self.stack.tcp_connection(id).ok());
        state.is_some_and(|connection| connection.state() == State::Established)
    }

    fn write(&mut self, now: u64, bytes: &[u8]) -> usize {
        self.connection.map_or(0, |id| self.send(now, id, bytes))
    }

    fn read(&mut self, now: u64, out: &mut [u8]) -> usize {
        self.connection.map_or(0, |id| self.receive(now, id, out))
    }

    fn take(&mut self, now: u64, frame: &[u8]) {
        self.frame(now, frame);
    }

    fn give(&mut self, now: u64, frame: &mut [u8]) -> usize {
        debug_assert!(frame.len() >= FRAME_LEN_MAX);
        if self.stack.wants_transmit(IFACE) {
            self.transmit(now, frame)
        } else {
            0
        }
    }

    fn done(&mut self, now: u64) {
        self.transmitted(now);
    }

    fn poll(&mut self, now: u64) {
        self.run(now);
    }

    fn deadline(&mut self, now: u64) -> Option<u64> {
        self.stack.next_deadline(at(now)).map(Instant::as_micros)
    }
}
