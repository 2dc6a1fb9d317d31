//! Claims F3 and F11: code and memory on a Cortex-M3, as `cargo xtask size` last counted them.

use crate::repro::ledger::{Claim, Part};
use crate::repro::verdict::Verdict;

/// What `cargo xtask size` counted: bytes of each part of the stack. The images `hwr`, `ff` and `sfr` have the entries of the paper,
/// and what their column of its table 3 has.
const MEASURED: &str = include_str!("../../../../../docs/measured/size.csv");

/// The parts as the table calls them: hop-wise reassembly is the first three, what is added for the others follows.
const FRAGMENTATION: &str = "6LoWPAN: fragmentation";
const REASSEMBLY: &str = "6LoWPAN: reassembly";
const PROTOCOL: &str = "6LoWPAN: protocol IPHC contexts";
const FORWARDING: &str = "6LoWPAN: fragment forwarding (RFC 8930)";
const RECOVERY: &str = "6LoWPAN: fragment recovery (RFC 8931)";
const CONGESTION: &str = "6LoWPAN: congestion control of fragments";

/// Table 3 of the paper: bytes of ROM and RAM.
const TABLE_3: [(&str, u64, u64, &[&str]); 3] = [
    ("HWR", 6_369, 1_334, &[FRAGMENTATION, REASSEMBLY, PROTOCOL]),
    (
        "FF",
        8_051,
        3_894,
        &[FRAGMENTATION, REASSEMBLY, PROTOCOL, FORWARDING],
    ),
    (
        "SFR",
        10_133,
        5_950,
        &[FRAGMENTATION, REASSEMBLY, PROTOCOL, FORWARDING, RECOVERY],
    ),
];

/// What the abstraction adds to the unrolled code at most, and what SFR takes with it (section V-B).
const ABSTRACTION: Cell = Cell { rom: 500, ram: 62 };
const WITH_CONTROL: Cell = Cell {
    rom: 5_000,
    ram: 2_500,
};

/// Bytes of flash and of RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) rom: u64,
    pub(super) ram: u64,
}

/// The sum of some parts of an image in a table of sizes.
///
/// # Errors
///
/// If the table lacks a column or a part, in words.
pub(super) fn sum(table: &str, image: &str, parts: &[&str]) -> Result<Cell, String> {
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let place = header.iter().position(|column| *column == name);
        place.ok_or_else(|| format!("no column `{name}` in the table of sizes"))
    };
    let (rom, ram) = (column(&format!("{image}_rom"))?, column(&format!("{image}_ram"))?);
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let mut total = Cell { rom: 0, ram: 0 };
    for part in parts {
        let row = rows.iter().find(|row| row.first() == Some(part));
        let row = row.ok_or_else(|| format!("no part `{part}` in the table of sizes"))?;
        let number = |place: usize| {
            let bytes = row.get(place).and_then(|text| text.parse::<u64>().ok());
            bytes.ok_or_else(|| format!("no number for `{part}` in the table of sizes"))
        };
        total.rom += number(rom)?;
        total.ram += number(ram)?;
    }
    Ok(total)
}

/// A part of a claim about bytes, or why it cannot be told.
fn part(name: &str, published: String, measured: Result<(String, Verdict), String>) -> Part {
    match measured {
        Ok((measured, verdict)) => Part {
            name: name.to_owned(),
            published,
            measured,
            verdict,
        },
        Err(why) => Part::not_measured(name, &published, &why),
    }
}

/// Both claims.
pub(super) fn all() -> Vec<Claim> {
    vec![strategies(), congestion()]
}

fn strategies() -> Claim {
    let cell = |name: &str, memory: &str, published: u64, measured: Result<u64, String>| {
        let told = |bytes: u64| (format!("{bytes} bytes"), Verdict::exact(bytes < published));
        part(
            &format!("{name} {memory}"),
            format!("{published} bytes; aim: less"),
            measured.map(told),
        )
    };
    let row = |(name, rom, ram, parts): &(&str, u64, u64, &[&str])| {
        let measured = sum(MEASURED, &name.to_lowercase(), parts);
        [
            cell(name, "ROM", *rom, measured.clone().map(|bytes| bytes.rom)),
            cell(name, "RAM", *ram, measured.map(|bytes| bytes.ram)),
        ]
    };
    Claim {
        id: "F3",
        title: "Code and memory on Cortex-M3, opt-level s, for the entries of table 3, without packet buffer and congestion control",
        parts: TABLE_3.iter().flat_map(row).collect(),
    }
}

fn congestion() -> Claim {
    let control = sum(MEASURED, "sfr", &[CONGESTION]);
    let whole = sum(MEASURED, "sfr", &[FRAGMENTATION, RECOVERY, CONGESTION]);
    let within = |bytes: u64, most: u64| (format!("{bytes} bytes"), Verdict::exact(bytes <= most));
    Claim {
        id: "F11",
        title: "Cost of the congestion control framework",
        parts: vec![
            part(
                "abstraction ROM",
                format!("about {} bytes over unrolled code", ABSTRACTION.rom),
                // All of it is more than what an abstraction adds to it: only below the limit does that decide.
                control.clone().map(|bytes| {
                    let verdict = match bytes.rom <= ABSTRACTION.rom {
                        true => Verdict::Reproduced,
                        false => Verdict::Undecided,
                    };
                    let what = "all of it, five controls and the timer";
                    (format!("{} bytes for {what}", bytes.rom), verdict)
                }),
            ),
            part(
                "abstraction RAM",
                format!("at most {} bytes over unrolled code", ABSTRACTION.ram),
                control.map(|bytes| {
                    let what = "all of it; what a transfer knows is in its entry, counted with recovery";
                    (format!("{} bytes for {what}", bytes.ram), Verdict::Undecided)
                }),
            ),
            part(
                "SFR ROM",
                format!(
                    "SFR, fragmentation buffer and control: 4 to 5 KB (here: at most {})",
                    WITH_CONTROL.rom
                ),
                whole.clone().map(|bytes| within(bytes.rom, WITH_CONTROL.rom)),
            ),
            part(
                "SFR RAM",
                format!("the same: about 2.5 KB (here: at most {})", WITH_CONTROL.ram),
                whole.map(|bytes| within(bytes.ram, WITH_CONTROL.ram)),
            ),
        ],
    }
}
