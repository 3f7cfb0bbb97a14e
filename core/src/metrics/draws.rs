//! Accuracy and likelihood against the number of draws.

use super::{
    DrawProbabilities, MetricError, Predictions, accuracy,
    checks::{check_labels, check_length},
    classification::negative_log,
    nll,
    predictions::most_probable,
    uncertainty::accumulate,
};
use serde::{Deserialize, Serialize};

/// How good one network, or a mean of several, is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawScore {
    /// As [`accuracy`].
    pub accuracy: f64,
    /// As [`nll`].
    pub nll: f64,
}

/// How predictions improve with the number of draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawCurve {
    /// Each draw on its own.
    pub single: Vec<DrawScore>,
    /// The mean probabilities of the first s draws, at index s - 1.
    pub ensemble: Vec<DrawScore>,
    /// The network at the mean of the posterior, when it was given.
    pub mean_network: Option<DrawScore>,
}

impl DrawCurve {
    /// The smallest s after which the likelihood is settled: with any further number of draws that was
    /// tried, the ensemble's NLL differs from that of the first s by less than `tolerance`.
    ///
    /// `None` when only the last point qualifies, of which nothing is known: more draws are needed to
    /// tell. A tolerance of 0, below or NaN gives `None`.
    pub fn draws_until_stable(&self, tolerance: f64) -> Option<usize> {
        let last = self.ensemble.last()?.nll;
        let (mut least, mut most) = (last, last);
        let mut stable = None;
        // From the end, so that the range of all later points is at hand. A point that qualifies makes
        // no promise for those between it and an earlier one, hence no early stop.
        for (index, score) in self.ensemble.iter().enumerate().rev().skip(1) {
            if most - score.nll < tolerance && score.nll - least < tolerance {
                stable = Some(index + 1);
            }
            least = least.min(score.nll);
            most = most.max(score.nll);
        }
        stable
    }
}

/// Scores each draw, the running mean over the draws, and the mean network.
///
/// `labels` has one class per example; `mean_network` is `[examples, classes]`. Running means are summed
/// in `f64` in the order of the draws and rounded to `f32`: the last point of the ensemble is exactly the
/// score of [`Decomposition::mean_probabilities`](super::Decomposition::mean_probabilities).
///
/// # Errors
/// Another number of labels than of examples; a label that is no class; what [`Predictions::new`] refuses
/// in `mean_network`.
///
/// ```
/// use bayesadapter::metrics::{DrawProbabilities, draw_curve};
///
/// // One example of class 0: the first draw is wrong, the second is right and more certain.
/// let draws = DrawProbabilities::new(&[0.4, 0.6, 1.0, 0.0], 2, 2)?;
/// let curve = draw_curve(&draws, &[0], None)?;
/// assert_eq!(curve.single[0].accuracy, 0.0);
/// assert_eq!(curve.ensemble[1].accuracy, 1.0);
/// assert!((curve.ensemble[1].nll + 0.7f64.ln()).abs() < 1e-6);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn draw_curve(
    probabilities: &DrawProbabilities<'_>,
    labels: &[u32],
    mean_network: Option<&[f32]>,
) -> Result<DrawCurve, MetricError> {
    check_length("labels", labels, probabilities.examples())?;
    check_labels(labels, probabilities.classes())?;
    let mean_network = mean_network
        .map(|mean| Predictions::new(mean, probabilities.classes(), labels))
        .transpose()?
        .map(|mean| DrawScore {
            accuracy: accuracy(&mean),
            nll: nll(&mean),
        });
    let mut single = vec![Tally::default(); probabilities.draws()];
    let mut ensemble = single.clone();
    let mut sum = vec![0.0; probabilities.classes()];
    let mut mean = vec![0.0; probabilities.classes()];
    for (example, &label) in labels.iter().enumerate() {
        sum.fill(0.0);
        for (draw, row) in probabilities.rows_of(example).enumerate() {
            single[draw].add(row, label);
            accumulate(&mut sum, row);
            for (mean, sum) in mean.iter_mut().zip(&sum) {
                *mean = (sum / (draw + 1) as f64) as f32;
            }
            ensemble[draw].add(&mean, label);
        }
    }
    let scores = |tallies: Vec<Tally>| tallies.iter().map(|t| t.score(labels.len())).collect();
    Ok(DrawCurve {
        single: scores(single),
        ensemble: scores(ensemble),
        mean_network,
    })
}

