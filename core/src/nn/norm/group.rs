//! Group normalisation.

use super::{super::PerExample, Affine, scaled};
use crate::pass;
use burn::{
    config::Config,
    module::{Module, Param},
    tensor::{Device, Tensor, module::layer_norm},
};

/// Configuration of a [`GroupNorm`] layer, with the fields of Burn's.
#[derive(Config, Debug)]
pub struct GroupNormConfig {
    /// Number of groups of channels.
    pub num_groups: usize,
    /// Number of channels.
    pub num_channels: usize,
    /// Added to the variance.
    #[config(default = 1e-5)]
    pub epsilon: f64,
    /// Whether there are a scale and a shift.
    #[config(default = true)]
    pub affine: bool,
}

/// Normalises over groups of channels.
#[derive(Module, Debug)]
pub struct GroupNorm {
    /// Scale, `[channels]`.
    pub gamma: Option<Param<Tensor<1>>>,
    /// Shift, `[channels]`.
    pub beta: Option<Param<Tensor<1>>>,
    /// Number of groups of channels.
    pub num_groups: usize,
    /// Number of channels.
    pub num_channels: usize,
    /// Added to the variance.
    pub epsilon: f64,
    /// Whether there are a scale and a shift.
    pub affine: bool,
    /// Tells these layers from Burn's.
    pub per_example: PerExample,
}

impl GroupNormConfig {
    /// A new layer.
    ///
    /// # Panics
    ///
    /// As Burn's, if the channels are not divisible by the groups.
    pub fn init(&self, device: &Device) -> GroupNorm {
        let layer = burn::nn::GroupNormConfig::new(self.num_groups, self.num_channels)
            .with_affine(self.affine)
            .init(device);
        GroupNorm {
            gamma: layer.gamma,
            beta: layer.beta,
            num_groups: self.num_groups,
            num_channels: self.num_channels,
            epsilon: self.epsilon,
            affine: self.affine,
            per_example: PerExample,
        }
    }
}

impl GroupNorm {
    /// `[batch, channels, ..]`, keeping the shape.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        if pass::has_failed() {
            return input;
        }
        let shape = input.shape();
        let rows = input.dims()[0];
        let of_group = shape.num_elements() / (rows * self.num_groups).max(1);
        let groups = input.clone().reshape([rows, self.num_groups, of_group]);
        let ones = Tensor::ones([of_group], &input.device());
        let normalised = layer_norm(groups, ones, None, self.epsilon).reshape(shape);
        let Some(gamma) = &self.gamma else {
            return normalised;
        };
        let (scale, shift) = match Affine::of(gamma, self.beta.as_ref(), rows) {
            Affine::Shared(scale, shift) => (scale.unsqueeze(), shift.map(Tensor::unsqueeze)),
            Affine::Each(scale, shift) => (scale, shift),
        };
        scaled(normalised, scale, shift, 1)
    }
}
