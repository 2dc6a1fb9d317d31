//! `cargo xtask tcp`: what TCP takes on the host and how fast it is over a link, beside smoltcp, and how much code it is on the
//! chip.

use crate::image::Image;
use crate::parts::Part;
use crate::tools::{self, Failure, Images, OptLevel};
use crate::tracked::Figures;
use crate::weigh::{self, Taken};
use crate::{callgrind, progress, published, size};

/// What `tcp` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Compare with docs/measured/tcp.csv instead of writing it: fails if a figure is more than 2 % larger, or if the file is
    /// out of date by more than 10 %.
    #[arg(long)]
    check: bool,
    /// The functions of the image with TCP that have the most code: how many.
    #[arg(long)]
    functions: Option<usize>,
}

/// The columns: each stack with what its SYN offers beside selective acknowledgement, by the words of the example.
const COLUMNS: [&str; 5] = [
    "sixlo plain",
    "smoltcp plain",
    "sixlo timestamps",
    "smoltcp timestamps",
    "sixlo default",
];

/// A column of ours and the one of smoltcp that it is held against.
const COMPARED: [(usize, usize); 2] = [(0, 1), (2, 3)];

/// What counts: everything that a driver or an application calls.
const COUNTED: [&str; 9] = [
    "tcp::ours::Ours::send",
    "tcp::ours::Ours::receive",
    "tcp::ours::Ours::frame",
    "tcp::ours::Ours::transmit",
    "tcp::ours::Ours::transmitted",
    "tcp::ours::Ours::run",
    "tcp::peer::Peer::send",
    "tcp::peer::Peer::receive",
    "tcp::peer::Peer::run",
];

/// The functions that the example calls where a measurement begins and where it ends.
const BEGIN: &str = "tcp::begin";
const END: &str = "tcp::end";

/// A line of the table.
type Line = (String, [Option<u64>; COLUMNS.len()]);

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    tools::need_target()?;
    tools::need("valgrind")?;
    let image = Image::load(&tools::build(Images::Tcp, OptLevel::S)?.join("size_tcp"))?;
    let compiler = tools::compiler()?;
    let run = callgrind::run(("sixlo-testkit", "tcp"), &[], &[BEGIN, END], &COUNTED)?;
    progress::end();
    let mut lines = lines(&run)?;
    print(&lines);
    lines.extend(code(&image)?);
    if let Some(most) = options.functions {
        size::print_functions(&image, most)?;
    }
    let figures = Figures {
        file: "tcp.csv",
        remarks: vec![
            format!("cargo xtask tcp: TCP on the host, x86-64, opt-level 3, callgrind, {compiler}"),
            "code: bytes on Cortex-M3, opt-level s".to_owned(),
            "instructions for each part of an exchange, instructions of both ends and microseconds of a link for 1000 bytes of a \
             transfer"
                .to_owned(),
        ],
        columns: [&["measurement"], &COLUMNS[..]].concat().into_iter().map(str::to_owned).collect(),
        lines: lines.into_iter().map(|(name, numbers)| (name, numbers.to_vec())).collect(),
    };
    if options.check {
        figures.check(true)
    } else {
        figures.write()
    }
}

/// Puts what the example printed and what callgrind counted together: the example prints a line before the end of each
/// measurement, with the name, the stack, and for a transfer its bytes and microseconds.
fn lines(run: &callgrind::Run) -> Result<Vec<Line>, Failure> {
    let counts: Vec<u64> = run
        .dumps
        .iter()
        .filter(|(by, _)| by == END)
        .map(|(_, count)| *count)
        .collect();
    let printed: Vec<&str> = run.printed.lines().collect();
    if counts.len() != printed.len() {
        return Err(Failure::Wrong(format!(
            "callgrind left {} counts for {} measurements",
            counts.len(),
            printed.len()
        )));
    }
    let mut lines: Vec<Line> = Vec::new();
    for (line, count) in printed.into_iter().zip(counts) {
        let fields: Vec<&str> = line.split('\t').collect();
        let wrong = || Failure::Wrong(format!("the example printed {line:?}"));
        let (name, stack, transfer) = match fields[..] {
            [name, stack] => (name, stack, None),
            [name, stack, bytes, micros] => {
                let bytes: u64 = bytes.parse().map_err(|_| wrong())?;
                let micros: u64 = micros.parse().map_err(|_| wrong())?;
                (name, stack, Some((bytes, micros)))
            }
            _ => return Err(wrong()),
        };
        let column = COLUMNS
            .iter()
            .position(|column| *column == stack)
            .ok_or_else(wrong)?;
        let mut put = |name: String, number: u64| {
            let place = lines.iter().position(|(known, _)| *known == name);
            let place = place.unwrap_or_else(|| {
                lines.push((name, [None; COLUMNS.len()]));
                lines.len() - 1
            });
            lines[place].1[column] = Some(number);
        };
        match transfer {
            None => put(name.to_owned(), count),
            Some((bytes, micros)) => {
                put(format!("{name}: instructions"), count * 1000 / bytes);
                put(format!("{name}: microseconds"), micros * 1000 / bytes);
            }
        }
    }
    Ok(lines)
}

/// Bytes of code on the chip, of the image in which everything of TCP is called.
fn code(image: &Image) -> Result<Vec<Line>, Failure> {
    println!("\ncode on Cortex-M3, opt-level s, bytes");
    let taken = weigh::weigh(image)?;
    let parts = [
        (Part::Tcp, "code: TCP"),
        (Part::Congestion, "code: its congestion control"),
    ];
    let lines = parts.map(|(part, name)| {
        let Taken { rom, .. } = taken.get(&part).copied().unwrap_or_default();
        println!("  {name:52}{rom:>8}");
        let mut numbers = [None; COLUMNS.len()];
        numbers[COLUMNS.len() - 1] = Some(rom);
        (name.to_owned(), numbers)
    });
    for (name, bytes) in published::TCP {
        println!("  {name:52}{bytes:>8}");
    }
    Ok(lines.to_vec())
}

fn print(lines: &[Line]) {
    println!("TCP on the host: instructions (callgrind, both ends of a transfer), and time over a link");
    print!("{:54}", "");
    for column in COLUMNS {
        print!("{column:>20}");
    }
    println!("{:>16}", "sixlo / smoltcp");
    for (name, numbers) in lines {
        print!("{name:54}");
        for number in numbers {
            print!(
                "{:>20}",
                number.map_or(String::new(), |number| number.to_string())
            );
        }
        for (ours, theirs) in COMPARED {
            if let (Some(ours), Some(theirs)) = (numbers[ours], numbers[theirs]) {
                print!("{:>8.2}", ours as f64 / theirs as f64);
            }
        }
        println!();
    }
}
