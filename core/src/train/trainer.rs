//! Steps of training on a network with posteriors, which can be saved and resumed between any two.

use super::{
    FineTuning, Position, RateError, Rates, RunningStatistics, StepScores, TrainError, TrainState,
    TrainerSettings, finite, parts::Parts, sgd::Sgd, state, tally::Tally,
};
use crate::{
    file::{FileError, Header},
    pass::{Mode, Pass, PassError},
    posterior::{Bayes, Posterior},
    predict::Classifier,
};
use burn::{
    module::{Module, ModuleDisplay},
    nn::loss::CrossEntropyLossConfig,
    optim::GradientsParams,
    tensor::{Device, Int, Tensor},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// What stopped being finite, if it was no parameter.
pub(crate) const THE_LOSS: &str = "the loss";

/// A network in training.
///
/// ```
/// use bayesadapter::{models::Architecture, pass::Estimator, posterior::{IntoBayes, MeanField}};
/// use bayesadapter::train::{FineTuning, RunningStatistics, Trainer, TrainerSettings, UncertaintyRegularisation};
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
///     regularisation: UncertaintyRegularisation::default(),
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
    parts: Parts<M>,
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
        settings.checked()?;
        Ok(Self {
            bayes,
            sgd: Sgd::default(),
            settings,
            position: Position::default(),
            parts: Parts::default(),
            tally: Tally::default(),
            device: device.clone(),
        })
    }

    /// Goes on with a saved run. `network` has the architecture; its weights are replaced.
    ///
    /// # Errors
    ///
    /// A run of another network or with other mini-batches, and settings out of range.
    pub fn resume(
        network: M,
        state: TrainState,
        settings: TrainerSettings,
        device: &Device,
    ) -> Result<Self, TrainError> {
        let velocities = state.velocities(device);
        let position = state.position;
        let bayes = state.posterior.into_bayes_of(network)?;
        let start = Self::new(bayes, settings, device)?;
        start.settings.lead_to(position)?;
        Ok(Self {
            sgd: Sgd { velocities },
            position,
            ..start
        })
    }

    /// Learns from one mini-batch: images `[batch, channels, height, width]` and their classes `[batch]`.
    ///
    /// # Errors
    ///
    /// A forward or backward pass that fails.
    pub fn learn(&mut self, images: Tensor<4>, labels: Tensor<1, Int>) -> Result<(), TrainError> {
        self.learn_with_ood(images, labels, None)
    }

    /// Learns as [`learn`](Self::learn) does, and to be unsure of the OOD images `[m, channels, height, width]`: each
    /// goes through the network twice, in the same launch as the mini-batch and with draws of its own, and a penalty
    /// asks the two to disagree ([`UncertaintyRegularisation`](super::UncertaintyRegularisation)).
    ///
    /// # Errors
    ///
    /// A forward or backward pass that fails.
    pub fn learn_with_ood(
        &mut self,
        images: Tensor<4>,
        labels: Tensor<1, Int>,
        ood: Option<Tensor<4>>,
    ) -> Result<(), TrainError> {
        if let Some(gradients) = self.backward(images, labels, ood)? {
            self.step(gradients)?;
        }
        self.advance();
        Ok(())
    }

    /// Learns as [`learn_with_ood`](Self::learn_with_ood) does, and looks at every number on the way: returns with which parameter it
    /// began that some are not finite, or that it was [`THE_LOSS`]. The step is not made then. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`learn`](Self::learn), and a device that fails.
    pub(crate) async fn learn_and_look(
        &mut self,
        images: Tensor<4>,
        labels: Tensor<1, Int>,
        ood: Option<Tensor<4>>,
    ) -> Result<Option<String>, TrainError> {
        let before = self.not_finite().await?;
        let gradients = self.backward(images, labels, ood)?;
        let scores = self.scores().await?;
        if scores.iter().any(|one| !one.likelihood_loss.is_finite()) {
            return Ok(Some(before.unwrap_or_else(|| THE_LOSS.to_owned())));
        }
        if let Some(gradients) = gradients {
            let gradients = self.bayes.with_complexity(gradients)?;
            let mut bad = finite::bad_gradients(&self.bayes, &gradients).await?;
            // Gradients spread from the outputs towards the inputs: the last layer is where it began.
            if let Some(path) = bad.pop() {
                return Ok(Some(path));
            }
            self.update(gradients);
        }
        self.advance();
        Ok(None)
    }

    /// The gradients of one mini-batch, or of its step if it is the last part of one; nothing before.
    fn backward(
        &mut self,
        images: Tensor<4>,
        labels: Tensor<1, Int>,
        ood: Option<Tensor<4>>,
    ) -> Result<Option<GradientsParams>, TrainError> {
        let (part, parts) = self.part();
        let examples = images.dims()[0];
        let pairs = ood.as_ref().map_or(0, |ood| ood.dims()[0]);
        let rows = examples + 2 * pairs;
        let pass = self.pass().with_pairs(pairs as u32);
        let nll = CrossEntropyLossConfig::new().init(&self.device);
        let regularisation = ood.as_ref().map(|_| self.settings.regularisation);
        let (nll, logits, information, gradients) = self.bayes.run(pass, |network| {
            let images = match ood {
                Some(ood) => Tensor::cat(vec![images, ood.clone(), ood], 0),
                None => images,
            };
            let logits = network.logits(images);
            let (logits, penalty, information) = match regularisation {
                Some(regularisation) => {
                    let split = regularisation.split(logits, examples)?;
                    (
                        split.logits,
                        Some(split.penalty),
                        Some(split.mutual_information),
                    )
                }
                None => (logits, None, None),
            };
            let nll = nll.forward(logits.clone(), labels.clone());
            let loss = match penalty {
                Some(penalty) => nll.clone() + penalty,
                None => nll.clone(),
            };
            // Inside the pass, which catches a backend's panic.
            let gradients = match parts {
                1 => loss.backward(),
                // Of the sum over the examples, so that parts of any size can be added.
                _ => loss.mul_scalar(examples as f64).backward(),
            };
            Ok::<_, TrainError>((nll, logits, information, gradients))
        })??;
        self.tally.add(nll, logits, labels, information);
        let gradients = GradientsParams::from_grads(gradients, &self.bayes);
        if parts == 1 {
            return Ok(Some(gradients));
        }
        self.parts.add(&self.bayes, gradients, examples, rows);
        Ok((part + 1 == parts).then(|| self.parts.mean(&self.bayes)))
    }

    /// Passes over a mini-batch without examples, as if it had been learnt from. A step of which nothing is left
    /// changes nothing, but counts: where a run is stays a function of the mini-batches that are done.
    ///
    /// # Errors
    ///
    /// The step that ends with it fails.
    pub fn pass_over(&mut self) -> Result<(), TrainError> {
        let (part, parts) = self.part();
        if part + 1 == parts && self.parts.examples > 0 {
            let gradients = self.parts.mean(&self.bayes);
            self.step(gradients)?;
        }
        self.advance();
        Ok(())
    }

    fn step(&mut self, gradients: GradientsParams) -> Result<(), TrainError> {
        let gradients = self.bayes.with_complexity(gradients)?;
        self.update(gradients);
        Ok(())
    }

    /// Moves the parameters along gradients that have the complexity loss in them.
    fn update(&mut self, gradients: GradientsParams) {
        let (rates, settings) = (self.rates(), &self.settings);
        self.bayes = self.sgd.step(
            self.bayes.clone(),
            gradients,
            rates,
            &settings.rates,
            settings.clip_norm,
        );
    }

    /// One mini-batch further.
    fn advance(&mut self) {
        let (part, parts) = self.part();
        self.position.batch += 1;
        if part + 1 == parts {
            self.position.step += 1;
        }
        if self.position.batch >= self.settings.batches_per_epoch {
            self.position.batch = 0;
            self.position.epoch += 1;
        }
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

    fn pass(&self) -> Pass {
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
            .with_first_example(self.parts.rows as u32)
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
        self.settings.epochs as usize * self.settings.steps_per_epoch()
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
        let posterior = self.bayes.posterior();
        self.settings.rates.rates_at(posterior, step, self.steps())
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

    /// The path of the first parameter that is not finite, if there is one. Waits for the device.
    ///
    /// # Errors
    ///
    /// A device that fails.
    pub async fn not_finite(&self) -> Result<Option<String>, PassError> {
        let bad = finite::bad_parameters(self.bayes.inventory()).await?;
        Ok(bad.into_iter().next())
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

    /// A trainer at an earlier moment of this run. Nothing that it does changes the run or the moment.
    pub(crate) fn back_at(&self, moment: &Moment<M>) -> Self {
        Self {
            // A clone would share its running statistics with the moment.
            bayes: moment.bayes.valid().train(),
            sgd: Sgd {
                velocities: moment.velocities.clone(),
            },
            settings: self.settings.clone(),
            position: moment.position,
            parts: Parts::default(),
            tally: Tally::default(),
            device: self.device.clone(),
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
