//! Uncertainty regularisation: draws that disagree on out-of-distribution (OOD) images.

use burn::tensor::{
    Tensor,
    activation::{log_softmax, relu, softplus},
};
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// Adds `alpha * mean(relu(gamma - MI_2))` to the loss, the mean being over OOD images and
/// `MI_2 = H((p1 + p2) / 2) - (H(p1) + H(p2)) / 2` the mutual information, in nats, of two draws that see the same image.
///
/// The two draws are rows of the same launch as the mini-batch, with an estimator that gives every row a draw of its
/// own ([exemplar](crate::pass::Estimator::Exemplar), local or flipout), in a pass that knows of them
/// ([`Pass::with_pairs`](crate::pass::Pass::with_pairs)): without it, both may be the same component of an ensemble.
/// With the vanilla estimator they are the same draw: `MI_2` is 0 and so is its gradient.
///
/// `MI_2` is at most ln 2 = 0.693. A larger gamma, as the default, is never reached, so that every OOD image
/// contributes to the gradient in every step; a smaller one leaves out those whose draws disagree enough.
///
/// ```
/// use bayesadapter::train::UncertaintyRegularisation;
/// use burn::tensor::{Device, Tensor};
///
/// // One training image, and one OOD image twice: the draws are sure of different classes.
/// let logits = [[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]];
/// let logits = Tensor::<2>::from_floats(logits, &Device::flex());
/// let regularised = UncertaintyRegularisation::default().split(logits, 1)?;
/// assert_eq!(regularised.logits.dims(), [1, 2]);
/// let penalty = regularised.penalty.into_scalar::<f32>();
/// assert!((penalty - 3.0 * (0.75 - 2f32.ln())).abs() < 1e-5);
/// # Ok::<(), bayesadapter::train::RegularisationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UncertaintyRegularisation {
    /// Weight of the penalty beside the negative log-likelihood.
    pub alpha: f64,
    /// Mutual information, in nats, from which on an image is not penalised.
    pub gamma: f64,
}

impl Default for UncertaintyRegularisation {
    /// The values of the paper's authors.
    fn default() -> Self {
        Self {
            alpha: 3.0,
            gamma: 0.75,
        }
    }
}

/// Why the regulariser cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegularisationError {
    /// A penalty of this weight is none, or a reward.
    #[error(
        "alpha is {0}, but must be a positive number, such as 3; leave the regulariser out for none"
    )]
    Alpha(f64),
    /// No image would be penalised.
    #[error(
        "gamma is {0}, but must be a positive number, such as 0.75; mutual information is never below 0"
    )]
    Gamma(f64),
    /// The logits are not those of a mini-batch followed by OOD images, each twice.
    #[error(
        "{rows} rows of logits are not {in_distribution} in-distribution rows followed by two rows for each of some OOD \
         images; append the OOD images to the mini-batch twice, all first copies before all second ones"
    )]
    Rows {
        /// Rows of the logits.
        rows: usize,
        /// Rows that were said to be in-distribution.
        in_distribution: usize,
    },
}

/// The logits of a launch, split into what the likelihood and what the regulariser needs.
#[derive(Clone, Debug)]
pub struct Regularised {
    /// Of the in-distribution images, `[b, classes]`.
    pub logits: Tensor<2>,
    /// What is added to the loss, `[1]`.
    pub penalty: Tensor<1>,
    /// Mean of `MI_2` over the OOD images, in nats, outside of the graph, `[1]`: for the history of a run.
    pub mutual_information: Tensor<1>,
}

impl UncertaintyRegularisation {
    /// Refuses settings out of range.
    ///
    /// # Errors
    ///
    /// An alpha or a gamma that is not a positive number.
    pub fn checked(&self) -> Result<(), RegularisationError> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !positive(self.alpha) {
            return Err(RegularisationError::Alpha(self.alpha));
        }
        if !positive(self.gamma) {
            return Err(RegularisationError::Gamma(self.gamma));
        }
        Ok(())
    }

    /// Splits the logits `[b + 2 m, classes]` of one launch: `in_distribution = b` rows of the mini-batch, the `m` OOD
    /// images, and the same `m` images in the same order again.
    ///
    /// Finite logits give a finite penalty with finite gradients, also where probabilities underflow and where both
    /// draws agree, which is a minimum of `MI_2` and has no gradient.
    ///
    /// # Errors
    ///
    /// Settings out of range, no in-distribution rows, and a number of other rows that is zero or odd.
    pub fn split(
        &self,
        logits: Tensor<2>,
        in_distribution: usize,
    ) -> Result<Regularised, RegularisationError> {
        self.checked()?;
        let rows = logits.dims()[0];
        let copies = rows.saturating_sub(in_distribution);
        if in_distribution == 0 || copies == 0 || !copies.is_multiple_of(2) {
            return Err(RegularisationError::Rows {
                rows,
                in_distribution,
            });
        }
        let second = in_distribution + copies / 2;
        let first_logits = logits.clone().slice(in_distribution..second);
        let second_logits = logits.clone().slice(second..rows);
        let information = mutual_information(first_logits, second_logits);
        let shortfall = relu(information.clone().neg().add_scalar(self.gamma));
        Ok(Regularised {
            logits: logits.slice(0..in_distribution),
            penalty: shortfall.mean().mul_scalar(self.alpha),
            mutual_information: information.mean().detach(),
        })
    }
}

/// Mutual information of two draws, `[rows]`, in nats, of their logits `[rows, classes]`.
///
/// With `m = (p1 + p2) / 2` it is `sum(p1 ln(p1 / m) + p2 ln(p2 / m)) / 2`. The logarithms come from differences of log
/// probabilities, so that they are finite where probabilities underflow to zero. The gradient does not need theirs:
/// `p1 d ln(p1 / m) + p2 d ln(p2 / m) = d(p1 + p2) - 2 dm = 0`, so they are detached as constants.
fn mutual_information(first: Tensor<2>, second: Tensor<2>) -> Tensor<1> {
    let rows = first.dims()[0];
    let (first, second) = (log_softmax(first, 1), log_softmax(second, 1));
    let difference = (second.clone() - first.clone()).detach();
    // ln(p1 / m) = ln 2 - ln(1 + p2 / p1), and the same of p2 with the sign reversed.
    let of_first = softplus(difference.clone(), 1.0).neg().add_scalar(LN_2);
    let of_second = softplus(difference.neg(), 1.0).neg().add_scalar(LN_2);
    let terms = first.exp() * of_first + second.exp() * of_second;
    terms.sum_dim(1).div_scalar(2.0).reshape([rows])
}
