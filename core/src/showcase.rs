//! Two small experiments that show what a weight per example is good for.

use crate::ops::{
    Conv2dWeights, ConvOptions, DrawAxis, NoiseKey, OpError, Padding, exemplar_conv2d,
    fill_normals, sample_gaussian,
};
use burn::tensor::{Device, Tensor, TensorData};

/// Variance of a gradient over repeated draws, averaged over its coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// Of the means.
    pub mu: f64,
    /// Of the logarithms of the standard deviations.
    pub psi: f64,
}

/// Gradient variance of the two estimators on the same problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimators {
    /// One weight for the whole mini-batch.
    pub vanilla: Variance,
    /// One weight for each example.
    pub exemplar: Variance,
}

const BATCH: usize = 128;
const KERNEL: [usize; 4] = [4, 3, 3, 3];
const IMAGE: usize = 8;

/// How noisy the gradients of a Gaussian convolution are with one weight per mini-batch and with
/// one per example: mean squared output of a mini-batch of 128 random images, `runs` draws each.
///
/// ```
/// use bayesadapter::showcase::gradient_variance;
/// use burn::tensor::Device;
///
/// let found = gradient_variance(&Device::flex(), 50)?;
/// assert!(found.vanilla.mu > 10.0 * found.exemplar.mu);
/// # Ok::<(), bayesadapter::ops::OpError>(())
/// ```
pub fn gradient_variance(device: &Device, runs: u32) -> Result<Estimators, OpError> {
    let device = device.clone().autodiff();
    let x = normal([BATCH, KERNEL[1], IMAGE, IMAGE], 0, 1.0, &device);
    let variance = |exemplar: bool| {
        let mut sums = [Sums::default(), Sums::default()];
        for draw in 0..runs {
            let mu = normal(KERNEL, 1, 0.2, &device).require_grad();
            let psi = Tensor::<4>::full(KERNEL, -2.0, &device).require_grad();
            let weights = weights(exemplar, &mu, &psi, draw)?;
            let options = ConvOptions {
                padding: Padding::symmetric(1, 1),
                ..Default::default()
            };
            let y = exemplar_conv2d(x.clone(), weights, None, options)?;
            let gradients = (y.clone() * y).mean().backward();
            for (sums, parameter) in sums.iter_mut().zip([&mu, &psi]) {
                if let Some(gradient) = parameter.grad(&gradients) {
                    sums.add(&gradient.into_data().try_to_vec().unwrap_or_default());
                }
            }
        }
        let [mu, psi] = sums.map(|sums| sums.variance(runs));
        Ok::<_, OpError>(Variance { mu, psi })
    };
    Ok(Estimators {
        vanilla: variance(false)?,
        exemplar: variance(true)?,
    })
}

fn weights(
    exemplar: bool,
    mu: &Tensor<4>,
    psi: &Tensor<4>,
    draw: u32,
) -> Result<Conv2dWeights, OpError> {
    let key = NoiseKey {
        seed: 1,
        draw,
        ..Default::default()
    };
    let (mu, psi) = (mu.clone(), psi.clone());
    if exemplar {
        return Ok(Conv2dWeights::Gaussian { mu, psi, key });
    }
    Ok(Conv2dWeights::Given {
        weights: sample_gaussian(mu, psi, key, DrawAxis::Draw, 1)?,
        index: vec![0; BATCH],
    })
}

fn normal<const D: usize>(
    shape: [usize; D],
    parameter: u32,
    spread: f32,
    device: &Device,
) -> Tensor<D> {
    let key = NoiseKey {
        seed: 2,
        parameter,
        ..Default::default()
    };
    let mut values = vec![0.0; shape.iter().product()];
    fill_normals(&key, 0, 0, &mut values);
    values.iter_mut().for_each(|value| *value *= spread);
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

/// A made-up posterior over colour kernels, and draws from it.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelDraws {
    /// `[kernels, channels, height, width]`
    pub shape: [usize; 4],
    /// Means, kernel by kernel.
    pub mean: Vec<f32>,
    /// Standard deviations, kernel by kernel.
    pub std: Vec<f32>,
    /// Draw `k` is the same kernels on every device.
    pub draws: Vec<Vec<f32>>,
}

/// Draws `0..draws` of 16 edge detectors, oriented all ways round, that are sure of their centre
/// and unsure of their rim.
pub fn kernel_draws(device: &Device, draws: usize) -> Result<KernelDraws, OpError> {
    let shape = [16, 3, 9, 9];
    let mut mean = Vec::new();
    let mut std = Vec::new();
    for element in 0..shape.iter().product::<usize>() {
        let (kernel, channel) = (element / 243, element / 81 % 3);
        let (row, column) = (element / 9 % 9, element % 9);
        let [y, x] = [row, column].map(|place| (place as f32 - 4.0) / 4.0);
        let angle = kernel as f32 / 16.0 * std::f32::consts::TAU;
        let across = x * angle.cos() + y * angle.sin();
        let rim = x * x + y * y;
        let tint = (angle + channel as f32 * 2.1).cos();
        mean.push((1.0 + 0.4 * tint) * (3.0 * across).sin() * (-1.5 * rim).exp());
        std.push(0.04 + 0.3 * rim / 2.0);
    }
    let tensor =
        |values: &[f32]| Tensor::<4>::from_data(TensorData::new(values.to_vec(), shape), device);
    let psi: Vec<f32> = std.iter().map(|std: &f32| std.ln()).collect();
    let key = NoiseKey {
        seed: 17,
        ..Default::default()
    };
    let weights: Tensor<5> =
        sample_gaussian(tensor(&mean), tensor(&psi), key, DrawAxis::Draw, draws)?;
    let values: Vec<f32> = weights.into_data().try_to_vec().unwrap_or_default();
    let draws = values.chunks_exact(mean.len()).map(<[f32]>::to_vec);
    Ok(KernelDraws {
        shape,
        draws: draws.collect(),
        mean,
        std,
    })
}
