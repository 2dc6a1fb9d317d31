//! Written by `cargo xtask traverse`, with docs/measured/traverse.csv.

use super::Instructions;

/// The stack on a Cortex-M3 at opt-level s: sums fitted to the instructions of datagrams of 8 to 1232 bytes, and Arm's timing
/// of these instructions (DDI 0337, table 3-1) in memory without wait states.
pub const CORTEX_M3: Instructions = Instructions {
    frame_in: 987,
    frame_out: 716,
    message: 1454,
    byte_hundredths: 271,
    cycles_hundredths: 179,
};
