//! Why nothing could be estimated.

use crate::{ops::OpError, pass::PassError};

/// Why a training step could not be estimated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// There is nothing to train on.
    #[error("a batch of shape {0:?} holds nothing; every size must be at least 1")]
    EmptyBatch(Vec<usize>),
    /// The network did not take the input, or the posterior does not have the estimator.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// A layer is too large for the device.
    #[error(transparent)]
    Op(#[from] OpError),
    /// The network is not a classifier.
    #[error(
        "the network turned {rows} examples into a tensor of shape {found:?}; logits are [{rows}, classes]"
    )]
    Logits {
        /// Examples that went in.
        rows: usize,
        /// What came out.
        found: Vec<usize>,
    },
    /// The device failed while a step was timed.
    #[error("the device failed while a step was timed: {0}; a smaller batch may help")]
    Device(String),
}
