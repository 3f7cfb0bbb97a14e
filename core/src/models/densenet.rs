//! Densely connected networks for ImageNet, with names of torchvision.

use super::config::{ModelConfig, Normalisation};
use super::error::{Checks, ModelError};
use super::naming::indexed;
use super::parts::{
    Fan, conv, dropout, dropped, global_average, linear, stem_pool, uniform_fan_in,
};
use super::size;
use crate::nn::{BatchNorm, BatchNormConfig, Conv2d, Dropout, Linear};
use burn::module::Module;
use burn::nn::Initializer;
use burn::tensor::{Device, Tensor, module::avg_pool2d, ops::AvgPoolOptions};
use serde::{Deserialize, Serialize};

/// A DenseNet with bottlenecks and compression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DenseNetConfig {
    /// 121, 169 or 201.
    pub depth: usize,
    /// Outputs of the classifier.
    pub classes: usize,
    /// Channels that each layer adds; the first convolution makes twice as many.
    pub growth: usize,
    /// After the second convolution of a layer, torchvision's place.
    pub dropout: Option<f64>,
}

impl DenseNetConfig {
    /// The published growth, without dropout.
    pub fn new(depth: usize, classes: usize) -> Self {
        Self {
            depth,
            classes,
            growth: 32,
            dropout: None,
        }
    }

    /// Layers of each block.
    fn layout(&self) -> Result<[usize; 4], ModelError> {
        match self.depth {
            121 => Ok([6, 12, 24, 16]),
            169 => Ok([6, 12, 32, 32]),
            201 => Ok([6, 12, 48, 32]),
            depth => Err(ModelError::Depth {
                family: self.family(),
                depth,
                rule: "121, 169 or 201",
            }),
        }
    }

    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<DenseNet, ModelError> {
        self.validate()?;
        let layout = self.layout()?;
        let first = 2 * self.growth;
        let grown = |inputs, block: usize| inputs + layout[block] * self.growth;
        let dense = |inputs, block: usize| -> Vec<Layer> {
            (0..layout[block])
                .map(|index| self.layer(inputs + index * self.growth, device))
                .collect()
        };
        let second = grown(first, 0) / 2;
        let third = grown(second, 1) / 2;
        let fourth = grown(third, 2) / 2;
        let last = grown(fourth, 3);
        let features = Features {
            conv0: conv([3, first], 7, 2, Fan::In).init(device),
            norm0: BatchNormConfig::new(first).init(device),
            denseblock1: dense(first, 0),
            transition1: Transition::new([grown(first, 0), second], device),
            denseblock2: dense(second, 1),
            transition2: Transition::new([grown(second, 1), third], device),
            denseblock3: dense(third, 2),
            transition3: Transition::new([grown(third, 2), fourth], device),
            denseblock4: dense(fourth, 3),
            norm5: BatchNormConfig::new(last).init(device),
        };
        let classifier = linear(
            [last, self.classes],
            uniform_fan_in(),
            Initializer::Zeros,
            device,
        );
        Ok(DenseNet {
            features,
            classifier,
        })
    }

    fn layer(&self, inputs: usize, device: &Device) -> Layer {
        let bottleneck = 4 * self.growth;
        Layer {
            norm1: BatchNormConfig::new(inputs).init(device),
            conv1: conv([inputs, bottleneck], 1, 1, Fan::In).init(device),
            norm2: BatchNormConfig::new(bottleneck).init(device),
            conv2: conv([bottleneck, self.growth], 3, 1, Fan::In).init(device),
            dropout: dropout(self.dropout),
        }
    }
}

