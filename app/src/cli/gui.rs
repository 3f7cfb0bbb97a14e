//! `bayesadapter gui`: the window.

use super::Voice;
use crate::{error::unwritable, window};
use anyhow::Result;
use clap::Args;
use std::{path::PathBuf, process::ExitCode, time::Duration};

#[derive(Args, Default)]
pub struct Flags {
    /// Run the demo in the window, save a picture of every page, print how long frames take and how much memory is in
    /// use, and quit [default: the window stays open for you].
    #[arg(long, value_name = "FOLDER")]
    screenshots: Option<PathBuf>,
    /// Repeat the demo for so long; leaks of memory show after hours only.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "MINUTES",
        requires = "screenshots"
    )]
    minutes: u64,
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    match &flags.screenshots {
        None => window::open()?,
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(unwritable(folder))?;
            let time = Duration::from_secs(60 * flags.minutes);
            for line in window::tour(folder.clone(), time)? {
                voice.say(format_args!("{line}"));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
