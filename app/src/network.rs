//! Opening what a user names.

use crate::error::BadInput;
use anyhow::Result;
use bayesadapter::{
    data::Preparation,
    file::{FileError, Header, PosteriorFile},
    models::Network,
    posterior::{Bayes, Posterior},
    session::Method,
};
use burn::tensor::Device;
use std::path::Path;

/// A posterior file, opened.
pub struct Opened {
    pub bayes: Bayes<Network>,
    pub header: Header,
    pub method: Method,
}

/// Opens a posterior file on a device.
pub fn open(path: &Path, device: &Device) -> Result<Opened> {
    let refuse = |error: FileError| BadInput(format!("{}: {error}", path.display()));
    let file = PosteriorFile::open(path).map_err(|error| match error {
        // The file's name is in the message already.
        FileError::Io { .. } => BadInput(error.to_string()),
        error => refuse(error),
    })?;
    let header = file.header().clone();
    let method = match file.posterior() {
        Posterior::MeanField(_) => Method::Mfg,
        Posterior::LowRankEnsemble(_) => Method::Pse,
        Posterior::Point(_) => Method::Map,
    };
    let bayes = file.into_network(device).map_err(refuse)?;
    Ok(Opened {
        bayes,
        header,
        method,
    })
}

impl Opened {
    /// What is done to pictures before the network sees them.
    pub fn preparation(&self) -> Result<Preparation> {
        match (self.header.input_shape, &self.header.normalisation) {
            (Some(shape), Some(normalisation)) => {
                Ok(Preparation::new(shape, normalisation.clone()))
            }
            _ => {
                let text =
                    "the file does not say what its pictures look like (shape and normalisation)";
                Err(BadInput(text.to_owned()).into())
            }
        }
    }

    /// The name of a class, or its number.
    pub fn class_name(&self, class: usize) -> String {
        let name = self.header.class_names.get(class);
        name.cloned().unwrap_or_else(|| class.to_string())
    }
}