impl ModelConfig for DenseNetConfig {
    fn family(&self) -> &'static str {
        "DenseNet"
    }

    fn name(&self) -> String {
        format!("densenet{}", self.depth)
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
        let layout = self.layout().unwrap_or_default();
        let bottleneck = 4 * self.growth;
        let mut channels = 2 * self.growth;
        let mut size = size::conv([3, channels], 7) + size::norm(channels);
        for (block, layers) in layout.into_iter().enumerate() {
            for _ in 0..layers {
                size += size::norm(channels) + size::conv([channels, bottleneck], 1);
                size += size::norm(bottleneck) + size::conv([bottleneck, self.growth], 3);
                channels += self.growth;
            }
            size += size::norm(channels);
            if block + 1 < layout.len() {
                size += size::conv([channels, channels / 2], 1);
                channels /= 2;
            }
        }
        size + size::linear([channels, self.classes])
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.layout()?;
        let checks = Checks {
            family: self.family(),
        };
        checks.count("the number of classes", self.classes)?;
        checks.size("the growth", self.growth)?;
        checks.dropout(self.dropout)
    }

    /// Layers of a block are counted from one, and named.
    fn state_dict_name(&self, path: &str) -> String {
        ["denseblock1", "denseblock2", "denseblock3", "denseblock4"]
            .into_iter()
            .find_map(|block| {
                let (index, rest) = indexed(path, &format!("features.{block}"))?;
                Some(format!("features.{block}.denselayer{}.{rest}", index + 1))
            })
            .unwrap_or_else(|| path.to_owned())
    }
}

/// See [`DenseNetConfig`].
#[derive(Module, Debug)]
pub struct DenseNet {
    features: Features,
    classifier: Linear,
}

impl DenseNet {
    /// Logits `[batch, classes]` of images `[batch, 3, height, width]`, both at least 32.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(images))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned.
    pub fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.classifier.forward(features)
    }

    /// Features `[batch, channels]` of images `[batch, 3, height, width]`, both at least 32.
    /// Channels are 1024 (121), 1664 (169) or 1920 (201) at the published growth.
    pub fn features(&self, images: Tensor<4>) -> Tensor<2> {
        global_average(self.features.forward(images))
    }
}

/// Only there for the segment `features` in the names.
#[derive(Module, Debug)]
struct Features {
    conv0: Conv2d,
    norm0: BatchNorm,
    denseblock1: Vec<Layer>,
    transition1: Transition,
    denseblock2: Vec<Layer>,
    transition2: Transition,
    denseblock3: Vec<Layer>,
    transition3: Transition,
    denseblock4: Vec<Layer>,
    norm5: BatchNorm,
}

impl Features {
    fn forward(&self, images: Tensor<4>) -> Tensor<4> {
        let x = stem_pool(self.norm0.forward_relu(self.conv0.forward(images)));
        let x = self.transition1.forward(dense(&self.denseblock1, x));
        let x = self.transition2.forward(dense(&self.denseblock2, x));
        let x = self.transition3.forward(dense(&self.denseblock3, x));
        self.norm5.forward_relu(dense(&self.denseblock4, x))
    }
}

/// Each layer sees the input and what all layers before it have added.
fn dense(layers: &[Layer], x: Tensor<4>) -> Tensor<4> {
    layers.iter().fold(x, |x, layer| {
        let added = layer.forward(x.clone());
        Tensor::cat(vec![x, added], 1)
    })
}

#[derive(Module, Debug)]
struct Layer {
    norm1: BatchNorm,
    conv1: Conv2d,
    norm2: BatchNorm,
    conv2: Conv2d,
    dropout: Option<Dropout>,
}

impl Layer {
    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = self.conv1.forward(self.norm1.forward_relu(x));
        let y = self.conv2.forward(self.norm2.forward_relu(y));
        dropped(&self.dropout, y)
    }
}

#[derive(Module, Debug)]
struct Transition {
    norm: BatchNorm,
    conv: Conv2d,
}

impl Transition {
    fn new(channels: [usize; 2], device: &Device) -> Self {
        Self {
            norm: BatchNormConfig::new(channels[0]).init(device),
            conv: conv(channels, 1, 1, Fan::In).init(device),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = self.conv.forward(self.norm.forward_relu(x));
        avg_pool2d(y, AvgPoolOptions::new([2, 2]))
    }
}
