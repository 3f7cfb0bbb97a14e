//! Everything that a run is told, in one struct: flags, settings panel and run file are three views of it.

use crate::{
    data::Augmentation,
    pass::Estimator,
    posterior::{LowRankEnsemble, LowRankForm, MeanField, Point, Posterior, PriorMean, Select},
    train::{FineTuning, RunningStatistics},
};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Everything that a run is told.
///
/// ```
/// use bayesadapter::session::{Method, RunSettings};
///
/// let settings: RunSettings = RunSettings::from_toml("model.architecture = 'resnet20-cifar'")?;
/// assert_eq!(settings.posterior.method, Method::Pse);
/// assert!(RunSettings::from_toml("epoch = 3").is_err()); // it is training.epochs
/// # Ok::<(), bayesadapter::session::SettingsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// The network and where its weights come from.
    pub model: ModelSettings,
    /// What it learns from.
    pub data: DataSettings,
    /// What is attached to its weights.
    pub posterior: PosteriorSettings,
    /// How it learns.
    pub training: TrainingSettings,
    /// How the result is judged.
    pub evaluation: EvaluationSettings,
    /// `auto`, `cpu`, `gpu` or `gpu:N`.
    pub device: DeviceChoice,
    /// Start of all chance: order of the data, augmentation, noise.
    pub seed: u64,
}

/// The network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// A name of [`KNOWN_NAMES`](crate::models::KNOWN_NAMES).
    pub architecture: String,
    /// A checkpoint with pre-trained weights; random ones without it.
    pub weights: Option<String>,
    /// Replace the last layer if the checkpoint has another number of classes.
    pub replace_head: bool,
    /// Dropout at the places of the paper, if not 0.
    pub dropout: f64,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            architecture: "digits-cnn".to_owned(),
            weights: None,
            replace_head: false,
            dropout: 0.0,
        }
    }
}

/// What the network learns from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataSettings {
    /// A folder or file of pictures, or `digits` or `few-digits` for the handwritten digits that come with the
    /// library.
    pub path: String,
    /// Pictures of another kind, on which the network should be unsure.
    pub out_of_distribution: Option<String>,
    /// What is done to pictures in training.
    pub augmentation: Augmentation,
    /// Pass over pictures that cannot be read, instead of ending the run.
    pub skip_broken: bool,
    /// Threads that read pictures ahead.
    pub workers: usize,
}

impl Default for DataSettings {
    fn default() -> Self {
        Self {
            path: "digits".to_owned(),
            out_of_distribution: None,
            augmentation: Augmentation::default(),
            skip_broken: false,
            workers: 1,
        }
    }
}

/// A family of posteriors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Ordinary training: point weights.
    Map,
    /// A mean-field Gaussian.
    Mfg,
    /// A parameter-sharing ensemble.
    #[default]
    Pse,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Map => "MAP",
            Self::Mfg => "MFG",
            Self::Pse => "PSE",
        })
    }
}

/// What is attached to the weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PosteriorSettings {
    /// The family.
    pub method: Method,
    /// Components of an ensemble.
    pub components: usize,
    /// Rank of an ensemble's factors.
    pub rank: usize,
    /// Which inputs of a kernel have a factor of their own.
    pub form: LowRankForm,
    /// Standard deviation of an ensemble's factors at the start.
    pub initial_std: f32,
    /// Range of the logarithms of a Gaussian's standard deviations at the start.
    pub initial_log_std: [f32; 2],
    /// Where a Gaussian's prior is centred.
    pub prior: PriorMean,
    /// Which weights get a posterior.
    pub layers: Select,
}

impl Default for PosteriorSettings {
    fn default() -> Self {
        let (gaussian, ensemble) = (MeanField::fine_tune(1), LowRankEnsemble::fine_tune(1));
        Self {
            method: Method::default(),
            components: ensemble.components,
            rank: ensemble.rank,
            form: ensemble.form,
            initial_std: ensemble.initial_std,
            initial_log_std: gaussian.initial_log_std,
            prior: PriorMean::Zero,
            layers: Select::All,
        }
    }
}

impl PosteriorSettings {
    /// The posterior for `examples` training examples.
    pub fn posterior(&self, examples: usize, lambda: f64, seed: u64) -> Posterior {
        match self.method {
            Method::Map => Point::train(examples).with_lambda(lambda).into(),
            Method::Mfg => {
                let mut posterior = MeanField::fine_tune(examples)
                    .with_lambda(lambda)
                    .with_select(self.layers.clone())
                    .with_seed(seed);
                posterior.initial_log_std = self.initial_log_std;
                posterior.prior.mean = self.prior;
                posterior.into()
            }
            Method::Pse => {
                let mut posterior = LowRankEnsemble::fine_tune(examples)
                    .with_lambda(lambda)
                    .with_components(self.components)
                    .with_rank(self.rank)
                    .with_form(self.form)
                    .with_select(self.layers.clone())
                    .with_seed(seed);
                posterior.initial_std = self.initial_std;
                posterior.into()
            }
        }
    }
}

