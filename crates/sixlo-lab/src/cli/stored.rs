//! The results of a run, as commands find them on disk.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Failure;
use crate::campaign::{self, CONFIG, RunError, TRACE};
use crate::execute::{Recording, simulate};
use crate::files;
use crate::results::{self, Datagram};
use crate::scenario::{BadInput, Scenario};

/// A run that is stored.
pub(super) struct Stored {
    /// Its folder.
    pub(super) folder: PathBuf,
    /// Its datagrams.
    pub(super) datagrams: Vec<Datagram>,
}

impl Stored {
    /// Opens the folder of a run, or that of a campaign. Of a campaign the first run with a trace is taken, of those with this seed
    /// if one is given; if there is none with a trace, the first.
    pub(super) fn open(path: &Path, seed: Option<u64>) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        let folder = if path.join(campaign::RUNS).is_dir() {
            let mut runs = campaign::stored_runs(path).map_err(|error| Failure::Io(shown.clone(), error))?;
            if runs.is_empty() {
                return Err(BadInput::whole(
                    &shown,
                    "no run of this campaign is stored",
                    "finish it with `sixlo run`",
                )
                .into());
            }
            if let Some(seed) = seed {
                runs.retain(|run| scenario(run).is_ok_and(|scenario| scenario.seeds.contains(&seed)));
            }
            let traced = runs.iter().find(|run| run.join(TRACE).is_file());
            traced.or(runs.first()).cloned().ok_or_else(|| {
                let what = format!("no run with this seed is stored ({})", seed.unwrap_or_default());
                BadInput::whole(&shown, what, "`runs.csv` there lists the seeds of all runs")
            })?
        } else if path.join(CONFIG).is_file() {
            path.to_owned()
        } else {
            let wanted = "name the output folder of a campaign, or the folder of a run below its `runs`";
            return Err(BadInput::whole(&shown, "these are no results of a run", wanted).into());
        };
        let datagrams = results::read_rows(&folder.join(results::DATAGRAMS))
            .map_err(|error| Failure::Io(folder.display().to_string(), error))?;
        Ok(Self { folder, datagrams })
    }

    /// The trace, for which the run is run once more if it left none.
    pub(super) fn trace(&self) -> Result<PathBuf, Failure> {
        let path = self.folder.join(TRACE);
        if !path.is_file() {
            self.record_again()?;
        }
        Ok(path)
    }

    /// The configuration of the run, as a scenario of one point and one seed.
    pub(super) fn scenario(&self) -> Result<Scenario, Failure> {
        Ok(scenario(&self.folder)?)
    }

    /// Something that is wrong with what is stored.
    pub(super) fn failed(&self, why: impl Into<String>) -> Failure {
        let folder = self.folder.display().to_string();
        Failure::Io(folder, io::Error::other(why.into()))
    }

    /// Runs the run once more, to record its trace.
    fn record_again(&self) -> Result<(), Failure> {
        let scenario = self.scenario()?;
        let (Some(point), Some(seed)) = (scenario.points.first(), scenario.seeds.first()) else {
            return Err(self.failed("its configuration describes no run"));
        };
        let _ = writeln!(
            io::stderr(),
            "this run left no trace; running it once more to record it"
        );
        let part = self.folder.join(format!("{}trace", files::PART));
        let attempt = || -> Result<(), Failure> {
            let output = |error| Failure::Io(part.display().to_string(), error);
            fs::create_dir_all(&part).map_err(output)?;
            let wanted = Recording {
                trace: true,
                capture: None,
            };
            let tables = simulate(&point.config, *seed, wanted, &part).map_err(|error| match error {
                RunError::Failed(why) => self.failed(why),
                RunError::Output(error) => output(error),
            })?;
            if tables.datagrams != self.datagrams {
                return Err(self.failed(
                    "another build of this program made these results, and this build finds others; run the \
                     campaign again",
                ));
            }
            fs::rename(part.join(TRACE), self.folder.join(TRACE)).map_err(output)
        };
        let result = attempt();
        // What is left of an attempt is of no use, and the next one makes it anew.
        let _ = fs::remove_dir_all(&part);
        result
    }
}

fn scenario(folder: &Path) -> Result<Scenario, BadInput> {
    Scenario::read(&folder.join(CONFIG), None)
}
