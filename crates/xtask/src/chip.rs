//! The traversal experiment on the emulated chip, counted in two ways.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cycles;
use crate::image::{Image, Piece};
use crate::parts::{self, Part};
use crate::progress;
use crate::qemu;
use crate::tools::Failure;
use crate::traverse::{Counts, Way};

/// What the image said.
pub(crate) struct Chip {
    pub(crate) counts: Counts,
    /// Bytes of memory stack, to send and to receive.
    pub(crate) stack: [u32; 2],
}

impl Chip {
    pub(crate) fn count(&self, way: Way, payload: usize) -> u32 {
        self.counts.get(&(way, payload)).copied().unwrap_or_default()
    }
}

/// Functions that are named with the parts.
const FUNCTIONS: usize = 20;

/// Runs the image with these payloads, twice: both runs must print the same.
pub(crate) fn measure(image: &Path, payloads: &[usize]) -> Result<Chip, Failure> {
    let numbers: Vec<String> = payloads.iter().map(usize::to_string).collect();
    let arguments: Vec<&str> = std::iter::once("both")
        .chain(numbers.iter().map(String::as_str))
        .collect();
    progress::show("counting on the chip");
    let printed = qemu::run(image, &arguments)?;
    progress::show("counting on the chip once more");
    if qemu::run(image, &arguments)? != printed {
        return Err(Failure::Wrong("two runs of the same image differ".to_owned()));
    }
    read(&printed)
}

/// What the image printed: the empty run is subtracted, and each payload must have taken the same twice.
fn read(printed: &str) -> Result<Chip, Failure> {
    let mut ticks: Vec<(Way, usize, u32)> = Vec::new();
    let (mut empty, mut stack) = (0, [0; 2]);
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| {
            words
                .get(at)
                .and_then(|word| word.parse::<u32>().ok())
                .unwrap_or(0)
        };
        match words.as_slice() {
            ["tx", ..] => ticks.push((Way::Send, number(1) as usize, number(2))),
            ["rx", ..] => ticks.push((Way::Receive, number(1) as usize, number(2))),
            ["empty", ..] => empty = number(2),
            ["stack", "tx", ..] => stack[0] = number(3),
            ["stack", "rx", ..] => stack[1] = number(3),
            _ => {
                return Err(Failure::Wrong(format!(
                    "the image said what nobody expects: {line}"
                )));
            }
        }
    }
    let mut counts = Counts::new();
    for (way, payload, ticks) in ticks {
        let count = qemu::instructions(ticks.saturating_sub(empty));
        if counts
            .insert((way, payload), count)
            .is_some_and(|before| before != count)
        {
            return Err(Failure::Wrong(format!(
                "{way:?} of {payload} bytes took another number of instructions the second time"
            )));
        }
    }
    Ok(Chip { counts, stack })
}

/// Counts some payloads in the log of every instruction, too: both methods must agree within 1 %. Gives the cycles of an
/// instruction, by the log of the longest datagram.
pub(crate) fn cross_check(
    path: &Path,
    chip: &Chip,
    payloads: &[usize],
    modules: bool,
) -> Result<f64, Failure> {
    let image = Image::load(path)?;
    let pieces = image.pieces()?;
    let mut cycles_an_instruction = 0.0;
    for way in Way::BOTH {
        let entry = pieces.iter().find(|piece| piece.symbol == way.function());
        let entry = entry
            .ok_or_else(|| Failure::Wrong(format!("the image has no {}", way.function())))?
            .address as u32;
        for &payload in payloads {
            progress::show(&format!("logging every instruction: {} {payload}", way.word()));
            let trace = qemu::trace(path, &[way.word(), &payload.to_string()])?;
            let calls = qemu::calls(&trace, entry);
            let last = calls
                .last()
                .ok_or_else(|| Failure::Wrong("the log of the run has no call".to_owned()))?;
            agree(way, payload, chip.count(way, payload), last.len() as u32)?;
            cycles_an_instruction = cycles::of(last, &pieces) as f64 / last.len() as f64;
            if modules {
                print_modules(&image, &pieces, last)?;
            }
        }
    }
    Ok(cycles_an_instruction)
}

/// Fails if the two methods differ by more than 1 %.
fn agree(way: Way, payload: usize, counted: u32, logged: u32) -> Result<(), Failure> {
    if logged.abs_diff(counted) * 100 > counted {
        return Err(Failure::Wrong(format!(
            "{way:?} of {payload} bytes: {counted} by the clock, {logged} by the log, which is more than 1 % apart"
        )));
    }
    progress::end();
    println!("{way:?} of {payload} bytes: {counted} instructions by the clock, {logged} by the log");
    Ok(())
}

/// Where the instructions of a trace go: the parts, and the functions with the most.
fn print_modules(image: &Image, pieces: &[Piece], trace: &[u32]) -> Result<(), Failure> {
    let source = image.source()?;
    let mut by_part: BTreeMap<Part, u64> = BTreeMap::new();
    let mut by_function: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (pc, count) in qemu::histogram(trace) {
        let symbol = pieces
            .iter()
            .find(|piece| (piece.address..piece.address + piece.len).contains(&pc.into()));
        let named = || parts::of_symbol(symbol.map_or("", |piece| &piece.symbol));
        let part = source.part(pc.into()).unwrap_or_else(named);
        *by_part.entry(part).or_default() += count;
        if let Some(piece) = symbol {
            let (all, calls) = by_function.entry(&piece.symbol).or_default();
            *all += count;
            if piece.address == u64::from(pc) {
                *calls += count;
            }
        }
    }
    for (part, count) in by_part {
        println!("  {count:7} {}", part.name());
    }
    let mut functions: Vec<_> = by_function.into_iter().collect();
    functions.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (name, (count, calls)) in functions.into_iter().take(FUNCTIONS) {
        println!("  {count:7} in {calls:3} calls of {name}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_run_is_subtracted_and_ticks_become_instructions() {
        // 16 ticks of 40 ns are 5 instructions of 128 ns.
        let chip =
            read("tx 8 1640\nrx 8 3240\nempty 0 40\nstack tx 0 500\nstack rx 0 600\n").expect("known lines");
        assert_eq!(
            (chip.count(Way::Send, 8), chip.count(Way::Receive, 8)),
            (500, 1000)
        );
        assert_eq!(chip.stack, [500, 600]);
    }

    #[test]
    fn a_payload_that_takes_something_else_the_second_time_fails() {
        assert!(read("tx 8 1640\ntx 8 1680\nempty 0 40\n").is_err());
        assert!(read("panic at somewhere:7\n").is_err());
    }

    #[test]
    fn methods_that_are_more_than_one_percent_apart_fail() {
        assert!(agree(Way::Send, 8, 1000, 1010).is_ok());
        assert!(agree(Way::Send, 8, 1000, 1011).is_err());
        assert!(agree(Way::Send, 8, 1000, 0).is_err());
    }
}
