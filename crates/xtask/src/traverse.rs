//! `cargo xtask traverse`: instructions that a datagram takes through the stack, on the chip and on the host.

use std::collections::BTreeMap;
use std::path::Path;

use crate::image::Image;
use crate::parts::Part;
use crate::tools::{self, Failure};
use crate::tracked::Figures;
use crate::{host, qemu};

/// What `traverse` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The chip alone, without callgrind.
    #[arg(long)]
    quick: bool,
    /// Compare with docs/measured/traverse.csv instead of writing it: fails if a figure is more than 2 % larger.
    #[arg(long)]
    check: bool,
    /// Where the instructions go, by module.
    #[arg(long)]
    modules: bool,
    /// Another profile of firmware/Cargo.toml, to compare: size-z or speed.
    #[arg(long, default_value = "release", conflicts_with = "check")]
    profile: String,
}

/// A way through the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    Send,
    Receive,
}

impl Way {
    const BOTH: [Self; 2] = [Self::Send, Self::Receive];

    /// The word of the image for it.
    const fn word(self) -> &'static str {
        match self {
            Self::Send => "tx",
            Self::Receive => "rx",
        }
    }

    /// The function that is measured.
    const fn function(self) -> &'static str {
        match self {
            Self::Send => "traverse::experiment::Node::send",
            Self::Receive => "traverse::experiment::Node::receive",
        }
    }
}

/// Instructions by way and payload in bytes.
pub(crate) type Counts = BTreeMap<(Way, usize), u32>;

/// Payloads at which the second method counts, too.
const CROSS_CHECKED: [usize; 3] = [8, 88, 1232];

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let image = tools::build(&options.profile)?.join("traverse");
    let chip = sweep(&image)?;
    cross_check(&image, &chip.counts, options.modules)?;
    println!(
        "Cortex-M3, opt-level of profile {}, {}",
        options.profile,
        tools::compiler()?
    );
    println!(
        "memory stack: {} bytes to send, {} to receive",
        chip.stack[0], chip.stack[1]
    );
    let hosts = if options.quick {
        None
    } else {
        Some(host::measure()?)
    };
    let mut figures = Figures {
        file: "traverse.csv",
        remarks: vec![
            format!("cargo xtask traverse: instructions a UDP datagram, {}", tools::compiler()?),
            "chip: Cortex-M3, opt-level s; host: x86-64, opt-level 3, callgrind; smoltcp over the same frames".to_owned(),
        ],
        columns: COLUMNS.map(str::to_owned).to_vec(),
        lines: Vec::new(),
    };
    for payload in (8..=1232).step_by(8) {
        let sources = [
            Some(&chip.counts),
            hosts.as_ref().map(|hosts| &hosts.sixlo),
            hosts.as_ref().map(|hosts| &hosts.smoltcp),
        ];
        let numbers = sources.iter().flat_map(|counts| {
            Way::BOTH.map(|way| {
                counts
                    .and_then(|counts| counts.get(&(way, payload)))
                    .map(|count| u64::from(*count))
            })
        });
        figures.lines.push((payload.to_string(), numbers.collect()));
    }
    print_some(&figures);
    match (options.check, options.quick, options.profile.as_str()) {
        (true, ..) => figures.check(),
        (false, false, "release") => figures.write(),
        _ => Ok(()),
    }
}

/// The columns of the table.
const COLUMNS: [&str; 7] = [
    "payload_bytes",
    "chip_send",
    "chip_receive",
    "host_send",
    "host_receive",
    "smoltcp_send",
    "smoltcp_receive",
];

/// Some lines of the table.
fn print_some(figures: &Figures) {
    println!("{}", COLUMNS.map(|column| format!("{column:>15}")).concat());
    for (payload, numbers) in &figures.lines {
        if ["8", "64", "88", "96", "512", "1232"].contains(&payload.as_str()) {
            let numbers = numbers
                .iter()
                .map(|number| number.map_or("-".to_owned(), |number| number.to_string()));
            println!(
                "{payload:>15}{}",
                numbers.map(|number| format!("{number:>15}")).collect::<String>()
            );
        }
    }
}

/// What the image said.
struct Chip {
    counts: Counts,
    /// Bytes of memory stack, to send and to receive.
    stack: [u32; 2],
}

/// Runs all payloads on the chip, twice.
fn sweep(image: &Path) -> Result<Chip, Failure> {
    let printed = qemu::run(image, &[])?;
    if qemu::run(image, &[])? != printed {
        return Err(Failure::Wrong("two runs of the same image differ".to_owned()));
    }
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

/// Counts some payloads in the log of every instruction, too: both methods must agree within 1 %.
fn cross_check(path: &Path, counts: &Counts, modules: bool) -> Result<(), Failure> {
    let image = Image::load(path)?;
    let pieces = image.pieces()?;
    let source = image.source()?;
    for way in Way::BOTH {
        let entry = pieces.iter().find(|piece| piece.symbol == way.function());
        let entry = entry
            .ok_or_else(|| Failure::Wrong(format!("the image has no {}", way.function())))?
            .address as u32;
        for payload in CROSS_CHECKED {
            let trace = qemu::trace(path, &[way.word(), &payload.to_string()])?;
            let calls = qemu::calls(&trace, entry);
            let last = calls
                .last()
                .ok_or_else(|| Failure::Wrong("the log of the run has no call".to_owned()))?;
            let (logged, counted) = (
                last.len() as u32,
                counts.get(&(way, payload)).copied().unwrap_or(0),
            );
            if logged.abs_diff(counted) * 100 > counted {
                return Err(Failure::Wrong(format!(
                    "{way:?} of {payload} bytes: {counted} by the clock, {logged} by the log"
                )));
            }
            if !modules {
                continue;
            }
            println!("{way:?} of {payload} bytes: {counted} by the clock, {logged} by the log; of these");
            let mut by_part: BTreeMap<Part, u64> = BTreeMap::new();
            for (pc, count) in qemu::histogram(last) {
                let symbol = pieces
                    .iter()
                    .find(|piece| (piece.address..piece.address + piece.len).contains(&pc.into()));
                let part = source.part(pc.into(), symbol.map_or("", |piece| &piece.symbol));
                *by_part.entry(part).or_default() += count;
            }
            for (part, count) in by_part {
                println!("  {count:7} {}", part.name());
            }
        }
    }
    Ok(())
}
