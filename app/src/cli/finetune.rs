//! `bayesadapter finetune` and `pretrain`: one run in one folder.

use super::{
    Voice, demo, devices,
    exit::{BadInput, INTERRUPTED},
    flags::RunFlags,
    interrupt, outcome, places,
};
use crate::{
    outcome::{about, folder_name},
    places::write_in_full,
};
use anyhow::{Result, anyhow};
use bayesadapter::{
    data::DataError,
    evaluate::EvaluateError,
    session::{self, Ending, Job, Method, RunFolder, RunSettings, SessionError},
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
    let mut settings = settings(flags, start)?;
    write_in_full(&mut settings);
    let device = devices::choose(settings.device)?;
    let mut job = Job::open(settings, &device.device)?;
    flags.suit(&mut job.settings.training, job.train.len());
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
    places::refuse_new_files(flags, &saved)?;
    let mut settings = saved;
    flags.apply(&mut settings);
    write_in_full(&mut settings);
    let (state, damaged) = folder.state()?;
    for file in damaged {
        voice.warn(&format!(
            "{} is damaged and was passed over",
            file.display()
        ));
    }
    let device = devices::choose(settings.device)?;
    let job = Job::open(settings, &device.device)?;
    // From here on the run is of this program and this device, whatever else stays as it was.
    folder.change(&job.settings, &demo::kept_mark(path, about(&device)))?;
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
    let interrupt = interrupt::stops(&control);
    voice.follow(&control);
    let ending = thread
        .join()
        .map_err(|_| anyhow!("the run ended by a defect of this program"))?;
    drop(interrupt);
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
            let broken = is_of_broken_picture(&error);
            if resumable || broken {
                let flag = if broken { " --skip-broken" } else { "" };
                voice.say(format_args!(
                    "What was done is in {0}; go on with: bayesadapter finetune --resume {0}{flag}",
                    path.display()
                ));
                voice.json(&serde_json::json!({
                    "event": "resumable",
                    "resume": path,
                    "skip_broken": broken,
                }));
            }
            Err(error.into())
        }
    }
}

/// Whether a run ended at a picture that it could have passed over.
fn is_of_broken_picture(error: &SessionError) -> bool {
    let data = match error {
        SessionError::Data(error) => Some(error),
        SessionError::Evaluate(EvaluateError::Data(error)) => error.downcast_ref(),
        _ => None,
    };
    matches!(data, Some(DataError::Broken { .. }))
}
