//! What each part of the stack takes in an image.

use std::collections::{BTreeMap, BTreeSet};

use crate::image::{Image, Piece, Source};
use crate::parts::{self, Part};
use crate::tools::Failure;

/// Bytes that a part takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) rom: u64,
    pub(crate) ram: u64,
}

/// What each part of an image takes.
pub(crate) fn weigh(image: &Image) -> Result<BTreeMap<Part, Taken>, Failure> {
    let source = image.source()?;
    let pieces = image.pieces()?;
    let mut taken: BTreeMap<Part, Taken> = BTreeMap::new();
    let mut code: BTreeMap<u64, Part> = BTreeMap::new();
    for piece in &pieces {
        match piece.section.as_str() {
            ".text" => code.extend(parts_of_code(&source, piece)),
            // Weighed below, when it is known which code refers to it.
            ".rodata" => {}
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
    for part in code.values() {
        taken.entry(*part).or_default().rom += 2;
    }
    for (part, len) in constants(&pieces, &code) {
        taken.entry(part).or_default().rom += len;
    }
    Ok(taken)
}

/// The part of each halfword of a function. What has no place in the source, such as the constants between the
/// instructions, belongs to what stands before it.
fn parts_of_code(source: &Source<'_>, piece: &Piece) -> Vec<(u64, Part)> {
    let addresses = (piece.address..piece.address + piece.len).step_by(2);
    let mut known: Vec<(u64, Option<Part>)> =
        addresses.map(|address| (address, source.part(address))).collect();
    let mut last = known.iter().find_map(|(_, part)| *part);
    for (_, part) in &mut known {
        *part = part.or(last);
        last = *part;
    }
    let unclaimed = parts::of_symbol(&piece.symbol);
    let settled = known.into_iter();
    settled
        .map(|(address, part)| (address, part.unwrap_or(unclaimed)))
        .collect()
}

/// The bytes of constants by the part whose code refers to them. What several parts share is named so.
fn constants(pieces: &[Piece], code: &BTreeMap<u64, Part>) -> Vec<(Part, u64)> {
    let data: Vec<&Piece> = pieces.iter().filter(|piece| piece.section == ".rodata").collect();
    let (Some(first), Some(last)) = (data.first(), data.last()) else {
        return Vec::new();
    };
    let (start, end) = (first.address, last.address + last.len);
    let mut references: BTreeMap<u64, BTreeSet<Part>> = BTreeMap::new();
    for piece in pieces.iter().filter(|piece| piece.section == ".text") {
        for (offset, target) in addresses_in_code(&piece.bytes) {
            if (start..end).contains(&target)
                && let Some(part) = code.get(&(piece.address + offset))
            {
                references.entry(target).or_default().insert(*part);
            }
        }
    }
    // A constant may refer to others, such as the place of a panic to the name of its file: as deep as that.
    for _ in 0..2 {
        for piece in &data {
            let Some(parts) = references.get(&piece.address).cloned() else {
                continue;
            };
            for (_, target) in words(&piece.bytes).filter(|(_, target)| (start..end).contains(target)) {
                references.entry(target).or_default().extend(&parts);
            }
        }
    }
    let mut borders: BTreeSet<u64> = data.iter().map(|piece| piece.address).collect();
    borders.extend(references.keys());
    borders.insert(end);
    let borders: Vec<u64> = borders.into_iter().collect();
    let mut part = Part::Shared;
    let mut found = Vec::new();
    for between in borders.windows(2) {
        if let Some(parts) = references.get(&between[0]) {
            part = sole(parts);
        }
        found.push((part, between[1] - between[0]));
    }
    found
}

/// The only part, or that it is shared.
fn sole(parts: &BTreeSet<Part>) -> Part {
    match parts.iter().copied().collect::<Vec<_>>().as_slice() {
        [part] => *part,
        _ => Part::Shared,
    }
}

/// The aligned words of some bytes, with their offsets.
fn words(bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let words = bytes.chunks_exact(4).zip(0_u64..);
    words.map(|(word, at)| {
        let word = <[u8; 4]>::try_from(word).unwrap_or_default();
        (at * 4, u32::from_le_bytes(word).into())
    })
}

/// The addresses that code holds: in words between the instructions, and in MOVW with the MOVT that follows it soon (Armv7-M
/// Architecture Reference Manual, A7.7.76, encoding T3, and A7.7.79); without one, the 16 bits of MOVW are the whole.
fn addresses_in_code(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = words(bytes).collect();
    for (at, four) in bytes.windows(4).enumerate().step_by(2) {
        if let Some((low, register)) = half_of_address(four, MOVW) {
            let behind = bytes.get(at + 4..).unwrap_or_default();
            let near = behind.windows(4).take(MOVT_WITHIN_BYTES).step_by(2);
            let mut high = near.filter_map(|four| half_of_address(four, MOVT));
            let high = high.find(|(_, other)| *other == register);
            found.push((at as u64, low | high.map_or(0, |(high, _)| high << 16)));
        }
    }
    found
}

/// The first halfwords of the two instructions, without the bits of the number in them.
const MOVW: u16 = 0xf240;
const MOVT: u16 = 0xf2c0;

/// How far behind a MOVW the other half of its address may stand, in bytes.
const MOVT_WITHIN_BYTES: usize = 16;

/// The 16 bits that such an instruction loads, and into which register.
fn half_of_address(four: &[u8], instruction: u16) -> Option<(u64, u16)> {
    let &[a, b, c, d] = four else { return None };
    let (high, low) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    let value = (high & 0xf) << 12 | (high >> 10 & 1) << 11 | (low >> 12 & 7) << 8 | low & 0xff;
    (high & 0xfbf0 == instruction && low & 0x8000 == 0).then_some((value.into(), low >> 8 & 0xf))
}

/// The modules in the stack's own struct, with the bytes that each takes.
fn stack_fields(source: &Source<'_>) -> Result<Vec<(String, u64)>, Failure> {
    let mut fields = source.fields("ground", "Core")?;
    fields.extend(source.fields("stack", "Modules")?);
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(section: &str, address: u64, bytes: &[u8]) -> Piece {
        Piece {
            section: section.to_owned(),
            symbol: String::new(),
            address,
            len: bytes.len() as u64,
            bytes: bytes.to_vec(),
        }
    }

    #[test]
    fn the_address_in_a_movw_is_put_together_from_its_four_fields() {
        // movw r1, #0x9f5c
        assert_eq!(
            addresses_in_code(&[0x49, 0xf6, 0x5c, 0x71]).last(),
            Some(&(0, 0x9f5c))
        );
    }

    #[test]
    fn a_movt_of_the_same_register_gives_the_upper_half() {
        // movw r1, #0x9f5c; movt r2, #1; movt r1, #1
        assert_eq!(
            addresses_in_code(&[
                0x49, 0xf6, 0x5c, 0x71, 0xc0, 0xf2, 0x01, 0x02, 0xc0, 0xf2, 0x01, 0x01,
            ])
            .last(),
            Some(&(0, 0x1_9f5c))
        );
    }

    #[test]
    fn a_constant_belongs_to_the_code_that_refers_to_it() {
        let pieces = [
            // movw r1, #0x9f5c; movw r1, #0x9f60; movw r1, #0x9f60
            piece(
                ".text",
                0x400,
                &[
                    0x49, 0xf6, 0x5c, 0x71, 0x49, 0xf6, 0x60, 0x71, 0x49, 0xf6, 0x60, 0x71,
                ],
            ),
            piece(".rodata", 0x9f5c, &[0; 4]),
            piece(".rodata", 0x9f60, &[0; 12]),
        ];
        let code = (0x400..0x408)
            .step_by(2)
            .map(|at| (at, Part::Udp))
            .chain((0x408..0x40c).step_by(2).map(|at| (at, Part::Mac)))
            .collect();
        assert_eq!(constants(&pieces, &code), [(Part::Udp, 4), (Part::Shared, 12)]);
    }
}
