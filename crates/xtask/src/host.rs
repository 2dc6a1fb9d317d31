//! The traversal experiment on the host, counted by callgrind.

use std::path::Path;

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

/// Runs the example of crates/sixlo under callgrind.
pub(crate) fn measure() -> Result<Hosts, Failure> {
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
    tools::run(cargo.current_dir(tools::root()), "rustup (https://rustup.rs)")?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| tools::root().join("target"), Into::into);
    let folder = tools::scratch("callgrind")?;
    // What an earlier run left would be counted again.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::Wrong(format!("{}: {error}", folder.display())))?;
    let mut valgrind = tools::command("valgrind", ["--quiet", "--tool=callgrind"]);
    valgrind.arg(format!("--callgrind-out-file={}", folder.join("out").display()));
    for function in MEASURED.iter().map(|(function, ..)| *function).chain([BEGIN]) {
        valgrind.arg(format!("--dump-after={function}"));
    }
    tools::run(valgrind.arg(target.join("release/examples/traverse")), "valgrind")?;
    collect(&folder)
}

/// Reads the dumps in their order: one when a measurement begins, one when it ends.
fn collect(folder: &Path) -> Result<Hosts, Failure> {
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
            let payload = (seen[place] / 3 + 1) * 8;
            seen[place] += 1;
            let counts = if ours {
                &mut hosts.sixlo
            } else {
                &mut hosts.smoltcp
            };
            counts.insert((way, payload), count);
        }
        begun = trigger == BEGIN;
    }
    if hosts.sixlo.len() == 2 * 154 && hosts.smoltcp.len() == 2 * 154 {
        Ok(hosts)
    } else {
        Err(Failure::Wrong(format!(
            "callgrind left {} and {} counts of 308",
            hosts.sixlo.len(),
            hosts.smoltcp.len()
        )))
    }
}
