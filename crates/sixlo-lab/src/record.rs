//! Recording of a run while it happens: its trace and its capture.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use sixlo::netdev::FRAME_LEN_MAX;
use sixlo::trace::{Event, PktId};
use sixlo::wire::iphc::{Context, Contexts};
use sixlo_sim::config::{self, Addresses};
use sixlo_sim::forge::context;
use sixlo_sim::frames::To;
use sixlo_sim::ledger::Fate;
use sixlo_sim::medium::{Loss, Signal};
use sixlo_sim::observer::{AppEvent, Observer, Occupancy, OnAir};
use sixlo_sim::phy;
use sixlo_sim::time::Time;
use sixlo_sim::topology::Network;

use crate::frame_kind::FrameKind;
use crate::pcapng::{self, LinkType};
use crate::receivers::{Receiver, Receivers};
use crate::trace::{self, Air, App, Peer};

/// Watches a run and writes what it sees.
#[derive(Debug)]
pub struct Recorder {
    trace: Option<trace::Writer<BufWriter<File>>>,
    capture: Option<Capture>,
    /// The datagram of each record, 0 if it was refused.
    datagrams: Vec<u32>,
    receivers: Receivers,
    /// The contexts of the network's compressed headers.
    contexts: [Context; 1],
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

/// A capture whose frames are put in the order of their start: the simulator tells of a frame at its end.
#[derive(Debug)]
struct Capture {
    writer: pcapng::Writer<BufWriter<File>>,
    /// The number of the interface to the outside.
    outside: u32,
    channel: u16,
    waiting: BTreeMap<(Time, u64), Waiting>,
}

/// A frame of a capture that waits for others that began before it.
#[derive(Debug)]
struct Waiting {
    sender: u16,
    rss_dbm: Option<f32>,
    bytes: [u8; FRAME_LEN_MAX],
    len: usize,
    comment: String,
}

impl Recorder {
    /// A recorder of a run over this network, whose links are configured so.
    pub fn new(network: &Network, link: &config::Link) -> Self {
        Self {
            trace: None,
            capture: None,
            datagrams: Vec::new(),
            receivers: Receivers::new(network.nodes.len()),
            contexts: [context(link)],
            error: None,
        }
    }

    /// Writes a trace to this file.
    pub fn trace(&mut self, path: &Path, network: &Network) -> io::Result<()> {
        let kinds = [Addresses::Extended, Addresses::Short];
        let addresses = kinds.iter().flat_map(|kind| {
            network
                .indices()
                .map(|index| (network.link_addr(index, *kind), index + 1))
        });
        let out = BufWriter::with_capacity(1 << 16, File::create(path)?);
        self.trace = Some(trace::Writer::new(out, addresses)?);
        Ok(())
    }

    /// Writes a capture to this file; `border` is the index of the border router, if its link to the outside is captured too.
    pub fn capture(
        &mut self,
        path: &Path,
        link_type: LinkType,
        channel: u8,
        network: &Network,
        border: Option<u16>,
    ) -> io::Result<()> {
        let out = BufWriter::with_capacity(1 << 16, File::create(path)?);
        let application = concat!("sixlo ", env!("CARGO_PKG_VERSION"));
        let mut writer = pcapng::Writer::new(out, link_type, application)?;
        for (node, number) in network.nodes.iter().zip(1..) {
            writer.interface(&interface_name(number, &node.name), Some(node.eui64))?;
        }
        let outside = match border {
            Some(border) => writer.raw_interface(&format!("node {} to the outside", border + 1))?,
            None => 0,
        };
        self.capture = Some(Capture {
            writer,
            outside,
            channel: u16::from(channel),
            waiting: BTreeMap::new(),
        });
        Ok(())
    }

    /// A packet passed the link to the outside.
    pub fn outside(&mut self, now: Time, packet: &[u8]) {
        if let Some(capture) = &mut self.capture {
            let result = capture.writer.raw_packet(capture.outside, now.as_ns(), packet);
            self.note(result);
        }
    }

    /// The run is over: writes what is left, and tells whether all could be written.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some(capture) = &mut self.capture {
            capture.flush(Time::NEVER)?;
        }
        if let Some(capture) = self.capture {
            capture.writer.into_inner()?.flush()?;
        }
        if let Some(trace) = self.trace {
            trace.into_inner()?.flush()?;
        }
        Ok(())
    }

    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
            self.trace = None;
            self.capture = None;
        }
    }

    fn write_frame(&mut self, frame: &OnAir<'_>) -> io::Result<()> {
        let to = self.receivers.of(frame);
        let fates: Vec<_> = to.fates(frame).collect();
        let (kind, id, sender) = (kind_of(frame.bytes), frame.id.number(), frame.sender + 1);
        if let Some(trace) = &mut self.trace {
            let now = frame.until.as_ns();
            let sent = Air::Sent {
                to: match to {
                    Receiver::None => Peer::None,
                    Receiver::One(node) => Peer::Node(node + 1),
                    Receiver::All => Peer::All,
                },
                kind,
                len: frame.bytes.len(),
                airtime_ns: frame.until.since(frame.from).as_ns(),
                carries: FrameKind::of(frame.bytes, &Contexts(&self.contexts)),
            };
            trace.air(now, sender, id, sent)?;
            for (node, fate) in &fates {
                let event = match fate {
                    Ok(_) => Air::Received { from: sender, kind },
                    Err(loss) => Air::Lost {
                        from: sender,
                        kind,
                        cause: loss.name(),
                    },
                };
                trace.air(now, node + 1, id, event)?;
            }
        }
        match &mut self.capture {
            Some(capture) => capture.add(frame, &fates),
            None => Ok(()),
        }
    }

    fn write_app(&mut self, now: Time, node: u16, event: &AppEvent) -> io::Result<()> {
        let datagram = match *event {
            AppEvent::Sent { record, id } => {
                // Records are numbered in the order in which they are sent.
                self.datagrams.resize(record as usize, 0);
                self.datagrams.push(id.number());
                id.number()
            }
            AppEvent::Delivered { record, .. } | AppEvent::Lost { record, .. } => {
                self.datagrams.get(record as usize).copied().unwrap_or_default()
            }
            AppEvent::Received { .. } => 0,
        };
        let Some(trace) = &mut self.trace else {
            return Ok(());
        };
        let told = match *event {
            AppEvent::Sent { id: PktId::NONE, .. } => App::Refused,
            AppEvent::Sent { .. } => App::Sent,
            AppEvent::Delivered {
                latency,
                payload_bytes,
                ..
            } => App::Delivered {
                latency_ns: latency.as_ns(),
                payload_bytes,
            },
            AppEvent::Received { stream, bytes } => App::Received { stream, bytes },
            AppEvent::Lost { fate, .. } => match fate {
                Fate::Lost { first, last } => App::Lost {
                    cause: first.name(),
                    last: last.name(),
                },
                other => App::Lost {
                    cause: other.name(),
                    last: other.name(),
                },
            },
        };
        trace.app(now.as_ns(), node + 1, datagram, told)
    }
}

