//! `cargo xtask web`: the page, ready to be served from any folder.

use crate::{
    process::run,
    setup::{TARGET, WebTools},
    workspace::Workspace,
};
use anyhow::{Context, Result, ensure};
use flate2::{Compression, write::GzEncoder};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

const PACKAGE: &str = "bayesadapter-web";
const PROFILE: &str = "web";
/// What a visitor may have to download. Burn and wgpu alone are 2.2 MB; a jump is worth a look at what
/// came in, or at this number.
const MAX_GZIPPED_BYTES: usize = 4_000_000;
/// Copied as they are.
const STATIC_FILES: [&str; 3] = ["index.html", "page.js", "page.css"];

/// Builds the page and returns its folder.
pub fn build(workspace: &Workspace, tools: &WebTools) -> Result<PathBuf> {
    // A directory of its own, because the compiler may be another one than that of the native build.
    let target = workspace.target.join("wasm");
    run(tools
        .toolchain
        .cargo("rustc")
        // The crate is a plain library natively, so that a native build links no shared object.
        .args(["--package", PACKAGE, "--lib", "--crate-type", "cdylib"])
        .args(["--profile", PROFILE, "--target-dir"])
        .arg(&target)
        .current_dir(&workspace.root))?;
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
    let gzipped = print_sizes(&page)?;
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

/// What a visitor downloads: each file, and what remains of it when the server compresses. Returns the
/// compressed total.
fn print_sizes(page: &Path) -> Result<usize> {
    println!("\n{:<28}{:>12}{:>12}", page.display(), "kB", "kB gzipped");
    let mut names: Vec<PathBuf> = fs::read_dir(page)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    names.sort();
    let (mut raw_total, mut gzipped_total) = (0, 0);
    for file in names {
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let (raw, gzipped) = (bytes.len(), gzipped_len(&bytes)?);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        println!("  {name:<26}{}", columns(raw, gzipped));
        raw_total += raw;
        gzipped_total += gzipped;
    }
    println!("  {:<26}{}", "total", columns(raw_total, gzipped_total));
    Ok(gzipped_total)
}

fn columns(raw: usize, gzipped: usize) -> String {
    let kilo = |bytes: usize| bytes as f64 / 1000.0;
    format!("{:>12.1}{:>12.1}", kilo(raw), kilo(gzipped))
}

fn gzipped_len(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}
