//! The local estimator: the pre-activation is Gaussian, and is drawn instead of the weight.

use super::{LinearMap, shared};
use crate::{
    ops::{DrawAxis, NoiseKey, sample_gaussian},
    pass::{self, Pass, PassError},
    posterior::LogStd,
};
use burn::tensor::Tensor;

/// Keeps the square root differentiable where an input is all zeros.
const LEAST_VARIANCE: f32 = 1e-16;

/// `x mu + sqrt(x^2 sigma^2) * eps`
pub(super) fn local<const W: usize, const K: usize, const X: usize>(
    map: &impl LinearMap<W, K, X>,
    x: Tensor<X>,
    mean: Tensor<W>,
    state: &LogStd,
    pass: &Pass,
) -> Result<Tensor<X>, PassError> {
    let (rows, x_elements) = (x.dims()[0], x.shape().num_elements());
    let variance = state.psi_like(&mean).mul_scalar(2.0).exp();
    let means = map.apply(x.clone(), shared(mean, rows))?;
    let variances = map.apply(x.clone() * x, shared(variance, rows))?;
    let noise = normals_like(&means, state.key(pass))?;
    // The squares of x, the variances and the noise.
    pass::record_kept(x_elements + 2 * noise.shape().num_elements());
    Ok(means + (variances + LEAST_VARIANCE).sqrt() * noise)
}

/// Standard normals in the shape of `like`, keyed by row.
pub(super) fn normals_like<const X: usize>(
    like: &Tensor<X>,
    key: NoiseKey,
) -> Result<Tensor<X>, PassError> {
    let rows = like.dims()[0];
    let noise = normals(rows, like.shape().num_elements() / rows.max(1), key, like)?;
    Ok(noise.reshape(like.shape()))
}

/// Standard normals `[rows, elements]`, keyed by row, on the device of `like`.
pub(super) fn normals<const X: usize>(
    rows: usize,
    elements: usize,
    key: NoiseKey,
    like: &Tensor<X>,
) -> Result<Tensor<2>, PassError> {
    let device = like.device().without_autodiff();
    let zeros = Tensor::<1>::zeros([elements], &device);
    let noise = sample_gaussian(zeros.clone(), zeros, key, DrawAxis::Example, rows)?;
    Ok(match like.device().is_autodiff() {
        true => Tensor::from_inner(noise),
        false => noise,
    })
}
