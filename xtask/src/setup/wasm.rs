//! A compiler for `wasm32-unknown-unknown`.

use super::apt;
use crate::process::{answer, cargo, find, run};
use anyhow::{Result, bail};
use clap::ValueEnum;
use std::{path::Path, process::Command};

pub const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's compiler comes without a standard library for our target, but with its sources.
const DEBIAN_PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-19"];
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";

/// Which compiler makes WebAssembly.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum WasmChoice {
    /// The toolchain in use, with rustup's help; Debian's where rustup cannot add the target.
    #[default]
    Auto,
    /// The toolchain in use, or nothing.
    Rustup,
    /// Debian's packages, even if the toolchain in use could do it.
    Debian,
}

pub enum WasmToolchain {
    /// The toolchain in use has the target.
    Native,
    /// Debian's compiler, which builds the standard library too.
    Debian,
}

/// Finds or adds a toolchain; Debian's packages may still be missing afterwards.
pub fn choose(choice: WasmChoice) -> Result<WasmToolchain> {
    if choice == WasmChoice::Debian {
        return Ok(WasmToolchain::Debian);
    }
    if has_target() {
        return Ok(WasmToolchain::Native);
    }
    // Where Debian's compiler was needed before, rustup would fail again, and slowly.
    let has_debian = WasmToolchain::Debian.missing_packages().is_empty();
    if choice == WasmChoice::Auto && has_debian {
        return Ok(WasmToolchain::Debian);
    }
    if find(&["rustup"]).is_some() {
        match run(Command::new("rustup").args(["target", "add", TARGET])) {
            Ok(()) if has_target() => return Ok(WasmToolchain::Native),
            Ok(()) => println!("rustup added {TARGET} to another toolchain than the one in use"),
            Err(error) => println!("{error:#}"),
        }
    }
    if choice == WasmChoice::Rustup || find(&["apt-get"]).is_none() {
        bail!("no compiler for {TARGET}; run `rustup target add {TARGET}` and try again");
    }
    println!("using Debian's compiler for {TARGET} instead");
    Ok(WasmToolchain::Debian)
}

fn has_target() -> bool {
    answer("rustc", &["--print", "target-libdir", "--target", TARGET])
        .is_some_and(|folder| Path::new(folder.trim()).is_dir())
}

impl WasmToolchain {
    pub fn missing_packages(&self) -> Vec<&'static str> {
        match self {
            Self::Native => Vec::new(),
            Self::Debian => DEBIAN_PACKAGES
                .into_iter()
                .filter(|package| !apt::is_installed(package))
                .collect(),
        }
    }

    /// `cargo <command>` for the target.
    pub fn cargo(&self, command: &str) -> Command {
        let mut cargo = match self {
            Self::Native => {
                let mut cargo = cargo();
                cargo.arg(command);
                cargo
            }
            Self::Debian => {
                let mut cargo = Command::new(DEBIAN_CARGO);
                cargo
                    .args([command, "-Zbuild-std=std,panic_abort"])
                    .env("RUSTC", DEBIAN_RUSTC)
                    // Building the standard library is an unstable feature of a stable compiler.
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld-19")
                    // Set by the cargo that started us, for libraries of its own compiler.
                    .env_remove("LD_LIBRARY_PATH")
                    .env_remove("RUSTUP_TOOLCHAIN");
                cargo
            }
        };
        cargo.args(["--target", TARGET]);
        cargo
    }
}
