//! Coverage and size of prediction sets on labelled images.

use super::{Conformal, ranking};
use crate::metrics::{Predictions, order::mean};
use serde::{Deserialize, Serialize};

/// How good prediction sets are on images that they were not calibrated on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetScores {
    /// The share of images whose true class is in their set. It varies around the coverage asked for with a
    /// standard deviation of about sqrt(c (1 - c) (1/n + 1/m)) for n calibration images and m here.
    pub coverage: f64,
    /// The mean number of classes in a set.
    pub mean_size: f64,
    /// The number of classes in the largest set.
    pub largest: usize,
    /// The share of images whose set is a single class.
    pub singletons: f64,
    /// The share of those whose single class is the true one; `None` when there are none.
    pub singleton_coverage: Option<f64>,
}

impl Conformal {
    /// Scores the sets of images that were not used for calibration, of as many classes.
    ///
    /// ```
    /// use bayesadapter::metrics::{Conformal, ConformalMethod, Predictions};
    ///
    /// let validation = [0.8, 0.2, 0.6, 0.4, 0.7, 0.3, 0.9, 0.1];
    /// let validation = Predictions::new(&validation, 2, &[0, 1, 0, 0])?;
    /// let sets = Conformal::calibrate(&validation, ConformalMethod::Threshold, 0.75)?;
    ///
    /// // The threshold is 0.6: the first set is [0, 1] and the second [1].
    /// let test = Predictions::new(&[0.55, 0.45, 0.3, 0.7], 2, &[1, 0])?;
    /// let scores = sets.score(&test);
    /// assert_eq!((scores.coverage, scores.mean_size, scores.singletons), (0.5, 1.5, 0.5));
    /// # Ok::<(), bayesadapter::metrics::MetricError>(())
    /// ```
    pub fn score(&self, predictions: &Predictions<'_>) -> SetScores {
        let examples = predictions.examples() as f64;
        let (mut covered, mut classes, mut largest) = (0, 0, 0);
        let (mut singletons, mut singletons_covered) = (0, 0);
        for (row, label) in predictions.labelled_rows() {
            let ranking = ranking(row);
            let set = &ranking[..self.size(row, &ranking)];
            let hit = usize::from(set.contains(&label));
            covered += hit;
            classes += set.len();
            largest = largest.max(set.len());
            if set.len() == 1 {
                singletons += 1;
                singletons_covered += hit;
            }
        }
        SetScores {
            coverage: covered as f64 / examples,
            mean_size: classes as f64 / examples,
            largest,
            singletons: singletons as f64 / examples,
            singleton_coverage: mean(singletons_covered as f64, singletons),
        }
    }
}
