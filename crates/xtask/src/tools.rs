//! Programs that the commands call, and what is said when one is missing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::progress;

/// The target of the firmware.
pub(crate) const TARGET: &str = "thumbv7m-none-eabi";

/// Where the compiler comes from.
pub(crate) const RUSTUP: &str = "rustup (https://rustup.rs)";

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something has to be installed first: the sentence says what. Exit code 2.
    Missing(String),
    /// Anything else. Exit code 1.
    Wrong(String),
}

impl From<String> for Failure {
    fn from(what: String) -> Self {
        Self::Wrong(what)
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// A program is missing that comes with a package.
pub(crate) fn missing(program: &str, package: &str) -> Failure {
    Failure::Missing(format!(
        "{program} is not installed: it comes with the package {package}"
    ))
}

/// Fails if a program is missing, before work begins that would be in vain.
pub(crate) fn need(program: &str) -> Result<(), Failure> {
    run(&mut command(program, ["--version"]), program).map(drop)
}

/// Runs a program to its end and gives what it printed. `package` is where it comes from.
pub(crate) fn run(command: &mut Command, package: &str) -> Result<Output, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => missing(&name, package),
        _ => Failure::Wrong(format!("{name}: {error}")),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    let (printed, errors) = (text(&output.stdout), text(&output.stderr));
    Err(Failure::Wrong(format!(
        "{name} failed ({}):\n{printed}{errors}",
        output.status
    )))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command of the Rust toolchain in the firmware's folder, with the toolchain that is pinned there.
fn toolchain(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root().join("firmware"));
    // Set by whoever runs `cargo xtask`, for another workspace.
    for name in [
        "RUSTUP_TOOLCHAIN",
        "CARGO",
        "RUSTC",
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
    ] {
        command.env_remove(name);
    }
    command
}

/// The toolchain that firmware/rust-toolchain.toml pins.
pub(crate) fn pinned() -> Result<String, Failure> {
    let file = text(&read(root().join("firmware/rust-toolchain.toml"))?);
    let channel = file.lines().find_map(|line| line.strip_prefix("channel = "));
    let channel = channel.map(|channel| channel.trim_matches('"').to_owned());
    channel.ok_or_else(|| Failure::Wrong("firmware/rust-toolchain.toml names no channel".to_owned()))
}

/// The version of the compiler that builds the firmware.
pub(crate) fn compiler() -> Result<String, Failure> {
    let output = run(toolchain("rustc").arg("--version"), RUSTUP)?;
    Ok(text(&output.stdout).trim().to_owned())
}

/// How the images are optimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum OptLevel {
    /// For size, as it is tracked.
    S,
    /// For size at any price.
    Z,
    /// For speed.
    #[value(name = "3")]
    Three,
}

impl OptLevel {
    /// The profile of firmware/Cargo.toml.
    const fn profile(self) -> &'static str {
        match self {
            Self::S => "release",
            Self::Z => "size-z",
            Self::Three => "speed",
        }
    }
}

impl std::fmt::Display for OptLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::S => "s",
            Self::Z => "z",
            Self::Three => "3",
        })
    }
}

/// Fails if the compiler or what it needs for the target is missing.
pub(crate) fn need_target() -> Result<(), Failure> {
    let sysroot = run(toolchain("rustc").args(["--print", "sysroot"]), RUSTUP)?;
    let library = Path::new(text(&sysroot.stdout).trim())
        .join("lib/rustlib")
        .join(TARGET);
    if !library.exists() {
        return Err(Failure::Missing(format!(
            "the Rust target {TARGET} is not installed: `rustup target add {TARGET}` in firmware/, or where that cannot be \
             fetched, your distribution's package rust-src and `-Z build-std=core` in firmware/.cargo/config.toml"
        )));
    }
    Ok(())
}

/// Images of the firmware that are built together, with the same modules of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Images {
    /// Those with all modules but TCP.
    Whole,
    /// Those whose size is compared with stacks that put datagrams together at every hop.
    HopWise,
    /// With forwarding of fragments.
    Forward,
    /// With forwarding and recovery of fragments.
    Recover,
    /// The one with TCP.
    Tcp,
}

impl Images {
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Whole => &[
                "forward",
                "misbehave",
                "reassembly",
                "sensor",
                "size_whole",
                "traverse",
                "udp_echo",
            ],
            Self::HopWise => &["size_router", "size_hwr"],
            Self::Forward => &["size_ff"],
            Self::Recover => &["size_sfr"],
            Self::Tcp => &["size_tcp"],
        }
    }

    /// The features of firmware/Cargo.toml, if they are not its default ones.
    const fn features(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::HopWise => Some(""),
            Self::Forward => Some("forward"),
            Self::Recover => Some("recover"),
            Self::Tcp => Some("recover,ipv6-fragments,tcp"),
        }
    }
}

/// Builds images and gives the folder that they are in.
pub(crate) fn build(images: Images, level: OptLevel) -> Result<PathBuf, Failure> {
    need_target()?;
    let profile = level.profile();
    progress::show(&format!(
        "building {} at opt-level {level}",
        images.names().join(", ")
    ));
    // The names of files are in the images, for panics: their length must not depend on where the checkout is.
    let flags = format!("build.rustflags=[\"--remap-path-prefix={}/=\"]", root().display());
    let folder =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("firmware/target"), PathBuf::from);
    let mut cargo = toolchain("cargo");
    cargo.args([
        "build",
        "--quiet",
        "--locked",
        "--config",
        &flags,
        "--profile",
        profile,
    ]);
    for name in images.names() {
        cargo.args(["--bin", name]);
    }
    if let Some(features) = images.features() {
        cargo.args(["--no-default-features", "--features", features]);
    }
    run(cargo.arg("--target-dir").arg(&folder), RUSTUP)?;
    Ok(folder.join(TARGET).join(profile))
}

/// Reads a file whole.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, Failure> {
    let path = path.as_ref();
    std::fs::read(path).map_err(|error| Failure::Wrong(format!("{}: {error}", path.display())))
}

/// Writes a file whole.
pub(crate) fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    let path = path.as_ref();
    std::fs::write(path, bytes).map_err(|error| Failure::Wrong(format!("{}: {error}", path.display())))
}

/// A command with arguments.
pub(crate) fn command<I: AsRef<OsStr>>(program: &str, args: impl IntoIterator<Item = I>) -> Command {
    let mut command = Command::new(program);
    command.args(args);
    command
}

/// A place for a file that nobody keeps, in the target folder.
pub(crate) fn scratch(name: &str) -> Result<PathBuf, Failure> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let folder = target.join("xtask");
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::Wrong(format!("{}: {error}", folder.display())))?;
    Ok(folder.join(name))
}
