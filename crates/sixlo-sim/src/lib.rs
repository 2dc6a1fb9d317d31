//! A deterministic discrete-event simulator of low-power radio networks that runs the sixlo stack on every node.
//!
//! A run is a function of a [`Config`](config::Config) and a seed: the same two give the same events, to the bit, on
//! any machine. Time is integer nanoseconds inside and microseconds towards the stack.
#![forbid(unsafe_code)]

pub mod air;
pub mod app;
pub mod config;
pub mod cpu;
pub mod faults;
pub mod forge;
pub mod frames;
pub mod host;
pub mod ledger;
pub mod medium;
pub mod observer;
pub mod phy;
pub mod queue;
pub mod radio;
pub mod result;
pub mod rng;
pub mod run;
pub mod stack_host;
pub mod stream;
pub mod time;
pub mod topology;
pub mod world;
