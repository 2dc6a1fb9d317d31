//! The trace of a run on disk: a line an event, written as it happens and never held in memory.
//!
//! The columns are [`COLUMNS`]. `layer` is a module of the stack, `air` for what happens between antennas, `node` for what a node holds, `source` and `sink`
//! for what the applications know, or `end` for the end of a datagram that was lost. `detail` holds words `key=value`, separated by blanks and free of
//! commas, so that any tool that splits at commas reads a trace. `docs/data-dictionary.md` lists all of them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use sixlo::netdev::TxOutcome;
use sixlo::trace::{End, Event, FragmentFate};
use sixlo::wire::addr::LinkAddr;
use sixlo_sim::observer::Occupancy;

use crate::frame_kind::FrameKind;

pub mod history;
mod line;
pub(crate) mod tell;
#[cfg(test)]
mod tests;

pub use line::{BadLine, Line};

/// The header line of a trace.
pub const COLUMNS: &str = "time_ns,node,datagram,layer,event,peer,detail";

/// Writes a trace.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    /// Which node has a link-layer address.
    nodes: BTreeMap<LinkAddr, u16>,
}

/// Whom a frame was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// No node of the network.
    None,
    /// The node with this number.
    Node(u16),
    /// All that hear it.
    All,
}

/// What happened between antennas, or to a node as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Air<'a> {
    /// The last symbol of a frame has left the antenna of the node.
    Sent {
        /// Whom it was for.
        to: Peer,
        /// The name of the frame's type.
        kind: &'a str,
        /// Bytes from frame control to check sequence.
        len: usize,
        /// How long it was on the air, preamble included.
        airtime_ns: u64,
        /// What it carried.
        carries: FrameKind,
    },
    /// The frame that `from` sent arrived at the node.
    Received {
        /// The sender.
        from: u16,
        /// The name of the frame's type.
        kind: &'a str,
    },
    /// The frame that `from` sent was meant for the node and was lost at its antenna.
    Lost {
        /// The sender.
        from: u16,
        /// The name of the frame's type.
        kind: &'a str,
        /// The name of the cause.
        cause: &'a str,
    },
    /// A frame that had arrived was lost in the radio of the node.
    LostInRadio {
        /// The name of the cause.
        cause: &'a str,
    },
    /// The node lost its memory.
    SwitchedOff,
    /// The node starts anew.
    SwitchedOn,
}

/// What an application did, or what became of its datagram. The datagram's table knows sizes and addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum App<'a> {
    /// The application sent the datagram.
    Sent,
    /// The stack refused what the application wanted to send.
    Refused,
    /// The datagram reached the application that it was for, and all its bytes were right.
    Delivered {
        /// From the call at the source to the delivery.
        latency_ns: u64,
        /// Bytes of its payload.
        payload_bytes: u16,
    },
    /// The receiver of a transfer got more of its bytes, and all were right.
    Received {
        /// The number of the transfer, from 0.
        stream: u16,
        /// How many.
        bytes: u32,
    },
    /// Nothing carries the datagram any more, and it was not delivered; the node is its source.
    Lost {
        /// The name of the cause.
        cause: &'a str,
        /// What happened to the last that carried it.
        last: &'a str,
    },
}

impl<W: Write> Writer<W> {
    /// Starts a trace of nodes with these link-layer addresses.
    pub fn new(mut out: W, nodes: impl IntoIterator<Item = (LinkAddr, u16)>) -> io::Result<Self> {
        writeln!(out, "{COLUMNS}")?;
        Ok(Self {
            out,
            nodes: nodes.into_iter().collect(),
        })
    }

