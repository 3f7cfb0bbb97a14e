//! MobileFaceNet, which embeds aligned faces, with names of `Xiaoccer/MobileFaceNet_Pytorch`.

use super::config::{ModelConfig, Normalisation};
use super::error::{Checks, ModelError};
use super::inverted_residual::{
    Activation, ConvNorm, InvertedResidual, Stage, Style, inverted_residuals,
};
use super::naming::{indexed, rename};
use super::parts::{kaiming_fan_out, scaled_channels};
use super::size;
use crate::nn::{Conv2dConfig, Linear, LinearConfig};
use burn::module::Module;
use burn::nn::PaddingConfig2d;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

const STAGES: [Stage; 5] = [
    Stage::new(2, 64, 5, 2, 3),
    Stage::new(4, 128, 1, 2, 3),
    Stage::new(2, 128, 6, 1, 3),
    Stage::new(4, 128, 1, 2, 3),
    Stage::new(2, 128, 2, 1, 3),
];

const STYLE: Style = Style {
    activation: Activation::PRelu,
    ..Style::MOBILE
};

/// Stem and stages halve a picture this many times.
const HALVINGS: u32 = 4;

const BLOCK_NAMES: [(&str, &str); 8] = [
    ("expand.conv", "0"),
    ("expand.bn", "1"),
    ("expand.prelu", "2"),
    ("depthwise.conv", "3"),
    ("depthwise.bn", "4"),
    ("depthwise.prelu", "5"),
    ("project.conv", "6"),
    ("project.bn", "7"),
];

/// A MobileFaceNet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MobileFaceNetConfig {
    /// Outputs of the classifier that it is trained with. Published files have none: `None`.
    pub classes: Option<usize>,
    /// Height and width of the faces, which fix the size of the last filters.
    pub input: [usize; 2],
    /// Length of an embedding.
    pub embedding: usize,
    /// Multiplies all channels but the embedding's, which are then rounded to multiples of eight.
    pub width: f64,
}

impl MobileFaceNetConfig {
    /// The published sizes: faces of 112 x 96 (height x width) and embeddings of 128.
    pub fn new(classes: Option<usize>) -> Self {
        Self {
            classes,
            input: [112, 96],
            embedding: 128,
            width: 1.0,
        }
    }

    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<MobileFaceNet, ModelError> {
        self.validate()?;
        let scaled = |channels| scaled_channels(channels, self.width);
        let [first, inner, last] = [64, 128, 512].map(scaled);
        let active = |conv| ConvNorm::active(conv, &STYLE, device);
        let whole = Conv2dConfig::new([last, last], self.last_kernel())
            .with_groups(last)
            .with_padding(PaddingConfig2d::Valid)
            .with_bias(false)
            .with_initializer(kaiming_fan_out(last, self.last_kernel()));
        Ok(MobileFaceNet {
            conv1: active(STYLE.conv([3, first], 3, 2)),
            dw_conv1: active(STYLE.depthwise(first, 3, 1)),
            blocks: inverted_residuals(&STAGES, first, scaled, &STYLE, device),
            conv2: active(STYLE.conv([inner, last], 1, 1)),
            linear7: ConvNorm::linear(whole, &STYLE, device),
            linear1: ConvNorm::linear(STYLE.conv([last, self.embedding], 1, 1), &STYLE, device),
            classifier: self
                .classes
                .map(|classes| LinearConfig::new(self.embedding, classes).init(device)),
        })
    }

    /// What the halvings leave of a picture: the last filters see all of it.
    fn last_kernel(&self) -> [usize; 2] {
        self.input.map(|side| side.div_ceil(1 << HALVINGS))
    }
}

impl ModelConfig for MobileFaceNetConfig {
    fn family(&self) -> &'static str {
        "MobileFaceNet"
    }

    fn name(&self) -> String {
        "mobilefacenet".to_owned()
    }

    fn input_shape(&self) -> [usize; 3] {
        let [height, width] = self.input;
        [3, height, width]
    }

    /// `(pixel - 127.5) / 128`
    fn normalisation(&self) -> Normalisation {
        Normalisation::uniform(3, 0.5, 128.0 / 255.0)
    }

    fn classes(&self) -> Option<usize> {
        self.classes
    }

    fn scalars(&self) -> u64 {
        let scaled = |channels| scaled_channels(channels, self.width);
        let [first, inner, last] = [64, 128, 512].map(scaled);
        let stem = size::conv([3, first], 3) + size::depthwise(first, [3, 3]);
        let blocks = size::inverted_residuals(&STAGES, first, scaled, &STYLE);
        let widen = size::conv([inner, last], 1) + STYLE.active_size(last);
        let whole = size::depthwise(last, self.last_kernel()) + size::norm(last);
        let embed = size::conv([last, self.embedding], 1) + size::norm(self.embedding);
        let classifier = self
            .classes
            .map_or(0, |classes| size::linear([self.embedding, classes]));
        stem + 2 * STYLE.active_size(first) + blocks + widen + whole + embed + classifier
    }

    fn validate(&self) -> Result<(), ModelError> {
        let checks = Checks {
            family: self.family(),
        };
        if let Some(classes) = self.classes {
            checks.count("the number of classes", classes)?;
        }
        checks.size("the input height", self.input[0])?;
        checks.size("the input width", self.input[1])?;
        checks.size("the embedding", self.embedding)?;
        checks.multiplier(self.width)
    }

    fn state_dict_name(&self, path: &str) -> String {
        let name = match indexed(path, "blocks") {
            Some((index, rest)) => {
                format!("blocks.{index}.conv.{}", rename(rest, &BLOCK_NAMES))
            }
            None => path.to_owned(),
        };
        rename(&name, &[("alpha", "weight")])
    }
}

/// See [`MobileFaceNetConfig`].
#[derive(Module, Debug)]
pub struct MobileFaceNet {
    conv1: ConvNorm,
    dw_conv1: ConvNorm,
    blocks: Vec<InvertedResidual>,
    conv2: ConvNorm,
    linear7: ConvNorm,
    linear1: ConvNorm,
    classifier: Option<Linear>,
}

impl MobileFaceNet {
    /// Logits `[batch, classes]` of faces `[batch, 3, height, width]`; without a classifier, the
    /// embeddings themselves.
    pub fn forward(&self, faces: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(faces))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned, which are returned as they
    /// are without a classifier.
    pub fn classify(&self, embeddings: Tensor<2>) -> Tensor<2> {
        match &self.classifier {
            Some(classifier) => classifier.forward(embeddings),
            None => embeddings,
        }
    }

    /// Whether there are classes, and not embeddings alone.
    pub fn has_classifier(&self) -> bool {
        self.classifier.is_some()
    }

    /// Embeddings `[batch, embedding]` of faces `[batch, 3, height, width]`, of the configured size.
    /// Their length carries no meaning: compare their directions.
    pub fn features(&self, faces: Tensor<4>) -> Tensor<2> {
        let x = self.dw_conv1.forward(self.conv1.forward(faces));
        let x = self.blocks.iter().fold(x, |x, block| block.forward(x));
        let x = self.linear7.forward(self.conv2.forward(x));
        self.linear1.forward(x).flatten(1, 3)
    }
}
