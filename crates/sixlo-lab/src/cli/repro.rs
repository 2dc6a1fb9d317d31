//! `sixlo repro`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::progress::Shown;
use super::run::{cores, stop_at_ctrl_c};
use super::{Failure, ReproArgs, build_id};
use crate::campaign::{self, Options, RunError};
use crate::execute::execute;
use crate::pcapng::LinkType;
use crate::report::Provenance;
use crate::repro::{Extent, Findings, STUDIES, Study, ledger, page};
use crate::scenario::{BadInput, distance};

/// Runs a study and prints its ledger.
pub(super) fn repro(args: &ReproArgs, out: &mut impl Write) -> Result<(), Failure> {
    let Some(name) = &args.study else {
        return list(out);
    };
    let study = find(name)?;
    let extent = Extent {
        quick: args.quick,
        seeds: args.seeds.map(u64::from),
    };
    let scenario = (study.scenario)(&extent);
    let folder = args.out.clone().unwrap_or_else(|| default_folder(study, &extent));
    let options = Options {
        out: folder,
        force: args.force,
        threads: args.threads.map_or_else(cores, usize::from),
        build: build_id()?,
        datagrams: false,
    };
    let shown = Arc::new(Shown::new());
    stop_at_ctrl_c(&shown);
    let result = campaign::run(
        &scenario,
        &options,
        &|run, folder| execute(run, LinkType::Tap, false, folder),
        &*shown,
    );
    let seconds = shown.end();
    let points = result?;
    let watched = (study.watch)(&extent, &options.out).map_err(|error| match error {
        RunError::Failed(why) => {
            campaign::Error::Failed(vec![("a transfer looked at closely".to_owned(), why)]).into()
        }
        RunError::Output(error) => Failure::Io(options.out.display().to_string(), error),
    })?;
    let findings = Findings::new(&points, &watched);
    let claims = (study.judge)(&findings);
    let provenance = Provenance {
        build: options.build.clone(),
        command: command(args, name),
    };
    page::write(
        &options.out,
        study,
        &claims,
        &(study.figures)(&findings),
        &provenance,
    )
    .map_err(|error| Failure::Io(options.out.display().to_string(), error))?;
    let _ = writeln!(std::io::stderr(), "{} runs in {seconds:.1} s", shown.count().1);
    let told = writeln!(
        out,
        "{}\n{}\n\n{}\nWritten to {}:\n  report.html  the report, for a browser\n  claims.csv   the ledger as a table",
        study.title,
        study.paper,
        ledger::for_terminal(&claims),
        options.out.display()
    );
    told.map_err(Failure::stdout)?;
    match &args.check {
        Some(tracked) => check(tracked, &claims),
        None => Ok(()),
    }
}

/// Fails if something held by a tracked ledger and holds no longer.
fn check(tracked: &Path, claims: &[ledger::Claim]) -> Result<(), Failure> {
    let file = tracked.display().to_string();
    let wanted = "name the claims.csv that an earlier reproduction wrote";
    let lost = ledger::regressions(tracked, claims).map_err(|why| BadInput::whole(file, why, wanted))?;
    if lost.is_empty() {
        Ok(())
    } else {
        Err(Failure::Claims(lost))
    }
}

fn default_folder(study: &Study, extent: &Extent) -> PathBuf {
    let quick = if extent.quick { "-quick" } else { "" };
    Path::new("sixlo-results").join(format!("repro-{}{quick}", study.name))
}

/// The command that repeats this.
fn command(args: &ReproArgs, name: &str) -> String {
    let mut command = format!("sixlo repro {name}");
    if args.quick {
        command.push_str(" --quick");
    }
    if let Some(seeds) = args.seeds {
        command.push_str(&format!(" --seeds {seeds}"));
    }
    command
}

fn find(name: &str) -> Result<&'static Study, BadInput> {
    STUDIES.iter().find(|study| study.name == name).ok_or_else(|| {
        let nearest = STUDIES.iter().min_by_key(|study| distance(name, study.name));
        let meant = nearest.map_or(String::new(), |study| format!("did you mean `{}`? ", study.name));
        BadInput::whole(
            name,
            format!("there is no study `{name}`"),
            format!("{meant}`sixlo repro` lists them"),
        )
    })
}

fn list(out: &mut impl Write) -> Result<(), Failure> {
    let mut print = || {
        for study in STUDIES {
            writeln!(out, "{}\n  {}", study.name, study.paper)?;
        }
        writeln!(
            out,
            "\nRun one with `sixlo repro NAME`, in minutes with `--quick`."
        )
    };
    print().map_err(Failure::stdout)
}
