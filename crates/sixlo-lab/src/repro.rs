//! Reproduction of published studies: their set-ups as one campaign, their claims judged by what the runs found, and a
//! report with their figures beside ours.
//!
//! A study is a folder of this module and a line in [`STUDIES`].

use std::path::Path;

use crate::campaign::{PointResult, RunError};
use crate::report::Figure;
use crate::scenario::Scenario;

pub mod fragment_forwarding;
pub mod ledger;
pub mod page;
pub mod tcplp;
pub mod transfers;
pub mod verdict;

use ledger::Claim;
use transfers::Watched;

/// A published study.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// What the paper leaves open and how it was decided here, a sentence each.
    pub choices: fn() -> Vec<String>,
    /// All runs.
    pub scenario: fn(&Extent) -> Scenario,
    /// What is looked at closely, with traces in the folder of the study.
    pub watch: fn(&Extent, &Path) -> Result<Watched, RunError>,
    /// What becomes of each claim.
    pub judge: fn(&Findings<'_>) -> Vec<Claim>,
    /// The figures.
    pub figures: fn(&Findings<'_>) -> Vec<Figure>,
}

/// All studies.
pub const STUDIES: &[Study] = &[fragment_forwarding::STUDY, tcplp::STUDY];

/// How much is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Fewer payloads and shorter runs, for minutes instead of an hour.
    pub quick: bool,
    /// Runs at each point at which a claim is decided, instead of 10.
    pub seeds: Option<u64>,
}

impl Extent {
    /// The seeds at points at which a claim is decided.
    pub fn deciding(&self) -> Vec<u64> {
        (1..=self.seeds.unwrap_or(verdict::RUNS_MIN as u64)).collect()
    }
}

/// What all runs of a study found.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'r> {
    points: &'r [PointResult],
    watched: &'r Watched,
}

impl<'r> Findings<'r> {
    /// The findings at these points, and what was looked at closely.
    pub const fn new(points: &'r [PointResult], watched: &'r Watched) -> Self {
        Self { points, watched }
    }

    /// What was looked at closely.
    pub const fn watched(&self) -> &'r Watched {
        self.watched
    }

    /// The point with these labels, if it was run.
    pub fn at(&self, labels: &[&str]) -> Option<&'r PointResult> {
        self.points.iter().find(|point| point.labels == labels)
    }

    /// All points whose first labels are these.
    pub fn beginning(&self, labels: &[&str]) -> impl Iterator<Item = &'r PointResult> + use<'r> {
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        self.points
            .iter()
            .filter(move |point| point.labels.starts_with(&labels))
    }
}

#[cfg(test)]
mod tests;
