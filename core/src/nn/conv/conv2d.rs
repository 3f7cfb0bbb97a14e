//! The 2-D convolution layer.

use super::{
    super::{INITIALIZER, PerExample},
    padding::padding_2d,
};
use crate::{estimators, ops::ConvOptions};
use burn::{
    config::Config,
    module::{Module, Param},
    nn::{Initializer, PaddingConfig2d},
    tensor::{Device, Tensor},
};

/// Configuration of a [`Conv2d`] layer, with the fields of Burn's.
#[derive(Config, Debug)]
pub struct Conv2dConfig {
    /// `[channels_in, channels_out]`
    pub channels: [usize; 2],
    /// `[vertical, horizontal]`, as all pairs.
    pub kernel_size: [usize; 2],
    /// Steps between outputs.
    #[config(default = "[1, 1]")]
    pub stride: [usize; 2],
    /// Steps between the elements of a kernel.
    #[config(default = "[1, 1]")]
    pub dilation: [usize; 2],
    /// Number of groups of channels; `channels_in` for a depthwise convolution.
    #[config(default = "1")]
    pub groups: usize,
    /// Zeros around the image.
    #[config(default = "PaddingConfig2d::Valid")]
    pub padding: PaddingConfig2d,
    /// Whether a bias is added.
    #[config(default = true)]
    pub bias: bool,
    /// How the parameters start.
    #[config(default = "INITIALIZER")]
    pub initializer: Initializer,
}

/// A 2-D convolution.
#[derive(Module, Debug)]
pub struct Conv2d {
    /// `[channels_out, channels_in / groups, kh, kw]`
    pub weight: Param<Tensor<4>>,
    /// `[channels_out]`
    pub bias: Option<Param<Tensor<1>>>,
    /// Steps between outputs.
    pub stride: [usize; 2],
    /// Size of the kernel.
    pub kernel_size: [usize; 2],
    /// Steps between the elements of a kernel.
    pub dilation: [usize; 2],
    /// Number of groups of channels.
    pub groups: usize,
    /// Zeros around the image.
    #[module(skip)]
    pub padding: PaddingConfig2d,
    /// Tells these layers from Burn's.
    pub per_example: PerExample,
}

impl Conv2dConfig {
    /// A new layer.
    ///
    /// ```
    /// use bayesadapter::nn::Conv2dConfig;
    /// use burn::{nn::PaddingConfig2d, tensor::{Device, Tensor}};
    ///
    /// let device = Device::flex();
    /// let layer = Conv2dConfig::new([3, 8], [3, 3]).with_padding(PaddingConfig2d::Same).init(&device);
    /// assert_eq!(layer.forward(Tensor::ones([2, 3, 7, 5], &device)).dims(), [2, 8, 7, 5]);
    /// ```
    ///
    /// # Panics
    ///
    /// As Burn's, if the channels are not divisible by the groups.
    pub fn init(&self, device: &Device) -> Conv2d {
        let layer = burn::nn::conv::Conv2dConfig::new(self.channels, self.kernel_size)
            .with_groups(self.groups)
            .with_bias(self.bias)
            .with_initializer(self.initializer.clone())
            .init(device);
        Conv2d {
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

impl Conv2d {
    /// `[batch, channels_in, h, w]` to `[batch, channels_out, oh, ow]`.
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let [_, _, h, w] = input.dims();
        let options = ConvOptions {
            stride: self.stride,
            dilation: self.dilation,
            padding: padding_2d(&self.padding, [h, w], self.kernel_size, self.stride),
            groups: self.groups,
        };
        estimators::forward(&options, input, &self.weight, self.bias.as_ref())
    }
}
