//! The transposed 2-D convolution layer: an ordinary one on an image with zeros between its pixels.

use super::super::{INITIALIZER, PerExample};
use crate::{
    estimators::{self, LinearMap},
    ops::{
        Conv2dWeights, ConvOptions, OpError, Padding, Weights, exemplar_conv2d, sample_low_rank,
    },
};
use burn::{
    config::Config,
    module::{Module, Param},
    nn::Initializer,
    tensor::{Device, Tensor},
};

/// Configuration of a [`ConvTranspose2d`] layer, with the fields of Burn's.
#[derive(Config, Debug)]
pub struct ConvTranspose2dConfig {
    /// `[channels_in, channels_out]`
    pub channels: [usize; 2],
    /// `[vertical, horizontal]`, as all pairs.
    pub kernel_size: [usize; 2],
    /// Steps between inputs.
    #[config(default = "[1, 1]")]
    pub stride: [usize; 2],
    /// Steps between the elements of a kernel.
    #[config(default = "[1, 1]")]
    pub dilation: [usize; 2],
    /// Number of groups of channels.
    #[config(default = "1")]
    pub groups: usize,
    /// Rows and columns cut off at each side of the output.
    #[config(default = "[0, 0]")]
    pub padding: [usize; 2],
    /// Rows and columns added at the end of the output.
    #[config(default = "[0, 0]")]
    pub padding_out: [usize; 2],
    /// Whether a bias is added.
    #[config(default = true)]
    pub bias: bool,
    /// How the parameters start.
    #[config(default = "INITIALIZER")]
    pub initializer: Initializer,
}

/// A transposed 2-D convolution. Its kernels are `[channels_in, ..]`, so that the right factors of an ensemble belong
/// to the channels that come in, and the left ones to those that go out.
#[derive(Module, Debug)]
pub struct ConvTranspose2d {
    /// `[channels_in, channels_out / groups, kh, kw]`
    pub weight: Param<Tensor<4>>,
    /// `[channels_out]`
    pub bias: Option<Param<Tensor<1>>>,
    /// Steps between inputs.
    pub stride: [usize; 2],
    /// Size of the kernel.
    pub kernel_size: [usize; 2],
    /// Steps between the elements of a kernel.
    pub dilation: [usize; 2],
    /// Number of groups of channels.
    pub groups: usize,
    /// Rows and columns cut off at each side of the output.
    pub padding: [usize; 2],
    /// Rows and columns added at the end of the output.
    pub padding_out: [usize; 2],
    /// `[channels_in, channels_out]`
    pub channels: [usize; 2],
    /// Tells these layers from Burn's.
    pub per_example: PerExample,
}

impl ConvTranspose2dConfig {
    /// A new layer.
    ///
    /// # Panics
    ///
    /// As Burn's, if the channels are not divisible by the groups.
    pub fn init(&self, device: &Device) -> ConvTranspose2d {
        let layer = burn::nn::conv::ConvTranspose2dConfig::new(self.channels, self.kernel_size)
            .with_groups(self.groups)
            .with_bias(self.bias)
            .with_initializer(self.initializer.clone())
            .init(device);
        ConvTranspose2d {
            weight: layer.weight,
            bias: layer.bias,
            stride: self.stride,
            kernel_size: self.kernel_size,
            dilation: self.dilation,
            groups: self.groups,
            padding: self.padding,
            padding_out: self.padding_out,
            channels: self.channels,
            per_example: PerExample,
        }
    }
}

impl ConvTranspose2d {
    /// `[batch, channels_in, h, w]` to `[batch, channels_out, oh, ow]`.
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let map = Transposed {
            stride: self.stride,
            kernel: self.kernel_size,
            dilation: self.dilation,
            groups: self.groups,
            padding: self.padding,
            padding_out: self.padding_out,
        };
        estimators::forward(&map, input, &self.weight, self.bias.as_ref())
    }
}

struct Transposed {
    stride: [usize; 2],
    kernel: [usize; 2],
    dilation: [usize; 2],
    groups: usize,
    padding: [usize; 2],
    padding_out: [usize; 2],
}

impl LinearMap<4, 5, 4> for Transposed {
    const CHANNELS: usize = 1;

    fn apply(&self, x: Tensor<4>, weights: Conv2dWeights) -> Result<Tensor<4>, OpError> {
        let (x, padding) = self.spread(x);
        let options = ConvOptions {
            dilation: self.dilation,
            padding,
            groups: self.groups,
            ..Default::default()
        };
        exemplar_conv2d(x, self.turned(weights)?, None, options)
    }

