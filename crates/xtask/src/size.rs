//! `cargo xtask size`: flash, RAM and memory stack by module, beside published numbers.

use std::collections::BTreeMap;

use crate::image::Image;
use crate::parts::{self, Part};
use crate::published;
use crate::tools::{self, Failure, Images, OptLevel};
use crate::tracked::Figures;
use crate::traverse::Way;
use crate::weigh::{self, Taken};
use crate::{chip, progress, qemu};

/// What `size` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Compare with docs/measured/size.csv instead of writing it: fails if a figure is more than 2 % larger, or if the
    /// file is out of date by more than 10 %.
    #[arg(long)]
    check: bool,
    /// The functions with the most code, wherever it was inlined, too: how many.
    #[arg(long)]
    functions: Option<usize>,
    /// Only the parts of the router and of 6LoWPAN with hop-wise reassembly at opt-level s, and nothing is written.
    #[arg(long, conflicts_with = "check")]
    quick: bool,
}

/// What belongs to no module may be so much of an image, in percent.
const REST_PERCENT_MAX: u64 = 3;

/// The same code optimised in one way.
struct Build {
    level: OptLevel,
    /// A router with a packet buffer of 1676 bytes and 12 packets, which puts datagrams together at every hop.
    router: Weighed,
    /// The same with all modules but TCP.
    whole: Weighed,
    /// 6LoWPAN with 64 datagrams to send, 1 reassembly and 16 contexts: hop-wise reassembly, with forwarding of fragments,
    /// with their recovery, too.
    lowpan: [Weighed; 3],
    /// The traversal of the shortest and of the longest datagram.
    chip: chip::Chip,
}

/// An image, weighed.
struct Weighed {
    name: &'static str,
    image: Image,
    taken: BTreeMap<Part, Taken>,
    /// Functions of the library that panic.
    panics: u64,
}

impl Weighed {
    fn load(folder: &std::path::Path, name: &'static str) -> Result<Self, Failure> {
        progress::show(&format!("weighing {name}"));
        let image = Image::load(&folder.join(name))?;
        let taken = weigh::weigh(&image)?;
        let symbols = image.symbols()?;
        let panics = symbols.iter().filter(|symbol| symbol.contains("core::panicking"));
        let panics = panics.count() as u64;
        Ok(Self {
            name,
            image,
            taken,
            panics,
        })
    }

    fn of(&self, part: Part) -> Taken {
        self.taken.get(&part).copied().unwrap_or_default()
    }

    fn sum(&self, which: impl Fn(Part) -> bool) -> Taken {
        let parts = self.taken.iter().filter(|(part, _)| which(**part));
        parts.fold(Taken::default(), |sum, (_, part)| Taken {
            rom: sum.rom + part.rom,
            ram: sum.ram + part.ram,
        })
    }

    fn rest(&self) -> u64 {
        self.sum(|part| Part::REST.contains(&part)).rom
    }

    /// The lines of the tables: parts, and their sums.
    fn lines(&self) -> Vec<(&'static str, Taken)> {
        let parts = Part::ALL.iter().map(|part| (part.name(), self.of(*part)));
        let mut lines: Vec<(&str, Taken)> = parts.collect();
        lines.push(("all of 6LoWPAN", self.sum(|part| Part::LOWPAN.contains(&part))));
        lines.push(("the router without interface and MAC", self.sum(Part::is_router)));
        lines.push(("the stack", self.sum(Part::is_stack)));
        lines.push(("the image", self.sum(|_| true)));
        let (rom, ram) = (self.panics, 0);
        lines.push(("symbols of core::panicking", Taken { rom, ram }));
        lines
    }
}

impl Build {
    fn make(level: OptLevel) -> Result<Self, Failure> {
        let built = |images| tools::build(images, level);
        let (hop_wise, forward) = (built(Images::HopWise)?, built(Images::Forward)?);
        let (recover, whole) = (built(Images::Recover)?, built(Images::Whole)?);
        Ok(Self {
            level,
            router: Weighed::load(&hop_wise, "size_router")?,
            whole: Weighed::load(&whole, "size_whole")?,
            lowpan: [
                Weighed::load(&hop_wise, "size_hwr")?,
                Weighed::load(&forward, "size_ff")?,
                Weighed::load(&recover, "size_sfr")?,
            ],
            chip: chip::measure(&whole.join("traverse"), &[8, 1232])?,
        })
    }

