//! Parts of the Rust toolchain and programs from the package registry.

use crate::{
    process::{answer, cargo, executable, find, run},
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use std::{fs, path::PathBuf, process::Command};

/// Adds what rustup left out in a minimal installation.
pub fn ensure_components(components: &[&str]) -> Result<()> {
    for component in components {
        let (program, package) = match *component {
            "clippy" => ("clippy-driver", "rust-clippy"),
            other => (other, other),
        };
        if answer(program, &["--version"]).is_some() {
            continue;
        }
        if find(&["rustup"]).is_none() {
            bail!(
                "`{component}` is missing: `rustup component add {component}` adds it, and where Rust is not from \
                 rustup, on Debian `apt-get install {package}`; then try again"
            );
        }
        run(Command::new("rustup").args(["component", "add", component]))?;
    }
    Ok(())
}

/// The `wasm-bindgen` program of exactly the version of the library in the lock file: the two speak
/// an internal format.
pub fn ensure_wasm_bindgen(workspace: &Workspace) -> Result<PathBuf> {
    let version = &workspace
        .packages("wasm-bindgen")
        .next()
        .context("wasm-bindgen is not in the lock file")?
        .version;
    let wanted = format!("wasm-bindgen {version}");
    let fits = |program: &PathBuf| {
        answer(program, &["--version"]).is_some_and(|found| found.trim() == wanted)
    };
    let folder = workspace.target.join("tools");
    let own = executable(&folder.join("bin"), "wasm-bindgen");
    let candidates = [Some(own.clone()), find(&["wasm-bindgen"])];
    if let Some(program) = candidates.into_iter().flatten().find(fits) {
        return Ok(program);
    }
    let build = folder.join("build");
    // Not `--locked`: one version that its lock file names is missing on mirrors of the registry.
    run(cargo()
        .args(["install", "wasm-bindgen-cli", "--force"])
        // It runs for a second or two: optimising it takes longer than that saves.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .args(["--version", &format!("={version}")])
        .arg("--root")
        .arg(&folder)
        .arg("--target-dir")
        .arg(&build))?;
    // Only the program is of use; what it was built from would fill a kept target directory.
    fs::remove_dir_all(&build).with_context(|| format!("cannot remove {}", build.display()))?;
    Ok(own)
}
