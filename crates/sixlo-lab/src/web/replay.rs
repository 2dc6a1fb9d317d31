//! A recorded run, in pieces that the page asks for as it plays.
//!
//! The trace is read once from end to end, and of every piece is kept where it begins and what had been counted until then. So
//! any moment is there after reading one piece, however long the run.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

use sixlo_sim::stack_host::Setup;
use sixlo_sim::world::Plan;

use super::messages::{Batch, Detail, Mesh, MeshNode, NodeRow, Recorded, Totals};
use super::tally::{Tally, fates};
use super::trace_tally::count;
use crate::frame_kind::FrameKind;
use crate::trace::{Line, tell};

/// A piece has at least so many bytes of the trace.
const CHUNK_MIN: u64 = 1 << 20;
/// There are at most about so many pieces.
const CHUNKS_MAX: u64 = 256;
/// Simulated time of a batch.
const BATCH_US: u64 = 50_000;
/// Values of a line over the whole run.
const HISTORY: u64 = 400;
/// What a node did last: lines.
const LOG_LINES: usize = 60;

/// A recorded run.
#[derive(Debug)]
pub struct Replay {
    mesh: Mesh,
    trace: PathBuf,
    chunks: Vec<Chunk>,
    /// By node: the destinations of its routes, and the next hop.
    routes: Vec<Vec<(String, u16)>>,
}

/// A piece of the trace.
#[derive(Debug)]
struct Chunk {
    /// Where it begins in the file, and its bytes.
    place: (u64, u64),
    /// All that was counted before.
    before: Tally,
}

impl Replay {
    /// Reads the trace of a run that this plan describes, and that was so long.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn open(trace: &Path, plan: &Plan, title: &str, run: &str, duration_us: u64) -> io::Result<Self> {
        let bytes = std::fs::metadata(trace)?.len();
        let least = CHUNK_MIN.max(bytes / CHUNKS_MAX);
        Self::in_pieces_of(least, trace, plan, (title, run), duration_us)
    }

    fn in_pieces_of(
        least: u64,
        trace: &Path,
        plan: &Plan,
        (title, run): (&str, &str),
        duration_us: u64,
    ) -> io::Result<Self> {
        let step = (duration_us / HISTORY).max(1);
        let mut file = BufReader::with_capacity(1 << 18, File::open(trace)?);
        let mut reading = Reading::new(plan.nodes(), step);
        let mut line = String::new();
        while read_line(&mut file, &mut line)? {
            reading.line(&line, least);
        }
        let (chunks, history, last_us) = reading.end();
        let mut mesh = mesh_of(plan, "replay", title, run);
        mesh.recorded = Some(Recorded {
            duration: duration_us.max(last_us),
            chunks: chunks.iter().map(|chunk| chunk.before.now_us()).collect(),
            history,
        });
        Ok(Self {
            mesh,
            trace: trace.to_owned(),
            chunks,
            routes: routes_of(plan),
        })
    }

    /// What does not change.
    pub const fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// A piece of the run: first all nodes as they are, then what happens, a line of JSON a batch. `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read any more.
    pub fn chunk(&self, number: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(chunk) = self.chunks.get(number) else {
            return Ok(None);
        };
        let mut out = Vec::new();
        let mut tally = chunk.before.clone();
        json_line(&mut out, &tally.whole())?;
        tally.collect(usize::MAX);
        let mut until = (tally.now_us() / BATCH_US + 1) * BATCH_US;
        let mut write = |tally: &mut Tally| match tally.batch() {
            Some(batch) => json_line(&mut out, &batch),
            None => Ok(()),
        };
        self.lines(chunk, |line| {
            let at = line.time_ns / 1_000;
            if at >= until {
                write(&mut tally)?;
                until = (at / BATCH_US + 1) * BATCH_US;
            }
            count(&mut tally, line);
            Ok(true)
        })?;
        write(&mut tally)?;
        Ok(Some(out))
    }

    /// A node at a moment, in all detail. `None` if there is no such node.
    ///
    /// # Errors
    ///
    /// If the trace cannot be read any more.
    pub fn node(&self, number: u16, at_us: u64) -> io::Result<Option<Detail>> {
        let after = self
            .chunks
            .partition_point(|chunk| chunk.before.now_us() <= at_us);
        let at = after.saturating_sub(1);
        let Some(chunk) = self.chunks.get(at) else {
            return Ok(None);
        };
        let mut tally = chunk.before.clone();
        let mut log = VecDeque::new();
        let mut note = |line: &Line<'_>| {
            if line.node == number && line.event != "hop" && line.event != "occupancy" {
                if log.len() == LOG_LINES {
                    log.pop_front();
                }
                log.push_back((line.time_ns / 1_000, tell::event(line), tell::weight(line).sign()));
            }
        };
        // A piece that has just begun tells little of what happened last.
        if let Some(before) = at.checked_sub(1).and_then(|before| self.chunks.get(before)) {
            self.lines(before, |line| {
                note(line);
                Ok(true)
            })?;
        }
        self.lines(chunk, |line| {
            if line.time_ns / 1_000 > at_us {
                return Ok(false);
            }
            count(&mut tally, line);
            note(line);
            Ok(true)
        })?;
        Ok(tally.detail(number).map(|detail| Detail {
            routes: self.routes[usize::from(number) - 1].clone(),
            log: log.into_iter().collect(),
            ..detail
        }))
    }

    /// Goes through the lines of a piece, until told to stop.
    fn lines(&self, chunk: &Chunk, mut each: impl FnMut(&Line<'_>) -> io::Result<bool>) -> io::Result<()> {
        let (from, bytes) = chunk.place;
        let mut file = File::open(&self.trace)?;
        file.seek(SeekFrom::Start(from))?;
        let mut file = BufReader::with_capacity(1 << 16, file.take(bytes));
        let mut text = String::new();
        while read_line(&mut file, &mut text)? {
            if let Ok(line) = Line::parse(text.trim_end())
                && !each(&line)?
            {
                break;
            }
        }
        Ok(())
    }
}

