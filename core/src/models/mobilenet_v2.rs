//! MobileNetV2 for ImageNet, with names and rounding of torchvision.

use super::config::{ModelConfig, Normalisation};
use super::error::{Checks, ModelError};
use super::inverted_residual::{ConvNorm, InvertedResidual, Stage, Style, inverted_residuals};
use super::naming::{indexed, rename};
use super::parts::{dropout, dropped, global_average, linear, scaled_channels};
use super::size;
use crate::nn::{Dropout, Linear};
use burn::module::Module;
use burn::nn::Initializer;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

const STAGES: [Stage; 7] = [
    Stage::new(1, 16, 1, 1, 3),
    Stage::new(6, 24, 2, 2, 3),
    Stage::new(6, 32, 3, 2, 3),
    Stage::new(6, 64, 4, 2, 3),
    Stage::new(6, 96, 3, 1, 3),
    Stage::new(6, 160, 3, 2, 3),
    Stage::new(6, 320, 1, 1, 3),
];

const OUTER_NAMES: [(&str, &str); 5] = [
    ("stem.conv", "features.0.0"),
    ("stem.bn", "features.0.1"),
    ("head.conv", "features.18.0"),
    ("head.bn", "features.18.1"),
    ("classifier", "classifier.1"),
];

const FIRST_BLOCK_NAMES: [(&str, &str); 4] = [
    ("depthwise.conv", "0.0"),
    ("depthwise.bn", "0.1"),
    ("project.conv", "1"),
    ("project.bn", "2"),
];

const BLOCK_NAMES: [(&str, &str); 6] = [
    ("expand.conv", "0.0"),
    ("expand.bn", "0.1"),
    ("depthwise.conv", "1.0"),
    ("depthwise.bn", "1.1"),
    ("project.conv", "2"),
    ("project.bn", "3"),
];

/// A MobileNetV2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MobileNetV2Config {
    /// Outputs of the classifier.
    pub classes: usize,
    /// Multiplies all channels, which are then rounded to multiples of eight. The features keep
    /// their 1280 below one.
    pub width: f64,
    /// Before the last layer. The paper uses .2 for MC dropout.
    pub dropout: Option<f64>,
}

impl MobileNetV2Config {
    /// The published width, without dropout.
    pub fn new(classes: usize) -> Self {
        Self {
            classes,
            width: 1.0,
            dropout: None,
        }
    }

    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<MobileNetV2, ModelError> {
        self.validate()?;
        let style = Style::MOBILE;
        let scaled = |channels| scaled_channels(channels, self.width);
        let first = scaled(32);
        let features = scaled_channels(1280, self.width.max(1.0));
        let active = |conv| ConvNorm::active(conv, &style, device);
        Ok(MobileNetV2 {
            stem: active(style.conv([3, first], 3, 2)),
            blocks: inverted_residuals(&STAGES, first, scaled, &style, device),
            head: active(style.conv([scaled(320), features], 1, 1)),
            dropout: dropout(self.dropout),
            classifier: linear(
                [features, self.classes],
                Initializer::Normal {
                    mean: 0.0,
                    std: 0.01,
                },
                Initializer::Zeros,
                device,
            ),
        })
    }
}

impl ModelConfig for MobileNetV2Config {
    fn family(&self) -> &'static str {
        "MobileNetV2"
    }

    fn name(&self) -> String {
        "mobilenet_v2".to_owned()
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
        let scaled = |channels| scaled_channels(channels, self.width);
        let (style, first) = (Style::MOBILE, scaled(32));
        let features = scaled_channels(1280, self.width.max(1.0));
        let stem = size::conv([3, first], 3) + style.active_size(first);
        let head = size::conv([scaled(320), features], 1) + style.active_size(features);
        let blocks = size::inverted_residuals(&STAGES, first, scaled, &style);
        stem + blocks + head + size::linear([features, self.classes])
    }

    fn validate(&self) -> Result<(), ModelError> {
        let checks = Checks {
            family: self.family(),
        };
        checks.count("the number of classes", self.classes)?;
        checks.multiplier(self.width)?;
        checks.dropout(self.dropout)
    }

    /// torchvision numbers everything: the stem is 0, blocks follow, then the head.
    fn state_dict_name(&self, path: &str) -> String {
        match indexed(path, "blocks") {
            // The first block expands by one, which is no layer.
            Some((0, rest)) => format!("features.1.conv.{}", rename(rest, &FIRST_BLOCK_NAMES)),
            Some((index, rest)) => {
                format!("features.{}.conv.{}", index + 1, rename(rest, &BLOCK_NAMES))
            }
            None => rename(path, &OUTER_NAMES),
        }
    }
}

/// See [`MobileNetV2Config`].
#[derive(Module, Debug)]
pub struct MobileNetV2 {
    stem: ConvNorm,
    blocks: Vec<InvertedResidual>,
    head: ConvNorm,
    dropout: Option<Dropout>,
    classifier: Linear,
}

impl MobileNetV2 {
    /// Logits `[batch, classes]` of images `[batch, 3, height, width]`.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(images))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned.
    pub fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.classifier.forward(dropped(&self.dropout, features))
    }

    /// Features `[batch, 1280]`, more if the width is above one, of images
    /// `[batch, 3, height, width]`. Dropout comes after them.
    pub fn features(&self, images: Tensor<4>) -> Tensor<2> {
        let x = self.stem.forward(images);
        let x = self.blocks.iter().fold(x, |x, block| block.forward(x));
        global_average(self.head.forward(x))
    }
}
