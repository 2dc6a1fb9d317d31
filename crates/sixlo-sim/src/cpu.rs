//! How long a node computes.

use crate::config::{Cpu, CpuTimes};
use crate::time::Time;

/// What a GNRC node on the IoT-LAB M3 takes, such that 8 ms pass from the last fragment in to the first fragment out
/// of a forwarded datagram of two (Lenders et al. 2021, section IV-C): one frame in, two messages between modules, one
/// frame out. How the 8 ms divide among these the paper does not say.
const RIOT_M3: CpuTimes = CpuTimes {
    frame_in_us: 1_500,
    frame_out_us: 1_500,
    message_us: 2_200,
    byte_ns: 4_000,
};

/// The costs of a node's steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    frame_in: Time,
    frame_out: Time,
    message: Time,
    byte_ns: u64,
}

impl Costs {
    /// The costs that a configuration states.
    pub fn new(cpu: &Cpu) -> Self {
        let times = match cpu {
            Cpu::Instant => CpuTimes::default(),
            Cpu::RiotM3 => RIOT_M3,
            Cpu::Times(times) => *times,
        };
        Self {
            frame_in: Time::us(u64::from(times.frame_in_us)),
            frame_out: Time::us(u64::from(times.frame_out_us)),
            message: Time::us(u64::from(times.message_us)),
            byte_ns: u64::from(times.byte_ns),
        }
    }

    /// Handling a received frame of so many bytes, messages between modules not counted.
    #[inline]
    pub const fn frame_in(&self, bytes: usize) -> Time {
        Time::ns(self.frame_in.as_ns() + bytes as u64 * self.byte_ns)
    }

    /// Making a frame of so many bytes.
    #[inline]
    pub const fn frame_out(&self, bytes: usize) -> Time {
        Time::ns(self.frame_out.as_ns() + bytes as u64 * self.byte_ns)
    }

    /// Messages between modules.
    #[inline]
    pub const fn messages(&self, count: u32) -> Time {
        Time::ns(self.message.as_ns() * count as u64)
    }
}