/// How the network learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingSettings {
    /// Passes over the data.
    pub epochs: u32,
    /// Examples in a mini-batch.
    pub batch: usize,
    /// Mini-batches whose gradients make one step.
    pub accumulate: usize,
    /// The weight decay of the pre-training, which is the prior.
    pub lambda: f64,
    /// How the likelihood is estimated.
    pub estimator: Estimator,
    /// Bound on the norm of all gradients together.
    pub clip_norm: Option<f64>,
    /// What becomes of the running statistics of normalisation layers.
    pub running_statistics: RunningStatistics,
    /// Steps from one saved state to the next; one is saved after every epoch too.
    pub checkpoint_steps: usize,
    /// Learning rates and momentum.
    pub rates: FineTuning,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self {
            epochs: 12,
            batch: 128,
            accumulate: 1,
            lambda: 1e-4,
            estimator: Estimator::Exemplar,
            clip_norm: None,
            running_statistics: RunningStatistics::Update,
            checkpoint_steps: 100,
            rates: FineTuning::default(),
        }
    }
}

/// How the result is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvaluationSettings {
    /// Draws of the posterior.
    pub draws: u32,
    /// Pictures at once.
    pub batch: usize,
}

impl Default for EvaluationSettings {
    fn default() -> Self {
        Self {
            draws: 20,
            batch: 128,
        }
    }
}

impl EvaluationSettings {
    /// Refuses settings out of range.
    pub(super) fn checked(&self) -> Result<(), SettingsError> {
        for (what, value, advice) in [
            ("draws", self.draws as usize, "20 is a good number"),
            ("batch", self.batch, "128 suits most devices"),
        ] {
            if value == 0 {
                let text = format!("evaluation.{what} is 0, and must be at least 1; {advice}");
                return Err(SettingsError(text));
            }
        }
        Ok(())
    }
}

/// What computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// A GPU if there is one, else the CPU; never a software adapter.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The adapter that the system prefers, a software one if there is no other.
    Gpu,
    /// The adapter of this number: discrete GPUs come first, then integrated, virtual and software ones.
    NthGpu(usize),
}

impl FromStr for DeviceChoice {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let number = |digits: &str| digits.parse().ok().map(Self::NthGpu);
        match text {
            "auto" => Some(Self::Auto),
            "cpu" => Some(Self::Cpu),
            "gpu" => Some(Self::Gpu),
            _ => text.strip_prefix("gpu:").and_then(number),
        }
        .ok_or_else(|| {
            SettingsError(format!(
                "no device is called \"{text}\"; there are auto, cpu, gpu and gpu:N"
            ))
        })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Gpu => f.write_str("gpu"),
            Self::NthGpu(number) => write!(f, "gpu:{number}"),
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = SettingsError;

    fn try_from(text: String) -> Result<Self, SettingsError> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> Self {
        choice.to_string()
    }
}

/// Settings that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

impl RunSettings {
    /// Reads a run file. What it leaves out has its default.
    ///
    /// # Errors
    ///
    /// Text that is not TOML, names that there are not, and values of the wrong kind.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        toml::from_str(text).map_err(|error| SettingsError(error.to_string()))
    }

    /// The run file, with every setting in it.
    ///
    /// # Errors
    ///
    /// A selection by a function, which no file can hold.
    pub fn to_toml(&self) -> Result<String, SettingsError> {
        toml::to_string_pretty(self).map_err(|error| SettingsError(error.to_string()))
    }

    /// The paper's settings for a data set: `paper-cifar10`, `paper-imagenet` or `paper-faces`.
    ///
    /// # Errors
    ///
    /// Another name.
    pub fn preset(name: &str) -> Result<Self, SettingsError> {
        let (architecture, epochs, lambda, augmentation) = match name {
            "paper-cifar10" => ("wrn-28-10", 12, 2e-4, Augmentation::cifar()),
            "paper-imagenet" => ("resnet50", 4, 1e-4, Augmentation::imagenet()),
            "paper-faces" => (
                "mobilenet_v2",
                4,
                5e-4,
                Augmentation {
                    flip: true,
                    ..Default::default()
                },
            ),
            _ => {
                let known = PRESETS.join(", ");
                return Err(SettingsError(format!(
                    "no preset is called \"{name}\"; there are {known}"
                )));
            }
        };
        let mut settings = Self::default();
        settings.model.architecture = architecture.to_owned();
        settings.training.epochs = epochs;
        settings.training.lambda = lambda;
        settings.data.augmentation = augmentation;
        Ok(settings)
    }
}

/// Names of [`RunSettings::preset`].
pub const PRESETS: &[&str] = &["paper-cifar10", "paper-imagenet", "paper-faces"];
