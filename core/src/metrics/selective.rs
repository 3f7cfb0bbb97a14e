//! What happens when only confident predictions are kept.

use super::{
    MetricError,
    checks::{check_length, check_some, checked_confidences, finite_scores},
    order::{count_errors, mean, rising_order, ties},
};
use serde::{Deserialize, Serialize};

/// The error among predictions of at least some confidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidencePoint {
    /// The least confidence that is kept.
    pub threshold: f64,
    /// How many predictions are kept.
    pub count: usize,
    /// The share of them that is wrong; `None` when none is kept.
    pub error: Option<f64>,
}

/// The error rate of predictions with confidence >= threshold, for each threshold in the order given.
///
/// `ood_confidences` are those of examples from elsewhere, every prediction of which is wrong; pass `&[]`
/// when there are none. A threshold of 0 keeps everything, 1 keeps what is exactly certain, and one
/// above 1 keeps nothing. Confidences and thresholds are compared as the `f32` they are.
///
/// # Errors
/// No examples; lengths that differ; a confidence outside 0..=1, or NaN (up to
/// [`SUM_TOLERANCE`](super::SUM_TOLERANCE) above 1 counts as 1); a threshold that is infinite or NaN. No
/// thresholds give no points.
///
/// ```
/// use bayesadapter::metrics::error_above_confidence;
///
/// let (confidences, correct) = ([0.6, 0.9, 1.0], [false, true, true]);
/// let errors = |ood: &[f32]| -> Result<Vec<_>, _> {
///     let points = error_above_confidence(&confidences, &correct, ood, &[0.0, 0.9, 1.0])?;
///     Ok::<_, bayesadapter::metrics::MetricError>(points.iter().map(|point| point.error).collect())
/// };
/// assert_eq!(errors(&[])?, [Some(1.0 / 3.0), Some(0.0), Some(0.0)]);
/// assert_eq!(errors(&[0.9])?, [Some(0.5), Some(1.0 / 3.0), Some(0.0)]);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn error_above_confidence(
    confidences: &[f32],
    correct: &[bool],
    ood_confidences: &[f32],
    thresholds: &[f32],
) -> Result<Vec<ConfidencePoint>, MetricError> {
    check_some("confidences", confidences)?;
    check_length("correct", correct, confidences.len())?;
    let mut all = checked_confidences("confidences", confidences)?;
    all.extend(checked_confidences("ood_confidences", ood_confidences)?);
    let mut wrong: Vec<f32> = all
        .iter()
        .enumerate()
        // Past the end of `correct` are the strangers.
        .filter(|&(at, _)| correct.get(at) != Some(&true))
        .map(|(_, &confidence)| confidence)
        .collect();
    all.sort_by(f32::total_cmp);
    wrong.sort_by(f32::total_cmp);
    thresholds
        .iter()
        .enumerate()
        .map(|(position, &threshold)| {
            if !threshold.is_finite() {
                return Err(MetricError::Score {
                    what: "thresholds",
                    position,
                    value: f64::from(threshold),
                    needed: "a finite number",
                });
            }
            let count = count_from(&all, threshold);
            Ok(ConfidencePoint {
                threshold: f64::from(threshold),
                count,
                error: mean(count_from(&wrong, threshold) as f64, count),
            })
        })
        .collect()
}

/// The error when the most confident share of the examples is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RiskCoveragePoint {
    /// The least confidence that is kept.
    pub threshold: f64,
    /// The share of examples that is kept, above 0.
    pub coverage: f64,
    /// The share of the kept ones that is wrong.
    pub risk: f64,
}

/// Risk against coverage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RiskCoverage {
    /// One point per distinct confidence, from the highest; the last keeps everything.
    pub points: Vec<RiskCoveragePoint>,
    /// The area under the curve, as [`aurc`] defines it.
    pub aurc: f64,
}

