//! From the last fragment in to the first fragment out, on the chip.

use std::path::Path;

use sixlo_sim::cpu;

use crate::tools::Failure;
use crate::{progress, qemu};

/// What a forwarder that reassembles takes.
pub(crate) struct Forwarding {
    /// Fragments that came in, and that went out.
    frames: [u32; 2],
    /// Instructions from the call with the last fragment to the first fragment in the device's buffer.
    instructions: u32,
}

/// Runs the image: a datagram of 88 bytes over two forwarders, measured at the second.
pub(crate) fn measure(image: &Path) -> Result<Forwarding, Failure> {
    progress::show("forwarding on the chip");
    read(&qemu::run(image, &[])?)
}

fn read(printed: &str) -> Result<Forwarding, Failure> {
    let words = printed.split_whitespace();
    let numbers: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
    let [frames_in, frames_out, ticks, empty] = numbers[..] else {
        return Err(Failure::Wrong(format!(
            "the image said what nobody expects: {printed}"
        )));
    };
    Ok(Forwarding {
        frames: [frames_in, frames_out],
        instructions: qemu::instructions(ticks.saturating_sub(empty)),
    })
}

pub(crate) fn print(forwarding: &Forwarding, cycles: f64) {
    let Forwarding { frames, instructions } = forwarding;
    let milliseconds = f64::from(*instructions) * cycles / f64::from(cpu::M3_MHZ) / 1000.0;
    println!(
        "\nforwarding 88 bytes with hop-wise reassembly, {} fragments in, {} out: {instructions} instructions from the last \
         fragment in to the first fragment out",
        frames[0], frames[1]
    );
    println!(
        "  {milliseconds:.2} ms at {} MHz and {cycles:.2} cycles an instruction, without radio and operating system",
        cpu::M3_MHZ
    );
    println!(
        "  about 8 ms on the IoT-LAB M3 with GNRC, radio and operating system included (Lenders et al. 2021, section IV-C)"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_image_is_read() {
        assert!(read("panic at src/bin/forward.rs:7\n").is_err());
        let forwarding = read("2 in 2 out 16040 ticks 40 empty\n").expect("the line");
        assert_eq!((forwarding.frames, forwarding.instructions), ([2, 2], 5000));
    }
}
