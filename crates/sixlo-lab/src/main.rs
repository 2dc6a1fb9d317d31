//! The program `sixlo`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(sixlo_lab::cli::main(std::env::args_os()))
}
