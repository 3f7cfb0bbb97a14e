//! The networks of the page's demo, which the native program trains.

use crate::{
    process::{cargo, executable, run},
    workspace::Workspace,
};
use anyhow::{Context, Result};
use std::{fs, path::Path, process::Command, time::SystemTime};

/// Files of the runs of `bayesadapter demo` that the page brings along: what its first network is, comes from, and is
/// worth. What the ordinary network is worth is the same for both.
const FILES: [&str; 7] = [
    "map/run.toml",
    "map/posterior.safetensors",
    "map/evaluations/map.json",
    "pse/run.toml",
    "pse/metrics.json",
    "pse/posterior.safetensors",
    "pse/evaluations/pse.json",
];

/// Puts the networks beside the page. They are trained when there are none, or the program is newer.
pub fn put(workspace: &Workspace, page: &Path) -> Result<()> {
    // From the root and without a package: the features of every other native build.
    run(cargo()
        .args(["build", "--release"])
        .current_dir(&workspace.root))?;
    let program = executable(&workspace.target.join("release"), "bayesadapter");
    let from = workspace.target.join("demo");
    let trained = FILES.iter().map(|file| changed(&from.join(file))).min();
    if trained.flatten() <= changed(&program) {
        // A relative path, because it is among the settings that a posterior file tells.
        run(Command::new(&program)
            .args(["demo", "--device", "cpu", "--out", "demo"])
            .current_dir(&workspace.target))?;
    }
    for file in FILES {
        let to = page.join("demo").join(file);
        let folder = to.parent().unwrap_or(page);
        fs::create_dir_all(folder)
            .and_then(|()| fs::copy(from.join(file), &to))
            .with_context(|| format!("cannot copy {file} to {}", to.display()))?;
    }
    Ok(())
}

fn changed(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|about| about.modified()).ok()
}
