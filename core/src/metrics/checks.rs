//! Checks that several metrics share.

use super::{MetricError, SUM_TOLERANCE};

/// Refuses an empty slice.
pub(super) fn check_some<T>(what: &'static str, values: &[T]) -> Result<(), MetricError> {
    if values.is_empty() {
        Err(MetricError::Empty { what })
    } else {
        Ok(())
    }
}

/// Refuses a slice of another length.
pub(super) fn check_length<T>(
    what: &'static str,
    values: &[T],
    expected: usize,
) -> Result<(), MetricError> {
    if values.len() == expected {
        Ok(())
    } else {
        Err(MetricError::Length {
            what,
            expected,
            found: values.len(),
        })
    }
}

/// The most bins or buckets. They are kept in memory, and a calibration error keeps them for every class.
pub const MAX_PARTS: usize = 10_000;

/// Refuses a number of parts that is zero or above [`MAX_PARTS`].
pub(super) fn check_parts(what: &'static str, parts: usize) -> Result<(), MetricError> {
    match parts {
        0 => Err(MetricError::Zero { what }),
        1..=MAX_PARTS => Ok(()),
        found => Err(MetricError::TooMany {
            what,
            found,
            limit: MAX_PARTS,
        }),
    }
}

/// Refuses labels past the last class.
pub(super) fn check_labels(labels: &[u32], classes: usize) -> Result<(), MetricError> {
    match labels.iter().position(|&label| label as usize >= classes) {
        None => Ok(()),
        Some(position) => Err(MetricError::Label {
            position,
            label: labels[position],
            classes,
        }),
    }
}

/// Refuses rows that are no distributions. The length is a multiple of `classes`, which is not zero.
pub(super) fn check_rows(probabilities: &[f32], classes: usize) -> Result<(), MetricError> {
    for (example, row) in probabilities.chunks_exact(classes).enumerate() {
        let wrong = |value: &f32| !value.is_finite() || *value < 0.0;
        if let Some(class) = row.iter().position(wrong) {
            let value = row[class];
            return Err(MetricError::Probability {
                example,
                class,
                value,
            });
        }
        let sum: f64 = row.iter().copied().map(f64::from).sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(MetricError::RowSum { example, sum });
        }
    }
    Ok(())
}

/// Scores as f64, none of them NaN. Infinite ones can be ranked like any other.
pub(super) fn ranked_scores<S: Copy + Into<f64>>(
    what: &'static str,
    scores: &[S],
) -> Result<Vec<f64>, MetricError> {
    let needed = "a number";
    scores_that(what, scores, needed, |score| !score.is_nan())
}

/// Scores as f64, all of them finite.
pub(super) fn finite_scores<S: Copy + Into<f64>>(
    what: &'static str,
    scores: &[S],
) -> Result<Vec<f64>, MetricError> {
    scores_that(what, scores, "a finite number", f64::is_finite)
}

fn scores_that<S: Copy + Into<f64>>(
    what: &'static str,
    scores: &[S],
    needed: &'static str,
    accepts: impl Fn(f64) -> bool,
) -> Result<Vec<f64>, MetricError> {
    check_some(what, scores)?;
    // Adding zero turns -0.0 into 0.0: the total order of floats, by which scores are sorted, would
    // otherwise separate the two.
    let values: Vec<f64> = scores.iter().map(|&score| score.into() + 0.0).collect();
    match values.iter().position(|&value| !accepts(value)) {
        None => Ok(values),
        Some(position) => Err(MetricError::Score {
            what,
            position,
            value: values[position],
            needed,
        }),
    }
}

/// Confidences in 0..=1. What rounding has lifted above 1, by at most [`SUM_TOLERANCE`], becomes 1.
pub(super) fn checked_confidences(
    what: &'static str,
    confidences: &[f32],
) -> Result<Vec<f32>, MetricError> {
    let accepted = 0.0..=1.0 + SUM_TOLERANCE;
    let wrong = |&value: &f32| !accepted.contains(&f64::from(value));
    match confidences.iter().position(wrong) {
        None => Ok(confidences.iter().map(|value| value.min(1.0)).collect()),
        Some(position) => Err(MetricError::Score {
            what,
            position,
            value: f64::from(confidences[position]),
            needed: "a number in 0..=1",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_zero_is_zero() {
        let scores = ranked_scores("scores", &[-0.0f32, 0.0]).unwrap();
        assert!(scores.iter().all(|score| score.is_sign_positive()));
    }

    #[test]
    fn infinite_scores_are_ranked_but_not_finite() {
        assert!(ranked_scores("scores", &[f64::INFINITY]).is_ok());
        let error = finite_scores("scores", &[0.0, f64::INFINITY]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "scores[1] = inf, but a finite number is needed"
        );
    }

    #[test]
    fn confidences_beyond_rounding_are_refused() {
        let clipped = checked_confidences("confidences", &[0.0, 1.0, 1.000_5]).unwrap();
        assert_eq!(clipped, [0.0, 1.0, 1.0]);
        for wrong in [-1e-6, 1.01, f32::NAN, f32::INFINITY] {
            let error = checked_confidences("confidences", &[0.5, wrong]).unwrap_err();
            assert!(matches!(error, MetricError::Score { position: 1, .. }));
        }
    }
}
