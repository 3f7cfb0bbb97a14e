//! What a posterior file says about itself.

use super::{FileError, frozen};
use crate::{
    evaluate::Calibration,
    models::{Architecture, ModelConfig, Normalisation},
    posterior::{Bayes, LowRankEnsemble, MeanField, Posterior, Select},
};
use burn::module::Module;
use serde::{Deserialize, Serialize};

/// The version of the file format that this library writes, and the latest that it reads.
pub const VERSION: u32 = 2;

/// The first version of the file format that this library reads.
pub const OLDEST_VERSION: u32 = 1;

/// What one needs to know to use a posterior, beside its tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The network, or nothing if it is the user's own.
    pub architecture: Option<Architecture>,
    /// `[channels, height, width]` of the images that the network was trained on.
    pub input_shape: Option<[usize; 3]>,
    /// What is done to pixels before the network sees them.
    pub normalisation: Option<Normalisation>,
    /// Names of the classes, if they have any.
    #[serde(default)]
    pub class_names: Vec<String>,
    /// Temperature and prediction sets that were fitted on a validation set, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Settings of the run that made the posterior.
    #[serde(default)]
    pub run: serde_json::Map<String, serde_json::Value>,
}

/// The header in the file.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    version: u32,
    pub posterior: Posterior,
    /// Paths of the parameters that were frozen before the conversion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<String>,
    #[serde(flatten)]
    pub header: Header,
}

/// The part of the header that never changes its meaning.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl Header {
    /// The header of a network of this library, with the input that the network is made for.
    pub fn of(architecture: Architecture) -> Self {
        Self {
            input_shape: Some(architecture.input_shape()),
            normalisation: Some(architecture.normalisation()),
            architecture: Some(architecture),
            class_names: Vec::new(),
            calibration: None,
            run: serde_json::Map::new(),
        }
    }

    /// The header of a network of one's own.
    pub fn of_own_network() -> Self {
        Self {
            architecture: None,
            input_shape: None,
            normalisation: None,
            class_names: Vec::new(),
            calibration: None,
            run: serde_json::Map::new(),
        }
    }

    pub(super) fn to_json<M: Module>(&self, bayes: &Bayes<M>) -> Result<String, FileError> {
        let stored = Stored {
            version: VERSION,
            posterior: without_function(bayes),
            frozen: frozen::paths(bayes),
            header: self.clone(),
        };
        serde_json::to_string(&stored).map_err(|error| FileError::Header(error.to_string()))
    }
}

impl Stored {
    pub(super) fn from_json(json: &str) -> Result<Self, FileError> {
        let damaged = |error: serde_json::Error| FileError::Header(error.to_string());
        // First the version: the rest of a later header may be anything.
        let Version { version } = serde_json::from_str(json).map_err(damaged)?;
        if version > VERSION {
            return Err(FileError::Newer {
                found: version,
                known: VERSION,
            });
        }
        if version < OLDEST_VERSION {
            return Err(FileError::Older {
                found: version,
                oldest: OLDEST_VERSION,
            });
        }
        serde_json::from_str(json).map_err(damaged)
    }
}

/// The posterior's settings with a selection by function replaced by what it selected.
fn without_function<M: Module>(bayes: &Bayes<M>) -> Posterior {
    let posterior = bayes.posterior().clone();
    let Select::Where(_) = posterior.select() else {
        return posterior;
    };
    let converted = bayes.account().converted.iter();
    let select = Select::paths(converted.map(|one| one.path.clone()));
    match posterior {
        Posterior::MeanField(posterior) => MeanField {
            select,
            ..posterior
        }
        .into(),
        Posterior::LowRankEnsemble(posterior) => LowRankEnsemble {
            select,
            ..posterior
        }
        .into(),
        point @ Posterior::Point(_) => point,
    }
}
