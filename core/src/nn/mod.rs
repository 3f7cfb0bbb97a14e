//! Layers with Burn's names, configurations and record paths that know of posteriors.
//!
//! Change the imports of a model from `burn::nn` to `bayesadapter::nn`, and nothing else (a layer that is built field
//! by field also gets `per_example: PerExample`). Without a posterior and outside of a [`Pass`](crate::pass::Pass)
//! these layers compute what Burn's compute; inside of one they read the posterior of their parameters and do what the pass
//! says.
//!
//! Everything else of `burn::nn` is here too, as it is there: a layer of Burn that is not among those of this module
//! shares one draw of its weights among the examples of a batch, as the
//! [account](crate::posterior::ConversionAccount) of a conversion tells.

/// Activation functions, at the path where Burn has them.
pub mod activation;
/// Convolutions, at the path where Burn has them.
pub mod conv;
mod dropout;
mod linear;
mod marker;
/// Normalisations, at the path where Burn has them.
pub mod norm;

pub use activation::{PRelu, PReluConfig};
#[doc(no_inline)]
pub use burn::nn::*;
pub use conv::{
    Conv1d, Conv1dConfig, Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig,
};
pub use dropout::{Dropout, DropoutConfig};
pub use linear::{Linear, LinearConfig};
pub use marker::PerExample;
pub use norm::{
    BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, LayerNorm, LayerNormConfig,
};

use burn::tensor::Tensor;

/// The initialiser of Burn's linear and convolution layers: uniform within `1 / sqrt(fan_in)`.
const INITIALIZER: Initializer = Initializer::KaimingUniform {
    gain: 0.577_350_269_189_625_8,
    fan_out_only: false,
};

/// `values[row, channel]`, to be broadcast over a tensor that has its channels on axis `channels`.
fn along<const D: usize>(values: Tensor<2>, channels: usize) -> Tensor<D> {
    let [rows, width] = values.dims();
    let mut shape = [1; D];
    shape[0] = rows;
    shape[channels] = width;
    values.reshape(shape)
}
