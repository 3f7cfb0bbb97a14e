//! What a network is worth on test pictures.

use super::{EvaluationSettings, Event, Pace, Phase, Port, SessionError};
use crate::{
    data::{Batch, BatchSettings, Batches, DataError, Dataset, Preparation},
    evaluate::{Calibration, Collector, Evaluation, ImageSet},
    metrics::{Conformal, DrawCurve},
    models::Network,
    posterior::{Bayes, Posterior},
    predict::{Draws, PredictOptions},
};
use burn::tensor::{Device, Tensor};
use std::{cell::Cell, sync::Arc};

/// Judges networks on the same pictures.
#[derive(Clone)]
pub struct Judge {
    /// Test pictures.
    pub test: Arc<dyn Dataset>,
    /// The test images were changed, and those of the validation set were not: that they are harder says nothing of
    /// the calibration.
    pub test_is_corrupted: bool,
    /// A calibration of the network that is known already; validation images are not looked at then.
    pub calibration: Option<Calibration>,
    /// Images that predictions are calibrated on, and where they come from.
    pub validation: Option<(String, Arc<dyn Dataset>)>,
    /// Pictures of another kind, and what they are called.
    pub out_of_distribution: Option<(String, Arc<dyn Dataset>)>,
    /// What is done to pictures.
    pub preparation: Preparation,
    /// Draws, and pictures at once.
    pub settings: EvaluationSettings,
    /// Pass over pictures that cannot be read.
    pub skip_broken: bool,
    /// Threads that read pictures ahead.
    pub workers: usize,
    /// What computes.
    pub device: Device,
}

impl Judge {
    /// Evaluates a network that is called `name`: point weights at their mean, a posterior by its draws. Nothing is
    /// returned if it was stopped by a command.
    ///
    /// # Errors
    ///
    /// Pictures that cannot be read, and a network that fails.
    pub async fn evaluate(
        &self,
        bayes: &Bayes<Network>,
        name: &str,
        port: &Port,
        pace: &impl Pace,
    ) -> Result<Option<Evaluation>, SessionError> {
        let phase = Phase::Evaluating;
        port.emit(Event::Phase { phase });
        let calibration = match (&self.calibration, &self.validation) {
            (Some(known), _) => Some(known.clone()),
            (None, None) => None,
            (None, Some((source, images))) => {
                let validation = Self {
                    test: Arc::clone(images),
                    out_of_distribution: None,
                    ..self.clone()
                };
                let set = ImageSet::Validation;
                let collected = validation.collect(bayes, name, set, port, pace).await?;
                let Some((collector, _)) = collected else {
                    return Ok(None);
                };
                Some(collector.calibrate(source, self.settings.coverage)?)
            }
        };
        let judged = self
            .collect(bayes, name, ImageSet::Test, port, pace)
            .await?;
        let Some((collector, passed_over)) = judged else {
            return Ok(None);
        };
        let collector = collector.with_calibration(calibration);
        let mut evaluation = collector.finish(name)?;
        evaluation.passed_over = passed_over;
        if let Some(calibrated) = evaluation
            .calibrated
            .as_ref()
            .filter(|_| !self.test_is_corrupted)
        {
            let scores = &evaluation.scores;
            let doubt = calibrated
                .calibration
                .doubt(scores.accuracy, scores.examples);
            if let Some(message) = doubt {
                port.emit(Event::Warning { message });
            }
        }
        evaluation.network = bayes.checksum().await.map_err(SessionError::of_file)?;
        port.emit(Event::Evaluated(Box::new(evaluation.clone())));
        Ok(Some(evaluation))
    }

    /// What [`evaluate`](Self::evaluate) returns without calibration, and without the checksum, which takes reading every
    /// weight. Only how far it is, and what is broken, is told.
    pub(super) async fn evaluate_quickly(
        &self,
        bayes: &Bayes<Network>,
        name: &str,
        port: &Port,
        pace: &impl Pace,
    ) -> Result<Option<Evaluation>, SessionError> {
        let collected = self
            .collect(bayes, name, ImageSet::Test, port, pace)
            .await?;
        let Some((collector, passed_over)) = collected else {
            return Ok(None);
        };
        let mut evaluation = collector.finish(name)?;
        evaluation.passed_over = passed_over;
        Ok(Some(evaluation))
    }

