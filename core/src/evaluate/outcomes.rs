//! What a network said of each example.

use crate::{
    metrics::{DrawProbabilities, MetricError, predictions::most_probable},
    predict::Prediction,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A measure of uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// How much the draws disagree, in nats: what the weights do not know.
    MutualInformation,
    /// Entropy of the mean probabilities, in nats: all uncertainty.
    Entropy,
    /// One minus the probability of the predicted class.
    Doubt,
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::MutualInformation => "mutual information",
            Self::Entropy => "entropy",
            Self::Doubt => "1 - confidence",
        })
    }
}

/// What a network said of each example; all lists have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcomes {
    /// The most probable class.
    pub predicted: Vec<u32>,
    /// Its probability.
    pub confidence: Vec<f32>,
    /// All uncertainty, in nats.
    pub entropy: Vec<f64>,
    /// The part of it that more training data would not remove, in nats.
    pub aleatoric_entropy: Vec<f64>,
    /// The part of it that the draws disagree about, in nats.
    pub mutual_information: Vec<f64>,
}

impl Outcomes {
    /// Number of examples.
    pub fn len(&self) -> usize {
        self.predicted.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.predicted.is_empty()
    }

    /// The uncertainty of each example, higher where the network is less sure.
    pub fn uncertainty(&self, measure: Measure) -> Vec<f64> {
        match measure {
            Measure::MutualInformation => self.mutual_information.clone(),
            Measure::Entropy => self.entropy.clone(),
            Measure::Doubt => {
                let doubt = |&confidence: &f32| 1.0 - f64::from(confidence);
                self.confidence.iter().map(doubt).collect()
            }
        }
    }

    pub(super) fn of(prediction: &Prediction) -> Result<Self, MetricError> {
        // One draw, since the mean probabilities are checked like those of a draw.
        let rows = DrawProbabilities::new(prediction.probabilities(), 1, prediction.classes)?;
        for (what, values) in [
            ("entropy", prediction.entropy()),
            ("aleatoric entropy", prediction.aleatoric_entropy()),
            ("mutual information", prediction.mutual_information()),
        ] {
            check_finite(what, values, rows.examples())?;
        }
        let rows = prediction.probabilities().chunks_exact(prediction.classes);
        let predicted: Vec<u32> = rows.clone().map(most_probable).collect();
        let confidence = rows
            .zip(&predicted)
            // Rounding may lift a probability above 1.
            .map(|(row, &class)| row[class as usize].min(1.0))
            .collect();
        Ok(Self {
            confidence,
            predicted,
            entropy: prediction.entropy().to_vec(),
            aleatoric_entropy: prediction.aleatoric_entropy().to_vec(),
            mutual_information: prediction.mutual_information().to_vec(),
        })
    }

    pub(super) fn append(&mut self, mut later: Self) {
        self.predicted.append(&mut later.predicted);
        self.confidence.append(&mut later.confidence);
        self.entropy.append(&mut later.entropy);
        self.aleatoric_entropy.append(&mut later.aleatoric_entropy);
        self.mutual_information
            .append(&mut later.mutual_information);
    }
}

/// A [`Prediction`] has public fields, so its parts may disagree.
fn check_finite(what: &'static str, values: &[f64], expected: usize) -> Result<(), MetricError> {
    let found = values.len();
    if found != expected {
        return Err(MetricError::Length {
            what,
            expected,
            found,
        });
    }
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(position) => Err(MetricError::Score {
            what,
            position,
            value: values[position],
            needed: "a finite number",
        }),
    }
}
