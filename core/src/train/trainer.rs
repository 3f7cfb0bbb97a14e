//! Steps of training on a network with posteriors, which can be saved and resumed between any two.

use super::{
    FineTuning, Position, RateError, Rates, StepScores, TrainState, sgd::Sgd, state, tally::Tally,
};
use crate::{
    file::{FileError, Header},
    ops::OpError,
    pass::{Estimator, Mode, Pass, PassError},
    posterior::{Bayes, Posterior, Spread},
    predict::Classifier,
    read,
};
use burn::{
    module::{Module, ModuleDisplay},
    nn::loss::CrossEntropyLossConfig,
    optim::{GradientsAccumulator, GradientsParams},
    tensor::{Device, Int, Tensor},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What becomes of the running statistics of normalisation layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunningStatistics {
    /// Layers normalise by the mini-batch, and the statistics follow, as in the paper's code.
    #[default]
    Update,
    /// Layers normalise by the statistics of the pre-training, which stay as they are.
    Freeze,
}

/// How to train.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainerSettings {
    /// Passes over the data.
    pub epochs: u32,
    /// Mini-batches of one pass.
    pub batches_per_epoch: usize,
    /// Mini-batches whose gradients make one step.
    pub accumulate: usize,
    /// How the likelihood is estimated. Point weights have nothing to estimate.
    pub estimator: Estimator,
    /// Learning rates and momentum.
    pub rates: FineTuning,
    /// Bound on the norm of all gradients together.
    pub clip_norm: Option<f64>,
    /// What becomes of running statistics.
    pub running_statistics: RunningStatistics,
    /// Start of the noise of dropout layers. Posteriors have their own.
    pub seed: u64,
}

/// Why a step failed. The network is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The forward or backward pass failed.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// The complexity loss cannot be computed.
    #[error(transparent)]
    Op(#[from] OpError),
    /// Learning rates that cannot be used.
    #[error(transparent)]
    Rates(#[from] RateError),
    /// Other settings that cannot be used.
    #[error("{what} is {value}, and must be {need}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// What it was.
        value: String,
        /// What it must be.
        need: &'static str,
    },
    /// A saved run does not fit.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A network in training.
///
/// ```
/// use bayesadapter::{models::Architecture, pass::Estimator, posterior::{IntoBayes, MeanField}};
/// use bayesadapter::train::{FineTuning, RunningStatistics, Trainer, TrainerSettings};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex().autodiff();
/// let network = "digits-cnn".parse::<Architecture>()?.init(&device)?;
/// let settings = TrainerSettings {
///     epochs: 1,
///     batches_per_epoch: 2,
///     accumulate: 1,
///     estimator: Estimator::Exemplar,
///     rates: FineTuning::default(),
///     clip_norm: None,
///     running_statistics: RunningStatistics::Update,
///     seed: 0,
/// };
/// let mut trainer = Trainer::new(network.into_bayes(MeanField::fine_tune(8))?, settings, &device)?;
/// while !trainer.is_finished() {
///     let images = Tensor::ones([4, 1, 8, 8], &device);
///     trainer.learn(images, Tensor::from_ints([3; 4], &device))?;
/// }
/// assert_eq!(trainer.position().step, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Trainer<M: Module> {
    bayes: Bayes<M>,
    sgd: Sgd,
    settings: TrainerSettings,
    position: Position,
    gradients: GradientsAccumulator<Bayes<M>>,
    tally: Tally,
    device: Device,
}

impl<M: Classifier<4> + ModuleDisplay> Trainer<M> {
    /// The start of a run on `device`, which has autodiff.
    ///
    /// # Errors
    ///
    /// Settings out of range.
    pub fn new(
        bayes: Bayes<M>,
        settings: TrainerSettings,
        device: &Device,
    ) -> Result<Self, TrainError> {
        settings.rates.checked()?;
        for (what, value) in [
            ("epochs", settings.epochs as usize),
            (
                "the number of batches in an epoch",
                settings.batches_per_epoch,
            ),
            ("accumulate", settings.accumulate),
        ] {
            if value == 0 {
                let (value, need) = (value.to_string(), "at least 1");
                return Err(TrainError::Setting { what, value, need });
            }
        }
        if let Some(norm) = settings.clip_norm
            && !(norm.is_finite() && norm > 0.0)
        {
            return Err(TrainError::Setting {
                what: "clip_norm",
                value: norm.to_string(),
                need: "a positive number",
            });
        }
        Ok(Self {
            bayes,
            sgd: Sgd::default(),
            settings,
            position: Position::default(),
            gradients: GradientsAccumulator::new(),
            tally: Tally::default(),
            device: device.clone(),
        })
    }

