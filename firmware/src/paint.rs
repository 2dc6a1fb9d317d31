//! How deep the memory stack gets: it is painted before, and what lost its paint was used.

use core::ptr;

/// What the free part of the memory stack is painted with.
const PAINT: u32 = 0x5041_494e;

unsafe extern "C" {
    /// The end of `.bss`, from the linker script of `cortex-m-rt`: the memory stack grows down to it.
    static __ebss: u32;
}

/// A painted memory stack.
pub struct Painted {
    bottom: *mut u32,
    top: *mut u32,
}

/// Bytes that are left unpainted, for the painter's own frame, and count as used.
const MARGIN: usize = 64;

/// Paints all that lies below the caller's own frame.
#[inline(never)]
pub fn paint() -> Painted {
    let bottom = (&raw const __ebss).cast_mut();
    let top = ptr::with_exposed_provenance_mut::<u32>(cortex_m::register::msp::read() as usize & !3);
    let mut at = bottom;
    while at < top.wrapping_byte_sub(MARGIN) {
        // SAFETY: between the end of the statics and the stack pointer nothing lives, and interrupts are masked.
        unsafe { at.write_volatile(PAINT) };
        at = at.wrapping_add(1);
    }
    Painted { bottom, top }
}

impl Painted {
    /// Bytes below the caller's frame that have been used since.
    pub fn used(&self) -> usize {
        let mut at = self.bottom;
        // SAFETY: as in `paint`.
        while at < self.top && unsafe { at.read_volatile() } == PAINT {
            at = at.wrapping_add(1);
        }
        self.top as usize - at as usize
    }
}
