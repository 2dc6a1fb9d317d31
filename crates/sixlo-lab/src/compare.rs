//! Which settings suit a network: candidates run over it by successive halving, and one of them recommended.
//!
//! All candidates run with a few seeds. Those that can no longer be the best stay behind; the others run with more seeds,
//! round by round, until few are left, which all have enough seeds for an interval to mean something. Every run is stored
//! as that of any campaign, so that an interrupted comparison goes on where it stopped.

use sixlo_sim::config::Config;

use crate::campaign::{self, Execute, Options, PointResult, Progress};
use crate::scenario::{BadInput, Output, Point, Scenario, Which};
use crate::stats::Estimate;

pub mod candidates;
pub mod table;
#[cfg(test)]
mod tests;

use candidates::Candidate;

/// Seeds in the first round, and in each that follows.
pub const ROUNDS: [u64; 3] = [3, 6, 12];
/// Candidates that are left for the last round, at most, unless more cannot be told apart.
const LEFT: usize = 6;
/// Delivery ratios no further apart than this count as equal, and the lesser radio time decides.
const EQUAL_PDR: f64 = 0.005;

/// What a comparison found.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The candidates with what they reached, the best delivery first.
    pub ranked: Vec<Ranked>,
    /// The place of the recommended one.
    pub recommended: usize,
}

/// A candidate and what it reached.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// The candidate.
    pub name: String,
    /// Runs.
    pub runs: usize,
    /// Packet delivery ratio.
    pub pdr: Estimate,
    /// Median latency in ms; none if nothing arrived.
    pub latency_ms: Option<Estimate>,
    /// Time on the air for each byte of payload that was delivered, in us; none if none was.
    pub air_us_per_byte: Option<Estimate>,
    /// The most that any node used of its packet buffer, in bytes.
    pub buffer_bytes: Option<Estimate>,
    /// It came to the last round.
    pub finalist: bool,
}

/// Compares candidates over the network of a scenario, which must have a single point.
///
/// # Errors
///
/// As [`campaign::run`]; and if something varies in the scenario already.
pub fn compare(
    scenario: &Scenario,
    candidates: &[Candidate],
    options: &Options,
    execute: &Execute<'_>,
    progress: &dyn Progress,
) -> Result<Comparison, campaign::Error> {
    let [point] = scenario.points.as_slice() else {
        let what = "the scenario has a sweep, and a comparison is about one network";
        return Err(BadInput::whole(&scenario.name, what, "remove `[sweep]`").into());
    };
    let mut racing: Vec<usize> = (0..candidates.len()).collect();
    let mut seeds = vec![0; candidates.len()];
    let mut ranked = Vec::new();
    for (round, count) in ROUNDS.iter().enumerate() {
        for &place in &racing {
            seeds[place] = *count;
        }
        let all = plan(scenario, &point.config, candidates, &seeds);
        let points = campaign::run(&all, options, execute, progress)?;
        ranked = points.iter().zip(candidates).map(ranked_of).collect();
        if round + 1 < ROUNDS.len() {
            racing = survivors(&ranked, racing);
        }
    }
    for &place in &racing {
        ranked[place].finalist = true;
    }
    // A finalist before others: what fell behind early has but a few runs.
    ranked.sort_by(|a, b| {
        (b.finalist, b.pdr.mean)
            .partial_cmp(&(a.finalist, a.pdr.mean))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let recommended = recommend(&ranked);
    Ok(Comparison { ranked, recommended })
}

/// The campaign that runs each candidate with so many seeds.
fn plan(scenario: &Scenario, config: &Config, candidates: &[Candidate], seeds: &[u64]) -> Scenario {
    let points = candidates.iter().zip(seeds).map(|(candidate, seeds)| Point {
        labels: vec![candidate.name.clone()],
        config: candidate.applied(config),
        seeds: (1..=*seeds).collect(),
    });
    Scenario {
        points: points.collect(),
        axes: vec!["setting".to_owned()],
        seeds: (1..=ROUNDS[ROUNDS.len() - 1]).collect(),
        output: Output {
            capture: Which::None,
            trace: Which::None,
            ..Output::default()
        },
        ..scenario.clone()
    }
}

fn ranked_of((point, candidate): (&PointResult, &Candidate)) -> Ranked {
    let over = |value: fn(&crate::results::Run) -> Option<f64>| {
        let values: Vec<f64> = point.runs.iter().filter_map(value).collect();
        Estimate::of(&values)
    };
    let nothing = Estimate {
        runs: 0,
        mean: 0.0,
        half_width: None,
    };
    Ranked {
        name: candidate.name.clone(),
        runs: point.runs.len(),
        pdr: over(|run| run.pdr).unwrap_or(nothing),
        latency_ms: over(|run| run.latency_p50_ms),
        air_us_per_byte: over(|run| run.air_us_per_byte),
        buffer_bytes: over(|run| Some(f64::from(run.buffer_max_bytes))),
        finalist: false,
    }
}

/// The half with the best delivery, and every other that may still be the best: its interval reaches that of the first. Of
/// these no more than so many go on that the next round is worth its time.
fn survivors(ranked: &[Ranked], mut racing: Vec<usize>) -> Vec<usize> {
    racing.sort_by(|a, b| ranked[*b].pdr.mean.total_cmp(&ranked[*a].pdr.mean));
    let best = racing.first().map(|place| ranked[*place].pdr);
    let reaches = |place: usize| {
        let (Some(best), own) = (best, ranked[place].pdr) else {
            return false;
        };
        let low = best.low(0.0).unwrap_or(best.mean);
        own.high(1.0).unwrap_or(own.mean) >= low
    };
    let half = racing.len().div_ceil(2).max(LEFT.min(racing.len()));
    let kept = racing.iter().enumerate();
    let kept = kept.filter(|(rank, place)| *rank < LEFT || (*rank < half && reaches(**place)));
    kept.map(|(_, place)| *place).collect()
}

/// Of the finalists that deliver as much as the best, the one that takes the least radio time.
fn recommend(ranked: &[Ranked]) -> usize {
    let Some(best) = ranked.first() else { return 0 };
    let equal = ranked
        .iter()
        .enumerate()
        .filter(|(_, one)| one.finalist && best.pdr.mean - one.pdr.mean <= EQUAL_PDR);
    let air = |one: &Ranked| one.air_us_per_byte.map_or(f64::INFINITY, |air| air.mean);
    equal
        .min_by(|(_, a), (_, b)| air(a).total_cmp(&air(b)))
        .map_or(0, |(place, _)| place)
}

/// Whether two intervals overlap, or one of them is none.
pub fn overlap(a: &Estimate, b: &Estimate) -> bool {
    match (a.half_width, b.half_width) {
        (Some(first), Some(second)) => (a.mean - b.mean).abs() <= first + second,
        _ => true,
    }
}
