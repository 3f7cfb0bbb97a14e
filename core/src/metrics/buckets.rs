//! Accuracy of equal buckets of rising uncertainty.

use super::{
    MetricError,
    checks::{check_length, check_parts, ranked_scores},
    order::{count_errors, equal_ranges, mean, rising_order},
};
use serde::{Deserialize, Serialize};

/// The number of buckets of the paper's figure.
pub const MI_BUCKETS: usize = 10;

/// Examples of similar uncertainty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UncertaintyBucket {
    /// Positions of the examples in the input, from the least uncertain.
    pub indices: Vec<usize>,
    /// The share of them that is correct; `None` when there are none.
    pub accuracy: Option<f64>,
}

/// Sorts examples by rising uncertainty, usually mutual information, and cuts them into `buckets` parts
/// whose sizes differ by at most one, the larger first. [`MI_BUCKETS`] is the usual number. If the
/// uncertainty is worth anything, accuracy falls from the first bucket to the last.
///
/// Examples of equal uncertainty keep their order, so where an edge separates them the order of the input
/// decides. With fewer examples than buckets the last ones are empty. Infinite uncertainty is the largest.
///
/// # Errors
/// No examples; lengths that differ; `buckets` is 0 or above [`MAX_PARTS`](super::MAX_PARTS); an uncertainty that is
/// NaN.
///
/// ```
/// use bayesadapter::metrics::uncertainty_buckets;
///
/// let mutual_information = [0.3, 0.0, 0.2, 0.1];
/// let buckets = uncertainty_buckets(&mutual_information, &[false, true, false, true], 2)?;
/// assert_eq!(buckets[0].indices, [1, 3]);
/// assert_eq!(buckets[0].accuracy, Some(1.0));
/// assert_eq!(buckets[1].accuracy, Some(0.0));
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn uncertainty_buckets<S: Copy + Into<f64>>(
    uncertainty: &[S],
    correct: &[bool],
    buckets: usize,
) -> Result<Vec<UncertaintyBucket>, MetricError> {
    check_parts("buckets", buckets)?;
    let uncertainty = ranked_scores("uncertainty", uncertainty)?;
    check_length("correct", correct, uncertainty.len())?;
    let order = rising_order(&uncertainty);
    Ok(equal_ranges(order.len(), buckets)
        .map(|range| {
            let indices = order[range].to_vec();
            let right = indices.len() - count_errors(&indices, correct);
            UncertaintyBucket {
                accuracy: mean(right as f64, indices.len()),
                indices,
            }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_differ_by_at_most_one() {
        let uncertainty: Vec<f32> = (0..23).map(|at| at as f32).collect();
        let buckets = uncertainty_buckets(&uncertainty, &[true; 23], MI_BUCKETS).unwrap();
        let sizes: Vec<usize> = buckets.iter().map(|bucket| bucket.indices.len()).collect();
        assert_eq!(sizes, [3, 3, 3, 2, 2, 2, 2, 2, 2, 2]);
        let all: Vec<usize> = buckets
            .into_iter()
            .flat_map(|bucket| bucket.indices)
            .collect();
        assert_eq!(all, (0..23).collect::<Vec<_>>());
    }

    #[test]
    fn ties_keep_their_order_and_infinity_is_last() {
        let uncertainty = [f64::INFINITY, 0.0, -0.0, 0.0];
        let buckets = uncertainty_buckets(&uncertainty, &[false, true, false, true], 2).unwrap();
        assert_eq!(buckets[0].indices, [1, 2]);
        assert_eq!(buckets[1].indices, [3, 0]);
        assert_eq!(buckets[0].accuracy, Some(0.5));
    }

    #[test]
    fn fewer_examples_than_buckets() {
        let buckets = uncertainty_buckets(&[0.5f32], &[true], 3).unwrap();
        let accuracies: Vec<_> = buckets.iter().map(|bucket| bucket.accuracy).collect();
        assert_eq!(accuracies, [Some(1.0), None, None]);
    }

    #[test]
    fn wrong_input_is_named() {
        let nan = uncertainty_buckets(&[0.0, f64::NAN], &[true, true], 2).unwrap_err();
        assert!(matches!(nan, MetricError::Score { position: 1, .. }));
        let zero = uncertainty_buckets(&[0.0], &[true], 0).unwrap_err();
        assert_eq!(zero, MetricError::Zero { what: "buckets" });
        let many = uncertainty_buckets(&[0.0], &[true], usize::MAX).unwrap_err();
        assert!(matches!(many, MetricError::TooMany { limit: 10_000, .. }));
        let empty = uncertainty_buckets::<f32>(&[], &[], 2).unwrap_err();
        assert!(matches!(empty, MetricError::Empty { .. }));
        let short = uncertainty_buckets(&[0.0, 1.0], &[true], 2).unwrap_err();
        assert!(matches!(short, MetricError::Length { found: 1, .. }));
    }
}
