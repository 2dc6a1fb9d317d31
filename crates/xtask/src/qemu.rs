//! Runs images on the emulated chip.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::tools::{self, Failure};

/// The emulator, and where it comes from.
const QEMU: &str = "qemu-system-arm";

/// No run takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// What an instruction takes under `-icount shift=7`, and a tick of the board's clock of 25 MHz, in nanoseconds.
const INSTRUCTION_NS: u32 = 128;
const TICK_NS: u32 = 40;

/// How many instructions so many ticks are: an instruction takes 3.2 ticks, so the count is exact.
pub(crate) const fn instructions(ticks: u32) -> u32 {
    (ticks * TICK_NS + INSTRUCTION_NS / 2) / INSTRUCTION_NS
}

fn command(image: &Path, arguments: &[&str]) -> Command {
    let arguments: String = arguments
        .iter()
        .map(|argument| format!(",arg={argument}"))
        .collect();
    let semihosting = format!("enable=on,target=native,arg=image{arguments}");
    let mut command = Command::new(QEMU);
    command.args([
        "-machine",
        "mps2-an385",
        "-icount",
        "shift=7,sleep=off",
        "-display",
        "none",
    ]);
    command.args([
        "-monitor",
        "none",
        "-serial",
        "none",
        "-semihosting-config",
        &semihosting,
    ]);
    command.arg("-kernel").arg(image);
    command
}

/// Runs an image to its end and gives what it printed.
pub(crate) fn run(image: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let log = tools::scratch("qemu.out")?;
    let mut command = command(image, arguments);
    let out = File::create(&log).map_err(|error| Failure::Wrong(format!("{}: {error}", log.display())))?;
    let errors = out
        .try_clone()
        .map_err(|error| Failure::Wrong(error.to_string()))?;
    finish(image, command.stdout(out).stderr(errors), &log)
}

/// The instructions that an image executes, by address, in their order.
pub(crate) fn trace(image: &Path, arguments: &[&str]) -> Result<Vec<u32>, Failure> {
    let (log, out) = (tools::scratch("qemu.log")?, tools::scratch("qemu.out")?);
    let mut command = command(image, arguments);
    // Each instruction is a block of its own, and each block leaves a line.
    command
        .args(["-singlestep", "-d", "exec,nochain", "-D"])
        .arg(&log);
    let file = File::create(&out).map_err(|error| Failure::Wrong(format!("{}: {error}", out.display())))?;
    finish(image, command.stdout(file).stderr(Stdio::null()), &out)?;
    let lines = File::open(&log).map_err(|error| Failure::Wrong(format!("{}: {error}", log.display())))?;
    let executed = BufReader::new(lines)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| address(&line));
    let executed = executed.collect();
    // It is large.
    let _ = std::fs::remove_file(&log);
    Ok(executed)
}

/// The address in a line like `Trace 0: 0x7f6c28000100 [00400000/0000043c/00000110/ff000201] main`.
fn address(line: &str) -> Option<u32> {
    let (_, fields) = line.strip_prefix("Trace")?.split_once('[')?;
    u32::from_str_radix(fields.split('/').nth(1)?, 16).ok()
}

fn finish(image: &Path, command: &mut Command, out: &Path) -> Result<String, Failure> {
    let name = image
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let child = command
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Failure::Missing(format!(
                "{QEMU} is not installed: it comes with the package qemu-system-arm"
            )),
            _ => Failure::Wrong(format!("{QEMU}: {error}")),
        })?;
    let status = wait(child, &name)?;
    let printed = tools::text(&tools::read(out)?);
    if status.success() {
        Ok(printed)
    } else {
        Err(Failure::Wrong(format!("{name} failed ({status}):\n{printed}")))
    }
}

/// Waits for the end of a run, which comes in any case.
fn wait(mut child: Child, name: &str) -> Result<ExitStatus, Failure> {
    let end = Instant::now() + LIMIT;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                // Whatever became of it, the run is over.
                let _ = child.kill();
                let _ = child.wait();
                return Err(Failure::Wrong(format!(
                    "{name} did not end within {} s",
                    LIMIT.as_secs()
                )));
            }
            Err(error) => return Err(Failure::Wrong(format!("{name}: {error}"))),
        }
    }
}

/// A call of a function in a trace: what was executed from its first instruction to its return.
pub(crate) fn calls(trace: &[u32], entry: u32) -> Vec<&[u32]> {
    let mut calls = Vec::new();
    let mut at = 0;
    while let Some(start) = trace[at..]
        .iter()
        .position(|pc| *pc == entry)
        .map(|found| at + found)
    {
        // A call is a `bl` of four bytes just before the entry, and it returns behind that.
        let back = start.checked_sub(1).map(|before| trace[before] + 4);
        let len = trace[start..]
            .iter()
            .position(|pc| Some(*pc) == back)
            .unwrap_or(trace.len() - start);
        calls.push(&trace[start..start + len]);
        at = start + len;
    }
    calls
}

/// How often each address was executed.
pub(crate) fn histogram(trace: &[u32]) -> HashMap<u32, u64> {
    let mut counts = HashMap::new();
    for pc in trace {
        *counts.entry(*pc).or_default() += 1;
    }
    counts
}