    /// Predictions for all images, and the numbers of those that could not be read.
    async fn collect(
        &self,
        bayes: &Bayes<Network>,
        name: &str,
        set: ImageSet,
        port: &Port,
        pace: &impl Pace,
    ) -> Result<Option<(Collector, Vec<usize>)>, SessionError> {
        let options = match bayes.posterior() {
            Posterior::Point(_) => PredictOptions::new(Draws::Mean),
            _ => {
                let options = PredictOptions::new(Draws::Fixed(self.settings.draws));
                // A curve over the number of draws is of the test set alone.
                match set {
                    ImageSet::Test => options.with_draws_kept(),
                    ImageSet::Validation => options,
                }
            }
        };
        let other = self.out_of_distribution.as_ref();
        let of = self.test.len() + other.map_or(0, |(_, data)| data.len());
        let told = async |done: usize, curve: Option<&DrawCurve>| {
            port.emit(Event::Evaluating {
                method: match set {
                    ImageSet::Test => name.to_owned(),
                    ImageSet::Validation => format!("{name} on the validation set"),
                },
                done,
                of,
                curve: curve.cloned().map(Box::new),
            });
        };
        let give_way = async || {
            pace.breathe().await;
        };
        let stopped = Cell::new(false);
        let mut collector = Collector::new(self.test.class_names().iter().cloned());
        let mut judged: Vec<usize> = Vec::new();
        let batches = self.tensors(&self.test, port, &stopped, |batch| {
            judged.extend(&batch.examples);
        })?;
        collector
            .add_batches_giving_way(bayes, batches, &options, told, give_way)
            .await?;
        if let Some((name, data)) = other {
            let batches = self.tensors(data, port, &stopped, |_| ())?;
            let after = async |done: usize| told(self.test.len() + done, None).await;
            collector
                .add_out_of_distribution_batches_giving_way(
                    name, bayes, batches, &options, after, give_way,
                )
                .await?;
        }
        if stopped.get() {
            return Ok(None);
        }
        // Images come in their order, so that what was evaluated is sorted.
        let passed_over = |image: &usize| judged.binary_search(image).is_err();
        let passed_over = (0..self.test.len()).filter(passed_over).collect();
        Ok(Some((collector, passed_over)))
    }

    /// Whether an evaluation is of this network, and of the pictures that this one judges by.
    pub(super) async fn has_judged(
        &self,
        bayes: &Bayes<Network>,
        evaluation: &Evaluation,
    ) -> Result<bool, SessionError> {
        if !self.is_of_these_pictures(evaluation) {
            return Ok(false);
        }
        let network = bayes.checksum().await.map_err(SessionError::of_file)?;
        Ok(evaluation.network == network)
    }

    /// Whether an evaluation is of the pictures that this one judges by, as far as labels and numbers tell.
    fn is_of_these_pictures(&self, evaluation: &Evaluation) -> bool {
        let labels = (0..self.test.len()).map(|index| self.test.label(index));
        let other = self.out_of_distribution.as_ref();
        let other = other.map(|(name, data)| (name, data.len()));
        let judged = evaluation.out_of_distribution.as_ref();
        let judged = judged.map(|judged| (&judged.name, judged.examples.len()));
        let calibrated = evaluation.calibrated.as_ref();
        let source = calibrated.map(|calibrated| &calibrated.calibration.source);
        let as_asked = calibrated.is_none_or(|one| {
            let sets = one.calibration.sets.iter();
            sets.map(Conformal::coverage)
                .all(|coverage| coverage == self.settings.coverage)
        });
        evaluation.class_names == self.test.class_names()
            && as_asked
            && source == self.validation.as_ref().map(|(source, _)| source)
            && labels.eq(evaluation.labels.iter().copied())
            && other == judged
    }

    /// Refuses what [`evaluate`](Self::evaluate) would refuse, before anything is computed.
    pub(super) fn check(&self) -> Result<(), SessionError> {
        if self.test.is_empty() {
            return Err(SessionError::NothingToJudgeBy);
        }
        self.settings.checked()?;
        self.batches(&self.test)?;
        for (_, data) in self.validation.iter().chain(&self.out_of_distribution) {
            self.batches(data)?;
        }
        Ok(())
    }

    fn batches(&self, data: &Arc<dyn Dataset>) -> Result<Batches, DataError> {
        let settings = BatchSettings {
            skip_broken: self.skip_broken,
            workers: self.workers,
            ..BatchSettings::new(self.settings.batch, self.preparation.clone())
        };
        Batches::new(Arc::clone(data), settings)
    }

    /// Batches on the device, until a command stops them. `seen` is told of each.
    fn tensors<'a>(
        &self,
        data: &Arc<dyn Dataset>,
        port: &'a Port,
        stopped: &'a Cell<bool>,
        mut seen: impl FnMut(&Batch) + 'a,
    ) -> Result<impl Iterator<Item = Result<(Tensor<4>, Vec<u32>), DataError>> + 'a, DataError>
    {
        let device = self.device.clone();
        let batches = self.batches(data)?;
        let going_on = move |_: &Result<_, _>| {
            stopped.set(stopped.get() || port.take_stop());
            !stopped.get()
        };
        let batches = batches.epoch(0, 0).take_while(going_on);
        Ok(batches.filter_map(move |batch| {
            let batch = batch.inspect(|batch| {
                seen(batch);
                for name in &batch.skipped {
                    port.emit(Event::passed_over(name));
                }
            });
            match batch {
                // Its pictures are all broken.
                Ok(batch) if batch.labels.is_empty() => None,
                batch => Some(batch.map(|batch| {
                    let (images, _) = batch.to_tensors(&device);
                    (images, batch.labels)
                })),
            }
        }))
    }
}