/// Risk against coverage of a classifier that may abstain.
///
/// `confidence` is any score that is higher for examples to keep: a probability, or minus the mutual
/// information. Examples of equal confidence are kept or dropped together, so there is one point for them.
///
/// # Errors
/// No examples; lengths that differ; a confidence that is infinite or NaN.
///
/// ```
/// use bayesadapter::metrics::risk_coverage;
///
/// let curve = risk_coverage(&[0.9, 0.8, 0.7, 0.7], &[true, true, false, true])?;
/// let risks: Vec<f64> = curve.points.iter().map(|point| point.risk).collect();
/// assert_eq!(risks, [0.0, 0.0, 0.25]);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn risk_coverage<S: Copy + Into<f64>>(
    confidence: &[S],
    correct: &[bool],
) -> Result<RiskCoverage, MetricError> {
    let confidence = finite_scores("confidence", confidence)?;
    check_length("correct", correct, confidence.len())?;
    let order = rising_order(&confidence);
    let total = order.len() as f64;
    let (mut kept, mut errors, mut area) = (0usize, 0usize, 0.0);
    let mut points = Vec::new();
    for tie in ties(&order, &confidence).rev() {
        let tied_errors = count_errors(tie, correct);
        let errors_per_example = tied_errors as f64 / tie.len() as f64;
        for taken in 1..=tie.len() {
            let expected_errors = errors as f64 + taken as f64 * errors_per_example;
            area += expected_errors / (kept + taken) as f64;
        }
        kept += tie.len();
        errors += tied_errors;
        points.push(RiskCoveragePoint {
            threshold: confidence[tie[0]],
            coverage: kept as f64 / total,
            risk: errors as f64 / kept as f64,
        });
    }
    Ok(RiskCoverage {
        points,
        aurc: area / total,
    })
}

/// The area under the risk-coverage curve: the mean, over k = 1 to n, of the error rate among the k most
/// confident examples. 0 is best, and lower is better.
///
/// Where k separates examples of equal confidence, the error rate is its mean over all their orders.
///
/// # Errors
/// As [`risk_coverage`].
pub fn aurc<S: Copy + Into<f64>>(confidence: &[S], correct: &[bool]) -> Result<f64, MetricError> {
    risk_coverage(confidence, correct).map(|curve| curve.aurc)
}

/// How many elements of a rising slice are at least `threshold`.
fn count_from(rising: &[f32], threshold: f32) -> usize {
    rising.len() - rising.partition_point(|&value| value < threshold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_include_their_own_confidence() {
        let points =
            error_above_confidence(&[0.9, 0.1], &[true, false], &[], &[1.1, 0.9, 0.0]).unwrap();
        let found: Vec<_> = points
            .iter()
            .map(|point| (point.count, point.error))
            .collect();
        assert_eq!(found, [(0, None), (1, Some(0.0)), (2, Some(0.5))]);
    }

    #[test]
    fn strangers_are_always_wrong() {
        let points =
            error_above_confidence(&[1.0, 0.5], &[true, true], &[1.0, 0.2], &[0.0, 1.0]).unwrap();
        assert_eq!((points[0].count, points[0].error), (4, Some(0.5)));
        assert_eq!((points[1].count, points[1].error), (2, Some(0.5)));
    }

    #[test]
    fn area_by_hand() {
        // Risks at k = 1, 2, 3: 0, 1/2, 1/3.
        let area = aurc(&[3.0, 2.0, 1.0], &[true, false, true]).unwrap();
        assert!((area - (0.5 + 1.0 / 3.0) / 3.0).abs() < 1e-15);
        assert_eq!(aurc(&[0.1f32, 0.2], &[true, true]), Ok(0.0));
        assert_eq!(aurc(&[0.1f32, 0.2], &[false, false]), Ok(1.0));
    }

    #[test]
    fn ties_give_the_mean_over_their_orders() {
        let right_first = aurc(&[2.0, 1.0], &[true, false]).unwrap();
        let wrong_first = aurc(&[2.0, 1.0], &[false, true]).unwrap();
        let tied = aurc(&[1.0, 1.0], &[false, true]).unwrap();
        assert!((tied - 0.5 * (right_first + wrong_first)).abs() < 1e-15);
        assert_eq!(aurc(&[1.0, 1.0], &[true, false]), Ok(tied));
        let curve = risk_coverage(&[1.0, 1.0], &[true, false]).unwrap();
        assert_eq!(curve.points.len(), 1);
        assert_eq!((curve.points[0].coverage, curve.points[0].risk), (1.0, 0.5));
    }

    #[test]
    fn wrong_input_is_named() {
        let nan = error_above_confidence(&[0.5], &[true], &[], &[0.1, f32::NAN]).unwrap_err();
        assert!(matches!(
            nan,
            MetricError::Score {
                what: "thresholds",
                position: 1,
                ..
            }
        ));
        let ood = error_above_confidence(&[0.5], &[true], &[2.0], &[0.1]).unwrap_err();
        assert!(matches!(
            ood,
            MetricError::Score {
                what: "ood_confidences",
                ..
            }
        ));
        let empty = risk_coverage::<f32>(&[], &[]).unwrap_err();
        assert!(matches!(empty, MetricError::Empty { .. }));
        let short = risk_coverage(&[0.5f32, 0.6], &[true]).unwrap_err();
        assert!(matches!(short, MetricError::Length { .. }));
        for odd in [f64::NAN, f64::INFINITY] {
            assert!(aurc(&[odd], &[true]).is_err());
        }
    }
}
