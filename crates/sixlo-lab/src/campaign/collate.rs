//! Tables over all runs of a campaign, and the estimates for each point of its grid.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use super::folder::OutputFolder;
use super::plan::{Plan, RunSpec};
use crate::files::replace;
use crate::results::{self, DELIVERED, Datagram, Hops, Node, Run, Tables, Transfer, Window, field};
use crate::stats::Estimate;

/// What a campaign found at one point of its grid.
#[derive(Clone, Debug)]
pub struct PointResult {
    /// The value of each axis.
    pub labels: Vec<String>,
    /// Its runs, seed by seed.
    pub runs: Vec<Run>,
    /// Means over the runs.
    pub estimates: Estimates,
    /// Datagrams that were lost, by cause, over all runs; the most frequent first.
    pub lost: Vec<(String, u64)>,
    /// Latencies in ms of the delivered datagrams of all runs, ascending, by the length of their route; and how many
    /// were lost on such routes.
    pub latencies_ms: BTreeMap<u16, (Vec<f64>, u64)>,
    /// The nodes of the first run.
    pub nodes: Vec<Node>,
    /// What became of the datagrams by the length of their route, run by run.
    pub hops: Vec<Vec<Hops>>,
    /// The transfers over TCP, run by run.
    pub transfers: Vec<Vec<Transfer>>,
    /// The congestion windows of the transfers of the first run.
    pub windows: Vec<Window>,
    /// Losses on the radio and in the stack, by kind and cause, over all runs.
    pub losses: BTreeMap<(String, String), u64>,
}

/// Means over the runs of a point, each with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimates {
    /// See [`Run::pdr`].
    pub pdr: Option<Estimate>,
    /// See [`Run::latency_p50_ms`].
    pub latency_p50_ms: Option<Estimate>,
    /// See [`Run::latency_p90_ms`].
    pub latency_p90_ms: Option<Estimate>,
    /// See [`Run::latency_mean_ms`].
    pub latency_mean_ms: Option<Estimate>,
    /// See [`Run::link_retransmissions_per_node`].
    pub link_retransmissions_per_node: Option<Estimate>,
}

impl Estimates {
    /// Each estimate with the name of its columns, and the bounds of what it estimates.
    fn columns(&self) -> [(&'static str, Option<Estimate>, f64); 5] {
        [
            ("pdr", self.pdr, 1.0),
            ("latency_p50_ms", self.latency_p50_ms, f64::INFINITY),
            ("latency_p90_ms", self.latency_p90_ms, f64::INFINITY),
            ("latency_mean_ms", self.latency_mean_ms, f64::INFINITY),
            (
                "link_retransmissions_per_node",
                self.link_retransmissions_per_node,
                f64::INFINITY,
            ),
        ]
    }

    fn of(runs: &[Run]) -> Self {
        let over = |value: fn(&Run) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(value).collect();
            Estimate::of(&values)
        };
        Self {
            pdr: over(|run| run.pdr),
            latency_p50_ms: over(|run| run.latency_p50_ms),
            latency_p90_ms: over(|run| run.latency_p90_ms),
            latency_mean_ms: over(|run| run.latency_mean_ms),
            link_retransmissions_per_node: over(|run| Some(run.link_retransmissions_per_node)),
        }
    }
}

/// Writes the tables over all runs, from what the runs left on disk, and gives the results of all points.
pub(super) fn all(plan: &Plan<'_>, folder: &OutputFolder, datagrams: bool) -> io::Result<Vec<PointResult>> {
    let single = [results::DATAGRAMS, results::WINDOWS];
    let others = [
        results::RUN,
        results::NODES,
        results::LOSSES,
        results::HOPS,
        results::TRANSFERS,
    ];
    for table in others.into_iter().chain(single.into_iter().filter(|_| datagrams)) {
        let name = if table == results::RUN { "runs.csv" } else { table };
        replace(&folder.path().join(name), |path| join(plan, folder, table, path))?;
    }
    let mut points = Vec::new();
    for (number, point) in plan.scenario.points.iter().enumerate() {
        let runs = plan.runs.iter().filter(|run| run.point_number == number);
        let tables = runs
            .map(|run| folder.tables_of(run))
            .collect::<io::Result<Vec<_>>>()?;
        points.push(result(point.labels.clone(), tables));
    }
    replace(&folder.path().join("summary.csv"), |path| {
        summary(plan, &points, path)
    })?;
    Ok(points)
}

