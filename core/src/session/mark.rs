//! A moment of a run to which it can go back, and what is saved with it.

use super::HistoryRow;
use crate::{
    file::{FileError, Header},
    models::Network,
    train::{Moment, Position, StepScores},
};
use serde::{Deserialize, Serialize};

/// What is saved beside the state of the training.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Notes {
    /// Seconds of training.
    pub seconds: f64,
    /// As it was last computed.
    pub complexity_loss: f64,
    /// Scores since the last row of history.
    pub scores: Vec<StepScores>,
    pub history: Vec<HistoryRow>,
}

/// A moment between two steps at which every score had been read.
pub(super) struct Mark {
    pub moment: Moment<Network>,
    pub seconds: f64,
    pub complexity_loss: f64,
    pub scores: Vec<StepScores>,
    /// Rows of history that there were.
    pub rows: usize,
}

impl Mark {
    pub(super) fn position(&self) -> Position {
        self.moment.position
    }

    /// Everything that is needed to go on from here. `history` begins with what it was then.
    pub(super) async fn to_bytes(
        &self,
        header: &Header,
        history: &[HistoryRow],
    ) -> Result<Vec<u8>, FileError> {
        let notes = Notes {
            seconds: self.seconds,
            complexity_loss: self.complexity_loss,
            scores: self.scores.clone(),
            history: history.iter().take(self.rows).cloned().collect(),
        };
        self.moment.save(header, &notes).await
    }
}

/// Means over some steps, every example counting the same.
pub(super) struct Averages {
    /// Negative log-likelihood.
    pub nll: f64,
    /// Share of right answers.
    pub accuracy: f64,
    /// Over the steps that had OOD images, if any had.
    pub ood_mutual_information: Option<f64>,
}

impl Averages {
    pub(super) fn of(scores: &[StepScores]) -> Self {
        let examples: usize = scores.iter().map(|one| one.examples).sum();
        let nll = |one: &StepScores| one.likelihood_loss * one.examples as f64;
        let correct: usize = scores.iter().map(|one| one.correct).sum();
        let information = scores.iter().filter_map(|one| one.ood_mutual_information);
        let with_ood = information.clone().count();
        let divisor = examples.max(1) as f64;
        Self {
            nll: scores.iter().map(nll).sum::<f64>() / divisor,
            accuracy: correct as f64 / divisor,
            ood_mutual_information: (with_ood > 0)
                .then(|| information.sum::<f64>() / with_ood as f64),
        }
    }
}
