//! `cargo xtask reassembly`: instructions that a fragment in order takes in the reassembler, beside a list that is searched.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::image::{Image, Piece};
use crate::qemu;
use crate::tools::{self, Failure, Images, OptLevel};

/// The function that takes the expected fragment. It is inline: its instructions are those that come from it by the
/// debug information.
const FAST: &str = "append_expected";

/// What the paper says: Chandranmenon and Varghese 1996, section 3.1, on a SPARC.
const PUBLISHED: usize = 38;

/// Between two fragments lie more instructions of other code than this, and within one fewer.
const APART: usize = 60;

pub(crate) fn run() -> Result<(), Failure> {
    let folder = tools::build(Images::Whole, OptLevel::S)?;
    let fast = fast(&folder.join("traverse"))?;
    let list = list(&folder.join("reassembly"))?;
    let most = fast.len();
    let mut page = format!(
        "# In-order reassembly\n\nWritten by `cargo xtask reassembly` ({}, opt-level s, Cortex-M3, counted in QEMU's log of every \
         instruction).\n\nA fragment in order takes **{most} instructions** in the reassembler: from the comparison with what is \
         expected to the updated tail, length and offset, the time-out included, without the copy. Published: {PUBLISHED} on a \
         SPARC (Chandranmenon and Varghese 1996, section 3.1). The first two fragments of a datagram and its last one do not \
         take this way.\n\nBefore it stands what the caller does for every fragment: reading the header, and the link \
         addresses as words.\n\n",
        tools::compiler()?,
    );
    page += "## A list searched from its head\n\nThe same for a list of fragments as in 4.4BSD (`firmware/src/bin/reassembly.rs`), \
             for the last fragment of a datagram, and on average over its fragments.\n\n";
    page += "| fragments | list, last | list, average | expected |\n|---|---|---|---|\n";
    for counts in &list {
        let (sum, last) = (counts.iter().sum::<usize>(), counts.last().copied().unwrap_or(0));
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {} | {last} | {} | {most} |",
            counts.len(),
            sum / counts.len()
        );
    }
    page += "\n## The instructions\n\n```text\n";
    page += &disassembly(&folder.join("traverse"), &fast)?;
    page += "```\n";
    print!("{page}");
    tools::write(tools::root().join("docs/measured/reassembly.md"), page)?;
    if most > PUBLISHED {
        return Err(Failure::Wrong(format!(
            "{most} instructions are more than {PUBLISHED}"
        )));
    }
    Ok(())
}

/// The memory functions of the image, whose instructions are the copy loop.
fn is_copy(symbol: &str) -> bool {
    symbol.contains("memcpy")
}

/// The instructions of the expected fragment that took most.
fn fast(path: &Path) -> Result<Vec<u32>, Failure> {
    let image = Image::load(path)?;
    let (pieces, source) = (image.pieces()?, image.source()?);
    let copies = |pc: u32| {
        let within = |piece: &&Piece| (piece.address..piece.address + piece.len).contains(&pc.into());
        pieces
            .iter()
            .find(within)
            .is_some_and(|piece| is_copy(&piece.symbol))
    };
    let ours = |pc: u32| {
        let frames = source.frames(pc.into());
        frames.iter().any(|frame| frame.function.ends_with(FAST))
    };
    let mut known: HashMap<u32, (bool, bool)> = HashMap::new();
    let mut fast = Vec::new();
    // From the first instruction of the function to its last one, with those of the caller that stand between.
    let (mut way, mut len, mut copied) = (Vec::new(), 0, false);
    for pc in qemu::trace(path, &["rx", "1232"])? {
        let (is_ours, is_copy) = *known.entry(pc).or_insert_with(|| (ours(pc), copies(pc)));
        if is_copy {
            copied |= len > 0;
            continue;
        }
        if is_ours || len > 0 {
            way.push(pc);
        }
        if is_ours {
            len = way.len();
        }
        // So many instructions later it is another fragment's.
        if way.len() > len + APART {
            way.truncate(len);
            // One that is not expected is told from it after fewer.
            if copied && len > fast.len() {
                fast.clone_from(&way);
            }
            (len, copied) = (0, false);
            way.clear();
        }
    }
    if fast.is_empty() {
        return Err(Failure::Wrong("no fragment took the fast way".to_owned()));
    }
    Ok(fast)
}

/// The instructions of each fragment, for each number of fragments.
fn list(path: &Path) -> Result<Vec<Vec<usize>>, Failure> {
    let image = Image::load(path)?;
    let pieces = image.pieces()?;
    let find = |name: &str| {
        let found = pieces.iter().find(|piece| piece.symbol == name);
        found.ok_or_else(|| Failure::Wrong(format!("the image has no {name}")))
    };
    let entry = find("reassembly::insert")?.address as u32;
    let trace = qemu::trace(path, &[])?;
    let copy = find("memcpy")?;
    let copies = copy.address..copy.address + copy.len;
    let counts = qemu::calls(&trace, entry).into_iter().map(|call| {
        call.iter()
            .filter(|pc| !copies.contains(&u64::from(**pc)))
            .count()
    });
    let mut counts = counts.collect::<Vec<_>>().into_iter();
    Ok((2..=16)
        .map(|fragments| counts.by_ref().take(fragments).collect())
        .collect())
}

/// The instructions of a way through the image, in the order in which they are executed.
fn disassembly(path: &Path, way: &[u32]) -> Result<String, Failure> {
    let mut objdump = tools::command("llvm-objdump", ["-d", "--no-show-raw-insn", "--mcpu=cortex-m3"]);
    let listing = tools::text(&tools::run(objdump.arg(path), "llvm")?.stdout);
    let lines: HashMap<u32, &str> = listing
        .lines()
        .filter_map(|line| {
            let (address, instruction) = line.split_once(':')?;
            Some((u32::from_str_radix(address.trim(), 16).ok()?, instruction.trim()))
        })
        .collect();
    let mut text = String::new();
    for pc in way {
        let instruction = lines.get(pc).copied().unwrap_or("?");
        text += &format!("{pc:6x}  {}\n", instruction.replace('\t', " "));
    }
    Ok(text)
}