/// Joins one table of all runs: in front of each row stand the run's axes and seed, and the name of its folder.
fn join(plan: &Plan<'_>, folder: &OutputFolder, table: &str, path: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for (number, run) in plan.runs.iter().enumerate() {
        let mut lines = BufReader::new(File::open(folder.path_of(run).join(table))?).lines();
        let header = lines.next().transpose()?.unwrap_or_default();
        if number == 0 {
            writeln!(out, "{}seed,{header},run", prefix(&plan.scenario.axes))?;
        }
        let axes = prefix(&run.point.labels);
        for line in lines {
            writeln!(out, "{axes}{},{},{}", run.seed, line?, run.name)?;
        }
    }
    out.flush()
}

fn prefix(fields: &[String]) -> String {
    fields.iter().map(|text| field(text) + ",").collect()
}

/// The results of one point from the tables of its runs.
fn result(labels: Vec<String>, tables: Vec<Tables>) -> PointResult {
    let mut lost: BTreeMap<String, u64> = BTreeMap::new();
    let mut losses: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut latencies_ms: BTreeMap<u16, (Vec<f64>, u64)> = BTreeMap::new();
    for table in &tables {
        for Datagram {
            hops,
            latency_ms,
            fate,
            ..
        } in &table.datagrams
        {
            let (arrived, missing) = latencies_ms.entry(*hops).or_default();
            match latency_ms {
                Some(latency) if fate == DELIVERED => arrived.push(*latency),
                _ => *missing += 1,
            }
        }
        for loss in &table.losses {
            if loss.kind == "datagram" {
                *lost.entry(loss.cause.clone()).or_default() += loss.count;
            }
            *losses.entry((loss.kind.clone(), loss.cause.clone())).or_default() += loss.count;
        }
    }
    for (arrived, _) in latencies_ms.values_mut() {
        arrived.sort_by(f64::total_cmp);
    }
    let mut lost: Vec<_> = lost.into_iter().collect();
    lost.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let nodes = tables
        .first()
        .map(|table| table.nodes.clone())
        .unwrap_or_default();
    let transfers = tables.iter().map(|table| table.transfers.clone()).collect();
    let windows = tables
        .first()
        .map(|table| table.windows.clone())
        .unwrap_or_default();
    let (runs, hops): (Vec<Run>, _) = tables.into_iter().map(|table| (table.run, table.hops)).unzip();
    PointResult {
        labels,
        estimates: Estimates::of(&runs),
        runs,
        lost,
        latencies_ms,
        nodes,
        hops,
        transfers,
        windows,
        losses,
    }
}

/// A row a point: its axes, totals, and each estimate with the ends of its interval.
fn summary(plan: &Plan<'_>, points: &[PointResult], path: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write!(out, "{}runs,sent,delivered", prefix(&plan.scenario.axes))?;
    for (name, ..) in Estimates::default().columns() {
        write!(out, ",{name}_mean,{name}_ci95_low,{name}_ci95_high")?;
    }
    writeln!(out)?;
    for point in points {
        let total = |value: fn(&Run) -> u64| point.runs.iter().map(value).sum::<u64>();
        let (sent, delivered) = (total(|run| run.sent), total(|run| run.delivered));
        write!(
            out,
            "{}{},{sent},{delivered}",
            prefix(&point.labels),
            point.runs.len()
        )?;
        for (_, estimate, ceiling) in point.estimates.columns() {
            let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            write!(
                out,
                ",{},{},{}",
                number(estimate.map(|estimate| estimate.mean)),
                number(estimate.and_then(|estimate| estimate.low(0.0))),
                number(estimate.and_then(|estimate| estimate.high(ceiling)))
            )?;
        }
        writeln!(out)?;
    }
    out.flush()
}

/// The name of a run's folder, for messages.
impl std::fmt::Display for RunSpec<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}