    fn images(&self) -> impl Iterator<Item = &Weighed> {
        [&self.router, &self.whole].into_iter().chain(&self.lowpan)
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    tools::need_target()?;
    if options.quick {
        return quick(options.functions);
    }
    tools::need(qemu::QEMU)?;
    let builds = [Build::make(OptLevel::S)?, Build::make(OptLevel::Z)?];
    let compiler = tools::compiler()?;
    progress::end();
    println!("thumbv7m-none-eabi, {compiler}, LTO, panics abort; bytes of flash (ROM) and of RAM");
    print_lowpan(&builds[0]);
    print_parts(&builds);
    print_whole(&builds[0]);
    print_builds(&builds);
    if let Some(most) = options.functions {
        println!(
            "\nthe functions with the most code, opt-level {}",
            builds[0].level
        );
        print_functions(&builds[0].router.image, most)?;
    }
    check_rest(&builds)?;
    let figures = figures(&builds, &compiler);
    if options.check {
        figures.check(true)
    } else {
        figures.write()
    }
}

/// The parts of the router and of 6LoWPAN at opt-level s.
fn quick(functions: Option<usize>) -> Result<(), Failure> {
    let folder = tools::build(Images::HopWise, OptLevel::S)?;
    let router = Weighed::load(&folder, "size_router")?;
    let lowpan = Weighed::load(&folder, "size_hwr")?;
    progress::end();
    println!("  {:44}{:>10}{:>9}{:>10}{:>9}", "", "router", "RAM", "HWR", "RAM");
    for ((name, router), (_, hwr)) in router.lines().iter().zip(lowpan.lines()) {
        println!(
            "  {name:44}{:>10}{:>9}{:>10}{:>9}",
            router.rom, router.ram, hwr.rom, hwr.ram
        );
    }
    functions.map_or(Ok(()), |most| print_functions(&router.image, most))
}

/// Table 3 of Lenders, Schmidt and Wählisch 2021, with columns of ours: of hop-wise reassembly, with fragment forwarding,
/// with forwarding and recovery. Each column is an image of its own.
fn print_lowpan(build: &Build) {
    println!(
        "\n6LoWPAN: 64 datagrams to send, 1 reassembly, 16 contexts, 16 virtual reassemblies, 64 transfers with recovery, opt-level {}",
        build.level
    );
    println!(
        "  {:27}{:>15}{:>15}{:>15}{:>15}{:>15}{:>15}",
        "ROM / RAM", "sixlo HWR", "sixlo FF", "sixlo SFR", "GNRC HWR", "GNRC FF", "GNRC SFR"
    );
    let row = |name: &str, own: [&[Part]; 3], published: [&str; 3]| {
        print!("  {name:27}");
        for (image, parts) in build.lowpan.iter().zip(own) {
            let cell = match parts {
                [] => "n/a".to_owned(),
                _ => cell(image.sum(|part| parts.contains(&part))),
            };
            print!("{cell:>15}");
        }
        println!("{:>15}{:>15}{:>15}", published[0], published[1], published[2]);
    };
    for ((name, published), own) in published::LOWPAN.into_iter().zip(Part::LOWPAN_ROWS) {
        row(name, own, published);
    }
    let columns = [0, 1, 2].map(|column| Part::LOWPAN_ROWS.map(|row| row[column]).concat());
    let [hwr, ff, sfr] = &columns;
    row("sum", [hwr, ff, sfr], published::LOWPAN_SUM);
    println!(
        "  beside it: packet buffer {}, with the 64 descriptors of datagrams to send",
        cell(build.lowpan[0].of(Part::Buffer))
    );
    println!("  {}", published::LOWPAN_ORIGIN);
    for (name, figures) in published::LOWPAN_OTHERS {
        println!("  {name:27}{figures:>15}");
    }
}

/// ROM and RAM in one cell of a table.
fn cell(taken: Taken) -> String {
    format!("{} / {}", taken.rom, taken.ram)
}

/// Every part of the router, in both builds, and of the one with all modules.
fn print_parts(builds: &[Build; 2]) {
    println!("\n6LoWPAN + IPv6 + ICMPv6 + UDP as a router, packet buffer of 1676 bytes, 12 packets");
    println!(
        "  {:44}{:>10}{:>9}{:>12}{:>16}",
        "",
        format!("{}: ROM", builds[0].level),
        "RAM",
        format!("{}: ROM", builds[1].level),
        "all modules"
    );
    let others = builds[1].router.lines().into_iter().zip(builds[0].whole.lines());
    for ((name, Taken { rom, ram }), ((_, z), (_, whole))) in builds[0].router.lines().iter().zip(others) {
        println!("  {name:44}{rom:>10}{ram:>9}{:>12}{:>16}", z.rom, whole.rom);
    }
}

/// Whole stacks, and what one part or another adds.
fn print_whole(build: &Build) {
    let router = &build.router;
    let stack = router.sum(Part::is_router);
    let ram = router.sum(Part::is_stack).ram;
    println!("\nwhole stacks: 6LoWPAN + IPv6 + ICMPv6 + UDP");
    println!(
        "  {:40}{:>8}{ram:>8}  without interface and MAC; RAM with them",
        "sixlo, router", stack.rom
    );
    println!("  {:40}{:>16}", "sixlo, router with RPL", "not yet measured");
    for whole in published::STACKS {
        println!(
            "  {:40}{:>8}{:>8}  {}",
            whole.name, whole.rom, whole.ram, whole.origin
        );
    }
    println!("what comes to it");
    for part in Part::LINK.into_iter().chain(Part::MORE) {
        let Taken { rom, ram } = build.whole.of(part);
        let note = if rom == 0 {
            "not linked where it is not called"
        } else {
            ""
        };
        println!("  {:40}{rom:>8}{ram:>8}  {note}", part.name());
    }
}

/// Speed and memory stack of the same builds.
fn print_builds(builds: &[Build; 2]) {
    println!(
        "\nsize and speed of the same build: instructions for 8 and for 1232 bytes, memory stack in bytes"
    );
    println!(
        "  {:10}{:>10}{:>18}{:>18}{:>24}",
        "opt-level", "stack ROM", "send", "receive", "send / receive stack"
    );
    for Build {
        level, router, chip, ..
    } in builds
    {
        let pair = |way| format!("{} / {}", chip.count(way, 8), chip.count(way, 1232));
        println!(
            "  {level:10}{:>10}{:>18}{:>18}{:>24}",
            router.sum(Part::is_stack).rom,
            pair(Way::Send),
            pair(Way::Receive),
            format!("{} / {}", chip.stack[0], chip.stack[1])
        );
    }
}

/// What nobody claims has to be little, or the table tells nothing.
fn check_rest(builds: &[Build; 2]) -> Result<(), Failure> {
    println!();
    for build in builds {
        for weighed in build.images() {
            let (rest, all) = (weighed.rest(), weighed.sum(|_| true).rom);
            let what = format!("{} at opt-level {}", weighed.name, build.level);
            if rest * 100 > all * REST_PERCENT_MAX {
                return Err(Failure::Wrong(format!(
                    "{what}: {rest} bytes of {all} belong to no module, more than {REST_PERCENT_MAX} %"
                )));
            }
            println!(
                "{what}: {:.1} % of the image belong to no module (at most {REST_PERCENT_MAX} %)",
                100.0 * rest as f64 / all as f64
            );
        }
    }
    Ok(())
}

/// The tracked table.
fn figures(builds: &[Build; 2], compiler: &str) -> Figures {
    let [s, z] = builds;
    let [hwr, ff, sfr] = &s.lowpan;
    let images = [&s.router, hwr, ff, sfr, &s.whole, &z.router];
    let columns = [
        "part",
        "router_rom",
        "router_ram",
        "hwr_rom",
        "hwr_ram",
        "ff_rom",
        "ff_ram",
        "sfr_rom",
        "sfr_ram",
        "whole_rom",
        "whole_ram",
        "router_rom_z",
        "router_ram_z",
    ];
    let mut figures = Figures {
        file: "size.csv",
        remarks: vec![
            format!("cargo xtask size: bytes on thumbv7m-none-eabi, {compiler}"),
            "opt-level s, and z where the column says so".to_owned(),
        ],
        columns: columns.map(str::to_owned).to_vec(),
        lines: Vec::new(),
    };
    let lines = images.map(Weighed::lines);
    for (at, (name, _)) in lines[0].iter().enumerate() {
        let numbers = lines
            .iter()
            .flat_map(|lines| [Some(lines[at].1.rom), Some(lines[at].1.ram)]);
        figures.lines.push((name.replace(',', ""), numbers.collect()));
    }
    for (at, name) in ["memory stack to send", "memory stack to receive"]
        .into_iter()
        .enumerate()
    {
        let depth = |build: &Build| Some(u64::from(build.chip.stack[at]));
        figures.lines.push((
            name.to_owned(),
            [[None; 9].as_slice(), &[depth(s), None, depth(z)]].concat(),
        ));
    }
    figures
}

/// The functions with the most code, wherever it was inlined.
pub(crate) fn print_functions(image: &Image, most: usize) -> Result<(), Failure> {
    let source = image.source()?;
    let mut bytes: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for piece in image.pieces()?.iter().filter(|piece| piece.section == ".text") {
        for address in (piece.address..piece.address + piece.len).step_by(2) {
            let frames = source.frames(address);
            let own = frames.iter().find(|frame| parts::of_file(&frame.file).is_some());
            let name = own.map_or(&piece.symbol, |frame| &frame.function);
            let part = source.part(address).map_or("", Part::name);
            *bytes.entry((name.clone(), part)).or_default() += 2;
        }
    }
    let mut functions: Vec<_> = bytes.into_iter().collect();
    functions.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    for ((name, part), bytes) in functions.iter().take(most) {
        println!("    {bytes:7} {name} ({part})");
    }
    Ok(())
}
