//! How a run does on validation images, after every epoch. It changes nothing of what is learnt.

use super::Learning;
use crate::{
    clock::Stopwatch,
    data::{Dataset, Subset},
    evaluate::EvaluateError,
    predict::PredictError,
    session::{
        EvaluationSettings, Event, Judge, Keeper, Pace, SessionError, ValidationScores,
        complaint::caught, connect, sample::spread, unhurried::Unhurried,
    },
    train::THE_LOSS,
};
use std::sync::Arc;

/// Draws of the posterior.
const DRAWS: u32 = 8;
/// Images at most; at least, whatever they take.
const IMAGES: std::ops::RangeInclusive<usize> = 64..=1000;
/// Predictions, images times draws, per training image of an epoch: a prediction costs a third of a training example,
/// so that validation takes a tenth of an epoch at most.
const PREDICTIONS_PER_EXAMPLE: f64 = 0.3;

impl<K: Keeper, P: Pace> Learning<'_, K, P> {
    /// Evaluates the network on validation images at the end of an epoch, once, and puts it into the history. A command
    /// to stop comes first: the run makes up for it when it goes on.
    pub(super) async fn validate(&mut self) -> Result<(), SessionError> {
        let position = self.trainer.position();
        let due = self
            .history
            .last()
            .is_some_and(|row| row.step == position.step && row.validation.is_none());
        let Some(evaluator) = self.validator().filter(|_| due && position.batch == 0) else {
            return Ok(());
        };
        let watch = Stopwatch::start();
        let pace = Unhurried::new(self.pace, self.port);
        let (_, nobody) = connect();
        let name = self.job.settings.result_name();
        let evaluation = evaluator.evaluate_quickly(self.bayes(), &name, &nobody, &pace);
        let found = pace.unless_stopped(caught(evaluation)).await;
        // It is no training: speed and history are as if nobody had looked.
        self.time.rested(watch.seconds());
        let evaluation = match found.transpose() {
            Ok(Some(Some(evaluation))) => evaluation,
            // It was told to stop.
            Ok(_) => return Ok(()),
            Err(SessionError::Evaluate(EvaluateError::Predict(PredictError::Probabilities(_)))) => {
                let found = self.trainer.not_finite().await;
                let what = match found.map_err(SessionError::device)? {
                    Some(_) => THE_LOSS,
                    // The weights are finite, and so large that what they give is not.
                    None => "a probability",
                };
                return Err(self.set_back(what).await);
            }
            Err(error @ SessionError::Device { .. }) => return Err(error),
            Err(error) => {
                self.warn(format!(
                    "the epoch could not be validated: {error}; the run goes on"
                ));
                return Ok(());
            }
        };
        let scores = ValidationScores {
            accuracy: evaluation.scores.accuracy,
            nll: evaluation.scores.nll,
            ece: evaluation.scores.ece,
            images: evaluation.scores.examples,
        };
        if let Some(row) = self.history.last_mut() {
            row.validation = Some(scores);
        }
        self.port.emit(Event::Validated { position, scores });
        Ok(())
    }

    /// What evaluates on some of the validation images, which stand for all.
    fn validator(&self) -> Option<Judge> {
        let (_, images) = self.job.validation.as_ref()?;
        let evaluator = self.job.judge();
        let draws = evaluator.settings.draws.min(DRAWS);
        let affordable = PREDICTIONS_PER_EXAMPLE * self.job.train.len() as f64 / f64::from(draws);
        let most = (affordable as usize).clamp(*IMAGES.start(), *IMAGES.end());
        let some: Arc<dyn Dataset> = Subset::of(images, spread(images.len(), most));
        Some(Judge {
            test: some,
            validation: None,
            out_of_distribution: None,
            settings: EvaluationSettings {
                draws,
                ..evaluator.settings
            },
            // It is at the end of a run that a broken image counts.
            skip_broken: true,
            ..evaluator
        })
    }
}
