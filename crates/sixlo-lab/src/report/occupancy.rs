//! How full nodes are over time, from a trace.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::Figure;
use crate::plot::{Horizontal, LineChart, Origin, Series, Unit, Value, colour};
use crate::trace::Line;

/// Values of a line.
const BINS: usize = 80;

/// What is counted, as the trace and as the charts call it.
const COUNTED: [(&str, &str); 4] = [
    ("buffer", ""),
    ("reassemblies", "reassembled"),
    ("forwards", "forwarded"),
    ("transfers", "under recovery"),
];

/// Means over the bins of the time, all nodes together.
#[derive(Debug)]
pub(super) struct Means {
    /// The middle of each bin.
    times_s: Vec<f64>,
    /// What is counted, by bin.
    pub(super) of: [Vec<f64>; 4],
}

/// The figures of the run that left a trace.
///
/// # Errors
///
/// If the trace cannot be read.
pub(super) fn figures(trace: &Path, nodes: usize) -> io::Result<Vec<Figure>> {
    let means = means(BufReader::new(File::open(trace)?))?;
    Ok(means.map(|means| drawn(&means, nodes)).unwrap_or_default())
}

/// Reads a trace; none if no node ever held anything.
pub(super) fn means(lines: impl BufRead) -> io::Result<Option<Means>> {
    let mut changes: Vec<(u64, usize, [f64; 4])> = Vec::new();
    let mut end_ns = 0;
    for line in lines.lines() {
        let line = line?;
        // The end of the run is that of its last event.
        let time = line.split(',').next().and_then(|time| time.parse().ok());
        end_ns = time.unwrap_or(end_ns).max(end_ns);
        if !line.contains(",node,occupancy,") {
            continue;
        }
        if let Ok(line) = Line::parse(&line) {
            let word = |(key, _)| line.word(key).and_then(|value| value.parse().ok());
            let counts = COUNTED.map(|counted| word(counted).unwrap_or(0.0));
            changes.push((line.time_ns, usize::from(line.node), counts));
        }
    }
    if changes.is_empty() {
        return Ok(None);
    }
    let bin_ns = (end_ns as f64 / BINS as f64).max(1.0);
    let mut means = Means {
        times_s: (0..BINS).map(|bin| (bin as f64 + 0.5) * bin_ns / 1e9).collect(),
        of: std::array::from_fn(|_| vec![0.0; BINS]),
    };
    let most = changes.iter().map(|change| change.1).max().unwrap_or(0);
    let mut since = vec![(0_u64, [0.0; 4]); most + 1];
    for (time, node, counts) in changes {
        let (from, held) = std::mem::replace(&mut since[node], (time, counts));
        means.add(from, time, bin_ns, &held);
    }
    for (from, held) in since {
        means.add(from, end_ns, bin_ns, &held);
    }
    Ok(Some(means))
}

impl Means {
    /// A node held so much for some time.
    fn add(&mut self, from_ns: u64, to_ns: u64, bin_ns: f64, held: &[f64; 4]) {
        let (from, to) = (from_ns as f64 / bin_ns, to_ns as f64 / bin_ns);
        for bin in (from as usize)..BINS.min(to as usize + 1) {
            let overlap = to.min(bin as f64 + 1.0) - from.max(bin as f64);
            for (sums, count) in self.of.iter_mut().zip(held) {
                sums[bin] += count * overlap.max(0.0);
            }
        }
    }

    fn series(&self, place: usize, scale: f64) -> Series {
        let name = COUNTED[place].1;
        let values = self.times_s.iter().zip(&self.of[place]);
        let value = |(time, mean): (&f64, &f64)| Value {
            x: *time,
            y: mean * scale,
            interval: None,
            tooltip: format!("{:.2} s: {:.2} {name}", time, mean * scale),
        };
        Series {
            origin: Origin::Measured,
            label: name.to_owned(),
            colour: colour::series(place),
            values: values.map(value).collect(),
        }
    }

    fn chart(&self, title: &str, series: Vec<Series>) -> LineChart {
        LineChart {
            title: title.to_owned(),
            x: Horizontal::Numbers(self.times_s.clone()),
            x_title: "Time (s)".to_owned(),
            unit: Unit::Number,
            y_title: title.to_owned(),
            series,
        }
    }
}

fn drawn(means: &Means, nodes: usize) -> Vec<Figure> {
    let buffer = means.chart(
        "Packet buffer in use, mean over the nodes (bytes)",
        vec![means.series(0, 1.0 / nodes.max(1) as f64)],
    );
    let tables = means.chart(
        "Datagrams in the tables of all nodes",
        (1..COUNTED.len()).map(|place| means.series(place, 1.0)).collect(),
    );
    vec![
        Figure {
            name: "occupancy-buffer",
            title: "Packet buffers over time".to_owned(),
            caption: format!("The run that left a trace. Means over a {BINS}th of the time each."),
            wide: false,
            svg: buffer.draw(),
        },
        Figure {
            name: "occupancy-tables",
            title: "Reassemblies and forwarded datagrams over time".to_owned(),
            caption: "The same run: datagrams that are being reassembled, forwarded fragment by fragment, or sent in recoverable \
                      fragments by their source."
                .to_owned(),
            wide: false,
            svg: tables.draw(),
        },
    ]
}

#[cfg(test)]
mod tests;
