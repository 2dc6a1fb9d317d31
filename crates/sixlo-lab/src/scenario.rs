//! Scenario files: what the simulator is told, what varies, which seeds, and what is written.
//!
//! A scenario is a TOML file that holds the simulator's [`Config`] and beside it the keys `title`, `description`,
//! `seeds`, `[sweep]` and `[output]`. Everything is checked before anything runs or is written.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sixlo_sim::config::{Config, Problem, Topology};
use sixlo_sim::world::Plan;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

pub(crate) use hints::distance;
pub use source::{BadInput, Source};

use crate::pcapng::LinkType;

mod hints;
pub mod seeds;
mod source;
mod sweep;
#[cfg(test)]
mod tests;

/// A campaign: a grid of configurations, each run with every seed.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name of the file without its ending, or that of a shipped scenario.
    pub name: String,
    /// One line for tables and reports. Default: the name.
    pub title: String,
    /// What it shows, in a few sentences.
    pub description: String,
    /// The seeds, each in use once.
    pub seeds: Vec<u64>,
    /// What is written beside the tables.
    pub output: Output,
    /// The keys that vary, in the order of the file.
    pub axes: Vec<String>,
    /// The grid: all combinations of the axes' values, the last axis varying fastest.
    pub points: Vec<Point>,
    /// The text of the file.
    pub text: String,
}

/// One combination of the parameters that vary.
#[derive(Clone, Debug)]
pub struct Point {
    /// The value of each axis, as tables show it.
    pub labels: Vec<String>,
    /// The whole configuration.
    pub config: Config,
    /// Its seeds.
    pub seeds: Vec<u64>,
}

/// What is written beside the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// Which runs leave a capture (pcapng). Default `"one"`.
    pub capture: Which,
    /// Which runs leave a trace. Others are traced on demand, by running them once more. Default `"one"`.
    pub trace: Which,
    /// How frames stand in the capture. Default `"tap"`.
    pub link_type: CaptureLinkType,
}

/// Some of the runs of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// None of them.
    None,
    /// The first seed at the last point of the grid.
    #[default]
    One,
    /// The first seed at every point.
    FirstSeed,
    /// All of them.
    All,
}

impl Which {
    /// Whether a run is among them.
    pub const fn includes(self, last_point: bool, first_seed: bool) -> bool {
        match self {
            Self::None => false,
            Self::One => last_point && first_seed,
            Self::FirstSeed => first_seed,
            Self::All => true,
        }
    }
}

/// How frames stand in a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureLinkType {
    /// With a TAP header that tells channel and check sequence (link type 283).
    #[default]
    Tap,
    /// Bare frames with their check sequence (link type 195).
    WithFcs,
}

impl From<CaptureLinkType> for LinkType {
    fn from(kind: CaptureLinkType) -> Self {
        match kind {
            CaptureLinkType::Tap => Self::Tap,
            CaptureLinkType::WithFcs => Self::WithFcs,
        }
    }
}

impl Scenario {
    /// Reads the scenario in a file. `seeds` take the place of those in it.
    pub fn read(path: &Path, seeds: Option<Vec<u64>>) -> Result<Self, BadInput> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            BadInput::whole(
                &file,
                format!("the scenario cannot be read: {error}"),
                "name a scenario file (TOML), or one that `sixlo list` shows",
            )
        })?;
        let name = path
            .file_stem()
            .map_or_else(|| "scenario".into(), |stem| stem.to_string_lossy().into_owned());
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&name, Source { name: file, text }, folder, seeds)
    }

    /// Reads a scenario from its text; relative paths in it start at `folder`. `seeds` take the place of those in it.
    pub fn parse(
        name: &str,
        source: Source,
        folder: &Path,
        seeds: Option<Vec<u64>>,
    ) -> Result<Self, BadInput> {
        let text = source.text.clone();
        let mut root = DeTable::parse(&text).map_err(|error| explained(&source, None, &error))?;
        let table = root.get_mut();
        let title: Option<String> = take(&source, table, "title")?;
        let description: Option<String> = take(&source, table, "description")?;
        let output: Option<Output> = take(&source, table, "output")?;
        let own_seeds = match table.remove("seeds") {
            Some(value) => seeds::from_toml(&source, &value)?,
            None => vec![1, 2, 3],
        };
        let seeds = seeds.unwrap_or(own_seeds);
        let axes = match table.remove("sweep") {
            Some(value) => sweep::axes(&source, &value)?,
            None => Vec::new(),
        };
        let count: usize = axes.iter().map(|axis| axis.values.len()).product();
        if count.saturating_mul(seeds.len()) > RUNS_MAX {
            return Err(BadInput::whole(
                &source.name,
                format!(
                    "{count} points with {} seeds are more than {RUNS_MAX} runs",
                    seeds.len()
                ),
                "use fewer values in `[sweep]`, or fewer seeds",
            ));
        }
        let mut points = Vec::with_capacity(count);
        for number in 0..count {
            let (table, labels) = table_of(&source, &root, &axes, number)?;
            let config = config_of(&source, &table, folder)?;
            points.push(Point {
                labels,
                config,
                seeds: seeds.clone(),
            });
        }
        if let Some((number, with_seed, problem)) = first_problem(&points, &seeds) {
            let (table, _) = table_of(&source, &root, &axes, number)?;
            let span = span_of(table.get_ref(), &problem.key);
            let what = format!("`{}`: {}{with_seed}", problem.key, problem.what);
            return Err(source.complain(span, what, format!("wanted: {}", problem.wanted)));
        }
        Ok(Self {
            name: name.to_owned(),
            title: title.unwrap_or_else(|| name.to_owned()),
            description: description.unwrap_or_default(),
            seeds,
            output: output.unwrap_or_default(),
            axes: axes.into_iter().map(|axis| axis.key).collect(),
            points,
            text: source.text,
        })
    }
}

