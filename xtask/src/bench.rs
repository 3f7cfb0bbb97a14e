//! `cargo xtask bench`.

mod build;
mod page;
mod units;

use crate::{
    process::{self, cargo},
    workspace::Workspace,
};
use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Bench {
    /// Speed and memory of every op: prints a table and writes bench/kernels.json in the target
    /// directory. Measure on an idle machine; without a GPU it takes about twenty minutes.
    Kernels {
        /// Fewer shapes and repetitions: a look, not a result.
        #[arg(long)]
        quick: bool,
        /// Only layers whose name has this in it, such as 1x1, depthwise or "linear 512->512".
        layer: Option<String>,
    },
    /// Training steps of a ResNet-20 for every posterior and estimator, beside PyTorch's: writes
    /// bench/train.json.
    Train {
        /// Fewer repetitions: a look, not a result.
        #[arg(long)]
        quick: bool,
    },
    /// Predictions of a ResNet-20 with 20 draws, beside 20 single passes: writes bench/predict.json.
    Predict {
        /// Fewer repetitions: a look, not a result.
        #[arg(long)]
        quick: bool,
    },
    /// Pictures per second of loading, decoding and augmentation, beside those that a network takes: writes
    /// bench/data.json.
    Data {
        /// Fewer repetitions: a look, not a result.
        #[arg(long)]
        quick: bool,
    },
    /// Size of the page's module after `wasm-opt`, which comes from npm, beside that without. The page must be built.
    Page,
    /// Processor time and size of a cold native build, and of the alternatives to its features and
    /// profile: prints a table and writes bench/build.json in the target directory. Takes more than an
    /// hour on two cores.
    Build {
        /// Arguments for `cargo build` to measure instead of the alternatives, after `--`.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

pub fn run(workspace: &Workspace, bench: &Bench) -> Result<()> {
    let (name, mut arguments, quick) = match bench {
        Bench::Kernels { quick, layer } => ("kernels", layer.iter().cloned().collect(), quick),
        Bench::Train { quick } => ("network", vec!["train".to_owned()], quick),
        Bench::Predict { quick } => ("network", vec!["predict".to_owned()], quick),
        Bench::Data { quick } => ("data", Vec::new(), quick),
        Bench::Page => return page::run(workspace),
        Bench::Build { arguments } => return build::run(workspace, arguments),
    };
    if *quick {
        arguments.push("--quick".to_owned());
    }
    // `--workspace` for the features that the rest of the workspace was built with.
    let mut command = cargo();
    command
        .args(["bench", "--workspace", "--bench", name, "--"])
        .args(arguments)
        .current_dir(&workspace.root);
    process::run(&mut command)
}
