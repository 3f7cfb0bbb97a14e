//! Probabilities of all draws, and what follows from them.

use super::PredictError;
use crate::metrics::{Decomposition, DrawProbabilities, decompose, predictions::most_probable};
use serde::{Deserialize, Serialize};

/// What the draws say of each example, and how sure they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Number of classes.
    pub classes: usize,
    /// The draws that were used; none if the network was at its mean.
    pub draws: Vec<u32>,
    /// Mean probabilities and the parts of their uncertainty, in nats.
    pub summary: Decomposition,
    /// Probabilities of every draw, `[draws, examples, classes]`, if asked for.
    pub draw_probabilities: Option<Vec<f32>>,
    /// Features averaged over the draws, `[examples, features]`, if asked for and the network has some. Of a network
    /// without a classifier they are the only meaningful part.
    pub features: Option<Vec<f32>>,
}

impl Prediction {
    /// Number of examples.
    pub fn examples(&self) -> usize {
        self.summary.total_entropy.len()
    }

    /// Mean probabilities, `[examples, classes]` row by row.
    pub fn probabilities(&self) -> &[f32] {
        &self.summary.mean_probabilities
    }

    /// The likeliest class of each example; of equal ones the first.
    pub fn predicted_classes(&self) -> Vec<u32> {
        let rows = self.probabilities().chunks(self.classes);
        rows.map(most_probable).collect()
    }

    /// What the weights do not know, per example: zero if all draws agree.
    pub fn mutual_information(&self) -> &[f64] {
        &self.summary.mutual_information
    }

    /// All uncertainty, per example.
    pub fn entropy(&self) -> &[f64] {
        &self.summary.total_entropy
    }

    /// What the data leave open, per example.
    pub fn aleatoric_entropy(&self) -> &[f64] {
        &self.summary.aleatoric_entropy
    }
}

/// What the network said of some of the examples, for one or several draws in turn.
pub(super) struct Part {
    pub classes: usize,
    pub probabilities: Vec<f32>,
    /// Their number per example, and their values.
    pub features: Option<(usize, Vec<f32>)>,
}

/// The draws so far.
pub(super) struct Outcome {
    examples: usize,
    classes: usize,
    runs: usize,
    draws: Vec<u32>,
    /// `[runs, examples, classes]`
    probabilities: Vec<f32>,
    /// Sums of them over the runs, `[examples, classes]`.
    sums: Vec<f64>,
    /// Sums over the runs, `[examples, features]`.
    features: Vec<f64>,
}

impl Outcome {
    pub(super) fn new(examples: usize) -> Result<Self, PredictError> {
        if examples == 0 {
            return Err(PredictError::NoExamples);
        }
        Ok(Self {
            examples,
            classes: 0,
            runs: 0,
            draws: Vec::new(),
            probabilities: Vec::new(),
            sums: Vec::new(),
            features: Vec::new(),
        })
    }

    /// Adds `count` draws from `first` on, or the mean network. The parts hold all examples in order, each
    /// with its draws one after the other.
    pub(super) fn add(
        &mut self,
        first: Option<u32>,
        count: u32,
        parts: Vec<Part>,
    ) -> Result<(), PredictError> {
        let count_rows = count as usize;
        self.classes = parts.first().map_or(0, |part| part.classes);
        let before = self.probabilities.len();
        for draw in 0..count_rows {
            for part in &parts {
                let each = part.probabilities.len() / count_rows;
                let of_draw = &part.probabilities[draw * each..(draw + 1) * each];
                self.probabilities.extend_from_slice(of_draw);
            }
        }
        let mut start = 0;
        for part in &parts {
            let rows = part.probabilities.len() / (part.classes * count_rows);
            if let Some((width, features)) = &part.features {
                self.features.resize(self.examples * width, 0.0);
                let sums = &mut self.features[start * width..(start + rows) * width];
                for of_draw in features.chunks(rows * width) {
                    for (sum, &value) in sums.iter_mut().zip(of_draw) {
                        *sum += f64::from(value);
                    }
                }
            }
            start += rows;
        }
        self.runs += count_rows;
        let draws = (0..count).filter_map(|draw| Some(first?.wrapping_add(draw)));
        self.draws.extend(draws);
        let added = &self.probabilities[before..];
        // Here rather than at the end: a network that returns no numbers never settles.
        DrawProbabilities::new(added, count_rows, self.classes)?;
        let each = self.examples * self.classes;
        self.sums.resize(each, 0.0);
        for of_draw in added.chunks(each) {
            for (sum, &probability) in self.sums.iter_mut().zip(of_draw) {
                *sum += f64::from(probability);
            }
        }
        Ok(())
    }

    /// Mean probabilities so far, `[examples, classes]`; empty before the first draw.
    pub(super) fn mean(&self) -> Vec<f32> {
        let runs = self.runs as f64;
        self.sums.iter().map(|sum| (sum / runs) as f32).collect()
    }

    pub(super) fn finish(self, keep_draws: bool) -> Result<Prediction, PredictError> {
        let draws = DrawProbabilities::new(&self.probabilities, self.runs, self.classes)?;
        let summary = decompose(&draws);
        let runs = self.runs as f64;
        let mean_features = |sums: Vec<f64>| sums.iter().map(|sum| (sum / runs) as f32).collect();
        Ok(Prediction {
            classes: self.classes,
            draws: self.draws,
            summary,
            features: (!self.features.is_empty()).then(|| mean_features(self.features)),
            draw_probabilities: keep_draws.then_some(self.probabilities),
        })
    }
}
