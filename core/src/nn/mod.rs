//! Layers with Burn's names, configurations and record paths that know of posteriors.
//!
//! Change the imports of a model from `burn::nn` to `bayesadapter::nn`, and nothing else. Without a
//! posterior and outside of a [`Pass`](crate::pass::Pass) these layers compute what Burn's compute; inside
//! of one they read the posterior of their parameters and do what the pass says.

/// Convolutions, at the path where Burn has them.
pub mod conv;
mod dropout;
mod linear;
mod norm;

pub use conv::{
    Conv1d, Conv1dConfig, Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig,
};
pub use dropout::{Dropout, DropoutConfig};
pub use linear::{Linear, LinearConfig};
pub use norm::{
    BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, LayerNorm, LayerNormConfig,
};

/// The initialiser of Burn's linear and convolution layers: uniform within `1 / sqrt(fan_in)`.
const INITIALIZER: burn::nn::Initializer = burn::nn::Initializer::KaimingUniform {
    gain: 0.577_350_269_189_625_8,
    fan_out_only: false,
};
