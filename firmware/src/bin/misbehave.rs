//! Does what no image should, for the tests of the tools: `panic`, `fault` or `hang`.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use sixlo_firmware::board::{arguments, exit};

#[entry]
fn main() -> ! {
    let mut line = [0; 64];
    let word = arguments(&mut line).rsplit(|byte| *byte == b' ').next();
    match word {
        Some(b"panic") => panic!("as asked for"),
        // An instruction that is not defined.
        Some(b"fault") => cortex_m::asm::udf(),
        Some(b"hang") => loop {
            cortex_m::asm::nop();
        },
        _ => exit(),
    }
}
