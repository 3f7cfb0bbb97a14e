//! Accuracy of deciding whether two pictures show one person.

use super::{
    MetricError,
    checks::{check_length, finite_scores},
    order::{rising_order, ties},
};
use serde::{Deserialize, Serialize};

/// One fold, judged by the threshold of the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldAccuracy {
    /// Similarity from which on a pair is called the same person.
    pub threshold: f64,
    /// How many pairs the fold holds.
    pub count: usize,
    /// The share of them that is judged rightly.
    pub accuracy: f64,
}

/// The result of the verification protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// Fold by fold.
    pub folds: Vec<FoldAccuracy>,
    /// The mean over the folds, each weighing the same.
    pub mean_accuracy: f64,
    /// The standard error of that mean: standard deviation over the folds (with folds - 1) divided by the
    /// root of their number.
    pub standard_error: f64,
}

/// Accuracy by cross-validation, the protocol of LFW: for each fold, the threshold that is best on all
/// the others judges it. LFW comes in 10 folds of 600 pairs.
///
/// A pair is called the same person when its similarity is at least the threshold, so `similarities` must
/// rise with likeness: pass minus the distance if distance is what you have. `folds` gives the fold of
/// each pair, numbered from 0 without gaps. Thresholds are the similarities of the other folds and one
/// just above the highest of them, which calls no pair the same; of equally good ones the highest is
/// taken. Work is O(n log n + folds * n).
///
/// # Errors
/// No pairs; lengths that differ; a similarity that is infinite or NaN; a fold without pairs; only one fold.
///
/// ```
/// use bayesadapter::metrics::verification_accuracy;
///
/// let similarities = [0.9, 0.1, 0.8, 0.3];
/// let same_person = [true, false, true, false];
/// let result = verification_accuracy(&similarities, &same_person, &[0, 0, 1, 1])?;
/// // The threshold of fold 0 is .8, which fits; that of fold 1 is .9, which misses its .8.
/// assert_eq!(result.folds[0].accuracy, 1.0);
/// assert_eq!(result.mean_accuracy, 0.75);
/// # Ok::<(), bayesadapter::metrics::MetricError>(())
/// ```
pub fn verification_accuracy<S: Copy + Into<f64>>(
    similarities: &[S],
    same_person: &[bool],
    folds: &[usize],
) -> Result<Verification, MetricError> {
    let similarities = finite_scores("similarities", similarities)?;
    check_length("same_person", same_person, similarities.len())?;
    check_length("folds", folds, similarities.len())?;
    let counts = fold_counts(folds)?;
    let mut falling = rising_order(&similarities);
    falling.reverse();
    let pairs = Pairs {
        similarities: &similarities,
        same_person,
        folds,
        falling: &falling,
    };
    let thresholds: Vec<f64> = (0..counts.len())
        .map(|fold| pairs.best_threshold(fold))
        .collect();
    let mut right = vec![0usize; counts.len()];
    for ((&fold, &similarity), &same) in folds.iter().zip(&similarities).zip(same_person) {
        right[fold] += usize::from((similarity >= thresholds[fold]) == same);
    }
    let folds: Vec<FoldAccuracy> = thresholds
        .into_iter()
        .zip(counts)
        .zip(right)
        .map(|((threshold, count), right)| FoldAccuracy {
            threshold,
            count,
            accuracy: right as f64 / count as f64,
        })
        .collect();
    let (mean_accuracy, standard_error) = mean_with_standard_error(&folds);
    Ok(Verification {
        folds,
        mean_accuracy,
        standard_error,
    })
}

struct Pairs<'a> {
    similarities: &'a [f64],
    same_person: &'a [bool],
    folds: &'a [usize],
    /// Indices from the most similar pair.
    falling: &'a [usize],
}

impl Pairs<'_> {
    /// The threshold that judges most pairs outside `left_out` rightly.
    fn best_threshold(&self, left_out: usize) -> f64 {
        let mut highest = None;
        // Pairs judged rightly, less those when no pair is called the same: calling one the same gains
        // one if it is and loses one if it is not.
        let (mut gain, mut best_gain, mut best) = (0i64, 0i64, None);
        for tie in ties(self.falling, self.similarities) {
            let mut seen = tie
                .iter()
                .filter(|&&at| self.folds[at] != left_out)
                .peekable();
            if seen.peek().is_none() {
                continue;
            }
            gain += seen
                .map(|&at| if self.same_person[at] { 1 } else { -1 })
                .sum::<i64>();
            let similarity = self.similarities[tie[0]];
            highest.get_or_insert(similarity);
            if gain > best_gain {
                (best_gain, best) = (gain, Some(similarity));
            }
        }
        // There are other folds, and none is empty, so some similarity was seen.
        best.or(highest.map(f64::next_up)).unwrap_or(f64::MAX)
    }
}

