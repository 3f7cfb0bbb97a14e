//! Flipout: one perturbation for the mini-batch, decorrelated by random signs.

use super::{LinearMap, local::normals, shared};
use crate::{
    ops::{DrawAxis, NoiseKey, sample_gaussian},
    pass::{self, Pass, PassError},
    posterior::LogStd,
};
use burn::tensor::Tensor;

/// `x mu + ((x * s) delta) * t` with signs `s`, `t` per row and channel.
pub(super) fn flipout<const W: usize, const K: usize, const X: usize>(
    map: &impl LinearMap<W, K, X>,
    x: Tensor<X>,
    mean: Tensor<W>,
    state: &LogStd,
    pass: &Pass,
) -> Result<Tensor<X>, PassError> {
    let rows = x.dims()[0];
    let shape = mean.shape();
    let key = state.key(pass);
    let psi = state.psi.val();
    // The perturbation belongs to the step, the signs to the rows.
    let step = NoiseKey {
        first_example: 0,
        ..key
    };
    let delta: Tensor<2> = sample_gaussian(psi.zeros_like(), psi, step, DrawAxis::Draw, 1)?;
    let means = map.apply(x.clone(), shared(mean, rows))?;
    let flipped = x.clone() * signs(map, &x, key, 1)?;
    pass::record_kept(flipped.shape().num_elements());
    let perturbed = map.apply(flipped, shared(delta.reshape(shape), rows))?;
    let flips = signs(map, &perturbed, key, 2)?;
    Ok(means + perturbed * flips)
}

/// Random signs for every row and channel of `of`; `side` tells those of x from those of y.
fn signs<const W: usize, const K: usize, const X: usize, L: LinearMap<W, K, X>>(
    map: &L,
    of: &Tensor<X>,
    key: NoiseKey,
    side: u64,
) -> Result<Tensor<X>, PassError> {
    const SIGNS: u64 = 0x2545_f491_4f6c_dd1d;
    let key = NoiseKey {
        seed: key.seed ^ SIGNS.wrapping_mul(side),
        ..key
    };
    let dims = of.dims();
    let normals = normals(dims[0], dims[L::CHANNELS], key, of)?;
    Ok(map.by_channel(normals.sign()))
}
