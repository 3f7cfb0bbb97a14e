//! `cargo xtask bench`.

use crate::{
    process::{self, cargo},
    workspace::Workspace,
};
use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Bench {
    /// Speed and memory of every op: prints a table and writes bench/kernels.json in the target
    /// directory. Measure on an idle machine.
    Kernels {
        /// Fewer shapes and repetitions: a look, not a result.
        #[arg(long)]
        quick: bool,
        /// More arguments for the benchmark, after `--`.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

pub fn run(workspace: &Workspace, bench: &Bench) -> Result<()> {
    let Bench::Kernels { quick, arguments } = bench;
    // `--workspace` for the features that the rest of the workspace was built with.
    let mut command = cargo();
    command
        .args(["bench", "--workspace", "--bench", "kernels", "--"])
        .current_dir(&workspace.root);
    if *quick {
        command.arg("--quick");
    }
    process::run(command.args(arguments))
}