/// More runs than this are a mistake in the scenario rather than a plan.
const RUNS_MAX: usize = 1_000_000;

/// The scenario at the point of the grid with this number, and the values of the axes there.
fn table_of<'p>(
    source: &Source,
    root: &'p Spanned<DeTable<'_>>,
    axes: &'p [sweep::Axis<'_>],
    number: usize,
) -> Result<(Spanned<DeTable<'p>>, Vec<String>), BadInput> {
    let mut table: DeTable<'p> = root.get_ref().clone();
    let mut labels = Vec::with_capacity(axes.len());
    let mut rest = number;
    for axis in axes.iter().rev() {
        let value = &axis.values[rest % axis.values.len()];
        rest /= axis.values.len();
        labels.push(value.label.clone());
        sweep::place(source, &mut table, axis, value)?;
    }
    labels.reverse();
    Ok((Spanned::new(root.span(), table), labels))
}

/// The configuration in a table, together with the files that it names.
fn config_of(source: &Source, table: &Spanned<DeTable<'_>>, folder: &Path) -> Result<Config, BadInput> {
    let deserializer = toml::de::Deserializer::from(table.clone());
    let mut config = Config::deserialize(deserializer)
        .map_err(|error| explained(source, Some(table.get_ref()), &error))?;
    if let Topology::Csv(csv) = &mut config.topology {
        let path = folder.join(&csv.file);
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let span = span_of(table.get_ref(), "topology.csv.file");
            source.complain(
                span,
                format!("{} cannot be read: {error}", path.display()),
                "a relative path starts at the folder of the scenario",
            )
        })?;
        csv.text = Some(text);
    }
    Ok(config)
}

/// The first run that cannot be built: the number of its point, a remark about its seed, and why. Building a run is the
/// check: addresses, routes to the sink, sizes, and whatever else it needs. Large networks take a while, so all cores
/// look.
fn first_problem(points: &[Point], seeds: &[u64]) -> Option<(usize, String, Problem)> {
    let found = Mutex::new(None);
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(points.len() * seeds.len()) {
            scope.spawn(|| {
                loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    let (number, place) = (run / seeds.len(), run % seeds.len());
                    let Some(point) = points.get(number) else { break };
                    let Err(problem) = Plan::new(&point.config, seeds[place]) else {
                        continue;
                    };
                    let mut first = found.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|(earlier, _)| *earlier > run) {
                        *first = Some((run, problem));
                    }
                    // Runs after this one cannot come before it.
                    break;
                }
            });
        }
    });
    let (run, problem) = found.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    let place = run % seeds.len();
    let with_seed = if place > 0 {
        format!(" (with seed {})", seeds[place])
    } else {
        String::new()
    };
    Some((run / seeds.len(), with_seed, problem))
}

/// Takes one of the laboratory's own keys out of the table.
fn take<'t, T: Deserialize<'t>>(
    source: &Source,
    table: &mut DeTable<'t>,
    key: &str,
) -> Result<Option<T>, BadInput> {
    let Some(value) = table.remove(key) else {
        return Ok(None);
    };
    let keep = value.clone();
    T::deserialize(ValueDeserializer::from(value))
        .map(Some)
        .map_err(|error| {
            let mut alone = DeTable::new();
            alone.insert(Spanned::new(keep.span(), key.to_owned().into()), keep);
            explained(source, Some(&alone), &error)
        })
}

/// The reader's error as advice about the key in question.
fn explained(source: &Source, table: Option<&DeTable<'_>>, error: &toml::de::Error) -> BadInput {
    let span = error.span().unwrap_or(0..0);
    let value = source
        .text
        .get(span.clone())
        .filter(|value| !value.is_empty() && value.len() <= 60);
    let key = table
        .and_then(|table| path_of(table, &span))
        .unwrap_or_else(|| value.unwrap_or("the scenario").trim().to_owned());
    let (what, wanted) = hints::explain(error.message(), &key, value);
    source.complain(span, what, wanted)
}

/// The path of the key whose value, or which itself, stands in exactly this place.
fn path_of(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    let mut waiting: Vec<(String, &DeTable<'_>)> = vec![(String::new(), table)];
    while let Some((path, table)) = waiting.pop() {
        for (key, value) in table.iter() {
            let dot = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{dot}{}", key.get_ref());
            if value.span() == *span || key.span() == *span {
                return Some(path);
            }
            match value.get_ref() {
                DeValue::Table(inner) => waiting.push((path, inner)),
                DeValue::Array(items) => {
                    for (number, item) in items.iter().enumerate() {
                        let path = format!("{path}.{number}");
                        if item.span() == *span {
                            return Some(path);
                        }
                        if let DeValue::Table(inner) = item.get_ref() {
                            waiting.push((path, inner));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// Where the value of a key stands; if it is not in the file, where the table stands that it would be in, or else the
/// topology, which every scenario has.
fn span_of(table: &DeTable<'_>, path: &str) -> Range<usize> {
    let mut parts = path.split('.');
    let first = parts.next().and_then(|part| table.get(part));
    let Some(mut value) = first.or_else(|| table.get("topology")) else {
        return 0..0;
    };
    for part in parts {
        let next = match value.get_ref() {
            DeValue::Table(inner) => inner.get(part),
            DeValue::Array(items) => part.parse().ok().and_then(|number: usize| items.get(number)),
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => break,
        }
    }
    value.span()
}
