//! The tables that a run leaves, and how they stand on disk. `docs/data-dictionary.md` explains every column.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What became of a datagram that reached the application it was meant for.
pub const DELIVERED: &str = "delivered";

/// A row of a table, with the names of its columns.
pub trait Row: Serialize + DeserializeOwned {
    /// The names of the columns, in order. Each carries its unit.
    const COLUMNS: &'static [&'static str];
}

/// Declares a row whose columns are named like its fields.
macro_rules! row {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }

        impl Row for $name {
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field),)*];
        }
    };
}

/// What a run leaves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// One row.
    pub run: Run,
    /// A row for each datagram that an application wanted to send.
    pub datagrams: Vec<Datagram>,
    /// A row a node.
    pub nodes: Vec<Node>,
    /// A row for each node and cause of loss.
    pub losses: Vec<Loss>,
    /// A row for each length of a route.
    pub hops: Vec<Hops>,
    /// A row a transfer over TCP.
    pub transfers: Vec<Transfer>,
    /// A row for each time that the congestion window of a transfer was another one, or its control was told of something else than
    /// an acknowledgement.
    pub windows: Vec<Window>,
}

row! {
    /// A run as a whole.
    Run {
        /// Simulated time in seconds.
        simulated_s: f64,
        /// Datagrams that applications wanted to send.
        sent: u64,
        /// Of these, delivered at least once.
        delivered: u64,
        /// Of these, refused by the sender's own stack at once.
        refused: u64,
        /// Delivered over sent, 0 to 1; empty if nothing was sent.
        pdr: Option<f64>,
        /// Median of the latency of delivered datagrams.
        latency_p50_ms: Option<f64>,
        /// 90th percentile of the latency.
        latency_p90_ms: Option<f64>,
        /// Mean of the latency.
        latency_mean_ms: Option<f64>,
        /// Data frames that were put on the air, retransmissions included.
        link_transmissions: u64,
        /// Of these, retransmissions.
        link_retransmissions: u64,
        /// Retransmissions over nodes.
        link_retransmissions_per_node: f64,
        /// Channel assessments that found it busy.
        channel_busy: u64,
        /// Frames and acknowledgements on the air.
        transmissions: u64,
        /// Datagrams that were delivered once more.
        duplicates: u64,
        /// Datagrams still under way at the end.
        in_flight: u64,
        /// Frames that were lost because the radio that they were for did something else.
        radio_busy_losses: u64,
        /// Datagrams that were put together on the way because they could not be forwarded.
        fallbacks: u64,
        /// Time that frames and acknowledgements were on the air.
        air_s: f64,
        /// The same over the payload that was delivered; empty if none was.
        air_us_per_byte: Option<f64>,
        /// Mean use of the packet buffer over time and nodes.
        buffer_mean_bytes: f64,
        /// Highest use of the packet buffer of any node.
        buffer_max_bytes: u32,
    }
}

row! {
    /// One datagram.
    Datagram {
        /// Its number in the run, by which the trace knows it; 0 if the stack refused it.
        datagram: u32,
        /// `udp`, or `echo` for an echo request with its reply.
        kind: String,
        /// The number of its source.
        source: u16,
        /// Its number among those of its source's flow, from 0.
        sequence: u32,
        /// The number of the node that it is meant for.
        destination: u16,
        /// Payload of UDP or of the echo request.
        payload_bytes: u16,
        /// Length of its route.
        hops: u16,
        /// When the application called the stack.
        sent_s: f64,
        /// From that call to its delivery (an echo: to the reply's delivery); empty if it was lost.
        latency_ms: Option<f64>,
        /// `delivered`, `in-flight` at the end of the run, or why it was lost: the first time that a stack dropped a piece
        /// of it, or else the last loss on the radio.
        fate: String,
        /// For a lost one: what happened to the last that carried it.
        last: String,
    }
}

