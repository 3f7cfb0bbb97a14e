//! `bayesadapter predict`: what pictures show, and how sure that is.

use super::{BadInput, Voice, devices, exit};
use crate::{network, verdict::verdict};
use anyhow::Result;
use bayesadapter::{
    data::Picture,
    evaluate::CalibratedPrediction,
    metrics::ConformalMethod,
    predict::{Draws, Prediction},
    session::{DeviceChoice, Method},
};
use burn::tensor::{Tensor, TensorData};
use clap::Args;
use serde::Serialize;
use std::{path::PathBuf, process::ExitCode};

#[derive(Args)]
pub struct Flags {
    /// The posterior file, such as runs/resnet20-cifar-pse/posterior.safetensors.
    posterior: PathBuf,
    /// Pictures of any usual format.
    #[arg(required = true)]
    images: Vec<PathBuf>,
    /// Draws of the posterior [default: as many as it takes until the answer is stable, 100 at most].
    #[arg(long, value_name = "S")]
    draws: Option<u32>,
    /// Leave out the temperature that was fitted on the validation set of the run [default: apply it, if the file has
    /// one].
    #[arg(long)]
    no_temperature: bool,
    /// Prediction sets: threshold (the smallest), aps or raps, with the coverage that they were calibrated for.
    #[arg(long, default_value_t = ConformalMethod::Threshold, value_name = "METHOD")]
    sets: ConformalMethod,
    /// How many of the likeliest classes are shown; the others are mostly noise.
    #[arg(long, default_value_t = 5, value_name = "K")]
    top: usize,
    /// What computes: auto (a GPU if there is one), cpu, gpu or gpu:N as `devices` lists them.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    device: DeviceChoice,
}

/// One picture's line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    image: String,
    class: String,
    probability: f32,
    mutual_information: f64,
    entropy: f64,
    aleatoric_entropy: f64,
    draws: usize,
    probabilities: &'a [f32],
    /// The temperature of the probabilities; 1 where none is applied.
    temperature: f64,
    /// Classes that it may be, from the most probable on, where the file has a calibration.
    prediction_set: Option<Vec<String>>,
}

pub fn run(flags: &Flags, voice: &Voice) -> Result<ExitCode> {
    let device = devices::choose(flags.device)?;
    let opened = network::open(&flags.posterior, &device.device)?;
    let preparation = opened.preparation()?;
    let draws = match (opened.method, flags.draws) {
        (Method::Map, _) => Draws::Mean,
        (_, Some(draws)) => Draws::Fixed(draws),
        (_, None) => Draws::UntilStable {
            tolerance: 0.01,
            max: 100,
        },
    };
    let mut failed = None;
    for path in &flags.images {
        let input = read(path).and_then(|picture| Ok(preparation.prepare(&picture)?));
        let input = match input {
            Ok(input) => input,
            // The other pictures are worth an answer all the same.
            Err(error) => {
                voice.error(&error);
                failed.get_or_insert(exit::code_of(&error));
                continue;
            }
        };
        let [channels, height, width] = preparation.shape;
        let input = TensorData::new(input, [1, channels, height, width]);
        let images = Tensor::<4>::from_data(input, &device.device);
        let prediction = opened.bayes.predict(images, draws.clone())?;
        tell(
            &path.display().to_string(),
            prediction,
            &opened,
            flags,
            voice,
        )?;
    }
    Ok(failed.unwrap_or(ExitCode::SUCCESS))
}

fn read(path: &PathBuf) -> Result<Picture> {
    let bytes = std::fs::read(path)
        .map_err(|error| BadInput(format!("{} cannot be read: {error}", path.display())))?;
    Picture::decode(&bytes, &path.display().to_string()).map_err(Into::into)
}

fn tell(
    image: &str,
    prediction: Prediction,
    opened: &network::Opened,
    flags: &Flags,
    voice: &Voice,
) -> Result<()> {
    let calibration = opened.header.calibration.as_ref();
    let CalibratedPrediction {
        prediction,
        temperature,
        sets,
    } = CalibratedPrediction::new(prediction, calibration, flags.sets, !flags.no_temperature)?;
    let probabilities = prediction.probabilities();
    let mut classes: Vec<usize> = (0..probabilities.len()).collect();
    classes.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let Some(&first) = classes.first() else {
        return Ok(());
    };
    let set = sets.map(|sets| opened.prediction_set(&sets));
    let (information, entropy) = (prediction.mutual_information()[0], prediction.entropy()[0]);
    voice.json(&Line {
        image: image.to_owned(),
        class: opened.class_name(first),
        probability: probabilities[first],
        mutual_information: information,
        entropy,
        aleatoric_entropy: prediction.aleatoric_entropy()[0],
        draws: prediction.draws.len(),
        probabilities,
        temperature: temperature.value(),
        prediction_set: set.as_ref().map(|(_, classes)| classes.clone()),
    });
    voice.say(format_args!(
        "{image}: {} ({:.1} %)",
        opened.class_name(first),
        100.0 * probabilities[first]
    ));
    for &class in classes.iter().take(flags.top) {
        voice.say(format_args!(
            "  {:20} {:5.1} % {}",
            opened.class_name(class),
            100.0 * probabilities[class],
            bar(probabilities[class])
        ));
    }
    voice.say(format_args!(
        "  mutual information {information:.4} nats of entropy {entropy:.4}, {} draws. {}",
        prediction.draws.len(),
        verdict(prediction.draws.len(), information, entropy, None)
    ));
    if let Some((coverage, classes)) = set {
        voice.say(format_args!(
            "  {:.0} % prediction set: {}",
            100.0 * coverage,
            classes.join(", ")
        ));
    }
    Ok(())
}

/// A bar of at most 30 letters, in eighths of a letter.
fn bar(share: f32) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * 240.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(1.0).chars().count(), 30);
        assert_eq!(bar(1.0 / 240.0), "▏");
    }
}
