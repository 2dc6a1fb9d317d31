//! The text of a scenario, and messages that point into it.

use std::fmt;
use std::ops::Range;

/// A scenario's text and what it is called in messages.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as the user gave it, or the name of a shipped scenario.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// Something in what the user gave that cannot be used: where it stands, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput {
    file: String,
    place: Option<Place>,
    what: String,
    wanted: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// Counted from 1.
    line: usize,
    /// In characters, counted from 1.
    column: usize,
    /// The line, and how many characters of it are meant.
    text: String,
    width: usize,
}

impl Source {
    /// A complaint about the bytes in `span` of the text.
    pub fn complain(
        &self,
        span: Range<usize>,
        what: impl Into<String>,
        wanted: impl Into<String>,
    ) -> BadInput {
        let start = floor_boundary(&self.text, span.start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_end = self.text[start..]
            .find('\n')
            .map_or(self.text.len(), |at| start + at);
        let end = floor_boundary(&self.text, span.end).clamp(start, line_end);
        BadInput {
            file: self.name.clone(),
            place: Some(Place {
                line: before.matches('\n').count() + 1,
                column: self.text[line_start..start].chars().count() + 1,
                text: self.text[line_start..line_end].trim_end().to_owned(),
                width: self.text[start..end].chars().count().max(1),
            }),
            what: what.into(),
            wanted: wanted.into(),
        }
    }
}

impl BadInput {
    /// A complaint about a file as a whole, or about an argument.
    pub fn whole(file: impl Into<String>, what: impl Into<String>, wanted: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            place: None,
            what: what.into(),
            wanted: wanted.into(),
        }
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.what)?;
        if let Some(place) = &self.place {
            let gutter = place.line.to_string().len();
            let indent: String = place
                .text
                .chars()
                .take(place.column - 1)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            writeln!(
                f,
                "{:gutter$}--> {}:{}:{}",
                "", self.file, place.line, place.column
            )?;
            writeln!(f, "{:gutter$} |", "")?;
            writeln!(f, "{} | {}", place.line, place.text)?;
            writeln!(f, "{:gutter$} | {indent}{}", "", "^".repeat(place.width))?;
            write!(f, "{:gutter$} = {}", "", self.wanted)
        } else {
            write!(f, "  --> {}\n   = {}", self.file, self.wanted)
        }
    }
}

impl std::error::Error for BadInput {}

/// The largest character boundary that is at most `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
