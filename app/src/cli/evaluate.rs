//! `bayesadapter evaluate`: posteriors on test pictures, side by side.

use super::{Voice, devices, outcome};
use crate::{
    network,
    report::{self, Report},
};
use anyhow::Result;
use bayesadapter::{
    data::{Corrupted, Corruption, Dataset, FrostPictures, Split},
    evaluate::Evaluation,
    session::{self, DeviceChoice, EvaluationSettings, Judge, OwnThread, open_any},
};
use burn::tensor::Device;
use clap::Args;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

#[derive(Args)]
pub struct Flags {
    /// Posterior files; the first is what the others are compared with.
    #[arg(required = true)]
    posteriors: Vec<PathBuf>,
    /// Test pictures: any layout that `finetune` takes; its test part is used.
    #[arg(long, value_name = "PATH")]
    data: String,
    /// Pictures of another kind, on which the network should be unsure.
    #[arg(long, value_name = "PATH")]
    ood: Option<String>,
    /// Corrupt the test pictures as CIFAR-10-C does, such as gaussian_noise or fog.
    #[arg(long, value_name = "NAME")]
    corruption: Option<Corruption>,
    /// How badly, 1 to 5.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5))]
    severity: u8,
    /// Folder with the photographs that the corruption `frost` needs.
    #[arg(long, value_name = "FOLDER")]
    frost: Option<PathBuf>,
    /// Draws of the posterior.
    #[arg(long, default_value_t = 20, value_name = "S")]
    draws: u32,
    /// Pictures at once.
    #[arg(long, default_value_t = 128, value_name = "N")]
    batch: usize,
    /// Threads that read pictures ahead.
    #[arg(long, default_value_t = 1, value_name = "N")]
    workers: usize,
    /// Pass over pictures that cannot be read.
    #[arg(long)]
    skip_broken: bool,
    /// What computes: auto, cpu, gpu or gpu:N.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
    /// Folder for the report [default: none is written].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let device = devices::choose(flags.device)?;
    let test = test_pictures(flags)?;
    let other = match &flags.ood {
        Some(path) => Some((path.clone(), open_any(path, Split::Test)?)),
        None => None,
    };
    let mut evaluations = Vec::new();
    let mut first_layers = Vec::new();
    for path in &flags.posteriors {
        let evaluation = judge(path, flags, &test, &other, &device.device, voice)?;
        let Some(evaluation) = evaluation else {
            return Ok(ExitCode::from(super::exit::INTERRUPTED));
        };
        first_layers.extend(outcome::first_layer(&evaluation.method, path)?);
        evaluations.push(evaluation);
    }
    outcome::table(&evaluations, voice);
    let Some(out) = &flags.out else {
        return Ok(ExitCode::SUCCESS);
    };
    let report = Report {
        title: format!("Networks on {}", flags.data),
        created: outcome::now(),
        settings: vec![("draws".to_owned(), flags.draws.to_string())],
        pictures: outcome::pictures(&evaluations, &Some(test)),
        evaluations,
        training: Vec::new(),
        first_layers,
    };
    let page = report::write(&report, out)?;
    voice.say(format_args!("Report: {}", page.display()));
    Ok(ExitCode::SUCCESS)
}

fn test_pictures(flags: &Flags) -> Result<Arc<dyn Dataset>> {
    let test = open_any(&flags.data, Split::Test)?;
    let Some(corruption) = flags.corruption else {
        return Ok(test);
    };
    let corrupted = match (&flags.frost, corruption) {
        (Some(folder), Corruption::Frost) => {
            let frost = FrostPictures::open(folder)?;
            Corrupted::with_frost(test, frost, flags.severity, 0)
        }
        _ => Corrupted::new(test, corruption, flags.severity, 0),
    };
    Ok(Arc::new(corrupted?))
}

/// Judges one file; nothing if the user stopped it.
fn judge(
    path: &Path,
    flags: &Flags,
    test: &Arc<dyn Dataset>,
    other: &Option<(String, Arc<dyn Dataset>)>,
    device: &Device,
    voice: &Voice,
) -> Result<Option<Evaluation>> {
    let opened = network::open(path, device)?;
    let judge = Judge {
        test: Arc::clone(test),
        out_of_distribution: other.clone(),
        preparation: opened.preparation()?,
        settings: EvaluationSettings {
            draws: flags.draws,
            batch: flags.batch,
        },
        skip_broken: flags.skip_broken,
        workers: flags.workers,
        device: device.clone(),
    };
    let (control, port) = session::connect();
    super::finetune::stop_on_interrupt(&control);
    let judged = std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let evaluation = judge.evaluate(&opened.bayes, opened.method, &port, &OwnThread);
            burn::tensor::read_sync(evaluation)
        });
        voice.follow(&control);
        thread.join()
    });
    let judged = judged
        .map_err(|_| anyhow::anyhow!("the evaluation ended by a defect of this program"))??;
    Ok(judged.map(|evaluation| Evaluation {
        // Several files of one method are told apart by their folders.
        method: match flags.posteriors.len() {
            1 => evaluation.method.clone(),
            _ => label(path, &evaluation.method),
        },
        ..evaluation
    }))
}

fn label(path: &Path, method: &str) -> String {
    let folder = path.parent().and_then(Path::file_name);
    match folder {
        Some(folder) => format!("{method} {}", folder.to_string_lossy()),
        None => method.to_owned(),
    }
}
