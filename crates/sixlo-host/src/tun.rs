//! TUN devices: the kernel at the other end of an interface that carries packets.

use std::io;
use std::net::Ipv6Addr;
use std::os::fd::{AsFd, BorrowedFd};

use sixlo::netif::MTU;
use sixlo::time::Instant;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::driver::Device;

/// A TUN device.
pub struct Tun {
    device: SyncDevice,
}

impl Tun {
    /// Makes a device with this name, in the network namespace of the calling thread, and sets it up. It is gone when the value
    /// is dropped. Addresses and routes of the kernel's end are an administrator's work (`ip -6 addr add .. dev NAME`).
    ///
    /// # Errors
    ///
    /// Those of the operating system: above all that `CAP_NET_ADMIN` is missing, or that there is no `/dev/net/tun`.
    pub fn open(name: &str) -> io::Result<Self> {
        Self::build(DeviceBuilder::new().name(name).mtu(MTU))
    }

    /// The same with an MTU and an address of the kernel's end.
    ///
    /// # Errors
    ///
    /// See [`open`](Self::open).
    pub fn open_with(name: &str, mtu: u16, address: Ipv6Addr, prefix_len: u8) -> io::Result<Self> {
        Self::build(DeviceBuilder::new().name(name).mtu(mtu).ipv6(address, prefix_len))
    }

    fn build(builder: DeviceBuilder) -> io::Result<Self> {
        let device = builder.layer(Layer::L3).enable(true).build_sync()?;
        device.set_nonblocking(true)?;
        Ok(Self { device })
    }

    /// The number of the device, by which routes name it.
    ///
    /// # Errors
    ///
    /// If the device is gone.
    pub fn index(&self) -> io::Result<u32> {
        self.device.if_index()
    }

    /// Whether there is a device with this name, of whatever kind.
    pub fn is_taken(name: &str) -> bool {
        nix::net::if_::if_nametoindex(name).is_ok()
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl Device for Tun {
    fn receive(&mut self, _now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.device.recv(buffer) {
            Ok(len) => Ok(Some(len)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, _now: Instant, packet: &[u8]) -> io::Result<()> {
        self.device.send(packet).map(drop)
    }
}