impl Observer for Recorder {
    fn on_air(&mut self, frame: &OnAir<'_>) {
        let result = self.write_frame(frame);
        self.note(result);
    }

    fn lost_in_radio(&mut self, now: Time, node: u16, id: PktId, loss: Loss) {
        if let Some(trace) = &mut self.trace {
            let event = Air::LostInRadio { cause: loss.name() };
            let result = trace.air(now.as_ns(), node + 1, id.number(), event);
            self.note(result);
        }
    }

    fn stack(&mut self, now: Time, node: u16, event: &Event) {
        if let Some(trace) = &mut self.trace {
            let result = trace.stack(now.as_ns(), node + 1, event);
            self.note(result);
        }
    }

    fn app(&mut self, now: Time, node: u16, event: &AppEvent) {
        let result = self.write_app(now, node, event);
        self.note(result);
    }

    fn occupancy(&mut self, now: Time, node: u16, occupancy: Occupancy) {
        if let Some(trace) = &mut self.trace {
            let result = trace.occupancy(now.as_ns(), node + 1, occupancy);
            self.note(result);
        }
    }

    fn reboot(&mut self, now: Time, node: u16, up: bool) {
        if let Some(trace) = &mut self.trace {
            let event = if up { Air::SwitchedOn } else { Air::SwitchedOff };
            let result = trace.air(now.as_ns(), node + 1, 0, event);
            self.note(result);
        }
    }
}

impl Capture {
    /// Takes a frame, and writes those that no frame still on the air can precede.
    fn add(&mut self, frame: &OnAir<'_>, fates: &[(u16, Result<Signal, Loss>)]) -> io::Result<()> {
        let mut bytes = [0; FRAME_LEN_MAX];
        let len = frame.bytes.len().min(FRAME_LEN_MAX);
        bytes[..len].copy_from_slice(&frame.bytes[..len]);
        let rss_dbm = match (frame.to, fates) {
            (To::All, _) => None,
            (_, [(_, Ok(signal))]) => Some(f32::from(signal.rssi_dbm)),
            _ => None,
        };
        let waiting = Waiting {
            sender: frame.sender,
            rss_dbm,
            bytes,
            len,
            comment: comment(frame.id, fates),
        };
        self.waiting.insert((frame.from, frame.number), waiting);
        let longest = phy::airtime(FRAME_LEN_MAX);
        self.flush(Time::ns(frame.until.as_ns().saturating_sub(longest.as_ns())))
    }

    /// Writes the frames that began before a time.
    fn flush(&mut self, before: Time) -> io::Result<()> {
        while let Some(entry) = self.waiting.first_entry() {
            let time = entry.key().0;
            if time >= before {
                break;
            }
            let frame = entry.remove();
            self.writer.packet(&pcapng::Packet {
                interface: u32::from(frame.sender),
                time_ns: time.as_ns(),
                channel: self.channel,
                rss_dbm: frame.rss_dbm,
                frame: &frame.bytes[..frame.len],
                comment: &frame.comment,
            })?;
        }
        Ok(())
    }
}

/// What Wireshark shows as the name of a node's interface.
fn interface_name(number: u16, name: &str) -> String {
    if name == number.to_string() {
        format!("node {number}")
    } else {
        format!("node {number} ({name})")
    }
}

/// What is known about a frame beside its bytes: the datagram by which the trace knows it, and where it was lost.
fn comment(id: PktId, fates: &[(u16, Result<Signal, Loss>)]) -> String {
    let mut parts = Vec::new();
    if id != PktId::NONE {
        parts.push(format!("datagram {}", id.number()));
    }
    let lost = fates.iter().filter_map(|(node, fate)| Some((node, fate.err()?)));
    parts.extend(lost.map(|(node, loss)| format!("lost at node {}: {}", node + 1, loss.name())));
    parts.join("; ")
}

/// The type in the frame control field (IEEE 802.15.4-2020, table 7-1).
pub(crate) fn kind_of(frame: &[u8]) -> &'static str {
    match frame.first().map(|control| control & 0x07) {
        Some(0) => "beacon",
        Some(1) => "data",
        Some(2) => "ack",
        Some(3) => "command",
        _ => "other",
    }
}

#[cfg(test)]
mod tests;
