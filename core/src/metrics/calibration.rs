//! Expected calibration error and what a reliability diagram shows.

use super::{
    MetricError, Predictions,
    checks::{check_length, check_parts, check_some, checked_confidences},
    order::{count_errors, equal_ranges, mean, rising_order, ties},
};
use serde::{Deserialize, Serialize};

/// The number of bins that the paper, and most others, use.
pub const ECE_BINS: usize = 15;

/// One bar of a reliability diagram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Lower end of the confidences.
    pub lower: f64,
    /// Upper end of the confidences.
    pub upper: f64,
    /// How many examples the bin holds.
    pub count: usize,
    /// Their mean confidence; `None` when there are none.
    pub mean_confidence: Option<f64>,
    /// The share of them that is correct; `None` when there are none.
    pub accuracy: Option<f64>,
}

/// The expected calibration error: over `bins` bins of equal width (see [`reliability_bins`]), the mean of
/// |accuracy - mean confidence|, weighted by the examples of each bin. [`ECE_BINS`] is the usual number.
///
/// # Errors
/// `bins` is 0 or above [`MAX_PARTS`](super::MAX_PARTS).
///
/// ```
/// use bayesadapter::metrics::{ECE_BINS, Predictions, ece};
///
/// // Certain and right, which is perfect; then certain and wrong half of the time.
/// let probabilities = [1.0, 0.0, 1.0, 0.0];
/// assert_eq!(ece(&Predictions::new(&probabilities, 2, &[0, 0])?, ECE_BINS)?, 0.0);
/// assert_eq!(ece(&Predictions::new(&probabilities, 2, &[0, 1])?, ECE_BINS)?, 0.5);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn ece(predictions: &Predictions<'_>, bins: usize) -> Result<f64, MetricError> {
    check_parts("bins", bins)?;
    let (confidences, correct) = (predictions.confidences(), predictions.correct());
    let sums = width_sums(&confidences, &correct, &upper_edges(bins));
    Ok(calibration_error(&sums, confidences.len()))
}

/// [`ece`] over bins that hold equally many examples (see [`adaptive_reliability_bins`]).
///
/// # Errors
/// `bins` is 0 or above [`MAX_PARTS`](super::MAX_PARTS).
pub fn adaptive_ece(predictions: &Predictions<'_>, bins: usize) -> Result<f64, MetricError> {
    check_parts("bins", bins)?;
    let (confidences, correct) = (predictions.confidences(), predictions.correct());
    let sums: Vec<BinSum> = mass_bins(&confidences, &correct, bins)
        .into_iter()
        .map(|bin| bin.sum)
        .collect();
    Ok(calibration_error(&sums, confidences.len()))
}

/// The class-wise calibration error: for each class, the error of its probability as a forecast of
/// "this is the class", over `bins` bins of equal width and all examples; then the mean over the classes,
/// those without examples included.
///
/// Probabilities of exactly 0 are in the first bin, where they weigh nothing if the class is rightly
/// excluded; with many classes they dominate, and the result is small by nature.
///
/// # Errors
/// `bins` is 0 or above [`MAX_PARTS`](super::MAX_PARTS).
pub fn classwise_ece(predictions: &Predictions<'_>, bins: usize) -> Result<f64, MetricError> {
    check_parts("bins", bins)?;
    let (classes, uppers) = (predictions.classes(), upper_edges(bins));
    let mut sums = vec![BinSum::default(); classes.saturating_mul(bins)];
    for (row, label) in predictions.labelled_rows() {
        for (class, (&probability, sums)) in row.iter().zip(sums.chunks_exact_mut(bins)).enumerate()
        {
            let confidence = probability.min(1.0);
            let hit = class == label as usize;
            sums[bin_of(confidence, &uppers)].add(confidence, f64::from(u8::from(hit)));
        }
    }
    Ok(calibration_error(&sums, predictions.examples()) / classes as f64)
}

/// Examples by confidence, in `bins` bins of equal width; the result has all of them, from low to high.
///
/// Bin `b` is (b / bins, (b + 1) / bins]: a confidence on an edge belongs to the lower bin, 1.0 is in the
/// last bin and 0.0 in the first. Edges are rounded to `f32` like the confidences, so that 0.2 is on the
/// edge 3/15. Confidences that rounding has lifted above 1, by at most
/// [`SUM_TOLERANCE`](super::SUM_TOLERANCE), count as 1.
///
/// # Errors
/// No examples; lengths that differ; `bins` is 0 or above [`MAX_PARTS`](super::MAX_PARTS); a confidence outside
/// 0..=1, or NaN.
///
/// ```
/// use bayesadapter::metrics::reliability_bins;
///
/// let bins = reliability_bins(&[0.0, 0.5, 0.75, 1.0], &[false, true, false, true], 4)?;
/// let counts: Vec<usize> = bins.iter().map(|bin| bin.count).collect();
/// assert_eq!(counts, [1, 1, 1, 1]);
/// assert_eq!((bins[3].mean_confidence, bins[3].accuracy), (Some(1.0), Some(1.0)));
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn reliability_bins(
    confidences: &[f32],
    correct: &[bool],
    bins: usize,
) -> Result<Vec<ReliabilityBin>, MetricError> {
    let confidences = checked_outcomes(confidences, correct, bins)?;
    let uppers = upper_edges(bins);
    let sums = width_sums(&confidences, correct, &uppers);
    let lowers = [0.0].into_iter().chain(uppers.iter().copied());
    let edges = lowers.zip(uppers.iter().copied());
    Ok(edges
        .zip(sums)
        .map(|((lower, upper), sum)| sum.bin(f64::from(lower), f64::from(upper)))
        .collect())
}

