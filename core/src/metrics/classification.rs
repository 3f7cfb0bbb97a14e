//! Accuracy, negative log-likelihood and Brier score.

use super::{MetricError, Predictions};

/// The probability that [`nll`] puts in place of anything smaller: 2^-126, about 1.18e-38, the smallest
/// normal `f32`. GPUs may flush what is below it to zero, so that it must count as zero everywhere. A
/// label that was held impossible therefore costs 126 ln 2, about 87.34, and never infinity.
pub const PROBABILITY_FLOOR: f32 = f32::MIN_POSITIVE;

/// The share of examples whose most probable class is the true one; of equally probable classes, the
/// lowest is the prediction.
///
/// ```
/// use bayesadapter::metrics::{Predictions, accuracy};
///
/// // The second example is a tie, which goes to class 0.
/// let predictions = Predictions::new(&[0.9, 0.1, 0.5, 0.5], 2, &[0, 1])?;
/// assert_eq!(accuracy(&predictions), 0.5);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn accuracy(predictions: &Predictions<'_>) -> f64 {
    share(&predictions.correct())
}

/// The share of examples whose true class is among the `k` most probable. Classes that tie are ranked by
/// index, the lower first, so `k = 1` is [`accuracy`] and `k = classes` is 1.
///
/// # Errors
/// `k` is 0 or more than the number of classes.
pub fn top_k_accuracy(predictions: &Predictions<'_>, k: usize) -> Result<f64, MetricError> {
    let classes = predictions.classes();
    if k == 0 || k > classes {
        return Err(MetricError::TopK { k, classes });
    }
    let hits: Vec<bool> = predictions
        .labelled_rows()
        .map(|(row, label)| rank(row, label as usize) < k)
        .collect();
    Ok(share(&hits))
}

/// The mean negative log-likelihood of the true classes, in nats.
///
/// Probabilities are clamped to [`PROBABILITY_FLOOR`]`..=1`: the result is finite and not negative.
///
/// ```
/// use bayesadapter::metrics::{Predictions, nll};
///
/// let predictions = Predictions::new(&[0.5, 0.5, 1.0, 0.0], 2, &[0, 0])?;
/// assert_eq!(nll(&predictions), 0.5 * 2f64.ln());
/// let impossible = Predictions::new(&[1.0, 0.0], 2, &[1])?;
/// assert!((nll(&impossible) - 87.34).abs() < 0.01);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn nll(predictions: &Predictions<'_>) -> f64 {
    let sum: f64 = predictions
        .labelled_rows()
        .map(|(row, label)| negative_log(row[label as usize]))
        .sum();
    sum / predictions.examples() as f64
}

/// The Brier score: squared distance between the probabilities and the one-hot label, summed over the
/// classes and averaged over the examples. 0 is best, 2 is worst; for two classes it is twice the
/// one-column form.
pub fn brier(predictions: &Predictions<'_>) -> f64 {
    let sum: f64 = predictions
        .labelled_rows()
        .map(|(row, label)| squared_distance(row, label as usize))
        .sum();
    sum / predictions.examples() as f64
}

/// `-ln(probability)`, clamped as [`nll`] says.
pub(super) fn negative_log(probability: f32) -> f64 {
    // Subtracted from zero, so that a probability of 1 costs 0.0 and not -0.0.
    0.0 - f64::from(probability.clamp(PROBABILITY_FLOOR, 1.0)).ln()
}

/// How many classes come before the label.
fn rank(row: &[f32], label: usize) -> usize {
    let (before, after) = row.split_at(label);
    let ahead = before.iter().filter(|&&other| other >= row[label]).count();
    ahead + after.iter().filter(|&&other| other > row[label]).count()
}

fn squared_distance(row: &[f32], label: usize) -> f64 {
    row.iter()
        .enumerate()
        .map(|(class, &probability)| {
            let target = f64::from(u8::from(class == label));
            (f64::from(probability) - target).powi(2)
        })
        .sum()
}

fn share(hits: &[bool]) -> f64 {
    hits.iter().filter(|&&hit| hit).count() as f64 / hits.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_k_ranks_ties_by_index() {
        let row = [0.2, 0.4, 0.2, 0.2];
        assert_eq!([0, 1, 2, 3].map(|label| rank(&row, label)), [1, 0, 2, 3]);
        let hits = |label: u32| {
            let labels = [label];
            let predictions = Predictions::new(&row, 4, &labels).unwrap();
            [1, 2, 3, 4].map(|k| top_k_accuracy(&predictions, k).unwrap())
        };
        assert_eq!(hits(0), [0.0, 1.0, 1.0, 1.0]);
        assert_eq!(hits(1), [1.0, 1.0, 1.0, 1.0]);
        assert_eq!(hits(3), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn top_k_beyond_the_classes_is_refused() {
        let predictions = Predictions::new(&[0.5, 0.5], 2, &[0]).unwrap();
        for k in [0, 3] {
            let error = top_k_accuracy(&predictions, k).unwrap_err();
            assert_eq!(error, MetricError::TopK { k, classes: 2 });
        }
    }

    #[test]
    fn top_one_is_accuracy() {
        let probabilities = [0.4, 0.4, 0.2, 0.1, 0.45, 0.45, 0.0, 0.0, 1.0];
        let predictions = Predictions::new(&probabilities, 3, &[0, 2, 2]).unwrap();
        assert_eq!(top_k_accuracy(&predictions, 1), Ok(accuracy(&predictions)));
    }

    #[test]
    fn log_of_zero_is_finite_and_of_one_is_zero() {
        assert!((negative_log(0.0) - 126.0 * 2f64.ln()).abs() < 1e-12);
        assert_eq!(negative_log(1e-45), negative_log(0.0));
        assert_eq!(negative_log(1.000_5), 0.0);
        assert!(negative_log(1.0).is_sign_positive());
    }

    #[test]
    fn brier_spans_zero_to_two() {
        let brier_of =
            |row: &[f32], label| brier(&Predictions::new(row, row.len(), &[label]).unwrap());
        assert_eq!(brier_of(&[1.0, 0.0, 0.0], 0), 0.0);
        assert_eq!(brier_of(&[1.0, 0.0, 0.0], 1), 2.0);
        assert_eq!(brier_of(&[0.5, 0.25, 0.25], 0), 0.25 + 2.0 * 0.0625);
        assert_eq!(brier_of(&[1.0], 0), 0.0);
    }
}
