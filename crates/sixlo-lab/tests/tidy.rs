//! The house rules that a program can check, over all files that git tracks.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Lines that a source file may have, tests apart.
const FILE_LINES_MAX: usize = 650;
/// Lines that a function may have, its signature and braces included.
const FUNCTION_LINES_MAX: usize = 75;

/// Functions that may be longer, by file and beginning, and why.
const LONG_FUNCTIONS: [(&str, &str, &str); 2] = [
    (
        "crates/sixlo-lab/src/trace.rs",
        "fn stack(",
        "one arm for each event of the stack",
    ),
    (
        "crates/sixlo-lab/src/trace/tell.rs",
        "fn event(",
        "one arm for each event of a trace",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The tracked files with one of these endings, and what they hold. Without git (an unpacked archive) there is nothing
/// to check.
fn tracked(endings: &[&str]) -> Vec<(String, String)> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root())
        .args(["ls-files", "-z"])
        .output();
    let listed = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => {
            assert!(env::var_os("CI").is_none(), "git must be there in CI");
            eprintln!("skipped: this is no git checkout");
            return Vec::new();
        }
    };
    let wanted = |name: &&str| endings.iter().any(|ending| name.ends_with(ending));
    let read = |name: &str| Some((name.to_owned(), fs::read_to_string(root().join(name)).ok()?));
    listed.split('\0').filter(wanted).filter_map(read).collect()
}

/// Fails with all offences at once.
fn none(offences: &[String], rule: &str) {
    assert!(offences.is_empty(), "{rule}:\n{}", offences.join("\n"));
}

fn is_test(name: &str) -> bool {
    name.contains("/tests/") || name.ends_with("/tests.rs")
}

/// A function of a source file: its first line, and its lines as they stand there.
struct Function<'s> {
    line: usize,
    text: Vec<&'s str>,
}

/// The functions of a formatted file, found by their indentation.
fn functions(source: &str) -> Vec<Function<'_>> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let starts = [
            "fn ",
            "pub fn ",
            "pub(super) fn ",
            "pub(crate) fn ",
            "const fn ",
            "pub const fn ",
        ];
        if !starts.iter().any(|start| code.starts_with(start)) {
            continue;
        }
        let closing = format!("{}}}", &line[..line.len() - code.len()]);
        let len = lines[index..]
            .iter()
            .position(|line| *line == closing)
            .map_or(1, |end| end + 1);
        found.push(Function {
            line: index + 1,
            text: lines[index..index + len].to_vec(),
        });
    }
    found
}

#[test]
fn files_and_functions_stay_short() {
    let mut offences = Vec::new();
    for (name, source) in tracked(&[".rs"]).iter().filter(|(name, _)| !is_test(name)) {
        let lines = source.lines().count();
        if lines > FILE_LINES_MAX {
            offences.push(format!("{name}: {lines} lines"));
        }
        for function in functions(source)
            .iter()
            .filter(|function| function.text.len() > FUNCTION_LINES_MAX)
        {
            let excused =
                |(file, start, _): &(&str, &str, &str)| name == file && function.text[0].contains(start);
            if LONG_FUNCTIONS.iter().any(excused) {
                continue;
            }
            offences.push(format!(
                "{name}:{}: a function of {} lines",
                function.line,
                function.text.len()
            ));
        }
    }
    none(&offences, "a file holds one idea, and a function fits a screen");
}

#[test]
fn the_stack_has_no_unsafe_code_and_depends_on_nothing() {
    let sources = tracked(&[".rs", "Cargo.toml"]);
    let stack = sources
        .iter()
        .filter(|(name, _)| name.starts_with("crates/sixlo/src/"));
    let unsafe_code = |line: &&str| {
        line.contains("unsafe") && !line.contains("unsafe_code") && !line.trim().starts_with("//")
    };
    let offences: Vec<String> = stack
        .flat_map(|(name, source)| {
            source
                .lines()
                .filter(unsafe_code)
                .map(move |line| format!("{name}: {line}"))
        })
        .collect();
    none(&offences, "unsafe code in the stack");
    for (name, source) in sources
        .iter()
        .filter(|(name, _)| name == "crates/sixlo/Cargo.toml")
    {
        assert!(
            !source.contains("\n[dependencies]"),
            "{name}: the stack depends on core alone"
        );
    }
}

#[test]
fn nothing_is_left_undone_or_silenced_without_a_reason() {
    let marks = [
        ["to", "do!("].concat(),
        ["unimple", "mented!("].concat(),
        ["FIX", "ME"].concat(),
        ["// XX", "X"].concat(),
    ];
    let mut offences = Vec::new();
    for (name, source) in tracked(&[".rs"]) {
        let lines: Vec<&str> = source.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let silenced = line.contains("#[allow(") || line.contains("#![allow(");
            // The reason may stand on a line of its own.
            let reason = lines[index..].iter().take(4).any(|line| line.contains("reason"));
            if marks.iter().any(|mark| line.contains(mark.as_str())) || (silenced && !reason) {
                offences.push(format!("{name}:{}: {}", index + 1, line.trim()));
            }
        }
    }
    none(&offences, "left standing in the code");
}

/// A function that owns a packet must say where it went: `?` would lose it.
#[test]
fn no_function_that_owns_a_packet_returns_early() {
    let mut offences = Vec::new();
    let stack = tracked(&[".rs"]);
    for (name, source) in stack
        .iter()
        .filter(|(name, _)| name.starts_with("crates/sixlo/src/") && !is_test(name))
    {
        for function in functions(source) {
            let signature: String = function
                .text
                .iter()
                .take_while(|line| !line.ends_with('{'))
                .copied()
                .collect();
            let first = function.text.first().copied().unwrap_or_default();
            let owns = [signature.as_str(), first]
                .iter()
                .any(|text| text.contains(": Pkt,") || text.contains(": Pkt)"));
            let hasty = function
                .text
                .iter()
                .any(|line| line.trim_end().ends_with("?;") || line.contains("?."));
            if owns && hasty {
                offences.push(format!("{name}:{}", function.line));
            }
        }
    }
    none(&offences, "`?` in a function that takes a packet by value");
}

#[test]
fn no_file_names_this_machine_or_a_registry() {
    let names = [
        ["/wo", "rk/"].concat(),
        ["/ro", "ot/"].concat(),
        ["../sha", "red"].concat(),
        ["crates", ".io"].concat(),
        ["pypi", ".org"].concat(),
        ["registry.npm", "js"].concat(),
    ];
    let mut offences = Vec::new();
    for (name, source) in tracked(&[
        ".rs", ".md", ".toml", ".sh", ".csv", "run", ".py", ".json", ".js", ".mjs",
    ]) {
        for (index, line) in source.lines().enumerate() {
            if names.iter().any(|wrong| line.contains(wrong.as_str())) {
                offences.push(format!("{name}:{}: {}", index + 1, line.trim()));
            }
        }
    }
    none(&offences, "paths of a machine, or hosts of package registries");
}
