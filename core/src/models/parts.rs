//! What several families are made of.

use crate::nn::{Conv2dConfig, Dropout, DropoutConfig, Linear, LinearConfig};
use burn::nn::{Initializer, PaddingConfig2d};
use burn::tensor::{Device, Tensor, module::max_pool2d, ops::MaxPoolOptions};
use std::f64::consts::SQRT_2;

/// What the variance of a convolution's first weights is divided by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fan {
    In,
    Out,
}

/// A convolution without bias, padded by half its kernel, drawn as `kaiming_normal_` for ReLU.
pub(super) fn conv(channels: [usize; 2], kernel: usize, stride: usize, fan: Fan) -> Conv2dConfig {
    let initializer = match fan {
        Fan::In => kaiming_fan_in(),
        Fan::Out => kaiming_fan_out(channels[1], [kernel, kernel]),
    };
    let half = kernel / 2;
    Conv2dConfig::new(channels, [kernel, kernel])
        .with_stride([stride, stride])
        .with_padding(PaddingConfig2d::Explicit(half, half, half, half))
        .with_bias(false)
        .with_initializer(initializer)
}

/// `kaiming_normal_` by fan-in, for ReLU.
pub(super) fn kaiming_fan_in() -> Initializer {
    Initializer::KaimingNormal {
        gain: SQRT_2,
        fan_out_only: false,
    }
}

/// `kaiming_normal_` by fan-out, for ReLU. Burn divides the fan-out by the groups and PyTorch does
/// not, so the deviation is spelt out.
pub(super) fn kaiming_fan_out(channels_out: usize, kernel: [usize; 2]) -> Initializer {
    let fan_out = channels_out * kernel[0] * kernel[1];
    Initializer::Normal {
        mean: 0.0,
        std: (2.0 / fan_out as f64).sqrt(),
    }
}

/// What `torch.nn.Linear` draws both its parameters from: uniform within `1 / sqrt(inputs)`.
pub(super) fn uniform_fan_in() -> Initializer {
    Initializer::KaimingUniform {
        gain: 1.0 / 3.0f64.sqrt(),
        fan_out_only: false,
    }
}

/// A linear layer whose bias starts differently from its weight, which Burn's config cannot say.
pub(super) fn linear(
    [inputs, outputs]: [usize; 2],
    weight: Initializer,
    bias: Initializer,
    device: &Device,
) -> Linear {
    let mut linear = LinearConfig::new(inputs, outputs)
        .with_initializer(weight)
        .init(device);
    linear.bias = Some(bias.init_with([outputs], Some(inputs), Some(outputs), device));
    linear
}

/// The probability must have been checked.
pub(super) fn dropout(probability: Option<f64>) -> Option<Dropout> {
    probability.map(|probability| DropoutConfig::new(probability).init())
}

/// `x`, through dropout if there is any.
pub(super) fn dropped<const D: usize>(dropout: &Option<Dropout>, x: Tensor<D>) -> Tensor<D> {
    match dropout {
        Some(dropout) => dropout.forward(x),
        None => x,
    }
}

/// `count` blocks, made of their channels and stride: the first changes both, the others keep them.
pub(super) fn stage<B>(
    count: usize,
    [inputs, outputs]: [usize; 2],
    stride: usize,
    block: impl Fn([usize; 2], usize) -> B,
) -> Vec<B> {
    let first = (count > 0).then(|| block([inputs, outputs], stride));
    let others = (1..count).map(|_| block([outputs, outputs], 1));
    first.into_iter().chain(others).collect()
}

/// The pooling after the first convolution of networks for large pictures:
/// `[batch, channels, height, width]` to half of height and width, rounded up.
pub(super) fn stem_pool(x: Tensor<4>) -> Tensor<4> {
    let options = MaxPoolOptions::new([3, 3])
        .with_stride([2, 2])
        .with_padding([1, 1]);
    max_pool2d(x, options)
}

/// The mean over all pixels: `[batch, channels, height, width]` to `[batch, channels]`.
pub(super) fn global_average(x: Tensor<4>) -> Tensor<2> {
    x.flatten::<3>(2, 3).mean_dim(2).flatten(1, 2)
}

/// The multiple of eight nearest to `channels * multiplier`, as MobileNets and EfficientNets round:
/// at least eight, and never below nine tenths of what was asked for.
pub(super) fn scaled_channels(channels: usize, multiplier: f64) -> usize {
    let exact = channels as f64 * multiplier;
    let nearest = ((exact + 4.0) as usize / 8 * 8).max(8);
    if (nearest as f64) < 0.9 * exact {
        nearest + 8
    } else {
        nearest
    }
}
