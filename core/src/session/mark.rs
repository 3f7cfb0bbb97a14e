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

/// Mean loss and share of right answers, every example counting the same.
pub(super) fn averages(scores: &[StepScores]) -> (f64, f64) {
    let examples: usize = scores.iter().map(|one| one.examples).sum();
    let loss: f64 = scores
        .iter()
        .map(|one| one.likelihood_loss * one.examples as f64)
        .sum();
    let correct: usize = scores.iter().map(|one| one.correct).sum();
    let examples = examples.max(1) as f64;
    (loss / examples, correct as f64 / examples)
}
