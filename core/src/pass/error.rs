//! Why a pass failed.

use super::Estimator;
use crate::ops::OpError;

/// Why a forward pass was refused or failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// A layer's arguments do not fit.
    #[error(transparent)]
    Op(#[from] OpError),
    /// The posterior has no such estimator.
    #[error(
        "the {estimator} estimator does not work for {posterior} posteriors ({path}); use {instead}"
    )]
    Estimator {
        /// What was asked for.
        estimator: Estimator,
        /// What the parameter has.
        posterior: &'static str,
        /// A parameter that has it.
        path: String,
        /// What works.
        instead: &'static str,
    },
    /// Several draws at once need rows for each of them.
    #[error("{rows} rows cannot be shared equally among {draws} draws")]
    Rows {
        /// Rows of the batch that reached a layer.
        rows: usize,
        /// Draws of the pass.
        draws: u32,
    },
    /// Passes do not nest.
    #[error("a pass was started inside another pass; end the outer one first")]
    Nested,
    /// A number could not be read from the device.
    #[error("reading from the device failed: {0}")]
    Read(String),
    /// Something inside the pass panicked: Burn does so for shapes that do not fit.
    #[error("the forward pass panicked: {0}")]
    Panicked(String),
}
