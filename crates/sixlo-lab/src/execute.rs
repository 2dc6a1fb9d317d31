//! A run as the laboratory does it: simulated, recorded where that is wanted, and made into tables.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use sixlo::trace::{Reason, Told};
use sixlo_sim::config::Config;
use sixlo_sim::ledger::{ECHO_FLOW, Fate, Record};
use sixlo_sim::medium::Loss as RadioLoss;
use sixlo_sim::result::{NodeResult, RunResult};
use sixlo_sim::run::run_plan;
use sixlo_sim::stream::StreamResult;
use sixlo_sim::time::Time;
use sixlo_sim::world::Plan;

use crate::campaign::{CAPTURE, RunError, RunSpec, TRACE};
use crate::pcapng::LinkType;
use crate::record::Recorder;
use crate::results::{DELIVERED, Datagram, Hops, Loss, Node, Run, Tables, Transfer, Window};
use crate::stats::{mean, quantile};

/// Executes one run and writes its tables, trace and capture into a folder; the table of single datagrams if it is wanted.
pub fn execute(
    run: &RunSpec<'_>,
    link_type: LinkType,
    datagrams: bool,
    folder: &Path,
) -> Result<(), RunError> {
    let wanted = Recording {
        trace: run.trace,
        capture: run.capture.then_some(link_type),
    };
    let tables = simulate(&run.point.config, run.seed, wanted, folder)?;
    tables.write(folder, datagrams).map_err(RunError::Output)
}

/// What is recorded of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Its trace.
    pub trace: bool,
    /// Its capture, and how frames stand in it.
    pub capture: Option<LinkType>,
}

/// Simulates a run, writes what is to be recorded into a folder, and gives the tables.
pub fn simulate(config: &Config, seed: u64, wanted: Recording, folder: &Path) -> Result<Tables, RunError> {
    let failed = |error: &dyn std::fmt::Display| RunError::Failed(error.to_string());
    let plan = Plan::new(config, seed).map_err(|problem| failed(&problem))?;
    let result = if wanted == Recording::default() {
        run_plan(&plan, &mut ())
    } else {
        let mut recorder = recorder(&plan, wanted, folder).map_err(RunError::Output)?;
        let result = run_plan(&plan, &mut recorder);
        recorder.finish().map_err(RunError::Output)?;
        result
    };
    let result = result.map_err(|error| failed(&error))?;
    Ok(tables(&plan, &result))
}

fn recorder(plan: &Plan, wanted: Recording, folder: &Path) -> io::Result<Recorder> {
    let mut recorder = Recorder::new(&plan.network, &plan.config.link);
    if wanted.trace {
        recorder.trace(&folder.join(TRACE), &plan.network)?;
    }
    if let Some(link_type) = wanted.capture {
        let channel = plan.config.link.channel;
        recorder.capture(&folder.join(CAPTURE), link_type, channel, &plan.network, None)?;
    }
    Ok(recorder)
}

/// What a run found out, as tables.
pub fn tables(plan: &Plan, result: &RunResult) -> Tables {
    let datagrams: Vec<Datagram> = result.records.iter().map(datagram).collect();
    let mut sent: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for datagram in &datagrams {
        let (sent, delivered) = sent.entry(datagram.source).or_default();
        *sent += 1;
        *delivered += u64::from(datagram.fate == DELIVERED);
    }
    let nodes = result.nodes.iter().zip(0..).map(|(of, index)| {
        let (sent, delivered) = sent.get(&(index + 1)).copied().unwrap_or_default();
        Node {
            sent,
            delivered,
            ..node(plan, result.duration, index, of)
        }
    });
    Tables {
        run: run(result, &datagrams),
        nodes: nodes.collect(),
        losses: losses(result, &datagrams),
        hops: hops(&datagrams),
        transfers: result
            .streams
            .iter()
            .map(|of| transfer(of, result.duration, plan.config.stack.tcp.send_buffer_bytes))
            .collect(),
        windows: result.streams.iter().flat_map(windows).collect(),
        datagrams,
    }
}

fn milliseconds(time: Time) -> f64 {
    time.as_ns() as f64 / 1e6
}

fn datagram(record: &Record) -> Datagram {
    let latency = match record.fate {
        Fate::Delivered { at } => Some(milliseconds(at.since(record.sent))),
        _ => None,
    };
    let last = match record.fate {
        Fate::Lost { last, .. } => last.name(),
        _ => "",
    };
    Datagram {
        datagram: record.id,
        kind: if record.flow & ECHO_FLOW == 0 {
            "udp"
        } else {
            "echo"
        }
        .to_owned(),
        source: record.from + 1,
        sequence: record.sequence,
        destination: record.to + 1,
        payload_bytes: record.payload_bytes,
        hops: record.hops,
        sent_s: record.sent.as_secs(),
        latency_ms: latency,
        fate: record.fate.name().to_owned(),
        last: last.to_owned(),
    }
}

