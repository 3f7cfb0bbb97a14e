//! `--ood pgd`: adversarial images in the place of OOD images, for each network its own.

use super::{Flags, images::at_most, network::OpenNetwork};
use crate::cli::{BadInput, Voice};
use anyhow::Result;
use bayesadapter::{
    adversarial::{AttackError, Pgd},
    data::{BatchSettings, Batches, DataError, Dataset, Picture, Pictures, Preparation},
    evaluate::Evaluation,
    models::Normalisation,
    pass::PassError,
};
use clap::Args;
use std::sync::Arc;

/// What `--ood` asks for them by.
const FLAG: &str = "pgd";
/// What tables and reports call them.
const NAME: &str = "PGD";
/// The most images that are attacked unless `--images` gives a number: each takes steps times draws backward passes.
const MOST: usize = 1_000;
/// Images that are handed over at once, whatever `--batch` says: the random start of an image depends on its place in
/// the batch, and how many fit into memory the attack finds out itself.
const BATCH: usize = 64;
const ATTACKING: &str = "{bar:24} {pos}/{len} images  attacking {msg}  {per_sec}, {eta} left";

/// How adversarial images are made.
#[derive(Args)]
pub struct AttackFlags {
    /// For --ood pgd: largest change of a pixel, of pixels from 0 to 1 [default: 0.031, the paper's on CIFAR-10].
    #[arg(long, value_name = "EPS", requires = "ood")]
    pgd_eps: Option<f64>,
    /// For --ood pgd: steps of the attack [default: 20, as in the paper].
    #[arg(long, value_name = "N", requires = "ood")]
    pgd_steps: Option<usize>,
    /// For --ood pgd: change of a pixel in one step, of pixels from 0 to 1 [default: 0.003, the paper's on CIFAR-10].
    #[arg(long, value_name = "STEP", requires = "ood")]
    pgd_step: Option<f64>,
}

impl AttackFlags {
    /// The attack that `--ood pgd` asks for; nothing if there are other OOD images, or none.
    pub fn settings(&self, ood: Option<&str>, draws: u32) -> Result<Option<Pgd>> {
        let given = self.pgd_eps.is_some() || self.pgd_steps.is_some() || self.pgd_step.is_some();
        if ood != Some(FLAG) {
            return match given {
                true => {
                    let text = "--pgd-eps, --pgd-steps and --pgd-step are for --ood pgd alone";
                    Err(BadInput(text.to_owned()).into())
                }
                false => Ok(None),
            };
        }
        let paper = Pgd::cifar();
        let pgd = Pgd {
            epsilon: self.pgd_eps.unwrap_or(paper.epsilon),
            step: self.pgd_step.unwrap_or(paper.step),
            steps: self.pgd_steps.unwrap_or(paper.steps),
            // Those that the network is evaluated with: the attack knows the posterior.
            draws,
            ..paper
        };
        pgd.checked()
            .map_err(|error| BadInput(format!("--ood pgd: {error}")))?;
        Ok(Some(pgd))
    }
}

/// Adversarial images for a network with the labels of the test images that they are made of, and what they are called.
/// They have 8 bits, as a user would save them, so that a pixel may be half a level further from its test image than
/// the attack allows; and the size that the network sees, so that nothing is resized after the attack.
pub fn images(
    pgd: &Pgd,
    network: &OpenNetwork<'_>,
    test: &Arc<dyn Dataset>,
    flags: &Flags,
    voice: &Voice,
) -> Result<(String, Arc<dyn Dataset>)> {
    let chosen = match flags.images {
        // The test set has that number already.
        Some(_) => Arc::clone(test),
        None => at_most(MOST, test)?,
    };
    let preparation = &network.preparation;
    let settings = BatchSettings {
        // The evaluation of the test set names those that are passed over.
        skip_broken: flags.skip_broken,
        workers: network.workers,
        ..BatchSettings::new(BATCH, preparation.clone())
    };
    let bar = voice.bar(chosen.len() as u64, ATTACKING);
    bar.set_message(network.label.clone());
    let (mut made, mut labels) = (Vec::new(), Vec::new());
    for batch in Batches::new(Arc::clone(&chosen), settings)?.epoch(0, 0) {
        let batch = batch?;
        if batch.labels.is_empty() {
            continue;
        }
        let (inputs, _) = batch.to_tensors(&network.opened.device);
        let normalisation = &preparation.normalisation;
        let adversarial = pgd
            .with_seed(batch.index as u64)
            .attack(&network.opened.bayes, inputs, &batch.labels, normalisation)
            .map_err(refusal)?;
        let values = adversarial
            .try_into_vec_as::<f32>()
            .map_err(|error| PassError::Read(error.to_string()))?;
        made.extend(in_8_bits(&values, preparation)?);
        labels.extend(&batch.labels);
        bar.set_position(labels.len() as u64);
        voice.json(&serde_json::json!({
            "event": "attacking",
            "method": network.label,
            "done": labels.len(),
            "of": chosen.len(),
        }));
    }
    bar.finish_and_clear();
    let images = Pictures::new(made, labels, test.class_names().to_vec())?;
    let images: Arc<dyn Dataset> = Arc::new(images);
    Ok((NAME.to_owned(), images))
}

