//! Two small studies: the gradient variance of the estimators, and draws of convolution kernels.

mod gradient_variance;

pub use gradient_variance::{
    GRADIENT_VARIANCE_RUNS, GradientVarianceError, GradientVariances, Variance, gradient_variance,
};

use crate::ops::{DrawAxis, NoiseKey, OpError, sample_gaussian};
use burn::tensor::{Device, Tensor, TensorData};

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