    fn by_channel(&self, values: Tensor<2>) -> Tensor<4> {
        let [rows, channels] = values.dims();
        values.reshape([rows, channels, 1, 1])
    }

    fn y_shape(&self, [rows, _, h, w]: [usize; 4], weight: [usize; 4]) -> [usize; 4] {
        let image = [h, w];
        let size = |axis: usize| {
            let reach = self.dilation[axis] * self.kernel[axis].saturating_sub(1);
            let whole = image[axis].saturating_sub(1) * self.stride[axis] + reach + 1;
            (whole + self.padding_out[axis]).saturating_sub(2 * self.padding[axis])
        };
        [rows, weight[1] * self.groups, size(0), size(1)]
    }
}

impl Transposed {
    /// The image with `stride - 1` zeros between its pixels, cut where the padding of the layer is more
    /// than the reach of its kernel, and the zeros that an ordinary convolution needs around it.
    fn spread(&self, x: Tensor<4>) -> (Tensor<4>, Padding) {
        let [rows, channels, h, w] = x.dims();
        let [sv, sh] = self.stride;
        let spread = match [sv, sh] {
            [1, 1] => x,
            _ => {
                let x = x.reshape([rows, channels, h, 1, w, 1]);
                let zeros = |shape| Tensor::<6>::zeros(shape, &x.device());
                let below = zeros([rows, channels, h, sv - 1, w, 1]);
                let tall = match sv {
                    1 => x.clone(),
                    _ => Tensor::cat(vec![x.clone(), below], 3),
                };
                let beside = zeros([rows, channels, h, sv, w, sh - 1]);
                let wide = match sh {
                    1 => tall,
                    _ => Tensor::cat(vec![tall, beside], 5),
                };
                wide.reshape([rows, channels, h * sv, w * sh]).slice([
                    0..rows,
                    0..channels,
                    0..(h - 1) * sv + 1,
                    0..(w - 1) * sh + 1,
                ])
            }
        };
        let reach = [0, 1].map(|axis| self.dilation[axis] * (self.kernel[axis] - 1));
        let around = [0, 1].map(|axis| reach[axis].saturating_sub(self.padding[axis]));
        let cut = [0, 1].map(|axis| self.padding[axis].saturating_sub(reach[axis]));
        let [_, _, height, width] = spread.dims();
        let cut_out = spread.slice([
            0..rows,
            0..channels,
            cut[0]..height.saturating_sub(cut[0]).max(cut[0]),
            cut[1]..width.saturating_sub(cut[1]).max(cut[1]),
        ]);
        let padding = Padding {
            top: around[0],
            bottom: around[0] + self.padding_out[0],
            left: around[1],
            right: around[1] + self.padding_out[1],
        };
        (cut_out, padding)
    }

    /// The weights of the ordinary convolution. Factors of an ensemble do not survive the turn, so its
    /// components are made, of which there are few.
    fn turned(&self, weights: Conv2dWeights) -> Result<Conv2dWeights, OpError> {
        Ok(match weights {
            Weights::Given { weights, index } => Weights::Given {
                weights: self.turn(weights),
                index,
            },
            Weights::Gaussian { mu, psi, key } => Weights::Gaussian {
                mu: self.turn(mu.unsqueeze()).squeeze_dim(0),
                psi: self.turn(psi.unsqueeze()).squeeze_dim(0),
                key,
            },
            Weights::LowRank {
                shared,
                left,
                right,
                index,
            } => {
                let all: Vec<u32> = (0..left.dims()[0] as u32).collect();
                let components = sample_low_rank(shared, left, right, &all)?;
                Weights::Given {
                    weights: self.turn(components),
                    index,
                }
            }
        })
    }

    /// `[k, channels_in, channels_out / groups, kh, kw]` to
    /// `[k, channels_out, channels_in / groups, kh, kw]`, turned by half a turn.
    fn turn(&self, weights: Tensor<5>) -> Tensor<5> {
        let [count, channels_in, group_out, kh, kw] = weights.dims();
        let group_in = channels_in / self.groups;
        weights
            .reshape([count, self.groups, group_in, group_out, kh * kw])
            .swap_dims(2, 3)
            .reshape([count, self.groups * group_out, group_in, kh, kw])
            .flip([3, 4])
    }
}
