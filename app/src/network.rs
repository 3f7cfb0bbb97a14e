//! Opening what a user names.

use crate::error::BadInput;
use anyhow::Result;
use bayesadapter::{
    data::Preparation,
    evaluate::PredictionSets,
    file::{FileError, Header, PosteriorFile},
    models::{ModelConfig, Network},
    posterior::{Bayes, Posterior},
    session::{Method, RunSettings},
};
use burn::tensor::Device;
use std::path::Path;

/// A posterior file, opened.
pub struct Opened {
    pub bayes: Bayes<Network>,
    pub header: Header,
    pub method: Method,
    /// Where the network is.
    pub device: Device,
}

/// Reads a posterior file, and builds nothing of it.
pub fn read(path: &Path) -> Result<PosteriorFile> {
    let file = PosteriorFile::open(path).map_err(|error| match error {
        // The file's name is in the message already.
        FileError::Io { .. } => BadInput(error.to_string()),
        error => refusal(path, &error),
    })?;
    Ok(file)
}

fn refusal(path: &Path, error: &FileError) -> BadInput {
    BadInput(format!("{}: {error}", path.display()))
}

/// Opens a posterior file on a device.
pub fn open(path: &Path, device: &Device) -> Result<Opened> {
    let file = read(path)?;
    let header = file.header().clone();
    let method = match file.posterior() {
        Posterior::MeanField(_) => Method::Mfg,
        Posterior::LowRankEnsemble(_) => Method::Pse,
        Posterior::Point(_) => Method::Map,
    };
    let bayes = file
        .into_network(device)
        .map_err(|error| refusal(path, &error))?;
    Ok(Opened {
        bayes,
        header,
        method,
        device: device.clone(),
    })
}

impl Opened {
    /// The network, the posterior and its prior in one sentence.
    pub fn about(&self) -> String {
        let (account, prior) = (self.bayes.account(), self.bayes.posterior().prior());
        let name = self.header.architecture.as_ref().map(ModelConfig::name);
        format!(
            "{} posterior of {}: {} parameters for {} weights, prior lambda {} for {} examples",
            self.method,
            name.as_deref().unwrap_or("a network of its own"),
            account.parameters_after,
            account.parameters_before,
            prior.lambda,
            prior.examples
        )
    }

    /// What the network is called beside others.
    pub fn name(&self) -> String {
        match self.run() {
            Ok(Some(run)) => run.result_name(),
            _ => self.method.to_string(),
        }
    }

    /// The settings of the run that the posterior is of, if it is of one.
    pub fn run(&self) -> Result<Option<RunSettings>> {
        let run = &self.header.run;
        if run.is_empty() {
            return Ok(None);
        }
        let settings = serde_json::from_value(run.clone().into());
        settings.map(Some).map_err(|error| {
            BadInput(format!(
                "the file tells of its run what cannot be read: {error}"
            ))
            .into()
        })
    }

    /// The coverage of prediction sets, and the names of the classes in that of the first image.
    pub fn prediction_set(&self, sets: &PredictionSets) -> (f64, Vec<String>) {
        let classes = sets.classes.first().into_iter().flatten();
        let names = classes.map(|&class| self.class_name(class as usize));
        (sets.coverage, names.collect())
    }

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
