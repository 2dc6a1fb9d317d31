//! What the images have in common: the board, a link that carries frames, and what happens at a panic.
#![no_std]

pub mod board;
pub mod link;
#[cfg(not(armv6m))]
mod mem;
pub mod node;
pub mod paint;

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};
use cortex_m_semihosting::debug::{self, EXIT_FAILURE};

/// Says where, and ends the run with a failure. The message is not printed: what formats it is larger than a stack.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    if let Some(location) = info.location() {
        board::print(b"panic at ");
        board::print(location.file().as_bytes());
        board::print(b":");
        board::print_number(location.line());
        board::print(b"\n");
    }
    loop {
        debug::exit(EXIT_FAILURE);
    }
}

/// The same for an access that the processor refuses.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    board::print(b"fault at ");
    board::print_number(frame.pc());
    board::print(b"\n");
    loop {
        debug::exit(EXIT_FAILURE);
    }
}
