//! The ops in ordinary tensor operations, for any device and as the yardstick of every kernel.
//!
//! Here the weight of each example is stored, which is what the kernels avoid.

pub use super::norm::reference::{batch_norm, batch_norm_train};
use super::{
    Conv2dWeights, MatmulWeights, OpError, Weights, exemplar, noise::fill_normals, route::Route,
    sample,
};
use bayesadapter_shaders::{Conv2d, DrawAxis, Map, NoiseKey};
use burn::tensor::{
    Device, Int, Tensor, TensorData,
    module::conv2d as burn_conv2d,
    ops::{ConvOptions, PadMode},
};

/// Standard normals `[draws, ..shape]` of a key.
fn normals<const K: usize>(
    key: &NoiseKey,
    axis: DrawAxis,
    shape: [usize; K],
    device: &Device,
) -> Tensor<K> {
    let len = shape[1..].iter().product();
    let mut values = vec![0.0; shape[0] * len];
    if len > 0 {
        for (slot, out) in values.chunks_exact_mut(len).enumerate() {
            let (key, example) = axis.slot(key, slot as u32);
            fill_normals(&key, example, 0, out);
        }
    }
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// `[draws, ..]`: `mu + exp(psi) * eps`.
pub(super) fn gaussian<const W: usize, const K: usize>(
    mu: Tensor<W>,
    psi: Tensor<W>,
    key: &NoiseKey,
    axis: DrawAxis,
    draws: usize,
) -> Tensor<K> {
    let mut shape = [draws; K];
    shape[1..].copy_from_slice(&mu.dims());
    let eps = normals(key, axis, shape, &mu.device());
    mu.unsqueeze::<K>() + psi.exp().unsqueeze::<K>() * eps
}

/// `[index.len(), ..]`: `shared * (left[c] right[c])`.
fn low_rank<const W: usize, const K: usize>(
    shared: Tensor<W>,
    left: Tensor<3>,
    right: Tensor<3>,
    index: &[u32],
    map: &Map,
) -> Tensor<K> {
    let index = slots(index, &shared.device());
    let factor = left.select(0, index.clone()).matmul(right.select(0, index));
    let factor = match map {
        Map::Matmul(_) => factor,
        Map::Conv2d(_) => factor.swap_dims(1, 2),
    };
    let mut shape = [factor.dims()[0]; K];
    shape[1..].copy_from_slice(&shared.dims());
    shared.unsqueeze::<K>() * factor.reshape(shape)
}

/// The indices as a tensor.
pub(super) fn slots(index: &[u32], device: &Device) -> Tensor<1, Int> {
    let index: Vec<i64> = index.iter().map(|&slot| i64::from(slot)).collect();
    Tensor::from_data(TensorData::from(index.as_slice()), device)
}

/// One stored weight per example.
pub(super) fn per_example<const W: usize, const K: usize>(
    weights: Weights<W, K>,
    map: &Map,
) -> Tensor<K> {
    match weights {
        Weights::Given { weights, index } => {
            let index = slots(&index, &weights.device());
            weights.select(0, index)
        }
        Weights::Gaussian { mu, psi, key } => {
            gaussian(mu, psi, &key, DrawAxis::Example, map.batch())
        }
        Weights::LowRank {
            shared,
            left,
            right,
            index,
        } => low_rank(shared, left, right, &index, map),
    }
}

/// [`exemplar_matmul`](super::exemplar_matmul) with a stored weight per example.
pub fn exemplar_matmul(
    x: Tensor<3>,
    weights: MatmulWeights,
    bias: Option<Tensor<2>>,
) -> Result<Tensor<3>, OpError> {
    exemplar::matmul(Route::Reference, x, weights, bias)
}

/// [`exemplar_conv2d`](super::exemplar_conv2d) with a stored kernel per example.
pub fn exemplar_conv2d(
    x: Tensor<4>,
    weights: Conv2dWeights,
    bias: Option<Tensor<2>>,
    options: super::ConvOptions,
) -> Result<Tensor<4>, OpError> {
    exemplar::conv2d(Route::Reference, x, weights, bias, options)
}

/// [`sample_gaussian`](super::sample_gaussian) from stored normals.
pub fn sample_gaussian<const D: usize, const K: usize>(
    mu: Tensor<D>,
    psi: Tensor<D>,
    key: NoiseKey,
    axis: DrawAxis,
    draws: usize,
) -> Result<Tensor<K>, OpError> {
    sample::gaussian(Route::Reference, mu, psi, key, axis, draws)
}

/// [`sample_low_rank`](super::sample_low_rank) by products of stored factors.
pub fn sample_low_rank<const D: usize, const K: usize>(
    shared: Tensor<D>,
    left: Tensor<3>,
    right: Tensor<3>,
    index: &[u32],
) -> Result<Tensor<K>, OpError> {
    sample::low_rank(Route::Reference, shared, left, right, index)
}

/// x `[b, t, i]` times w `[b, i, o]`.
pub(super) fn matmul(x: Tensor<3>, per_example: Tensor<3>, _: &Map) -> Tensor<3> {
    x.matmul(per_example)
}

/// x `[b, ci, h, w]` with kernels `[b, co, ci / groups, kh, kw]`, as one convolution whose groups
/// are the examples' groups.
pub(super) fn conv2d(x: Tensor<4>, per_example: Tensor<5>, map: &Map) -> Tensor<4> {
    let Map::Conv2d(c) = map else {
        unreachable!("a convolution's map is always Conv2d");
    };
    let Conv2d {
        batch, padding: p, ..
    } = *c;
    let [_, co, ci, kh, kw] = per_example.dims();
    let x = x.pad((p.left, p.right, p.top, p.bottom), PadMode::Constant(0.0));
    let [_, _, h, w] = x.dims();
    let y = burn_conv2d(
        x.reshape([1, batch * c.channels_in, h, w]),
        per_example.reshape([batch * co, ci, kh, kw]),
        None,
        ConvOptions::new(c.stride, [0, 0], c.dilation, batch * c.groups),
    );
    let [oh, ow] = c.output();
    y.reshape([batch, co, oh, ow])
}
