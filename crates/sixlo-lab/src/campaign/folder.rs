//! The output folder of a campaign.
//!
//! ```text
//! OUT/manifest.toml     which program made it, and which runs belong to it
//! OUT/scenario.toml     the scenario as it was given
//! OUT/runs/NAME/        a folder a run: its configuration, tables, and perhaps capture and trace
//! OUT/*.csv, report.html, plots/   over all runs
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::plan::{Plan, RunSpec, TOPOLOGY_FILE};
use super::{Error, Options};
use crate::files::{PART, replace};
use crate::results;
use crate::scenario::{BadInput, Scenario};

/// The files of a run beside its tables.
pub const CONFIG: &str = "config.toml";
/// See [`CONFIG`].
pub const TRACE: &str = "trace.csv";
/// See [`CONFIG`].
pub const CAPTURE: &str = "capture.pcapng";

const MANIFEST: &str = "manifest.toml";
/// The scenario of a campaign, as it was given.
pub const SCENARIO: &str = "scenario.toml";
/// The folder of all runs in the output folder of a campaign.
pub const RUNS: &str = "runs";
/// Everything else that a campaign writes, and that `--force` may remove.
const OVERALL: [&str; 10] = [
    SCENARIO,
    "runs.csv",
    "datagrams.csv",
    "nodes.csv",
    "losses.csv",
    "hops.csv",
    "transfers.csv",
    "windows.csv",
    "summary.csv",
    "report.html",
];
/// An output folder that is ready to take runs.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
}

/// What tells that a folder belongs to a campaign.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    /// The program and its version.
    program: String,
    /// Its build.
    build: String,
    /// The name of the scenario.
    scenario: String,
    /// The names of the runs.
    runs: Vec<String>,
}

impl OutputFolder {
    /// Makes the folder, or checks that what is in it belongs to this campaign.
    pub(super) fn prepare(
        path: &Path,
        scenario: &Scenario,
        plan: &Plan<'_>,
        options: &Options,
    ) -> Result<Self, Error> {
        let folder = Self {
            path: path.to_owned(),
        };
        let manifest = Manifest {
            program: format!("sixlo {}", env!("CARGO_PKG_VERSION")),
            build: options.build.clone(),
            scenario: scenario.name.clone(),
            runs: plan.runs.iter().map(|run| run.name.clone()).collect(),
        };
        folder.check(&manifest, options.force)?;
        folder
            .set_up(&manifest, scenario)
            .map_err(|error| Error::Output {
                path: path.to_owned(),
                error,
                done: 0,
                total: plan.runs.len(),
            })?;
        Ok(folder)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of a run.
    pub fn path_of(&self, run: &RunSpec<'_>) -> PathBuf {
        self.path.join(RUNS).join(&run.name)
    }

    /// Whether a run is stored with all that is wanted of it.
    pub fn has(&self, run: &RunSpec<'_>) -> bool {
        let folder = self.path_of(run);
        folder.join(CONFIG).is_file()
            && (!run.trace || folder.join(TRACE).is_file())
            && (!run.capture || folder.join(CAPTURE).is_file())
    }

    /// Whether the folder may be written to; removes what another campaign left there if that is wanted.
    fn check(&self, manifest: &Manifest, force: bool) -> Result<(), BadInput> {
        let name = self.path.display().to_string();
        let refuse = |what: String, wanted: &str| Err(BadInput::whole(name.clone(), what, wanted));
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return refuse(
                    format!("the output folder cannot be used: {error}"),
                    "name a folder, or a path where one can be made, with -o",
                );
            }
        };
        if entries.count() == 0 {
            return Ok(());
        }
        let Some(old) = self.manifest() else {
            return refuse(
                "the output folder exists and holds something else than a campaign".to_owned(),
                "name another folder with -o; this one is not touched, not even with --force",
            );
        };
        let extends = old.runs.iter().all(|run| manifest.runs.contains(run));
        if extends {
            return Ok(());
        }
        if !force {
            let what = if old.build == manifest.build {
                format!(
                    "the output folder holds runs of another campaign (`{}`)",
                    old.scenario
                )
            } else {
                format!(
                    "the output folder holds a campaign of another build of this program ({})",
                    old.program
                )
            };
            return refuse(
                what,
                "with `sixlo run`, -o DIR writes to another folder, and --force replaces what is in this one",
            );
        }
        self.clear().map_err(|error| {
            BadInput::whole(
                name.clone(),
                format!("the old campaign cannot be removed: {error}"),
                "name another folder with -o",
            )
        })
    }

    fn manifest(&self) -> Option<Manifest> {
        let text = fs::read_to_string(self.path.join(MANIFEST)).ok()?;
        toml::from_str(&text).ok()
    }

    /// Removes what a campaign wrote, and nothing else. The manifest goes last, so that an interrupted removal can be
    /// taken up again.
    fn clear(&self) -> io::Result<()> {
        for folder in [RUNS, "plots"] {
            missing_is_fine(fs::remove_dir_all(self.path.join(folder)))?;
        }
        for file in OVERALL.iter().chain(&[MANIFEST]) {
            missing_is_fine(fs::remove_file(self.path.join(file)))?;
        }
        Ok(())
    }

    /// Writes manifest and scenario, and removes what interrupted runs left.
    fn set_up(&self, manifest: &Manifest, scenario: &Scenario) -> io::Result<()> {
        let runs = self.path.join(RUNS);
        fs::create_dir_all(&runs)?;
        for entry in fs::read_dir(&runs)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(PART) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        let text = toml::to_string(manifest).map_err(io::Error::other)?;
        replace(&self.path.join(SCENARIO), |path| fs::write(path, &scenario.text))?;
        replace(&self.path.join(MANIFEST), |path| fs::write(path, &text))
    }

    /// Makes the folder in which a run writes its files.
    pub(super) fn start(&self, run: &RunSpec<'_>) -> io::Result<PathBuf> {
        let part = self.path.join(RUNS).join(format!("{PART}{}", run.name));
        missing_is_fine(fs::remove_dir_all(&part))?;
        fs::create_dir(&part)?;
        Ok(part)
    }

    /// Adds the configuration, and lets the run's folder appear in its place.
    pub(super) fn finish(&self, run: &RunSpec<'_>, part: &Path) -> io::Result<()> {
        let stored = || {
            if !run.topology_text().is_empty() {
                fs::write(part.join(TOPOLOGY_FILE), run.topology_text())?;
            }
            fs::write(part.join(CONFIG), &run.text)?;
            let place = self.path_of(run);
            // Stored before, but without all that is wanted now.
            missing_is_fine(fs::remove_dir_all(&place))?;
            fs::rename(part, place)
        };
        let result = stored();
        if result.is_err() {
            self.abandon(part);
        }
        result
    }

    /// Removes what an unsuccessful run has written.
    pub(super) fn abandon(&self, part: &Path) {
        // The run has failed already, and that is reported; the next start removes what stays here.
        let _ = fs::remove_dir_all(part);
    }

    /// The tables of a run.
    pub fn tables_of(&self, run: &RunSpec<'_>) -> io::Result<results::Tables> {
        results::Tables::read(&self.path_of(run))
    }
}

/// The folders of the runs that are stored of a campaign, in its order.
pub fn stored_runs(out: &Path) -> io::Result<Vec<PathBuf>> {
    let text = fs::read_to_string(out.join(MANIFEST))?;
    let manifest: Manifest =
        toml::from_str(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let folders = manifest.runs.iter().map(|name| out.join(RUNS).join(name));
    Ok(folders.filter(|folder| folder.join(CONFIG).is_file()).collect())
}

fn missing_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