/// The first reading of a trace.
struct Reading {
    tally: Tally,
    chunks: Vec<Chunk>,
    history: Vec<Totals>,
    /// Bytes that were read.
    read: u64,
    /// Microseconds of a value of the history, and until when the present one goes.
    step: u64,
    until: u64,
}

impl Reading {
    fn new(nodes: u16, step: u64) -> Self {
        let tally = Tally::new(nodes);
        let first = Chunk {
            place: (0, 0),
            before: tally.clone(),
        };
        Self {
            tally,
            chunks: vec![first],
            history: vec![Totals::default()],
            read: 0,
            step,
            until: step,
        }
    }

    /// Takes the next line, with its line break.
    fn line(&mut self, text: &str, chunk_min: u64) {
        let at = self.read;
        self.read += text.len() as u64;
        let Ok(line) = Line::parse(text.trim_end()) else {
            // The header.
            return;
        };
        let us = line.time_ns / 1_000;
        // A trace that goes on for longer than its run did is none of this program.
        while us >= self.until && (self.history.len() as u64) < 2 * HISTORY {
            self.tally.advance(self.until * 1_000);
            self.history.push(self.tally.totals());
            self.until += self.step;
        }
        // What happens in one moment stays together.
        let enough = |chunk: &Chunk| at - chunk.place.0 >= chunk_min;
        if us > self.tally.now_us() && self.chunks.last().is_some_and(enough) {
            self.tally.advance(line.time_ns);
            self.cut(at);
            self.chunks.push(Chunk {
                place: (at, 0),
                before: self.tally.clone(),
            });
        }
        count(&mut self.tally, &line);
    }

    /// The last piece ends here.
    fn cut(&mut self, at: u64) {
        if let Some(last) = self.chunks.last_mut() {
            last.place.1 = at - last.place.0;
        }
    }

    fn end(mut self) -> (Vec<Chunk>, Vec<Totals>, u64) {
        self.cut(self.read);
        self.history.push(self.tally.totals());
        (self.chunks, self.history, self.tally.now_us())
    }
}

/// Reads a line with its line break; false at the end.
fn read_line(file: &mut impl BufRead, line: &mut String) -> io::Result<bool> {
    line.clear();
    Ok(file.read_line(line)? > 0)
}

fn json_line(out: &mut Vec<u8>, batch: &Batch) -> io::Result<()> {
    serde_json::to_writer(&mut *out, batch)?;
    out.push(b'\n');
    Ok(())
}

/// What a plan says about the mesh.
pub fn mesh_of(plan: &Plan, mode: &'static str, title: &str, run: &str) -> Mesh {
    let nodes = plan.network.nodes.iter().zip(0..);
    let nodes = nodes.map(|(node, index): (_, u16)| {
        let [x, y, z] = node.at_m;
        MeshNode {
            number: index + 1,
            name: node.name.clone(),
            x,
            y,
            z,
            parent: plan.routes.parent(index).map(|parent| parent + 1),
            hops: plan.routes.depth(index),
        }
    });
    Mesh {
        mode,
        title: title.to_owned(),
        run: run.to_owned(),
        nodes: nodes.collect(),
        links: links_of(plan),
        buffer_bytes: plan.config.stack.packet_buffer_bytes,
        kinds: FrameKind::ALL.map(FrameKind::name).to_vec(),
        fates: fates(),
        columns: NodeRow::PLACES.to_vec(),
        totals: Totals::PLACES.to_vec(),
        recorded: None,
    }
}

/// The pairs of nodes that are linked by the medium, or by a route.
fn links_of(plan: &Plan) -> Vec<(u16, u16)> {
    let all = plan.network.indices();
    let mut links = Vec::new();
    for from in all {
        for &to in plan.medium.receivers(from) {
            let route = plan.routes.parent(from) == Some(to) || plan.routes.parent(to) == Some(from);
            if from < to && (route || (plan.medium.linked(from, to) && plan.medium.linked(to, from))) {
                links.push((from + 1, to + 1));
            }
        }
    }
    links
}

/// The routes that the nodes start with: destination, and next hop.
pub(super) fn routes_of(plan: &Plan) -> Vec<Vec<(String, u16)>> {
    let link_local = |index: u16| {
        let address = plan.network.link_addr(index, plan.config.link.addresses);
        address.link_local().map(|address| (address, index + 1))
    };
    let numbers: BTreeMap<Ipv6Addr, u16> = plan.network.indices().filter_map(link_local).collect();
    let of = |setup: &Setup| {
        let routes = setup.routes().iter();
        let known = routes.filter_map(|route| {
            let to = format!("{}/{}", route.prefix, route.prefix_len);
            Some((to, *numbers.get(&route.next_hop)?))
        });
        known.collect()
    };
    Setup::all(plan).iter().map(of).collect()
}

#[cfg(test)]
mod tests;
