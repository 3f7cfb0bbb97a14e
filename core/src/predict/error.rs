//! Why a prediction failed.

use crate::{metrics::MetricError, pass::PassError};

/// Why there is no prediction.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// No examples.
    #[error("the batch has no examples")]
    NoExamples,
    /// No draws.
    #[error("no draws were asked for; 20 is a good number")]
    NoDraws,
    /// A tolerance that nothing can reach.
    #[error("the tolerance is {0}, but must be a positive number, such as 0.01")]
    Tolerance(f64),
    /// Normalisation layers would change the network, and what they say of an example would depend on the others.
    #[error(
        "a prediction cannot be made in the mode of training; choose `Mode::Evaluate`, or `Mode::EvaluateWithDropout`"
    )]
    Training,
    /// Dropout was asked for, and no layer dropped anything: all draws of it would be the same.
    #[error(
        "nothing was dropped in a prediction with dropout; the network needs layers of `bayesadapter::nn::Dropout` with a \
         probability above 0 (Burn's own are off outside of training)"
    )]
    NoDropout,
    /// The network embeds its input and has no classes.
    #[error(
        "the network has no classifier, so that there are no probabilities; ask for its features with \
         `PredictOptions::with_features_kept`, or give it a classifier"
    )]
    NoClassifier,
    /// The forward pass failed.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// The logits are not what a classifier returns.
    #[error("the network returned logits of shape {found:?} for {rows} rows")]
    Logits {
        /// Rows that went in.
        rows: usize,
        /// What came out.
        found: Vec<usize>,
    },
    /// The features are not a vector per example.
    #[error("the network returned features of shape {found:?} for {rows} rows")]
    Features {
        /// Rows that went in.
        rows: usize,
        /// What came out.
        found: Vec<usize>,
    },
    /// The probabilities are not such.
    #[error(
        "the network does not return probabilities: {0}; its weights or inputs may not be finite"
    )]
    Probabilities(#[from] MetricError),
    /// The device failed.
    #[error("reading the result from the device failed: {0}")]
    Device(String),
}
