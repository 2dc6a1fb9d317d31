//! A network namespace with the kernel at one end of a TUN device and our stack at the other, and a bad link in between.
#![allow(
    dead_code,
    reason = "each test binary that includes this module uses a part of it"
)]

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv6Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, unshare};
use sixlo::rng::Rng;
use sixlo::time::{Duration, Instant};
use sixlo_host::driver::Device;
use sixlo_host::tun::Tun;

/// Our address.
pub(crate) const OURS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
/// The kernel's address.
pub(crate) const KERNELS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);

/// Runs a test in a network namespace of its own, with a TUN device of which the kernel's end is [`KERNELS`]. Threads that the
/// test starts are in it too.
///
/// Without the right to do so the test is skipped and says why; where the environment has `CI=true`, it fails.
pub(crate) fn in_namespace(test: impl FnOnce(Tun) + Send + 'static) {
    let test = move || match tun() {
        Ok(tun) => test(tun),
        Err(why) => {
            assert!(
                std::env::var_os("CI").is_none_or(|value| value != "true"),
                "{why}, and CI must not skip this test"
            );
            println!("skipped: {why}; try `unshare --net --map-root-user cargo test -p sixlo-host`");
        }
    };
    // A namespace belongs to a thread, and ends with it.
    if let Err(panic) = thread::spawn(test).join() {
        std::panic::resume_unwind(panic);
    }
}

/// A TUN device in a new namespace.
fn tun() -> Result<Tun, String> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("no network namespace: {error}"))?;
    let tun = Tun::open("sixlo0").map_err(|error| format!("no TUN device: {error}"))?;
    let address = format!("{KERNELS}/64");
    let ip = |args: &[&str]| match Command::new("ip").args(args).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("ip {args:?}: {status}")),
        Err(error) => Err(format!("ip (apt-get install iproute2): {error}")),
    };
    ip(&["link", "set", "sixlo0", "up"])?;
    ip(&["-6", "address", "add", &address, "dev", "sixlo0", "nodad"])?;
    Ok(tun)
}

/// How bad a link is. Rates are in thousandths of the packets, each way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) lost: u32,
    pub(crate) twice: u32,
    /// Packets that come 5 ms later than they should, and so behind others.
    pub(crate) late: u32,
    /// Every packet takes so long.
    pub(crate) delay: Duration,
    pub(crate) seed: u64,
}

/// The link: a device behind a line that loses, doubles, delays and reorders packets in both directions.
pub(crate) struct BadLink<D> {
    device: D,
    faults: Faults,
    rng: Rng,
    /// Packets on their way to the stack, and to the device, by the time at which they arrive.
    lines: [Line; 2],
    pub(crate) lost: u32,
}

#[derive(Default)]
struct Line {
    packets: BTreeMap<(Instant, u32), Vec<u8>>,
    number: u32,
}

impl<D> BadLink<D> {
    pub(crate) fn new(device: D, faults: Faults) -> Self {
        Self {
            device,
            faults,
            rng: Rng::new(faults.seed),
            lines: Default::default(),
            lost: 0,
        }
    }

    fn happens(&mut self, rate: u32) -> bool {
        self.rng.below(1000) < rate
    }

    /// Puts a packet on a line, or not, or twice.
    fn put(&mut self, line: usize, now: Instant, packet: &[u8]) {
        if self.happens(self.faults.lost) {
            self.lost += 1;
            return;
        }
        let copies = 1 + u32::from(self.happens(self.faults.twice));
        for _ in 0..copies {
            let mut at = now + self.faults.delay;
            if self.happens(self.faults.late) {
                at += Duration::from_millis(5);
            }
            let line = &mut self.lines[line];
            line.number += 1;
            line.packets.insert((at, line.number), packet.to_vec());
        }
    }

    /// A packet that has arrived at the end of a line.
    fn take(&mut self, line: usize, now: Instant) -> Option<Vec<u8>> {
        let first = self.lines[line].packets.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

impl<D: Device> AsFd for BadLink<D> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl<D: Device> Device for BadLink<D> {
    fn receive(&mut self, now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        while let Some(len) = self.device.receive(now, buffer)? {
            self.put(0, now, &buffer[..len]);
        }
        while let Some(packet) = self.take(1, now) {
            self.device.send(now, &packet)?;
        }
        Ok(self.take(0, now).map(|packet| {
            buffer[..packet.len()].copy_from_slice(&packet);
            packet.len()
        }))
    }

    fn send(&mut self, now: Instant, packet: &[u8]) -> io::Result<()> {
        self.put(1, now, packet);
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        let first = |line: &Line| line.packets.first_key_value().map(|((at, _), _)| *at);
        self.lines.iter().filter_map(first).min()
    }
}
