//! A stack in real time, over one device.

use std::io;
use std::os::fd::AsFd;

use sixlo::netdev::{IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::MTU;
use sixlo::stack::Stack;
use sixlo::time::Instant;
use sixlo::trace::Sink;

use crate::wait::wait;

#[cfg(test)]
mod tests;

/// Packets that one turn takes from the device before the stack gets to send.
const PACKETS_MAX: usize = 16;

/// Times that the stack runs in a row before the device is looked at again, though it wants to run at once.
const ROUNDS_MAX: usize = 16;

/// A device that carries packets. Its descriptor says when there is one.
pub trait Device: AsFd {
    /// The next packet, written into `buffer`, and its length; `None` if there is none now. A packet that is longer than the
    /// buffer may be cut.
    ///
    /// # Errors
    ///
    /// If there will never be one any more.
    fn receive(&mut self, now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Sends a packet, without waiting.
    ///
    /// # Errors
    ///
    /// If it was not sent.
    fn send(&mut self, now: Instant, packet: &[u8]) -> io::Result<()>;

    /// When [`receive`](Self::receive) is to be called though the descriptor says nothing; `None` for never.
    fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// A stack with a device on one of its interfaces, and the clock of the operating system, which starts with the value.
pub struct Host<'a, D> {
    stack: Stack<'a>,
    iface: IfaceId,
    device: D,
    start: std::time::Instant,
    /// One byte more than a packet has: what fills it was too long.
    buffer: [u8; MTU as usize + 1],
}

impl<'a, D: Device> Host<'a, D> {
    /// Puts a device to an interface of a stack, which carries packets ([`sixlo::netif::IfaceConfig::packets`]).
    pub fn new(stack: Stack<'a>, iface: IfaceId, device: D) -> Self {
        Self {
            stack,
            iface,
            device,
            start: std::time::Instant::now(),
            buffer: [0; MTU as usize + 1],
        }
    }

    /// The present time, as the stack counts it.
    pub fn now(&self) -> Instant {
        Instant::from_micros(self.start.elapsed().as_micros() as u64)
    }

    /// The stack, for the calls of an application. What it is to send goes out in the next [`turn`](Self::turn).
    pub const fn stack(&mut self) -> &mut Stack<'a> {
        &mut self.stack
    }

    /// The device.
    pub const fn device(&mut self) -> &mut D {
        &mut self.device
    }

    /// Does what is due: sends what waits; then sleeps until a packet comes, the stack or the device wants to run, or `until` has
    /// come; and takes the packets that are there. The application looks at its sockets between two turns.
    ///
    /// # Errors
    ///
    /// Those of the device's [`receive`](Device::receive), and of waiting for it. A packet that cannot be sent is dropped, and
    /// the stack knows.
    pub fn turn(&mut self, until: Option<Instant>, sink: &mut impl Sink) -> io::Result<()> {
        let wake = self.serve(sink);
        let deadlines = [wake, self.device.deadline(), until];
        self.sleep(deadlines.into_iter().flatten().min())?;
        for _ in 0..PACKETS_MAX {
            let now = self.now();
            let Some(len) = self.device.receive(now, &mut self.buffer)? else {
                break;
            };
            let packet = self.buffer.get(..len).unwrap_or(&self.buffer);
            self.stack.frame(now, self.iface, packet, RxInfo::default(), sink);
        }
        self.serve(sink);
        Ok(())
    }

    /// Runs the stack and gives the device what it wants to send, until nothing is left that can be done now, or it has been
    /// long. Says when the stack wants to run again.
    fn serve(&mut self, sink: &mut impl Sink) -> Option<Instant> {
        let mut wake = None;
        for _ in 0..ROUNDS_MAX {
            let now = self.now();
            self.stack.poll(now, sink);
            while let Some(info) = self.stack.transmit(now, self.iface, &mut self.buffer, sink) {
                let packet = self.buffer.get(..info.len).unwrap_or_default();
                let outcome = match self.device.send(now, packet) {
                    Ok(()) => TxOutcome::Sent,
                    Err(_) => TxOutcome::Refused,
                };
                let (attempts, busy) = (1, 0);
                let report = TxReport {
                    outcome,
                    attempts,
                    busy,
                };
                self.stack.transmitted(now, self.iface, report, sink);
            }
            wake = self.stack.next_deadline(now);
            if wake.is_none_or(|at| at > now) {
                break;
            }
        }
        wake
    }

    /// Waits for a packet, no longer than until `wake`.
    fn sleep(&self, wake: Option<Instant>) -> io::Result<()> {
        let timeout = wake.map(|at| {
            let span = at.since(self.now()).as_micros();
            std::time::Duration::from_micros(span)
        });
        wait(&[self.device.as_fd()], timeout)
    }
}
