//! Temperature scaling: one number that makes confidences as high as they should be.

mod brent;

use super::{
    MetricError, PROBABILITY_FLOOR, Predictions,
    checks::{check_length, check_rows},
    predictions::most_probable,
};
use brent::{Point, minimum};
use serde::{Deserialize, Serialize};
use std::{fmt, ops::RangeInclusive};

/// The temperatures that [`Temperature::fit`] chooses from. Images that are confidently wrong more often
/// than not have no best temperature below infinity; the end of this range is the answer then.
pub const TEMPERATURE_RANGE: RangeInclusive<f64> = 0.05..=20.0;

/// A gain of negative log-likelihood, in nats, for which no temperature but 1 is chosen.
const NEGLIGIBLE: f64 = 1e-12;
/// Nine decimals are more than a fit determines, and few enough for every reader of JSON to bring them back
/// exactly; of 17 digits, `serde_json` may change the last.
const DIGITS: f64 = 1e9;

/// A temperature `T` for class probabilities: `p` becomes `p^(1/T)`, normalised to sum to 1.
///
/// Above 1 it lowers the confidence, below 1 it raises it; 1 changes nothing. The order of the classes
/// stays, and so does the accuracy (only probabilities that differ in their last digits may become equal).
/// For the softmax of one network, it is the usual temperature scaling of the logits (Guo et al., "On
/// Calibration of Modern Neural Networks", 2017), since `p^(1/T)` is `exp(logit / T)` up to a factor.
///
/// For several draws, it applies to the mean of their probabilities: pool first, then calibrate. The mean of
/// draws that were each calibrated would be underconfident (Rahaman and Thiery, "Uncertainty Quantification
/// and Deep Ensembles", 2021).
///
/// Fit it on images that the network was not trained on. On training images nearly everything is correct,
/// and the temperature comes out near or below 1, however overconfident the network is on new images.
///
/// ```
/// use bayesadapter::metrics::{Predictions, Temperature, nll};
///
/// // 90 % confidence, of which one in four is wrong.
/// let mut probabilities = [0.9, 0.1].repeat(4);
/// let labels = [0, 0, 0, 1];
/// let predictions = Predictions::new(&probabilities, 2, &labels)?;
/// let before = nll(&predictions);
/// let temperature = Temperature::fit(&predictions)?;
/// assert!((temperature.value() - 2.0).abs() < 1e-6); // 0.9 : 0.1 becomes 3 : 1
///
/// temperature.apply(&mut probabilities, 2)?;
/// assert!((probabilities[0] - 0.75).abs() < 1e-6);
/// assert!(nll(&Predictions::new(&probabilities, 2, &labels)?) < before);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Temperature(f64);

impl Temperature {
    /// The temperature that changes nothing.
    pub const ONE: Self = Self(1.0);

    /// A temperature that is known already.
    ///
    /// # Errors
    /// It is not positive and finite.
    pub fn new(value: f64) -> Result<Self, MetricError> {
        if value.is_finite() && value > 0.0 {
            Ok(Self(value))
        } else {
            Err(MetricError::Setting {
                what: "temperature",
                value,
                needed: "a positive, finite number",
            })
        }
    }

    /// The temperature within [`TEMPERATURE_RANGE`] that makes the labels most probable.
    ///
    /// The negative log-likelihood is convex in 1/T, so it has no local minima: Brent's method over ln T
    /// finds the best T. It is 1 where no other is better, as for a single class and for uniform
    /// probabilities, and where all predictions are correct, which tells nothing of T. Probabilities count as
    /// at least [`PROBABILITY_FLOOR`], as in [`nll`](super::nll). The order of the examples matters only for
    /// digits after the sixth. Takes 8 bytes of memory per probability.
    ///
    /// # Errors
    /// None at present: the predictions are checked already.
    pub fn fit(predictions: &Predictions<'_>) -> Result<Self, MetricError> {
        // The likelihood has no maximum then: it rises as T falls, whatever the confidence, and such images say nothing
        // of T.
        if predictions.correct().iter().all(|&correct| correct) {
            return Ok(Self::ONE);
        }
        let logs = LogOffsets::of(predictions);
        let (coldest, hottest) = TEMPERATURE_RANGE.into_inner();
        let nll = |log_t: f64| logs.nll(log_t.exp());
        let one = Point::at(0.0, nll);
        let inside = minimum(nll, (coldest.ln(), hottest.ln()), one);
        let (mut best, mut best_nll) = (inside.x.exp(), inside.value);
        for end in [coldest, hottest] {
            let nll = logs.nll(end);
            if nll < best_nll {
                (best, best_nll) = (end, nll);
            }
        }
        if one.value - best_nll <= NEGLIGIBLE {
            return Ok(Self::ONE);
        }
        Self::new((best * DIGITS).round() / DIGITS)
    }

