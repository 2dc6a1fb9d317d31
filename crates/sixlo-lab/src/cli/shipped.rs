//! The scenarios that ship with the program: the files in `experiments/`.

use std::path::Path;

use super::list;
use crate::scenario::{BadInput, Scenario, Source};

/// A scenario that ships.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(Shipped {
            name: $name,
            text: include_str!(concat!("../../../../experiments/", $name, ".toml")),
        },)*]
    };
}

/// All of them.
pub const ALL: &[Shipped] = shipped![
    "quick-start",
    "interference",
    "chain",
    "grid",
    "f-a",
    "f-b",
    "hidden-terminals",
    "log-distance",
    "one-buffer",
    "faults",
    "attacks",
    "echo",
    "tcp",
    "live",
    "live-200",
];

impl Shipped {
    /// Reads it. `seeds` take the place of its own.
    pub fn scenario(&self, seeds: Option<Vec<u64>>) -> Result<Scenario, BadInput> {
        let source = Source {
            name: format!("{}.toml", self.name),
            text: self.text.to_owned(),
        };
        Scenario::parse(self.name, source, Path::new(""), seeds)
    }
}

/// The scenario with this name.
pub fn find(name: &str) -> Option<&'static Shipped> {
    ALL.iter().find(|shipped| shipped.name == name)
}

/// Reads what a user called a scenario: a file, or one that ships.
pub fn open(given: &str, seeds: Option<Vec<u64>>) -> Result<Scenario, BadInput> {
    let path = Path::new(given);
    let looks_like_a_file =
        path.extension().is_some() || given.contains(std::path::MAIN_SEPARATOR) || path.is_file();
    match find(given) {
        _ if looks_like_a_file => Scenario::read(path, seeds),
        Some(shipped) => shipped.scenario(seeds),
        None => Err(BadInput::whole(
            given,
            format!("there is no scenario `{given}`"),
            list::suggest(given),
        )),
    }
}