fn run(result: &RunResult, datagrams: &[Datagram]) -> Run {
    let mut latencies: Vec<f64> = datagrams
        .iter()
        .filter_map(|datagram| datagram.latency_ms)
        .collect();
    latencies.sort_by(f64::total_cmp);
    let refused = result
        .records
        .iter()
        .filter(|record| matches!(record.fate, Fate::Refused(_)));
    let (delivered, sent) = result.delivered();
    let total = |count: fn(&NodeResult) -> u64| result.nodes.iter().map(count).sum::<u64>();
    let retransmissions = total(|node| node.stack.retransmissions);
    let air_s: f64 = result.nodes.iter().map(|node| node.radio.airtime.as_secs()).sum();
    let bytes: u64 = datagrams
        .iter()
        .filter(|datagram| datagram.fate == DELIVERED)
        .map(|datagram| u64::from(datagram.payload_bytes))
        .sum();
    let buffers: Vec<f64> = result
        .nodes
        .iter()
        .map(|node| node.buffer_mean(result.duration))
        .collect();
    let buffer_max = result.nodes.iter().map(|node| node.buffer_high_water).max();
    Run {
        simulated_s: result.duration.as_secs(),
        sent: sent as u64,
        delivered: delivered as u64,
        refused: refused.count() as u64,
        pdr: (sent > 0).then(|| delivered as f64 / sent as f64),
        latency_p50_ms: quantile(&latencies, 0.5),
        latency_p90_ms: quantile(&latencies, 0.9),
        latency_mean_ms: mean(&latencies),
        link_transmissions: total(|node| node.stack.attempts),
        link_retransmissions: retransmissions,
        link_retransmissions_per_node: retransmissions as f64 / result.nodes.len().max(1) as f64,
        channel_busy: total(|node| node.stack.busy),
        transmissions: result.transmissions,
        duplicates: result.duplicates,
        in_flight: result.in_flight,
        radio_busy_losses: total(NodeResult::lost_to_busy_radio),
        fallbacks: total(|node| node.stack.fallbacks),
        air_s,
        air_us_per_byte: (bytes > 0).then(|| air_s * 1e6 / bytes as f64),
        buffer_mean_bytes: mean(&buffers).unwrap_or_default(),
        buffer_max_bytes: buffer_max.unwrap_or_default() as u32,
    }
}

fn node(plan: &Plan, duration: Time, index: u16, of: &NodeResult) -> Node {
    let place = &plan.network.nodes[usize::from(index)];
    let [x_m, y_m, z_m] = place.at_m;
    let currents = plan.config.radio.currents();
    let charge_mc = of.charge_mc(duration, currents);
    Node {
        node: index + 1,
        name: place.name.clone(),
        x_m,
        y_m,
        z_m,
        parent: of.parent.map(|parent| parent + 1),
        hops: of.depth,
        link_frames: of.stack.frames,
        link_transmissions: of.stack.attempts,
        link_retransmissions: of.stack.retransmissions,
        link_acknowledged: of.stack.acknowledged,
        link_no_ack: of.stack.no_ack,
        link_channel_busy: of.stack.channel_busy,
        channel_busy: of.stack.busy,
        received: of.radio.received,
        acks_sent: of.radio.acks_sent,
        acks_lost: of.radio.acks_lost,
        radio_busy_losses: of.lost_to_busy_radio(),
        fallbacks: of.stack.fallbacks,
        reassemblies_mean: of.reassemblies_mean(duration),
        reassemblies_max: of.stack.reassemblies_max as u32,
        buffer_mean_bytes: of.buffer_mean(duration),
        buffer_max_bytes: of.buffer_high_water as u32,
        transmit_s: of.radio.airtime.as_secs(),
        listen_s: of.listening(duration).as_secs(),
        deaf_s: of.idle().as_secs(),
        charge_mc,
        energy_mj: charge_mc * currents.supply_v,
        ..Node::default()
    }
}

