//! Bulk transfers over TCP: what is to be sent, and what became of it.

use sixlo::trace::Told;

use crate::config::{self, Problem};
use crate::faults::check_set;
use crate::rng::{Purpose, Rng, mix};
use crate::time::Time;
use crate::topology::Routes;

/// The port of the sender of transfer 0; each transfer has its own, by which the receiver tells it apart.
const PORTS_FROM: u16 = 20_000;

/// The most transfers of a run.
const STREAMS_MAX: usize = 10_000;

/// One transfer.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The index of the sender.
    pub from: u16,
    /// The index of the receiver.
    pub to: u16,
    /// The receiver's port.
    pub port: u16,
    /// Bytes to send; `None`: without end.
    pub bytes: Option<u64>,
    /// When the sender opens the connection.
    pub start: Time,
    /// Hops from sender to receiver by the static routes.
    pub hops: u16,
}

/// The sender's port of a transfer.
pub const fn source_port(stream: u16) -> u16 {
    PORTS_FROM + stream
}

/// The transfer that has this port at its sender.
pub const fn of_port(port: u16) -> Option<u16> {
    port.checked_sub(PORTS_FROM)
}

/// Writes the bytes of a transfer from an offset on.
pub fn fill(out: &mut [u8], stream: u16, offset: u64) {
    for (byte, at) in out.iter_mut().zip(offset..) {
        *byte = pattern(stream, at);
    }
}

/// Whether these are the bytes of a transfer from an offset on.
pub fn is_right(bytes: &[u8], stream: u16, offset: u64) -> bool {
    bytes
        .iter()
        .zip(offset..)
        .all(|(byte, at)| *byte == pattern(stream, at))
}

/// The byte at a place of a transfer.
const fn pattern(stream: u16, at: u64) -> u8 {
    mix(((stream as u64) << 48) | (at / 8)).to_be_bytes()[(at % 8) as usize]
}

/// Something happened to a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum News {
    /// The sender's connection is established.
    Opened,
    /// The receiver got so many bytes more, and they were right.
    Received(usize),
    /// The receiver got bytes that nobody sent.
    Wrong,
    /// All is sent and acknowledged, and the receiver has said that it saw the end.
    Closed,
    /// The connection ended otherwise: why.
    Failed(&'static str),
    /// The round-trip time as the sender smooths it, if it is known, is another one.
    RoundTrip(Option<Time>),
}

/// What became of a transfer.
#[derive(Clone, Debug)]
pub struct StreamResult {
    /// The index of the sender.
    pub from: u16,
    /// The index of the receiver.
    pub to: u16,
    /// Hops from sender to receiver by the static routes.
    pub hops: u16,
    /// When its sender opened the connection.
    pub start: Time,
    /// When the connection was established for the sender.
    pub opened: Option<Time>,
    /// When the receiver got the first byte and the last one.
    pub received: Option<(Time, Time)>,
    /// Bytes that the receiver got.
    pub bytes: u64,
    /// Whether all bytes came and both sides know it.
    pub complete: bool,
    /// Why it failed.
    pub failure: Option<&'static str>,
    /// Segments with data that the sender sent, those that it sent again, and those that did not arrive.
    pub segments: Segments,
    /// The congestion window at the start, and each time that control was told something or the window was another one.
    pub windows: Vec<Window>,
    /// The smoothed round-trip time, mean over time.
    pub rtt_mean: Option<Time>,
}

/// The congestion window of a sender from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// From when on.
    pub at: Time,
    /// The window in bytes.
    pub bytes: u32,
    /// Why it was set: what the control was told.
    pub told: Told,
}

/// Segments of a transfer that carry data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// All that were sent.
    pub sent: u64,
    /// Of these, data that had been sent before.
    pub again: u64,
    /// Of all, those that did not arrive.
    pub lost: u64,
}

/// All transfers of a run.
pub fn streams(
    config: &config::Config,
    routes: &Routes,
    nodes: u16,
    seed: u64,
) -> Result<Vec<Stream>, Problem> {
    let mut streams = Vec::new();
    for (i, bulk) in config.bulk.iter().enumerate() {
        let key = |name: &str| format!("bulk.{i}.{name}");
        check_set(&bulk.from, nodes, || key("from"))?;
        if !(1..=nodes).contains(&bulk.to) {
            let what = format!("no node {}", bulk.to);
            return Err(Problem::new(key("to"), what, format!("1 to {nodes}")));
        }
        if bulk.port == 0 {
            return Err(Problem::new(key("port"), "port 0", "1 to 65535"));
        }
        if bulk.bytes == 0 && config.end_ms.is_none() {
            let wanted = "a number of bytes, or end_ms for the run";
            return Err(Problem::new(key("bytes"), "no end of the transfer", wanted));
        }
        let to = bulk.to - 1;
        for from in (0..nodes).filter(|&node| node != to && bulk.from.contains(node + 1, routes.depth(node)))
        {
            if streams.len() >= STREAMS_MAX {
                return Err(Problem::new(
                    key("from"),
                    "too many senders",
                    format!("at most {STREAMS_MAX}"),
                ));
            }
            // Beside those of datagrams.
            let mut rng = Rng::new(seed, Purpose::Traffic, (1 << 32) | streams.len() as u64);
            streams.push(Stream {
                from,
                to,
                port: bulk.port,
                bytes: (bulk.bytes > 0).then_some(bulk.bytes),
                start: Time::ns(rng.between(0, Time::ms(bulk.start_max_ms).as_ns())),
                hops: routes.hops(from, to),
            });
        }
    }
    Ok(streams)
}

#[cfg(test)]
mod tests;
