//! What a run would find: its files are opened and looked at, and its memory and time are estimated.

use super::{
    platform::{self, Computer, MOST_WEIGHTS, OwnPace},
    shown,
};
use crate::outcome::{self, Preflight};
use anyhow::Result;
use bayesadapter::{
    checkpoint::{Checkpoint, LoadAccount, LoadOptions},
    data::{Picture, Split},
    models::{Architecture, LoadError, ModelError, Network},
    posterior::{IntoBayes, Inventory},
    session::{self, Job, Method, RunSettings},
};
use burn::{module::Module, tensor::Device};
use std::path::Path;

/// Pictures that are shown of a data set.
const SHOWN: usize = 24;

/// What the files of a run are.
#[derive(Clone)]
pub struct Survey {
    /// What was looked at.
    pub settings: RunSettings,
    pub data: Result<DataView, String>,
    /// Number of pictures of another kind, if there are to be any.
    pub strangers: Option<Result<usize, String>>,
    /// What becomes of the weights, if there are any.
    pub weights: Option<Weights>,
    /// The parameters that can have a posterior.
    pub parameters: Result<Vec<Parameter>, String>,
}

/// A data set in a few numbers and pictures.
#[derive(Clone)]
pub struct DataView {
    pub train: usize,
    pub validation: usize,
    pub test: usize,
    /// Name and number of training pictures of each class.
    pub classes: Vec<(String, usize)>,
    /// Some of the training pictures, with their classes.
    pub pictures: Vec<(String, Picture)>,
    /// Why one of them cannot be shown.
    pub broken: Option<String>,
}

/// What becomes of weights.
#[derive(Clone)]
pub enum Weights {
    Fit(LoadAccount),
    Misfit(LoadAccount),
    Unreadable(String),
}

/// A parameter that can have a posterior.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub path: String,
    /// Whether it is more than a vector, as weights of layers are.
    pub matrix: bool,
    /// Whether the settings choose it.
    pub chosen: bool,
}

/// Memory and time of a run.
#[derive(Clone)]
pub struct Estimated {
    /// What they are of.
    pub settings: RunSettings,
    /// The device's name and what was found.
    pub found: Result<(String, Preflight), String>,
}

/// Looks at the files that settings name.
pub fn survey(settings: RunSettings) -> Survey {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let data = data_view(&settings);
    let classes = data.as_ref().ok().map(|data| data.classes.len());
    let network = network(&settings, classes);
    Survey {
        strangers: settings.data.out_of_distribution.as_ref().map(|path| {
            let data = session::open_any(path, Split::Test);
            data.map(|data| data.len()).map_err(|error| said(&error))
        }),
        weights: settings.model.weights.as_ref().map(|path| match &network {
            Ok((architecture, _)) => weights(path, architecture, &settings),
            Err(error) => Weights::Unreadable(error.clone()),
        }),
        parameters: network.map(|(_, network)| parameters(network, &settings)),
        data,
        settings,
    }
}

fn data_view(settings: &RunSettings) -> Result<DataView, String> {
    let splits = settings.data.open(settings.seed);
    let splits = splits.map_err(|error| error.to_string())?;
    let (train, names) = (&splits.train, splits.train.class_names());
    let mut counts = vec![0; names.len()];
    for at in 0..train.len() {
        if let Some(count) = counts.get_mut(train.label(at) as usize) {
            *count += 1;
        }
    }
    let mut view = DataView {
        train: train.len(),
        validation: splits.validation.as_ref().map_or(0, |images| images.len()),
        test: splits.test.len(),
        classes: names.iter().cloned().zip(counts).collect(),
        pictures: Vec::new(),
        broken: None,
    };
    let shown = SHOWN.min(train.len());
    for at in (0..shown).map(|place| place * train.len() / shown) {
        match train.picture(at) {
            Ok(picture) => {
                let class = names.get(train.label(at) as usize);
                let class = class.cloned().unwrap_or_default();
                let picture = picture.within(shown::AMONG_OTHERS);
                view.pictures.push((class, picture));
            }
            Err(error) => view.broken = Some(error.to_string()),
        }
    }
    Ok(view)
}

/// The network with random weights, for the classes of the data where they are known.
fn network(
    settings: &RunSettings,
    classes: Option<usize>,
) -> Result<(Architecture, Network), String> {
    let made = || {
        let mut architecture: Architecture = settings.model.architecture.parse()?;
        if let Some(classes) = classes {
            architecture = architecture.with_classes(classes);
        }
        let network = architecture.init(&Device::flex().autodiff())?;
        Ok((architecture, network))
    };
    let made = made().map_err(|error: ModelError| error.to_string())?;
    // They are made when they are first looked at.
    match made.1.num_params() {
        weights if weights > MOST_WEIGHTS => Err(format!(
            "{} has {weights} weights, more than there is memory for here ({MOST_WEIGHTS} at most); choose a smaller \
             network",
            settings.model.architecture
        )),
        _ => Ok(made),
    }
}

fn weights(path: &str, architecture: &Architecture, settings: &RunSettings) -> Weights {
    let checkpoint = match Checkpoint::open(Path::new(path)) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return Weights::Unreadable(error.to_string()),
    };
    let options = LoadOptions {
        replace_head: settings.model.replace_head,
        ..LoadOptions::default()
    };
    match architecture.load(&checkpoint, &options, &Device::flex()) {
        Ok((_, account)) => Weights::Fit(account),
        Err(LoadError::Checkpoint(error)) => match error.account() {
            Some(account) => Weights::Misfit(account.clone()),
            None => Weights::Unreadable(error.to_string()),
        },
        Err(error) => Weights::Unreadable(error.to_string()),
    }
}

/// What a Gaussian could be put on, and whether the settings choose it.
fn parameters(network: Network, settings: &RunSettings) -> Vec<Parameter> {
    let inventory = Inventory::of(&network);
    let trained = inventory.entries.into_iter().filter(|entry| entry.trained);
    let trained = trained.map(|entry| (entry.path, entry.shape.len() >= 2));
    let trained: Vec<(String, bool)> = trained.collect();
    let mut posterior = settings.posterior.clone();
    posterior.method = Method::Mfg;
    let bayes = network.into_bayes(posterior.posterior(1, settings.training.lambda, 0));
    // Settings that choose nothing are refused.
    let chosen = bayes.map(|bayes| bayes.account().converted.clone());
    let chosen = chosen.unwrap_or_default();
    let is_chosen = |path: &str| chosen.iter().any(|one| one.path == path);
    let parameter = |(path, matrix): (String, bool)| Parameter {
        chosen: is_chosen(&path),
        path,
        matrix,
    };
    trained.into_iter().map(parameter).collect()
}

/// Estimates memory and time of a run, as `--dry-run` does.
pub async fn estimate(settings: RunSettings, computer: &Computer) -> Estimated {
    let found = async || -> Result<(String, Preflight)> {
        let named = computer.device(settings.device).await?;
        platform::give_way(&named);
        let job = Job::open(settings.clone(), &named.device)?;
        Ok((named.name, outcome::preflight(&job, &OwnPace).await?))
    };
    Estimated {
        found: found().await.map_err(|error| format!("{error:#}")),
        settings,
    }
}
