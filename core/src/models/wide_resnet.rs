//! Wide residual networks for CIFAR, "Wide Residual Networks" (Zagoruyko and Komodakis).
//!
//! Names are those of `xternalz/WideResNet-pytorch`.

use super::config::{ModelConfig, Normalisation};
use super::error::{Checks, MOST_DEPTH, ModelError};
use super::naming::rename;
use super::parts::{Fan, conv, dropout, dropped, global_average, linear, stage, uniform_fan_in};
use super::size;
use crate::nn::{BatchNorm, BatchNormConfig, Conv2d, Dropout, Linear};
use burn::module::Module;
use burn::nn::Initializer;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// WRN-depth-widen: `depth = 6 n + 4` for `n` blocks in each of three stages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WideResNetConfig {
    /// 28, or another `6 n + 4`.
    pub depth: usize,
    /// How many times wider the stages are than those of a CIFAR ResNet.
    pub widen: usize,
    /// Outputs of the classifier.
    pub classes: usize,
    /// Channels of the first convolution, and of the first stage before it is widened.
    pub width: usize,
    /// Before the second convolution of a block. The paper uses .3 for MC dropout.
    pub dropout: Option<f64>,
}

impl WideResNetConfig {
    /// The published width, without dropout.
    pub fn new(depth: usize, widen: usize, classes: usize) -> Self {
        Self {
            depth,
            widen,
            classes,
            width: 16,
            dropout: None,
        }
    }

    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<WideResNet, ModelError> {
        self.validate()?;
        let [first, second, third] = self.widths();
        let block = |channels, stride| Stage {
            layer: stage(self.blocks(), channels, stride, |channels, stride| {
                Block::new(channels, stride, self.dropout, device)
            }),
        };
        Ok(WideResNet {
            conv1: conv([3, self.width], 3, 1, Fan::Out).init(device),
            block1: block([self.width, first], 1),
            block2: block([first, second], 2),
            block3: block([second, third], 2),
            bn1: BatchNormConfig::new(third).init(device),
            fc: linear(
                [third, self.classes],
                uniform_fan_in(),
                Initializer::Zeros,
                device,
            ),
        })
    }

    /// Of each stage.
    fn blocks(&self) -> usize {
        (self.depth - 4) / 6
    }

    /// Channels of the stages.
    fn widths(&self) -> [usize; 3] {
        [1, 2, 4].map(|factor| factor * self.width * self.widen)
    }
}

impl ModelConfig for WideResNetConfig {
    fn family(&self) -> &'static str {
        "wide ResNet"
    }

    fn name(&self) -> String {
        format!("wrn-{}-{}", self.depth, self.widen)
    }

    fn input_shape(&self) -> [usize; 3] {
        [3, 32, 32]
    }

    fn normalisation(&self) -> Normalisation {
        Normalisation::cifar10()
    }

    fn classes(&self) -> Option<usize> {
        Some(self.classes)
    }

    fn scalars(&self) -> u64 {
        let [first, second, third] = self.widths();
        let block = |channels| {
            size::stage(self.blocks(), channels, 1, |[inputs, outputs], _| {
                let norms = size::norm(inputs) + size::norm(outputs);
                let shortcut = match inputs == outputs {
                    true => 0,
                    false => size::conv([inputs, outputs], 1),
                };
                size::conv([inputs, outputs], 3) + size::conv([outputs; 2], 3) + norms + shortcut
            })
        };
        let blocks = block([self.width, first]) + block([first, second]) + block([second, third]);
        let head = size::norm(third) + size::linear([third, self.classes]);
        size::conv([3, self.width], 3) + blocks + head
    }

    fn validate(&self) -> Result<(), ModelError> {
        let family = self.family();
        if !(10..=MOST_DEPTH).contains(&self.depth) || self.depth % 6 != 4 {
            let (depth, rule) = (self.depth, "6 n + 4, from 10 to 2000");
            return Err(ModelError::Depth {
                family,
                depth,
                rule,
            });
        }
        let checks = Checks { family };
        checks.count("the number of classes", self.classes)?;
        checks.size("the width", self.width)?;
        checks.size("the widened width", self.width.saturating_mul(self.widen))?;
        checks.dropout(self.dropout)
    }

    fn state_dict_name(&self, path: &str) -> String {
        rename(path, &[("conv_shortcut", "convShortcut")])
    }
}

/// See [`WideResNetConfig`].
#[derive(Module, Debug)]
pub struct WideResNet {
    conv1: Conv2d,
    block1: Stage,
    block2: Stage,
    block3: Stage,
    bn1: BatchNorm,
    fc: Linear,
}

impl WideResNet {
    /// Logits `[batch, classes]` of images `[batch, 3, height, width]`.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(images))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned.
    pub fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.fc.forward(features)
    }

    /// Features `[batch, 4 * width * widen]` of images `[batch, 3, height, width]`.
    pub fn features(&self, images: Tensor<4>) -> Tensor<2> {
        let stages = [&self.block1, &self.block2, &self.block3];
        let blocks = stages.into_iter().flat_map(|stage| &stage.layer);
        let x = blocks.fold(self.conv1.forward(images), |x, block| block.forward(x));
        global_average(self.bn1.forward_relu(x))
    }
}

/// Only there for the segment `layer` in the names.
#[derive(Module, Debug)]
struct Stage {
    layer: Vec<Block>,
}

/// Norm and activation come before each convolution.
#[derive(Module, Debug)]
struct Block {
    bn1: BatchNorm,
    conv1: Conv2d,
    bn2: BatchNorm,
    conv2: Conv2d,
    conv_shortcut: Option<Conv2d>,
    dropout: Option<Dropout>,
}

impl Block {
    fn new(channels: [usize; 2], stride: usize, drop: Option<f64>, device: &Device) -> Self {
        let [inputs, outputs] = channels;
        Self {
            bn1: BatchNormConfig::new(inputs).init(device),
            conv1: conv(channels, 3, stride, Fan::Out).init(device),
            bn2: BatchNormConfig::new(outputs).init(device),
            conv2: conv([outputs, outputs], 3, 1, Fan::Out).init(device),
            conv_shortcut: (inputs != outputs)
                .then(|| conv(channels, 1, stride, Fan::Out).init(device)),
            dropout: dropout(drop),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let active = self.bn1.forward_relu(x.clone());
        // A shortcut with weights starts after the activation, one without before it.
        let shortcut = match &self.conv_shortcut {
            Some(conv) => conv.forward(active.clone()),
            None => x,
        };
        let y = self.bn2.forward_relu(self.conv1.forward(active));
        self.conv2.forward(dropped(&self.dropout, y)) + shortcut
    }
}
