//! What can be wrong with the description of a network.

use super::architecture::KNOWN_NAMES;
use crate::checkpoint::CheckpointError;

/// Why a network was refused. Nothing has been allocated when one is returned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The family has no network of this depth.
    #[error("{family}: a depth of {depth} is impossible; it must be {rule}")]
    Depth {
        /// The family.
        family: &'static str,
        /// What it was.
        depth: usize,
        /// What it must be.
        rule: &'static str,
    },
    /// A number of classes, channels or pixels that no network can have.
    #[error("{family}: {what} must be {least} to {most}, not {found}")]
    Size {
        /// The family.
        family: &'static str,
        /// What is counted.
        what: &'static str,
        /// What it was.
        found: usize,
        /// The least that it may be.
        least: usize,
        /// The most that it may be.
        most: usize,
    },
    /// A width multiplier that leaves no channels, or no end of them.
    #[error(
        "{family}: the width multiplier must be above 0 and at most {}, not {found}",
        MOST_MULTIPLIER
    )]
    Multiplier {
        /// The family.
        family: &'static str,
        /// What it was.
        found: f64,
    },
    /// Not a probability with which something is kept.
    #[error("{family}: the dropout probability must be at least 0 and below 1, not {found}")]
    Dropout {
        /// The family.
        family: &'static str,
        /// What it was.
        found: f64,
    },
    /// Neither the paper nor the family's own source has a place for dropout in it.
    #[error("{family} has no place for dropout")]
    NoDropout {
        /// The family.
        family: &'static str,
    },
    /// No architecture is called that.
    #[error("no architecture is called \"{name}\"; there are {}", KNOWN_NAMES.join(", "))]
    UnknownName {
        /// What was asked for.
        name: String,
    },
}

// Beyond every network in use, and far from where products overflow, also with 32 bits.
const MOST_SIZE: usize = 1 << 16;
const MOST_COUNT: usize = 1 << 24;
const MOST_MULTIPLIER: f64 = 64.0;
pub(super) const MOST_DEPTH: usize = 2_000;

/// The checks that every family makes, in its name.
pub(super) struct Checks {
    pub family: &'static str,
}

impl Checks {
    /// Channels, features or pixels along one side.
    pub fn size(&self, what: &'static str, found: usize) -> Result<(), ModelError> {
        self.between(what, found, MOST_SIZE)
    }

    /// Classes, or inputs of a linear layer.
    pub fn count(&self, what: &'static str, found: usize) -> Result<(), ModelError> {
        self.between(what, found, MOST_COUNT)
    }

    pub fn multiplier(&self, found: f64) -> Result<(), ModelError> {
        if found > 0.0 && found <= MOST_MULTIPLIER {
            Ok(())
        } else {
            let family = self.family;
            Err(ModelError::Multiplier { family, found })
        }
    }

    pub fn dropout(&self, probability: Option<f64>) -> Result<(), ModelError> {
        match probability {
            Some(found) if !(0.0..1.0).contains(&found) => {
                let family = self.family;
                Err(ModelError::Dropout { family, found })
            }
            _ => Ok(()),
        }
    }

    fn between(&self, what: &'static str, found: usize, most: usize) -> Result<(), ModelError> {
        if (1..=most).contains(&found) {
            Ok(())
        } else {
            Err(ModelError::Size {
                family: self.family,
                what,
                found,
                least: 1,
                most,
            })
        }
    }
}

/// Why a network with weights was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The description makes no network.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The weights do not fit.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}
