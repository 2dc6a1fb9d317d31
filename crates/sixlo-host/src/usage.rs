//! What this program uses of the machine.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

/// Processor time of all threads of this program so far, in the kernel and outside.
pub fn cpu_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return Duration::ZERO;
    };
    let times = [usage.user_time(), usage.system_time()];
    let us = |time: nix::sys::time::TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()).max(0) as u64;
    Duration::from_micros(times.into_iter().map(us).sum())
}
