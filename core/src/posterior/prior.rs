//! The prior, which is the weight decay of ordinary training.

use super::ConvertError;
use serde::{Deserialize, Serialize};

/// A Gaussian prior of standard deviation `s0` on every weight that is trained, with or without a posterior, given as
/// `lambda = 1 / (s0^2 n)`: the weight decay with which the network was pre-trained. Keep that value when fine-tuning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Number of training examples: of the data set, never of a mini-batch.
    pub examples: usize,
    /// Weight decay.
    pub lambda: f64,
    /// Where the prior is centred.
    pub mean: PriorMean,
}

/// Where the prior is centred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorMean {
    /// At zero.
    #[default]
    Zero,
    /// At the pre-trained weights (MOPED), which costs a copy of them. This is for the weights that get a Gaussian:
    /// those that a selection leaves points decay towards zero, as with [`PriorMean::Zero`]. To keep them where they
    /// are, freeze them before the conversion (`no_grad`). [`MeanField`](super::MeanField) alone can have this prior.
    Pretrained,
}

impl Prior {
    /// A prior at zero for `examples` training examples.
    pub fn new(examples: usize, lambda: f64) -> Self {
        Self {
            examples,
            lambda,
            mean: PriorMean::Zero,
        }
    }

    /// Variance of the prior, `s0^2 = 1 / (lambda n)`.
    pub fn variance(&self) -> f64 {
        1.0 / (self.lambda * self.examples as f64)
    }

    pub(super) fn checked(&self) -> Result<(), ConvertError> {
        if self.examples == 0 {
            return Err(ConvertError::Setting {
                what: "the number of training examples",
                value: "0".to_owned(),
                need: "the size of the training set",
            });
        }
        if !(self.lambda.is_finite() && self.lambda > 0.0) {
            return Err(ConvertError::Setting {
                what: "lambda",
                value: self.lambda.to_string(),
                need: "a positive number, such as the weight decay of the pre-training (1e-4)",
            });
        }
        Ok(())
    }
}
