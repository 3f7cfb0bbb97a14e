//! Everything that a run is told, in one struct: flags, settings panel and run file are three views of it.

use super::{DeviceChoice, SessionError, Splits, open_splits};
use crate::{
    data::{Augmentation, ValidationSplit},
    evaluate::COVERAGE,
    pass::Estimator,
    posterior::{
        InitialStd, LowRankEnsemble, LowRankForm, MeanField, Point, Posterior, PriorMean, Select,
    },
    train::{FineTuning, RunningStatistics, UncertaintyRegularisation},
};
use serde::{Deserialize, Serialize};
use std::fmt;

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
    /// Random seed: order of the data, augmentation, noise.
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
    /// Which images settings are chosen and predictions are calibrated on; none of them is learnt from or in the test
    /// set. Files that do not say have none, as those of version 0.1.
    #[serde(default = "without_validation")]
    pub validation: ValidationSplit,
    /// Random seed of every split. Files that do not say have that of the run, as those of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_seed: Option<u64>,
    /// OOD images for the evaluation, on which the network should be unsure.
    pub out_of_distribution: Option<String>,
    /// OOD images that it learns to be unsure of: names of generated kinds, and paths of data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ood_train: Vec<String>,
    /// What is done to images in training. Without it, [what suits them](Augmentation::suited_to); a run writes down
    /// what that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub augmentation: Option<Augmentation>,
    /// Pass over pictures that cannot be read, instead of ending the run.
    pub skip_broken: bool,
    /// Threads that read pictures ahead.
    pub workers: usize,
}

impl Default for DataSettings {
    fn default() -> Self {
        Self {
            path: "digits".to_owned(),
            validation: ValidationSplit::Auto,
            split_seed: Some(0),
            out_of_distribution: None,
            ood_train: Vec::new(),
            augmentation: None,
            skip_broken: false,
            workers: 1,
        }
    }
}

fn without_validation() -> ValidationSplit {
    ValidationSplit::None
}

impl DataSettings {
    /// Training, validation and test set, for a run with this random seed.
    ///
    /// # Errors
    ///
    /// Data that cannot be opened, and a validation set that they cannot give.
    pub fn open(&self, run_seed: u64) -> Result<Splits, SessionError> {
        let seed = self.split_seed.unwrap_or(run_seed);
        open_splits(&self.path, &self.validation, seed)
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
    /// Standard deviation of the weights at the start as a fraction of the weights: of an ensemble, that of the product
    /// of its factors; of a Gaussian, a fraction of the root mean square of each layer. Without it, a run takes
    /// [what suits the network](Self::initial_std_for), and writes down what that was; that of the family where
    /// there are no validation images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_std: Option<f32>,
    /// Instead, for a Gaussian: range of the logarithms of the standard deviations at the start, the same for all
    /// layers, as in the paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_log_std: Option<[f32; 2]>,
    /// Where a Gaussian's prior is centred.
    pub prior: PriorMean,
    /// Which weights get a posterior.
    pub layers: Select,
}

impl Default for PosteriorSettings {
    fn default() -> Self {
        let ensemble = LowRankEnsemble::fine_tune(1);
        Self {
            method: Method::default(),
            components: ensemble.components,
            rank: ensemble.rank,
            form: ensemble.form,
            initial_std: None,
            initial_log_std: None,
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
                posterior.initial_std = match (self.initial_log_std, self.initial_std) {
                    (Some(range), _) => InitialStd::LogUniform(range),
                    (None, Some(fraction)) => InitialStd::Relative(fraction),
                    (None, None) => posterior.initial_std,
                };
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
                posterior.initial_std = self.initial_std.unwrap_or(posterior.initial_std);
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
    /// OOD images beside each mini-batch, where there are some; a quarter of the mini-batch unless told otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ood_batch: Option<usize>,
    /// How it learns to be unsure of OOD images, where it has some.
    pub regularisation: UncertaintyRegularisation,
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
            ood_batch: None,
            regularisation: UncertaintyRegularisation::default(),
        }
    }
}

impl TrainingSettings {
    /// Examples in a mini-batch that suit so many training images: 128, and 32 where that would make few steps of an
    /// epoch.
    pub fn usual_batch(examples: usize) -> usize {
        if examples < 4096 { 32 } else { 128 }
    }

    /// Epochs that suit so many training images in steps of `examples_per_step`: 12, and more where these would be fewer
    /// than 400 steps, in which a new last layer or a posterior cannot be learnt.
    ///
    /// ```
    /// use bayesadapter::session::TrainingSettings;
    ///
    /// assert_eq!(TrainingSettings::usual_epochs(50_000, 128), 12);
    /// // 200 photographs are 7 steps of 32.
    /// assert_eq!(TrainingSettings::usual_epochs(200, 32), 58);
    /// ```
    pub fn usual_epochs(examples: usize, examples_per_step: usize) -> u32 {
        const STEPS: usize = 400;
        let steps_per_epoch = examples.div_ceil(examples_per_step.max(1)).max(1);
        let enough = STEPS.div_ceil(steps_per_epoch) as u32;
        Self::default().epochs.max(enough)
    }
}

/// How the result is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvaluationSettings {
    /// Draws of the posterior.
    pub draws: u32,
    /// Images at once.
    pub batch: usize,
    /// Share of images whose prediction set shall hold their class.
    pub coverage: f64,
}

impl Default for EvaluationSettings {
    fn default() -> Self {
        Self {
            draws: 20,
            batch: 128,
            coverage: COVERAGE,
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
        if !(self.coverage > 0.0 && self.coverage < 1.0) {
            return Err(SettingsError(format!(
                "evaluation.coverage is {}, and must be between 0 and 1, such as 0.9",
                self.coverage
            )));
        }
        Ok(())
    }
}

/// Settings that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

impl SettingsError {
    pub(super) fn new(problem: String) -> Self {
        Self(problem)
    }
}

impl RunSettings {
    /// Reads a run file. What it leaves out has its default.
    ///
    /// # Errors
    ///
    /// Text that is not TOML, names that there are not, and values of the wrong kind.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        toml::from_str(text).map_err(|error| SettingsError(error.to_string()))
    }

    /// What the network that comes out of the run is called beside others.
    pub fn result_name(&self) -> String {
        match (self.posterior.method, &self.model.weights) {
            (Method::Map, Some(_)) => "MAP fine-tuned".to_owned(),
            (method, _) => method.to_string(),
        }
    }

    /// The run file, with every setting in it.
    ///
    /// # Errors
    ///
    /// A selection by a function, which no file can hold.
    pub fn to_toml(&self) -> Result<String, SettingsError> {
        toml::to_string_pretty(self).map_err(|error| SettingsError(error.to_string()))
    }
}
