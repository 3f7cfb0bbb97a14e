//! How well a score tells two kinds of examples apart.
//!
//! Positives are what is to be found and should score higher: the uncertainty of strangers against that
//! of ordinary examples, or of mistakes against that of correct predictions.

use super::{MetricError, checks::ranked_scores};

/// The true positive rate at which false positives are usually reported.
pub const TPR_95: f64 = 0.95;

/// The area under the ROC curve: the probability that a positive scores higher than a negative, where a
/// tie counts half (Mann-Whitney). 1 is perfect, 1/2 is chance.
///
/// # Errors
/// No positives or no negatives; a score that is NaN. Infinite scores are ranked like others.
///
/// ```
/// use bayesadapter::metrics::auroc;
///
/// // 2 of 4 pairs are in order and one is tied.
/// assert_eq!(auroc(&[0.5, 0.9], &[0.5, 0.7])?, 0.625);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn auroc<S: Copy + Into<f64>>(positives: &[S], negatives: &[S]) -> Result<f64, MetricError> {
    let (mut positives_above, mut half_pairs) = (0u128, 0u128);
    for level in falling_levels(positives, negatives)? {
        let (positive, negative) = (level.positives as u128, level.negatives as u128);
        half_pairs += negative * (2 * positives_above + positive);
        positives_above += positive;
    }
    let pairs = positives.len() as u128 * negatives.len() as u128;
    Ok(half_pairs as f64 / (2 * pairs) as f64)
}

/// The area under the precision-recall curve as average precision: over falling thresholds, the sum of
/// (rise of recall) * precision, without interpolation, as scikit-learn defines it. Equal scores share a
/// threshold. The share of positives is chance, so the result depends on it.
///
/// # Errors
/// As [`auroc`].
pub fn aupr<S: Copy + Into<f64>>(positives: &[S], negatives: &[S]) -> Result<f64, MetricError> {
    let (mut found, mut false_alarms, mut sum) = (0usize, 0usize, 0.0);
    for level in falling_levels(positives, negatives)? {
        found += level.positives;
        false_alarms += level.negatives;
        sum += level.positives as f64 * (found as f64 / (found + false_alarms) as f64);
    }
    Ok(sum / positives.len() as f64)
}

/// The share of negatives at or above the highest threshold that keeps at least the share
/// `true_positive_rate` of the positives; [`TPR_95`] is the usual one. 0 is best. Thresholds are
/// scores, and there is no interpolation between them.
///
/// # Errors
/// As [`auroc`]; a rate that is not above 0 and at most 1.
///
/// ```
/// use bayesadapter::metrics::{TPR_95, fpr_at_tpr};
///
/// assert_eq!(fpr_at_tpr(&[0.2, 0.9], &[0.1, 0.2, 0.5, 0.6], TPR_95)?, 0.75);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn fpr_at_tpr<S: Copy + Into<f64>>(
    positives: &[S],
    negatives: &[S],
    true_positive_rate: f64,
) -> Result<f64, MetricError> {
    // Not written as `<= 0 || > 1`, which would let NaN through.
    if !(true_positive_rate > 0.0 && true_positive_rate <= 1.0) {
        let value = true_positive_rate;
        return Err(MetricError::TruePositiveRate { value });
    }
    let (mut found, mut false_alarms) = (0usize, 0usize);
    for level in falling_levels(positives, negatives)? {
        found += level.positives;
        false_alarms += level.negatives;
        if found as f64 / positives.len() as f64 >= true_positive_rate {
            break;
        }
    }
    Ok(false_alarms as f64 / negatives.len() as f64)
}

/// How many examples have one score.
struct Level {
    positives: usize,
    negatives: usize,
}

/// One level per distinct score, from the highest.
fn falling_levels<S: Copy + Into<f64>>(
    positives: &[S],
    negatives: &[S],
) -> Result<Vec<Level>, MetricError> {
    let positives = ranked_scores("positives", positives)?;
    let negatives = ranked_scores("negatives", negatives)?;
    let mut scores: Vec<(f64, bool)> = positives.into_iter().map(|score| (score, true)).collect();
    scores.extend(negatives.into_iter().map(|score| (score, false)));
    scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    Ok(scores
        .chunk_by(|a, b| a.0 == b.0)
        .map(|level| {
            let positives = level.iter().filter(|(_, positive)| *positive).count();
            Level {
                positives,
                negatives: level.len() - positives,
            }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perfect_reversed_and_constant_scores() {
        let (low, high) = ([0.1f32, 0.2, 0.3], [0.4f32, 0.5]);
        assert_eq!(auroc(&high, &low), Ok(1.0));
        assert_eq!(auroc(&low, &high), Ok(0.0));
        assert_eq!(aupr(&high, &low), Ok(1.0));
        assert_eq!(fpr_at_tpr(&high, &low, TPR_95), Ok(0.0));
        assert_eq!(fpr_at_tpr(&low, &high, TPR_95), Ok(1.0));
        assert_eq!(auroc(&[0.5f32; 3], &[0.5; 7]), Ok(0.5));
        assert_eq!(aupr(&[0.5f32; 3], &[0.5; 7]), Ok(0.3));
        assert_eq!(fpr_at_tpr(&[0.5f32; 3], &[0.5; 7], TPR_95), Ok(1.0));
    }

    #[test]
    fn average_precision_by_hand() {
        // Falling: + - + -. Precision 1 at recall 1/2, 2/3 at recall 1.
        let area = aupr(&[0.9, 0.7], &[0.8, 0.1]).unwrap();
        assert!((area - (1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-15);
    }

    #[test]
    fn the_rate_is_reached_exactly() {
        // 19 of 20 positives are enough for 95 %; the last one, below every negative, is not needed.
        let mut positives = [1.0f32; 20];
        positives[19] = -1.0;
        assert_eq!(fpr_at_tpr(&positives, &[0.0; 4], 0.95), Ok(0.0));
        assert_eq!(fpr_at_tpr(&positives, &[0.0; 4], 0.951), Ok(1.0));
        assert_eq!(fpr_at_tpr(&positives, &[0.0; 4], 1.0), Ok(1.0));
    }

    #[test]
    fn zeros_tie_whatever_their_sign_and_infinity_ranks() {
        assert_eq!(auroc(&[0.0], &[-0.0]), Ok(0.5));
        assert_eq!(auroc(&[f64::INFINITY], &[f64::INFINITY, 1.0]), Ok(0.75));
    }

    #[test]
    fn wrong_input_is_named() {
        let none = auroc::<f32>(&[], &[0.1]).unwrap_err();
        assert_eq!(none, MetricError::Empty { what: "positives" });
        let none = aupr::<f32>(&[0.1], &[]).unwrap_err();
        assert_eq!(none, MetricError::Empty { what: "negatives" });
        let nan = auroc(&[0.1], &[0.1, f64::NAN]).unwrap_err();
        assert!(matches!(nan, MetricError::Score { position: 1, .. }));
        for rate in [0.0, 1.1, f64::NAN] {
            let error = fpr_at_tpr(&[0.1], &[0.1], rate).unwrap_err();
            assert!(matches!(error, MetricError::TruePositiveRate { .. }));
        }
    }
}