/// Examples by confidence, in bins that hold equally many of them, from low to high.
///
/// Sizes differ by at most one, the larger first; with fewer examples than `bins`, each has its own bin
/// and there are no empty ones. `lower` and `upper` are the smallest and largest confidence of a bin, both
/// inclusive. Examples of equal confidence share their mean accuracy when an edge separates them.
///
/// # Errors
/// As [`reliability_bins`].
pub fn adaptive_reliability_bins(
    confidences: &[f32],
    correct: &[bool],
    bins: usize,
) -> Result<Vec<ReliabilityBin>, MetricError> {
    let confidences = checked_outcomes(confidences, correct, bins)?;
    let groups = mass_bins(&confidences, correct, bins);
    Ok(groups
        .into_iter()
        .map(|group| group.sum.bin(group.lower, group.upper))
        .collect())
}

/// Sums over the examples of one bin.
#[derive(Clone, Copy, Debug, Default)]
struct BinSum {
    count: usize,
    confidence: f64,
    /// Not a count: examples that tie contribute fractions.
    correct: f64,
}

impl BinSum {
    fn add(&mut self, confidence: f32, correct: f64) {
        self.count += 1;
        self.confidence += f64::from(confidence);
        self.correct += correct;
    }

    fn bin(&self, lower: f64, upper: f64) -> ReliabilityBin {
        ReliabilityBin {
            lower,
            upper,
            count: self.count,
            mean_confidence: mean(self.confidence, self.count),
            accuracy: mean(self.correct, self.count),
        }
    }
}

struct MassBin {
    lower: f64,
    upper: f64,
    sum: BinSum,
}

/// The weight of a bin is count / n and its gap |correct - confidence| / count: the count cancels.
fn calibration_error(sums: &[BinSum], examples: usize) -> f64 {
    let gaps: f64 = sums
        .iter()
        .map(|sum| (sum.correct - sum.confidence).abs())
        .sum();
    gaps / examples as f64
}

fn upper_edges(bins: usize) -> Vec<f32> {
    (1..=bins)
        .map(|edge| (edge as f64 / bins as f64) as f32)
        .collect()
}

/// The first bin whose upper edge is not below a confidence of at most 1.
fn bin_of(confidence: f32, uppers: &[f32]) -> usize {
    uppers.partition_point(|&upper| upper < confidence)
}

fn width_sums(confidences: &[f32], correct: &[bool], uppers: &[f32]) -> Vec<BinSum> {
    let mut sums = vec![BinSum::default(); uppers.len()];
    for (&confidence, &correct) in confidences.iter().zip(correct) {
        sums[bin_of(confidence, uppers)].add(confidence, f64::from(u8::from(correct)));
    }
    sums
}

fn mass_bins(confidences: &[f32], correct: &[bool], bins: usize) -> Vec<MassBin> {
    let values: Vec<f64> = confidences.iter().copied().map(f64::from).collect();
    let order = rising_order(&values);
    // (confidence, share of the tie that is correct), from low to high
    let mut sorted = Vec::with_capacity(order.len());
    for tie in ties(&order, &values) {
        let wrong = count_errors(tie, correct) as f64 / tie.len() as f64;
        sorted.extend(tie.iter().map(|&at| (confidences[at], 1.0 - wrong)));
    }
    equal_ranges(sorted.len(), bins.min(sorted.len()))
        .map(|range| {
            let mut sum = BinSum::default();
            for &(confidence, correct) in &sorted[range.clone()] {
                sum.add(confidence, correct);
            }
            MassBin {
                lower: f64::from(sorted[range.start].0),
                upper: f64::from(sorted[range.end - 1].0),
                sum,
            }
        })
        .collect()
}

fn checked_outcomes(
    confidences: &[f32],
    correct: &[bool],
    bins: usize,
) -> Result<Vec<f32>, MetricError> {
    check_parts("bins", bins)?;
    check_some("confidences", confidences)?;
    check_length("correct", correct, confidences.len())?;
    checked_confidences("confidences", confidences)
}

#[cfg(test)]
mod tests;
