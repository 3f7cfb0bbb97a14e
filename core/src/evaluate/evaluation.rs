//! Everything that is known of a network on test data.

use super::{Calibrated, Detections, Measure, Outcomes};
use crate::metrics::{
    ConfidencePoint, DrawCurve, ReliabilityBin, RiskCoveragePoint, UncertaintyBucket,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which images a network was evaluated on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageSet {
    /// The test set.
    #[default]
    Test,
    /// The validation set, as on the way of a run.
    Validation,
}

impl fmt::Display for ImageSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Test => "test",
            Self::Validation => "validation",
        })
    }
}

/// Everything that is known of a network on test data. Shares are in 0..=1, entropies in nats, and nothing
/// is NaN or infinite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// What the network is called beside others, such as `MAP`, `MFG` or `PSE`.
    pub method: String,
    /// A checksum of the network's tensors, where it is known: by it an evaluation is told from that of other weights.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub network: String,
    /// Which images it was evaluated on.
    #[serde(default)]
    pub set: ImageSet,
    /// One name per class.
    pub class_names: Vec<String>,
    /// Draws that predictions average over, the most of any batch; 0 for the network at its mean.
    pub draws: usize,
    /// The uncertainty that sorts [`buckets`](Self::buckets): mutual information, or entropy where there
    /// are fewer than two draws to disagree.
    pub ranked_by: Measure,
    /// Single numbers.
    pub scores: Scores,
    /// The reliability diagram, [`ECE_BINS`](crate::metrics::ECE_BINS) bins of equal width.
    pub reliability: Vec<ReliabilityBin>,
    /// [`MI_BUCKETS`](crate::metrics::MI_BUCKETS) equal buckets of rising uncertainty.
    pub buckets: Vec<UncertaintyBucket>,
    /// Accuracy and likelihood against the number of draws, if every batch came with the probabilities of
    /// equally many.
    pub curve: Option<DrawCurve>,
    /// The error among predictions above each confidence from 0 to 0.99; where there are
    /// out-of-distribution data, they are among the predictions, and wrong.
    pub error_above_confidence: Vec<ConfidencePoint>,
    /// Risk against coverage by confidence, a few hundred points at most.
    pub risk_coverage: Vec<RiskCoveragePoint>,
    /// The true class of each example.
    pub labels: Vec<u32>,
    /// Numbers of the test pictures that were not judged, rising, since they could not be read or a few stand for all:
    /// the examples are the others, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<usize>,
    /// What was said of each example.
    pub examples: Outcomes,
    /// What was said of data from elsewhere, if there were any.
    pub out_of_distribution: Option<OutOfDistribution>,
    /// The same network with the temperature and the prediction sets that were fitted on a validation set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibrated: Option<Box<Calibrated>>,
}

/// How good the predictions are, in single numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Number of examples.
    pub examples: usize,
    /// Share of correct predictions.
    pub accuracy: f64,
    /// Share of examples whose class is among the five most probable; with more than five classes.
    pub top_5_accuracy: Option<f64>,
    /// Negative log-likelihood per example, in nats.
    pub nll: f64,
    /// Brier score.
    pub brier: f64,
    /// Expected calibration error.
    pub ece: f64,
    /// The same over bins of equally many examples.
    pub adaptive_ece: f64,
    /// The same for the probability of each class, averaged over the classes.
    pub classwise_ece: f64,
    /// Area under risk against coverage by confidence, so that networks with and without draws compare.
    pub aurc: f64,
    /// How well the uncertainty finds wrong predictions; `None` where all are right or all are wrong.
    pub error_detection: Option<Detections>,
}

/// What a network said of data of classes that it does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutOfDistribution {
    /// What the data are called.
    pub name: String,
    /// How well the uncertainty tells them from the test examples.
    pub detection: Detections,
    /// What was said of each of them.
    pub examples: Outcomes,
}

impl Evaluation {
    /// Whether each example was predicted correctly.
    pub fn correct(&self) -> Vec<bool> {
        let predicted = self.examples.predicted.iter();
        predicted
            .zip(&self.labels)
            .map(|(predicted, label)| predicted == label)
            .collect()
    }

    /// Positions of the examples, from the surest to the least sure by [`ranked_by`](Self::ranked_by).
    pub fn by_rising_uncertainty(&self) -> impl DoubleEndedIterator<Item = usize> + use<'_> {
        let buckets = self.buckets.iter();
        buckets.flat_map(|bucket| bucket.indices.iter().copied())
    }

    /// The number in the test data of the picture that an example is.
    pub fn picture_of(&self, example: usize) -> usize {
        // Every picture that was passed over before it moves it on by one.
        self.passed_over
            .iter()
            .fold(example, |number, &gap| number + usize::from(gap <= number))
    }

    /// Numbers in the test data of so many pictures of which the network is least sure, from the least sure on.
    pub fn least_sure(&self, count: usize) -> Vec<usize> {
        let examples = self.by_rising_uncertainty().rev().take(count);
        examples.map(|example| self.picture_of(example)).collect()
    }

    /// How many test pictures there are, with those that were not judged.
    pub fn test_pictures(&self) -> usize {
        self.scores.examples + self.passed_over.len()
    }

    /// Positions of the examples in a bin of the [reliability diagram](Self::reliability), by rising confidence.
    pub fn in_bin(&self, bin: &ReliabilityBin) -> Vec<usize> {
        let confidence = |&at: &usize| f64::from(self.examples.confidence[at]);
        let inside = |at: &usize| {
            let confidence = confidence(at);
            // The first bin holds a confidence of zero too.
            (bin.lower < confidence || bin.lower == 0.0) && confidence <= bin.upper
        };
        let mut found: Vec<usize> = (0..self.examples.len()).filter(inside).collect();
        found.sort_by(|a, b| confidence(a).total_cmp(&confidence(b)));
        found
    }

    /// The share of the examples of which the network is surer than of one with this uncertainty.
    pub fn share_below(&self, measure: Measure, uncertainty: f64) -> f64 {
        let all = self.examples.uncertainty(measure);
        let below = all.iter().filter(|&&one| one < uncertainty).count();
        below as f64 / all.len().max(1) as f64
    }

    /// The name of a class, or its number where it has none.
    pub fn class_name(&self, class: u32) -> String {
        let name = self.class_names.get(class as usize);
        name.cloned().unwrap_or_else(|| class.to_string())
    }
}