row! {
    /// One node.
    Node {
        /// Its number; 1 is the sink.
        node: u16,
        /// Its name in the topology.
        name: String,
        /// Metres east.
        x_m: f64,
        /// Metres north.
        y_m: f64,
        /// Metres up.
        z_m: f64,
        /// The number of the next node towards the sink; empty at the sink.
        parent: Option<u16>,
        /// Hops to the sink.
        hops: u16,
        /// Datagrams that its applications wanted to send.
        sent: u64,
        /// Of these, delivered.
        delivered: u64,
        /// Frames that its link layer was done with.
        link_frames: u64,
        /// Transmissions of these frames.
        link_transmissions: u64,
        /// Of these, retransmissions.
        link_retransmissions: u64,
        /// Frames that were acknowledged.
        link_acknowledged: u64,
        /// Frames given up for want of an acknowledgement.
        link_no_ack: u64,
        /// Frames given up because the channel was always busy.
        link_channel_busy: u64,
        /// Channel assessments that found it busy.
        channel_busy: u64,
        /// Frames for this node that its radio received.
        received: u64,
        /// Acknowledgements that it sent.
        acks_sent: u64,
        /// Acknowledgements for this node that were lost.
        acks_lost: u64,
        /// Frames for this node that were lost because its radio did something else.
        radio_busy_losses: u64,
        /// Datagrams that it put together because it could not forward them.
        fallbacks: u64,
        /// Datagrams that were being put together, mean over time.
        reassemblies_mean: f64,
        /// The most at a time.
        reassemblies_max: u32,
        /// Mean use of the packet buffer over time.
        buffer_mean_bytes: f64,
        /// Highest use of the packet buffer.
        buffer_max_bytes: u32,
        /// Time in transmission.
        transmit_s: f64,
        /// Time in which the radio listened or received.
        listen_s: f64,
        /// Time in which it was on but neither listened nor sent.
        deaf_s: f64,
        /// Charge that the radio drew.
        charge_mc: f64,
        /// Energy that the radio used.
        energy_mj: f64,
    }
}

row! {
    /// How often something was lost at a node for one cause.
    Loss {
        /// `datagram`: a datagram ended so (the node is its source). `packet`: the stack dropped a packet or frame at the
        /// node. `radio`: a frame meant for the node did not get from the air into its stack.
        kind: String,
        /// The number of the node.
        node: u16,
        /// The cause.
        cause: String,
        /// How often.
        count: u64,
    }
}

row! {
    /// What became of the datagrams of all sources that are so many hops away.
    Hops {
        /// Hops from source to destination.
        hops: u16,
        /// Datagrams that their applications wanted to send.
        sent: u64,
        /// Of these, delivered.
        delivered: u64,
        /// Delivered over sent.
        pdr: f64,
        /// The least latency of those delivered, and its deciles; empty if none was.
        latency_min_ms: Option<f64>,
        /// 10th percentile.
        latency_p10_ms: Option<f64>,
        /// 20th percentile.
        latency_p20_ms: Option<f64>,
        /// 30th percentile.
        latency_p30_ms: Option<f64>,
        /// 40th percentile.
        latency_p40_ms: Option<f64>,
        /// Median.
        latency_p50_ms: Option<f64>,
        /// 60th percentile.
        latency_p60_ms: Option<f64>,
        /// 70th percentile.
        latency_p70_ms: Option<f64>,
        /// 80th percentile.
        latency_p80_ms: Option<f64>,
        /// 90th percentile.
        latency_p90_ms: Option<f64>,
        /// The greatest latency.
        latency_max_ms: Option<f64>,
    }
}

row! {
    /// One transfer of data over TCP.
    Transfer {
        /// The number of its source.
        source: u16,
        /// The number of the node that it goes to.
        destination: u16,
        /// Length of its route.
        hops: u16,
        /// When the source opened the connection.
        start_s: f64,
        /// When the connection was established there; empty if it never was.
        opened_s: Option<f64>,
        /// When the destination got the last of `bytes`; empty if it got none.
        last_s: Option<f64>,
        /// Bytes that the destination got.
        bytes: u64,
        /// 1 if all bytes came and both ends know it, else 0: also where there was no end.
        complete: u8,
        /// Why it failed; empty if it did not.
        failure: String,
        /// Bytes at the destination over the time from `opened_s` to `last_s`, or to the end of the run if more should have come; empty
        /// if no connection was established.
        goodput_kbps: Option<f64>,
        /// Segments with data that the source sent.
        segments: u64,
        /// Of these, data that it had sent before.
        segments_again: u64,
        /// Of all, those that did not arrive.
        segments_lost: u64,
        /// Round-trip time as the source smoothed it, mean over time.
        rtt_mean_ms: Option<f64>,
        /// Congestion window, mean over time from `opened_s` on.
        window_mean_bytes: Option<f64>,
        /// Share of that time in which it was at least the send buffer, so that it held nothing back.
        window_full_share: Option<f64>,
        /// Times that the source found a segment lost by acknowledgements, and sent it again.
        fast_retransmits: u64,
        /// Times that its retransmission timer ran out.
        time_outs: u64,
        /// Of both, those that it found needless afterwards.
        undone: u64,
    }
}

