//! The traversal experiment on the host, counted by callgrind.

use std::path::{Path, PathBuf};

use crate::progress;
use crate::tools::{self, Failure};
use crate::traverse::{Counts, Way};

/// Instructions of both stacks.
pub(crate) struct Hosts {
    pub(crate) sixlo: Counts,
    pub(crate) smoltcp: Counts,
}

/// The calls that count, in the order in which the example makes them, each with its stack and way.
const MEASURED: [(&str, bool, Way); 4] = [
    ("traverse::experiment::Node::send", true, Way::Send),
    ("traverse::experiment::Node::receive", true, Way::Receive),
    ("traverse::peer::Peer::send", false, Way::Send),
    ("traverse::peer::Peer::receive", false, Way::Receive),
];

/// The function that the example calls before each measurement.
const BEGIN: &str = "traverse::begin";

/// Builds the example of crates/sixlo with the compiler that builds the firmware.
fn build() -> Result<PathBuf, Failure> {
    progress::show("building for the host");
    let mut cargo = tools::command(
        "cargo",
        [
            "build",
            "--quiet",
            "--release",
            "--package",
            "sixlo",
            "--example",
            "traverse",
        ],
    );
    cargo.env("RUSTUP_TOOLCHAIN", tools::pinned()?);
    tools::run(cargo.current_dir(tools::root()), tools::RUSTUP)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| tools::root().join("target"), Into::into);
    Ok(target.join("release/examples/traverse"))
}

/// Runs the example under callgrind, with these payloads.
pub(crate) fn measure(payloads: &[usize]) -> Result<Hosts, Failure> {
    let example = build()?;
    let folder = tools::scratch("callgrind")?;
    // What an earlier run left would be counted again.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::Wrong(format!("{}: {error}", folder.display())))?;
    progress::show("counting on the host");
    let mut valgrind = tools::command("valgrind", ["--quiet", "--tool=callgrind"]);
    valgrind.arg(format!("--callgrind-out-file={}", folder.join("out").display()));
    for function in MEASURED.iter().map(|(function, ..)| *function).chain([BEGIN]) {
        valgrind.arg(format!("--dump-after={function}"));
    }
    valgrind.arg(example).args(payloads.iter().map(usize::to_string));
    tools::run(&mut valgrind, "valgrind")?;
    collect(&folder, payloads)
}

/// Reads the dumps in their order: one when a measurement begins, one when it ends.
fn collect(folder: &Path, payloads: &[usize]) -> Result<Hosts, Failure> {
    let mut hosts = Hosts {
        sixlo: Counts::new(),
        smoltcp: Counts::new(),
    };
    let mut begun = false;
    let mut seen = [0_usize; MEASURED.len()];
    for number in 1.. {
        let Ok(dump) = std::fs::read_to_string(folder.join(format!("out.{number}"))) else {
            break;
        };
        let field = |name: &str| dump.lines().find_map(|line| line.strip_prefix(name));
        let trigger = field("desc: Trigger: --dump-after=").unwrap_or_default().trim();
        let count = field("summary: ")
            .and_then(|count| count.trim().parse().ok())
            .unwrap_or(0);
        let measured = MEASURED.iter().position(|(function, ..)| *function == trigger);
        if let Some(place) = measured.filter(|_| begun) {
            let (_, ours, way) = MEASURED[place];
            // Three datagrams of each length; the last counts.
            let payload = payloads.get(seen[place] / 3);
            seen[place] += 1;
            let counts = if ours {
                &mut hosts.sixlo
            } else {
                &mut hosts.smoltcp
            };
            if let Some(payload) = payload {
                counts.insert((way, *payload), count);
            }
        }
        begun = trigger == BEGIN;
    }
    if seen == [3 * payloads.len(); MEASURED.len()] {
        Ok(hosts)
    } else {
        Err(Failure::Wrong(format!(
            "callgrind left {seen:?} counts, not {} of each",
            3 * payloads.len()
        )))
    }
}
