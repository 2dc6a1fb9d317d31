//! sixlo: an IPv6 stack for low-power lossy networks.
//!
//! The stack is sans-IO: it reads no clock, blocks on nothing and draws no randomness of its own. It is driven by
//! [`stack::Stack`] with four calls, each of which is given the present time: a frame that came in, the device
//! asking for a frame, the result of a transmission, and `poll`.
//!
//! Rooms: [`wire`] holds formats only; [`time`], [`netdev`], [`trace`] and their neighbours are the ground on which
//! everything stands; each protocol has a room of its own and knows the ground and [`wire`], never another protocol's
//! insides.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/stack.md")]
mod book {}

pub mod congure;
pub mod ground;
pub mod icmpv6;
pub mod ipv6;
pub mod lowpan;
pub mod mac;
pub mod netapi;
pub mod netdev;
pub mod netif;
pub mod netreg;
pub mod pktbuf;
pub mod rng;
pub mod sock;
pub mod stack;
pub mod tcp;
pub mod time;
pub mod timers;
pub mod trace;
pub mod udp;
pub mod wire;
