//! `sixlo list`.

use std::io::Write;

use super::shipped::{self, ALL};
use super::{Failure, ListArgs};
use crate::scenario::BadInput;

/// Lists the scenarios that ship, or prints the text of one.
pub(super) fn list(args: &ListArgs, out: &mut impl Write) -> Result<(), Failure> {
    match &args.show {
        Some(name) => show(name, out),
        None => all(out),
    }
}

fn show(name: &str, out: &mut impl Write) -> Result<(), Failure> {
    let Some(shipped) = shipped::find(name) else {
        let what = format!("there is no scenario `{name}`");
        return Err(BadInput::whole(name, what, suggest(name)).into());
    };
    out.write_all(shipped.text.as_bytes()).map_err(Failure::stdout)
}

fn all(out: &mut impl Write) -> Result<(), Failure> {
    let width = ALL.iter().map(|shipped| shipped.name.len()).max().unwrap_or(0);
    let mut print = || {
        for shipped in ALL {
            let title = shipped
                .scenario(None)
                .map(|scenario| scenario.title)
                .unwrap_or_default();
            writeln!(out, "{:width$}  {title}", shipped.name)?;
        }
        writeln!(
            out,
            "\nRun one with `sixlo run NAME`; `sixlo list --show NAME` prints its file, to start your own from."
        )
    };
    print().map_err(Failure::stdout)
}

/// What may have been meant by a name that no scenario has.
pub(super) fn suggest(name: &str) -> String {
    let nearest = ALL
        .iter()
        .map(|shipped| (crate::scenario::distance(name, shipped.name), shipped.name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4);
    match nearest {
        Some((_, nearest)) => {
            format!("did you mean `{nearest}`? `sixlo list` shows all; a file ends in .toml")
        }
        None => "`sixlo list` shows those that ship; a file ends in .toml".to_owned(),
    }
}
