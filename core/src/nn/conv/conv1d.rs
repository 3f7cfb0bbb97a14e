//! The 1-D convolution layer: a 2-D one on images of one row.

use super::{
    super::{INITIALIZER, PerExample},
    padding::padding_1d,
};
use crate::{
    estimators::{self, LinearMap},
    ops::{Conv2dWeights, ConvOptions, OpError, Weights, exemplar_conv2d},
};
use burn::{
    config::Config,
    module::{Module, Param},
    nn::{Initializer, PaddingConfig1d},
    tensor::{Device, Tensor},
};

/// Configuration of a [`Conv1d`] layer, with the fields of Burn's.
#[derive(Config, Debug)]
pub struct Conv1dConfig {
    /// Number of input channels.
    pub channels_in: usize,
    /// Number of output channels.
    pub channels_out: usize,
    /// Size of the kernel.
    pub kernel_size: usize,
    /// Steps between outputs.
    #[config(default = "1")]
    pub stride: usize,
    /// Steps between the elements of a kernel.
    #[config(default = "1")]
    pub dilation: usize,
    /// Number of groups of channels.
    #[config(default = "1")]
    pub groups: usize,
    /// Zeros around the signal.
    #[config(default = "PaddingConfig1d::Valid")]
    pub padding: PaddingConfig1d,
    /// Whether a bias is added.
    #[config(default = true)]
    pub bias: bool,
    /// How the parameters start.
    #[config(default = "INITIALIZER")]
    pub initializer: Initializer,
}

/// A 1-D convolution.
#[derive(Module, Debug)]
pub struct Conv1d {
    /// `[channels_out, channels_in / groups, kernel_size]`
    pub weight: Param<Tensor<3>>,
    /// `[channels_out]`
    pub bias: Option<Param<Tensor<1>>>,
    /// Steps between outputs.
    pub stride: usize,
    /// Size of the kernel.
    pub kernel_size: usize,
    /// Steps between the elements of a kernel.
    pub dilation: usize,
    /// Number of groups of channels.
    pub groups: usize,
    /// Zeros around the signal.
    #[module(skip)]
    pub padding: PaddingConfig1d,
    /// Tells these layers from Burn's.
    pub per_example: PerExample,
}

impl Conv1dConfig {
    /// A new layer.
    ///
    /// # Panics
    ///
    /// As Burn's, if the channels are not divisible by the groups.
    pub fn init(&self, device: &Device) -> Conv1d {
        let layer = burn::nn::conv::Conv1dConfig::new(
            self.channels_in,
            self.channels_out,
            self.kernel_size,
        )
        .with_groups(self.groups)
        .with_bias(self.bias)
        .with_initializer(self.initializer.clone())
        .init(device);
        Conv1d {
            weight: layer.weight,
            bias: layer.bias,
            stride: self.stride,
            kernel_size: self.kernel_size,
            dilation: self.dilation,
            groups: self.groups,
            padding: self.padding.clone(),
            per_example: PerExample,
        }
    }
}

impl Conv1d {
    /// `[batch, channels_in, length]` to `[batch, channels_out, length_out]`.
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        let length = input.dims()[2];
        let map = OneRow(ConvOptions {
            stride: [1, self.stride],
            dilation: [1, self.dilation],
            padding: padding_1d(&self.padding, length, self.kernel_size, self.stride),
            groups: self.groups,
        });
        estimators::forward(&map, input, &self.weight, self.bias.as_ref())
    }
}

struct OneRow(ConvOptions);

impl LinearMap<3, 4, 3> for OneRow {
    const CHANNELS: usize = 1;

    fn apply(&self, x: Tensor<3>, weights: Weights<3, 4>) -> Result<Tensor<3>, OpError> {
        let y = exemplar_conv2d(x.unsqueeze_dim(2), with_one_row(weights), None, self.0)?;
        Ok(y.squeeze_dim(2))
    }

    fn by_channel(&self, values: Tensor<2>) -> Tensor<3> {
        values.unsqueeze_dim(2)
    }

    fn y_shape(&self, [rows, channels, length]: [usize; 3], weight: [usize; 3]) -> [usize; 3] {
        let [channels_out, of_group, kernel] = weight;
        let weight = [channels_out, of_group, 1, kernel];
        let [rows, channels, _, length] = self.0.y_shape([rows, channels, 1, length], weight);
        [rows, channels, length]
    }
}

/// The same weights as kernels of one row; elements keep their order, and with it their noise.
fn with_one_row(weights: Weights<3, 4>) -> Conv2dWeights {
    match weights {
        Weights::Given { weights, index } => Weights::Given {
            weights: weights.unsqueeze_dim(3),
            index,
        },
        Weights::Gaussian { mu, psi, key } => Weights::Gaussian {
            mu: mu.unsqueeze_dim(2),
            psi: psi.unsqueeze_dim(2),
            key,
        },
        Weights::LowRank {
            shared,
            left,
            right,
            index,
        } => Weights::LowRank {
            shared: shared.unsqueeze_dim(2),
            left,
            right,
            index,
        },
    }
}
