//! The sixlo stack on Linux, in real time.
//!
//! [`driver::Host`] joins a stack and a device: it hands packets over, and sleeps until a packet or a deadline comes. [`tun::Tun`]
//! is such a device: the kernel is at its other end, and routes to it as to any interface. [`routes`] are the kernel's, and [`wait`] is
//! for those who have several descriptors to sleep at.
#![cfg(target_os = "linux")]

pub mod driver;
pub mod routes;
pub mod tun;
pub mod usage;
pub mod wait;
