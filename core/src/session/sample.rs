//! A few pictures that stand for all, for those who cannot wait.

use super::{EvaluationSettings, Judge, Pace, SessionError, connect};
use crate::{
    data::Subset,
    evaluate::{Evaluation, ImageSet},
    models::Network,
    ops::NoiseKey,
    posterior::Bayes,
};

/// Test pictures, and pictures of another kind, that are judged at most.
const PICTURES: usize = 256;
const STRANGERS: usize = 512;
/// Draws of the posterior.
const DRAWS: u32 = 20;
/// Pictures at once: what makes them ready does not give way.
const BATCH: usize = 64;

/// Some test pictures, and what judges by them.
pub(super) struct Sample {
    judge: Judge,
    /// Which of the test pictures these are, rising.
    numbers: Vec<usize>,
    /// How many there are in their set.
    of: usize,
    set: ImageSet,
}

impl Sample {
    /// Of the images of a judge: validation images where there are some, since the test set is for the end.
    pub(super) fn of(mut judge: Judge) -> Self {
        let set = match judge.validation.take() {
            Some((_, images)) => {
                judge.test = images;
                ImageSet::Validation
            }
            None => ImageSet::Test,
        };
        let (of, strangers) = (judge.test.len(), judge.out_of_distribution.as_ref());
        let [pictures, others] = counts(of, strangers.map_or(0, |(_, data)| data.len()));
        let numbers = spread(of, pictures);
        let strangers = strangers.map(|(name, data)| {
            let some = Subset::of(data, spread(data.len(), others));
            (name.clone(), some)
        });
        let judge = Judge {
            test: Subset::of(&judge.test, numbers.clone()),
            out_of_distribution: strangers,
            settings: EvaluationSettings {
                draws: judge.settings.draws.min(DRAWS),
                batch: judge.settings.batch.min(BATCH),
                ..judge.settings
            },
            // It is at the end of a run that a broken picture counts.
            skip_broken: true,
            ..judge
        };
        Self {
            judge,
            numbers,
            of,
            set,
        }
    }

    /// Judges a network as [`Judge::evaluate`] does, but tells nobody.
    pub(super) async fn evaluate(
        &self,
        bayes: &Bayes<Network>,
        name: &str,
        pace: &impl Pace,
    ) -> Result<Option<Evaluation>, SessionError> {
        let (_, nobody) = connect();
        let judged = self
            .judge
            .evaluate_quickly(bayes, name, &nobody, pace)
            .await?;
        Ok(judged.map(|judged| self.among_all(judged)))
    }

    /// The same evaluation, with the numbers that pictures have among all of the test.
    fn among_all(&self, mut evaluation: Evaluation) -> Evaluation {
        let examples = 0..evaluation.scores.examples;
        let judged: Vec<usize> = examples
            .map(|example| self.numbers[evaluation.picture_of(example)])
            .collect();
        let others = (0..self.of).filter(|number| judged.binary_search(number).is_err());
        evaluation.passed_over = others.collect();
        evaluation.set = self.set;
        evaluation
    }
}

/// How many of the test pictures, and of those of another kind, are judged: the same share of both, since some errors are
/// counted among all of them.
fn counts(pictures: usize, strangers: usize) -> [usize; 2] {
    let share = |most: usize, all: usize| most as f64 / all as f64;
    let share = share(PICTURES, pictures).min(share(STRANGERS, strangers));
    [pictures, strangers].map(|all| ((share * all as f64).round() as usize).clamp(all.min(1), all))
}

/// Numbers of at most so many out of `all`, rising: one at random from each of as many equal parts, and the same every
/// time. Not every tenth or so, since data may repeat their classes with just that period.
pub(super) fn spread(all: usize, most: usize) -> Vec<usize> {
    let key = NoiseKey {
        draw: 0x7370_7264,
        ..NoiseKey::default()
    };
    let count = all.min(most);
    // In 64 bits, since a browser's numbers have 32.
    let border = |part: usize| (part as u64 * all as u64 / count as u64) as usize;
    let one_of = |part: usize| {
        let (first, after) = (border(part), border(part + 1));
        let [number, ..] = key.bits(part as u32, 0);
        first + number as usize % (after - first)
    };
    (0..count).map(one_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_some_of_everything() {
        for (all, most) in [(2560, 256), (1352, 256), (257, 256), (12_345, 12)] {
            let chosen = spread(all, most);
            assert_eq!(chosen.len(), most);
            assert!(chosen.is_sorted_by(|one, next| one < next));
            for (part, &number) in chosen.iter().enumerate() {
                let (first, after) = (part * all / most, (part + 1) * all / most);
                assert!((first..after).contains(&number), "{number} of {all}");
            }
        }
        // Classes that take turns are all there.
        let mut of_class = [0; 10];
        for number in spread(2560, 256) {
            of_class[number % 10] += 1;
        }
        assert!(of_class.iter().all(|&count| count > 10), "{of_class:?}");
    }

    #[test]
    fn the_mix_of_a_sample_is_that_of_all() {
        assert_eq!(counts(1352, 360), [256, 68]);
        assert_eq!(counts(10_000, 26_032), [197, 512]);
        assert_eq!(counts(1000, 0), [256, 0]);
        assert_eq!(counts(100_000, 3), [256, 1]);
        assert_eq!(counts(7, 9), [7, 9]);
    }

    #[test]
    fn of_few_all_are_taken() {
        assert_eq!(spread(5, 256), [0, 1, 2, 3, 4]);
        assert!(spread(0, 256).is_empty());
    }
}
