//! Why a step failed.

use super::{RateError, RegularisationError};
use crate::{file::FileError, ops::OpError, pass::PassError};

/// Why a step failed. The network is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The forward or backward pass failed.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// The complexity loss cannot be computed.
    #[error(transparent)]
    Op(#[from] OpError),
    /// Learning rates that cannot be used.
    #[error(transparent)]
    Rates(#[from] RateError),
    /// Uncertainty regularisation that cannot be done.
    #[error(transparent)]
    Regularisation(#[from] RegularisationError),
    /// Other settings that cannot be used.
    #[error("{what} is {value}, and must be {need}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// What it was.
        value: String,
        /// What it must be.
        need: &'static str,
    },
    /// A saved run does not fit.
    #[error(transparent)]
    File(#[from] FileError),
    /// A saved run is at a place that these settings do not lead to.
    #[error(
        "the run was saved after step {step}, in epoch {epoch} after {batch} mini-batches, and cannot go on with \
         {batches_per_epoch} mini-batches in an epoch and {accumulate} in a step; keep the data, the batch and \
         accumulate as they were, or begin a new run"
    )]
    OtherCourse {
        /// Steps that were done.
        step: usize,
        /// The epoch, from 0 on.
        epoch: u32,
        /// Mini-batches of it that were done.
        batch: usize,
        /// Mini-batches of one pass, as it is now.
        batches_per_epoch: usize,
        /// Mini-batches of one step, as it is now.
        accumulate: usize,
    },
}
