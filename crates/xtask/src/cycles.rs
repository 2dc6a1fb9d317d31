//! How many cycles a Cortex-M3 takes for a trace of instructions, by the timing that Arm publishes.
//!
//! Cortex-M3 Technical Reference Manual r2p1 (DDI 0337), table 3-1: a load or store takes two cycles, several registers one
//! and one for each; a branch that is taken one and one to three to refill the pipeline (two are taken here); a division
//! two to twelve (six are taken here); everything else one. Memory without wait states is taken for granted.

use crate::image::Piece;

/// Cycles of a trace.
pub(crate) fn of(trace: &[u32], pieces: &[Piece]) -> u64 {
    let code: Vec<&Piece> = pieces.iter().filter(|piece| piece.section == ".text").collect();
    let mut cycles = 0;
    for (at, &pc) in trace.iter().enumerate() {
        let halfword = |address: u32| halfword(&code, address);
        let (first, second) = (halfword(pc), halfword(pc + 2));
        let instruction = classify(first, second);
        cycles += instruction.cycles;
        let next = trace.get(at + 1).copied();
        if next.is_some_and(|next| next != pc + instruction.len) {
            cycles += 2;
        }
    }
    cycles
}

fn halfword(code: &[&Piece], address: u32) -> u16 {
    let address = u64::from(address);
    let piece = code.partition_point(|piece| piece.address + piece.len <= address);
    let bytes = code.get(piece).and_then(|piece| {
        let at = address.checked_sub(piece.address)? as usize;
        piece.bytes.get(at..at + 2)
    });
    bytes.map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
}

/// What an instruction takes if it does not branch.
#[derive(Debug, PartialEq, Eq)]
struct Instruction {
    /// Bytes.
    len: u32,
    cycles: u64,
}

/// Tells instructions apart as far as the timing asks (Armv7-M Architecture Reference Manual, A5.2 and A5.3).
fn classify(first: u16, second: u16) -> Instruction {
    let several = |registers: u16| 1 + u64::from(registers.count_ones());
    if first >> 11 < 0b11101 {
        let cycles = match first >> 12 {
            // LDR from a literal.
            0b0100 if first >> 11 == 0b01001 => 2,
            // Loads and stores of one register.
            0b0101..=0b1001 => 2,
            // PUSH, POP.
            0b1011 if first & 0xf600 == 0xb400 => several(first & 0x1ff),
            // STM, LDM.
            0b1100 => several(first & 0xff),
            _ => 1,
        };
        return Instruction { len: 2, cycles };
    }
    let cycles = match first >> 9 & 0b11_1111 {
        // LDM, STM; else two registers, exclusives and table branches.
        0b11_0100 if first & 0x40 == 0 => several(second),
        0b11_0100 => 3,
        // Loads and stores of one register.
        0b11_1100 => 2,
        // UMULL and its like; SDIV, UDIV.
        0b11_1101 if first & 0x180 == 0x180 => {
            if first & 0xd0 == 0x90 {
                6
            } else {
                4
            }
        }
        _ => 1,
    };
    Instruction { len: 4, cycles }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn takes(code: [u16; 2], len: u32, cycles: u64) {
        assert_eq!(classify(code[0], code[1]), Instruction { len, cycles });
    }

    #[test]
    fn instructions_take_what_the_manual_says() {
        // movs r0, #0; ldr r0, [r1]; strb r0, [r1]; ldr r0, [pc]; ldr r0, [sp]
        takes([0x2000, 0], 2, 1);
        takes([0x6808, 0], 2, 2);
        takes([0x7008, 0], 2, 2);
        takes([0x4800, 0], 2, 2);
        takes([0x9800, 0], 2, 2);
        // push {r4, lr}; pop {r4, r5, pc}; stmia r0!, {r1, r2}; cbz r0
        takes([0xb510, 0], 2, 3);
        takes([0xbd30, 0], 2, 4);
        takes([0xc006, 0], 2, 3);
        takes([0xb100, 0], 2, 1);
        // movw; ldrb.w; push.w {r4-r11}; ldrd; add.w; bl; udiv; umull
        takes([0xf640, 0x0000], 4, 1);
        takes([0xf891, 0x0000], 4, 2);
        takes([0xe92d, 0x0ff0], 4, 9);
        takes([0xe9d0, 0x0100], 4, 3);
        takes([0xeb00, 0x0001], 4, 1);
        takes([0xf000, 0xf800], 4, 1);
        takes([0xfbb0, 0xf0f1], 4, 6);
        takes([0xfba0, 0x0102], 4, 4);
    }

    #[test]
    fn a_taken_branch_refills_the_pipeline() {
        let piece = Piece {
            section: ".text".to_owned(),
            symbol: String::new(),
            address: 0x400,
            len: 6,
            // movs r0, #0; b 0x400; movs r0, #0
            bytes: vec![0x00, 0x20, 0xfd, 0xe7, 0x00, 0x20],
        };
        assert_eq!(
            of(&[0x400, 0x402, 0x400, 0x402, 0x404], &[piece]),
            1 + 3 + 1 + 1 + 1
        );
    }
}
