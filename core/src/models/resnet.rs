//! Residual networks for ImageNet, with names and strides of torchvision.

use super::config::{ModelConfig, Normalisation};
use super::error::{Checks, ModelError};
use super::parts::{Fan, conv, dropout, dropped, global_average, stage, stem_pool};
use super::size;
use crate::nn::{BatchNorm, BatchNormConfig, Conv2d, Dropout, Linear, LinearConfig};
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// A ResNet of two-convolution blocks (18, 34) or of bottlenecks (50, 101, 152).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResNetConfig {
    /// 18, 34, 50, 101 or 152.
    pub depth: usize,
    /// Outputs of the classifier.
    pub classes: usize,
    /// Channels of the first convolution and inside the blocks of the first stage; every further
    /// stage doubles them.
    pub width: usize,
    /// Directly after convolutions 2 and 3 of a bottleneck, where the paper uses .2 for MC dropout;
    /// after both convolutions of the other blocks.
    pub dropout: Option<f64>,
}

impl ResNetConfig {
    /// The published width, without dropout.
    pub fn new(depth: usize, classes: usize) -> Self {
        Self {
            depth,
            classes,
            width: 64,
            dropout: None,
        }
    }

    /// Blocks of each stage, and whether they are bottlenecks.
    fn layout(&self) -> Result<([usize; 4], bool), ModelError> {
        match self.depth {
            18 => Ok(([2, 2, 2, 2], false)),
            34 => Ok(([3, 4, 6, 3], false)),
            50 => Ok(([3, 4, 6, 3], true)),
            101 => Ok(([3, 4, 23, 3], true)),
            152 => Ok(([3, 8, 36, 3], true)),
            depth => Err(ModelError::Depth {
                family: self.family(),
                depth,
                rule: "18, 34, 50, 101 or 152",
            }),
        }
    }

    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<ResNet, ModelError> {
        self.validate()?;
        let (blocks, bottleneck) = self.layout()?;
        let width = self.width;
        let [first, second, third, fourth] = self.widths(bottleneck);
        let layer = |index: usize, channels, stride| {
            stage(blocks[index], channels, stride, |channels, stride| {
                if bottleneck {
                    Block::bottleneck(channels, stride, self.dropout, device)
                } else {
                    Block::basic(channels, stride, self.dropout, device)
                }
            })
        };
        Ok(ResNet {
            conv1: conv([3, width], 7, 2, Fan::Out).init(device),
            bn1: BatchNormConfig::new(width).init(device),
            layer1: layer(0, [width, first], 1),
            layer2: layer(1, [first, second], 2),
            layer3: layer(2, [second, third], 2),
            layer4: layer(3, [third, fourth], 2),
            fc: LinearConfig::new(fourth, self.classes).init(device),
        })
    }

    /// Channels that the stages return.
    fn widths(&self, bottleneck: bool) -> [usize; 4] {
        let expansion = if bottleneck { 4 } else { 1 };
        [1, 2, 4, 8].map(|factor| factor * self.width * expansion)
    }
}

impl ModelConfig for ResNetConfig {
    fn family(&self) -> &'static str {
        "ResNet"
    }

    fn name(&self) -> String {
        format!("resnet{}", self.depth)
    }

    fn input_shape(&self) -> [usize; 3] {
        [3, 224, 224]
    }

    fn normalisation(&self) -> Normalisation {
        Normalisation::imagenet()
    }

    fn classes(&self) -> Option<usize> {
        Some(self.classes)
    }

    fn scalars(&self) -> u64 {
        let (blocks, bottleneck) = self.layout().unwrap_or_default();
        let width = self.width;
        let [first, second, third, fourth] = self.widths(bottleneck);
        let layer = |index: usize, channels: [usize; 2], stride| {
            size::stage(blocks[index], channels, stride, |channels, stride| {
                let [inputs, outputs] = channels;
                let inner = outputs / 4;
                let inside = match bottleneck {
                    true => {
                        let ends = size::conv([inputs, inner], 1) + size::conv([inner, outputs], 1);
                        ends + size::conv([inner; 2], 3) + 2 * size::norm(inner)
                    }
                    false => {
                        size::conv(channels, 3) + size::conv([outputs; 2], 3) + size::norm(outputs)
                    }
                };
                let shortcut = match has_downsample(channels, stride) {
                    true => size::conv(channels, 1) + size::norm(outputs),
                    false => 0,
                };
                inside + size::norm(outputs) + shortcut
            })
        };
        let early = layer(0, [width, first], 1) + layer(1, [first, second], 2);
        let late = layer(2, [second, third], 2) + layer(3, [third, fourth], 2);
        let stem = size::conv([3, width], 7) + size::norm(width);
        stem + early + late + size::linear([fourth, self.classes])
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.layout()?;
        let checks = Checks {
            family: self.family(),
        };
        checks.count("the number of classes", self.classes)?;
        checks.size("the width", self.width)?;
        checks.dropout(self.dropout)
    }
}

