//! `cargo xtask size`: flash and RAM by module.

use std::collections::BTreeMap;

use crate::image::{Image, Source};
use crate::parts::{self, Part};
use crate::published::{self, Published};
use crate::tools::{self, Failure};
use crate::tracked::Figures;

/// What `size` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Compare with docs/measured/size.csv instead of writing it: fails if a figure is more than 2 % larger.
    #[arg(long)]
    check: bool,
    /// Another profile of firmware/Cargo.toml, to compare: size-z or speed. Writes no file.
    #[arg(long, default_value = "release", conflicts_with = "check")]
    profile: String,
    /// The functions with the most code, wherever it was inlined, too.
    #[arg(long)]
    functions: Option<usize>,
}

/// Bytes that a part takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) rom: u64,
    pub(crate) ram: u64,
}

/// What each part of an image takes.
pub(crate) fn weigh(image: &Image) -> Result<BTreeMap<Part, Taken>, Failure> {
    let source = image.source()?;
    let mut taken: BTreeMap<Part, Taken> = BTreeMap::new();
    for piece in image.pieces()? {
        match piece.section.as_str() {
            ".text" => {
                for address in (piece.address..piece.address + piece.len).step_by(2) {
                    let part = source.part(address, &piece.symbol);
                    taken.entry(part).or_default().rom += 2;
                }
            }
            ".bss" | ".data" | ".uninit" => {
                // What is initialised lies in the flash, too.
                let initialised = if piece.section == ".data" { piece.len } else { 0 };
                if piece.symbol.ends_with("::STACK") {
                    for (field, len) in stack_fields(&source)? {
                        taken.entry(parts::of_field(&field)).or_default().ram += len;
                    }
                    taken.entry(Part::Dispatcher).or_default().rom += initialised;
                } else {
                    let part = taken.entry(parts::of_static(&piece.symbol)).or_default();
                    part.ram += piece.len;
                    part.rom += initialised;
                }
            }
            _ => taken.entry(parts::of_symbol(&piece.symbol)).or_default().rom += piece.len,
        }
    }
    Ok(taken)
}

/// The modules in the stack's own struct, with the bytes that each takes.
fn stack_fields(source: &Source<'_>) -> Result<Vec<(String, u64)>, Failure> {
    let mut fields = source.fields("ground", "Core")?;
    fields.extend(source.fields("stack", "Modules")?);
    Ok(fields)
}

/// The images that are weighed, and what each is.
const IMAGES: [(&str, &str); 2] = [
    (
        "size_router",
        "a router with a packet buffer of 1676 bytes and 12 packets",
    ),
    ("size_lowpan", "the same with 64 datagrams to send"),
];

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let folder = tools::build(&options.profile)?;
    let compiler = tools::compiler()?;
    println!(
        "thumbv7m-none-eabi, profile {}, {compiler}; bytes of flash and of RAM",
        options.profile
    );
    let mut figures = Figures {
        file: "size.csv",
        remarks: vec![format!(
            "cargo xtask size: bytes on thumbv7m-none-eabi, {compiler}"
        )],
        columns: ["part", "router_rom", "router_ram", "lowpan_rom", "lowpan_ram"]
            .map(str::to_owned)
            .to_vec(),
        lines: Vec::new(),
    };
    let mut columns = Vec::new();
    for (name, what) in IMAGES {
        let image = Image::load(&folder.join(name))?;
        let lines = lines(&image)?;
        println!("\n{what} ({name})");
        for (part, Taken { rom, ram }) in &lines {
            println!("  {part:40} {rom:7} {ram:7}");
        }
        if let Some(most) = options.functions {
            print_functions(&image, most)?;
        }
        columns.push(lines);
    }
    println!();
    print_published("6LoWPAN of others", published::LOWPAN);
    print_published("whole stacks of others", published::STACKS);
    let numbers = |taken: &Taken| [Some(taken.rom), Some(taken.ram)];
    for (at, (name, first)) in columns[0].iter().enumerate() {
        let (_, second) = &columns[1][at];
        figures
            .lines
            .push((name.replace(',', ""), [numbers(first), numbers(second)].concat()));
    }
    match (options.check, options.profile.as_str()) {
        (true, _) => figures.check(),
        (false, "release") => figures.write(),
        (false, _) => Ok(()),
    }
}

/// The lines of the table: parts, and their sums.
fn lines(image: &Image) -> Result<Vec<(&'static str, Taken)>, Failure> {
    let taken = weigh(image)?;
    let sum = |which: &dyn Fn(Part) -> bool| {
        let parts = taken.iter().filter(|(part, _)| which(**part));
        parts.fold(Taken::default(), |sum, (_, part)| Taken {
            rom: sum.rom + part.rom,
            ram: sum.ram + part.ram,
        })
    };
    let mut lines: Vec<(&str, Taken)> = Part::ALL
        .iter()
        .map(|part| (part.name(), taken.get(part).copied().unwrap_or_default()))
        .collect();
    lines.push(("all of 6LoWPAN", sum(&|part| Part::LOWPAN.contains(&part))));
    lines.push((
        "the stack without interface and MAC",
        sum(&|part| part.is_stack() && !Part::LINK.contains(&part)),
    ));
    lines.push(("the stack", sum(&Part::is_stack)));
    lines.push(("the image", sum(&|_| true)));
    let panics = image
        .symbols()?
        .into_iter()
        .filter(|symbol| symbol.contains("core::panicking"))
        .count();
    let panics = Taken {
        rom: panics as u64,
        ram: 0,
    };
    lines.push(("symbols of core::panicking", panics));
    Ok(lines)
}

fn print_published(title: &str, published: &[Published]) {
    println!("{title}");
    for Published {
        name,
        rom,
        ram,
        origin,
    } in published
    {
        let ram = if *ram == 0 { String::new() } else { ram.to_string() };
        println!("  {name:40} {rom:7} {ram:>7}  {origin}");
    }
}

/// The functions with the most code, wherever it was inlined.
fn print_functions(image: &Image, most: usize) -> Result<(), Failure> {
    let source = image.source()?;
    let mut bytes: BTreeMap<String, u64> = BTreeMap::new();
    for piece in image.pieces()?.iter().filter(|piece| piece.section == ".text") {
        for address in (piece.address..piece.address + piece.len).step_by(2) {
            let frames = source.frames(address);
            let own = frames.iter().find(|frame| parts::of_file(&frame.file).is_some());
            let name = own.map_or(&piece.symbol, |frame| &frame.function);
            *bytes.entry(name.clone()).or_default() += 2;
        }
    }
    let mut functions: Vec<_> = bytes.into_iter().collect();
    functions.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    for (name, bytes) in functions.iter().take(most) {
        println!("    {bytes:7} {name}");
    }
    Ok(())
}
