//! One set of features for everything that is built natively.

use crate::process::{cargo, output};
use anyhow::{Result, bail};
use std::collections::BTreeSet;

/// Fails if `cargo run` and the tests would choose different features of some crate: everything above
/// that crate would then be compiled twice, and burn alone takes most of a cold build.
///
/// A package chosen with `--package` still has features of its own; build from the root, without it.
pub fn check() -> Result<()> {
    let app = resolved(&["--edges", "normal,build"])?;
    let all = resolved(&["--workspace", "--edges", "normal,build,dev"])?;
    let split: Vec<&str> = app.difference(&all).map(String::as_str).collect();
    if !split.is_empty() {
        bail!(
            "`cargo run` would build these with other features than `cargo test --workspace`:\n  {}\n\
             Add the crate that asks for more to `default-members`, or ask for less.",
            split.join("\n  ")
        );
    }
    println!("{} packages have one set of features", app.len());
    Ok(())
}

/// Every package with its features, one per line.
fn resolved(arguments: &[&str]) -> Result<BTreeSet<String>> {
    let tree = output(
        cargo()
            .args(["tree", "--prefix", "none", "--format", "{p} [{f}]"])
            .args(arguments),
    )?;
    let line = |line: &str| line.trim_end_matches(" (*)").to_owned();
    Ok(tree.lines().map(line).collect())
}
