//! What a run is called, would take, and came to.

use crate::{
    device::Named,
    network,
    report::{FirstLayer, Pictures, Report, TrainingPoint, TrainingRun},
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
use std::path::Path;

/// Images of each kind in a report.
const PICTURES: usize = 12;

/// What the folder of a run is called.
pub fn folder_name(settings: &RunSettings) -> String {
    let method = settings.posterior.method.to_string().to_lowercase();
    format!("{}-{method}", settings.model.architecture)
}

/// What a run file says of itself.
pub fn about(device: &Named) -> String {
    format!(
        "A run of bayesadapter {}\ndevice: {}",
        env!("CARGO_PKG_VERSION"),
        device.name
    )
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

/// The moment, as reports say it; a page leaves it to the browser's list of downloads.
pub fn now() -> String {
    #[cfg(target_family = "wasm")]
    return String::new();
    #[cfg(not(target_family = "wasm"))]
    humantime::format_rfc3339_seconds(std::time::SystemTime::now())
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
pub async fn preflight(job: &Job) -> Result<Preflight> {
    let training = &job.settings.training;
    let bayes = job.converted()?;
    let [channels, height, width] = job.architecture.input_shape();
    let batch = [training.batch.min(job.train.len()), channels, height, width];
    Ok(Preflight {
        conversion: bayes.account().clone(),
        estimate: bayes
            .estimate_async(&TrainingPlan::new(batch, training.estimator))
            .await?,
        examples: job.train.len(),
        epochs: training.epochs,
    })
}
