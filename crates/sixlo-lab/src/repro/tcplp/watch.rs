//! Runs that are looked at closely: the congestion window over time (Fig. 6), and what sending takes of memory (T2).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::setups::{At, WATCHED, config};
use crate::campaign::{RunError, TRACE};
use crate::execute::{Recording, simulate};
use crate::repro::Extent;
use crate::repro::transfers::{Stream, Watched};
use crate::trace::Line;

/// The seed of all such runs.
const SEED: u64 = 1;

/// How long such a run is, whatever the extent: the paper shows 100 s.
const LENGTH_MS: u64 = 120_000;

/// Runs them.
pub(super) fn watch(extent: &Extent, folder: &Path) -> Result<Watched, RunError> {
    let streams = WATCHED.map(|at| stream(at, extent, folder));
    Ok(Watched {
        transfers: Vec::new(),
        streams: streams.into_iter().collect::<Result<_, _>>()?,
    })
}

fn stream(at: At, extent: &Extent, folder: &Path) -> Result<Stream, RunError> {
    let mut config = config(at, extent);
    config.end_ms = Some(LENGTH_MS);
    fs::create_dir_all(folder).map_err(RunError::Output)?;
    let recording = Recording {
        trace: true,
        capture: None,
    };
    let tables = simulate(&config, SEED, recording, folder)?;
    let trace = folder.join(TRACE);
    let sender = tables.transfers.first().map_or(0, |transfer| transfer.source);
    let send_memory = File::open(&trace).and_then(|file| send_memory(BufReader::new(file), sender));
    fs::remove_file(&trace).map_err(RunError::Output)?;
    Ok(Stream {
        labels: at.labels().to_vec(),
        windows: tables.windows,
        send_memory: send_memory.map_err(RunError::Output)?,
    })
}

/// The highest use of a node's packet buffer, and the same with a copy of the data of each segment, from when it is made until the link is
/// done with it.
fn send_memory(trace: impl BufRead, node: u16) -> io::Result<[u32; 2]> {
    let mut most = [0; 2];
    let mut used = 0;
    let mut copies: BTreeMap<u32, u32> = BTreeMap::new();
    for line in trace.lines() {
        let line = line?;
        let Ok(line) = Line::parse(&line) else { continue };
        if line.node != node {
            continue;
        }
        let number = |key| line.word(key).and_then(|value| value.parse::<u32>().ok());
        match (line.layer, line.event) {
            ("tcp", "segment-out") => {
                copies.insert(line.datagram, number("len").unwrap_or(0));
            }
            ("netif", "end") => {
                copies.remove(&line.datagram);
            }
            ("node", "occupancy") => used = number("buffer").unwrap_or(used),
            _ => continue,
        }
        most[0] = most[0].max(used);
        most[1] = most[1].max(used + copies.values().sum::<u32>());
    }
    Ok(most)
}

#[cfg(test)]
mod tests;