    /// The temperature.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Scales probabilities, `[examples, classes]` row by row, in place. A single row is
    /// `apply(row, row.len())`.
    ///
    /// Probabilities count as at least [`PROBABILITY_FLOOR`]: above a temperature of 1, what a softmax
    /// rounded to 0 becomes small instead of staying impossible. A temperature of 1 leaves every bit as it
    /// is; any other makes rows sum to 1, within rounding, even where they did not.
    ///
    /// # Errors
    /// No classes; a length that is no multiple of `classes`; rows that [`Predictions::new`] refuses.
    /// Nothing is changed then.
    pub fn apply(self, probabilities: &mut [f32], classes: usize) -> Result<(), MetricError> {
        if classes == 0 {
            return Err(MetricError::Zero { what: "classes" });
        }
        let expected = probabilities.len().next_multiple_of(classes);
        check_length("probabilities", probabilities, expected)?;
        check_rows(probabilities, classes)?;
        if self != Self::ONE {
            let mut powers = vec![0.0; classes];
            for row in probabilities.chunks_exact_mut(classes) {
                self.apply_row(row, &mut powers);
            }
        }
        Ok(())
    }

    /// `powers` is as long as the row, and only there to be reused.
    fn apply_row(self, row: &mut [f32], powers: &mut [f64]) {
        let largest = floored_log(row[most_probable(row) as usize]);
        for (power, &probability) in powers.iter_mut().zip(row.iter()) {
            *power = ((floored_log(probability) - largest) / self.0).exp();
        }
        let sum: f64 = powers.iter().sum();
        for (probability, power) in row.iter_mut().zip(powers.iter()) {
            *probability = (power / sum) as f32;
        }
    }
}

impl Default for Temperature {
    fn default() -> Self {
        Self::ONE
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<f64> for Temperature {
    type Error = MetricError;

    fn try_from(value: f64) -> Result<Self, MetricError> {
        Self::new(value)
    }
}

impl From<Temperature> for f64 {
    fn from(temperature: Temperature) -> Self {
        temperature.0
    }
}

fn floored_log(probability: f32) -> f64 {
    f64::from(probability.max(PROBABILITY_FLOOR)).ln()
}

/// Log-probabilities relative to the most probable class of each example: logarithms are taken once, and no
/// power overflows at any temperature.
struct LogOffsets {
    /// Of each class but the most probable one, `[examples, classes - 1]`; none is positive.
    others: Vec<f64>,
    /// Of the label, `[examples]`; none is positive.
    labels: Vec<f64>,
    /// `classes - 1`
    width: usize,
}

impl LogOffsets {
    fn of(predictions: &Predictions<'_>) -> Self {
        let width = predictions.classes() - 1;
        let mut others = Vec::with_capacity(predictions.examples() * width);
        let mut labels = Vec::with_capacity(predictions.examples());
        for (row, label) in predictions.labelled_rows() {
            let top = most_probable(row) as usize;
            let largest = floored_log(row[top]);
            let offset = |probability: &f32| floored_log(*probability) - largest;
            others.extend(row[..top].iter().chain(&row[top + 1..]).map(offset));
            labels.push(offset(&row[label as usize]));
        }
        Self {
            others,
            labels,
            width,
        }
    }

    /// Mean negative log-likelihood at a temperature.
    fn nll(&self, temperature: f64) -> f64 {
        let sum: f64 = (0..self.labels.len())
            .map(|example| {
                let others = &self.others[example * self.width..][..self.width];
                let rest: f64 = others
                    .iter()
                    .map(|offset| (offset / temperature).exp())
                    .sum();
                // The most probable class contributes the 1 of ln(1 + rest).
                rest.ln_1p() - self.labels[example] / temperature
            })
            .sum();
        sum / self.labels.len() as f64
    }
}

#[cfg(test)]
mod tests;
