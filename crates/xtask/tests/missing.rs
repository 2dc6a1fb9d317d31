//! What the commands say where something is not installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of programs, the only one that is searched.
struct Programs(PathBuf);

impl Programs {
    fn none(test: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn with(self, name: &str, script: &str) -> Self {
        let path = self.0.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script that can be run");
        self
    }

    /// A compiler whose libraries are in the folder, with the target or without.
    fn with_rustc(self, target: bool) -> Self {
        if target {
            fs::create_dir_all(self.0.join("lib/rustlib/thumbv7m-none-eabi")).expect("a folder");
        }
        let folder = self.0.display().to_string();
        self.with("rustc", &format!("echo {folder}"))
    }

    /// One sentence, and exit code 2.
    #[track_caller]
    fn says(&self, command: &str, words: &[&str]) {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg(command)
            .env("PATH", &self.0)
            .output()
            .expect("xtask itself");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        for word in words {
            assert!(said.contains(word), "{said}");
        }
    }
}

#[test]
fn without_a_compiler_rustup_is_named() {
    let programs = Programs::none("no-compiler");
    for command in ["size", "traverse"] {
        programs.says(command, &["rustc is not installed", "rustup"]);
    }
}

#[test]
fn without_the_target_both_ways_to_have_it_are_named() {
    let programs = Programs::none("no-target").with_rustc(false);
    for command in ["size", "traverse"] {
        programs.says(
            command,
            &["rustup target add thumbv7m-none-eabi", "rust-src", "-Z build-std"],
        );
    }
}

#[test]
fn without_the_emulator_its_package_is_named() {
    let programs = Programs::none("no-emulator").with_rustc(true);
    for command in ["size", "traverse"] {
        programs.says(
            command,
            &["qemu-system-arm is not installed", "package qemu-system-arm"],
        );
    }
}

#[test]
fn without_valgrind_its_package_is_named() {
    let programs = Programs::none("no-valgrind")
        .with_rustc(true)
        .with("qemu-system-arm", "exit 0");
    programs.says("traverse", &["valgrind is not installed", "package valgrind"]);
}
