//! The command line.

mod bars;
mod checkpoint;
mod choices;
mod compare;
mod data_get;
mod demo;
pub(crate) mod devices;
mod evaluate;
pub mod exit;
mod export;
mod faces;
pub(crate) mod finetune;
mod flags;
mod gui;
mod inspect;
mod interrupt;
mod kernels;
mod ops;
pub(crate) mod outcome;
mod places;
mod predict;
mod strange;
mod test_pictures;

use anyhow::Result;
use bars::{Output, Voice};
use bayesadapter::{ops::kernels_from_environment, showcase::GRADIENT_VARIANCE_RUNS};
use clap::{Args, Parser, Subcommand};
pub use exit::BadInput;
use std::{path::PathBuf, process::ExitCode};

/// Bayesian fine-tuning of pre-trained networks, on any GPU and on a plain CPU.
///
/// Exit codes: 0 done; 1 failed; 2 wrong usage; 3 the input (weights, data, settings) cannot be used; 4 the training
/// ran away from finite numbers; 5 the device failed or is not there; 6 a file cannot be written, or the folder of a
/// run cannot be used; 130 stopped by Ctrl-C, state saved.
#[derive(Parser)]
#[command(name = "bayesadapter", version)]
struct Arguments {
    #[command(flatten)]
    output: OutputFlags,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Args)]
struct OutputFlags {
    /// Tell everything as JSON, one object per line: for scripts.
    #[arg(long, global = true, conflicts_with = "quiet")]
    json: bool,
    /// Tell only what went wrong.
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Make a digit classifier Bayesian, and see what that is worth: no download, no GPU, under a minute.
    Demo(demo::Flags),
    /// Turn a pre-trained network into a Bayesian one by a short fine-tuning.
    Finetune(flags::RunFlags),
    /// Train a network from random weights in the ordinary way: a start for `finetune`.
    Pretrain(flags::RunFlags),
    /// Evaluate posteriors and checkpoints on test images, and write a report.
    Evaluate(evaluate::Flags),
    /// Compare runs in one table, with means and deviations over random seeds.
    Compare(compare::Flags),
    /// Say what pictures show, and how sure that is.
    Predict(predict::Flags),
    /// Show what a checkpoint or a posterior file holds.
    Inspect(inspect::Flags),
    /// Write the mean network, or one draw, as ordinary safetensors weights.
    Export(export::Flags),
    /// Data sets.
    #[command(subcommand)]
    Data(DataCommand),
    /// List the devices that can compute.
    ///
    /// Adapters run one of two sets of kernels: that of GPUs, or that of adapters that are a CPU. The environment
    /// variable BAYESADAPTER_KERNELS, `gpu` or `software`, decides for all of them; `auto`, as without it, by adapter.
    Devices {
        /// Also compute every op on the preferred adapter, and compare with the CPU: drivers have defects.
        #[arg(long)]
        check: bool,
    },
    /// Open the window. The same as no command.
    Gui(gui::Flags),
    /// Check the ops on every device here, measure the gradient variance of all estimators, and draw kernels to an image.
    Ops {
        /// Where the image of the kernels goes.
        #[arg(long, default_value = "bayesadapter-ops.png")]
        out: PathBuf,
        /// Draws per estimator, 500 as in the paper; more make the measured variances surer.
        #[arg(long, default_value_t = GRADIENT_VARIANCE_RUNS, value_parser = clap::value_parser!(u32).range(2..))]
        runs: u32,
    },
}

#[derive(Subcommand)]
enum DataCommand {
    /// Download a data set, verify it, and say where it is.
    Get(data_get::Flags),
}

/// Runs the command of this process's arguments.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let output = match (arguments.output.json, arguments.output.quiet) {
        (true, _) => Output::Json,
        (_, true) => Output::Quiet,
        _ => Output::Text,
    };
    let voice = Voice::new(output);
    if let Err(unknown) = kernels_from_environment() {
        voice.warn(&format!(
            "BAYESADAPTER_KERNELS: {unknown}. Every adapter gets the kernels that suit it"
        ));
    }
    match run(
        arguments
            .command
            .unwrap_or(Command::Gui(gui::Flags::default())),
        &voice,
    ) {
        Ok(code) => code,
        Err(error) => {
            voice.error(&error);
            exit::code_of(&error)
        }
    }
}

fn run(command: Command, voice: &Voice) -> Result<ExitCode> {
    match command {
        Command::Demo(flags) => demo::run(&flags, voice),
        Command::Finetune(flags) => finetune::run(&flags, finetune::Start::Pretrained, voice),
        Command::Pretrain(flags) => finetune::run(&flags, finetune::Start::Random, voice),
        Command::Evaluate(flags) => evaluate::run(&flags, voice),
        Command::Compare(flags) => compare::run(&flags, voice),
        Command::Predict(flags) => predict::run(&flags, voice),
        Command::Inspect(flags) => inspect::run(&flags, voice),
        Command::Export(flags) => export::run(&flags, voice),
        Command::Data(DataCommand::Get(flags)) => data_get::run(&flags, voice),
        Command::Devices { check } => devices::list(check, voice),
        Command::Gui(flags) => gui::run(&flags, voice),
        Command::Ops { out, runs } => ops::run(&out, runs, voice).map(|()| ExitCode::SUCCESS),
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::{Command, CommandFactory};

    fn check(command: &Command) {
        let name = command.get_name();
        assert!(command.get_about().is_some(), "{name} has no help");
        for flag in command.get_arguments() {
            let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "{name} {flag} has no help");
            let has_default = !flag.get_default_values().is_empty()
                || help.contains("[default")
                || flag.is_required_set()
                || !flag.get_action().takes_values();
            assert!(has_default, "{name} {flag} tells no default: {help}");
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn every_flag_of_every_command_has_help_and_a_default() {
        let command = Arguments::command();
        command.clone().debug_assert();
        assert!(command.get_subcommands().count() > 10);
        check(&command);
    }
}
