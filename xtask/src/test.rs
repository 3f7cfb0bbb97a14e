//! `cargo xtask test`: what CI runs.

use crate::{
    boundaries, browser, features, lint,
    process::{self, cargo},
    setup::{self, WasmChoice},
    steps::Steps,
    web,
    workspace::Workspace,
};
use anyhow::Result;

/// Cheapest first. Where tests need no particular package, `--workspace` is given: packages chosen
/// one by one resolve to other features, and with them burn would be compiled again.
pub fn run(workspace: &Workspace, choice: WasmChoice) -> Result<()> {
    let mut steps = Steps::default();
    let tools = steps.run("set-up", || setup::all(workspace, choice))?;
    steps.run("format", || {
        process::run(cargo().args(["fmt", "--all", "--check"]))
    })?;
    steps.run("crate boundaries", || {
        boundaries::check(workspace)?;
        features::check()
    })?;
    // Alone, because it needs neither burn nor a GPU: a broken shader shows before the long build.
    steps.run("shaders", || {
        cargo_test(&["--package", "bayesadapter-shaders", "--lib", "--tests"])
    })?;
    steps.run("lints", || lint::run_clippy(workspace))?;
    steps.run("tests on CPU and GPU", || {
        cargo_test(&["--workspace", "--lib", "--bins", "--tests"])
    })?;
    steps.run("doc tests", || cargo_test(&["--workspace", "--doc"]))?;
    let page = steps.run("web build", || {
        web::build(workspace, &tools.web, web::Warnings::Refuse)
    })?;
    steps.run("browser tests", || {
        browser::test(workspace, &tools.browser, &page)
    })?;
    steps.finish();
    Ok(())
}

fn cargo_test(arguments: &[&str]) -> Result<()> {
    process::run(cargo().args(["test", "--release"]).args(arguments))
}
