//! `cargo xtask web`: the page, ready to be served from any folder.

mod compile;
mod demo;
mod sizes;

pub use compile::Warnings;
pub use sizes::print_one as print_sizes;

use crate::{
    process::run,
    setup::{TARGET, WebTools},
    workspace::Workspace,
};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const PACKAGE: &str = "bayesadapter-web";
const PROFILE: &str = "web";
/// What a visitor may have to download, the demo included.
const MAX_GZIPPED_BYTES: usize = 6_500_000;
/// Copied as they are.
const STATIC_FILES: [&str; 12] = [
    "index.html",
    "page.js",
    "page.css",
    "thread.js",
    "old.js",
    "check.html",
    "check.js",
    "check.css",
    "example.html",
    "example.js",
    "bayesadapter-api.js",
    "bayesadapter-api.d.ts",
];

/// Builds the page and returns its folder.
pub fn build(workspace: &Workspace, tools: &WebTools, warnings: Warnings) -> Result<PathBuf> {
    // A directory of its own, because the compiler may be another one than that of the native build.
    let target = workspace.target.join("wasm");
    let mut build = tools.toolchain.cargo("rustc");
    build
        // The crate is a plain library natively, so that a native build links no shared object.
        .args(["--package", PACKAGE, "--lib", "--crate-type", "cdylib"])
        .args(["--profile", PROFILE, "--target-dir"])
        .arg(&target)
        .current_dir(&workspace.root);
    compile::run(&mut build, &workspace.root, warnings)?;
    let wasm = target
        .join(TARGET)
        .join(PROFILE)
        .join(PACKAGE.replace('-', "_"))
        .with_extension("wasm");
    let page = workspace.target.join("page");
    empty(&page)?;
    run(Command::new(&tools.wasm_bindgen)
        .args(["--target", "web", "--no-typescript"])
        // Names of functions are 40 % of the module before this. (The linker's `strip` would also take the
        // list of target features, which wasm-bindgen reads.)
        .args(["--remove-name-section", "--remove-producers-section"])
        .args(["--out-name", "bayesadapter", "--out-dir"])
        .arg(&page)
        .arg(&wasm))?;
    for name in STATIC_FILES {
        fs::copy(workspace.root.join("web").join(name), page.join(name))
            .with_context(|| format!("cannot copy {name} to {}", page.display()))?;
    }
    demo::put(workspace, &page)?;
    sizes::write(&page)?;
    let gzipped = sizes::print(&page)?;
    ensure!(
        gzipped <= MAX_GZIPPED_BYTES,
        "the page has grown to {gzipped} bytes, more than the {MAX_GZIPPED_BYTES} in xtask/src/web.rs"
    );
    Ok(page)
}

/// An empty folder: a file of an earlier build must not make this one work.
fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}
