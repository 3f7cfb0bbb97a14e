//! Gradient-variance study: the estimators of the expected log-likelihood on a problem with one convolution.

use crate::{
    nn::{Conv2d, Conv2dConfig},
    ops::{NoiseKey, fill_normals},
    pass::{Estimator, Pass, PassError},
    posterior::{Bayes, ConvertError, InitialStd, IntoBayes, MeanField, Spread},
};
use burn::{
    module::Param,
    nn::PaddingConfig2d,
    optim::GradientsParams,
    tensor::{Device, Tensor, TensorData},
};
use std::f32::consts::SQRT_2;

/// Variance of a gradient over repeated draws, averaged over its coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// Of the means.
    pub mu: f64,
    /// Of the logarithms of the standard deviations.
    pub psi: f64,
}

/// Gradient variance of the four estimators on the same problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientVariances {
    /// One weight for the whole mini-batch.
    pub vanilla: Variance,
    /// One weight for each example.
    pub exemplar: Variance,
    /// A pre-activation for each output.
    pub local: Variance,
    /// One perturbation for the mini-batch, with random signs for each example.
    pub flipout: Variance,
}

impl GradientVariances {
    /// All of them, the vanilla estimator first.
    pub fn each(&self) -> [(Estimator, Variance); 4] {
        [
            (Estimator::Vanilla, self.vanilla),
            (Estimator::Exemplar, self.exemplar),
            (Estimator::Local, self.local),
            (Estimator::Flipout, self.flipout),
        ]
    }
}

/// Why the gradient variance was not measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GradientVarianceError {
    /// A variance needs two gradients.
    #[error("the number of runs is {0}, but must be at least 2; the paper has 500")]
    Runs(u32),
    /// The convolution cannot have the posterior.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// A forward or backward pass failed.
    #[error(transparent)]
    Pass(#[from] PassError),
}

/// Runs per estimator in the paper's study.
pub const GRADIENT_VARIANCE_RUNS: u32 = 500;

/// Measures how noisy the gradients of a mean-field Gaussian convolution are with each estimator, over `runs` training
/// steps on the same mini-batch ([`GRADIENT_VARIANCE_RUNS`] in the paper).
///
/// The problem is the one of the paper's authors: a convolution of 3 x 3 from 3 to 16 channels without a bias, means
/// from Kaiming's normal distribution (fan out), logarithms of the standard deviations from U(-6, -5), 128 images
/// `[3, 32, 32]` and targets `[16, 32, 32]` uniform in 0..1, mean squared error. The layer and the passes are those of
/// training.
///
/// ```
/// use bayesadapter::showcase::gradient_variance;
/// use burn::tensor::Device;
///
/// let found = gradient_variance(&Device::flex(), 4)?;
/// assert!(found.vanilla.mu > 10.0 * found.exemplar.mu);
/// # Ok::<(), bayesadapter::showcase::GradientVarianceError>(())
/// ```
///
/// # Errors
///
/// Fewer than two runs, and a device that fails.
pub fn gradient_variance(
    device: &Device,
    runs: u32,
) -> Result<GradientVariances, GradientVarianceError> {
    let toy = Toy::new(BATCH, IMAGE, device)?;
    let measure = |estimator| toy.measure(estimator, runs);
    Ok(GradientVariances {
        vanilla: measure(Estimator::Vanilla)?,
        exemplar: measure(Estimator::Exemplar)?,
        local: measure(Estimator::Local)?,
        flipout: measure(Estimator::Flipout)?,
    })
}

const BATCH: usize = 128;
const IMAGE: usize = 32;
const CHANNELS: [usize; 2] = [3, 16];
const KERNEL: usize = 3;

/// The problem, on a device with autodiff.
struct Toy {
    bayes: Bayes<Conv2d>,
    /// `[batch, 3, image, image]`
    images: Tensor<4>,
    /// `[batch, 16, image, image]`
    targets: Tensor<4>,
}

