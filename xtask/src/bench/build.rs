//! `cargo xtask bench build`: what the features and profiles of `Cargo.toml` cost, against the alternatives.
//!
//! Processor time, not time on the clock, so that other work on the machine matters little. All variants share
//! a target directory, where cargo compiles only what differs; the time of a unit that it reuses is known from
//! when it was compiled. What an interrupted run has compiled is kept.

use super::units;
use crate::{
    process::{self, cargo, output},
    workspace::Workspace,
};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Crates that run on the host, once per kernel and shape, and are large.
const KERNEL_BUILDERS: [&str; 14] = [
    "burn-cubecl",
    "cubecl-core",
    "cubecl-std",
    "cubek-attention",
    "cubek-convolution",
    "cubek-fft",
    "cubek-interpolate",
    "cubek-matmul",
    "cubek-pool",
    "cubek-quant",
    "cubek-random",
    "cubek-reduce",
    "cubek-std",
    "cubek-tile",
];

struct Variant {
    name: &'static str,
    arguments: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    processor_seconds: f64,
    program_bytes: u64,
    artifact_bytes: u64,
}

/// The part of cargo's messages that is used here.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    filenames: Vec<PathBuf>,
    executable: Option<PathBuf>,
    #[serde(default)]
    fresh: bool,
}

/// Measures the build as it is, and then `arguments` on top of it, or the alternatives if there are none.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let folder = workspace.target.join("bench/build");
    let wrapper = units::install_wrapper(&folder)?;
    let mut variants = vec![Variant {
        name: "as it is",
        arguments: Vec::new(),
    }];
    match arguments {
        [] => variants.extend(alternatives()),
        arguments => variants.push(Variant {
            name: "with the given arguments",
            arguments: arguments.to_vec(),
        }),
    }
    let report = folder.with_extension("json");
    let mut rows = Vec::new();
    // After each of them, since all together take hours.
    for variant in &variants {
        rows.push(measure(workspace, &folder, &wrapper, variant)?);
        print(&rows);
        fs::write(&report, serde_json::to_string_pretty(&rows)?)
            .with_context(|| format!("cannot write {}", report.display()))?;
    }
    Ok(())
}

fn alternatives() -> Vec<Variant> {
    let features = |name, features: &str| Variant {
        name,
        arguments: vec!["--features".to_owned(), features.to_owned()],
    };
    let profile = |setting: String| ["--config".to_owned(), format!("profile.release.{setting}")];
    vec![
        features("with `fusion`", "bayesadapter/fusion"),
        Variant {
            name: "kernel builders at `opt-level = 1`",
            arguments: KERNEL_BUILDERS
                .iter()
                .flat_map(|package| profile(format!("package.{package}.opt-level=1")))
                .collect(),
        },
        features("with `autotune`", "burn/autotune"),
        Variant {
            name: "with line tables of dependencies",
            arguments: profile("package.\"*\".debug=\"line-tables-only\"".to_owned()).to_vec(),
        },
    ]
}

fn measure(workspace: &Workspace, folder: &Path, wrapper: &Path, variant: &Variant) -> Result<Row> {
    println!("\n=== {} ===", variant.name);
    forget_members(workspace, folder)?;
    let start = SystemTime::now();
    let messages = output(
        cargo()
            .args(["build", "--release", "--workspace", "--target-dir"])
            .arg(folder)
            .arg("--message-format=json-render-diagnostics")
            .args(&variant.arguments)
            .current_dir(&workspace.root)
            .env("RUSTC_WRAPPER", wrapper)
            .env("BUILD_UNITS", units::folder(folder)),
    )?;
    let known = units::known(folder)?;
    let mut files = BTreeSet::new();
    let mut program = None;
    for line in messages.lines() {
        let message: Message =
            serde_json::from_str(line).context("cannot read cargo's messages")?;
        if message.fresh && !known.iter().any(|unit| line.contains(unit)) {
            bail!(
                "no time is known of {}, so the sum would be too small; remove {} and measure again",
                message
                    .filenames
                    .first()
                    .map_or(folder, PathBuf::as_path)
                    .display(),
                folder.display()
            );
        }
        files.extend(message.filenames);
        program = message
            .executable
            .filter(|path| path.file_stem().is_some_and(|stem| stem == "bayesadapter"))
            .or(program);
    }
    let Some(program) = program else {
        bail!("cargo built no program `bayesadapter`");
    };
    Ok(Row {
        name: variant.name,
        processor_seconds: units::processor_seconds(folder, &known, &messages, start)?,
        program_bytes: fs::metadata(program)?.len(),
        artifact_bytes: files.iter().try_fold(0, |sum, file| {
            fs::metadata(file).map(|metadata| sum + metadata.len())
        })?,
    })
}

/// The files that cargo reports for a crate of the workspace do not name its unit, so those crates are compiled
/// in every variant, and known by the time of that.
fn forget_members(workspace: &Workspace, folder: &Path) -> Result<()> {
    let mut clean = cargo();
    clean
        .args(["clean", "--release", "--target-dir"])
        .arg(folder);
    for member in workspace.members() {
        clean.args(["--package", &member.name]);
    }
    process::run(clean.current_dir(&workspace.root))
}

fn print(rows: &[Row]) {
    println!("\n| build | processor time | program | artifacts |\n|---|---|---|---|");
    for row in rows {
        println!(
            "| {} | {:.1} min | {:.1} MB | {:.2} GB |",
            row.name,
            row.processor_seconds / 60.0,
            row.program_bytes as f64 / 1e6,
            row.artifact_bytes as f64 / 1e9,
        );
    }
}
