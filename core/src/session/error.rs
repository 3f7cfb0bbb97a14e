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
use std::path::PathBuf;

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
    /// The posterior has more parameters than there is memory for.
    #[error(
        "with this posterior the network has {parameters} parameters, which take {} MiB to train, and there are {} MiB; \
         choose fewer components, a lower rank, or fewer layers",
        .needed >> 20,
        .available >> 20
    )]
    TooLarge {
        /// Parameters with the posterior.
        parameters: usize,
        /// Bytes that they take.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
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
        "{what} stopped being finite at step {step}; the run was set back to step {back}, where all was \
         well. Lower the learning rates (lr {lr}, variational_lr {variational_lr}), or bound the gradients (clip_norm 1), \
         and resume"
    )]
    NotFinite {
        /// The parameter with which it began, or what else was seen of it, such as the loss.
        what: String,
        /// The step in which it began.
        step: usize,
        /// Where the saved state is.
        back: usize,
        /// Learning rate of the means.
        lr: f64,
        /// Learning rate of the spreads.
        variational_lr: f64,
    },
    /// What a run went on from is bad already.
    #[error(
        "{what} is not finite right after step {step}, with which the run began here; that state is put away. \
         Resume to go on from the one before it, with lower learning rates; if there is none, look at the weights that \
         the run starts from"
    )]
    BadStart {
        /// The first parameter that is not finite, or what else was seen of it, such as the loss.
        what: String,
        /// Steps that were done.
        step: usize,
    },
    /// A run that was told to stop, or came to its end, could not be saved.
    #[error("the {what} at step {step} could not be saved: {reason}. {}", after_refusal(.aside))]
    NotSaved {
        /// State or posterior.
        what: &'static str,
        /// Steps that were done.
        step: usize,
        /// Why.
        reason: Box<FileError>,
        /// Where it is instead, if there was room elsewhere.
        aside: Option<PathBuf>,
    },
    /// The data are not those that the run was saved with.
    #[error(
        "the run was saved with {saved} pictures to learn from, and there are {found} now. Make the data what they \
         were and resume, or begin a new run"
    )]
    OtherData {
        /// Pictures when the run was saved.
        saved: usize,
        /// Pictures now.
        found: usize,
    },
    /// No test pictures.
    #[error(
        "there are no pictures to judge by: of data without a test part every tenth picture of a class is kept back, \
         and no class has ten. Add pictures, or put some into a folder test/ beside train/"
    )]
    NothingToJudgeBy,
    /// The device failed.
    #[error(
        "the device failed: {reason}. The last saved state is whole: resume from it, with the device cpu if memory ran \
         out. A smaller batch, with a larger accumulate to make up for it, takes a new run"
    )]
    Device {
        /// What it says.
        reason: String,
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

impl SessionError {
    pub(super) fn device(reason: PassError) -> Self {
        let reason = reason.to_string();
        Self::Device { reason }
    }

    /// Of something that is read from the device on its way into a file.
    pub(super) fn of_file(error: FileError) -> Self {
        match error {
            FileError::Device(reason) => Self::Device { reason },
            error => error.into(),
        }
    }
}

/// What to do where a place refuses a file.
fn after_refusal(aside: &Option<PathBuf>) -> String {
    match aside {
        Some(place) => format!(
            "It is in {} instead, where it may not stay for long: see to the disk and move it into the folder of the \
             run, a state into its checkpoints/, and resume",
            place.display()
        ),
        None => "What was saved before is whole; see to the disk, and resume from there".to_owned(),
    }
}
