//! Prediction sets with a guaranteed coverage: split conformal prediction.

mod method;
mod scores;

pub use method::ConformalMethod;
pub use scores::SetScores;

use super::{MetricError, Predictions};
use serde::{Deserialize, Serialize};

/// The weight of RAPS' penalty per class, unless told otherwise.
pub const RAPS_LAMBDA: f64 = 0.01;

/// How [`ConformalMethod::Raps`] penalises large sets: a class of rank r, counted from 1, costs
/// `lambda * max(0, r - k_reg)` on top of the probability ahead of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RapsPenalty {
    /// How many classes are free of it, at least 1.
    pub k_reg: usize,
    /// What each class beyond them costs more than the one before, at least 0. With 0, RAPS is APS.
    pub lambda: f64,
}

impl RapsPenalty {
    /// [`RAPS_LAMBDA`], and 5 free classes as is usual on ImageNet, but no more than a tenth of all classes:
    /// with 5 free classes of 10, the penalty would hardly ever matter.
    pub fn for_classes(classes: usize) -> Self {
        Self {
            k_reg: (classes / 10).clamp(1, 5),
            lambda: RAPS_LAMBDA,
        }
    }

    fn check(self) -> Result<Self, MetricError> {
        if self.k_reg == 0 {
            return Err(MetricError::Zero { what: "k_reg" });
        }
        if self.lambda.is_finite() && self.lambda >= 0.0 {
            return Ok(self);
        }
        Err(MetricError::Setting {
            what: "lambda of RAPS",
            value: self.lambda,
            needed: "a finite number of at least 0",
        })
    }

    /// Of the class at a position in the ranking, which counts from 0.
    fn at(self, position: usize) -> f64 {
        self.lambda * (position + 1).saturating_sub(self.k_reg) as f64
    }
}

/// Prediction sets: for each image, the classes that it may be, chosen so that the true one is among them
/// with a probability of at least `coverage`.
///
/// Every class of an image has a score, higher for less plausible ones (see [`ConformalMethod`]). Of the n
/// calibration images, the score of the true class is known; the threshold is the ceil((n + 1) coverage)-th
/// smallest of them, rounded up in the 14th digit. A set holds the classes whose score is not above the
/// threshold, and always the most probable class, which can only raise the coverage.
///
/// # What is guaranteed
/// Coverage, on average over images that come from where the calibration images come from and over the
/// choice of those, whatever the network is. Not the coverage of one class, of difficult images, or of OOD
/// images. The network must not have been trained on the calibration images: scores of images that it
/// knows by heart are too small, and so are the sets. If a [`Temperature`](super::Temperature) is used, apply
/// it before calibration as well as before [`set`](Self::set); one fitted on the same images weakens the
/// guarantee only by what one number can adapt to them.
///
/// If the network is correct more often than the coverage asked for, the sets hold little but the most
/// probable class and cover more: ask for 0.95 or 0.99 then.
///
/// ```
/// use bayesadapter::metrics::{Conformal, ConformalMethod, Predictions};
///
/// let probabilities = [0.8, 0.1, 0.1, 0.5, 0.3, 0.2, 0.6, 0.3, 0.1, 0.2, 0.7, 0.1];
/// let validation = Predictions::new(&probabilities, 3, &[0, 1, 0, 1])?;
/// let sets = Conformal::calibrate(&validation, ConformalMethod::Threshold, 0.8)?;
/// assert!((sets.threshold().unwrap() - 0.7).abs() < 1e-6); // 4th smallest of 0.2, 0.7, 0.4, 0.3
/// assert_eq!(sets.set(&[0.05, 0.5, 0.45]), [1, 2]);
/// assert_eq!(sets.set(&[0.9, 0.06, 0.04]), [0]);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Conformal {
    method: ConformalMethod,
    coverage: f64,
    examples: usize,
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raps: Option<RapsPenalty>,
}

impl Conformal {
    /// Chooses the threshold on images that the network was not trained on. RAPS takes
    /// [`RapsPenalty::for_classes`].
    ///
    /// With too few images for the coverage (fewer than `coverage / (1 - coverage)`: 9 for 0.9, 99 for 0.99),
    /// only sets of all classes have it: [`threshold`](Self::threshold) is `None` then.
    ///
    /// # Errors
    /// `coverage` is not between 0 and 1, both excluded.
    pub fn calibrate(
        predictions: &Predictions<'_>,
        method: ConformalMethod,
        coverage: f64,
    ) -> Result<Self, MetricError> {
        let penalty = RapsPenalty::for_classes(predictions.classes());
        let raps = (method == ConformalMethod::Raps).then_some(penalty);
        Self::calibrated(predictions, method, coverage, raps)
    }

    /// [`calibrate`](Self::calibrate) by RAPS with a penalty of one's own. Choose it before looking at these
    /// images, or on others: a penalty that was tuned on them costs coverage.
    ///
    /// # Errors
    /// As [`calibrate`](Self::calibrate); `k_reg` is 0; `lambda` is negative, infinite or NaN.
    pub fn calibrate_raps(
        predictions: &Predictions<'_>,
        coverage: f64,
        penalty: RapsPenalty,
    ) -> Result<Self, MetricError> {
        let raps = Some(penalty.check()?);
        Self::calibrated(predictions, ConformalMethod::Raps, coverage, raps)
    }

