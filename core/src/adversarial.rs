//! Adversarial images: projected gradient descent (PGD) on the posterior predictive.

mod error;
mod gradient;

pub use error::AttackError;
pub use gradient::{PredictiveGradient, predictive_gradient};

use crate::{models::Normalisation, ops::NoiseKey, posterior::Bayes, predict::Classifier};
use burn::tensor::{Device, Tensor, TensorData};
use gradient::Predictive;
use serde::{Deserialize, Serialize};

/// An attack within an L-infinity ball: every step moves all pixels by `step` in the direction that raises the negative
/// log-likelihood `-ln mean_s p_s[label]` of the posterior predictive, and stays within `epsilon` of the image and
/// within valid pixels. Gradients go through all draws. Budget and step are in units of pixels in 0..=1, whatever the
/// normalisation of the network's inputs.
///
/// The draws are `0..draws`, the same networks that [`Bayes::predict`] uses with
/// [`Draws::Fixed`](crate::predict::Draws::Fixed): the attack knows the posterior that it is evaluated on. An ensemble
/// has at most as many as components, and a point posterior one.
///
/// ```
/// use bayesadapter::{adversarial::Pgd, models::{Architecture, ModelConfig}};
/// use bayesadapter::posterior::{IntoBayes, MeanField};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let architecture: Architecture = "digits-cnn".parse()?;
/// let bayes = architecture.init(&device)?.into_bayes(MeanField::fine_tune(1_797))?;
/// let images = Tensor::zeros([2, 1, 8, 8], &device);
/// let pgd = Pgd { steps: 2, draws: 3, ..Pgd::cifar() };
/// let adversarial = pgd.attack(&bayes, images, &[3, 8], &architecture.normalisation())?;
/// assert_eq!(adversarial.dims(), [2, 1, 8, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pgd {
    /// Largest change of a pixel, of pixels in 0..=1.
    pub epsilon: f64,
    /// Change of a pixel in one step, of pixels in 0..=1.
    pub step: f64,
    /// Number of steps.
    pub steps: usize,
    /// Number of posterior draws.
    pub draws: u32,
    /// Whether the first step starts at a uniformly random place of the ball, and not at the image.
    pub random_start: bool,
    /// Random seed of the start. The noise of an image depends on its place in the batch, so that batches need seeds of
    /// their own.
    pub seed: u64,
}

impl Pgd {
    /// The paper's attack on CIFAR-10: 20 steps of 0.003 within 0.031, from a random start, with 20 draws.
    pub fn cifar() -> Self {
        Self {
            epsilon: 0.031,
            step: 0.003,
            steps: 20,
            draws: 20,
            random_start: true,
            seed: 0,
        }
    }

    /// The paper's attack on ImageNet and faces: 20 steps of 1/255 within 16/255, from a random start, with 20 draws.
    pub fn imagenet() -> Self {
        Self {
            epsilon: 16.0 / 255.0,
            step: 1.0 / 255.0,
            ..Self::cifar()
        }
    }

    /// With another random seed.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Refuses settings out of range.
    ///
    /// # Errors
    ///
    /// A budget or a step that is not a positive number, and an attack without steps or draws.
    pub fn checked(&self) -> Result<(), AttackError> {
        for (what, value) in [("epsilon", self.epsilon), ("step", self.step)] {
            if !(value.is_finite() && value > 0.0) {
                let (value, need) = (value.to_string(), "a positive number, such as 0.003");
                return Err(AttackError::Setting { what, value, need });
            }
        }
        for (what, none) in [("steps", self.steps == 0), ("draws", self.draws == 0)] {
            if none {
                let (value, need) = ("0".to_owned(), "at least 1; the paper has 20");
                return Err(AttackError::Setting { what, value, need });
            }
        }
        Ok(())
    }

