//! Which test holds which MUST.
//!
//! The list is `docs/requirements.toml`. A requirement needs a test that exists, or a reason why there is none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;

use crate::tools::{Failure, root};

/// The list, from the root of the repository.
const LIST: &str = "docs/requirements.toml";

/// Where tests are looked for, from the root of the repository.
const SOURCES: &str = "crates";

/// Options of `cargo xtask rfc`.
#[derive(Args)]
pub(crate) struct Options {
    /// Only this RFC.
    #[arg(long, value_name = "NUMBER")]
    rfc: Option<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    requirement: Vec<Requirement>,
}

/// A sentence of an RFC that says MUST or SHALL.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Requirement {
    rfc: u16,
    section: String,
    text: String,
    #[serde(default)]
    tests: Vec<String>,
    why: Option<String>,
}

/// Prints each requirement with what holds it.
///
/// # Errors
///
/// If one has neither test nor reason, or names a test that does not exist.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let root = root();
    let path = root.join(LIST);
    let text =
        fs::read_to_string(&path).map_err(|error| Failure::Wrong(format!("{}: {error}", path.display())))?;
    let list: List = toml::from_str(&text).map_err(|error| Failure::Wrong(format!("{LIST}: {error}")))?;
    let mut known = BTreeSet::new();
    collect(&root.join(SOURCES), &mut known)?;
    let chosen = |requirement: &&Requirement| options.rfc.is_none_or(|rfc| rfc == requirement.rfc);
    let chosen: Vec<&Requirement> = list.requirement.iter().filter(chosen).collect();
    let mut holes = Vec::new();
    for requirement in &chosen {
        println!(
            "RFC {} section {}: {}",
            requirement.rfc, requirement.section, requirement.text
        );
        for test in &requirement.tests {
            println!("    {test}");
        }
        if let Some(why) = &requirement.why {
            println!("    no test: {why}");
        }
        holes.extend(hole(requirement, &known));
    }
    holes.extend(unnumbered(&list.requirement));
    let tested = chosen
        .iter()
        .filter(|requirement| !requirement.tests.is_empty())
        .count();
    println!("{} requirements, {tested} held by tests", chosen.len());
    if holes.is_empty() {
        Ok(())
    } else {
        Err(Failure::Wrong(holes.join("\n")))
    }
}

/// What is wrong with a requirement.
fn hole(requirement: &Requirement, known: &BTreeSet<String>) -> Option<String> {
    let place = format!("{LIST}: RFC {} section {}", requirement.rfc, requirement.section);
    if requirement.tests.is_empty() && requirement.why.is_none() {
        return Some(format!(
            "{place}: no test holds \"{}\", and no reason is given",
            requirement.text
        ));
    }
    let missing = requirement.tests.iter().find(|test| !known.contains(*test))?;
    Some(format!("{place}: there is no test {missing}"))
}

/// RFCs that number what they require, and how many numbers they give.
const NUMBERED: [(u16, u16); 1] = [(9293, 69)];

/// Numbers that stand at no requirement, or at several.
fn unnumbered(all: &[Requirement]) -> Vec<String> {
    let mut holes = Vec::new();
    for (rfc, most) in NUMBERED {
        for number in 1..=most {
            let name = format!("(MUST-{number})");
            let times = all
                .iter()
                .filter(|requirement| requirement.rfc == rfc && requirement.text.contains(&name))
                .count();
            if times != 1 {
                holes.push(format!(
                    "{LIST}: RFC {rfc} MUST-{number} stands there {times} times"
                ));
            }
        }
    }
    holes
}

/// The names of all test functions in the sources below a folder.
fn collect(folder: &Path, known: &mut BTreeSet<String>) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| Failure::Wrong(format!("{}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    for entry in entries {
        let path: PathBuf = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(&path, known)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).map_err(unreadable)?;
            known.extend(tests_in(&text));
        }
    }
    Ok(())
}

/// The names of the functions that are marked as tests, also those that `proptest!` makes.
fn tests_in(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut marked = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test]") {
            marked = true;
        } else if marked && let Some(rest) = line.strip_prefix("fn ") {
            names.extend(rest.split(['(', '<']).next().map(str::to_owned));
            marked = false;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requirement(tests: &[&str], why: Option<&str>) -> Requirement {
        Requirement {
            rfc: 8930,
            section: "5".to_owned(),
            text: "It MUST.".to_owned(),
            tests: tests.iter().map(|&test| test.to_owned()).collect(),
            why: why.map(str::to_owned),
        }
    }

    #[test]
    fn a_requirement_without_test_and_reason_is_a_hole() {
        let known = BTreeSet::from(["it_does".to_owned()]);
        assert!(hole(&requirement(&[], None), &known).is_some());
        assert!(hole(&requirement(&[], Some("because")), &known).is_none());
        assert!(hole(&requirement(&["it_does"], None), &known).is_none());
        assert!(hole(&requirement(&["it_did"], Some("because")), &known).is_some());
    }

    #[test]
    fn each_number_of_an_rfc_that_numbers_stands_at_one_requirement() {
        let all = |numbers: std::ops::RangeInclusive<u16>| -> Vec<Requirement> {
            let numbered = |number| Requirement {
                rfc: 9293,
                text: format!("It does (MUST-{number})."),
                ..requirement(&[], None)
            };
            numbers.map(numbered).collect()
        };
        assert!(unnumbered(&all(1..=69)).is_empty());
        assert_eq!(unnumbered(&all(1..=67)).len(), 2);
        let twice: Vec<Requirement> = all(1..=69).into_iter().chain(all(7..=7)).collect();
        assert_eq!(unnumbered(&twice).len(), 1);
    }

    #[test]
    fn only_functions_that_are_marked_are_tests() {
        let source =
            "fn a() {}\n#[test]\n#[ignore]\nfn b() {}\n    #[test]\n    fn c(x in 0..3) {\nfn d() {}";
        assert_eq!(tests_in(source), ["b", "c"]);
    }
}
