//! A line of a trace, read.

use std::fmt;

/// One event, as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Nanoseconds since the start of the run.
    pub time_ns: u64,
    /// The number of the node.
    pub node: u16,
    /// The number of the datagram, 0 where none is known.
    pub datagram: u32,
    /// A module of the stack, `air`, `source` or `sink`.
    pub layer: &'a str,
    /// What happened.
    pub event: &'a str,
    /// The number of the other node, an address that belongs to none, `all`, or nothing.
    pub peer: &'a str,
    /// Words `key=value`.
    pub detail: &'a str,
}

/// A line that is none of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadLine;

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is no line of a trace")
    }
}

impl std::error::Error for BadLine {}

impl<'a> Line<'a> {
    /// Reads a line without its line break.
    pub fn parse(text: &'a str) -> Result<Self, BadLine> {
        let mut parts = text.splitn(7, ',');
        let mut next = || parts.next().ok_or(BadLine);
        Ok(Self {
            time_ns: next()?.parse().map_err(|_| BadLine)?,
            node: next()?.parse().map_err(|_| BadLine)?,
            datagram: next()?.parse().map_err(|_| BadLine)?,
            layer: next()?,
            event: next()?,
            peer: next()?,
            detail: next()?,
        })
    }

    /// The datagram of a line, without reading all of it.
    pub fn datagram_of(text: &str) -> Option<u32> {
        text.split(',').nth(2)?.parse().ok()
    }

    /// The value of a word in the detail, empty for a bare word, none if it is not there.
    pub fn word(&self, key: &str) -> Option<&'a str> {
        self.detail
            .split(' ')
            .find_map(|word| match word.split_once('=') {
                Some((name, value)) => (name == key).then_some(value),
                None => (word == key).then_some(""),
            })
    }
}
