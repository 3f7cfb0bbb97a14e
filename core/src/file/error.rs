//! Why a posterior file could not be written or read.

use crate::checkpoint::CheckpointProblem;
use crate::models::ModelError;
use crate::posterior::ConvertError;

/// Why a posterior file could not be written or read. A file that is there already stays as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file system refused.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The file is past what is read into memory.
    #[error(
        "the file is {bytes} bytes, but at most {limit} are read: it is no posterior, or of too large a network"
    )]
    TooLarge {
        /// Its bytes.
        bytes: u64,
        /// The most that is read.
        limit: u64,
    },
    /// Not a safetensors file, or a truncated one.
    #[error("this is not a posterior file, or it is cut short: {0}")]
    Format(String),
    /// A safetensors file without our header.
    #[error(
        "this safetensors file holds no posterior; if it is a checkpoint, give it as weights instead"
    )]
    NoPosterior,
    /// Written by a later version of this library.
    #[error(
        "the file has version {found}, and this program reads up to {known}; update the program"
    )]
    Newer {
        /// Version of the file.
        found: u32,
        /// Version that we read.
        known: u32,
    },
    /// Written in a way that this library reads no longer.
    #[error(
        "the file has version {found}, and this program reads from {oldest} on; make the posterior again, or open it \
         with an earlier version of the program"
    )]
    Older {
        /// Version of the file.
        found: u32,
        /// The first version that we read.
        oldest: u32,
    },
    /// The header does not say what it must.
    #[error("the header of the file is damaged: {0}")]
    Header(String),
    /// Something in the file was changed after it was written.
    #[error("the file is damaged: its checksum is {found}, and should be {expected}")]
    Checksum {
        /// What the content gives.
        found: String,
        /// What the file says.
        expected: String,
    },
    /// The network is one that this library cannot build by itself.
    #[error(
        "the file holds a posterior for a network of your own; build it and call `into_bayes_of`"
    )]
    OwnNetwork,
    /// The tensors are not those of the network.
    #[error("the file does not fit the network: {0}")]
    Tensors(String),
    /// The network cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The posterior cannot be attached.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The device failed.
    #[error("reading from the device failed: {0}")]
    Device(String),
}

impl FileError {
    pub(crate) fn of_format(error: safetensors::SafeTensorError) -> Self {
        Self::Format(error.to_string())
    }
}

impl From<CheckpointProblem> for FileError {
    fn from(problem: CheckpointProblem) -> Self {
        Self::Format(problem.to_string())
    }
}
