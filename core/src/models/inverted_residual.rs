//! The block of MobileNetV2, which EfficientNet-lite and MobileFaceNet are made of too.

use super::parts::{Fan, conv, stage};
use crate::nn::{BatchNorm, BatchNormConfig, Conv2d, Conv2dConfig, PRelu, PReluConfig};
use burn::module::Module;
use burn::nn::PaddingConfig2d;
use burn::tensor::{Device, Tensor};

/// What a family does everywhere in the same way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub activation: Activation,
    /// TensorFlow's padding: an odd row or column goes to the end. PyTorch pads both ends alike.
    pub same_padding: bool,
    pub norm_epsilon: f64,
    pub norm_momentum: f64,
}

impl Style {
    /// ReLU clipped at six, and PyTorch's defaults.
    pub const MOBILE: Self = Self {
        activation: Activation::Relu6,
        same_padding: false,
        norm_epsilon: 1e-5,
        norm_momentum: 0.1,
    };

    /// A convolution of every channel with a filter of its own.
    pub fn depthwise(&self, channels: usize, kernel: usize, stride: usize) -> Conv2dConfig {
        self.conv([channels, channels], kernel, stride)
            .with_groups(channels)
    }

    /// A convolution without bias, as the family pads it.
    pub fn conv(&self, channels: [usize; 2], kernel: usize, stride: usize) -> Conv2dConfig {
        let conv = conv(channels, kernel, stride, Fan::Out);
        if self.same_padding {
            conv.with_padding(PaddingConfig2d::Same)
        } else {
            conv
        }
    }
}

/// What follows a norm.
#[derive(Clone, Copy, Debug)]
pub(super) enum Activation {
    Relu6,
    /// A learnt slope below zero for each channel.
    PRelu,
}

/// A convolution, its norm and its activation.
#[derive(Module, Debug)]
pub(super) struct ConvNorm {
    conv: Conv2d,
    bn: BatchNorm,
    prelu: Option<PRelu>,
    relu6: bool,
}

impl ConvNorm {
    pub fn active(conv: Conv2dConfig, style: &Style, device: &Device) -> Self {
        let channels = conv.channels[1];
        let mut made = Self::linear(conv, style, device);
        match style.activation {
            Activation::Relu6 => made.relu6 = true,
            Activation::PRelu => {
                let config = PReluConfig::new().with_num_parameters(channels);
                made.prelu = Some(config.init(device));
            }
        }
        made
    }

    /// Without an activation.
    pub fn linear(conv: Conv2dConfig, style: &Style, device: &Device) -> Self {
        Self {
            bn: BatchNormConfig::new(conv.channels[1])
                .with_epsilon(style.norm_epsilon)
                .with_momentum(style.norm_momentum)
                .init(device),
            conv: conv.init(device),
            prelu: None,
            relu6: false,
        }
    }

    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = self.bn.forward(self.conv.forward(x));
        match &self.prelu {
            Some(prelu) => prelu.forward(y),
            None if self.relu6 => y.clamp(0.0, 6.0),
            None => y,
        }
    }
}

/// A row of the table that describes such a network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    /// How many times wider the inside of a block is than its input.
    pub expansion: usize,
    pub channels: usize,
    pub blocks: usize,
    /// Of the first block; the others have one.
    stride: usize,
    pub kernel: usize,
}

impl Stage {
    /// In the order of the published tables, so that they can be compared by eye.
    pub const fn new(
        expansion: usize,
        channels: usize,
        blocks: usize,
        stride: usize,
        kernel: usize,
    ) -> Self {
        Self {
            expansion,
            channels,
            blocks,
            stride,
            kernel,
        }
    }
}

/// All blocks of such a network. `scaled` gives the channels of a stage their width.
pub(super) fn inverted_residuals(
    stages: &[Stage],
    inputs: usize,
    scaled: impl Fn(usize) -> usize,
    style: &Style,
    device: &Device,
) -> Vec<InvertedResidual> {
    let mut inputs = inputs;
    let mut blocks = Vec::new();
    for row in stages {
        let outputs = scaled(row.channels);
        let block = |channels, stride| InvertedResidual::new(channels, stride, row, style, device);
        blocks.extend(stage(row.blocks, [inputs, outputs], row.stride, block));
        inputs = outputs;
    }
    blocks
}

/// Widens, filters each channel, and narrows again without an activation.
#[derive(Module, Debug)]
pub(super) struct InvertedResidual {
    expand: Option<ConvNorm>,
    depthwise: ConvNorm,
    project: ConvNorm,
    residual: bool,
}

impl InvertedResidual {
    fn new(
        [inputs, outputs]: [usize; 2],
        stride: usize,
        row: &Stage,
        style: &Style,
        device: &Device,
    ) -> Self {
        let inner = inputs * row.expansion;
        let active = |conv| ConvNorm::active(conv, style, device);
        Self {
            expand: (row.expansion > 1).then(|| active(style.conv([inputs, inner], 1, 1))),
            depthwise: active(style.depthwise(inner, row.kernel, stride)),
            project: ConvNorm::linear(style.conv([inner, outputs], 1, 1), style, device),
            residual: stride == 1 && inputs == outputs,
        }
    }

    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = match &self.expand {
            Some(expand) => expand.forward(x.clone()),
            None => x.clone(),
        };
        let y = self.project.forward(self.depthwise.forward(y));
        if self.residual { x + y } else { y }
    }
}
