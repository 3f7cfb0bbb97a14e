//! What a run came to: a table for the terminal, and a report.

use super::Voice;
use crate::{
    network,
    report::{self, FirstLayer, Pictures, Report, TrainingPoint, TrainingRun},
};
use anyhow::Result;
use bayesadapter::{
    data::{Dataset, Picture},
    estimate::{Estimate, TrainingPlan},
    evaluate::{Evaluation, KernelPosterior},
    models::ModelConfig,
    posterior::ConversionAccount,
    session::{HistoryRow, Job, Method, RunFolder, RunSettings},
};
use burn::tensor::{Device, read_sync};
use image::RgbImage;
use std::{path::Path, process::ExitCode, time::SystemTime};

/// Images of each kind in a report.
const PICTURES: usize = 12;

/// Writes the report of a run and tells what it came to.
pub fn finish(path: &Path, voice: &Voice) -> Result<ExitCode> {
    let report = report(path)?;
    table(&report.evaluations, voice);
    let page = report::write(&report, path)?;
    let posterior = RunFolder::open(path)?.0.posterior_path();
    voice.say(format_args!("Posterior: {}", posterior.display()));
    voice.say(format_args!("Report: {}", page.display()));
    voice.json(&serde_json::json!({
        "event": "finished",
        "posterior": posterior,
        "report": page,
    }));
    Ok(ExitCode::SUCCESS)
}

/// The report of the run in a folder.
pub fn report(path: &Path) -> Result<Report> {
    let (folder, settings) = RunFolder::open(path)?;
    let evaluations = folder.evaluations()?;
    let method = settings.posterior.method.to_string();
    Ok(Report {
        title: format!("{} on {}", settings.model.architecture, settings.data.path),
        created: now(),
        settings: told(&settings),
        training: vec![training(&method, &folder.history_rows()?)],
        first_layers: first_layer(&method, &folder.posterior_path())?
            .into_iter()
            .collect(),
        pictures: pictures(&evaluations, &test_pictures(&settings)),
        evaluations,
    })
}

/// The moment, as reports say it.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now())
        .to_string()
        .replace('T', " ")
        .replace('Z', " UTC")
}

/// Every setting with its name.
fn told(settings: &RunSettings) -> Vec<(String, String)> {
    fn add(prefix: &str, value: &serde_json::Value, out: &mut Vec<(String, String)>) {
        match value {
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    let dot = if prefix.is_empty() { "" } else { "." };
                    add(&format!("{prefix}{dot}{name}"), value, out);
                }
            }
            serde_json::Value::Null => {}
            serde_json::Value::String(text) => out.push((prefix.to_owned(), text.clone())),
            value => out.push((prefix.to_owned(), value.to_string())),
        }
    }
    let mut out = Vec::new();
    add(
        "",
        &serde_json::to_value(settings).unwrap_or_default(),
        &mut out,
    );
    out
}

/// The history of a run, as reports take it.
pub fn training(method: &str, history: &[HistoryRow]) -> TrainingRun {
    let point = |row: &HistoryRow| TrainingPoint {
        step: row.step as u64,
        likelihood_loss: row.likelihood_loss,
        complexity_loss: row.complexity_loss,
        accuracy: Some(row.accuracy),
    };
    TrainingRun {
        method: method.to_owned(),
        points: history.iter().map(point).collect(),
    }
}

/// The first convolution of a posterior file, if it has one and spreads.
pub fn first_layer(method: &str, posterior: &Path) -> Result<Option<FirstLayer>> {
    let opened = network::open(posterior, &Device::flex())?;
    if opened.method == Method::Map {
        return Ok(None);
    }
    let inventory = opened.bayes.inventory();
    Ok(
        read_sync(KernelPosterior::of_first_convolution(&inventory))?.map(|kernels| FirstLayer {
            method: method.to_owned(),
            kernels,
        }),
    )
}

fn test_pictures(settings: &RunSettings) -> Option<std::sync::Arc<dyn Dataset>> {
    let splits = bayesadapter::session::open_splits(&settings.data.path, settings.seed).ok()?;
    Some(splits.test)
}