    /// Adversarial images for `images`, both `[n, channels, height, width]` and normalised as the network takes them,
    /// with their classes `labels`. The network stays as it is, its layers in
    /// [`Mode::Evaluate`](crate::pass::Mode::Evaluate). Any device will do: autodiff is turned on for the attack alone,
    /// and what is returned has it if the images have.
    ///
    /// Pixels of the images outside of 0..=1 count as the nearest valid ones. Images and draws share launches as far as
    /// memory allows, and nothing is read from the device.
    ///
    /// # Errors
    ///
    /// Settings out of range, labels or a normalisation that do not fit the images, a network without classes or one
    /// that has no gradient in its input, and a pass that fails.
    pub fn attack<M: Classifier<4>>(
        &self,
        bayes: &Bayes<M>,
        images: Tensor<4>,
        labels: &[u32],
        normalisation: &Normalisation,
    ) -> Result<Tensor<4>, AttackError> {
        self.checked()?;
        let autodiff = images.is_autodiff();
        let images = images.without_autodiff();
        let scale = Scale::new(normalisation, &images)?;
        let mut predictive = Predictive::new(bayes, &images, labels, self.draws)?;
        let clean = scale.pixels(images).clamp(0.0, 1.0);
        let low = clean.clone().sub_scalar(self.epsilon).clamp_min(0.0);
        let high = clean.clone().add_scalar(self.epsilon).clamp_max(1.0);
        let within = |pixels: Tensor<4>| pixels.max_pair(low.clone()).min_pair(high.clone());
        let mut pixels = match self.random_start {
            true => within(clean.clone() + self.noise(clean.dims(), &clean.device())),
            false => clean,
        };
        for _ in 0..self.steps {
            let inputs = scale.inputs(pixels.clone());
            // The standard deviations are positive: in pixels the gradient has the same signs.
            let gradient = predictive.gradient(inputs, labels)?.gradient;
            pixels = within(pixels + gradient.sign().mul_scalar(self.step));
        }
        let inputs = scale.inputs(pixels);
        Ok(match autodiff {
            true => inputs.autodiff(),
            false => inputs,
        })
    }

    /// Uniform within the budget, keyed by image and element.
    fn noise(&self, shape: [usize; 4], device: &Device) -> Tensor<4> {
        // Far from the numbers of parameters, whose noise this must not be.
        const START: u32 = 0xADE5_0000;
        let key = NoiseKey {
            seed: self.seed,
            parameter: START,
            ..Default::default()
        };
        let elements = shape[1..].iter().product::<usize>() as u32;
        let of_image = |image| (0..elements).map(move |element| key.uniform(image, element));
        let uniforms = (0..shape[0] as u32).flat_map(of_image);
        let noise: Vec<f32> = uniforms
            .map(|uniform| self.epsilon as f32 * (2.0 * uniform - 1.0))
            .collect();
        Tensor::from_data(TensorData::new(noise, shape), device)
    }
}

/// Pixels in 0..=1 to network inputs and back, channel by channel.
struct Scale {
    /// `[1, channels, 1, 1]`
    mean: Tensor<4>,
    /// `[1, channels, 1, 1]`
    std: Tensor<4>,
}

impl Scale {
    fn new(normalisation: &Normalisation, images: &Tensor<4>) -> Result<Self, AttackError> {
        let channels = images.dims()[1];
        let Normalisation { mean, std } = normalisation;
        if mean.len() != channels || std.len() != channels {
            return Err(AttackError::Channels {
                channels,
                means: mean.len(),
                stds: std.len(),
            });
        }
        let wrong = |&std: &f32| !(std.is_finite() && std > 0.0);
        if let Some(std) = std.iter().copied().find(wrong) {
            return Err(AttackError::Setting {
                what: "a standard deviation of the normalisation",
                value: std.to_string(),
                need: "a positive number",
            });
        }
        let device = images.device();
        let tensor = |values: &[f32]| {
            let data = TensorData::new(values.to_vec(), [1, channels, 1, 1]);
            Tensor::from_data(data, &device)
        };
        Ok(Self {
            mean: tensor(mean),
            std: tensor(std),
        })
    }

    fn pixels(&self, inputs: Tensor<4>) -> Tensor<4> {
        inputs * self.std.clone() + self.mean.clone()
    }

    fn inputs(&self, pixels: Tensor<4>) -> Tensor<4> {
        (pixels - self.mean.clone()) / self.std.clone()
    }
}
