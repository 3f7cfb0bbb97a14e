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
use std::{io::Write, path::Path, process::ExitCode};

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
    tell_remarks(&job, voice);
    if flags.dry_run {
        return outcome::plan(&job, &device.name, voice);
    }
    if start == Start::Pretrained && job.load.is_none() {
        let text = "`finetune` starts from trained weights: name them with --weights. `bayesadapter pretrain` makes some";
        return Err(BadInput(text.to_owned()).into());
    }
    let out = flags
        .out
        .clone()
        .unwrap_or_else(|| Path::new("runs").join(folder_name(&job.settings)));
    let folder = RunFolder::create(&out, &job.settings, &about(&device))?;
    voice.say(format_args!("Device: {}", device.name));
    execute(job, None, folder, voice)
}

fn settings(flags: &RunFlags, start: Start) -> Result<RunSettings> {
    if start == Start::Pretrained {
        return flags.settings(|_| ());
    }
    let settings = flags.settings(|settings| {
        settings.posterior.method = Method::Map;
        settings.training.rates = FineTuning::from_scratch();
    })?;
    if settings.model.weights.is_some() || settings.posterior.method != Method::Map {
        let text = "`pretrain` trains point weights from random ones, but weights or a posterior are given, as a flag or \
                    in the run file; `finetune` takes them";
        return Err(BadInput(text.to_owned()).into());
    }
    Ok(settings)
}

fn tell_remarks(job: &Job, voice: &Voice) {
    let mut remarks: Vec<String> = [&job.train, &job.test]
        .iter()
        .filter_map(|data| data.remark())
        .collect();
    // Both parts of data that come in one piece say the same.
    remarks.dedup();
    remarks.iter().for_each(|remark| voice.warn(remark));
}

fn resume(path: &Path, flags: &RunFlags, voice: &Voice) -> Result<ExitCode> {
    let (mut folder, saved) = RunFolder::open(path)?;
    if folder.is_finished(&saved) {
        let posterior = folder.posterior_path();
        // The report is written by someone who opens the folder anew.
        drop(folder);
        // A run may have been ended between its evaluation and its report.
        if !path.join("report.html").exists() {
            return outcome::finish(path, voice);
        }
        voice.say(format_args!(
            "{} is finished; nothing to do",
            path.display()
        ));
        voice.json(&serde_json::json!({
            "event": "finished",
            "posterior": posterior,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut settings = saved.clone();
    flags.apply(&mut settings);
    let (state, damaged) = folder.state()?;
    for file in damaged {
        voice.warn(&format!(
            "{} is damaged and was passed over",
            file.display()
        ));
    }
    let device = devices::choose(settings.device)?;
    let job = Job::open(settings, &device.device)?;
    if job.settings != saved {
        folder.change(&job.settings, &about(&device))?;
    }
    voice.say(format_args!("Device: {}", device.name));
    execute(job, state, folder, voice)
}

/// Runs a job to its end and writes its report.
fn execute(
    job: Job,
    state: Option<TrainState>,
    folder: RunFolder,
    voice: &Voice,
) -> Result<ExitCode> {
    let path = folder.path().to_owned();
    match execute_quietly(job, state, folder, voice)? {
        Some(code) => Ok(code),
        None => outcome::finish(&path, voice),
    }
}

/// Runs a job to its end. Returns a code only if it was stopped before.
pub fn execute_quietly(
    job: Job,
    state: Option<TrainState>,
    folder: RunFolder,
    voice: &Voice,
) -> Result<Option<ExitCode>> {
    let path = folder.path().to_owned();
    let (control, thread) = session::spawn(job, state, folder);
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
            voice.json(&serde_json::json!({ "event": "stopped", "resume": path }));
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
                voice.json(&serde_json::json!({ "event": "resumable", "resume": path }));
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
                let text = "\nStopping after this step; once more to end at once.";
                let _ = writeln!(std::io::stderr(), "{text}");
                control.send(Command::Stop);
            }
            _ => std::process::exit(i32::from(INTERRUPTED)),
        });
    });
}