/// The images that the last method is most and least sure of.
pub fn pictures(
    evaluations: &[Evaluation],
    data: &Option<std::sync::Arc<dyn Dataset>>,
) -> Option<Pictures> {
    let (evaluation, data) = (evaluations.last()?, data.as_ref()?);
    // Where some were passed over, the numbers of the others have shifted.
    if evaluation.scores.examples != data.len() {
        return None;
    }
    let image = |at: usize| image_of(&data.picture(at).ok()?);
    Some(Pictures::of(evaluation, PICTURES, image))
}

fn image_of(picture: &Picture) -> Option<RgbImage> {
    let picture = picture.with_channels(3);
    RgbImage::from_raw(picture.width as u32, picture.height as u32, picture.pixels)
}

/// The methods in a table, the first being what the others are compared with.
pub fn table(evaluations: &[Evaluation], voice: &Voice) {
    voice.say(format_args!(
        "\n{:8} {:>10} {:>9} {:>9} {:>9} {:>11} {:>10}",
        "", "accuracy", "NLL", "Brier", "ECE", "errors", "OOD"
    ));
    voice.say(format_args!(
        "{:8} {:>10} {:>9} {:>9} {:>9} {:>11} {:>10}",
        "", "%", "nats", "", "", "AUROC", "AUROC"
    ));
    for evaluation in evaluations {
        let scores = &evaluation.scores;
        let auroc = |detection: Option<bayesadapter::evaluate::Detection>| {
            detection.map_or("-".to_owned(), |detection| {
                format!("{:.4}", detection.auroc)
            })
        };
        let errors = scores
            .error_detection
            .as_ref()
            .and_then(|all| all.by(evaluation.ranked_by));
        let other = evaluation.out_of_distribution.as_ref();
        let other = other.and_then(|other| other.detection.by(evaluation.ranked_by));
        voice.say(format_args!(
            "{:8} {:>10.2} {:>9.4} {:>9.4} {:>9.4} {:>11} {:>10}",
            evaluation.method,
            100.0 * scores.accuracy,
            scores.nll,
            scores.brier,
            scores.ece,
            auroc(errors),
            auroc(other)
        ));
    }
    voice.say("");
}

/// What a run would take.
#[derive(Clone)]
pub struct Preflight {
    pub conversion: ConversionAccount,
    pub estimate: Estimate,
    /// Pictures to learn from.
    pub examples: usize,
    pub epochs: u32,
}

impl Preflight {
    /// Seconds of the whole training, without the evaluation.
    pub fn seconds(&self) -> Option<f64> {
        let time = self.estimate.time.as_ref()?;
        Some(time.seconds_per_epoch * f64::from(self.epochs))
    }
}

/// Estimates memory and time of a run.
pub fn preflight(job: &Job) -> Result<Preflight> {
    let training = &job.settings.training;
    let bayes = job.converted()?;
    let [channels, height, width] = job.architecture.input_shape();
    let batch = [training.batch.min(job.train.len()), channels, height, width];
    Ok(Preflight {
        conversion: bayes.account().clone(),
        estimate: bayes.estimate(&TrainingPlan::new(batch, training.estimator))?,
        examples: job.train.len(),
        epochs: training.epochs,
    })
}

/// Tells what a run would do.
pub fn plan(job: &Job, device: &str, voice: &Voice) -> Result<ExitCode> {
    let settings = &job.settings;
    voice.say(format_args!("# device: {device}\n{}", settings.to_toml()?));
    if let Some(load) = &job.load {
        voice.say(format_args!("Weights: {load}"));
    }
    let preflight = preflight(job)?;
    let estimate = &preflight.estimate;
    voice.say(format_args!("Posterior: {}", preflight.conversion));
    voice.say(format_args!("Estimate: {estimate}"));
    if let Some(seconds) = preflight.seconds() {
        let whole = std::time::Duration::from_secs(seconds.round() as u64);
        voice.say(format_args!(
            "{} epochs of {} pictures: about {}",
            preflight.epochs,
            preflight.examples,
            indicatif::HumanDuration(whole)
        ));
    }
    voice.json(&serde_json::json!({ "event": "plan", "settings": settings, "estimate": estimate }));
    Ok(ExitCode::SUCCESS)
}
