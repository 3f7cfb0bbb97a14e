//! The weight sources as a caller hands them over, checked against the shape of the map.

use super::error::OpError;
use bayesadapter_shaders::{Map, NoiseKey, Source};
use burn::tensor::{DType, Device, Tensor};
use std::sync::Arc;

/// Where each example's weight comes from. `W` is the rank of one weight and `K = W + 1`:
/// [`MatmulWeights`] and [`Conv2dWeights`] name the two that exist.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "handed over once per op, where a box would only be in the way"
)]
pub enum Weights<const W: usize, const K: usize> {
    /// Example `b` uses `weights[index[b]]`. One weight for all is `index = vec![0; batch]`.
    Given {
        /// `[count, ..weight]`
        weights: Tensor<K>,
        /// Which weight each example uses.
        index: Vec<u32>,
    },
    /// `w_b = mu + exp(psi) * eps_b`, made on the fly from the keyed normals of example `b`.
    Gaussian {
        /// Means, of the weight's shape.
        mu: Tensor<W>,
        /// Logarithms of the standard deviations, of the weight's shape.
        psi: Tensor<W>,
        /// Names the noise.
        key: NoiseKey,
    },
    /// `w_b = shared * (left[c] right[c])` element by element, with component `c = index[b]`.
    ///
    /// A convolution kernel `[o, i, kh, kw]` is read as the matrix `[i * kh * kw, o]`.
    LowRank {
        /// Of the weight's shape.
        shared: Tensor<W>,
        /// `[components, in, rank]`
        left: Tensor<3>,
        /// `[components, rank, out]`
        right: Tensor<3>,
        /// Which component each example uses.
        index: Vec<u32>,
    },
}

/// Weights `[inputs, outputs]` of [`exemplar_matmul`](super::exemplar_matmul).
pub type MatmulWeights = Weights<2, 3>;
/// Weights `[channels_out, channels_in / groups, kh, kw]` of [`exemplar_conv2d`](super::exemplar_conv2d).
pub type Conv2dWeights = Weights<4, 5>;

impl<const W: usize, const K: usize> Weights<W, K> {
    /// Shape of one weight.
    pub fn weight_shape(&self) -> [usize; W] {
        match self {
            Self::Given { weights, .. } => {
                let dims = weights.dims();
                std::array::from_fn(|axis| dims[axis + 1])
            }
            Self::Gaussian { mu, .. } => mu.dims(),
            Self::LowRank { shared, .. } => shared.dims(),
        }
    }

    /// Checks everything but x, and names the source.
    pub(super) fn source(&self, map: &Map, device: &Device) -> Result<Source, OpError> {
        let weight = map.weight_shape();
        let examples = map.batch();
        match self {
            Self::Given { weights, index } => {
                check(
                    "weights",
                    weights,
                    &[&[weights.dims()[0]], &weight[..]].concat(),
                    device,
                )?;
                let count = weights.dims()[0];
                let index = checked_index(index, examples, count)?;
                Ok(Source::Given { index, count })
            }
            Self::Gaussian { mu, psi, key } => {
                check("mu", mu, &weight, device)?;
                check("psi", psi, &weight, device)?;
                Ok(Source::Gaussian { key: *key })
            }
            Self::LowRank {
                shared,
                left,
                right,
                index,
            } => {
                let [fan_in, fan_out] = map.fan();
                let [components, _, rank] = left.dims();
                if rank == 0 {
                    return Err(OpError::Empty {
                        what: "the rank of left",
                    });
                }
                check("shared", shared, &weight, device)?;
                check("left", left, &[components, fan_in, rank], device)?;
                check("right", right, &[components, rank, fan_out], device)?;
                let index = checked_index(index, examples, components)?;
                Ok(Source::LowRank {
                    index,
                    components,
                    rank,
                })
            }
        }
    }
}

/// Refuses a tensor of another shape, type or device.
pub(super) fn check<const D: usize>(
    what: &'static str,
    tensor: &Tensor<D>,
    expected: &[usize],
    device: &Device,
) -> Result<(), OpError> {
    let found = tensor.dims();
    if found[..] != *expected {
        return Err(OpError::Shape {
            what,
            expected: expected.to_vec(),
            found: found.to_vec(),
        });
    }
    if tensor.dtype() != DType::F32 {
        return Err(OpError::DType {
            what,
            found: tensor.dtype(),
        });
    }
    // A tensor without autodiff may meet one with: it is a constant to the tape.
    let inner = |device: &Device| device.clone().without_autodiff();
    if inner(&tensor.device()) != inner(device) {
        return Err(OpError::Device {
            what,
            expected: format!("{device:?}"),
            found: format!("{:?}", tensor.device()),
        });
    }
    Ok(())
}

/// One slot below `count` per example.
pub(super) fn checked_index(
    index: &[u32],
    examples: usize,
    count: usize,
) -> Result<Arc<[u32]>, OpError> {
    if index.len() != examples {
        return Err(OpError::IndexLength {
            expected: examples,
            found: index.len(),
        });
    }
    match index.iter().position(|&slot| slot as usize >= count) {
        Some(position) => Err(OpError::Index {
            position,
            slot: index[position],
            count,
        }),
        None => Ok(index.into()),
    }
}
