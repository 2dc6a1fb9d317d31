//! The report of a campaign: one self-contained HTML page, and its figures as files.

use std::fs;
use std::io;
use std::path::Path;

use crate::campaign::PointResult;
use crate::files::replace;
use crate::scenario::Scenario;

pub mod advice;
mod figures;
mod layout;
mod occupancy;
mod page;
pub mod table;
#[cfg(test)]
mod tests;

pub use figures::Figure;
pub(crate) use page::{STYLE, drawn};

/// Where the results come from.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The build of the program.
    pub build: String,
    /// The command that repeats the campaign.
    pub command: String,
}

/// Writes `report.html` and `plots/*.svg` into the folder of a campaign, with how full nodes were if a run left a trace.
pub fn write(
    folder: &Path,
    scenario: &Scenario,
    points: &[PointResult],
    provenance: &Provenance,
    trace: Option<&Path>,
) -> io::Result<()> {
    let mut figures = figures::all(scenario, points);
    if let Some(trace) = trace {
        let nodes = points.last().map_or(0, |point| point.nodes.len());
        figures.extend(occupancy::figures(trace, nodes)?);
    }
    write_plots(folder, &figures)?;
    let page = page::page(scenario, points, &figures, provenance).into_string();
    replace(&folder.join("report.html"), |path| fs::write(path, page))
}

/// Writes each figure as a file below `plots`.
pub(crate) fn write_plots(folder: &Path, figures: &[Figure]) -> io::Result<()> {
    let plots = folder.join("plots");
    fs::create_dir_all(&plots)?;
    for figure in figures {
        let text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", figure.svg.0);
        replace(&plots.join(format!("{}.svg", figure.name)), |path| {
            fs::write(path, text)
        })?;
    }
    Ok(())
}
