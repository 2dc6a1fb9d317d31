//! `sixlo compare`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::progress::Shown;
use super::run::{cores, stop_at_ctrl_c};
use super::{CompareArgs, Failure, build_id, shipped};
use crate::campaign::Options;
use crate::compare::{candidates, compare, table};
use crate::execute::execute;
use crate::files::replace;
use crate::pcapng::LinkType;
use crate::repro::fragment_forwarding::setups::STRATEGIES;
use crate::results::write_rows;

/// Compares settings over the network of a scenario and recommends one.
pub(super) fn run(args: &CompareArgs, out: &mut impl Write) -> Result<(), Failure> {
    let scenario = shipped::open(&args.scenario, Some(vec![1]))?;
    let folder = args.out.clone();
    let folder =
        folder.unwrap_or_else(|| Path::new("sixlo-results").join(format!("compare-{}", scenario.name)));
    let options = Options {
        out: folder,
        force: args.force,
        threads: args.threads.map_or_else(cores, usize::from),
        build: build_id()?,
        datagrams: false,
    };
    let shown = Arc::new(Shown::new());
    stop_at_ctrl_c(&shown);
    let all = candidates::all(STRATEGIES);
    let found = compare(
        &scenario,
        &all,
        &options,
        &|run, folder| execute(run, LinkType::Tap, false, folder),
        &*shown,
    );
    let seconds = shown.end();
    let comparison = found?;
    let file = options.out.join("compare.csv");
    replace(&file, |path| write_rows(path, &table::entries(&comparison)))
        .map_err(|error| Failure::Io(file.display().to_string(), error))?;
    let _ = writeln!(std::io::stderr(), "{} runs in {seconds:.1} s", shown.count().1);
    let told = writeln!(
        out,
        "{}\n\n{}\n{}\nWritten to {}",
        scenario.title,
        table::for_terminal(&comparison),
        table::advice(&comparison),
        file.display()
    );
    told.map_err(Failure::stdout)
}