row! {
    /// The congestion window of a transfer from a time on.
    Window {
        /// The number of the transfer's source.
        source: u16,
        /// The number of the node that it goes to.
        destination: u16,
        /// From when on.
        at_s: f64,
        /// The window.
        window_bytes: u32,
        /// What the source's congestion control was told then.
        told: String,
    }
}

impl Hops {
    /// Least latency, deciles and greatest latency in ms; none if nothing was delivered.
    pub fn deciles_ms(&self) -> Option<[f64; 11]> {
        Some([
            self.latency_min_ms?,
            self.latency_p10_ms?,
            self.latency_p20_ms?,
            self.latency_p30_ms?,
            self.latency_p40_ms?,
            self.latency_p50_ms?,
            self.latency_p60_ms?,
            self.latency_p70_ms?,
            self.latency_p80_ms?,
            self.latency_p90_ms?,
            self.latency_max_ms?,
        ])
    }
}

/// The files of a run's tables.
pub const RUN: &str = "run.csv";
/// See [`RUN`].
pub const DATAGRAMS: &str = "datagrams.csv";
/// See [`RUN`].
pub const NODES: &str = "nodes.csv";
/// See [`RUN`].
pub const LOSSES: &str = "losses.csv";
/// See [`RUN`].
pub const HOPS: &str = "hops.csv";
/// See [`RUN`].
pub const TRANSFERS: &str = "transfers.csv";
/// See [`RUN`].
pub const WINDOWS: &str = "windows.csv";

impl Tables {
    /// Writes the tables into the folder of the run; those of single datagrams and windows only if they are wanted, for they
    /// are by far the largest.
    pub fn write(&self, folder: &Path, datagrams: bool) -> io::Result<()> {
        write_rows(&folder.join(RUN), std::slice::from_ref(&self.run))?;
        if datagrams {
            write_rows(&folder.join(DATAGRAMS), &self.datagrams)?;
            write_rows(&folder.join(WINDOWS), &self.windows)?;
        }
        write_rows(&folder.join(NODES), &self.nodes)?;
        write_rows(&folder.join(LOSSES), &self.losses)?;
        write_rows(&folder.join(HOPS), &self.hops)?;
        write_rows(&folder.join(TRANSFERS), &self.transfers)
    }

    /// Reads them back; without single datagrams where they were not written.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let run = read_rows(&folder.join(RUN))?.into_iter().next();
        Ok(Self {
            run: run.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "run.csv has no row"))?,
            datagrams: missing_is_empty(read_rows(&folder.join(DATAGRAMS)))?,
            nodes: read_rows(&folder.join(NODES))?,
            losses: read_rows(&folder.join(LOSSES))?,
            hops: read_rows(&folder.join(HOPS))?,
            transfers: read_rows(&folder.join(TRANSFERS))?,
            windows: missing_is_empty(read_rows(&folder.join(WINDOWS)))?,
        })
    }
}

fn missing_is_empty<T>(rows: io::Result<Vec<T>>) -> io::Result<Vec<T>> {
    match rows {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    }
}

/// What kept a table from being written: the error of the file where there is one, so that a full disk is known as such.
fn written(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Writes rows under a header.
pub fn write_rows<T: Row>(path: &Path, rows: &[T]) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(BufWriter::new(File::create(path)?));
    writer.write_record(T::COLUMNS).map_err(written)?;
    for row in rows {
        writer.serialize(row).map_err(written)?;
    }
    let mut out = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    out.flush()
}

/// Reads the rows of a table.
pub fn read_rows<T: Row>(path: &Path) -> io::Result<Vec<T>> {
    let mut reader = csv::Reader::from_reader(BufReader::new(File::open(path)?));
    reader
        .deserialize()
        .map(|row| row.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)))
        .collect()
}

/// Quotes a field where CSV needs it.
pub fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
