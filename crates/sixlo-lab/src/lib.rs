//! The laboratory of sixlo: scenarios, campaigns over parameters and seeds, statistics, captures, traces and reports.
#![forbid(unsafe_code)]

pub mod campaign;
pub mod cli;
pub mod compare;
pub mod digest;
pub mod execute;
pub mod files;
pub mod frame_kind;
#[cfg(target_os = "linux")]
pub mod live;
pub mod pcapng;
pub mod plot;
mod receivers;
pub mod record;
pub mod report;
pub mod repro;
pub mod results;
pub mod scenario;
pub mod stats;
#[cfg(test)]
mod test_folder;
pub mod trace;
pub mod web;
