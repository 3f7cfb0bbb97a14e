//! What a run is called, would take, and came to.

use crate::{
    device::Named,
    network,
    report::{FirstLayer, Pictures, Report, TrainingPoints, TrainingRun},
};
use anyhow::Result;
use bayesadapter::{
    data::{Dataset, Picture},
    estimate::{Estimate, OodBatch, TrainingPlan},
    evaluate::{Evaluation, KernelPosterior},
    models::ModelConfig,
    posterior::ConversionAccount,
    session::{HistoryRow, Job, Method, Pace, RunFolder, RunSettings},
};
use burn::tensor::{Device, read_sync};
use image::RgbImage;
use std::{env::consts, path::Path};

/// Images of each kind in a report.
const PICTURES: usize = 12;

/// The version of Burn that computes, which Burn does not tell; a test compares it with the lock file.
const BURN: &str = "0.22.1";

/// What the folder of a run is called.
pub fn folder_name(settings: &RunSettings) -> String {
    let method = settings.posterior.method.to_string().to_lowercase();
    format!("{}-{method}", settings.model.architecture)
}

/// What a run file says of itself.
pub fn about(device: &Named) -> String {
    format!(
        "A run of bayesadapter {} with Burn {BURN} on {} ({})\ndevice: {}",
        env!("CARGO_PKG_VERSION"),
        consts::OS,
        consts::ARCH,
        device.name
    )
}

/// The report of the run in a folder.
pub fn report(path: &Path) -> Result<Report> {
    let (folder, settings) = RunFolder::open(path)?;
    let evaluations = folder.evaluations()?;
    let method = settings.result_name();
    let data = Path::new(&settings.data.path);
    let data = data.file_name().unwrap_or(data.as_os_str());
    Ok(Report {
        title: format!(
            "{} on {}",
            settings.model.architecture,
            data.to_string_lossy()
        ),
        created: now(),
        settings: settings_by_name(&settings),
        training: vec![training(&method, &folder.history_rows()?)],
        first_layers: first_layer(&method, &folder.posterior_path())?
            .into_iter()
            .collect(),
        pictures: pictures(&evaluations, &test_pictures(&settings)),
        evaluations,
        strange: None,
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

/// Every setting with its name, such as `training.epochs`.
pub fn settings_by_name(settings: &RunSettings) -> Vec<(String, String)> {
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
    // Through the text, since a value would hold 0.3 of 32 bits as 0.30000001192092896.
    let text = serde_json::to_string(settings).unwrap_or_default();
    add(
        "",
        &serde_json::from_str(&text).unwrap_or_default(),
        &mut out,
    );
    out
}

/// The history of a run, as reports take it.
pub fn training(method: &str, history: &[HistoryRow]) -> TrainingRun {
    TrainingRun {
        method: method.to_owned(),
        points: TrainingPoints::of_history(history),
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
    let splits = settings.data.open(settings.seed).ok()?;
    Some(splits.test)
}

/// The images that the last method is most and least sure of.
pub fn pictures(
    evaluations: &[Evaluation],
    data: &Option<std::sync::Arc<dyn Dataset>>,
) -> Option<Pictures> {
    let (evaluation, data) = (evaluations.last()?, data.as_ref()?);
    // The data may be others by now.
    if evaluation.test_pictures() != data.len() {
        return None;
    }
    let image = |at: usize| image_of(&data.picture(evaluation.picture_of(at)).ok()?);
    Some(Pictures::of(evaluation, PICTURES, image))
}

/// An image in colours, as reports take it; nothing if its pixels do not fit its size.
pub fn image_of(picture: &Picture) -> Option<RgbImage> {
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
pub async fn preflight(job: &Job, pace: &impl Pace) -> Result<Preflight> {
    let training = &job.settings.training;
    let bayes = job.converted()?;
    let [channels, height, width] = job.architecture.input_shape();
    let batch = [training.batch.min(job.train.len()), channels, height, width];
    let ood_batch = match (&job.ood_train, training.ood_batch) {
        (None, _) => OodBatch::None,
        (Some(_), None) => OodBatch::Quarter,
        (Some(images), Some(count)) => OodBatch::Count(count.min(images.len())),
    };
    let plan = TrainingPlan::new(batch, training.estimator).with_ood_batch(ood_batch);
    let give_way = async || {
        pace.breathe().await;
    };
    Ok(Preflight {
        conversion: bayes.account().clone(),
        estimate: bayes.estimate_giving_way(&plan, give_way).await?,
        examples: job.train.len(),
        epochs: training.epochs,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;
    use bayesadapter::{
        data::Pictures as Data,
        evaluate::Collector,
        metrics::{DrawProbabilities, decompose},
        predict::Prediction,
    };
    use std::{slice, sync::Arc};

    #[test]
    fn the_version_of_burn_is_the_one_that_is_built() {
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
        let lock = std::fs::read_to_string(lock).unwrap();
        let (_, burn) = lock.split_once("name = \"burn\"").unwrap();
        let version = burn.lines().nth(1).unwrap();
        assert_eq!(version, format!("version = \"{BURN}\""));
    }

    #[test]
    fn pictures_are_found_where_others_were_passed_over() {
        // Picture n has the shade n, and the network was not shown picture 1.
        let shade = |shade: u8| Picture::new(1, 2, 2, vec![shade; 4]).unwrap();
        let names = vec!["even".to_owned(), "odd".to_owned()];
        let data = Data::new((0..4).map(shade).collect(), vec![0, 1, 0, 1], names.clone());
        let data: Option<Arc<dyn Dataset>> = Some(Arc::new(data.unwrap()));
        let probabilities = [0.9, 0.1, 0.6, 0.4, 0.2, 0.8];
        let prediction = Prediction {
            classes: 2,
            draws: Vec::new(),
            summary: decompose(&DrawProbabilities::new(&probabilities, 1, 2).unwrap()),
            draw_probabilities: None,
            features: None,
        };
        let mut collector = Collector::new(names);
        collector.add(&prediction, None, &[0, 0, 1]).unwrap();
        let mut evaluation = collector.finish("MAP").unwrap();
        assert!(pictures(slice::from_ref(&evaluation), &data).is_none());
        evaluation.passed_over = vec![1];
        let found = pictures(slice::from_ref(&evaluation), &data).unwrap();
        let shades: Vec<u8> = found
            .most_certain
            .iter()
            .map(|one| one.image.get_pixel(0, 0).0[0])
            .collect();
        assert_eq!(shades, [0, 3, 2], "from the surest on");
    }
}
