//! A multi-layer perceptron.

use super::config::{ModelConfig, Normalisation};
use super::error::{Checks, ModelError};
use super::parts::dropout;
use super::size;
use crate::nn::{Dropout, Linear, LinearConfig};
use burn::module::Module;
use burn::tensor::{Device, Tensor, activation::relu};
use serde::{Deserialize, Serialize};

/// Linear layers with ReLU between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MlpConfig {
    /// Channels, height and width of a picture.
    pub input: [usize; 3],
    /// Widths of the hidden layers; none makes it a logistic regression.
    pub hidden: Vec<usize>,
    /// Outputs of the classifier.
    pub classes: usize,
    /// After every hidden layer.
    pub dropout: Option<f64>,
}

impl MlpConfig {
    /// Without dropout.
    pub fn new(input: [usize; 3], hidden: Vec<usize>, classes: usize) -> Self {
        Self {
            input,
            hidden,
            classes,
            dropout: None,
        }
    }

    /// The network with random weights.
    pub fn init(&self, device: &Device) -> Result<Mlp, ModelError> {
        self.validate()?;
        let mut inputs = self.input.into_iter().product();
        let mut hidden = Vec::new();
        for &outputs in &self.hidden {
            hidden.push(LinearConfig::new(inputs, outputs).init(device));
            inputs = outputs;
        }
        Ok(Mlp {
            dropout: hidden
                .iter()
                .filter_map(|_| dropout(self.dropout))
                .collect(),
            hidden,
            output: LinearConfig::new(inputs, self.classes).init(device),
        })
    }
}

impl ModelConfig for MlpConfig {
    fn family(&self) -> &'static str {
        "MLP"
    }

    fn name(&self) -> String {
        "mlp".to_owned()
    }

    fn input_shape(&self) -> [usize; 3] {
        self.input
    }

    fn normalisation(&self) -> Normalisation {
        Normalisation::digits(self.input[0])
    }

    fn classes(&self) -> Option<usize> {
        Some(self.classes)
    }

    fn scalars(&self) -> u64 {
        let mut inputs = self.input.into_iter().product();
        let mut size = 0u64;
        for &outputs in self.hidden.iter().chain([&self.classes]) {
            // There may be any number of hidden layers.
            size = size.saturating_add(size::linear([inputs, outputs]));
            inputs = outputs;
        }
        size
    }

    fn validate(&self) -> Result<(), ModelError> {
        let checks = Checks {
            family: self.family(),
        };
        let pixels = self.input.into_iter().fold(1, usize::saturating_mul);
        checks.count("the size of a picture", pixels)?;
        for &width in &self.hidden {
            checks.size("the width of a hidden layer", width)?;
        }
        checks.count("the number of classes", self.classes)?;
        checks.dropout(self.dropout)
    }
}

/// See [`MlpConfig`].
#[derive(Module, Debug)]
pub struct Mlp {
    hidden: Vec<Linear>,
    /// One per hidden layer, or none at all.
    dropout: Vec<Dropout>,
    output: Linear,
}

impl Mlp {
    /// Logits `[batch, classes]` of images `[batch, channels, height, width]`.
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        self.classify(self.features(images))
    }

    /// Logits `[batch, classes]` of what [`features`](Self::features) returned.
    pub fn classify(&self, features: Tensor<2>) -> Tensor<2> {
        self.output.forward(features)
    }

    /// The last hidden layer `[batch, width]` of images `[batch, channels, height, width]`; the
    /// pixels themselves where there is none.
    pub fn features(&self, images: Tensor<4>) -> Tensor<2> {
        let mut x = images.flatten::<2>(1, 3);
        for (index, hidden) in self.hidden.iter().enumerate() {
            x = relu(hidden.forward(x));
            if let Some(dropout) = self.dropout.get(index) {
                x = dropout.forward(x);
            }
        }
        x
    }
}
