//! What a network is worth on test pictures.

use super::{EvaluationSettings, Event, Method, Pace, Phase, Port, SessionError};
use crate::{
    data::{Batch, BatchSettings, Batches, DataError, Dataset, Preparation},
    evaluate::{Collector, Evaluation},
    metrics::DrawCurve,
    models::Network,
    posterior::Bayes,
    predict::{Draws, PredictOptions},
};
use burn::tensor::{Device, Tensor};
use std::{cell::Cell, sync::Arc};

/// Judges networks on the same pictures.
#[derive(Clone)]
pub struct Judge {
    /// Test pictures.
    pub test: Arc<dyn Dataset>,
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
    /// Judges a network: point weights at their mean, a posterior by its draws. Nothing is returned if it was
    /// stopped by a command.
    ///
    /// # Errors
    ///
    /// Pictures that cannot be read, and a network that fails.
    pub async fn evaluate(
        &self,
        bayes: &Bayes<Network>,
        method: Method,
        port: &Port,
        pace: &impl Pace,
    ) -> Result<Option<Evaluation>, SessionError> {
        let phase = Phase::Evaluating;
        port.emit(Event::Phase { phase });
        let judged = self.collect(bayes, method, port, pace).await?;
        let Some(mut evaluation) = judged else {
            return Ok(None);
        };
        evaluation.network = bayes.checksum().await.map_err(SessionError::of_file)?;
        port.emit(Event::Evaluated(Box::new(evaluation.clone())));
        Ok(Some(evaluation))
    }

    /// What [`evaluate`](Self::evaluate) returns, without the checksum, which takes reading every weight. Only how far it
    /// is, and what is broken, is told.
    pub(super) async fn collect(
        &self,
        bayes: &Bayes<Network>,
        method: Method,
        port: &Port,
        pace: &impl Pace,
    ) -> Result<Option<Evaluation>, SessionError> {
        let options = match method {
            Method::Map => PredictOptions::new(Draws::Mean),
            _ => PredictOptions::new(Draws::Fixed(self.settings.draws)).with_draws_kept(),
        };
        let other = self.out_of_distribution.as_ref();
        let of = self.test.len() + other.map_or(0, |(_, data)| data.len());
        let told = async |done: usize, curve: Option<&DrawCurve>| {
            port.emit(Event::Evaluating {
                method: method.to_string(),
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
        let mut evaluation = collector.finish(method.to_string())?;
        // Pictures to judge by come in their order, so that what was judged is sorted.
        let passed_over = |picture: &usize| judged.binary_search(picture).is_err();
        evaluation.passed_over = (0..self.test.len()).filter(passed_over).collect();
        Ok(Some(evaluation))
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
        evaluation.class_names == self.test.class_names()
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
        if let Some((_, data)) = &self.out_of_distribution {
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
