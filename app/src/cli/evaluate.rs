//! `bayesadapter evaluate`: posteriors on test pictures, side by side.

use super::{
    BadInput, Voice, checkpoint, devices, faces,
    flags::usual_workers,
    interrupt, outcome,
    test_pictures::{self, Judged, Validation},
};
use crate::{
    network,
    report::{self, Report},
};
use anyhow::Result;
use bayesadapter::{
    data::{Corrupted, Corruption, Dataset, FacePairs, FrostPictures, Split, ValidationSplit},
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
    /// OOD images, on which the network should be unsure: tells how well it knows them from the others [default: none].
    #[arg(long, value_name = "PATH")]
    ood: Option<String>,
    /// Corrupt the test pictures as CIFAR-10-C does, such as gaussian_noise or fog: a network should grow unsure before
    /// it is wrong [default: none].
    #[arg(long, value_name = "NAME")]
    corruption: Option<Corruption>,
    /// How badly, 1 to 5; the middle shows a difference before everything is lost.
    #[arg(long, default_value_t = 3, requires = "corruption", value_parser = clap::value_parser!(u8).range(1..=5))]
    severity: u8,
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
    /// Folder for the report [default: none is written].
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Pairs of faces: tells how often a network knows whether two are of one person, fold by fold. A list like LFW's
    /// pairs.txt, of which --data has the pictures, Name/Name_0001.jpg; or cfp-ff (frontal faces) or cfp-fp (frontal
    /// and profile), for which --data is the folder of CFP with Data and Protocol [default: none, classes are judged].
    #[arg(long, value_name = "FILE|cfp-ff|cfp-fp", conflicts_with_all = ["ood", "corruption", "skip_broken", "out"])]
    pairs: Option<PathBuf>,
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let device = devices::choose(flags.device)?;
    if let Some(pairs) = &flags.pairs {
        let faces = faces::open(&flags.data, pairs)?;
        for path in &flags.posteriors {
            verify(path, flags, &faces, &device.device, voice)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (test, validation) = images(flags, voice)?;
    let other = match &flags.ood {
        Some(path) => Some((path.clone(), open_any(path, Split::Test)?)),
        None => None,
    };
    let mut evaluations = Vec::new();
    let mut first_layers = Vec::new();
    for path in &flags.posteriors {
        let on = Images {
            test: &test,
            validation: &validation,
            ood: &other,
        };
        let evaluation = judge(path, flags, on, &device.device, voice)?;
        let Some(evaluation) = evaluation else {
            voice.json(&serde_json::json!({ "event": "stopped" }));
            return Ok(ExitCode::from(super::exit::INTERRUPTED));
        };
        if checkpoint::is_posterior(path) {
            first_layers.extend(outcome::first_layer(&evaluation.method, path)?);
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

/// Test images, corrupted if that is asked for, and validation images with where they come from.
fn images(flags: &Flags, voice: &Voice) -> Result<(Arc<dyn Dataset>, Validation)> {
    let files = flags.posteriors.iter();
    let networks: Result<Vec<Judged>> = files
        .filter(|path| flags.model.is_none() || checkpoint::is_posterior(path))
        .map(|path| read(path))
        .collect();
    let asked = flags.validation.map(|split| (split, flags.split_seed));
    let (test, validation) = test_pictures::open(&flags.data, asked, &networks?, voice)?;
    Ok((corrupted(test, flags)?, validation))
}

fn corrupted(test: Arc<dyn Dataset>, flags: &Flags) -> Result<Arc<dyn Dataset>> {
    let Some(corruption) = flags.corruption else {
        return Ok(test);
    };
    if flags.frost.is_some() && corruption != Corruption::Frost {
        let text =
            format!("--frost is for the corruption frost, and {corruption} needs no photographs");
        return Err(BadInput(text).into());
    }
    let corrupted = match (&flags.frost, corruption) {
        (Some(folder), Corruption::Frost) => {
            let frost = FrostPictures::open(folder)?;
            Corrupted::with_frost(test, frost, flags.severity, 0)
        }
        _ => Corrupted::new(test, corruption, flags.severity, 0),
    };
    Ok(Arc::new(corrupted?))
}

fn read(path: &Path) -> Result<Judged> {
    Ok(Judged {
        file: path.to_owned(),
        header: network::read(path)?.header().clone(),
    })
}

/// What networks are evaluated on.
struct Images<'a> {
    test: &'a Arc<dyn Dataset>,
    validation: &'a Validation,
    ood: &'a Option<(String, Arc<dyn Dataset>)>,
}

/// Evaluates one file; nothing if the user stopped it.
fn judge(
    path: &Path,
    flags: &Flags,
    on: Images<'_>,
    device: &Device,
    voice: &Voice,
) -> Result<Option<Evaluation>> {
    let opened = match &flags.model {
        Some(model) if !checkpoint::is_posterior(path) => {
            checkpoint::open_checkpoint(path, model, on.test.class_names(), device)?
        }
        _ => network::open(path, device)?,
    };
    // A split that is asked for here is calibrated on; otherwise what the file has is what users of it get.
    let known = opened.header.calibration.clone();
    let preparation = opened.preparation()?;
    let usual_workers = usual_workers(preparation.shape[1]);
    let judge = Judge {
        test: Arc::clone(on.test),
        calibration: known.filter(|_| flags.validation.is_none()),
        validation: on.validation.clone(),
        out_of_distribution: on.ood.clone(),
        preparation,
        settings: EvaluationSettings {
            draws: flags.draws,
            batch: flags.batch,
            ..EvaluationSettings::default()
        },
        skip_broken: flags.skip_broken,
        workers: flags.workers.unwrap_or(usual_workers),
        device: device.clone(),
    };
    let name = opened.name();
    let (control, port) = session::connect();
    let interrupt = interrupt::stops(&control);
    let judged = std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let evaluation = judge.evaluate(&opened.bayes, &name, &port, &OwnThread);
            burn::tensor::read_sync(evaluation)
        });
        voice.follow(&control);
        thread.join()
    });
    drop(interrupt);
    let judged = judged
        .map_err(|_| anyhow::anyhow!("the evaluation ended by a defect of this program"))??;
    Ok(judged.map(|evaluation| {
        let method = flags.label(path, &evaluation.method);
        // The event that told of it before does not know of other files.
        voice.json(&serde_json::json!({
            "event": "judged",
            "file": path,
            "method": method,
            "draws": evaluation.draws,
            "scores": evaluation.scores,
            "calibrated": evaluation.calibrated,
            "out_of_distribution": evaluation.out_of_distribution.as_ref().map(|ood| &ood.detection),
        }));
        Evaluation {
            method,
            ..evaluation
        }
    }))
}

/// Tells how often a network is right on pairs of faces.
fn verify(
    path: &Path,
    flags: &Flags,
    faces: &FacePairs,
    device: &Device,
    voice: &Voice,
) -> Result<()> {
    let opened = network::open(path, device)?;
    let how = EvaluationSettings {
        draws: flags.draws,
        batch: flags.batch,
        ..EvaluationSettings::default()
    };
    let features = faces::features(&opened, faces, &how, flags.workers, device, voice)?;
    let verification = faces.verify(&features)?;
    let method = flags.label(path, &opened.name());
    voice.say(format_args!(
        "{method}: {} pairs of {} faces in {} folds, accuracy {:.2} %, standard error {:.2} %",
        faces.pairs().len(),
        faces.pictures().len(),
        verification.folds.len(),
        100.0 * verification.mean_accuracy,
        100.0 * verification.standard_error
    ));
    voice.json(&serde_json::json!({
        "event": "verified",
        "file": path,
        "method": method,
        "verification": verification,
    }));
    Ok(())
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
