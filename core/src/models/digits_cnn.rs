//! A small network for handwritten digits of 8 x 8 pixels, quick enough for any browser.

use super::config::{ModelConfig, Normalisation};
use super::error::{Checks, ModelError};
use super::parts::{Fan, conv, dropout, dropped};
use super::size;
use crate::nn::{BatchNorm, BatchNormConfig, Conv2d, Dropout, Linear, LinearConfig};
use burn::module::Module;
use burn::tensor::{Device, Tensor, activation::relu, module::max_pool2d, ops::MaxPoolOptions};
use serde::{Deserialize, Serialize};

/// Height and width of a digit.
const SIDE: usize = 8;

/// Pixels of a digit behind the pooling.
const POOLED: usize = (SIDE / 2) * (SIDE / 2);

/// Two convolutions, a pooling and two linear layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigitsCnnConfig {
    /// Outputs of the classifier.
    pub classes: usize,
    /// Channels of the first convolution. The second has twice, the hidden layer four times as many.
    pub width: usize,
    /// Before the last layer.
    pub dropout: Option<f64>,
}

impl DigitsCnnConfig {
    /// 16 channels, without dropout.
    pub fn new(classes: usize) -> Self {
        Self {
            classes,
            width: 16,
            dropout: None,
        }
    }

    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<DigitsCnn, ModelError> {
        self.validate()?;
        let [first, second, hidden] = self.widths();
        Ok(DigitsCnn {
            conv1: conv([1, first], 3, 1, Fan::In).init(device),
            bn1: BatchNormConfig::new(first).init(device),
            conv2: conv([first, second], 3, 1, Fan::In).init(device),
            bn2: BatchNormConfig::new(second).init(device),
            fc1: LinearConfig::new(second * POOLED, hidden).init(device),
            dropout: dropout(self.dropout),
            fc2: LinearConfig::new(hidden, self.classes).init(device),
        })
    }

    /// Outputs of the convolutions and of the hidden layer.
    fn widths(&self) -> [usize; 3] {
        [1, 2, 4].map(|factor| factor * self.width)
    }
}

impl ModelConfig for DigitsCnnConfig {
    fn family(&self) -> &'static str {
        "digits CNN"
    }

    fn name(&self) -> String {
        "digits-cnn".to_owned()
    }

    fn input_shape(&self) -> [usize; 3] {
        [1, SIDE, SIDE]
    }

    fn normalisation(&self) -> Normalisation {
        Normalisation::digits(1)
    }

    fn classes(&self) -> Option<usize> {
        Some(self.classes)
    }

    fn scalars(&self) -> u64 {
        let [first, second, hidden] = self.widths();
        let convolutions = size::conv([1, first], 3) + size::conv([first, second], 3);
        let norms = size::norm(first) + size::norm(second);
        let fc1 = size::linear([second * POOLED, hidden]);
        convolutions + norms + fc1 + size::linear([hidden, self.classes])
    }

    fn validate(&self) -> Result<(), ModelError> {
        let checks = Checks {
            family: self.family(),
        };
        checks.count("the number of classes", self.classes)?;
        checks.size("the width", self.width)?;
        checks.dropout(self.dropout)
    }
}

/// See [`DigitsCnnConfig`].
#[derive(Module, Debug)]
pub struct DigitsCnn {
    conv1: Conv2d,
    bn1: BatchNorm,
    conv2: Conv2d,
    bn2: BatchNorm,
    fc1: Linear,
    dropout: Option<Dropout>,
    fc2: Linear,
}

impl DigitsCnn {
    /// Logits `[batch, classes]` of images `[batch, 1, 8, 8]`.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(images))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned.
    pub fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.fc2.forward(dropped(&self.dropout, features))
    }

    /// Features `[batch, 4 * width]` of images `[batch, 1, 8, 8]`. Dropout comes after them.
    pub fn features(&self, images: Tensor<4>) -> Tensor<2> {
        let x = self.bn1.forward_relu(self.conv1.forward(images));
        let x = self.bn2.forward_relu(self.conv2.forward(x));
        let x = max_pool2d(x, MaxPoolOptions::new([2, 2]));
        relu(self.fc1.forward(x.flatten::<2>(1, 3)))
    }
}