/// What became of the datagrams, by the length of their route.
fn hops(datagrams: &[Datagram]) -> Vec<Hops> {
    let mut by_hops: BTreeMap<u16, (u64, Vec<f64>)> = BTreeMap::new();
    for datagram in datagrams {
        let (sent, latencies) = by_hops.entry(datagram.hops).or_default();
        *sent += 1;
        latencies.extend(datagram.latency_ms);
    }
    let row = |(hops, (sent, mut latencies)): (u16, (u64, Vec<f64>))| {
        latencies.sort_by(f64::total_cmp);
        let tenth = |tenths: u8| quantile(&latencies, f64::from(tenths) / 10.0);
        Hops {
            hops,
            sent,
            delivered: latencies.len() as u64,
            pdr: latencies.len() as f64 / sent as f64,
            latency_min_ms: tenth(0),
            latency_p10_ms: tenth(1),
            latency_p20_ms: tenth(2),
            latency_p30_ms: tenth(3),
            latency_p40_ms: tenth(4),
            latency_p50_ms: tenth(5),
            latency_p60_ms: tenth(6),
            latency_p70_ms: tenth(7),
            latency_p80_ms: tenth(8),
            latency_p90_ms: tenth(9),
            latency_max_ms: tenth(10),
        }
    };
    by_hops.into_iter().map(row).collect()
}

/// A transfer as a row.
fn transfer(of: &StreamResult, end: Time, send_buffer: u16) -> Transfer {
    let last = of.received.map(|(_, last)| last);
    let until = if of.complete { last.unwrap_or(end) } else { end };
    let open_s = of.opened.map(|opened| until.since(opened).as_secs());
    Transfer {
        source: of.from + 1,
        destination: of.to + 1,
        hops: of.hops,
        start_s: of.start.as_secs(),
        opened_s: of.opened.map(Time::as_secs),
        last_s: last.map(Time::as_secs),
        bytes: of.bytes,
        complete: of.complete.into(),
        failure: of.failure.unwrap_or_default().to_owned(),
        goodput_kbps: open_s
            .filter(|&open_s| open_s > 0.0)
            .map(|open_s| of.bytes as f64 * 8.0 / open_s / 1_000.0),
        segments: of.segments.sent,
        segments_again: of.segments.again,
        segments_lost: of.segments.lost,
        rtt_mean_ms: of.rtt_mean.map(milliseconds),
        window_mean_bytes: window_mean(of, until, f64::from),
        window_full_share: window_mean(of, until, |bytes| f64::from(bytes >= u32::from(send_buffer))),
        fast_retransmits: told(of, Told::Lost),
        time_outs: told(of, Told::TimedOut),
        undone: told(of, Told::Undone),
    }
}

/// How often the sender's congestion control was told this.
fn told(of: &StreamResult, what: Told) -> u64 {
    of.windows.iter().filter(|window| window.told == what).count() as u64
}

/// What there is to say of the congestion window of a transfer, mean over time.
fn window_mean(of: &StreamResult, until: Time, value: impl Fn(u32) -> f64) -> Option<f64> {
    let ends = of.windows.iter().skip(1).map(|next| next.at).chain([until]);
    let spans = of.windows.iter().zip(ends).map(|(window, end)| {
        let span_s = end.since(window.at).as_secs();
        (span_s, span_s * value(window.bytes))
    });
    let (time_s, sum) = spans.fold((0.0, 0.0), |(time, sum), (span, area)| (time + span, sum + area));
    (time_s > 0.0).then_some(sum / time_s)
}

fn windows(of: &StreamResult) -> impl Iterator<Item = Window> + use<'_> {
    of.windows.iter().map(|window| Window {
        source: of.from + 1,
        destination: of.to + 1,
        at_s: window.at.as_secs(),
        window_bytes: window.bytes,
        told: window.told.name().to_owned(),
    })
}

/// What was lost at each node, by kind and cause.
fn losses(result: &RunResult, datagrams: &[Datagram]) -> Vec<Loss> {
    let mut counts: BTreeMap<(&str, u16, &str), u64> = BTreeMap::new();
    for datagram in datagrams.iter().filter(|datagram| datagram.fate != DELIVERED) {
        *counts
            .entry(("datagram", datagram.source, &datagram.fate))
            .or_default() += 1;
    }
    for (node, number) in result.nodes.iter().zip(1..) {
        for (reason, count) in Reason::ALL.iter().zip(node.stack.drops) {
            counts.insert(("packet", number, reason.name()), u64::from(count));
        }
        for cause in RadioLoss::all() {
            counts.insert(("radio", number, cause.name()), node.radio.lost[cause.index()]);
        }
    }
    let some = counts.into_iter().filter(|(_, count)| *count > 0);
    some.map(|((kind, node, cause), count)| Loss {
        kind: kind.to_owned(),
        node,
        cause: cause.to_owned(),
        count,
    })
    .collect()
}

#[cfg(test)]
mod tests;