/// See [`ResNetConfig`].
#[derive(Module, Debug)]
pub struct ResNet {
    conv1: Conv2d,
    bn1: BatchNorm,
    layer1: Vec<Block>,
    layer2: Vec<Block>,
    layer3: Vec<Block>,
    layer4: Vec<Block>,
    fc: Linear,
}

impl ResNet {
    /// Logits `[batch, classes]` of images `[batch, 3, height, width]`.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(images))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned.
    pub fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.fc.forward(features)
    }

    /// Features `[batch, 8 * width]`, or `[batch, 32 * width]` with bottlenecks, of images
    /// `[batch, 3, height, width]`.
    pub fn features(&self, images: Tensor<4>) -> Tensor<2> {
        let x = stem_pool(self.bn1.forward_relu(self.conv1.forward(images)));
        let layers = [&self.layer1, &self.layer2, &self.layer3, &self.layer4];
        let blocks = layers.into_iter().flatten();
        global_average(blocks.fold(x, |x, block| block.forward(x)))
    }
}

/// Both kinds in one type: an enum would put the kind into the names.
#[derive(Module, Debug)]
struct Block {
    conv1: Conv2d,
    bn1: BatchNorm,
    conv2: Conv2d,
    bn2: BatchNorm,
    /// With `bn3`, what makes it a bottleneck.
    conv3: Option<Conv2d>,
    bn3: Option<BatchNorm>,
    downsample: Option<(Conv2d, BatchNorm)>,
    dropout1: Option<Dropout>,
    dropout2: Option<Dropout>,
    dropout3: Option<Dropout>,
}

impl Block {
    fn basic(channels: [usize; 2], stride: usize, drop: Option<f64>, device: &Device) -> Self {
        let outputs = channels[1];
        let norm = || BatchNormConfig::new(outputs).init(device);
        Self {
            conv1: conv(channels, 3, stride, Fan::Out).init(device),
            bn1: norm(),
            conv2: conv([outputs, outputs], 3, 1, Fan::Out).init(device),
            bn2: norm(),
            conv3: None,
            bn3: None,
            downsample: downsample(channels, stride, device),
            dropout1: dropout(drop),
            dropout2: dropout(drop),
            dropout3: None,
        }
    }

    /// The stride is in the second convolution ("v1.5"), as in torchvision.
    fn bottleneck(channels: [usize; 2], stride: usize, drop: Option<f64>, device: &Device) -> Self {
        let [inputs, outputs] = channels;
        let inner = outputs / 4;
        let norm = || BatchNormConfig::new(inner).init(device);
        Self {
            conv1: conv([inputs, inner], 1, 1, Fan::Out).init(device),
            bn1: norm(),
            conv2: conv([inner, inner], 3, stride, Fan::Out).init(device),
            bn2: norm(),
            conv3: Some(conv([inner, outputs], 1, 1, Fan::Out).init(device)),
            bn3: Some(BatchNormConfig::new(outputs).init(device)),
            downsample: downsample(channels, stride, device),
            dropout1: None,
            dropout2: dropout(drop),
            dropout3: dropout(drop),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = dropped(&self.dropout1, self.conv1.forward(x.clone()));
        let y = self.bn1.forward_relu(y);
        let y = dropped(&self.dropout2, self.conv2.forward(y));
        let shortcut = match &self.downsample {
            Some((conv, norm)) => norm.forward(conv.forward(x)),
            None => x,
        };
        match (&self.conv3, &self.bn3) {
            (Some(conv3), Some(bn3)) => {
                let y = conv3.forward(self.bn2.forward_relu(y));
                bn3.forward_add_relu(dropped(&self.dropout3, y), shortcut)
            }
            _ => self.bn2.forward_add_relu(y, shortcut),
        }
    }
}

/// The shortcut's own convolution, where shapes differ.
fn downsample(channels: [usize; 2], stride: usize, device: &Device) -> Option<(Conv2d, BatchNorm)> {
    has_downsample(channels, stride).then(|| {
        (
            conv(channels, 1, stride, Fan::Out).init(device),
            BatchNormConfig::new(channels[1]).init(device),
        )
    })
}

fn has_downsample([inputs, outputs]: [usize; 2], stride: usize) -> bool {
    stride != 1 || inputs != outputs
}
