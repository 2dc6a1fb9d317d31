//! Runs images on the emulated chip.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::tools::{self, Failure};

/// The emulator, which is also the name of its package.
pub(crate) const QEMU: &str = "qemu-system-arm";

/// No run takes longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

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
    command.args(["-machine", "mps2-an385", "-display", "none", "-monitor", "none"]);
    command.args(["-semihosting-config", &semihosting, "-kernel"]);
    command.arg(image);
    command
}

/// Time goes by instructions: each takes 128 ns, and sleep takes none of ours.
const BY_INSTRUCTIONS: [&str; 4] = ["-icount", "shift=7,sleep=off", "-serial", "none"];

/// Runs an image to its end and gives what it printed.
pub(crate) fn run(image: &Path, arguments: &[&str]) -> Result<String, Failure> {
    run_within(LIMIT, image, arguments)
}

/// The same with a limit of its own.
pub(crate) fn run_within(limit: Duration, image: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let out = Output::new(image)?;
    let mut command = command(image, arguments);
    out.finish(limit, command.args(BY_INSTRUCTIONS))
}

/// Starts an image whose first serial line is a socket at this path, and whose time is ours.
#[cfg(test)]
pub(crate) fn start_with_serial(image: &Path, socket: &Path) -> Result<Child, Failure> {
    let line = format!("unix:{},server=on,wait=on", socket.display());
    let mut command = command(image, &[]);
    spawn(
        command
            .args(["-serial", &line])
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )
}

/// The instructions that an image executes, by address, in their order.
pub(crate) fn trace(image: &Path, arguments: &[&str]) -> Result<Vec<u32>, Failure> {
    let out = Output::new(image)?;
    let log = out.path.with_extension("log");
    let mut command = command(image, arguments);
    // Each instruction is a block of its own, and each block leaves a line.
    command
        .args(BY_INSTRUCTIONS)
        .args(["-singlestep", "-d", "exec,nochain", "-D"])
        .arg(&log);
    out.finish(LIMIT, &mut command)?;
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

/// What a run prints.
struct Output {
    name: String,
    path: PathBuf,
}

impl Output {
    fn new(image: &Path) -> Result<Self, Failure> {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let name = image.file_name().unwrap_or_default().to_string_lossy();
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let path = tools::scratch(&format!("qemu-{}-{number}.out", std::process::id()))?;
        Ok(Self {
            name: name.into_owned(),
            path,
        })
    }

    /// Runs the command to its end, which comes in any case.
    fn finish(&self, limit: Duration, command: &mut Command) -> Result<String, Failure> {
        let wrong = |error: std::io::Error| Failure::Wrong(format!("{}: {error}", self.path.display()));
        let file = File::create(&self.path).map_err(wrong)?;
        let errors = file.try_clone().map_err(wrong)?;
        let child = spawn(command.stdout(file).stderr(errors))?;
        let ended = wait(child, &self.name, limit);
        let printed = tools::text(&tools::read(&self.path)?);
        let _ = std::fs::remove_file(&self.path);
        let status = ended?;
        if status.success() {
            Ok(printed)
        } else {
            Err(Failure::Wrong(format!(
                "{} failed ({status}):\n{printed}",
                self.name
            )))
        }
    }
}

fn spawn(command: &mut Command) -> Result<Child, Failure> {
    command
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => tools::missing(QEMU, QEMU),
            _ => Failure::Wrong(format!("{QEMU}: {error}")),
        })
}

/// Waits for the end of a run, which comes in any case.
fn wait(mut child: Child, name: &str, limit: Duration) -> Result<ExitStatus, Failure> {
    let end = Instant::now() + limit;
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
                    limit.as_secs()
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
