//! Campaigns: a scenario's grid of configurations, each run with every seed, over all cores.
//!
//! Each run is stored as soon as it has ended, in a folder of its own that appears whole or not at all. So an
//! interrupted campaign, or one that met a full disk, keeps what it has, and the next start runs only what is missing.
//! A run is known by its key, a digest of its configuration, its seed and the build of this program.

use std::any::Any;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use collate::{Estimates, PointResult};
pub use folder::{CAPTURE, CONFIG, OutputFolder, RUNS, SCENARIO, TRACE, stored_runs};
pub use plan::{Plan, RunSpec};

use crate::scenario::{BadInput, Scenario};

mod collate;
mod folder;
mod plan;
#[cfg(test)]
mod tests;

/// How a campaign is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The output folder.
    pub out: PathBuf,
    /// What another campaign left in the output folder is removed.
    pub force: bool,
    /// Runs at the same time, at least 1.
    pub threads: usize,
    /// What tells this build of the program from others.
    pub build: String,
    /// Runs leave a table of their single datagrams.
    pub datagrams: bool,
}

/// How a single run is executed: writes the files of the run into a folder that exists and is empty.
pub type Execute<'a> = dyn Fn(&RunSpec<'_>, &Path) -> Result<(), RunError> + Sync + 'a;

/// Is told of each run that has ended well.
pub trait Progress: Sync {
    /// `done` of `total` runs have ended, those of earlier starts included.
    fn runs(&self, done: usize, total: usize);
}

impl Progress for () {
    fn runs(&self, _done: usize, _total: usize) {}
}

/// Why a run gave no result.
#[derive(Debug)]
pub enum RunError {
    /// The simulation failed or found itself to be wrong.
    Failed(String),
    /// Its files could not be written.
    Output(io::Error),
}

/// Why a campaign gave no result, or not all of it.
#[derive(Debug)]
pub enum Error {
    /// What the user gave cannot be used; nothing was written.
    BadInput(BadInput),
    /// Something could not be written or read. Finished runs stay.
    Output {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
        /// Runs that are stored.
        done: usize,
        /// Runs of the campaign.
        total: usize,
    },
    /// Runs failed: each with its name and why. The others are stored.
    Failed(Vec<(String, String)>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadInput(bad) => bad.fmt(f),
            Self::Output {
                path,
                error,
                done,
                total,
            } => {
                let why = match error.kind() {
                    io::ErrorKind::StorageFull => "the disk is full".to_owned(),
                    _ => error.to_string(),
                };
                write!(f, "{}: {why}", path.display())?;
                write!(
                    f,
                    "\n{done} of {total} runs are stored; start again to run the others"
                )
            }
            Self::Failed(runs) => {
                write!(f, "{} of the runs failed:", runs.len())?;
                for (name, why) in runs {
                    write!(f, "\n  {name}: {why}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<BadInput> for Error {
    fn from(bad: BadInput) -> Self {
        Self::BadInput(bad)
    }
}

/// Runs what is missing of a campaign, and writes the tables over all runs. Gives the results point by point.
pub fn run(
    scenario: &Scenario,
    options: &Options,
    execute: &Execute<'_>,
    progress: &dyn Progress,
) -> Result<Vec<PointResult>, Error> {
    let plan = Plan::new(scenario, &options.build);
    let folder = OutputFolder::prepare(&options.out, scenario, &plan, options)?;
    let total = plan.runs.len();
    let missing: Vec<&RunSpec<'_>> = plan.runs.iter().filter(|run| !folder.has(run)).collect();
    let done = AtomicUsize::new(total - missing.len());
    let trouble = |path: &Path, error: io::Error| Error::Output {
        path: path.to_owned(),
        error,
        done: done.load(Ordering::Relaxed),
        total,
    };
    progress.runs(total - missing.len(), total);
    let failures = run_all(&missing, options.threads, &folder, execute, &|| {
        let now = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress.runs(now, total);
    });
    let failed = failures.map_err(|(path, error)| trouble(&path, error))?;
    if !failed.is_empty() {
        return Err(Error::Failed(failed));
    }
    collate::all(&plan, &folder, options.datagrams).map_err(|error| trouble(&options.out, error))
}

/// Runs that failed, with the reason; or the first trouble with the output.
type Failures = Result<Vec<(String, String)>, (PathBuf, io::Error)>;

/// Executes runs on so many threads, the longest first, and stores each as it ends.
fn run_all(
    runs: &[&RunSpec<'_>],
    threads: usize,
    folder: &OutputFolder,
    execute: &Execute<'_>,
    stored: &(dyn Fn() + Sync),
) -> Failures {
    let mut order = runs.to_vec();
    order.sort_by_key(|run| std::cmp::Reverse(run.weight()));
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let failed = Mutex::new(Vec::new());
    let trouble = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, order.len().max(1)) {
            scope.spawn(|| {
                while let Some(run) = order.get(next.fetch_add(1, Ordering::Relaxed))
                    && !stop.load(Ordering::Relaxed)
                {
                    match run_one(run, folder, execute) {
                        Ok(()) => stored(),
                        Err(RunError::Failed(why)) => lock(&failed).push((run.number, run.name.clone(), why)),
                        Err(RunError::Output(error)) => {
                            stop.store(true, Ordering::Relaxed);
                            lock(&trouble).get_or_insert((folder.path_of(run), error));
                        }
                    }
                }
            });
        }
    });
    if let Some(trouble) = lock(&trouble).take() {
        return Err(trouble);
    }
    let mut failed = std::mem::take(&mut *lock(&failed));
    failed.sort();
    Ok(failed.into_iter().map(|(_, name, why)| (name, why)).collect())
}

/// Executes one run into a folder beside its place, and moves it there when it is whole.
fn run_one(run: &RunSpec<'_>, folder: &OutputFolder, execute: &Execute<'_>) -> Result<(), RunError> {
    let part = folder.start(run).map_err(RunError::Output)?;
    let result = catch_unwind(AssertUnwindSafe(|| execute(run, &part)))
        .unwrap_or_else(|panic| Err(RunError::Failed(format!("panicked: {}", panic_text(&*panic)))));
    match result {
        Ok(()) => folder.finish(run, &part).map_err(RunError::Output),
        Err(error) => {
            folder.abandon(&part);
            Err(error)
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given")
}

/// The content of a lock; a thread that panicked while it held it left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
