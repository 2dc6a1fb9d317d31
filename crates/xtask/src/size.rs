//! `cargo xtask size`: flash and RAM by module.

use std::collections::BTreeMap;

use crate::image::Image;
use crate::parts::{self, Part};
use crate::tools::{self, Failure};

/// What `size` can be told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Another profile of firmware/Cargo.toml, to compare: size-z or speed.
    #[arg(long, default_value = "release")]
    profile: String,
    /// The largest symbols, too.
    #[arg(long)]
    symbols: Option<usize>,
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
fn stack_fields(source: &crate::image::Source<'_>) -> Result<Vec<(String, u64)>, Failure> {
    let mut fields = source.fields("ground", "Core")?;
    fields.extend(source.fields("stack", "Modules")?);
    Ok(fields)
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let folder = tools::build(&options.profile)?;
    for name in ["size_router", "size_lowpan"] {
        let image = Image::load(&folder.join(name))?;
        let taken = weigh(&image)?;
        println!("{name}, {}, {}", options.profile, tools::compiler()?);
        let mut sum = Taken::default();
        for part in Part::ALL {
            let Taken { rom, ram } = taken.get(&part).copied().unwrap_or_default();
            println!("  {:36} {rom:7} {ram:7}", part.name());
            sum.rom += rom;
            sum.ram += ram;
        }
        println!("  {:36} {:7} {:7}", "all", sum.rom, sum.ram);
        let lowpan = Part::LOWPAN.iter().filter_map(|part| taken.get(part));
        let (rom, ram) = lowpan.fold((0, 0), |sum, part| (sum.0 + part.rom, sum.1 + part.ram));
        println!("  {:36} {rom:7} {ram:7}", "6LoWPAN");
        let stack = taken.iter().filter(|(part, _)| part.is_stack());
        let (rom, ram) = stack.fold((0, 0), |sum, (_, part)| (sum.0 + part.rom, sum.1 + part.ram));
        println!("  {:36} {rom:7} {ram:7}", "stack");
        let panics = image.symbols()?.into_iter().filter(|symbol| symbol.contains("core::panicking")).count();
        println!("  symbols of core::panicking: {panics}");
        if let Some(most) = options.functions {
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
        }
        if let Some(most) = options.symbols {
            let mut pieces = image.pieces()?;
            pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len));
            for piece in pieces.iter().take(most) {
                println!("    {:7} {} {}", piece.len, piece.section, piece.symbol);
            }
        }
    }
    Ok(())
}
