//! A browser with WebGPU, and what drives it.

use crate::{
    process::{find, run},
    workspace::Workspace,
};
use anyhow::{Context, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const CHROMIUM_NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Files of tests/browser that the driver needs.
const DRIVER_FILES: [&str; 12] = [
    "package.json",
    "package-lock.json",
    "drive.mjs",
    "learning.mjs",
    "ops.mjs",
    "tab.mjs",
    "widgets.mjs",
    "window.mjs",
    "own.mjs",
    "api.mjs",
    "files.mjs",
    "finger.mjs",
];

pub struct BrowserTools {
    pub chromium: PathBuf,
    pub node: PathBuf,
    /// The driver script, beside the packages it imports.
    pub driver: PathBuf,
}

/// The variable `CHROMIUM` names a browser that is not on the search path.
fn chromium() -> Option<PathBuf> {
    env::var_os("CHROMIUM")
        .map(PathBuf::from)
        .or_else(|| find(&CHROMIUM_NAMES))
}

pub fn missing_packages() -> Vec<&'static str> {
    let mut packages = Vec::new();
    if chromium().is_none() {
        packages.push("chromium");
    }
    if find(&["node"]).is_none() {
        packages.push("nodejs");
    }
    if find(&["npm"]).is_none() {
        packages.push("npm");
    }
    packages
}

/// Puts the driver and the pinned package it imports into the target directory, out of the tree.
pub fn ensure(workspace: &Workspace) -> Result<BrowserTools> {
    let tools = BrowserTools {
        chromium: chromium().context("no chromium found on the search path")?,
        node: find(&["node"]).context("no node found on the search path")?,
        driver: workspace.target.join("browser/drive.mjs"),
    };
    let npm = find(&["npm"]).context("no npm found on the search path")?;
    let from = workspace.root.join("tests/browser");
    let to = workspace.target.join("browser");
    let is_current = to.join("node_modules/playwright-core").is_dir()
        && same_content(
            &to.join("package-lock.json"),
            &from.join("package-lock.json"),
        );
    fs::create_dir_all(&to).with_context(|| format!("cannot create {}", to.display()))?;
    for name in DRIVER_FILES {
        fs::copy(from.join(name), to.join(name))
            .with_context(|| format!("cannot copy {name} to {}", to.display()))?;
    }
    if !is_current {
        // Its install script would download browsers; we use the one of the system.
        run(Command::new(npm)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&to))?;
    }
    Ok(tools)
}

fn same_content(one: &Path, other: &Path) -> bool {
    match (fs::read(one), fs::read(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
