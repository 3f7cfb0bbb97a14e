//! What follows from the probabilities of all draws, which need not be kept for it.

use super::PredictError;
use crate::metrics::{
    Decomposition, DrawProbabilities, DrawSums, MetricError, Temperature, entropy,
    predictions::most_probable,
};
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
        // The fields are public: there may be no classes at all.
        let rows = self.probabilities().chunks(self.classes.max(1));
        rows.map(most_probable).collect()
    }

    /// The same prediction with a temperature, which changes the mean probabilities and their entropy. What the draws
    /// disagree about, and the entropy of each, stay as they are: the parts of the uncertainty add up without a
    /// temperature only.
    ///
    /// # Errors
    ///
    /// Probabilities that are none.
    pub fn with_temperature(mut self, temperature: Temperature) -> Result<Self, MetricError> {
        if temperature != Temperature::ONE {
            let summary = &mut self.summary;
            temperature.apply(&mut summary.mean_probabilities, self.classes)?;
            summary.total_entropy = row_entropies(&summary.mean_probabilities, self.classes);
        }
        Ok(self)
    }

    /// The likeliest class of an example and its probability, if there is such an example.
    pub fn most_probable(&self, example: usize) -> Option<(u32, f64)> {
        let mut rows = self.probabilities().chunks(self.classes.max(1));
        let row = rows.nth(example)?;
        let class = most_probable(row);
        Some((class, f64::from(*row.get(class as usize)?)))
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

/// Entropy of every row of probabilities `[examples, classes]`, in nats.
pub(crate) fn row_entropies(probabilities: &[f32], classes: usize) -> Vec<f64> {
    let rows = probabilities.chunks_exact(classes.max(1));
    rows.map(|row| entropy(row.iter().copied().map(f64::from)))
        .collect()
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
    draws: Vec<u32>,
    /// Of every run, draws or the mean network; none before the first.
    sums: Option<DrawSums>,
    /// `[runs, examples, classes]`, if they shall be kept.
    kept: Option<Vec<f32>>,
    /// Sums over the runs, `[examples, features]`.
    features: Vec<f64>,
}

impl Outcome {
    pub(super) fn new(examples: usize, keep_draws: bool) -> Result<Self, PredictError> {
        if examples == 0 {
            return Err(PredictError::NoExamples);
        }
        Ok(Self {
            examples,
            draws: Vec::new(),
            sums: None,
            kept: keep_draws.then(Vec::new),
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
        let classes = parts.first().map_or(0, |part| part.classes);
        let mut added = Vec::with_capacity(count_rows * self.examples * classes);
        for draw in 0..count_rows {
            for part in &parts {
                let each = part.probabilities.len() / count_rows;
                let of_draw = &part.probabilities[draw * each..(draw + 1) * each];
                added.extend_from_slice(of_draw);
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
        let draws = (0..count).filter_map(|draw| Some(first?.wrapping_add(draw)));
        self.draws.extend(draws);
        // Here rather than at the end: a network that returns no numbers never settles.
        let checked = DrawProbabilities::new(&added, count_rows, classes)?;
        let sums = self
            .sums
            .get_or_insert_with(|| DrawSums::new(self.examples, classes));
        sums.add(&checked);
        if let Some(kept) = &mut self.kept {
            kept.append(&mut added);
        }
        Ok(())
    }

    /// Mean probabilities so far, `[examples, classes]`; empty before the first draw.
    pub(super) fn mean(&self) -> Vec<f32> {
        self.sums.as_ref().map_or_else(Vec::new, DrawSums::mean)
    }

    pub(super) fn finish(self) -> Result<Prediction, PredictError> {
        let sums = self.sums.ok_or(PredictError::NoDraws)?;
        let runs = sums.draws() as f64;
        let mean_features = |sums: Vec<f64>| sums.iter().map(|sum| (sum / runs) as f32).collect();
        Ok(Prediction {
            classes: sums.classes(),
            draws: self.draws,
            summary: sums.decompose(),
            features: (!self.features.is_empty()).then(|| mean_features(self.features)),
            draw_probabilities: self.kept,
        })
    }
}
