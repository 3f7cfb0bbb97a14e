//! The command line.

mod demo;
mod devices;
mod picture;
mod window;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Bayesian fine-tuning of pre-trained networks, on any GPU and on a plain CPU.
#[derive(Parser)]
#[command(name = "bayesadapter", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the ops on every device here, measure two estimators, and draw kernels to a picture.
    Demo {
        /// Where the picture goes.
        #[arg(long, default_value = "bayesadapter-demo.png")]
        out: PathBuf,
        /// Draws per estimator; more make the measured variances surer.
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..))]
        runs: u32,
    },
    /// List the devices that can compute.
    Devices,
    /// Open a window with the demo's posterior and turn through its draws.
    Gui,
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Demo { out, runs } => demo::run(&out, runs),
        Command::Devices => devices::list(),
        Command::Gui => window::open(),
    }
}