    /// Writes what the stack of `node` told.
    pub fn stack(&mut self, time_ns: u64, node: u16, event: &Event) -> io::Result<()> {
        match event {
            Event::Start { .. }
            | Event::Share { .. }
            | Event::Hop { .. }
            | Event::SegmentOut { .. }
            | Event::CongestionWindow { .. }
            | Event::End { .. } => {
                self.packet(time_ns, node, event)?;
            }
            Event::FrameIn { .. }
            | Event::FrameDropped { .. }
            | Event::Queued { .. }
            | Event::FrameOut { .. }
            | Event::FrameDone { .. } => self.frame(time_ns, node, event)?,
            Event::Decompressed { .. }
            | Event::FragmentIn { .. }
            | Event::Compressed { .. }
            | Event::FragmentOut { .. }
            | Event::Window { .. } => self.lowpan(time_ns, node, event)?,
            Event::RecoverableIn { .. }
            | Event::RecoverableOut { .. }
            | Event::RecoverableAckIn { .. }
            | Event::RecoverableAckOut { .. } => self.recovery(time_ns, node, event)?,
        }
        writeln!(self.out)
    }

    /// What happened to a packet as a whole.
    fn packet(&mut self, time_ns: u64, node: u16, event: &Event) -> io::Result<()> {
        match *event {
            Event::Start {
                id,
                module,
                len,
                cause,
            } => {
                self.begin(time_ns, node, id.number(), module.name(), "start", LinkAddr::None)?;
                write!(self.out, "len={len}")?;
                if cause.number() != 0 {
                    write!(self.out, " cause={}", cause.number())?;
                }
            }
            Event::Share { id, module } => {
                self.begin(time_ns, node, id.number(), module.name(), "share", LinkAddr::None)?;
            }
            Event::Hop { id, from, to, queued } => {
                self.begin(time_ns, node, id.number(), from.name(), "hop", LinkAddr::None)?;
                write!(
                    self.out,
                    "to={}{}",
                    to.name(),
                    if queued { " queued" } else { "" }
                )?;
            }
            Event::SegmentOut {
                id,
                from_port,
                to_port,
                flags,
                seq,
                ack,
                len,
                window,
            } => {
                self.begin(time_ns, node, id.number(), "tcp", "segment-out", LinkAddr::None)?;
                let flags: Vec<_> = flags.names().collect();
                write!(
                    self.out,
                    "from_port={from_port} to_port={to_port} flags={} seq={seq} ack={ack} len={len} window={window}",
                    flags.join("+")
                )?;
            }
            Event::CongestionWindow {
                from_port,
                to_port,
                window,
                flight,
                told,
            } => {
                self.begin(time_ns, node, 0, "tcp", "window", LinkAddr::None)?;
                write!(
                    self.out,
                    "from_port={from_port} to_port={to_port} window={window} flight={flight} told={}",
                    told.name()
                )?;
            }
            Event::End { id, module, end } => {
                self.begin(time_ns, node, id.number(), module.name(), "end", LinkAddr::None)?;
                write!(self.out, "end={}", end_name(end))?;
                if let End::Dropped(reason) = end {
                    write!(self.out, " reason={}", reason.name())?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What happened at an interface.
    fn frame(&mut self, time_ns: u64, node: u16, event: &Event) -> io::Result<()> {
        match *event {
            Event::FrameIn {
                id,
                from,
                len,
                sequence,
                ..
            } => {
                self.begin(time_ns, node, id.number(), "netif", "frame-in", from)?;
                write!(self.out, "len={len} seq={sequence}")?;
            }
            Event::FrameDropped { id, reason, .. } => {
                self.begin(
                    time_ns,
                    node,
                    id.number(),
                    "netif",
                    "frame-dropped",
                    LinkAddr::None,
                )?;
                write!(self.out, "reason={}", reason.name())?;
            }
            Event::Queued { id, to, ahead, .. } => {
                self.begin(time_ns, node, id.number(), "netif", "queued", to)?;
                write!(self.out, "ahead={ahead}")?;
            }
            Event::FrameOut {
                id,
                to,
                len,
                sequence,
                attempt,
                ..
            } => {
                self.begin(time_ns, node, id.number(), "netif", "frame-out", to)?;
                write!(self.out, "len={len} seq={sequence} attempt={attempt}")?;
            }
            Event::FrameDone {
                id,
                outcome,
                attempts,
                busy,
                ..
            } => {
                self.begin(time_ns, node, id.number(), "netif", "frame-done", LinkAddr::None)?;
                write!(
                    self.out,
                    "outcome={} attempts={attempts} busy={busy}",
                    outcome_name(outcome)
                )?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What happened in 6LoWPAN.
    fn lowpan(&mut self, time_ns: u64, node: u16, event: &Event) -> io::Result<()> {
        match *event {
            Event::Decompressed {
                id,
                compressed_len,
                len,
            } => {
                self.begin(
                    time_ns,
                    node,
                    id.number(),
                    "6lowpan",
                    "decompressed",
                    LinkAddr::None,
                )?;
                write!(self.out, "compressed={compressed_len} len={len}")?;
            }
            Event::FragmentIn {
                id,
                from,
                tag,
                size,
                offset,
                len,
                fate,
            } => {
                self.begin(time_ns, node, id.number(), "6lowpan", "fragment-in", from)?;
                write!(
                    self.out,
                    "tag={tag} size={size} offset={offset} len={len} fate={}",
                    fate_name(fate)
                )?;
                if let FragmentFate::Dropped(reason) = fate {
                    write!(self.out, " reason={}", reason.name())?;
                }
            }
            Event::Compressed {
                id,
                to,
                header_len,
                compressed_len,
            } => {
                self.begin(time_ns, node, id.number(), "6lowpan", "compressed", to)?;
                write!(self.out, "header={header_len} compressed={compressed_len}")?;
            }
            Event::FragmentOut {
                id,
                to,
                tag,
                size,
                offset,
                len,
            } => {
                self.begin(time_ns, node, id.number(), "6lowpan", "fragment-out", to)?;
                write!(self.out, "tag={tag} size={size} offset={offset} len={len}")?;
            }
            Event::Window {
                id,
                tag,
                window,
                interval,
                told,
            } => {
                self.begin(time_ns, node, id.number(), "6lowpan", "window", LinkAddr::None)?;
                write!(self.out, "tag={tag} window={window}")?;
                if let Some(interval) = interval {
                    write!(self.out, " interval_us={}", interval.as_micros())?;
                }
                write!(self.out, " told={}", told.name())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn recovery(&mut self, time_ns: u64, node: u16, event: &Event) -> io::Result<()> {
        const LAYER: &str = "6lowpan";
        let (id, name, peer) = match *event {
            Event::RecoverableIn { id, from, .. } => (id, "recoverable-in", from),
            Event::RecoverableOut { id, to, .. } => (id, "recoverable-out", to),
            Event::RecoverableAckIn { id, from, .. } => (id, "recoverable-ack-in", from),
            Event::RecoverableAckOut { id, to, .. } => (id, "recoverable-ack-out", to),
            _ => return Ok(()),
        };
        self.begin(time_ns, node, id.number(), LAYER, name, peer)?;
        match *event {
            Event::RecoverableIn {
                tag,
                sequence,
                offset,
                len,
                ack_request,
                congested,
                fate,
                ..
            } => {
                write!(
                    self.out,
                    "tag={tag} sequence={sequence} offset={offset} len={len}"
                )?;
                self.flag(ack_request, " ack=requested")?;
                self.flag(congested, " congestion=met")?;
                write!(self.out, " fate={}", fate_name(fate))?;
                if let FragmentFate::Dropped(reason) = fate {
                    write!(self.out, " reason={}", reason.name())?;
                }
            }
            Event::RecoverableOut {
                tag,
                sequence,
                offset,
                len,
                ack_request,
                ..
            } => {
                write!(
                    self.out,
                    "tag={tag} sequence={sequence} offset={offset} len={len}"
                )?;
                self.flag(ack_request, " ack=requested")?;
            }
            Event::RecoverableAckIn {
                tag,
                bitmap,
                congested,
                ..
            }
            | Event::RecoverableAckOut {
                tag,
                bitmap,
                congested,
                ..
            } => {
                write!(self.out, "tag={tag} bitmap={bitmap:08x}")?;
                self.flag(congested, " congestion=met")?;
            }
            _ => {}
        }
        Ok(())
    }

    fn flag(&mut self, is_set: bool, text: &str) -> io::Result<()> {
        if is_set {
            self.out.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// Writes what happened between antennas at `node`.
    pub fn air(&mut self, time_ns: u64, node: u16, datagram: u32, event: Air<'_>) -> io::Result<()> {
        write!(self.out, "{time_ns},{node},{datagram},air,")?;
        match event {
            Air::Sent {
                to,
                kind,
                len,
                airtime_ns,
                carries,
            } => {
                match to {
                    Peer::None => write!(self.out, "sent,,")?,
                    Peer::Node(node) => write!(self.out, "sent,{node},")?,
                    Peer::All => write!(self.out, "sent,all,")?,
                }
                let carries = carries.name();
                writeln!(
                    self.out,
                    "kind={kind} len={len} airtime_ns={airtime_ns} carries={carries}"
                )
            }
            Air::Received { from, kind } => writeln!(self.out, "received,{from},kind={kind}"),
            Air::Lost { from, kind, cause } => writeln!(self.out, "lost,{from},kind={kind} cause={cause}"),
            Air::LostInRadio { cause } => writeln!(self.out, "lost-in-radio,,cause={cause}"),
            Air::SwitchedOff => writeln!(self.out, "switched-off,,"),
            Air::SwitchedOn => writeln!(self.out, "switched-on,,"),
        }
    }

    /// Writes what `node` holds.
    pub fn occupancy(&mut self, time_ns: u64, node: u16, occupancy: Occupancy) -> io::Result<()> {
        let Occupancy {
            buffer_bytes,
            reassemblies,
            forwards,
            transfers,
            queued,
        } = occupancy;
        writeln!(
            self.out,
            "{time_ns},{node},0,node,occupancy,,buffer={buffer_bytes} reassemblies={reassemblies} forwards={forwards} transfers={transfers} queued={queued}"
        )
    }

    /// Writes what an application on `node` did, or what became of its datagram.
    pub fn app(&mut self, time_ns: u64, node: u16, datagram: u32, event: App<'_>) -> io::Result<()> {
        write!(self.out, "{time_ns},{node},{datagram},")?;
        match event {
            App::Sent => writeln!(self.out, "source,sent,,"),
            App::Refused => writeln!(self.out, "source,refused,,"),
            App::Delivered {
                latency_ns,
                payload_bytes,
            } => {
                writeln!(
                    self.out,
                    "sink,delivered,,latency_ns={latency_ns} payload_bytes={payload_bytes}"
                )
            }
            App::Received { stream, bytes } => {
                writeln!(self.out, "sink,received,,transfer={stream} bytes={bytes}")
            }
            App::Lost { cause, last } => writeln!(self.out, "end,lost,,cause={cause} last={last}"),
        }
    }

    /// Hands everything to the operating system and gives the output back.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes all columns but the last, which follows.
    fn begin(
        &mut self,
        time_ns: u64,
        node: u16,
        datagram: u32,
        layer: &str,
        event: &str,
        peer: LinkAddr,
    ) -> io::Result<()> {
        write!(self.out, "{time_ns},{node},{datagram},{layer},{event},")?;
        match peer {
            LinkAddr::None => write!(self.out, ","),
            to if to.is_broadcast() => write!(self.out, "all,"),
            _ => match self.nodes.get(&peer) {
                Some(number) => write!(self.out, "{number},"),
                None => write!(self.out, "{peer},"),
            },
        }
    }
}

const fn fate_name(fate: FragmentFate) -> &'static str {
    match fate {
        FragmentFate::Started => "started",
        FragmentFate::InOrder => "in-order",
        FragmentFate::OutOfOrder => "out-of-order",
        FragmentFate::Completed => "completed",
        FragmentFate::Forwarded => "forwarded",
        FragmentFate::FellBack => "fell-back",
        FragmentFate::Dropped(_) => "dropped",
    }
}

const fn outcome_name(outcome: TxOutcome) -> &'static str {
    match outcome {
        TxOutcome::Sent => "sent",
        TxOutcome::Acked => "acked",
        TxOutcome::NoAck => "no-ack",
        TxOutcome::ChannelBusy => "channel-busy",
        TxOutcome::Refused => "refused",
    }
}

const fn end_name(end: End) -> &'static str {
    match end {
        End::Delivered => "delivered",
        End::Consumed => "consumed",
        End::Sent => "sent",
        End::Dropped(_) => "dropped",
    }
}