/// What cannot be attacked is input that cannot be used; a pass that fails has its own exit codes.
fn refusal(error: AttackError) -> anyhow::Error {
    match error {
        AttackError::Pass(error) => error.into(),
        error => BadInput(format!("--ood pgd: {error}")).into(),
    }
}

/// Images from network inputs `[n, channels, height, width]`, each pixel rounded to the nearest of 256 levels.
fn in_8_bits(inputs: &[f32], preparation: &Preparation) -> Result<Vec<Picture>, DataError> {
    let [channels, height, width] = preparation.shape;
    let Normalisation { mean, std } = &preparation.normalisation;
    let plane = height * width;
    let level = |input: &[f32], at: usize| {
        let (pixel, channel) = (at / channels, at % channels);
        let value = input[channel * plane + pixel] * std[channel] + mean[channel];
        (255.0 * value).round().clamp(0.0, 255.0) as u8
    };
    let images = inputs.chunks_exact(channels * plane).map(|input| {
        let levels = (0..channels * plane).map(|at| level(input, at));
        Picture::new(channels, height, width, levels.collect())
    });
    images.collect()
}

/// Tells how often a network is right on the adversarial images that were made for it.
pub fn tell(pgd: &Pgd, evaluation: &Evaluation, images: &dyn Dataset, voice: &Voice) {
    let Some(ood) = &evaluation.out_of_distribution else {
        return;
    };
    let predicted = ood.examples.predicted.iter().copied();
    let labels = (0..images.len()).map(|index| images.label(index));
    let right = predicted
        .zip(labels)
        .filter(|(found, label)| found == label);
    let accuracy = right.count() as f64 / images.len().max(1) as f64;
    voice.say(format_args!(
        "{} under attack (PGD, {} steps of {} within {}): accuracy {:.2} % of {} images",
        evaluation.method,
        pgd.steps,
        pgd.step,
        pgd.epsilon,
        100.0 * accuracy,
        images.len()
    ));
    voice.json(&serde_json::json!({
        "event": "attacked",
        "method": evaluation.method,
        "pgd": pgd,
        "images": images.len(),
        "accuracy": accuracy,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_what_their_inputs_were_made_of() {
        let normalisation = Normalisation {
            mean: vec![0.5, 0.4, 0.3],
            std: vec![0.2, 0.25, 0.5],
        };
        let preparation = Preparation::new([3, 2, 4], normalisation);
        let image = |first: u8| {
            let pixels = (0..24).map(|at| first.wrapping_add(10 * at));
            Picture::new(3, 2, 4, pixels.collect()).unwrap()
        };
        let originals = vec![image(0), image(77)];
        let mut inputs = Vec::new();
        for original in &originals {
            inputs.extend(preparation.prepare(original).unwrap());
        }
        assert_eq!(in_8_bits(&inputs, &preparation).unwrap(), originals);
        // Beyond what a pixel can be.
        let inputs: Vec<f32> = [[9.0; 12], [-9.0; 12]].concat();
        let pixels = in_8_bits(&inputs, &preparation).unwrap().remove(0).pixels;
        let ends: Vec<u8> = [[255, 255, 0]; 4].concat();
        assert_eq!(pixels[..12], ends);
    }

    #[test]
    fn settings_of_an_attack_need_one() {
        let none = AttackFlags {
            pgd_eps: None,
            pgd_steps: None,
            pgd_step: None,
        };
        assert_eq!(none.settings(Some("scribbles"), 20).unwrap(), None);
        assert_eq!(none.settings(None, 20).unwrap(), None);
        assert_eq!(none.settings(Some("pgd"), 20).unwrap(), Some(Pgd::cifar()));
        let given = |eps| AttackFlags {
            pgd_eps: Some(eps),
            pgd_steps: Some(3),
            pgd_step: None,
        };
        assert!(given(0.1).settings(Some("scribbles"), 20).is_err());
        let wrong = given(0.0).settings(Some("pgd"), 20).unwrap_err();
        assert!(wrong.to_string().contains("epsilon"), "{wrong}");
        let attack = given(0.1).settings(Some("pgd"), 4).unwrap().unwrap();
        assert_eq!((attack.epsilon, attack.steps, attack.draws), (0.1, 3, 4));
    }
}
