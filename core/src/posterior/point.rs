//! Point weights: ordinary training, seen as the posterior that it is.

use super::{ConvertError, Prior, PriorMean, Select};
use serde::{Deserialize, Serialize};

/// No spread at all. Training it is maximum a posteriori (MAP) training, with the prior as weight decay:
/// where fine-tuning starts, and what its result is compared with.
///
/// ```
/// use bayesadapter::posterior::{IntoBayes, Point};
/// use bayesadapter::nn::LinearConfig;
/// use burn::tensor::Device;
///
/// let network = LinearConfig::new(64, 10).init(&Device::flex());
/// let map = network.into_bayes(Point::train(1_797).with_lambda(5e-4))?;
/// assert_eq!(map.account().parameters_after, 650);
/// # Ok::<(), bayesadapter::posterior::ConvertError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The prior, and with it the number of training examples. Its mean is zero.
    pub prior: Prior,
}

/// What a point posterior would convert, if it converted anything.
pub(super) static EVERYTHING: Select = Select::All;

impl Point {
    /// Training on `examples` training examples, with `lambda = 1e-4`.
    pub fn train(examples: usize) -> Self {
        Self {
            prior: Prior::new(examples, 1e-4),
        }
    }

    /// With another weight decay.
    pub fn with_lambda(mut self, lambda: f64) -> Self {
        self.prior.lambda = lambda;
        self
    }

    pub(super) fn checked(&self) -> Result<(), ConvertError> {
        if self.prior.mean != PriorMean::Zero {
            return Err(ConvertError::Setting {
                what: "the mean of the prior",
                value: "the pre-trained weights".to_owned(),
                need: "zero for point weights; use `MeanField` for a prior at the pre-trained weights",
            });
        }
        self.prior.checked()
    }
}
