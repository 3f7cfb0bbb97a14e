//! Checked input: probabilities with their labels, and probabilities of several draws.

use super::{
    MetricError,
    checks::{check_labels, check_length, check_rows, check_some},
};

/// How far the probabilities of one example may sum from 1. Wide enough for half precision, narrow
/// enough to catch logits and probabilities of which a class was dropped.
pub const SUM_TOLERANCE: f64 = 1e-3;

/// Class probabilities of some examples, with the true classes.
///
/// ```
/// use bayesadapter::metrics::{Predictions, accuracy};
///
/// let probabilities = [0.7, 0.2, 0.1, 0.3, 0.3, 0.4];
/// let predictions = Predictions::new(&probabilities, 3, &[0, 1])?;
/// assert_eq!(predictions.predicted_classes(), [0, 2]);
/// assert_eq!(accuracy(&predictions), 0.5);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predictions<'a> {
    probabilities: &'a [f32],
    classes: usize,
    labels: &'a [u32],
}

impl<'a> Predictions<'a> {
    /// `probabilities` is `[examples, classes]` row by row; `labels` has one class per example.
    ///
    /// # Errors
    /// No examples or no classes; a length other than `labels.len() * classes`; a label that is no
    /// class; a probability that is negative, infinite or NaN; a row whose sum is further than
    /// [`SUM_TOLERANCE`] from 1. Rows are not normalised.
    pub fn new(
        probabilities: &'a [f32],
        classes: usize,
        labels: &'a [u32],
    ) -> Result<Self, MetricError> {
        check_some("labels", labels)?;
        if classes == 0 {
            return Err(MetricError::Zero { what: "classes" });
        }
        let expected = labels.len().saturating_mul(classes);
        check_length("probabilities", probabilities, expected)?;
        check_labels(labels, classes)?;
        check_rows(probabilities, classes)?;
        Ok(Self {
            probabilities,
            classes,
            labels,
        })
    }

    /// The number of examples, at least one.
    pub fn examples(&self) -> usize {
        self.labels.len()
    }

    /// The number of classes, at least one.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The true class of each example.
    pub fn labels(&self) -> &'a [u32] {
        self.labels
    }

    /// The probabilities of each example.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &'a [f32]> + use<'a> {
        self.probabilities.chunks_exact(self.classes)
    }

    /// The most probable class of each example; of equals, the lowest.
    pub fn predicted_classes(&self) -> Vec<u32> {
        self.rows().map(most_probable).collect()
    }

    /// The probability of each predicted class. One that exceeds 1, which [`SUM_TOLERANCE`] permits,
    /// is 1.
    pub fn confidences(&self) -> Vec<f32> {
        self.rows()
            .map(|row| row[most_probable(row) as usize].min(1.0))
            .collect()
    }

    /// Whether each predicted class is the true one.
    pub fn correct(&self) -> Vec<bool> {
        self.labelled_rows()
            .map(|(row, label)| most_probable(row) == label)
            .collect()
    }

    pub(super) fn labelled_rows(&self) -> impl Iterator<Item = (&'a [f32], u32)> + use<'a> {
        self.rows().zip(self.labels.iter().copied())
    }
}

/// The index of the largest element; of equals, the lowest. The row is not empty.
pub(crate) fn most_probable(row: &[f32]) -> u32 {
    let mut best = 0;
    for (class, &probability) in row.iter().enumerate() {
        if probability > row[best] {
            best = class;
        }
    }
    best as u32
}

/// Class probabilities of the same examples under several draws of the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawProbabilities<'a> {
    probabilities: &'a [f32],
    draws: usize,
    classes: usize,
}

impl<'a> DrawProbabilities<'a> {
    /// `probabilities` is `[draws, examples, classes]`; the number of examples follows from its length.
    ///
    /// # Errors
    /// No draws, classes or examples; a length that is no multiple of `draws * classes`; what
    /// [`Predictions::new`] refuses in a row, wrapped in [`MetricError::Draw`].
    pub fn new(
        probabilities: &'a [f32],
        draws: usize,
        classes: usize,
    ) -> Result<Self, MetricError> {
        for (what, count) in [("draws", draws), ("classes", classes)] {
            if count == 0 {
                return Err(MetricError::Zero { what });
            }
        }
        check_some("probabilities", probabilities)?;
        let per_example = draws.saturating_mul(classes);
        let examples = probabilities.len().div_ceil(per_example);
        check_length(
            "probabilities",
            probabilities,
            examples.saturating_mul(per_example),
        )?;
        for (draw, rows) in probabilities.chunks_exact(examples * classes).enumerate() {
            check_rows(rows, classes).map_err(|reason| MetricError::Draw {
                draw,
                reason: Box::new(reason),
            })?;
        }
        Ok(Self {
            probabilities,
            draws,
            classes,
        })
    }

