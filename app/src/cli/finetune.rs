//! `bayesadapter finetune` and `pretrain`: one run in one folder.

use super::{
    Voice, devices,
    exit::{BadInput, INTERRUPTED},
    flags::RunFlags,
    outcome,
};
use crate::outcome::{about, folder_name};
use anyhow::{Result, anyhow};
use bayesadapter::{
    session::{self, Command, Ending, Job, Method, RunFolder, RunSettings},
    train::{FineTuning, TrainState},
};
use std::{path::Path, process::ExitCode};

/// Where a run starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// `finetune`: from trained weights.
    Pretrained,
    /// `pretrain`: from random ones, to point weights.
    Random,
}

pub fn run(flags: &RunFlags, start: Start, voice: &Voice) -> Result<ExitCode> {
    if let Some(folder) = &flags.resume {
        return resume(folder, flags, voice);
    }
    let settings = settings(flags, start)?;
    let device = devices::choose(settings.device)?;
    let job = Job::open(settings, &device.device)?;
    if flags.dry_run {
        return outcome::plan(&job, &device.name, voice);
    }
    let out = flags
        .out
        .clone()
        .unwrap_or_else(|| Path::new("runs").join(folder_name(&job.settings)));
    let folder = RunFolder::create(&out, &job.settings, &about(&device))?;
    voice.say(format_args!("Device: {}", device.name));
    execute(job, None, folder, None, voice)
}

fn settings(flags: &RunFlags, start: Start) -> Result<RunSettings> {
    let mut settings = flags.settings()?;
    if start == Start::Random {
        if flags.posterior.is_some() || flags.weights.is_some() {
            let text = "`pretrain` trains point weights from random ones; `finetune` takes --weights and --posterior";
            return Err(BadInput(text.to_owned()).into());
        }
        settings.posterior.method = Method::Map;
        if flags.config.is_none() {
            let scratch = FineTuning::from_scratch();
            settings.training.rates.mean_drop = scratch.mean_drop;
            if flags.mean_rate.is_none() {
                settings.training.rates.mean_rate = scratch.mean_rate;
            }
        }
    }
    Ok(settings)
}

fn resume(path: &Path, flags: &RunFlags, voice: &Voice) -> Result<ExitCode> {
    let (folder, mut settings) = RunFolder::open(path)?;
    if folder.is_finished(&settings) {
        voice.say(format_args!(
            "{} is finished; nothing to do",
            path.display()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    flags.apply(&mut settings);
    let rates = flags
        .changes_rates()
        .then(|| settings.training.rates.clone());
    let (state, damaged) = folder.state()?;
    for file in damaged {
        voice.warn(&format!(
            "{} is damaged and was passed over",
            file.display()
        ));
    }
    let device = devices::choose(settings.device)?;
    let job = Job::open(settings, &device.device)?;
    voice.say(format_args!("Device: {}", device.name));
    execute(job, state, folder, rates, voice)
}

/// Runs a job to its end and writes its report.
fn execute(
    job: Job,
    state: Option<TrainState>,
    folder: RunFolder,
    rates: Option<FineTuning>,
    voice: &Voice,
) -> Result<ExitCode> {
    let path = folder.path().to_owned();
    match execute_quietly(job, state, folder, rates, voice)? {
        Some(code) => Ok(code),
        None => outcome::finish(&path, voice),
    }
}

/// Runs a job to its end, with other learning rates than those that it was saved with if some are given. Returns a
/// code only if it was stopped before.
pub fn execute_quietly(
    job: Job,
    state: Option<TrainState>,
    folder: RunFolder,
    rates: Option<FineTuning>,
    voice: &Voice,
) -> Result<Option<ExitCode>> {
    let path = folder.path().to_owned();
    let (control, thread) = session::spawn(job, state, folder);
    if let Some(rates) = rates {
        control.send(Command::SetRates(rates));
    }
    stop_on_interrupt(&control);
    voice.follow(&control);
    let ending = thread
        .join()
        .map_err(|_| anyhow!("the run ended by a defect of this program"))?;
    match ending {
        Ok(Ending::Finished) => Ok(None),
        Ok(Ending::Stopped) => {
            voice.say(format_args!(
                "Stopped and saved. Go on with: bayesadapter finetune --resume {}",
                path.display()
            ));
            Ok(Some(ExitCode::from(INTERRUPTED)))
        }
        Err(error) => {
            let resumable = path
                .join("checkpoints")
                .read_dir()
                .is_ok_and(|mut files| files.next().is_some());
            if resumable {
                voice.say(format_args!(
                    "The last saved state is in {0}; go on with: bayesadapter finetune --resume {0}",
                    path.display()
                ));
            }
            Err(error.into())
        }
    }
}

/// Ctrl-C ends the run after its current step; a second one ends the program at once.
pub fn stop_on_interrupt(control: &session::Control) {
    use std::sync::{Mutex, Once, PoisonError};
    static INSTALLED: Once = Once::new();
    static CURRENT: Mutex<Option<(session::Control, bool)>> = Mutex::new(None);
    let lock = || CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    *lock() = Some((control.clone(), false));
    INSTALLED.call_once(|| {
        // Where no handler can be set, Ctrl-C ends the program, and the last saved state is there.
        let _ = ctrlc::set_handler(move || match &mut *lock() {
            Some((control, told)) if !*told => {
                *told = true;
                eprintln!("\nStopping after this step; once more to end at once.");
                control.send(Command::Stop);
            }
            _ => std::process::exit(i32::from(INTERRUPTED)),
        });
    });
}
