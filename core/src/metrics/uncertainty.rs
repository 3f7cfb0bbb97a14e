//! Uncertainty by its origin: the data, or the weights.

use super::DrawProbabilities;
use serde::{Deserialize, Serialize};

/// What several draws of the weights say together. Entropies are in nats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decomposition {
    /// The prediction: mean over the draws, `[examples, classes]` row by row. It is summed in `f64` in the
    /// order of the draws and rounded once, ready for [`Predictions::new`](super::Predictions::new).
    pub mean_probabilities: Vec<f32>,
    /// All uncertainty, per example: the entropy of the mean.
    pub total_entropy: Vec<f64>,
    /// Uncertainty of the data, per example: the mean entropy of the draws.
    pub aleatoric_entropy: Vec<f64>,
    /// Uncertainty of the weights, per example: total less aleatoric, at least 0.
    pub mutual_information: Vec<f64>,
}

/// Splits the uncertainty of each example into what the data and what the weights contribute.
///
/// 0 ln 0 is 0, so certain predictions are fine. All entropies are finite and at least 0. Mutual
/// information is at most ln(draws), give or take rounding. It is exactly 0 for a single draw, and where
/// rounding, or rows that do not quite sum to 1, would make it negative.
///
/// ```
/// use bayesadapter::metrics::{DrawProbabilities, decompose};
///
/// // Two draws that are each certain, of the same class or of different ones.
/// let agree = decompose(&DrawProbabilities::new(&[1.0, 0.0, 1.0, 0.0], 2, 2)?);
/// assert_eq!(agree.mutual_information, [0.0]);
/// let disagree = decompose(&DrawProbabilities::new(&[1.0, 0.0, 0.0, 1.0], 2, 2)?);
/// assert_eq!(disagree.mean_probabilities, [0.5, 0.5]);
/// assert_eq!(disagree.aleatoric_entropy, [0.0]);
/// assert_eq!(disagree.mutual_information, [2f64.ln()]);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn decompose(probabilities: &DrawProbabilities<'_>) -> Decomposition {
    let mut sums = DrawSums::new(probabilities.examples(), probabilities.classes());
    sums.add(probabilities);
    sums.decompose()
}

/// Sums over draws, from which their [`Decomposition`] follows: the draws themselves need not be kept.
pub(crate) struct DrawSums {
    draws: usize,
    classes: usize,
    /// Of probabilities, `[examples, classes]`.
    probabilities: Vec<f64>,
    /// Of the entropies of the draws, `[examples]`.
    entropies: Vec<f64>,
}

impl DrawSums {
    /// Before the first draw. There is at least one class.
    pub(crate) fn new(examples: usize, classes: usize) -> Self {
        Self {
            draws: 0,
            classes,
            probabilities: vec![0.0; examples * classes],
            entropies: vec![0.0; examples],
        }
    }

    pub(crate) fn draws(&self) -> usize {
        self.draws
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// Adds further draws of the same examples.
    pub(crate) fn add(&mut self, draws: &DrawProbabilities<'_>) {
        self.draws += draws.draws();
        let sums = self.probabilities.chunks_exact_mut(self.classes);
        for (example, (sum, entropies)) in sums.zip(&mut self.entropies).enumerate() {
            for row in draws.rows_of(example) {
                *entropies += entropy(row.iter().copied().map(f64::from));
                accumulate(sum, row);
            }
        }
    }

    /// Mean probabilities of the draws so far, of which there is one at least.
    pub(crate) fn mean(&self) -> Vec<f32> {
        let draws = self.draws as f64;
        let means = self.probabilities.iter().map(|sum| (sum / draws) as f32);
        means.collect()
    }

    /// What the draws so far say together; there is one at least.
    pub(crate) fn decompose(&self) -> Decomposition {
        let draws = self.draws as f64;
        let sums = self.probabilities.chunks_exact(self.classes);
        let total_entropy: Vec<f64> = sums
            .map(|sums| entropy(sums.iter().map(|sum| sum / draws)))
            .collect();
        let aleatoric_entropy: Vec<f64> = self.entropies.iter().map(|sum| sum / draws).collect();
        let both = total_entropy.iter().zip(&aleatoric_entropy);
        Decomposition {
            mean_probabilities: self.mean(),
            mutual_information: both
                .map(|(total, aleatoric)| (total - aleatoric).max(0.0))
                .collect(),
            total_entropy,
            aleatoric_entropy,
        }
    }
}

/// Adds a row to its running sum.
pub(super) fn accumulate(sum: &mut [f64], row: &[f32]) {
    for (sum, &probability) in sum.iter_mut().zip(row) {
        *sum += f64::from(probability);
    }
}

/// In nats. A probability that exceeds 1, which rounding permits, would contribute less than nothing.
pub(crate) fn entropy(probabilities: impl Iterator<Item = f64>) -> f64 {
    probabilities
        .filter(|&probability| probability > 0.0 && probability < 1.0)
        .map(|probability| -probability * probability.ln())
        // Not `sum`, which starts at -0.0.
        .fold(0.0, |sum, term| sum + term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Predictions, accuracy};

    fn of(probabilities: &[f32], draws: usize, classes: usize) -> Decomposition {
        decompose(&DrawProbabilities::new(probabilities, draws, classes).unwrap())
    }

    #[test]
    fn entropy_at_its_ends() {
        assert_eq!(entropy([1.0, 0.0].into_iter()), 0.0);
        assert!(entropy([1.0, 0.0].into_iter()).is_sign_positive());
        assert!((entropy([0.25; 4].into_iter()) - 4f64.ln()).abs() < 1e-15);
        // The smallest positive f32, whose logarithm is finite in f64.
        assert!(entropy([f64::from(f32::from_bits(1))].into_iter()) > 0.0);
    }

    #[test]
    fn one_draw_has_no_mutual_information() {
        let found = of(&[0.3, 0.7, 0.9, 0.1], 1, 2);
        assert_eq!(found.mutual_information, [0.0, 0.0]);
        assert_eq!(found.total_entropy, found.aleatoric_entropy);
        assert_eq!(found.mean_probabilities, [0.3, 0.7, 0.9, 0.1]);
    }

    #[test]
    fn identical_draws_have_none_either() {
        let row = [0.1f32, 0.2, 0.7];
        let found = of(&row.repeat(7), 7, 3);
        assert!(found.mutual_information[0] < 1e-12);
        assert_eq!(found.mean_probabilities, row);
    }

    #[test]
    fn rows_of_unequal_sums_do_not_turn_negative() {
        // The second draw has some entropy and the mean, exactly 1, has none.
        let found = of(&[1.000_9, 0.0, 0.999_1, 0.0], 2, 2);
        assert!(found.aleatoric_entropy[0] > found.total_entropy[0]);
        assert_eq!(found.mutual_information, [0.0]);
    }

    #[test]
    fn mutual_information_is_at_most_the_logarithm_of_the_draws() {
        let certain_of_three = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let found = of(&certain_of_three, 3, 3);
        assert!((found.mutual_information[0] - 3f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn the_mean_is_ready_to_be_scored() {
        let found = of(&[0.9, 0.1, 0.2, 0.8, 0.7, 0.3, 0.6, 0.4], 2, 2);
        let predictions = Predictions::new(&found.mean_probabilities, 2, &[0, 1]).unwrap();
        assert_eq!(accuracy(&predictions), 1.0);
    }
}
