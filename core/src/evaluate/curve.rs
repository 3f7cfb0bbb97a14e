//! Curves that are too large to be made, or shown, at once.

use crate::metrics::{DrawCurve, DrawScore, RiskCoveragePoint};

/// The draw curve of all batches so far.
#[derive(Clone, Debug, Default)]
pub(super) enum RunningCurve {
    /// No batches yet.
    #[default]
    Empty,
    /// The mean over so many examples.
    Mean { curve: DrawCurve, examples: usize },
    /// A batch had no draws, or another number of them.
    Gone,
}

impl RunningCurve {
    /// Adds the curve of a batch of `count` examples.
    pub(super) fn add(&mut self, curve: Option<DrawCurve>, count: usize) {
        *self = match (std::mem::take(self), curve) {
            (Self::Empty, Some(curve)) => Self::Mean {
                curve,
                examples: count,
            },
            (
                Self::Mean {
                    curve: mut mean,
                    examples,
                },
                Some(curve),
            ) if mean.single.len() == curve.single.len() => {
                let share = count as f64 / (examples + count) as f64;
                approach_all(&mut mean.single, &curve.single, share);
                approach_all(&mut mean.ensemble, &curve.ensemble, share);
                mean.mean_network =
                    mean.mean_network
                        .zip(curve.mean_network)
                        .map(|(mut mean, of_batch)| {
                            approach(&mut mean, &of_batch, share);
                            mean
                        });
                Self::Mean {
                    curve: mean,
                    examples: examples + count,
                }
            }
            _ => Self::Gone,
        };
    }

    /// The curve of the batches so far.
    pub(super) fn so_far(&self) -> Option<&DrawCurve> {
        match self {
            Self::Mean { curve, .. } => Some(curve),
            Self::Empty | Self::Gone => None,
        }
    }

    pub(super) fn finish(self) -> Option<DrawCurve> {
        match self {
            Self::Mean { curve, .. } => Some(curve),
            Self::Empty | Self::Gone => None,
        }
    }
}

fn approach_all(means: &mut [DrawScore], of_batch: &[DrawScore], share: f64) {
    for (mean, of_batch) in means.iter_mut().zip(of_batch) {
        approach(mean, of_batch, share);
    }
}

fn approach(mean: &mut DrawScore, of_batch: &DrawScore, share: f64) {
    mean.accuracy += share * (of_batch.accuracy - mean.accuracy);
    mean.nll += share * (of_batch.nll - mean.nll);
}

/// At most `steps + 1` of the points: the first, then the next one that covers 1 / `steps` more, and the
/// last. By coverage, since confidences crowd near 1 and points with them.
pub(super) fn thinned(points: &[RiskCoveragePoint], steps: usize) -> Vec<RiskCoveragePoint> {
    let mut kept: Vec<RiskCoveragePoint> = Vec::new();
    let Some((last, before)) = points.split_last() else {
        return kept;
    };
    for point in before {
        let far = |kept: &RiskCoveragePoint| point.coverage - kept.coverage >= 1.0 / steps as f64;
        if kept.last().is_none_or(far) {
            kept.push(point.clone());
        }
    }
    kept.push(last.clone());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(accuracy: f64, mean_network: Option<f64>) -> DrawCurve {
        let score = |accuracy| DrawScore { accuracy, nll: 1.0 };
        DrawCurve {
            single: vec![score(accuracy)],
            ensemble: vec![score(accuracy)],
            mean_network: mean_network.map(score),
        }
    }

    #[test]
    fn batches_weigh_by_their_examples() {
        let mut running = RunningCurve::default();
        running.add(Some(curve(1.0, Some(0.5))), 3);
        running.add(Some(curve(0.0, Some(0.5))), 1);
        assert_eq!(running.finish(), Some(curve(0.75, Some(0.5))));
    }

    #[test]
    fn what_one_batch_lacks_the_whole_lacks() {
        let mut running = RunningCurve::default();
        running.add(Some(curve(1.0, Some(0.5))), 1);
        running.add(Some(curve(1.0, None)), 1);
        assert_eq!(running.clone().finish(), Some(curve(1.0, None)));
        running.add(None, 1);
        running.add(Some(curve(1.0, None)), 1);
        assert_eq!(running.finish(), None);
        assert_eq!(RunningCurve::default().finish(), None);
    }

    #[test]
    fn thinning_keeps_both_ends_and_few_points() {
        let point = |at: usize, of: usize| RiskCoveragePoint {
            threshold: 0.5,
            coverage: at as f64 / of as f64,
            risk: 0.1,
        };
        let points: Vec<_> = (1..=10_000).map(|at| point(at, 10_000)).collect();
        let few = thinned(&points, 200);
        assert!((190..=201).contains(&few.len()), "{}", few.len());
        assert_eq!((few.first(), few.last()), (points.first(), points.last()));
        assert_eq!(thinned(&points[..1], 200), points[..1]);
        assert!(thinned(&[], 200).is_empty());
    }
}
