//! Which draws a prediction uses.

use super::PredictError;
use serde::{Deserialize, Serialize};

/// Draws that are looked at together when it is decided whether more are needed.
const STAGE: u32 = 4;

/// Which draws a prediction uses. Draw `k` is the same network on every device.
///
/// An ensemble has as many different networks as components, and a point one. More draws than that would count some of
/// them twice and others once, so that `Fixed` and `UntilStable` end when all have been drawn, unless dropout makes
/// the draws differ.
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
    /// Runs of draws, in stages after each of which one may stop. `different` is the number of different draws, if
    /// there is an end to them.
    pub(super) fn stages(
        &self,
        different: Option<u32>,
    ) -> Result<impl Iterator<Item = Vec<Run>> + use<>, PredictError> {
        let most = |count: u32| different.map_or(count, |different| count.min(different));
        let run = |first, count| Run::Draws { first, count };
        let (at_once, in_stages) = match self {
            Self::Fixed(0) | Self::UntilStable { max: 0, .. } => return Err(PredictError::NoDraws),
            Self::List(list) if list.is_empty() => return Err(PredictError::NoDraws),
            Self::UntilStable { tolerance, .. } if tolerance.is_nan() || *tolerance <= 0.0 => {
                return Err(PredictError::Tolerance(*tolerance));
            }
            Self::Mean => (Some(vec![Run::Mean]), 0),
            Self::Fixed(count) => (Some(vec![run(0, most(*count))]), 0),
            Self::List(list) => (Some(runs(list)), 0),
            Self::UntilStable { max, .. } => (None, most(*max)),
        };
        let stages = (0..in_stages).step_by(STAGE as usize);
        let stages = stages.map(move |first| vec![run(first, STAGE.min(in_stages - first))]);
        Ok(at_once.into_iter().chain(stages))
    }

    /// The most draws that may go through the network at once.
    pub(super) fn at_once(&self) -> usize {
        match self {
            Self::Mean => 1,
            Self::Fixed(count) => *count as usize,
            Self::List(list) => list.len(),
            Self::UntilStable { .. } => STAGE as usize,
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

    fn until_stable(max: u32) -> Draws {
        Draws::UntilStable {
            tolerance: 0.1,
            max,
        }
    }

    fn stages(draws: &Draws, different: Option<u32>) -> Vec<Vec<Run>> {
        draws.stages(different).unwrap().collect()
    }

    #[test]
    fn stages_end_at_the_maximum() {
        let draws = until_stable(6);
        let run = |first, count| vec![Run::Draws { first, count }];
        assert_eq!(stages(&draws, None), [run(0, 4), run(4, 2)]);
        assert!(!draws.settled(&[], &[0.5]));
        assert!(draws.settled(&[0.4], &[0.45]));
        assert!(!draws.settled(&[0.4], &[0.6]));
        let endless = until_stable(u32::MAX).stages(None).unwrap();
        assert_eq!(endless.take(2).last(), Some(run(4, 4)));
    }

    #[test]
    fn no_network_is_counted_twice() {
        let run = |first, count| vec![Run::Draws { first, count }];
        assert_eq!(stages(&Draws::Fixed(20), Some(8)), [run(0, 8)]);
        assert_eq!(stages(&Draws::Fixed(5), Some(8)), [run(0, 5)]);
        assert_eq!(stages(&until_stable(20), Some(5)), [run(0, 4), run(4, 1)]);
        assert_eq!(stages(&Draws::List(vec![9]), Some(8)), [run(9, 1)]);
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        for draws in [Draws::Fixed(0), Draws::List(vec![]), until_stable(0)] {
            assert_eq!(draws.stages(None).err(), Some(PredictError::NoDraws));
        }
        let unreachable = Draws::UntilStable {
            tolerance: f64::NAN,
            max: 4,
        };
        let error = unreachable.stages(None).err();
        assert!(matches!(error, Some(PredictError::Tolerance(_))));
    }
}
