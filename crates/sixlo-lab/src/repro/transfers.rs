//! Single transfers of recoverable fragments, seen closely: window and gap over time, and what their congestion control
//! was told, as a trace has it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use sixlo_sim::config::Config;

use crate::campaign::{RunError, TRACE};
use crate::execute::{Recording, simulate};
use crate::results::{DELIVERED, Tables, Window};
use crate::trace::{self, Line, history};

/// What a study looked at closely.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// Transfers of recoverable fragments.
    pub transfers: Vec<Transfer>,
    /// Runs of TCP.
    pub streams: Vec<Stream>,
}

/// A run with a transfer over TCP.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// What was run: the labels of its point.
    pub labels: Vec<String>,
    /// The congestion window of its sender over time.
    pub windows: Vec<Window>,
    /// The most bytes of the sender's packet buffer that were in use, and the most that would have been, had each segment a copy of its
    /// data until the link is done with it.
    pub send_memory: [u32; 2],
}

/// A transfer, and where it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// What was run: the labels of its point.
    pub labels: Vec<String>,
    /// The seed of its run.
    pub seed: u64,
    /// The number of its datagram in that run.
    pub datagram: u32,
    /// The number of the node that sent it.
    pub source: u16,
    /// All fragments were acknowledged, and the datagram was delivered; else it was given up.
    pub succeeded: bool,
    /// From its first fragment to its end.
    pub duration_s: f64,
    /// What its control was told, in order; the first step is its start.
    pub steps: Vec<Step>,
    /// The trace of the datagram, below the folder of the study.
    pub file: String,
}

/// Window and gap from a moment on.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Since the start of the transfer.
    pub time_s: f64,
    /// The window in fragments.
    pub window: u32,
    /// The gap that the control calculates, or else that of the interface.
    pub gap_ms: f64,
    /// What the control was told, as traces call it.
    pub told: String,
}

impl Transfer {
    /// How often the control was told this.
    pub fn count(&self, told: &str) -> usize {
        self.steps.iter().filter(|step| step.told == told).count()
    }

    /// The gap was not always the same.
    pub fn gap_changed(&self) -> bool {
        self.steps.windows(2).any(|pair| pair[0].gap_ms != pair[1].gap_ms)
    }

    /// How well it shows what a control does, in the order of Lenders et al. 2021, section V-D: at least two time-outs
    /// where it fails, a gap that changes, marks, and then as much as possible of all.
    fn worth(&self) -> (bool, bool, bool, usize) {
        let time_outs = self.succeeded || self.count("timed-out") >= 2;
        (
            time_outs,
            self.gap_changed(),
            self.count("ecn") > 0,
            self.steps.len(),
        )
    }
}

/// What is to be looked at.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The labels of the point.
    pub labels: Vec<String>,
    /// Its configuration.
    pub config: Config,
    /// Its seeds.
    pub seeds: Vec<u64>,
    /// Whether transfers that succeed are wanted, and those that are given up.
    pub outcomes: Vec<bool>,
    /// What the files of the traces begin with.
    pub name: String,
}

/// The folder of the traces.
const FOLDER: &str = "traces";

/// Runs what is wanted, and gives the transfer that best shows each of the outcomes, if there is one. The trace of each is written into the folder.
///
/// # Errors
///
/// If a run fails or something cannot be written.
pub fn watch(wanted: &Wanted, folder: &Path) -> Result<Vec<Transfer>, RunError> {
    let traces = folder.join(FOLDER);
    fs::create_dir_all(&traces).map_err(RunError::Output)?;
    let mut best: [Option<Transfer>; 2] = [None, None];
    for seed in &wanted.seeds {
        let recording = Recording {
            trace: true,
            capture: None,
        };
        let tables = simulate(&wanted.config, *seed, recording, &traces)?;
        let all = traces.join(TRACE);
        let seen = File::open(&all).and_then(|file| transfers(BufReader::new(file), &tables, wanted, *seed));
        for transfer in seen.map_err(RunError::Output)? {
            if !wanted.outcomes.contains(&transfer.succeeded) {
                continue;
            }
            let place = &mut best[usize::from(transfer.succeeded)];
            if place.as_ref().is_none_or(|one| transfer.worth() > one.worth()) {
                keep(&all, &transfer, folder).map_err(RunError::Output)?;
                *place = Some(transfer);
            }
        }
        fs::remove_file(&all).map_err(RunError::Output)?;
    }
    Ok(best.into_iter().flatten().collect())
}

/// Copies what a trace has of a transfer's datagram.
fn keep(all: &Path, transfer: &Transfer, folder: &Path) -> io::Result<()> {
    let wanted = [transfer.datagram].into();
    let lines = history::lines_of(BufReader::new(File::open(all)?), &wanted)?;
    let mut file = io::BufWriter::new(File::create(folder.join(&transfer.file))?);
    writeln!(file, "{}", trace::COLUMNS)?;
    for line in lines.values().flatten() {
        writeln!(file, "{line}")?;
    }
    file.flush()
}

/// The transfers of a trace that have ended.
fn transfers(lines: impl BufRead, tables: &Tables, wanted: &Wanted, seed: u64) -> io::Result<Vec<Transfer>> {
    let datagrams = tables.datagrams.iter();
    let sources: BTreeMap<u32, (u16, bool)> = datagrams
        .map(|row| (row.datagram, (row.source, row.fate == DELIVERED)))
        .collect();
    let gap_ms = f64::from(wanted.config.stack.fragment_gap_us.unwrap_or(0)) / 1e3;
    let mut open: BTreeMap<u32, (u64, Vec<Step>)> = BTreeMap::new();
    let mut ended = Vec::new();
    for line in lines.lines() {
        let line = line?;
        let Ok(line) = Line::parse(&line) else { continue };
        // A node on the way that has to put a datagram together sends it on by a transfer of its own.
        let Some((source, delivered)) = sources.get(&line.datagram) else {
            continue;
        };
        if line.layer != "6lowpan" || line.node != *source {
            continue;
        }
        match line.event {
            "window" => {
                let (start, steps) = open.entry(line.datagram).or_insert((line.time_ns, Vec::new()));
                steps.push(step(&line, *start, gap_ms));
            }
            "end" => {
                let Some((start, steps)) = open.remove(&line.datagram) else {
                    continue;
                };
                let succeeded = match (line.word("end"), line.word("reason")) {
                    (Some("sent"), _) if *delivered => true,
                    (_, Some("recover-given-up")) if !delivered => false,
                    _ => continue,
                };
                let outcome = if succeeded { "succeeded" } else { "given-up" };
                ended.push(Transfer {
                    labels: wanted.labels.clone(),
                    seed,
                    datagram: line.datagram,
                    source: *source,
                    succeeded,
                    duration_s: seconds(line.time_ns - start),
                    steps,
                    file: format!("{FOLDER}/{}-{outcome}.csv", wanted.name),
                });
            }
            _ => {}
        }
    }
    Ok(ended)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn step(line: &Line<'_>, start_ns: u64, gap_ms: f64) -> Step {
    let number = |key| line.word(key).and_then(|value| value.parse::<u32>().ok());
    Step {
        time_s: seconds(line.time_ns - start_ns),
        window: number("window").unwrap_or(0),
        gap_ms: number("interval_us").map_or(gap_ms, |us| f64::from(us) / 1e3),
        told: line.word("told").unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests;
