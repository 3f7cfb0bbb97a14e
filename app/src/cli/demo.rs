//! `bayesadapter demo`: the whole story on handwritten digits.

use super::{Voice, devices, finetune, outcome, strange};
use crate::{
    demo::{run_folder, settings},
    error::{BadInput, unwritable},
    outcome::about,
    report::{self, Report},
};
use anyhow::Result;
use bayesadapter::{
    disk,
    session::{DeviceChoice, Job, Method, RunFolder, RunSettings, SessionError},
};
use burn::tensor::Device;
use clap::Args;
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

#[derive(Args)]
pub struct Flags {
    /// Folder of the demo's four runs and its report; a demo that is there is replaced, and nothing else.
    #[arg(long, default_value = "bayesadapter-demo", value_name = "FOLDER")]
    out: PathBuf,
    /// What computes: auto (a GPU if there is one), cpu, gpu or gpu:N as `devices` lists them.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
    /// Start of all chance; the same seed gives the same demo.
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
}

/// What the run files of a demo begin with, and no others: by it they are known when a demo is replaced.
const ABOUT: &str = "A run of bayesadapter's demo";

/// What a demo makes in the folder of a run; the file that tells whose run it is goes last.
const MADE: [&str; 6] = [
    "checkpoints",
    "evaluations",
    "metrics.csv",
    "metrics.json",
    "posterior.safetensors",
    "run.toml",
];

/// The folder of deterministic fine-tuning, the neighbour that a posterior has to beat.
fn fine_tuned_folder(out: &Path) -> PathBuf {
    out.join("map-fine-tuned")
}

/// The settings of deterministic fine-tuning, with the budget of the posteriors.
fn fine_tuned_settings(device: DeviceChoice, out: &Path) -> RunSettings {
    let mut settings = settings(Method::Pse, device, out);
    settings.posterior.method = Method::Map;
    // Point weights have no draws that could disagree.
    settings.data.ood_train.clear();
    settings
}

/// One of the runs of a demo, in their order.
#[derive(Clone, Copy)]
enum Stage {
    Pretrained,
    FineTuned,
    Posterior(Method),
}

const STAGES: [Stage; 4] = [
    Stage::Pretrained,
    Stage::FineTuned,
    Stage::Posterior(Method::Mfg),
    Stage::Posterior(Method::Pse),
];

impl Stage {
    fn folder(self, out: &Path) -> PathBuf {
        match self {
            Self::Pretrained => run_folder(out, Method::Map),
            Self::FineTuned => fine_tuned_folder(out),
            Self::Posterior(method) => run_folder(out, method),
        }
    }

    fn settings(self, device: DeviceChoice, out: &Path) -> RunSettings {
        match self {
            Self::Pretrained => settings(Method::Map, device, out),
            Self::FineTuned => fine_tuned_settings(device, out),
            Self::Posterior(method) => settings(method, device, out),
        }
    }

    fn introduction(self) -> &'static str {
        match self {
            Self::Pretrained => "1. Ordinary training, from random weights (MAP)",
            Self::FineTuned => {
                "2. The same network, fine-tuned without a posterior (MAP fine-tuned)"
            }
            Self::Posterior(Method::Mfg) => {
                "3. The same network with a Gaussian for every weight (MFG), fine-tuned"
            }
            Self::Posterior(_) => {
                "4. The same network as an ensemble that shares its weights (PSE), fine-tuned"
            }
        }
    }
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let start = Instant::now();
    let device = devices::choose(flags.device)?;
    clear(&flags.out)?;
    voice.say(format_args!(
        "A small network, 445 handwritten digits to train on, 1,352 to validate and test on, and scribbles that are no \
         digits. The posteriors also learn to be unsure of drawings, which are made in another way than the scribbles.\n\
         Device: {}",
        device.name
    ));
    let mut runs = Vec::new();
    for stage in STAGES {
        voice.say(format_args!("\n{}", stage.introduction()));
        let settings = RunSettings {
            seed: flags.seed,
            ..stage.settings(flags.device, &flags.out)
        };
        let job = Job::open(settings, &device.device)?;
        let path = stage.folder(&flags.out);
        let folder = RunFolder::create(&path, &job.settings, &marked(&about(&device)))?;
        let code = finetune::execute_quietly(job, None, folder, voice)?;
        if let Some(code) = code {
            return Ok(code);
        }
        runs.push(path);
    }
    let page = report(&runs, &flags.out, &device.device, voice)?;
    voice.say(format_args!(
        "Report: {}\nThe posteriors are beside it. Try:\n  bayesadapter predict {} PICTURE\n{:.0} s in all",
        page.display(),
        flags.out.join("pse").join("posterior.safetensors").display(),
        start.elapsed().as_secs_f64()
    ));
    voice.json(&serde_json::json!({ "event": "finished", "report": page }));
    Ok(ExitCode::SUCCESS)
}

/// A second demo replaces the first; nothing else is ever removed.
fn clear(out: &Path) -> Result<()> {
    if is_free(out) {
        return Ok(());
    }
    let runs = STAGES.map(|stage| stage.folder(out));
    let there: Vec<&PathBuf> = runs.iter().filter(|run| !is_free(run)).collect();
    let foreign = match there.is_empty() {
        true => Some(out),
        false => there
            .iter()
            .find(|run| !is_of_demo(run))
            .map(|run| run.as_path()),
    };
    if let Some(place) = foreign {
        return Err(BadInput(format!(
            "{} is there, and is not of a demo; choose another folder with --out",
            place.display()
        ))
        .into());
    }
    // All of them, before the first is touched.
    let locks: Result<Vec<_>> = there.iter().map(|run| lock(run)).collect();
    let _locks = locks?;
    for run in there {
        for made in MADE {
            remove(&run.join(made))?;
        }
    }
    Ok(())
}

