//! Written by `cargo xtask traverse`, with docs/measured/traverse.csv.

use super::Instructions;

/// The stack on a Cortex-M3 at opt-level s: sums fitted to the instructions of datagrams of 8 to 1232 bytes, and Arm's timing
/// of these instructions (DDI 0337, table 3-1) in memory without wait states.
pub const CORTEX_M3: Instructions = Instructions {
    frame_in: 1003,
    frame_out: 707,
    message: 1474,
    byte_hundredths: 272,
    cycles_hundredths: 180,
};
