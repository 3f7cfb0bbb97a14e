//! How well each measure of uncertainty finds what it should.

use super::{Measure, Outcomes};
use crate::metrics::{MetricError, TPR_95, aupr, auroc, fpr_at_tpr};
use serde::{Deserialize, Serialize};

/// How well one measure of uncertainty tells what is to be found from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// As [`auroc`].
    pub auroc: f64,
    /// As [`aupr`].
    pub aupr: f64,
    /// As [`fpr_at_tpr`] at [`TPR_95`]: the share of false alarms when 95 % are found.
    pub false_alarms_at_95: f64,
}

/// How well each measure does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detections {
    /// By mutual information; `None` where there are fewer than two draws to disagree.
    pub mutual_information: Option<Detection>,
    /// By entropy.
    pub entropy: Detection,
    /// By one minus the confidence.
    pub doubt: Detection,
}

impl Detections {
    /// That of one measure.
    pub fn by(&self, measure: Measure) -> Option<Detection> {
        match measure {
            Measure::MutualInformation => self.mutual_information,
            Measure::Entropy => Some(self.entropy),
            Measure::Doubt => Some(self.doubt),
        }
    }

    /// With the two kinds of examples that `split` makes of a measure's uncertainties: those to be found,
    /// and the rest.
    fn new(
        draws: usize,
        split: impl Fn(Measure) -> (Vec<f64>, Vec<f64>),
    ) -> Result<Self, MetricError> {
        let by = |measure| {
            let (positives, negatives) = split(measure);
            Ok(Detection {
                auroc: auroc(&positives, &negatives)?,
                aupr: aupr(&positives, &negatives)?,
                false_alarms_at_95: fpr_at_tpr(&positives, &negatives, TPR_95)?,
            })
        };
        Ok(Self {
            mutual_information: (draws > 1)
                .then(|| by(Measure::MutualInformation))
                .transpose()?,
            entropy: by(Measure::Entropy)?,
            doubt: by(Measure::Doubt)?,
        })
    }

    /// Of wrong predictions among all; `None` where all are right or all are wrong.
    pub(super) fn of_errors(
        examples: &Outcomes,
        correct: &[bool],
        draws: usize,
    ) -> Result<Option<Self>, MetricError> {
        if correct.iter().all(|&right| right == correct[0]) {
            return Ok(None);
        }
        let split = |measure| {
            let of = |wanted: bool| {
                let uncertainty = examples.uncertainty(measure).into_iter().zip(correct);
                let wanted = uncertainty.filter(move |&(_, &right)| right == wanted);
                wanted.map(|(value, _)| value).collect()
            };
            (of(false), of(true))
        };
        Self::new(draws, split).map(Some)
    }

    /// Of examples from elsewhere among those of the test set.
    pub(super) fn of_strangers(
        strangers: &Outcomes,
        examples: &Outcomes,
        draws: usize,
    ) -> Result<Self, MetricError> {
        Self::new(draws, |measure| {
            (
                strangers.uncertainty(measure),
                examples.uncertainty(measure),
            )
        })
    }
}
