//! The history of one datagram, for people: what happened to it, module by module and node by node.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Write};

use super::line::Line;
use super::tell;

/// Spaces by which each further node is indented, up to a limit.
const INDENT: usize = 2;
const INDENT_MAX: usize = 12;

/// How the history looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// With colours, for a terminal.
    pub colour: bool,
}

/// Reads the lines of a trace that belong to these datagrams, or to those that answer them: replies and errors.
pub fn lines_of(trace: impl BufRead, datagrams: &BTreeSet<u32>) -> io::Result<BTreeMap<u32, Vec<String>>> {
    let mut found: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    // Whose history a datagram belongs to.
    let mut belongs: BTreeMap<u32, u32> = datagrams.iter().map(|number| (*number, *number)).collect();
    for line in trace.lines() {
        let line = line?;
        let Some(number) = Line::datagram_of(&line) else {
            continue;
        };
        if !belongs.contains_key(&number)
            && let Some(cause) = line
                .split([',', ' '])
                .find_map(|word| word.strip_prefix("cause="))
            && let Some(of) = cause
                .parse()
                .ok()
                .and_then(|cause: u32| belongs.get(&cause).copied())
        {
            belongs.insert(number, of);
        }
        if let Some(of) = belongs.get(&number) {
            found.entry(*of).or_default().push(line);
        }
    }
    Ok(found)
}

/// Writes the history that these lines tell. Times are milliseconds since the first of them.
pub fn write(out: &mut impl Write, lines: &[String], datagram: u32, style: Style) -> io::Result<()> {
    let mut lines: Vec<Line<'_>> = lines.iter().filter_map(|line| Line::parse(line).ok()).collect();
    // The simulator learns the datagram's number from the stack, so the call that sent it is told after its first steps.
    let source = lines.iter().position(|line| line.layer == "source");
    if let Some(sent) = source.filter(|sent| lines[*sent].time_ns == lines[0].time_ns) {
        lines[..=sent].rotate_right(1);
    }
    let Some(first) = lines.first() else {
        return writeln!(out, "  nothing is recorded of datagram {datagram}");
    };
    // The nodes in the order in which the datagram came to them.
    let mut places: BTreeMap<u16, usize> = BTreeMap::new();
    writeln!(out, "{:>10}  node", "ms")?;
    let mut rest = lines.as_slice();
    while let [line, after @ ..] = rest {
        let count = places.len();
        let place = *places.entry(line.node).or_insert(count);
        // A way through several modules at one moment is one line.
        let way = after.iter().take_while(|next| continues(line, next)).count();
        let text = tell::way(&rest[..=way]).unwrap_or_else(|| tell::event(line));
        let other = if line.datagram == datagram {
            String::new()
        } else {
            format!(" [datagram {}]", line.datagram)
        };
        let indent = (place * INDENT).min(INDENT_MAX);
        let since_ns = line.time_ns.saturating_sub(first.time_ns);
        write!(out, "{:>10}  ", tell::milliseconds(since_ns))?;
        let (start, end) = colours(style, place, tell::weight(line));
        writeln!(out, "{start}{:indent$}{:<5} {text}{other}{end}", "", line.node)?;
        rest = &rest[way + 1..];
    }
    Ok(())
}

/// Whether the second of two hops goes on where and when the first arrived.
fn continues(first: &Line<'_>, next: &Line<'_>) -> bool {
    first.event == "hop"
        && next.event == "hop"
        && first.node == next.node
        && first.time_ns == next.time_ns
        && first.datagram == next.datagram
}

/// How much an event matters to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Usual,
    Lost,
    Arrived,
}

impl Weight {
    /// 1 for what is good, -1 for what is bad.
    pub(crate) const fn sign(self) -> i8 {
        match self {
            Self::Usual => 0,
            Self::Lost => -1,
            Self::Arrived => 1,
        }
    }
}

/// The escape sequences before and after a line.
fn colours(style: Style, place: usize, weight: Weight) -> (String, &'static str) {
    if !style.colour {
        return (String::new(), "");
    }
    const NODES: [u8; 6] = [36, 33, 35, 34, 32, 37];
    let code = match weight {
        Weight::Usual => NODES[place % NODES.len()].to_string(),
        Weight::Lost => "1;31".to_owned(),
        Weight::Arrived => "1;32".to_owned(),
    };
    (format!("\x1b[{code}m"), "\x1b[0m")
}
