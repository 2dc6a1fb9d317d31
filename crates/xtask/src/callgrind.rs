//! Examples under callgrind.

use std::path::PathBuf;

use crate::progress;
use crate::tools::{self, Failure};

/// Builds an example of a package with the compiler that builds the firmware.
fn build(package: &str, example: &str) -> Result<PathBuf, Failure> {
    progress::show("building for the host");
    let mut cargo = tools::command("cargo", ["build", "--quiet", "--release"]);
    cargo.args(["--package", package, "--example", example]);
    cargo.env("RUSTUP_TOOLCHAIN", tools::pinned()?);
    tools::run(cargo.current_dir(tools::root()), tools::RUSTUP)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| tools::root().join("target"), Into::into);
    Ok(target.join("release/examples").join(example))
}

/// What a run under callgrind left.
pub(crate) struct Run {
    /// What the example printed.
    pub(crate) printed: String,
    /// Each time that counts were written down: the function that made callgrind do so when it returned, and the
    /// instructions since the last time.
    pub(crate) dumps: Vec<(String, u64)>,
}

/// Runs an example under callgrind. Counts are written down whenever one of the functions `dump_after` returns, and only
/// what happens in those of `counted` counts; all, if there are none.
pub(crate) fn run(
    (package, example): (&str, &str),
    arguments: &[String],
    dump_after: &[&str],
    counted: &[&str],
) -> Result<Run, Failure> {
    let program = build(package, example)?;
    let folder = tools::scratch(&format!("callgrind-{example}"))?;
    // What an earlier run left would be counted again.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::Wrong(format!("{}: {error}", folder.display())))?;
    progress::show("counting on the host");
    let mut valgrind = tools::command("valgrind", ["--quiet", "--tool=callgrind"]);
    valgrind.arg(format!("--callgrind-out-file={}", folder.join("out").display()));
    valgrind.args(
        dump_after
            .iter()
            .map(|function| format!("--dump-after={function}")),
    );
    valgrind.args(
        counted
            .iter()
            .map(|function| format!("--toggle-collect={function}")),
    );
    let output = tools::run(valgrind.arg(program).args(arguments), "valgrind")?;
    let files = (1..).map_while(|number| std::fs::read_to_string(folder.join(format!("out.{number}"))).ok());
    let dumps = files.map(|dump| {
        let field = |name: &str| dump.lines().find_map(|line| line.strip_prefix(name));
        let trigger = field("desc: Trigger: --dump-after=").unwrap_or_default().trim();
        let count = field("summary: ").and_then(|count| count.trim().parse().ok());
        (trigger.to_owned(), count.unwrap_or(0))
    });
    Ok(Run {
        printed: tools::text(&output.stdout),
        dumps: dumps.collect(),
    })
}
