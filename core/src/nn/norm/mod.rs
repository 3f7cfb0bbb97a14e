//! Normalisation layers, whose scales and shifts can have posteriors.

mod batch;
mod group;
mod layer;

#[doc(no_inline)]
pub use burn::nn::norm::*;

pub use batch::{BatchNorm, BatchNormConfig};
pub use group::{GroupNorm, GroupNormConfig};
pub use layer::{LayerNorm, LayerNormConfig};

use super::along;
use crate::estimators::{Rows, vectors};
use burn::{module::Param, tensor::Tensor};

/// A scale and a shift for the rows of a batch.
enum Affine {
    /// The same for all, `[channels]` each.
    Shared(Tensor<1>, Option<Tensor<1>>),
    /// One for each, `[rows, channels]`; a shift may be `[1, channels]`.
    Each(Tensor<2>, Option<Tensor<2>>),
}

impl Affine {
    fn of(gamma: &Param<Tensor<1>>, beta: Option<&Param<Tensor<1>>>, rows: usize) -> Self {
        let scale = vectors(gamma, rows);
        match (scale, beta.map(|beta| vectors(beta, rows))) {
            (Rows::Shared(scale), None) => Self::Shared(scale, None),
            (Rows::Shared(scale), Some(Rows::Shared(shift))) => Self::Shared(scale, Some(shift)),
            (scale, shift) => Self::Each(scale.into_tensor(), shift.map(Rows::into_tensor)),
        }
    }
}

/// `y * scale + shift`, with the channels on axis `channels` of y.
fn scaled<const D: usize>(
    y: Tensor<D>,
    scale: Tensor<2>,
    shift: Option<Tensor<2>>,
    channels: usize,
) -> Tensor<D> {
    let y = y * along::<D>(scale, channels);
    match shift {
        Some(shift) => y + along::<D>(shift, channels),
        None => y,
    }
}