    fn calibrated(
        predictions: &Predictions<'_>,
        method: ConformalMethod,
        coverage: f64,
        raps: Option<RapsPenalty>,
    ) -> Result<Self, MetricError> {
        let mut sets = Self {
            method,
            coverage: checked_coverage(coverage)?,
            examples: predictions.examples(),
            threshold: None,
            raps,
        };
        let mut scores: Vec<f64> = predictions
            .labelled_rows()
            .map(|(row, label)| sets.label_score(row, label))
            .collect();
        scores.sort_by(f64::total_cmp);
        let place = quantile_place(scores.len(), coverage);
        sets.threshold = scores.get(place - 1).copied().map(rounded_up);
        Ok(sets)
    }

    /// How classes are scored.
    pub fn method(&self) -> ConformalMethod {
        self.method
    }

    /// The coverage asked for.
    pub fn coverage(&self) -> f64 {
        self.coverage
    }

    /// The number of calibration images.
    pub fn examples(&self) -> usize {
        self.examples
    }

    /// The highest score of a class in a set; `None` where there were too few calibration images, so that
    /// every set holds all classes.
    pub fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    /// The penalty of [`ConformalMethod::Raps`]; `None` for other methods.
    pub fn penalty(&self) -> Option<RapsPenalty> {
        self.raps
    }

    /// The classes that an image may be, from the most to the least probable; of equals, the lower first.
    /// Never empty, but for an empty row.
    ///
    /// `row` holds the probabilities of all classes, as in calibration. It is not checked.
    pub fn set(&self, row: &[f32]) -> Vec<u32> {
        let ranking = ranking(row);
        let size = self.size(row, &ranking);
        ranking.into_iter().take(size).collect()
    }

    /// How many classes of the ranking are in the set. Scores do not fall along it.
    fn size(&self, row: &[f32], ranking: &[u32]) -> usize {
        let Some(threshold) = self.threshold else {
            return ranking.len();
        };
        let scores = self.ranked_scores(row, ranking);
        let within = scores.take_while(|&score| score <= threshold).count();
        within.max(1).min(ranking.len())
    }

    fn label_score(&self, row: &[f32], label: u32) -> f64 {
        let ranking = ranking(row);
        let mut scores = ranking.iter().zip(self.ranked_scores(row, &ranking));
        // There is one: labels are checked to be classes.
        let of_label = scores.find(|&(&class, _)| class == label);
        of_label.map_or(f64::INFINITY, |(_, score)| score)
    }

    /// The scores of the classes in falling order of probability. Calibration and prediction both sum in
    /// this order, so that equal rows have equal scores to the last bit.
    fn ranked_scores(&self, row: &[f32], ranking: &[u32]) -> impl Iterator<Item = f64> {
        let mut ahead = 0.0;
        ranking.iter().enumerate().map(move |(position, &class)| {
            let probability = f64::from(row[class as usize]);
            let penalty = self.raps.map_or(0.0, |raps| raps.at(position));
            let score = match self.method {
                ConformalMethod::Threshold => 1.0 - probability,
                ConformalMethod::Aps | ConformalMethod::Raps => ahead + penalty,
            };
            ahead += probability;
            score
        })
    }
}

/// What a file holds, before it is checked.
#[derive(Deserialize)]
struct Stored {
    method: ConformalMethod,
    coverage: f64,
    examples: usize,
    threshold: Option<f64>,
    raps: Option<RapsPenalty>,
}

impl TryFrom<Stored> for Conformal {
    type Error = MetricError;

    fn try_from(stored: Stored) -> Result<Self, MetricError> {
        let raps = stored.raps.map(RapsPenalty::check).transpose()?;
        if raps.is_some() != (stored.method == ConformalMethod::Raps) {
            return Err(MetricError::Penalty {
                method: stored.method,
            });
        }
        if let Some(value) = stored.threshold.filter(|value| !value.is_finite()) {
            return Err(MetricError::Setting {
                what: "threshold of prediction sets",
                value,
                needed: "a finite number",
            });
        }
        Ok(Self {
            method: stored.method,
            coverage: checked_coverage(stored.coverage)?,
            examples: stored.examples,
            threshold: stored.threshold,
            raps,
        })
    }
}

fn checked_coverage(value: f64) -> Result<f64, MetricError> {
    if value > 0.0 && value < 1.0 {
        return Ok(value);
    }
    Err(MetricError::Setting {
        what: "coverage",
        value,
        needed: "a number above 0 and below 1",
    })
}

/// ceil((n + 1) coverage), at least 1. It is n + 1 where n examples are too few.
fn quantile_place(examples: usize, coverage: f64) -> usize {
    // 100 * 0.55 is a little more than 55 in `f64`, and must not become 56.
    let place = (examples as f64 + 1.0) * coverage - 1e-9;
    place.ceil().max(1.0) as usize
}

/// To 15 digits, which every reader of JSON brings back exactly; of 17, `serde_json` may change the last. A
/// higher threshold never covers less.
fn rounded_up(threshold: f64) -> f64 {
    let rounded = |value: f64| format!("{value:.14e}").parse().unwrap_or(value);
    let nearest = rounded(threshold);
    if nearest >= threshold {
        nearest
    } else {
        rounded(threshold + 1e-14 * threshold.abs())
    }
}

/// Classes in falling order of probability; of equals, the lower first.
fn ranking(row: &[f32]) -> Vec<u32> {
    let mut classes: Vec<u32> = (0..row.len() as u32).collect();
    // Adding zero turns -0.0 into 0.0, which the total order would separate.
    let probability = |class: u32| row[class as usize] + 0.0;
    classes.sort_by(|&a, &b| probability(b).total_cmp(&probability(a)));
    classes
}

#[cfg(test)]
mod tests;
