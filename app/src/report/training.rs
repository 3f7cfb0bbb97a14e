//! How the training of a method went, as its charts take it.

use bayesadapter::session::{HistoryRow, ValidationScores};

/// How the training of a method went.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingRun {
    /// As in its [`Evaluation`](bayesadapter::evaluate::Evaluation).
    pub method: String,
    pub points: TrainingPoints,
}

/// The points of its curves, by rising steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingPoints {
    /// On the training set, while the network learns from it.
    pub training: Vec<TrainingPoint>,
    /// On the validation set, after each epoch; empty where there is none.
    pub validation: Vec<ValidationPoint>,
}

/// A step of training.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingPoint {
    pub step: u64,
    /// Negative log-likelihood per example, in nats.
    pub likelihood_loss: f64,
    /// Complexity per example, in nats.
    pub complexity_loss: f64,
    pub accuracy: Option<f64>,
}

/// The end of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidationPoint {
    /// The step that the epoch ended with.
    pub step: u64,
    /// On some of the validation images.
    pub scores: ValidationScores,
}

impl TrainingPoints {
    /// The points of a run's history.
    pub fn of_history(history: &[HistoryRow]) -> Self {
        let training = |row: &HistoryRow| TrainingPoint {
            step: row.step as u64,
            likelihood_loss: row.likelihood_loss,
            complexity_loss: row.complexity_loss,
            accuracy: Some(row.accuracy),
        };
        let validation = |row: &HistoryRow| {
            let step = row.step as u64;
            let scores = row.validation?;
            Some(ValidationPoint { step, scores })
        };
        Self {
            training: history.iter().map(training).collect(),
            validation: history.iter().filter_map(validation).collect(),
        }
    }
}

impl FromIterator<TrainingPoint> for TrainingPoints {
    /// Of a run without a validation set.
    fn from_iter<I: IntoIterator<Item = TrainingPoint>>(points: I) -> Self {
        Self {
            training: points.into_iter().collect(),
            validation: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_end_an_epoch_have_a_point_on_validation_images() {
        let scores = ValidationScores {
            accuracy: 0.75,
            nll: 0.5,
            ece: 0.125,
            images: 64,
        };
        let row = |step: usize, validation| HistoryRow {
            step,
            epoch: step as f64 / 10.0,
            likelihood_loss: 1.0,
            complexity_loss: 2.0,
            matrix_complexity_loss: 1.5,
            accuracy: 0.5,
            lr: 1e-2,
            variational_lr: 1e-3,
            ood_mutual_information: None,
            validation,
            seconds: 1.0,
        };
        let history = [row(5, None), row(10, Some(scores)), row(15, None)];
        let points = TrainingPoints::of_history(&history);
        let steps: Vec<u64> = points.training.iter().map(|point| point.step).collect();
        assert_eq!(steps, [5, 10, 15]);
        assert_eq!(points.training[0].accuracy, Some(0.5));
        let step = 10;
        assert_eq!(points.validation, [ValidationPoint { step, scores }]);
    }
}
