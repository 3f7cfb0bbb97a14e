//! Residual networks for CIFAR, as in section 4.2 of "Deep Residual Learning for Image Recognition".
//!
//! Names and shortcuts are those of `akamaster/pytorch_resnet_cifar10`.

use super::config::{ModelConfig, Normalisation};
use super::error::{Checks, MOST_DEPTH, ModelError};
use super::parts::{
    Fan, conv, dropout, dropped, global_average, kaiming_fan_in, linear, stage, uniform_fan_in,
};
use super::size;
use crate::nn::{BatchNorm, BatchNormConfig, Conv2d, Dropout, Linear};
use burn::module::Module;
use burn::tensor::{Device, Tensor, s};
use serde::{Deserialize, Serialize};

/// A CIFAR ResNet: `depth = 6 n + 2` for `n` blocks in each of three stages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CifarResNetConfig {
    /// 20, 32, 44, 56, 110, or another `6 n + 2`.
    pub depth: usize,
    /// Outputs of the classifier.
    pub classes: usize,
    /// Channels of the first stage, doubled in the second and again in the third.
    pub width: usize,
    /// Before the second convolution of a block. The paper has none in these networks; this is where
    /// it has it in wide ones.
    pub dropout: Option<f64>,
}

impl CifarResNetConfig {
    /// The published width, without dropout.
    pub fn new(depth: usize, classes: usize) -> Self {
        Self {
            depth,
            classes,
            width: 16,
            dropout: None,
        }
    }

    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<CifarResNet, ModelError> {
        self.validate()?;
        let [first, second, third] = self.widths();
        let layer = |channels, stride| {
            stage(self.blocks(), channels, stride, |channels, stride| {
                Block::new(channels, stride, self.dropout, device)
            })
        };
        Ok(CifarResNet {
            conv1: conv([3, first], 3, 1, Fan::In).init(device),
            bn1: BatchNormConfig::new(first).init(device),
            layer1: layer([first, first], 1),
            layer2: layer([first, second], 2),
            layer3: layer([second, third], 2),
            linear: linear(
                [third, self.classes],
                kaiming_fan_in(),
                uniform_fan_in(),
                device,
            ),
        })
    }

    /// Of each stage.
    fn blocks(&self) -> usize {
        (self.depth - 2) / 6
    }

    /// Channels of the stages.
    fn widths(&self) -> [usize; 3] {
        [1, 2, 4].map(|factor| factor * self.width)
    }
}

impl ModelConfig for CifarResNetConfig {
    fn family(&self) -> &'static str {
        "CIFAR ResNet"
    }

    fn name(&self) -> String {
        format!("resnet{}-cifar", self.depth)
    }

    fn input_shape(&self) -> [usize; 3] {
        [3, 32, 32]
    }

    /// The published weights were trained with the statistics of ImageNet.
    fn normalisation(&self) -> Normalisation {
        Normalisation::imagenet()
    }

    fn classes(&self) -> Option<usize> {
        Some(self.classes)
    }

    fn scalars(&self) -> u64 {
        let [first, second, third] = self.widths();
        let layer = |channels| {
            size::stage(self.blocks(), channels, 1, |[inputs, outputs], _| {
                let norms = 2 * size::norm(outputs);
                size::conv([inputs, outputs], 3) + size::conv([outputs; 2], 3) + norms
            })
        };
        let stem = size::conv([3, first], 3) + size::norm(first);
        let layers = layer([first; 2]) + layer([first, second]) + layer([second, third]);
        stem + layers + size::linear([third, self.classes])
    }

    fn validate(&self) -> Result<(), ModelError> {
        let family = self.family();
        if !(8..=MOST_DEPTH).contains(&self.depth) || self.depth % 6 != 2 {
            let (depth, rule) = (self.depth, "6 n + 2, from 8 to 2000");
            return Err(ModelError::Depth {
                family,
                depth,
                rule,
            });
        }
        let checks = Checks { family };
        checks.count("the number of classes", self.classes)?;
        checks.size("the width", self.width)?;
        checks.dropout(self.dropout)
    }
}

/// See [`CifarResNetConfig`].
#[derive(Module, Debug)]
pub struct CifarResNet {
    conv1: Conv2d,
    bn1: BatchNorm,
    layer1: Vec<Block>,
    layer2: Vec<Block>,
    layer3: Vec<Block>,
    linear: Linear,
}

impl CifarResNet {
    /// Logits `[batch, classes]` of images `[batch, 3, height, width]`.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(images))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned.
    pub fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.linear.forward(features)
    }

    /// Features `[batch, 4 * width]` of images `[batch, 3, height, width]`.
    pub fn features(&self, images: Tensor<4>) -> Tensor<2> {
        let x = self.bn1.forward_relu(self.conv1.forward(images));
        let layers = [&self.layer1, &self.layer2, &self.layer3];
        let blocks = layers.into_iter().flatten();
        global_average(blocks.fold(x, |x, block| block.forward(x)))
    }
}

#[derive(Module, Debug)]
struct Block {
    conv1: Conv2d,
    bn1: BatchNorm,
    conv2: Conv2d,
    bn2: BatchNorm,
    dropout: Option<Dropout>,
    channels: [usize; 2],
    stride: usize,
}

impl Block {
    fn new(channels: [usize; 2], stride: usize, drop: Option<f64>, device: &Device) -> Self {
        let outputs = channels[1];
        Self {
            conv1: conv(channels, 3, stride, Fan::In).init(device),
            bn1: BatchNormConfig::new(outputs).init(device),
            conv2: conv([outputs, outputs], 3, 1, Fan::In).init(device),
            bn2: BatchNormConfig::new(outputs).init(device),
            dropout: dropout(drop),
            channels,
            stride,
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = self.bn1.forward_relu(self.conv1.forward(x.clone()));
        let y = self.conv2.forward(dropped(&self.dropout, y));
        self.bn2.forward_add_relu(y, self.shortcut(x))
    }

    /// Option A of the paper: no parameters, every other pixel, and zeros for the new channels, half
    /// of them before the old ones and half after.
    fn shortcut(&self, x: Tensor<4>) -> Tensor<4> {
        let [inputs, outputs] = self.channels;
        if inputs == outputs && self.stride == 1 {
            return x;
        }
        let stride = self.stride as isize;
        let x = x.slice(s![.., .., ..;stride, ..;stride]);
        let [batch, _, height, width] = x.dims();
        let before = (outputs - inputs) / 2;
        let after = outputs - inputs - before;
        let zeros =
            |channels| Tensor::zeros([batch, channels, height, width], (&x.device(), x.dtype()));
        Tensor::cat(vec![zeros(before), x.clone(), zeros(after)], 1)
    }
}
