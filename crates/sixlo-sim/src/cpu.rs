//! How long a node computes.

use crate::config::{Cpu, CpuTimes};
use crate::time::Time;

pub use measured::CORTEX_M3;

mod measured;

/// What a GNRC node on the IoT-LAB M3 takes, such that 8 ms pass from the last fragment in to the first fragment out
/// of a forwarded datagram of two (Lenders et al. 2021, section IV-C): one frame in, two messages between modules, one
/// frame out. How the 8 ms divide among these the paper does not say.
const RIOT_M3: CpuTimes = CpuTimes {
    frame_in_us: 1_500,
    frame_out_us: 1_500,
    message_us: 2_200,
    byte_ns: 4_000,
};

/// What the stack takes for a step on a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// Instructions for a frame that comes in.
    pub frame_in: u32,
    /// Instructions for a frame that goes out.
    pub frame_out: u32,
    /// Instructions for a message between two modules.
    pub message: u32,
    /// Hundredths of an instruction for a byte of a frame.
    pub byte_hundredths: u32,
    /// Hundredths of a cycle for an instruction.
    pub cycles_hundredths: u32,
}

/// Its clock on the IoT-LAB M3 (STM32F103).
pub const M3_MHZ: u32 = 72;

/// A Cortex-M0+ executes more instructions for the same work, as it lacks most of Thumb-2 and any access that is not aligned:
/// 164 to 204 percent as many for datagrams of 8, 88, 96, 512 and 1232 bytes, sent and received, as docs/measured.md tells.
/// This is the mean. That an instruction takes as many cycles is an estimate.
const M0PLUS_PERCENT: u32 = 184;

impl Instructions {
    /// The costs at a clock in MHz, of `percent` as many instructions.
    fn costs(self, percent: u32, clock_mhz: u16) -> Costs {
        // Hundredths of an instruction, of a cycle, and percent: 10^6 of their product are a cycle, which takes 10^6 / MHz
        // picoseconds.
        let ps = |hundredths: u64| {
            hundredths * u64::from(self.cycles_hundredths) * u64::from(percent) / u64::from(clock_mhz.max(1))
        };
        let time = |instructions: u32| Time::ns(ps(100 * u64::from(instructions)) / 1_000);
        Costs {
            frame_in: time(self.frame_in),
            frame_out: time(self.frame_out),
            message: time(self.message),
            byte_ps: ps(self.byte_hundredths.into()),
        }
    }
}

/// The costs of a node's steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    frame_in: Time,
    frame_out: Time,
    message: Time,
    byte_ps: u64,
}

impl Costs {
    /// The costs that a configuration states.
    pub fn new(cpu: &Cpu) -> Self {
        let times = match cpu {
            Cpu::Instant => CpuTimes::default(),
            Cpu::RiotM3 => RIOT_M3,
            Cpu::CortexM3(cpu) => return CORTEX_M3.costs(100, cpu.clock_mhz),
            Cpu::CortexM0plus(cpu) => return CORTEX_M3.costs(M0PLUS_PERCENT, cpu.clock_mhz),
            Cpu::Times(times) => *times,
        };
        Self {
            frame_in: Time::us(u64::from(times.frame_in_us)),
            frame_out: Time::us(u64::from(times.frame_out_us)),
            message: Time::us(u64::from(times.message_us)),
            byte_ps: u64::from(times.byte_ns) * 1_000,
        }
    }

    /// Handling a received frame of so many bytes, messages between modules not counted.
    #[inline]
    pub const fn frame_in(&self, bytes: usize) -> Time {
        Time::ns(self.frame_in.as_ns() + bytes as u64 * self.byte_ps / 1_000)
    }

    /// Making a frame of so many bytes.
    #[inline]
    pub const fn frame_out(&self, bytes: usize) -> Time {
        Time::ns(self.frame_out.as_ns() + bytes as u64 * self.byte_ps / 1_000)
    }

    /// Messages between modules.
    #[inline]
    pub const fn messages(&self, count: u32) -> Time {
        Time::ns(self.message.as_ns() * count as u64)
    }
}

#[cfg(test)]
mod tests;
