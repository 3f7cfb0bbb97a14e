//! Everything that a run needs, opened and checked before the first step.

use super::{
    Judge, Method, PosteriorSettings, RunSettings, SessionError, SettingsError, Splits, open,
};
use crate::{
    checkpoint::{Checkpoint, LoadAccount, LoadOptions},
    data::{Augmentation, BatchSettings, Batches, Dataset, Preparation, Split},
    estimate::{OodBatch, available_memory},
    file::Header,
    models::{Architecture, ModelConfig, ModelError, Network},
    ops::Hardware,
    pass::{Estimator, Pass},
    posterior::{Bayes, IntoBayes, Inventory, Posterior, conversion_account},
    train::{TrainError, Trainer, TrainerSettings},
};
use burn::tensor::Device;
use std::sync::{Arc, Mutex, PoisonError};

/// Everything that a run needs.
pub struct Job {
    /// What it was told.
    pub settings: RunSettings,
    /// The network's description, with the classes of the data.
    pub architecture: Architecture,
    /// The network that the run starts from.
    pub network: Network,
    /// What became of the weights of the checkpoint, if there was one.
    pub load: Option<LoadAccount>,
    /// Pictures to learn from.
    pub train: Arc<dyn Dataset>,
    /// Images to choose and calibrate on, and where they come from.
    pub validation: Option<(String, Arc<dyn Dataset>)>,
    /// Pictures to judge by.
    pub test: Arc<dyn Dataset>,
    /// Pictures of another kind, and what they are called.
    pub out_of_distribution: Option<(String, Arc<dyn Dataset>)>,
    /// OOD images that the network learns to be unsure of.
    pub ood_train: Option<Arc<dyn Dataset>>,
    /// What computes, with autodiff.
    pub device: Device,
}

impl Job {
    /// Opens weights and data as the settings say.
    ///
    /// # Errors
    ///
    /// Whatever cannot be opened or does not fit together, before anything is computed.
    pub fn open(settings: RunSettings, device: &Device) -> Result<Self, SessionError> {
        let checkpoint = match &settings.model.weights {
            Some(path) => Some(Checkpoint::open(path)?),
            None => None,
        };
        let splits = settings.data.open(settings.seed)?;
        let out_of_distribution = match &settings.data.out_of_distribution {
            Some(path) => Some((open::name_of(path), open::open_any(path, Split::Test)?)),
            None => None,
        };
        Self::new(
            settings,
            checkpoint.as_ref(),
            splits,
            out_of_distribution,
            device,
        )
    }

    /// The same from what is in memory.
    ///
    /// # Errors
    ///
    /// What does not fit together.
    pub fn new(
        settings: RunSettings,
        checkpoint: Option<&Checkpoint>,
        splits: Splits,
        out_of_distribution: Option<(String, Arc<dyn Dataset>)>,
        device: &Device,
    ) -> Result<Self, SessionError> {
        let Splits {
            train,
            validation,
            test,
            validation_source,
        } = splits;
        let source = validation_source.map(|source| source.to_string());
        let validation = validation.map(|images| (source.unwrap_or_default(), images));
        let mut architecture: Architecture = settings.model.architecture.parse()?;
        architecture = architecture.with_classes(train.class_names().len());
        if settings.model.dropout > 0.0 {
            architecture = architecture.with_dropout(settings.model.dropout)?;
        }
        let input = architecture.input_shape();
        let ood_train = open::ood_training_images(&settings, &train, input)?;
        let device = device.clone().autodiff();
        let (network, load) = match checkpoint {
            None => (drawn(&architecture, settings.seed, &device)?, None),
            Some(checkpoint) => {
                let options = LoadOptions {
                    replace_head: settings.model.replace_head,
                    ..LoadOptions::default()
                };
                let (network, account) = architecture.load(checkpoint, &options, &device)?;
                (network, Some(account))
            }
        };
        let mut job = Self {
            settings,
            architecture,
            network,
            load,
            train,
            validation,
            test,
            out_of_distribution,
            ood_train,
            device,
        };
        job.settings.data.augmentation = Some(job.augmentation());
        job.check()?;
        Ok(job)
    }

    /// Refuses what the first step or the judging would refuse.
    fn check(&self) -> Result<(), SessionError> {
        self.check_memory()?;
        let (bayes, settings) = (self.converted()?, self.trainer_settings()?);
        let pass = Pass::train(settings.estimator, 0);
        bayes.run(pass, |_| ()).map_err(TrainError::from)?;
        if self.ood_train.is_some() {
            self.check_regularisation(&settings)?;
        }
        Trainer::new(bayes, settings, &self.device)?;
        self.ood_batches()?;
        self.judge().check()
    }

    /// Refuses to ask for disagreement where there is nobody to disagree.
    fn check_regularisation(&self, settings: &TrainerSettings) -> Result<(), SessionError> {
        let problem = match (self.settings.posterior.method, settings.estimator) {
            (Method::Map, _) => {
                "point weights have no draws that could disagree on OOD images; choose the posterior \
                                 pse or mfg, or leave out ood_train"
            }
            (Method::Pse, _) if self.settings.posterior.components < 2 => {
                "an ensemble of one component has no draws that could disagree on OOD images; choose 2 components or \
                 more, or leave out ood_train"
            }
            (_, Estimator::Vanilla) => {
                "with the vanilla estimator both copies of an OOD image see the same draw; choose \
                                        the estimator exemplar, or leave out ood_train"
            }
            _ => return Ok(()),
        };
        Err(SettingsError::new(problem.to_owned()).into())
    }

