//! `cargo xtask bench page`: what `wasm-opt` would make of the page's module.

use crate::{process, web, workspace::Workspace};
use anyhow::{Context, Result};
use std::{fs, process::Command, time::Instant};

/// Debian's is too old for what today's compilers write.
const BINARYEN: &str = "binaryen@132.0.0";

pub fn run(workspace: &Workspace) -> Result<()> {
    let module = workspace.target.join("page/bayesadapter_bg.wasm");
    let before = fs::read(&module).with_context(|| {
        let module = module.display();
        format!("cannot read {module}; build the page first: cargo xtask web")
    })?;
    let folder = workspace.target.join("bench");
    fs::create_dir_all(&folder)?;
    let optimised = folder.join("optimised.wasm");
    let start = Instant::now();
    process::run(
        Command::new("npx")
            .args(["--yes", "--package", BINARYEN, "--", "wasm-opt"])
            .args(["-Oz", "--all-features"])
            .arg(&module)
            .arg("-o")
            .arg(&optimised),
    )?;
    let seconds = start.elapsed().as_secs_f64();
    web::print_sizes("the page's module", &before)?;
    web::print_sizes("after wasm-opt -Oz", &fs::read(&optimised)?)?;
    println!("  wasm-opt took {seconds:.0} s");
    Ok(())
}
