//! The cells of a sweep: scores of a network on the test set with one corruption of one severity.

use bayesadapter::{
    data::Corruption,
    evaluate::{Evaluation, Scores},
};
use serde::Serialize;
use std::fmt;

/// What was done to the test set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    Clean,
    /// A corruption with its severity.
    Corrupted(Corruption, u8),
}

impl Condition {
    /// The name of the corruption, `none` for clean images.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "none",
            Self::Corrupted(corruption, _) => corruption.name(),
        }
    }

    /// How badly images are corrupted, 0 for clean ones.
    pub fn severity(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Corrupted(_, severity) => severity,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => f.write_str("clean images"),
            Self::Corrupted(corruption, severity) => {
                write!(f, "{corruption}, severity {severity}")
            }
        }
    }
}

/// The metrics that are averaged over corruptions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// Share of correct predictions.
    pub accuracy: f64,
    /// Negative log-likelihood per image, in nats.
    pub nll: f64,
    /// Brier score.
    pub brier: f64,
    /// Expected calibration error.
    pub ece: f64,
}

impl Metrics {
    fn of(scores: &Scores) -> Self {
        Self {
            accuracy: scores.accuracy,
            nll: scores.nll,
            brier: scores.brier,
            ece: scores.ece,
        }
    }

    /// The mean of some, each with the same weight; nothing of none.
    pub fn mean(all: &[Self]) -> Option<Self> {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        (!all.is_empty()).then(|| Self {
            accuracy: mean(|one| one.accuracy),
            nll: mean(|one| one.nll),
            brier: mean(|one| one.brier),
            ece: mean(|one| one.ece),
        })
    }
}

/// The metrics of a network as it is, or with its temperature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The temperature, where it is applied.
    pub temperature: Option<f64>,
    /// What was measured.
    #[serde(flatten)]
    pub metrics: Metrics,
}

impl Row {
    /// The rows of an evaluation: without the temperature, and with it if there is one.
    pub fn all_of(evaluation: &Evaluation) -> Vec<Self> {
        let rows = evaluation.comparison_rows();
        rows.map(|row| Self {
            temperature: row.temperature,
            metrics: Metrics::of(row.scores),
        })
        .collect()
    }
}

/// A network on one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// What was done to the test set.
    pub condition: Condition,
    /// Without the temperature, and with it if there is one.
    pub rows: Vec<Row>,
}
