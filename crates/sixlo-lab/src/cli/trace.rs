//! `sixlo trace`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Write};
use std::path::Path;

use super::stored::Stored;
use super::{Failure, TraceArgs};
use crate::results::{self, DELIVERED, Datagram, Node};
use crate::scenario::BadInput;
use crate::trace::history::{self, Style};

/// Tells what became of datagrams.
pub(super) fn trace(args: &TraceArgs, out: &mut impl Write) -> Result<(), Failure> {
    let results = Results::open(&args.results)?;
    let chosen: Vec<&Datagram> = if let Some(number) = args.datagram {
        vec![results.find(
            |datagram| datagram.datagram == number && number != 0,
            || format!("no datagram {number}"),
        )?]
    } else if let (Some(node), Some(seq)) = (args.node, args.seq) {
        let wanted = |datagram: &Datagram| datagram.source == node && datagram.sequence == seq;
        vec![results.find(wanted, || format!("no datagram {seq} of node {node}"))?]
    } else if args.list {
        return results.list(args.lost, out).map_err(Failure::stdout);
    } else if args.lost {
        results
            .stored
            .datagrams
            .iter()
            .filter(|datagram| datagram.fate != DELIVERED)
            .collect()
    } else {
        return results.overview(&args.results, out).map_err(Failure::stdout);
    };
    if chosen.is_empty() {
        return writeln!(out, "Every datagram was delivered.").map_err(Failure::stdout);
    }
    let lines = results.lines(&chosen)?;
    let style = Style {
        colour: io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    };
    for datagram in chosen {
        results
            .tell(datagram, &lines, style, out)
            .map_err(Failure::stdout)?;
    }
    Ok(())
}

/// What is known about a run.
struct Results {
    stored: Stored,
    names: BTreeMap<u16, String>,
}

impl Results {
    fn open(path: &Path) -> Result<Self, Failure> {
        let stored = Stored::open(path, None)?;
        let read = |error| Failure::Io(stored.folder.display().to_string(), error);
        let nodes: Vec<Node> = results::read_rows(&stored.folder.join(results::NODES)).map_err(read)?;
        Ok(Self {
            names: nodes.into_iter().map(|node| (node.node, node.name)).collect(),
            stored,
        })
    }

    fn find(
        &self,
        wanted: impl Fn(&Datagram) -> bool,
        what: impl Fn() -> String,
    ) -> Result<&Datagram, Failure> {
        self.stored
            .datagrams
            .iter()
            .find(|datagram| wanted(datagram))
            .ok_or_else(|| {
                let file = self.stored.folder.display().to_string();
                BadInput::whole(
                    file,
                    format!("the run has {}", what()),
                    "`sixlo trace RESULTS --list` shows all",
                )
                .into()
            })
    }

    /// How many arrived, and why the others did not.
    fn overview(&self, path: &Path, out: &mut impl Write) -> io::Result<()> {
        let mut fates: BTreeMap<&str, (usize, &Datagram)> = BTreeMap::new();
        for datagram in &self.stored.datagrams {
            fates.entry(&datagram.fate).or_insert((0, datagram)).0 += 1;
        }
        let mut fates: Vec<_> = fates.into_iter().collect();
        fates.sort_by_key(|(fate, (count, _))| (*fate != DELIVERED, std::cmp::Reverse(*count)));
        let width = fates.iter().map(|(fate, _)| fate.len()).max().unwrap_or(0);
        writeln!(
            out,
            "{} datagrams in {}",
            self.stored.datagrams.len(),
            self.stored.folder.display()
        )?;
        for (fate, (count, first)) in fates {
            let first = match first.datagram {
                0 => format!("--node {} --seq {}", first.source, first.sequence),
                number => format!("--datagram {number}"),
            };
            writeln!(out, "  {fate:width$}  {count:>7}   the first: {first}")?;
        }
        let path = path.display();
        writeln!(
            out,
            "\nThe history of one: sixlo trace {path} --datagram N\nAll of them: sixlo trace {path} --list"
        )
    }

    /// One line a datagram.
    fn list(&self, only_lost: bool, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "datagram  source  seq  to      bytes  hops       sent_s   latency_ms  fate"
        )?;
        let wanted = |datagram: &&Datagram| !only_lost || datagram.fate != DELIVERED;
        for datagram in self.stored.datagrams.iter().filter(wanted) {
            let Datagram {
                datagram: number,
                source,
                sequence,
                destination,
                payload_bytes,
                hops,
                sent_s,
                latency_ms,
                fate,
                ..
            } = datagram;
            let latency = latency_ms.map_or_else(|| "-".to_owned(), |latency| format!("{latency:.3}"));
            writeln!(
                out,
                "{number:>8}  {source:>6}  {sequence:>3}  {destination:<6}  {payload_bytes:>5}  {hops:>4}  \
                 {sent_s:>11.6}  {latency:>11}  {fate}"
            )?;
        }
        Ok(())
    }

    /// The lines of the trace that belong to these datagrams.
    fn lines(&self, chosen: &[&Datagram]) -> Result<BTreeMap<u32, Vec<String>>, Failure> {
        let path = self.stored.trace()?;
        let read = |error| Failure::Io(path.display().to_string(), error);
        let numbers: BTreeSet<u32> = chosen.iter().map(|datagram| datagram.datagram).collect();
        let file = BufReader::with_capacity(1 << 16, File::open(&path).map_err(read)?);
        history::lines_of(file, &numbers).map_err(read)
    }

    /// Tells the history of one datagram.
    fn tell(
        &self,
        datagram: &Datagram,
        lines: &BTreeMap<u32, Vec<String>>,
        style: Style,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Datagram {
            datagram: number,
            kind,
            source,
            sequence,
            destination,
            payload_bytes,
            hops,
            sent_s,
            ..
        } = datagram;
        let what = if kind == "echo" {
            "echo request"
        } else {
            "datagram"
        };
        let plural = if *hops == 1 { "" } else { "s" };
        writeln!(
            out,
            "{what} {number}: {payload_bytes} bytes from {} to {}, {hops} hop{plural}, number {sequence} of its source, \
             sent at {sent_s:.6} s",
            self.name(*source),
            self.name(*destination)
        )?;
        if *number != 0 {
            let none = Vec::new();
            history::write(out, lines.get(number).unwrap_or(&none), *number, style)?;
        }
        writeln!(out, "= {}\n", fate(datagram))
    }

    fn name(&self, node: u16) -> String {
        match self.names.get(&node) {
            Some(name) if *name != node.to_string() => format!("node {node} ({name})"),
            _ => format!("node {node}"),
        }
    }
}

/// How it ended, in words.
fn fate(datagram: &Datagram) -> String {
    let Datagram { fate, last, .. } = datagram;
    match datagram.latency_ms {
        Some(latency) => format!("delivered after {latency:.3} ms"),
        None if datagram.datagram == 0 => format!("refused by the stack of its source: {fate}"),
        None if fate == "in-flight" => "still under way when the run ended".to_owned(),
        None if last.is_empty() || last == fate => format!("lost: {fate}"),
        None => format!("lost: {fate}; what carried it last ended by {last}"),
    }
}