/// The number of pairs of each fold.
fn fold_counts(folds: &[usize]) -> Result<Vec<usize>, MetricError> {
    let largest = folds.iter().copied().max().unwrap_or(0);
    // With more folds than pairs one is empty, and is among the first `folds.len()` numbers: larger
    // numbers need no counter, whatever their size.
    let mut counts = vec![0usize; folds.len().min(largest.saturating_add(1))];
    for &fold in folds {
        if let Some(count) = counts.get_mut(fold) {
            *count += 1;
        }
    }
    if let Some(missing) = counts.iter().position(|&count| count == 0) {
        return Err(MetricError::MissingFold { missing, largest });
    }
    if largest == 0 {
        return Err(MetricError::OneFold);
    }
    Ok(counts)
}

fn mean_with_standard_error(folds: &[FoldAccuracy]) -> (f64, f64) {
    let count = folds.len() as f64;
    let mean = folds.iter().map(|fold| fold.accuracy).sum::<f64>() / count;
    let squares: f64 = folds
        .iter()
        .map(|fold| (fold.accuracy - mean).powi(2))
        .sum();
    let std = (squares / (count - 1.0)).sqrt();
    (mean, std / count.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_come_from_the_other_folds() {
        // Fold 0 alone would choose .5; the other fold says .7.
        let similarities = [0.5, 0.4, 0.7, 0.6];
        let same = [true, false, true, false];
        let found = verification_accuracy(&similarities, &same, &[0, 0, 1, 1]).unwrap();
        assert_eq!(found.folds[0].threshold, 0.7);
        assert_eq!(found.folds[0].accuracy, 0.5);
        assert_eq!(found.folds[1].threshold, 0.5);
        assert_eq!(found.folds[1].accuracy, 0.5);
        assert_eq!((found.mean_accuracy, found.standard_error), (0.5, 0.0));
    }

    #[test]
    fn ties_are_judged_together() {
        // A threshold between the equal pairs does not exist: 2 right against 1 wrong at .5.
        let similarities = [0.5, 0.5, 0.5, 0.1, 0.6];
        let same = [true, true, false, false, true];
        let found = verification_accuracy(&similarities, &same, &[0, 0, 0, 0, 1]).unwrap();
        assert_eq!(found.folds[1].threshold, 0.5);
        assert_eq!(found.folds[1].accuracy, 1.0);
        assert_eq!(found.folds[0].threshold, 0.6);
        assert_eq!(found.folds[0].accuracy, 0.5);
    }

    #[test]
    fn calling_no_pair_the_same_is_a_choice() {
        let found =
            verification_accuracy(&[0.9f32, 0.8, 0.2], &[false, false, true], &[0, 1, 1]).unwrap();
        assert!(found.folds[1].threshold > f64::from(0.9f32));
        assert_eq!(found.folds[1].accuracy, 0.5);
    }

    #[test]
    fn standard_error_by_hand() {
        let fold = |accuracy| FoldAccuracy {
            threshold: 0.0,
            count: 1,
            accuracy,
        };
        let (mean, error) = mean_with_standard_error(&[fold(0.5), fold(0.7), fold(0.9)]);
        assert!((mean - 0.7).abs() < 1e-12);
        assert!((error - 0.2 / 3f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn wrong_folds_are_named() {
        let check = |folds: &[usize]| {
            let same = vec![true; folds.len()];
            verification_accuracy(&vec![0.5f32; folds.len()], &same, folds).unwrap_err()
        };
        assert!(matches!(check(&[]), MetricError::Empty { .. }));
        assert_eq!(check(&[0, 0]), MetricError::OneFold);
        let gap = MetricError::MissingFold {
            missing: 1,
            largest: 2,
        };
        assert_eq!(check(&[0, 2, 0]), gap);
        let huge = MetricError::MissingFold {
            missing: 1,
            largest: usize::MAX,
        };
        assert_eq!(check(&[0, usize::MAX]), huge);
        let nan = verification_accuracy(&[0.5, f64::NAN], &[true, true], &[0, 1]).unwrap_err();
        assert!(matches!(nan, MetricError::Score { position: 1, .. }));
    }
}