    /// The number of draws, at least one.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// The number of examples, at least one.
    pub fn examples(&self) -> usize {
        self.probabilities.len() / (self.draws * self.classes)
    }

    /// The number of classes, at least one.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The probabilities of one example under each draw.
    ///
    /// # Panics
    /// When there is no such example.
    pub fn rows_of(&self, example: usize) -> impl ExactSizeIterator<Item = &'a [f32]> + use<'a> {
        let (examples, classes) = (self.examples(), self.classes);
        assert!(example < examples, "example {example} of {examples}");
        self.probabilities
            .chunks_exact(examples * classes)
            .map(move |draw| &draw[example * classes..][..classes])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_lower_class() {
        assert_eq!(most_probable(&[0.2, 0.4, 0.4]), 1);
        assert_eq!(most_probable(&[0.5, 0.5]), 0);
        assert_eq!(most_probable(&[1.0]), 0);
    }

    #[test]
    fn wrong_sizes_are_named() {
        let empty = Predictions::new(&[], 3, &[]).unwrap_err();
        assert_eq!(empty, MetricError::Empty { what: "labels" });
        let none = Predictions::new(&[], 0, &[0]).unwrap_err();
        assert_eq!(none, MetricError::Zero { what: "classes" });
        let short = Predictions::new(&[0.5, 0.5, 1.0], 2, &[0, 1]).unwrap_err();
        let expected = MetricError::Length {
            what: "probabilities",
            expected: 4,
            found: 3,
        };
        assert_eq!(short, expected);
        assert!(Predictions::new(&[1.0], usize::MAX, &[0, 0]).is_err());
    }

    #[test]
    fn wrong_values_are_named() {
        let label = Predictions::new(&[0.5, 0.5, 0.5, 0.5], 2, &[1, 2]).unwrap_err();
        let expected = MetricError::Label {
            position: 1,
            label: 2,
            classes: 2,
        };
        assert_eq!(label, expected);
        for value in [f32::NAN, f32::INFINITY, -0.1] {
            let error = Predictions::new(&[0.5, 0.5, 1.1, value], 2, &[0, 0]).unwrap_err();
            let place = MetricError::Probability {
                example: 1,
                class: 1,
                value,
            };
            assert_eq!(error.to_string(), place.to_string());
        }
        let error = Predictions::new(&[0.5, 0.5, 2.0, 1.0], 2, &[0, 0]).unwrap_err();
        assert_eq!(
            error,
            MetricError::RowSum {
                example: 1,
                sum: 3.0
            }
        );
    }

    #[test]
    fn sums_within_tolerance_pass_and_confidence_stays_at_one() {
        let predictions = Predictions::new(&[1.000_9, 0.0, 0.0, 0.999_1], 2, &[0, 0]).unwrap();
        assert_eq!(predictions.confidences(), [1.0, 0.999_1]);
        assert_eq!(predictions.correct(), [true, false]);
        assert!(Predictions::new(&[0.998, 0.0], 2, &[0]).is_err());
    }

    #[test]
    fn draws_are_found_by_example() {
        let probabilities = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5, 0.5, 1.0, 0.0];
        let draws = DrawProbabilities::new(&probabilities, 2, 2).unwrap();
        assert_eq!(
            (draws.draws(), draws.examples(), draws.classes()),
            (2, 3, 2)
        );
        let rows: Vec<&[f32]> = draws.rows_of(1).collect();
        assert_eq!(rows, [&[0.2, 0.8], &[0.5, 0.5]]);
    }

    #[test]
    fn wrong_draws_are_named() {
        let error = DrawProbabilities::new(&[1.0, 0.0, 1.0, 0.25], 2, 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "draw 1: the probabilities of example 0 sum to 1.25, not to 1; apply a softmax first"
        );
        let error = DrawProbabilities::new(&[1.0, 0.0, 1.0], 2, 2).unwrap_err();
        let expected = MetricError::Length {
            what: "probabilities",
            expected: 4,
            found: 3,
        };
        assert_eq!(error, expected);
        let error = DrawProbabilities::new(&[], 2, 2).unwrap_err();
        assert!(matches!(error, MetricError::Empty { .. }));
        let error = DrawProbabilities::new(&[1.0], 0, 1).unwrap_err();
        assert_eq!(error, MetricError::Zero { what: "draws" });
    }
}
