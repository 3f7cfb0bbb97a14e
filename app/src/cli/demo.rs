//! `bayesadapter demo`: the whole story on handwritten digits.

use super::{Voice, devices, finetune, outcome};
use crate::{
    demo::{DATA, run_folder, settings},
    report::{self, Report},
};
use anyhow::{Context, Result, bail};
use bayesadapter::{
    data::Split,
    session::{DeviceChoice, Job, Method, RunFolder, RunSettings, open_any},
};
use clap::Args;
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

#[derive(Args)]
pub struct Flags {
    /// Folder of the demo's three runs and its report.
    #[arg(long, default_value = "bayesadapter-demo", value_name = "FOLDER")]
    out: PathBuf,
    /// What computes: auto, cpu, gpu or gpu:N.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
    /// Start of all chance.
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
}

/// What the run files of a demo say of themselves.
pub const ABOUT: &str = "A run of bayesadapter's demo";

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let start = Instant::now();
    clear(&flags.out)?;
    let device = devices::choose(flags.device)?;
    voice.say(format_args!(
        "A small network, 445 handwritten digits to learn from, 1,352 to judge by, and scribbles that are no \
         digits.\nDevice: {}",
        device.name
    ));
    let mut runs = Vec::new();
    for method in [Method::Map, Method::Mfg, Method::Pse] {
        voice.say(format_args!("\n{}", introduction(method)));
        let settings = RunSettings {
            seed: flags.seed,
            ..settings(method, flags.device, &flags.out)
        };
        let job = Job::open(settings, &device.device)?;
        let path = run_folder(&flags.out, method);
        let folder = RunFolder::create(&path, &job.settings, ABOUT)?;
        let code = finetune::execute_quietly(job, None, folder, None, voice)?;
        if let Some(code) = code {
            return Ok(code);
        }
        runs.push((method, path));
    }
    let page = report(&runs, &flags.out, voice)?;
    voice.say(format_args!(
        "Report: {}\nThe posteriors are beside it. Try:\n  bayesadapter predict {} PICTURE\n{:.0} s in all",
        page.display(),
        flags.out.join("pse").join("posterior.safetensors").display(),
        start.elapsed().as_secs_f64()
    ));
    Ok(ExitCode::SUCCESS)
}

/// A second demo replaces the first; nothing else is ever removed.
fn clear(out: &Path) -> Result<()> {
    if !out.exists() {
        return Ok(());
    }
    let runs = ["map", "mfg", "pse"].map(|run| out.join(run));
    if !out.join("report.html").exists() && !runs.iter().any(|run| run.join("run.toml").exists()) {
        let empty = out
            .read_dir()
            .is_ok_and(|mut entries| entries.next().is_none());
        if !empty {
            bail!(
                "{} is there, and holds no demo; choose another folder with --out",
                out.display()
            );
        }
    }
    for run in runs.iter().filter(|run| run.join("run.toml").exists()) {
        fs::remove_dir_all(run).with_context(|| format!("{} cannot be replaced", run.display()))?;
    }
    Ok(())
}

fn introduction(method: Method) -> &'static str {
    match method {
        Method::Map => "1. Ordinary training, from random weights (MAP)",
        Method::Mfg => "2. The same network with a Gaussian for every weight (MFG), fine-tuned",
        Method::Pse => {
            "3. The same network as an ensemble that shares its weights (PSE), fine-tuned"
        }
    }
}

fn report(runs: &[(Method, PathBuf)], out: &Path, voice: &Voice) -> Result<PathBuf> {
    let mut report = Report {
        title: "Handwritten digits, and what is none".to_owned(),
        created: outcome::now(),
        ..Report::default()
    };
    for (method, path) in runs {
        let (folder, _) = RunFolder::open(path)?;
        let name = method.to_string();
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
    report.pictures = outcome::pictures(&report.evaluations, &Some(open_any(DATA, Split::Test)?));
    report::write(&report, out)
}
