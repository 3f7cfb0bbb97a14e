//! What can be wrong with a checkpoint.

use super::{DType, LoadAccount};
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a checkpoint was refused, and in which file.
#[derive(Debug, thiserror::Error)]
pub struct CheckpointError {
    /// The file, unless the checkpoint came as bytes.
    pub file: Option<PathBuf>,
    /// What is wrong with it.
    pub problem: CheckpointProblem,
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        self.problem.fmt(f)
    }
}

impl CheckpointError {
    pub(crate) fn in_file(file: Option<&Path>, problem: CheckpointProblem) -> Self {
        Self {
            file: file.map(Path::to_path_buf),
            problem,
        }
    }

    /// The account of a load that did not fit, if that is what went wrong.
    pub fn account(&self) -> Option<&LoadAccount> {
        match &self.problem {
            CheckpointProblem::Mismatch { account, .. } => Some(account),
            _ => None,
        }
    }
}

/// What is wrong with a checkpoint. Nothing of it has been used when one is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// The file could not be read at all.
    #[error("cannot be read: {0}")]
    Read(#[source] std::io::Error),
    /// The weights could not be had from their device.
    #[error("cannot be made: {0}")]
    Write(String),
    /// The file is past what is read into memory.
    #[error("{what} is {bytes} bytes, but at most {limit} are read; {advice}")]
    TooLarge {
        /// What it is about.
        what: &'static str,
        /// Its bytes.
        bytes: u64,
        /// The most that is read.
        limit: u64,
        /// What to do.
        advice: &'static str,
    },
    /// None of the formats.
    #[error(
        "{found}; a PyTorch (.pt, .pth, .th), safetensors or Burn (.bpk) checkpoint is needed here"
    )]
    UnknownFormat {
        /// What it looks like.
        found: String,
    },
    /// A format that is known, and not read.
    #[error("{found}, which is not read; {advice}")]
    Unsupported {
        /// What it looks like.
        found: String,
        /// What to do.
        advice: &'static str,
    },
    /// Something ends before its time.
    #[error(
        "{what} needs {needed} bytes, but only {present} are left: the file is cut short or altered; fetch it again"
    )]
    Truncated {
        /// What it is about.
        what: String,
        /// Bytes that it claims to have.
        needed: u64,
        /// Bytes that are left.
        present: u64,
    },
    /// Something contradicts itself.
    #[error("{what}: the file is damaged or altered; fetch it again")]
    Corrupt {
        /// What it is about.
        what: String,
    },
    /// A pickle names a Python function or class that weights do not need. It has not been called:
    /// nothing in a pickle ever is.
    #[error(
        "its pickle asks for `{global}`, which weights do not need, so the file is refused; if you trust its origin, \
         save the weights alone in Python: torch.save(model.state_dict(), ..)"
    )]
    ForbiddenGlobal {
        /// Its name in Python.
        global: String,
    },
    /// One tensor cannot be what the file says it is.
    #[error("tensor `{tensor}` {reason}")]
    Tensor {
        /// Its name.
        tensor: String,
        /// What is wrong, completing a sentence that begins with the name.
        reason: String,
    },
    /// No tensor of this name.
    #[error("there is no tensor `{tensor}`{}", suggestion(.nearest))]
    NoSuchTensor {
        /// Its name.
        tensor: String,
        /// The most similar name that there is.
        nearest: Option<String>,
    },
    /// The values have no meaning as f32.
    #[error("tensor `{tensor}` holds {dtype} values, which are not read; save it as float32")]
    NotNumbers {
        /// Its name.
        tensor: String,
        /// Their type.
        dtype: DType,
    },
    /// The tensors do not fit the module.
    #[error("the checkpoint does not fit the network: {advice}\n{account}")]
    Mismatch {
        /// What fits and what does not.
        account: Box<LoadAccount>,
        /// What to do.
        advice: String,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    match nearest {
        Some(name) => format!("; the nearest name is `{name}`"),
        None => String::new(),
    }
}

pub(super) type Outcome<T> = Result<T, CheckpointProblem>;

pub(super) fn corrupt(what: impl Into<String>) -> CheckpointProblem {
    CheckpointProblem::Corrupt { what: what.into() }
}