impl Toy {
    fn new(batch: usize, image: usize, device: &Device) -> Result<Self, ConvertError> {
        let device = device.clone().autodiff();
        let [channels_in, channels_out] = CHANNELS;
        let mut layer = Conv2dConfig::new(CHANNELS, [KERNEL, KERNEL])
            .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
            .with_bias(false)
            .init(&device);
        // Kaiming's distribution from keyed noise, so that every device has the same problem.
        let fan_out = channels_out * KERNEL * KERNEL;
        let mut mu = vec![0.0; channels_in * fan_out];
        fill_normals(&key(0), 0, 0, &mut mu);
        let std = SQRT_2 / (fan_out as f32).sqrt();
        mu.iter_mut().for_each(|value| *value *= std);
        let shape = [channels_out, channels_in, KERNEL, KERNEL];
        layer.weight = Param::from_tensor(Tensor::from_data(TensorData::new(mu, shape), &device));
        let posterior =
            MeanField::fine_tune(batch).with_initial_std(InitialStd::LogUniform([-6.0, -5.0]));
        Ok(Self {
            bayes: layer.into_bayes(posterior)?,
            images: uniform([batch, channels_in, image, image], 1, &device),
            targets: uniform([batch, channels_out, image, image], 2, &device),
        })
    }

    fn measure(&self, estimator: Estimator, runs: u32) -> Result<Variance, GradientVarianceError> {
        if runs < 2 {
            return Err(GradientVarianceError::Runs(runs));
        }
        let mut sums = [Sums::default(), Sums::default()];
        for step in 0..runs {
            let gradients = self.gradients(Pass::train(estimator, step))?;
            for (sums, gradient) in sums.iter_mut().zip(gradients) {
                sums.add(&gradient);
            }
        }
        let [mu, psi] = sums.map(|sums| sums.variance(runs));
        Ok(Variance { mu, psi })
    }

    /// Gradients of the mean squared error in mu and in psi.
    fn gradients(&self, pass: Pass) -> Result<[Vec<f32>; 2], PassError> {
        let gradients = self.bayes.run(pass, |layer| {
            let error = layer.forward(self.images.clone()) - self.targets.clone();
            // Inside the pass, which catches a backend's panic.
            (error.clone() * error).mean().backward()
        })?;
        let gradients = GradientsParams::from_grads(gradients, &self.bayes);
        let mut found = [Vec::new(), Vec::new()];
        for entry in self.bayes.inventory().entries {
            found[0] = read(gradients.get::<4>(entry.id))?;
            if let Spread::MeanField { psi_id, .. } = entry.spread {
                found[1] = read(gradients.get::<1>(psi_id))?;
            }
        }
        Ok(found)
    }
}

fn read<const D: usize>(gradient: Option<Tensor<D>>) -> Result<Vec<f32>, PassError> {
    let gradient = gradient.ok_or_else(|| PassError::Read("there is no gradient".to_owned()))?;
    let values = gradient.into_data().try_into_vec();
    values.map_err(|error| PassError::Read(error.to_string()))
}

fn key(parameter: u32) -> NoiseKey {
    NoiseKey {
        seed: 2,
        parameter,
        ..Default::default()
    }
}

/// Uniform in 0..1.
fn uniform(shape: [usize; 4], parameter: u32, device: &Device) -> Tensor<4> {
    let key = key(parameter);
    let elements = shape.iter().product::<usize>() as u32;
    let values: Vec<f32> = (0..elements).map(|at| key.uniform(0, at)).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// First and second moments of every coordinate.
#[derive(Default)]
struct Sums {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Sums {
    fn add(&mut self, gradient: &[f32]) {
        self.first.resize(gradient.len(), 0.0);
        self.second.resize(gradient.len(), 0.0);
        for (at, &value) in gradient.iter().enumerate() {
            self.first[at] += f64::from(value);
            self.second[at] += f64::from(value) * f64::from(value);
        }
    }

    /// Unbiased variance, averaged over coordinates.
    fn variance(&self, runs: u32) -> f64 {
        let n = f64::from(runs);
        let spread = |(first, second): (&f64, &f64)| (second - first * first / n) / (n - 1.0);
        let total: f64 = self.first.iter().zip(&self.second).map(spread).sum();
        total / self.first.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests;
