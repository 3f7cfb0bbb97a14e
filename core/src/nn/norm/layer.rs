//! Layer normalisation.

use super::{super::PerExample, Affine, scaled};
use crate::pass;
use burn::{
    config::Config,
    module::{Module, Param},
    tensor::{Device, Tensor, module::layer_norm},
};

/// Configuration of a [`LayerNorm`] layer, with the fields of Burn's.
#[derive(Config, Debug)]
pub struct LayerNormConfig {
    /// Size of the last axis.
    pub d_model: usize,
    /// Added to the variance.
    #[config(default = 1e-5)]
    pub epsilon: f64,
    /// Whether a shift is added.
    #[config(default = true)]
    pub bias: bool,
}

/// Normalises over the last axis.
#[derive(Module, Debug)]
pub struct LayerNorm {
    /// Scale, `[d_model]`.
    pub gamma: Param<Tensor<1>>,
    /// Shift, `[d_model]`.
    pub beta: Option<Param<Tensor<1>>>,
    epsilon: f64,
    /// Tells these layers from Burn's.
    pub per_example: PerExample,
}

impl LayerNormConfig {
    /// A new layer.
    pub fn init(&self, device: &Device) -> LayerNorm {
        let layer = burn::nn::LayerNormConfig::new(self.d_model)
            .with_bias(self.bias)
            .init(device);
        LayerNorm {
            gamma: layer.gamma,
            beta: layer.beta,
            epsilon: self.epsilon,
            per_example: PerExample,
        }
    }
}

impl LayerNorm {
    /// `[.., d_model]`, keeping the shape; the first axis is that of the examples. A vector is one example.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        if pass::has_failed() {
            return input;
        }
        let rows = if D == 1 { 1 } else { input.dims()[0] };
        match Affine::of(&self.gamma, self.beta.as_ref(), rows) {
            Affine::Shared(scale, shift) => layer_norm(input, scale, shift, self.epsilon),
            Affine::Each(scale, shift) => {
                let ones = Tensor::ones([input.dims()[D - 1]], &input.device());
                let normalised = layer_norm(input, ones, None, self.epsilon);
                scaled(normalised, scale, shift, D - 1)
            }
        }
    }
}
