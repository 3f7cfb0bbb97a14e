//! How a network did on validation images after each epoch, as it is drawn.

use crate::{
    report::{Mark, Series},
    window::look::VERMILION,
};
use bayesadapter::session::ValidationScores;

/// Points by rising steps. They are kept as they are drawn, so that a frame copies them and computes nothing.
#[derive(Default)]
pub struct Validated {
    nll: Vec<[f64; 2]>,
    /// In percent.
    accuracy: Vec<[f64; 2]>,
}

impl Validated {
    /// Takes up the scores after an epoch that ended with `step`. A run that was set back overwrites what it had.
    pub fn add(&mut self, step: usize, scores: &ValidationScores) {
        let step = step as f64;
        for (points, value) in [
            (&mut self.nll, scores.nll),
            (&mut self.accuracy, 100.0 * scores.accuracy),
        ] {
            points.truncate(points.partition_point(|[at, _]| *at < step));
            points.push([step, value]);
        }
    }

    /// Forgets what came after a step.
    pub fn set_back(&mut self, step: usize) {
        let step = step as f64;
        for points in [&mut self.nll, &mut self.accuracy] {
            points.truncate(points.partition_point(|[at, _]| *at <= step));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.nll.is_empty()
    }

    /// Negative log-likelihood in nats, if there are validation images.
    pub fn nll(&self) -> Option<Series> {
        drawn(&self.nll)
    }

    /// Accuracy in percent, if there are validation images.
    pub fn accuracy(&self) -> Option<Series> {
        drawn(&self.accuracy)
    }
}

fn drawn(points: &[[f64; 2]]) -> Option<Series> {
    let points = (!points.is_empty()).then(|| points.to_vec())?;
    Some(Series::new("validation", VERMILION, Mark::Points, points))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(accuracy: f64) -> ValidationScores {
        ValidationScores {
            accuracy,
            nll: 1.0 - accuracy,
            ece: 0.1,
            images: 100,
        }
    }

    #[test]
    fn a_run_that_is_set_back_overwrites_its_epochs() {
        let mut validated = Validated::default();
        assert!(validated.is_empty() && validated.nll().is_none());
        for (step, accuracy) in [(10, 0.25), (20, 0.5), (30, 0.75)] {
            validated.add(step, &scores(accuracy));
        }
        validated.set_back(29);
        let points = |series: Option<Series>| series.map(|series| series.points);
        let percent = vec![[10.0, 25.0], [20.0, 50.0]];
        assert_eq!(points(validated.accuracy()), Some(percent));
        // The epoch is told again when the run goes on.
        validated.add(20, &scores(0.625));
        let nll = vec![[10.0, 0.75], [20.0, 0.375]];
        assert_eq!(points(validated.nll()), Some(nll));
    }
}
