//! Which draws a prediction uses.

use super::PredictError;
use serde::{Deserialize, Serialize};

/// Draws that are looked at together when it is decided whether more are needed.
const STAGE: u32 = 4;

/// Which draws a prediction uses. Draw `k` is the same network on every device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draws {
    /// None: the network at its mean.
    Mean,
    /// Draws `0..count`.
    Fixed(u32),
    /// These.
    List(Vec<u32>),
    /// Draws `0, 1, ..`, four at a time, until four more change no mean probability by more than the
    /// tolerance, or there are `max`.
    UntilStable {
        /// Largest change of a probability that counts as none.
        tolerance: f64,
        /// Number of draws after which to stop in any case.
        max: u32,
    },
}

/// Successive draws, or the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    Mean,
    Draws { first: u32, count: u32 },
}

impl Draws {
    /// Runs of draws, in stages after each of which one may stop.
    pub(super) fn stages(&self) -> Result<Vec<Vec<Run>>, PredictError> {
        let up_to = |count| vec![Run::Draws { first: 0, count }];
        match self {
            Self::Mean => Ok(vec![vec![Run::Mean]]),
            Self::Fixed(0) | Self::UntilStable { max: 0, .. } => Err(PredictError::NoDraws),
            Self::List(list) if list.is_empty() => Err(PredictError::NoDraws),
            Self::Fixed(count) => Ok(vec![up_to(*count)]),
            Self::List(list) => Ok(vec![runs(list)]),
            Self::UntilStable { tolerance, .. } if tolerance.is_nan() || *tolerance <= 0.0 => {
                Err(PredictError::Tolerance(*tolerance))
            }
            Self::UntilStable { max, .. } => Ok((0..*max)
                .step_by(STAGE as usize)
                .map(|first| {
                    let count = STAGE.min(max - first);
                    vec![Run::Draws { first, count }]
                })
                .collect()),
        }
    }

    /// Whether the mean probabilities have stopped moving.
    pub(super) fn settled(&self, before: &[f32], after: &[f32]) -> bool {
        let Self::UntilStable { tolerance, .. } = self else {
            return false;
        };
        let moved = |(&before, &after): (&f32, &f32)| f64::from((after - before).abs());
        !before.is_empty()
            && before
                .iter()
                .zip(after)
                .map(moved)
                .all(|by| by <= *tolerance)
    }
}

/// A list as runs of successive draws, in its order.
fn runs(list: &[u32]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for &draw in list {
        match runs.last_mut() {
            Some(Run::Draws { first, count }) if first.checked_add(*count) == Some(draw) => {
                *count += 1;
            }
            _ => runs.push(Run::Draws {
                first: draw,
                count: 1,
            }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_becomes_runs_in_its_order() {
        let run = |first, count| Run::Draws { first, count };
        assert_eq!(
            runs(&[3, 4, 5, 0, 9, 10]),
            [run(3, 3), run(0, 1), run(9, 2)]
        );
        assert_eq!(runs(&[u32::MAX, 0]), [run(u32::MAX, 1), run(0, 1)]);
    }

    #[test]
    fn stages_end_at_the_maximum() {
        let draws = Draws::UntilStable {
            tolerance: 0.1,
            max: 6,
        };
        let stages = draws.stages().unwrap();
        let run = |first, count| vec![Run::Draws { first, count }];
        assert_eq!(stages, [run(0, 4), run(4, 2)]);
        assert!(!draws.settled(&[], &[0.5]));
        assert!(draws.settled(&[0.4], &[0.45]));
        assert!(!draws.settled(&[0.4], &[0.6]));
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        for draws in [Draws::Fixed(0), Draws::List(vec![])] {
            assert_eq!(draws.stages(), Err(PredictError::NoDraws));
        }
        let stages = Draws::UntilStable {
            tolerance: f64::NAN,
            max: 4,
        }
        .stages();
        assert!(matches!(stages, Err(PredictError::Tolerance(_))));
    }
}