/// Whether there is nothing at a path, or an empty folder: a lock that nobody holds is nothing.
fn is_free(path: &Path) -> bool {
    match disk::list(path) {
        Ok(entries) => entries.iter().all(|entry| entry.ends_with(".lock")),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn marked(about: &str) -> String {
    format!("{ABOUT}\n{about}")
}

/// What the run file in a folder shall say of itself: that of a demo stays one.
pub fn kept_mark(run: &Path, about: String) -> String {
    match is_of_demo(run) {
        true => marked(&about),
        false => about,
    }
}

fn is_of_demo(run: &Path) -> bool {
    let text = fs::read_to_string(run.join("run.toml")).unwrap_or_default();
    text.lines().next() == Some(&format!("# {ABOUT}"))
}

fn lock(run: &Path) -> Result<disk::Lock> {
    let lock = disk::lock(run).map_err(unwritable(run))?;
    let busy = || SessionError::Folder {
        folder: run.display().to_string(),
        problem: "another process works on this run".to_owned(),
    };
    Ok(lock.ok_or_else(busy)?)
}

fn remove(path: &Path) -> Result<()> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(unwritable(path)(error).into())
        }
        _ => Ok(()),
    }
}

fn report(runs: &[PathBuf], out: &Path, device: &Device, voice: &Voice) -> Result<PathBuf> {
    let mut report = Report {
        title: "Handwritten digits, and what is none".to_owned(),
        created: outcome::now(),
        ..Report::default()
    };
    for path in runs {
        let (folder, settings) = RunFolder::open(path)?;
        let name = settings.result_name();
        let evaluations = folder.evaluations()?;
        report
            .evaluations
            .extend(evaluations.into_iter().filter(|one| one.method == name));
        report
            .training
            .push(outcome::training(&name, &folder.history_rows()?));
        report
            .first_layers
            .extend(outcome::first_layer(&name, &folder.posterior_path())?);
    }
    outcome::table(&report.evaluations, voice);
    let (_, settings) = RunFolder::open(run_folder(out, Method::Pse))?;
    let test = settings.data.open(settings.seed)?.test;
    report.strange = strange::compare(&report.evaluations, out, &*test, device, voice)?;
    report.pictures = outcome::pictures(&report.evaluations, &Some(test));
    let page = report::write(&report, out)?;
    if let Some(figure) = &report.strange {
        let image = strange::write(figure, out)?;
        voice.say(format_args!("Image: {}", image.display()));
    }
    Ok(page)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    fn run(out: &Path, name: &str, first_line: &str) -> PathBuf {
        let run = out.join(name);
        fs::create_dir_all(run.join("checkpoints")).unwrap();
        fs::write(run.join("run.toml"), format!("# {first_line}\nseed = 0\n")).unwrap();
        fs::write(run.join("posterior.safetensors"), "hours of work").unwrap();
        run
    }

    #[test]
    fn only_what_a_demo_made_is_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let out = scratch.path();
        clear(&out.join("not there yet")).unwrap();
        clear(out).unwrap();
        let of_demo = run(out, "map", ABOUT);
        fs::write(of_demo.join("notes.txt"), "the user's").unwrap();
        // A run of the user in one of the other places keeps all of them.
        let of_user = run(out, "pse", "A run of bayesadapter 0.1.0");
        let error = clear(out).unwrap_err().to_string();
        assert!(error.contains("pse") && error.contains("--out"), "{error}");
        assert!(of_user.join("posterior.safetensors").exists());
        assert!(of_demo.join("posterior.safetensors").exists());
        fs::remove_dir_all(&of_user).unwrap();
        // So does another process that works there.
        let lock = disk::lock(&of_demo).unwrap().unwrap();
        assert!(
            clear(out)
                .unwrap_err()
                .to_string()
                .contains("another process")
        );
        drop(lock);
        clear(out).unwrap();
        assert!(!of_demo.join("run.toml").exists() && !of_demo.join("checkpoints").exists());
        assert!(of_demo.join("notes.txt").exists());
        fs::remove_file(of_demo.join("notes.txt")).unwrap();
        fs::write(out.join("report.html"), "of the demo").unwrap();
        run(out, "mfg", ABOUT);
        clear(out).unwrap();
    }

    #[test]
    fn a_run_of_a_demo_that_went_on_stays_one() {
        let scratch = tempfile::tempdir().unwrap();
        let of_demo = run(scratch.path(), "map", ABOUT);
        let of_user = run(scratch.path(), "mfg", "A run of bayesadapter 0.1.0");
        let about = |run: &Path| kept_mark(run, "device: another".to_owned());
        assert_eq!(about(&of_demo), format!("{ABOUT}\ndevice: another"));
        assert_eq!(about(&of_user), "device: another");
    }

    #[test]
    fn a_folder_of_something_else_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("report.html"), "of another run").unwrap();
        assert!(clear(scratch.path()).is_err());
    }
}
