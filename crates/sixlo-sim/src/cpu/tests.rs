use super::*;
use crate::config::{CortexM0plus, CortexM3};

const STEPS: Instructions = Instructions {
    frame_in: 1_000,
    frame_out: 500,
    message: 100,
    byte_hundredths: 250,
    cycles_hundredths: 150,
};

#[test]
fn instructions_become_time_by_cycles_and_clock() {
    let costs = STEPS.costs(100, 100);
    // 1000 instructions of 1.5 cycles of 10 ns, and 2.5 for each byte.
    assert_eq!(costs.frame_in(0), Time::us(15));
    assert_eq!(costs.frame_in(100), Time::ns(15_000 + 3_750));
    assert_eq!(costs.frame_out(0), Time::ns(7_500));
    assert_eq!(costs.messages(3), Time::ns(4_500));
    assert_eq!(STEPS.costs(200, 50).frame_in(0), Time::us(60));
}

#[test]
fn a_slower_clock_takes_longer_in_proportion() {
    let at = |clock_mhz| Costs::new(&Cpu::CortexM3(CortexM3 { clock_mhz }));
    let (fast, slow) = (at(72), at(8));
    let ratio = slow.frame_in(127).as_secs() / fast.frame_in(127).as_secs();
    assert!((ratio - 9.0).abs() < 0.01, "{ratio}");
}

#[test]
fn the_smaller_chip_is_slower_at_the_same_clock() {
    let m3 = Costs::new(&Cpu::CortexM3(CortexM3 { clock_mhz: 48 }));
    let m0 = Costs::new(&Cpu::CortexM0plus(CortexM0plus::default()));
    assert!(m0.frame_out(127) > m3.frame_out(127));
}
