//! Programs of others that judge our bytes, where they are installed.
//!
//! A test that needs such a program takes what these functions give and returns at `None`: on a user's machine the
//! test is skipped and says why, but where the environment has `CI=true` a missing program fails it.
#![allow(
    dead_code,
    reason = "each test binary that includes this module uses a part of it"
)]

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

/// Runs `name` with `args`, feeds it `stdin`, and gives what it wrote.
///
/// `None` if the program cannot be started: `remedy` then tells the reader how to install it.
///
/// # Panics
///
/// If the program fails (with what it wrote to standard error), or if it is missing and `CI=true`.
pub(crate) fn tool(name: &str, args: &[&str], stdin: &[u8], remedy: &str) -> Option<Vec<u8>> {
    let child = Command::new(name)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return skipped(name, remedy);
    };
    let mut pipe = child.stdin.take().expect("standard input is piped");
    let input = stdin.to_vec();
    // From a thread, since a program may write before it has read everything. One that stops reading early shows by
    // its exit status whether that was a fault, so the broken pipe itself is not one.
    let feeder = thread::spawn(move || drop(pipe.write_all(&input)));
    let output = child
        .wait_with_output()
        .expect("the program's output can be read");
    feeder.join().expect("the feeding thread does not panic");
    assert!(
        output.status.success(),
        "{name} failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Some(output.stdout)
}

/// Runs a Python script that may use scapy, feeds it `stdin`, and gives what it wrote.
///
/// The script should treat all its cases in one run: starting scapy takes about a second.
///
/// # Panics
///
/// As [`tool`].
pub(crate) fn scapy(script: &str, stdin: &[u8]) -> Option<Vec<u8>> {
    const REMEDY: &str = "pip install scapy";
    let installed = Command::new("python3")
        .args([
            "-c",
            "import importlib.util as u, sys; sys.exit(u.find_spec('scapy') is None)",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !installed {
        return skipped("scapy", REMEDY);
    }
    tool("python3", &["-c", script], stdin, REMEDY)
}

/// The link type of IEEE 802.15.4 frames without frame check sequence (LINKTYPE_IEEE802_15_4_NOFCS).
const LINK_TYPE: u32 = 230;

/// A capture file with these frames, in the classic format of pcap.
fn capture(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, LINK_TYPE] {
        file.extend(word.to_le_bytes());
    }
    for frame in frames {
        let len = frame.len() as u32;
        for word in [0, 0, len, len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// The fields that tshark finds in frames of IEEE 802.15.4 without check sequence, one line a frame.
///
/// # Panics
///
/// As [`tool`].
pub(crate) fn tshark(frames: &[Vec<u8>], names: &[&str]) -> Option<Vec<String>> {
    let mut args = vec!["-r", "-", "-o", "udp.check_checksum:TRUE"];
    args.extend(["-T", "fields", "-E", "separator=,"]);
    for name in names {
        args.extend(["-e", name]);
    }
    let out = tool("tshark", &args, &capture(frames), "apt-get install tshark")?;
    let text = String::from_utf8(out).expect("text");
    Some(text.lines().map(String::from).collect())
}

/// Says that a test is skipped for want of `name`, or fails it under continuous integration.
fn skipped(name: &str, remedy: &str) -> Option<Vec<u8>> {
    assert!(
        std::env::var_os("CI").is_none_or(|value| value != "true"),
        "{name} is not installed ({remedy}), and CI must not skip this test"
    );
    println!("skipped: {name} is not installed ({remedy})");
    None
}

/// Bytes as lower-case hexadecimal digits, as Python's `bytes.fromhex` reads them.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes from hexadecimal digits; white space is passed over.
///
/// # Panics
///
/// If something else stands there, or a digit is missing.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).expect("hexadecimal digits") as u8)
        .collect();
    assert!(digits.len().is_multiple_of(2), "a digit is missing in {text:?}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
