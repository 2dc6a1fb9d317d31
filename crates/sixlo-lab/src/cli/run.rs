//! `sixlo run`, and `sixlo` alone.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::progress::Shown;
use super::{EXIT_INTERRUPTED, Failure, RunArgs, build_id, shipped};
use crate::campaign::{self, CAPTURE, Options, Plan, PointResult, RUNS, TRACE};
use crate::execute::execute;
use crate::report::{self, Provenance, table::Table};
use crate::scenario::Scenario;

/// Runs a scenario and prints what came out.
pub(super) fn run(args: &RunArgs, out: &mut impl Write) -> Result<(), Failure> {
    let seeds = args.seeds.as_ref().map(|seeds| seeds.0.clone());
    let scenario = shipped::open(&args.scenario, seeds)?;
    let options = Options {
        out: args
            .out
            .clone()
            .unwrap_or_else(|| Path::new("sixlo-results").join(&scenario.name)),
        force: args.force,
        threads: args.threads.map_or_else(cores, usize::from),
        build: build_id()?,
        datagrams: true,
    };
    let shown = Arc::new(Shown::new());
    stop_at_ctrl_c(&shown);
    let link_type = scenario.output.link_type.into();
    let result = campaign::run(
        &scenario,
        &options,
        &|run, folder| execute(run, link_type, true, folder),
        &*shown,
    );
    let seconds = shown.end();
    let points = result?;
    let provenance = Provenance {
        build: options.build.clone(),
        command: command(args),
    };
    let plan = Plan::new(&scenario, &options.build);
    let traced = plan.runs.iter().find(|run| run.trace);
    let trace = traced.map(|run| options.out.join(RUNS).join(&run.name).join(TRACE));
    report::write(&options.out, &scenario, &points, &provenance, trace.as_deref())
        .map_err(|error| Failure::Io(options.out.display().to_string(), error))?;
    // When it ends is the business of who waits, not of the results.
    let (_, runs) = shown.count();
    let _ = writeln!(io::stderr(), "{runs} runs in {seconds:.1} s");
    tell(&scenario, &options, &points, out).map_err(Failure::stdout)
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The command that repeats this campaign.
fn command(args: &RunArgs) -> String {
    let mut command = format!("sixlo run {}", args.scenario);
    if let Some(seeds) = &args.seeds {
        let list: Vec<String> = seeds.0.iter().map(u64::to_string).collect();
        command.push_str(&format!(" --seeds {},", list.join(",")));
    }
    command
}

/// Ends the program at Ctrl-C. A run is stored whole or not at all, so this may happen at any moment.
pub(super) fn stop_at_ctrl_c(shown: &Arc<Shown>) {
    let shown = Arc::clone(shown);
    let handler = move || {
        shown.end();
        let (done, total) = shown.count();
        let _ = writeln!(
            io::stderr(),
            "interrupted: {done} of {total} runs are stored; the same command runs the others"
        );
        std::process::exit(i32::from(EXIT_INTERRUPTED));
    };
    // Without a handler Ctrl-C ends the program too, only without a word.
    let _ = ctrlc::set_handler(handler);
}

/// Prints the table, and where everything was written.
fn tell(
    scenario: &Scenario,
    options: &Options,
    points: &[PointResult],
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{}\n", scenario.title)?;
    writeln!(out, "{}", Table::new(scenario, points).for_terminal())?;
    if let Some(advice) = report::advice::advice(scenario, points) {
        writeln!(out, "{advice}")?;
    }
    let folder = options.out.display();
    writeln!(out, "Written to {folder}:")?;
    let line = |out: &mut dyn Write, path: &str, what: &str| writeln!(out, "  {path:<44}  {what}");
    line(out, "report.html", "the report, for a browser")?;
    line(out, "plots/*.svg", "its figures")?;
    line(
        out,
        "summary.csv, runs.csv, datagrams.csv, ...",
        "tables, see docs/data-dictionary.md",
    )?;
    let plan = Plan::new(scenario, &options.build);
    let of = |wanted: fn(&campaign::RunSpec<'_>) -> bool, file: &str| -> Option<PathBuf> {
        let run = plan.runs.iter().find(|run| wanted(run))?;
        Some(Path::new(RUNS).join(&run.name).join(file))
    };
    if let Some(capture) = of(|run| run.capture, CAPTURE) {
        line(out, &capture.display().to_string(), "a capture, for Wireshark")?;
    }
    if let Some(trace) = of(|run| run.trace, TRACE) {
        line(out, &trace.display().to_string(), "a trace, for `sixlo trace`")?;
    }
    writeln!(out, "\nWhat became of single datagrams: sixlo trace {folder}")
}
