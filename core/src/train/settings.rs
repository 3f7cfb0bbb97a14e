//! How to train.

use super::{FineTuning, Position, TrainError, UncertaintyRegularisation};
use crate::pass::Estimator;
use serde::{Deserialize, Serialize};

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
    /// How the network learns to be unsure of OOD images, in steps that have some.
    pub regularisation: UncertaintyRegularisation,
    /// Random seed of dropout layers. Posteriors have their own.
    pub seed: u64,
}

impl TrainerSettings {
    /// Refuses settings out of range.
    pub(super) fn checked(&self) -> Result<(), TrainError> {
        self.rates.checked()?;
        self.regularisation.checked()?;
        for (what, value) in [
            ("epochs", self.epochs as usize),
            ("the number of batches in an epoch", self.batches_per_epoch),
            ("accumulate", self.accumulate),
        ] {
            if value == 0 {
                let (value, need) = (value.to_string(), "at least 1");
                return Err(TrainError::Setting { what, value, need });
            }
        }
        if let Some(norm) = self.clip_norm
            && !(norm.is_finite() && norm > 0.0)
        {
            return Err(TrainError::Setting {
                what: "clip_norm",
                value: norm.to_string(),
                need: "a positive number",
            });
        }
        Ok(())
    }

    pub(super) fn steps_per_epoch(&self) -> usize {
        self.batches_per_epoch.div_ceil(self.accumulate)
    }

    /// Refuses a position between two steps that a run with these settings never comes to.
    pub(super) fn lead_to(&self, position: Position) -> Result<(), TrainError> {
        let Position { step, epoch, batch } = position;
        let before = epoch as usize * self.steps_per_epoch();
        let fits = batch < self.batches_per_epoch
            && batch.is_multiple_of(self.accumulate)
            && step == before + batch / self.accumulate;
        match fits {
            true => Ok(()),
            false => Err(TrainError::OtherCourse {
                step,
                epoch,
                batch,
                batches_per_epoch: self.batches_per_epoch,
                accumulate: self.accumulate,
            }),
        }
    }
}
