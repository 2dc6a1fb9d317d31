//! Commands for those who work on sixlo: what the stack weighs and costs on the chip it is for.
#![forbid(unsafe_code)]

mod callgrind;
mod chip;
mod cycles;
mod fit;

#[cfg(test)]
mod firmware_tests;
mod forward;
mod host;
mod image;
mod parts;
mod plot;
mod progress;
mod published;
mod qemu;
mod reassembly;
mod rfc;
mod size;
mod steps;
mod tcp;
mod tools;
mod tracked;
mod traverse;
mod weigh;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use tools::Failure;

/// What the stack weighs and costs on a Cortex-M3.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Which test holds which MUST of the RFCs.
    Rfc(rfc::Options),
    /// Builds the firmware and says what each module takes of flash and RAM, beside published numbers.
    Size(size::Options),
    /// Runs the firmware on the emulated chip, and the same on the host, and says what a datagram costs.
    Traverse(traverse::Options),
    /// Counts what TCP takes on the host and how fast it is over a link, beside smoltcp.
    Tcp(tcp::Options),
    /// Counts what a fragment in order takes in the reassembler, beside a list that is searched.
    Reassembly,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Rfc(options) => rfc::run(&options),
        Command::Size(options) => size::run(&options),
        Command::Traverse(options) => traverse::run(&options),
        Command::Tcp(options) => tcp::run(&options),
        Command::Reassembly => reassembly::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Missing(what)) => {
            eprintln!("{what}");
            ExitCode::from(2)
        }
        Err(Failure::Wrong(what)) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    }
}