    /// Goes on with a saved run. `network` has the architecture; its weights are replaced.
    ///
    /// # Errors
    ///
    /// A run of another network, and settings out of range.
    pub fn resume(
        network: M,
        state: TrainState,
        settings: TrainerSettings,
        device: &Device,
    ) -> Result<Self, TrainError> {
        let velocities = state.velocities(device);
        let position = state.position;
        let bayes = state.posterior.into_bayes_of(network)?;
        Ok(Self {
            sgd: Sgd { velocities },
            position,
            ..Self::new(bayes, settings, device)?
        })
    }

    /// Learns from one mini-batch: images `[batch, channels, height, width]` and their classes `[batch]`.
    ///
    /// # Errors
    ///
    /// A forward or backward pass that fails.
    pub fn learn(&mut self, images: Tensor<4>, labels: Tensor<1, Int>) -> Result<(), TrainError> {
        let (part, parts) = self.part();
        let pass = self.pass(part, images.dims()[0]);
        let loss = CrossEntropyLossConfig::new().init(&self.device);
        let (loss, logits, gradients) = self.bayes.run(pass, |network| {
            let logits = network.logits(images);
            let loss = loss.forward(logits.clone(), labels.clone());
            // Inside the pass, which catches a backend's panic.
            let gradients = match parts {
                1 => loss.backward(),
                _ => loss.clone().div_scalar(parts as f64).backward(),
            };
            (loss, logits, gradients)
        })?;
        self.tally.add(loss, logits, labels);
        let gradients = GradientsParams::from_grads(gradients, &self.bayes);
        self.position.batch += 1;
        let gradients = match parts {
            1 => gradients,
            _ => {
                self.gradients.accumulate(&self.bayes, gradients);
                if part + 1 < parts {
                    return Ok(());
                }
                self.gradients.grads()
            }
        };
        self.step(gradients)
    }

    fn step(&mut self, gradients: GradientsParams) -> Result<(), TrainError> {
        let gradients = self.bayes.with_complexity(gradients)?;
        let (rates, settings) = (self.rates(), &self.settings);
        self.bayes = self.sgd.step(
            self.bayes.clone(),
            gradients,
            rates,
            settings.rates.momentum,
            settings.clip_norm,
        );
        self.position.step += 1;
        if self.position.batch >= self.settings.batches_per_epoch {
            self.position.batch = 0;
            self.position.epoch += 1;
        }
        Ok(())
    }

    /// Which mini-batch of its step the next one is, and how many there are; an epoch ends with a step.
    fn part(&self) -> (usize, usize) {
        let TrainerSettings {
            accumulate,
            batches_per_epoch,
            ..
        } = self.settings;
        let part = self.position.batch % accumulate;
        let first = self.position.batch - part;
        (part, accumulate.min(batches_per_epoch - first))
    }

    fn pass(&self, part: usize, examples: usize) -> Pass {
        let pass = match self.bayes.posterior() {
            Posterior::Point(_) => Pass::train_mean(),
            _ => Pass::train(self.settings.estimator, self.position.step as u32),
        };
        let mode = match self.settings.running_statistics {
            RunningStatistics::Update => Mode::Train,
            RunningStatistics::Freeze => Mode::EvaluateWithDropout,
        };
        // Other dropout masks in every step; and another row for every example of a step.
        let seed = self.settings.seed ^ (self.position.step as u64) << 20;
        pass.with_mode(mode)
            .with_seed(seed)
            .with_first_example((part * examples) as u32)
    }

    /// The network as it is now.
    pub fn bayes(&self) -> &Bayes<M> {
        &self.bayes
    }

