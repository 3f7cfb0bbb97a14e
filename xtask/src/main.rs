//! The chores of this workspace: `cargo xtask <command>`.

mod bench;
mod boundaries;
mod browser;
mod features;
mod lint;
mod process;
mod serve;
mod setup;
mod steps;
mod test;
mod web;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use setup::WasmChoice;
use std::process::ExitCode;
use workspace::Workspace;

/// Set-up, checks, web build and benchmarks of BayesAdapter for WebGPU.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the checks need and is missing, or print the command that does.
    ///
    /// Needs nothing on a machine that has it all. Installs system packages only as root on a
    /// Debian-like system; everything else goes into the target directory or to rustup.
    Setup {
        #[arg(long, value_enum, default_value_t)]
        wasm_toolchain: WasmChoice,
    },
    /// Run every check that CI runs, cheapest first: formatting, crate boundaries, shaders, lints,
    /// tests on CPU and GPU, doc tests, the web build and the browser tests.
    Test {
        #[arg(long, value_enum, default_value_t)]
        wasm_toolchain: WasmChoice,
    },
    /// Build the web page into the target directory and print what a visitor downloads.
    Web {
        /// Serve the page on this machine until interrupted.
        #[arg(long)]
        serve: bool,
        /// Port for --serve.
        #[arg(long, default_value_t = 8080, requires = "serve")]
        port: u16,
        #[arg(long, value_enum, default_value_t)]
        wasm_toolchain: WasmChoice,
    },
    /// Measure speed and memory.
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The chain of reasons, without the backtrace that RUST_BACKTRACE would add.
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let workspace = Workspace::load()?;
    match command {
        Command::Setup { wasm_toolchain } => setup::all(&workspace, wasm_toolchain).map(drop),
        Command::Test { wasm_toolchain } => test::run(&workspace, wasm_toolchain),
        Command::Web {
            serve,
            port,
            wasm_toolchain,
        } => {
            let tools = setup::web(&workspace, wasm_toolchain)?;
            let page = web::build(&workspace, &tools, web::Warnings::Print)?;
            if serve {
                serve::Server::bind(port, &page)?.announce().run();
            }
            Ok(())
        }
        Command::Bench(bench) => bench::run(&workspace, &bench),
    }
}
