//! Why a run ended before its time.

use super::SettingsError;
use crate::{
    checkpoint::CheckpointError,
    data::DataError,
    evaluate::EvaluateError,
    file::FileError,
    models::{LoadError, ModelError},
    pass::PassError,
    posterior::ConvertError,
    train::{RateError, TrainError},
};

/// Why a run ended before its time. What was saved stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Settings that cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// No such network.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A checkpoint that cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A checkpoint that does not fit the network.
    #[error(transparent)]
    Weights(#[from] LoadError),
    /// Data that cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The posterior cannot be attached.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// A step failed.
    #[error("step {step} failed: {reason}")]
    Step {
        /// The step.
        step: usize,
        /// Why.
        reason: TrainError,
    },
    /// Numbers ran away.
    #[error(
        "{what} stopped being a finite number at step {step}; the run was set back to step {back}, where all was \
         well. Lower the learning rates (mean {mean_rate}, spread {spread_rate}), or bound the gradients (clip_norm 1), \
         and resume"
    )]
    NotFinite {
        /// The first parameter that is not finite, or the loss.
        what: String,
        /// Where it was seen.
        step: usize,
        /// Where the saved state is.
        back: usize,
        /// Learning rate of the means.
        mean_rate: f64,
        /// Learning rate of the spreads.
        spread_rate: f64,
    },
    /// The device failed.
    #[error(
        "the device failed: {reason}. The last saved state is whole; resume from it, with a smaller batch or on the \
         CPU if memory ran out"
    )]
    Device {
        /// What it says.
        reason: PassError,
    },
    /// Settings of the training.
    #[error(transparent)]
    Training(#[from] TrainError),
    /// Learning rates that cannot be used.
    #[error(transparent)]
    Rates(#[from] RateError),
    /// The result cannot be judged.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// Something cannot be written or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A run folder that cannot be used.
    #[error("{folder}: {problem}")]
    Folder {
        /// The folder.
        folder: String,
        /// What is wrong, and what to do.
        problem: String,
    },
}