#[derive(Clone, Copy, Default)]
struct Tally {
    correct: usize,
    negative_log_sum: f64,
}

impl Tally {
    fn add(&mut self, row: &[f32], label: u32) {
        self.correct += usize::from(most_probable(row) == label);
        self.negative_log_sum += negative_log(row[label as usize]);
    }

    fn score(&self, examples: usize) -> DrawScore {
        DrawScore {
            accuracy: self.correct as f64 / examples as f64,
            nll: self.negative_log_sum / examples as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::decompose;

    fn curve_of(nlls: &[f64]) -> DrawCurve {
        let score = |&nll| DrawScore { accuracy: 0.0, nll };
        DrawCurve {
            single: Vec::new(),
            ensemble: nlls.iter().map(score).collect(),
            mean_network: None,
        }
    }

    #[test]
    fn stable_means_that_all_later_points_stay_near() {
        let curve = curve_of(&[1.0, 0.5, 0.42, 0.4, 0.41]);
        assert_eq!(curve.draws_until_stable(0.05), Some(3));
        assert_eq!(curve.draws_until_stable(0.2), Some(2));
        assert_eq!(curve.draws_until_stable(2.0), Some(1));
        assert_eq!(curve.draws_until_stable(0.001), None);
    }

    #[test]
    fn slow_drift_is_not_stable() {
        // Every step is small, the way is not.
        let nlls: Vec<f64> = (0..10).map(|s| 1.0 - 0.01 * f64::from(s)).collect();
        assert_eq!(curve_of(&nlls).draws_until_stable(0.035), Some(7));
    }

    #[test]
    fn nothing_can_be_told_of_one_draw_or_an_odd_tolerance() {
        assert_eq!(curve_of(&[]).draws_until_stable(1.0), None);
        assert_eq!(curve_of(&[0.5]).draws_until_stable(1.0), None);
        for tolerance in [0.0, -1.0, f64::NAN] {
            assert_eq!(curve_of(&[0.5, 0.5]).draws_until_stable(tolerance), None);
        }
    }

    #[test]
    fn ends_agree_with_the_single_functions() {
        let probabilities = [
            0.9, 0.1, 0.0, 0.3, 0.3, 0.4, 0.2, 0.5, 0.3, 0.1, 0.1, 0.8, 0.5, 0.25, 0.25, 0.0, 1.0,
            0.0,
        ];
        let draws = DrawProbabilities::new(&probabilities, 3, 3).unwrap();
        let labels = [0, 2];
        let mean_network = [0.6, 0.2, 0.2, 0.0, 1.0, 0.0];
        let curve = draw_curve(&draws, &labels, Some(&mean_network)).unwrap();
        let score = |rows: &[f32]| {
            let predictions = Predictions::new(rows, 3, &labels).unwrap();
            DrawScore {
                accuracy: accuracy(&predictions),
                nll: nll(&predictions),
            }
        };
        let expected: Vec<DrawScore> = probabilities.chunks(6).map(score).collect();
        assert_eq!(curve.single, expected);
        assert_eq!(curve.ensemble[0], curve.single[0]);
        assert_eq!(
            curve.ensemble[2],
            score(&decompose(&draws).mean_probabilities)
        );
        assert_eq!(curve.mean_network, Some(score(&mean_network)));
        assert!(curve.single[2].nll.is_finite());
    }

    #[test]
    fn wrong_input_is_named() {
        let draws = DrawProbabilities::new(&[0.5, 0.5, 0.5, 0.5], 2, 2).unwrap();
        let many = draw_curve(&draws, &[0, 1], None).unwrap_err();
        assert!(matches!(many, MetricError::Length { expected: 1, .. }));
        let label = draw_curve(&draws, &[2], None).unwrap_err();
        assert!(matches!(label, MetricError::Label { label: 2, .. }));
        let mean = draw_curve(&draws, &[1], Some(&[3.0, -2.0])).unwrap_err();
        assert!(matches!(mean, MetricError::Probability { class: 1, .. }));
    }
}