    /// Refuses more parameters than there is memory for, before it is taken: the system may end a program that asks for
    /// too much.
    fn check_memory(&self) -> Result<(), SessionError> {
        let account = conversion_account(&self.network, &self.posterior())?;
        // What a GPU keeps is made in the memory of the host; the CPU has gradients and momentum there too.
        let (copies, taken) = match Hardware::of(&self.device).in_host_memory {
            true => (3, account.parameters_before),
            false => (1, 0),
        };
        let bytes = |floats: usize| (floats as u64).saturating_mul(size_of::<f32>() as u64);
        let parameters = account.parameters_after;
        let needed = bytes(parameters).saturating_mul(copies);
        // The network is there already, and among what is needed.
        let available = available_memory().map(|left| left.saturating_add(bytes(taken)));
        match available {
            Some(available) if needed > available => Err(SessionError::TooLarge {
                parameters,
                needed,
                available,
            }),
            _ => Ok(()),
        }
    }

    fn posterior(&self) -> Posterior {
        self.posterior_of(&self.settings.posterior)
    }

    fn posterior_of(&self, posterior: &PosteriorSettings) -> Posterior {
        let (settings, examples) = (&self.settings, self.train.len());
        posterior.posterior(examples, settings.training.lambda, settings.seed)
    }

    /// Where the validation images come from, if there are some.
    pub fn validation_source(&self) -> Option<String> {
        self.validation.as_ref().map(|(source, _)| source.clone())
    }

    /// The network with its posterior, as the run starts.
    ///
    /// # Errors
    ///
    /// A posterior that cannot be attached.
    pub fn converted(&self) -> Result<Bayes<Network>, SessionError> {
        self.converted_with(&self.settings.posterior)
    }

    /// The same with other settings of the posterior.
    pub(super) fn converted_with(
        &self,
        posterior: &PosteriorSettings,
    ) -> Result<Bayes<Network>, SessionError> {
        let posterior = self.posterior_of(posterior);
        Ok(self.network.clone().into_bayes(posterior)?)
    }

    pub(super) fn trainer_settings(&self) -> Result<TrainerSettings, SessionError> {
        let training = &self.settings.training;
        Ok(TrainerSettings {
            epochs: training.epochs,
            batches_per_epoch: self.train_batches()?.len(),
            accumulate: training.accumulate,
            estimator: training.estimator,
            rates: training.rates.clone(),
            clip_norm: training.clip_norm,
            running_statistics: training.running_statistics,
            regularisation: training.regularisation,
            seed: self.settings.seed,
        })
    }

    /// Mini-batches to learn from.
    pub(super) fn train_batches(&self) -> Result<Batches, SessionError> {
        let mut preparation = self.preparation();
        preparation.augmentation = self.augmentation();
        let settings = BatchSettings {
            shuffle: true,
            seed: self.settings.seed,
            skip_broken: self.settings.data.skip_broken,
            workers: self.settings.data.workers,
            ..BatchSettings::new(self.settings.training.batch, preparation)
        };
        Ok(Batches::new(Arc::clone(&self.train), settings)?)
    }

    /// What is done to training images: what the settings say, or what suits them.
    fn augmentation(&self) -> Augmentation {
        let suited = || {
            let shape = self.architecture.input_shape();
            Augmentation::suited_to(shape, self.train.class_names())
        };
        let given = self.settings.data.augmentation.clone();
        given.unwrap_or_else(suited)
    }

    /// OOD images to go beside the mini-batches, if there are some.
    pub(super) fn ood_batches(&self) -> Result<Option<Batches>, SessionError> {
        let Some(images) = &self.ood_train else {
            return Ok(None);
        };
        let training = &self.settings.training;
        if training.ood_batch == Some(0) {
            let problem =
                "training.ood_batch is 0, and must be at least 1; leave out ood_train for none";
            return Err(SettingsError::new(problem.to_owned()).into());
        }
        let ood_batch = training
            .ood_batch
            .map_or(OodBatch::Quarter, OodBatch::Count);
        let batch = ood_batch.images(training.batch);
        let settings = BatchSettings {
            shuffle: true,
            seed: self.settings.seed,
            skip_broken: self.settings.data.skip_broken,
            workers: self.settings.data.workers,
            ..BatchSettings::new(batch, self.preparation())
        };
        Ok(Some(Batches::new(Arc::clone(images), settings)?))
    }

    /// What judges the networks of this run.
    pub(super) fn judge(&self) -> Judge {
        Judge {
            test: Arc::clone(&self.test),
            test_is_corrupted: false,
            calibration: None,
            validation: self.validation.clone(),
            out_of_distribution: self.out_of_distribution.clone(),
            preparation: self.preparation(),
            settings: self.settings.evaluation.clone(),
            skip_broken: self.settings.data.skip_broken,
            workers: self.settings.data.workers,
            // Predictions need no gradients.
            device: self.device.clone().without_autodiff(),
        }
    }

    fn preparation(&self) -> Preparation {
        Preparation::new(
            self.architecture.input_shape(),
            self.architecture.normalisation(),
        )
    }

    /// What the posterior's file says of the network and of the run, whose settings may have changed on the way.
    pub(super) fn header(&self, settings: &RunSettings) -> Header {
        let mut header = Header::of(self.architecture.clone());
        header.class_names = self.train.class_names().to_vec();
        if let Ok(serde_json::Value::Object(run)) = serde_json::to_value(settings) {
            header.run = run;
        }
        header
    }
}

/// A network with random weights, which depend on the seed alone.
fn drawn(architecture: &Architecture, seed: u64, device: &Device) -> Result<Network, ModelError> {
    // A process has one generator: no other job may draw from it until all weights are made, and that they are when they
    // are first looked at.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    device.seed(seed);
    let network = architecture.init(device)?;
    Inventory::of(&network);
    Ok(network)
}
