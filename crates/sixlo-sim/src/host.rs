//! What runs on a node, as the simulator drives it: a protocol stack with sockets.

use sixlo::netdev::{RxInfo, TxInfo, TxReport};
use sixlo::time::Instant;
use sixlo::trace::{PktId, Reason, Sink};

use crate::observer::Occupancy;
use crate::stream::{News, Stream};

/// What an application sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// A UDP datagram between these ports.
    Udp {
        /// Source port.
        from: u16,
        /// Destination port.
        to: u16,
    },
    /// An ICMPv6 echo request with this sequence number.
    Echo {
        /// Its sequence number.
        sequence: u16,
    },
}

/// The software of a node.
///
/// The first six calls are those of [`sixlo::stack::Stack`] on its interface to the mesh; see there for their contract.
pub trait Host {
    /// A frame came in.
    fn frame(&mut self, now: Instant, frame: &[u8], info: RxInfo, sink: &mut impl Sink);

    /// Whether the radio may ask for a frame.
    fn wants_transmit(&self) -> bool;

    /// The radio asks for a frame.
    fn transmit(&mut self, now: Instant, out: &mut [u8], sink: &mut impl Sink) -> Option<TxInfo>;

    /// The radio is done with the frame that it was given last.
    fn transmitted(&mut self, now: Instant, report: TxReport, sink: &mut impl Sink);

    /// Runs what is due and says when it wants to run again.
    fn poll(&mut self, now: Instant, sink: &mut impl Sink) -> Option<Instant>;

    /// When [`poll`](Self::poll) wants to be called next.
    fn next_deadline(&self, now: Instant) -> Option<Instant>;

    /// An application sends `payload` to a node; the identity of what was sent.
    ///
    /// # Errors
    ///
    /// If the stack refuses it at once: why.
    fn send(
        &mut self,
        now: Instant,
        to: u16,
        service: Service,
        payload: &[u8],
        sink: &mut impl Sink,
    ) -> Result<PktId, Reason>;

    /// Takes a datagram or an echo reply that came in for an application; gives its length.
    fn take(&mut self, now: Instant, payload: &mut [u8], sink: &mut impl Sink) -> Option<usize>;

    /// The application of a node opens the connection of a transfer.
    ///
    /// # Errors
    ///
    /// If the stack refuses it at once: why.
    fn open_stream(
        &mut self,
        now: Instant,
        number: u16,
        stream: &Stream,
        sink: &mut impl Sink,
    ) -> Result<(), &'static str>;

    /// The applications that transfer data hand over and take what can be, and tell what is new of which transfer.
    fn pump(&mut self, now: Instant, sink: &mut impl Sink, news: &mut Vec<(u16, News)>);

    /// Whether [`pump`](Self::pump) may have something to do.
    fn has_streams(&self) -> bool;

    /// Whether applications listen here, so that [`take`](Self::take) may have something.
    fn listens(&self) -> bool;

    /// A packet came in over the interface to the outside, if there is one.
    fn packet_in(&mut self, now: Instant, packet: &[u8], sink: &mut impl Sink) {
        let _ = (now, packet, sink);
    }

    /// Takes the next packet that goes out over the interface to the outside; gives its length.
    fn packet_out(&mut self, now: Instant, out: &mut [u8], sink: &mut impl Sink) -> Option<usize> {
        let _ = (now, out, sink);
        None
    }

    /// Loses its memory and starts anew.
    fn reboot(&mut self, now: Instant, sink: &mut impl Sink);

    /// Packets in the packet buffer.
    fn packets(&self) -> usize;

    /// Packets that a table or queue of the stack holds; any other packet has leaked.
    fn reachable_packets(&self) -> usize;

    /// Bytes of the packet buffer in use.
    fn buffer_used(&self) -> usize;

    /// Datagrams that are being put together.
    fn reassemblies(&self) -> usize;

    /// What the stack holds, for those who watch.
    fn occupancy(&self) -> Occupancy;

    /// The most bytes of the packet buffer that were ever in use.
    fn buffer_high_water(&self) -> usize;
}
