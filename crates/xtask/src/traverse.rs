//! `cargo xtask traverse`: instructions that a datagram takes through the stack, on the chip and on the host.

use std::collections::BTreeMap;

use crate::chip::{self, Chip};
use crate::fit::{self, Fit, Point};
use crate::host::{self, Hosts};
use crate::steps::{self, Steps};
use crate::tools::{self, Failure, Images, OptLevel};
use crate::tracked::Figures;
use crate::{forward, plot, progress, published, qemu};

/// What `traverse` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// A few payloads only, counted in the same ways. Writes no file.
    #[arg(long)]
    quick: bool,
    /// Compare with docs/measured/traverse.csv instead of writing it: fails if a figure is more than 2 % larger, or if the
    /// file is out of date by more than 10 %.
    #[arg(long)]
    check: bool,
    /// Where the instructions go, by module.
    #[arg(long)]
    modules: bool,
    /// How the images are optimised. Only s is tracked.
    #[arg(long, value_enum, default_value = "s", conflicts_with = "check")]
    opt_level: OptLevel,
}

/// A way through the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    Send,
    Receive,
}

impl Way {
    pub(crate) const BOTH: [Self; 2] = [Self::Send, Self::Receive];

    /// The word of the image for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Send => "tx",
            Self::Receive => "rx",
        }
    }

    /// The function that is measured.
    pub(crate) const fn function(self) -> &'static str {
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
/// Payloads that are printed, and the only ones that `--quick` measures.
const SHOWN: [usize; 6] = [8, 64, 88, 96, 512, 1232];

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let payloads: Vec<usize> = if options.quick {
        SHOWN.to_vec()
    } else {
        steps::payloads().collect()
    };
    tools::need_target()?;
    tools::need(qemu::QEMU)?;
    tools::need("valgrind")?;
    let folder = tools::build(Images::Whole, options.opt_level)?;
    let image = folder.join("traverse");
    let compiler = tools::compiler()?;
    progress::end();
    println!("Cortex-M3, opt-level {}, {compiler}", options.opt_level);
    let chip = chip::measure(&image, &payloads)?;
    let cycles = chip::cross_check(&image, &chip, &CROSS_CHECKED, options.modules)?;
    let hosts = host::measure(&payloads)?;
    let made_of = steps::of(&payloads)?;
    let forwarding = forward::measure(&folder.join("forward"))?;
    progress::end();
    println!(
        "two runs are the same to the instruction; memory stack: {} bytes to send, {} to receive",
        chip.stack[0], chip.stack[1]
    );
    print_table(&chip, &hosts, options.opt_level);
    forward::print(&forwarding, cycles);
    let points = fit::points(&chip.counts, &made_of);
    if options.opt_level != OptLevel::S {
        return Ok(());
    }
    let figures = figures(&chip, &hosts, &made_of, &compiler);
    if options.check {
        figures.check(!options.quick)?;
        let points = fit::tracked()?;
        return fit::check(&points, &fit::fit(&points)?, Some(cycles));
    }
    if options.quick {
        return Ok(());
    }
    let fit = fit::fit(&points)?;
    print_fit(&fit, &points, cycles);
    figures.write()?;
    fit::write(&fit, cycles)?;
    plot::write(&chip, &hosts)
}

/// Some of the payloads, and what others take.
fn print_table(chip: &Chip, hosts: &Hosts, level: OptLevel) {
    println!(
        "\ninstructions for a UDP datagram; chip: opt-level {level}, host: x86-64, opt-level 3, callgrind"
    );
    let heads = [
        "payload",
        "chip send",
        "receive",
        "host send",
        "receive",
        "smoltcp send",
        "receive",
    ];
    println!("{}", heads.map(|head| format!("{head:>14}")).concat());
    for payload in SHOWN {
        let mut line = format!("{payload:>14}");
        for counts in [&chip.counts, &hosts.sixlo, &hosts.smoltcp] {
            for way in Way::BOTH {
                line += &format!("{:>14}", counts.get(&(way, payload)).copied().unwrap_or_default());
            }
        }
        println!("{line}");
    }
    for (name, [send, send_most, receive, receive_most]) in published::SPEED {
        println!(
            "  {name}, host, as measured elsewhere: send {send} / {send_most}, receive {receive} / {receive_most}"
        );
    }
}

/// What a simulated Cortex-M3 takes from here.
fn print_fit(fit: &Fit, points: &[Point], cycles: f64) {
    println!("\ninstructions on the chip as a sum, by least squares; for the simulator's cortex-m3");
    println!("  {:8.1} for a frame in", fit.frame_in);
    println!("  {:8.1} for a frame out", fit.frame_out);
    println!("  {:8.1} for a message between modules", fit.message);
    println!("  {:8.2} for a byte of a frame", fit.byte);
    println!(
        "  mean error {:.1} %, at most {:.1} %",
        fit.error_mean(points),
        fit.error_max(points)
    );
    println!("  {cycles:.2} cycles an instruction, by Arm's timing, in memory without wait states");
}

/// The tracked table.
fn figures(chip: &Chip, hosts: &Hosts, steps: &BTreeMap<usize, Steps>, compiler: &str) -> Figures {
    let columns = [
        "payload_bytes",
        "chip_send",
        "chip_receive",
        "host_send",
        "host_receive",
        "smoltcp_send",
        "smoltcp_receive",
        "frames",
        "frame_bytes",
        "messages_send",
        "messages_receive",
    ];
    let lines = steps.iter().map(|(payload, steps)| {
        let mut numbers = Vec::new();
        for counts in [&chip.counts, &hosts.sixlo, &hosts.smoltcp] {
            numbers.extend(Way::BOTH.map(|way| counts.get(&(way, *payload)).copied()));
        }
        let [sender, receiver] = steps.messages;
        numbers.extend([steps.frames, steps.bytes, sender, receiver].map(Some));
        (
            payload.to_string(),
            numbers.into_iter().map(|number| number.map(u64::from)).collect(),
        )
    });
    Figures {
        file: "traverse.csv",
        remarks: vec![
            format!("cargo xtask traverse: instructions a UDP datagram, {compiler}"),
            "chip: Cortex-M3, opt-level s; host: x86-64, opt-level 3, callgrind; smoltcp over the same frames".to_owned(),
            "then what the datagram is made of: frames, their bytes, messages between modules of the stack".to_owned(),
        ],
        columns: columns.map(str::to_owned).to_vec(),
        lines: lines.collect(),
    }
}