    /// Ends the training.
    pub fn into_bayes(self) -> Bayes<M> {
        self.bayes
    }

    /// Where the run is.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Steps from the start to the end.
    pub fn steps(&self) -> usize {
        let TrainerSettings {
            epochs,
            batches_per_epoch,
            accumulate,
            ..
        } = self.settings;
        epochs as usize * batches_per_epoch.div_ceil(accumulate)
    }

    /// Mini-batches of one pass over the data.
    pub fn batches_per_epoch(&self) -> usize {
        self.settings.batches_per_epoch
    }

    /// Whether all epochs are done.
    pub fn is_finished(&self) -> bool {
        self.position.epoch >= self.settings.epochs
    }

    /// Whether no gradients wait for more mini-batches. Only then a run can be saved.
    pub fn is_between_steps(&self) -> bool {
        self.part().0 == 0
    }

    /// The learning rates of the next step.
    pub fn rates(&self) -> Rates {
        let last = self.steps() - 1;
        let step = self.position.step.min(last);
        self.settings.rates.rates_at(step, self.steps())
    }

    /// The settings of the learning rates.
    pub fn fine_tuning(&self) -> &FineTuning {
        &self.settings.rates
    }

    /// Goes on with other learning rates.
    ///
    /// # Errors
    ///
    /// Rates that are not positive numbers; the old ones stay.
    pub fn set_fine_tuning(&mut self, rates: FineTuning) -> Result<(), RateError> {
        rates.checked()?;
        self.settings.rates = rates;
        Ok(())
    }

    /// The scores of the mini-batches since this was last called. Waits for the device.
    ///
    /// # Errors
    ///
    /// A device that fails.
    pub async fn scores(&mut self) -> Result<Vec<StepScores>, PassError> {
        self.tally.read().await
    }

    /// The path of a parameter that is not finite, if there is one. Waits for the device.
    ///
    /// # Errors
    ///
    /// A device that fails.
    pub async fn not_finite(&self) -> Result<Option<String>, PassError> {
        let (mut paths, mut sums) = (Vec::new(), Vec::new());
        for entry in self.bayes.inventory().entries {
            let mut add = |values: Tensor<1>| {
                paths.push(entry.path.clone());
                // Zero, unless something is infinite or not a number.
                sums.push(values.mul_scalar(0.0).sum());
            };
            match entry.spread {
                Spread::Point => {}
                Spread::MeanField { psi, .. } => add(psi),
                Spread::LowRank { left, right, .. } => {
                    add(left.flatten(0, 2));
                    add(right.flatten(0, 2));
                }
            }
            add(entry.value);
        }
        let sums = read::values(Tensor::cat(sums, 0)).await?;
        let bad = sums.iter().position(|sum| !sum.is_finite());
        Ok(bad.map(|bad| paths.swap_remove(bad)))
    }

    /// Everything that is needed to go on, as bytes; `notes` come back from [`TrainState::notes`].
    ///
    /// # Errors
    ///
    /// A device that fails.
    pub async fn save(
        &self,
        header: &Header,
        notes: &impl Serialize,
    ) -> Result<Vec<u8>, FileError> {
        self.moment().save(header, notes).await
    }

    /// This moment of the run. It shares its tensors with the run.
    pub(crate) fn moment(&self) -> Moment<M> {
        Moment {
            // Not a clone, which would go on sharing the running statistics.
            bayes: self.bayes.valid(),
            velocities: self.sgd.velocities.clone(),
            position: self.position,
        }
    }
}

/// A moment of a run.
pub(crate) struct Moment<M: Module> {
    bayes: Bayes<M>,
    velocities: BTreeMap<String, Tensor<1>>,
    /// Where in the run it is.
    pub position: Position,
}

impl<M: Module> Moment<M> {
    /// Everything that is needed to go on from here, as bytes.
    pub async fn save(
        &self,
        header: &Header,
        notes: &impl Serialize,
    ) -> Result<Vec<u8>, FileError> {
        let posterior = self.bayes.to_file_async(header).await?;
        state::to_bytes(&posterior, &self.velocities, self.position, notes).await
    }
}
