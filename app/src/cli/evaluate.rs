//! `bayesadapter evaluate`: posteriors on test images, side by side.

mod attack;
mod cells;
mod images;
mod network;
mod summary;
mod sweep;
mod table;
mod verification;

use super::{BadInput, Voice, checkpoint, devices, exit::INTERRUPTED, outcome};
use crate::report::{self, Report};
use anyhow::Result;
use attack::AttackFlags;
use bayesadapter::{
    data::{Split, ValidationSplit},
    session::{DeviceChoice, Judge, open_any},
};
use clap::Args;
use images::Corruptions;
use network::OpenNetwork;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Args)]
pub struct Flags {
    /// Posterior files, and with --model ordinary checkpoints; the first is what the others are compared with.
    #[arg(required = true)]
    posteriors: Vec<PathBuf>,
    /// The network of files that are ordinary checkpoints, such as resnet20-cifar, so that they can be scored before
    /// anything is fine-tuned [default: all are posterior files].
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Test pictures: any layout that `finetune` takes. Its test part is used; of data in one piece that a network
    /// learnt from, what its run kept back.
    #[arg(long, value_name = "PATH")]
    data: String,
    /// Images to fit temperature and prediction sets on, as for `finetune`: test:0.2, test:2000, 0.1, auto or none. They
    /// are taken out of the test set, and must be ones that no network here was trained on [default: those of the run
    /// that made the posteriors, and the calibration in their files].
    #[arg(long, value_name = "WHICH")]
    validation: Option<ValidationSplit>,
    /// Random seed of that split [default: that of the runs, or 0].
    #[arg(long, value_name = "N", requires = "validation")]
    split_seed: Option<u64>,
    /// Number of test images to evaluate on, the same share of every class and always the same ones [default: all].
    #[arg(long, value_name = "N")]
    images: Option<usize>,
    /// OOD images, on which the network should be unsure: tells how well it knows them from the others. A path, or pgd
    /// for adversarial images, made for each network out of its test images, of at most 1,000 of them unless --images
    /// says how many [default: none].
    #[arg(long, value_name = "PATH|pgd")]
    ood: Option<String>,
    #[command(flatten)]
    attack: AttackFlags,
    /// Corrupt the test images as CIFAR-10-C does, such as gaussian_noise or fog: a network should grow unsure before
    /// it is wrong. With all, a table of the means over all 19 types and 5 severities [default: none].
    #[arg(long, value_name = "NAME|all")]
    corruption: Option<Corruptions>,
    /// Severity of the corruption, 1 to 5 [default: 3, which shows a difference before everything is lost; with
    /// --corruption all, each of them].
    #[arg(long, value_name = "N", requires = "corruption", value_parser = clap::value_parser!(u8).range(1..=5))]
    severity: Option<u8>,
    /// Folder with the photographs that the corruption `frost` needs, as the authors of CIFAR-10-C publish them
    /// [default: none].
    #[arg(long, value_name = "FOLDER", requires = "corruption")]
    frost: Option<PathBuf>,
    /// Draws of the posterior; the paper sees no change after 20.
    #[arg(long, default_value_t = 20, value_name = "S")]
    draws: u32,
    /// Pictures at once; fewer take less memory, and change no result.
    #[arg(long, default_value_t = 128, value_name = "N")]
    batch: usize,
    /// Threads that read pictures ahead; they change no result [default: 1, or as many as there are cores for networks
    /// that see large photographs].
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Pass over pictures that cannot be read [default: end with their name].
    #[arg(long)]
    skip_broken: bool,
    /// What computes: auto (a GPU if there is one), cpu, gpu or gpu:N as `devices` lists them.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
    /// Folder for the report; with --corruption all, for corruptions.csv, which keeps what is finished, so that the
    /// same command goes on after an interruption [default: none is written].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Pairs of faces: tells how often a network knows whether two are of one person, fold by fold. A list like LFW's
    /// pairs.txt, of which --data has the pictures, Name/Name_0001.jpg; or cfp-ff (frontal faces) or cfp-fp (frontal
    /// and profile), for which --data is the folder of CFP with Data and Protocol [default: none, classes are judged].
    #[arg(
        long,
        value_name = "FILE|cfp-ff|cfp-fp",
        conflicts_with_all = ["ood", "corruption", "skip_broken", "out", "images"]
    )]
    pairs: Option<PathBuf>,
}

/// Evaluates all networks, tells their scores, and writes a report if there is a folder for it.
pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let pgd = flags.attack.settings(flags.ood.as_deref(), flags.draws)?;
    let sweeps = flags.corruption == Some(Corruptions::All);
    if sweeps && flags.ood.is_some() {
        let text =
            "--corruption all evaluates no OOD images; leave --ood out, or name one corruption";
        return Err(BadInput(text.to_owned()).into());
    }
    let device = devices::choose(flags.device)?;
    if let Some(pairs) = &flags.pairs {
        return verification::run(flags, pairs, &device.device, voice);
    }
    let (test, validation) = images::open(flags, voice)?;
    if sweeps {
        return sweep::run(flags, &test, &validation, &device.device, voice);
    }
    let test = images::corrupted(test, flags)?;
    let other = match &flags.ood {
        Some(path) if pgd.is_none() => Some((path.clone(), open_any(path, Split::Test)?)),
        _ => None,
    };
    let mut evaluations = Vec::new();
    let mut first_layers = Vec::new();
    for file in &flags.posteriors {
        let network = OpenNetwork::open(file, flags, test.class_names(), &device.device)?;
        let ood = match &pgd {
            Some(pgd) => Some(attack::images(pgd, &network, &test, flags, voice)?),
            None => other.clone(),
        };
        let evaluator = Judge {
            out_of_distribution: ood.clone(),
            ..network.evaluator(flags, &test, &validation)
        };
        let Some(evaluation) = network.evaluate(evaluator, voice)? else {
            voice.json(&serde_json::json!({ "event": "stopped" }));
            return Ok(ExitCode::from(INTERRUPTED));
        };
        if let (Some(pgd), Some((_, images))) = (&pgd, &ood) {
            attack::tell(pgd, &evaluation, images.as_ref(), voice);
        }
        if checkpoint::is_posterior(file) {
            first_layers.extend(outcome::first_layer(&evaluation.method, file)?);
        }
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
        strange: None,
    };
    let page = report::write(&report, out)?;
    voice.say(format_args!("Report: {}", page.display()));
    voice.json(&serde_json::json!({ "event": "finished", "report": page }));
    Ok(ExitCode::SUCCESS)
}

impl Flags {
    /// Several files of one method are told apart by their folders.
    fn label(&self, path: &Path, method: &str) -> String {
        match path.parent().and_then(Path::file_name) {
            Some(folder) if self.posteriors.len() > 1 => {
                format!("{method} {}", folder.to_string_lossy())
            }
            _ => method.to_owned(),
        }
    }
}
