//! The ledger of a study: for each claim published, measured, verdict.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::verdict::{self, Verdict};
use crate::results::{self, Row};

/// A claim of a paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its identifier.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What it consists of.
    pub parts: Vec<Part>,
}

/// A part of a claim that is decided by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name within the claim, the same in every run of the ledger.
    pub name: String,
    /// What the paper says.
    pub published: String,
    /// What was found here.
    pub measured: String,
    /// What follows.
    pub verdict: Verdict,
}

impl Part {
    /// A part that could not be measured yet.
    pub fn not_measured(name: &str, published: &str, why: &str) -> Self {
        Self {
            name: name.to_owned(),
            published: published.to_owned(),
            measured: why.to_owned(),
            verdict: Verdict::NotMeasured,
        }
    }
}

impl Claim {
    /// The worst of its parts.
    pub fn verdict(&self) -> Verdict {
        verdict::all(self.parts.iter().map(|part| part.verdict))
    }
}

/// A row of the ledger as a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The claim.
    pub claim: String,
    /// The part of it.
    pub part: String,
    /// What the paper says.
    pub published: String,
    /// What was found here.
    pub measured: String,
    /// What follows.
    pub verdict: String,
}

impl Row for Entry {
    const COLUMNS: &'static [&'static str] = &["claim", "part", "published", "measured", "verdict"];
}

/// The ledger as a table.
pub fn entries(claims: &[Claim]) -> Vec<Entry> {
    let of = |claim: &Claim| {
        let id = claim.id.to_owned();
        let entry = move |part: &Part| Entry {
            claim: id.clone(),
            part: part.name.clone(),
            published: part.published.clone(),
            measured: part.measured.clone(),
            verdict: part.verdict.name().to_owned(),
        };
        claim.parts.iter().map(entry).collect::<Vec<_>>()
    };
    claims.iter().flat_map(of).collect()
}

/// The ledger for a terminal: a line a claim, and below it one a part.
pub fn for_terminal(claims: &[Claim]) -> String {
    let mut text = String::new();
    for claim in claims {
        text.push_str(&format!(
            "{:<4} {:<17} {}\n",
            claim.id,
            claim.verdict().name(),
            claim.title
        ));
        for part in &claim.parts {
            text.push_str(&format!(
                "     {:<17} {}: published {}; measured {}\n",
                part.verdict.name(),
                part.name,
                part.published,
                part.measured
            ));
        }
    }
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    for claim in claims {
        *counts.entry(claim.verdict()).or_default() += 1;
    }
    let counts: Vec<String> = counts
        .iter()
        .map(|(verdict, count)| format!("{count} {}", verdict.name()))
        .collect();
    text.push_str(&format!("\n{} claims: {}\n", claims.len(), counts.join(", ")));
    text
}

/// What held by a tracked ledger and holds no longer: a sentence each.
///
/// # Errors
///
/// If the tracked ledger cannot be read, in words.
pub fn regressions(tracked: &Path, claims: &[Claim]) -> Result<Vec<String>, String> {
    let rows: Vec<Entry> = results::read_rows(tracked).map_err(|error| error.to_string())?;
    let now = entries(claims);
    let held = rows
        .into_iter()
        .filter(|row| Verdict::of_name(&row.verdict) == Some(Verdict::Reproduced));
    let lost = held.filter_map(|row| {
        let found = now
            .iter()
            .find(|entry| (&entry.claim, &entry.part) == (&row.claim, &row.part));
        match found {
            Some(entry) if entry.verdict == row.verdict => None,
            Some(entry) => Some(format!(
                "{} ({}) was reproduced with {} and is {} now: {}",
                row.claim, row.part, row.measured, entry.verdict, entry.measured
            )),
            None => Some(format!(
                "{} ({}) is not in the ledger any more",
                row.claim, row.part
            )),
        }
    });
    Ok(lost.collect())
}
