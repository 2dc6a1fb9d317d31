//! A deterministic discrete-event simulator of low-power radio networks that runs the sixlo stack on every node.
//!
//! A run is a function of a [`Config`](config::Config) and a seed: the same two give the same events, to the bit, on
//! any machine. Time is integer nanoseconds inside and microseconds towards the stack.
#![forbid(unsafe_code)]

pub mod air;
pub mod config;
pub mod medium;
pub mod phy;
pub mod queue;
pub mod rng;
pub mod time;
pub mod topology;
