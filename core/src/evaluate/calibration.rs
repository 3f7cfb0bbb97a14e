//! What is fitted on the validation set, a temperature and prediction sets, and its scores on the test set.

use super::{Detections, Outcomes, Scores};
use crate::metrics::{
    Conformal, ConformalMethod, MetricError, Predictions, ReliabilityBin, SetScores, Temperature,
    accuracy, nll,
};
use crate::predict::row_entropies;
use serde::{Deserialize, Serialize};

/// The share of images whose prediction set holds their class, unless told otherwise.
pub const COVERAGE: f64 = 0.9;

/// What was fitted on the validation set: a temperature, and prediction sets. It belongs to a network and is kept in its
/// posterior file.
///
/// The images must be ones that the network was not trained on: on those that it knows it is nearly always right and
/// sure, so that the temperature comes out near 1 and the sets too small.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Where the images come from, such as "2,000 of the 10,000 test images".
    pub source: String,
    /// How many there were.
    pub images: usize,
    /// Share of correct predictions on them.
    pub accuracy: f64,
    /// Negative log-likelihood per image on them, in nats, without the temperature.
    pub nll: f64,
    /// The same with the temperature, to compare networks by before the test set is looked at. Files of earlier
    /// versions do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tempered_nll: Option<f64>,
    /// Divides the logarithms of the mean probabilities.
    pub temperature: Temperature,
    /// Prediction sets of the probabilities without the temperature, one for each method.
    pub sets: Vec<Conformal>,
}

impl Calibration {
    /// Fits temperature and prediction sets to predictions of images that are described by `source`.
    ///
    /// # Errors
    ///
    /// A coverage that is not between 0 and 1.
    pub fn fit(
        predictions: &Predictions<'_>,
        source: impl Into<String>,
        coverage: f64,
    ) -> Result<Self, MetricError> {
        let sets = ConformalMethod::ALL
            .into_iter()
            .map(|method| Conformal::calibrate(predictions, method, coverage));
        let temperature = Temperature::fit(predictions)?;
        let mut tempered: Vec<f32> = predictions.rows().flatten().copied().collect();
        temperature.apply(&mut tempered, predictions.classes())?;
        let tempered = Predictions::new(&tempered, predictions.classes(), predictions.labels())?;
        Ok(Self {
            source: source.into(),
            images: predictions.examples(),
            accuracy: accuracy(predictions),
            nll: nll(predictions),
            tempered_nll: Some(nll(&tempered)),
            temperature,
            sets: sets.collect::<Result<_, _>>()?,
        })
    }

    /// The prediction sets of one method.
    pub fn sets_by(&self, method: ConformalMethod) -> Option<&Conformal> {
        self.sets.iter().find(|sets| sets.method() == method)
    }

    /// Why this calibration is not to be trusted, seen from the accuracy on `images` test images: a network that does
    /// far better on the validation set has probably been trained on it.
    pub fn doubt(&self, test_accuracy: f64, images: usize) -> Option<String> {
        /// Beyond chance, in standard errors, and beyond what is worth a word.
        const ERRORS: f64 = 3.0;
        const LEAST: f64 = 0.02;
        let variance = |share: f64, count: usize| share * (1.0 - share) / count.max(1) as f64;
        let error = (variance(self.accuracy, self.images) + variance(test_accuracy, images)).sqrt();
        let gap = self.accuracy - test_accuracy;
        (gap > LEAST + ERRORS * error).then(|| {
            format!(
                "accuracy on the validation images ({}) is {:.2} %, far above the {:.2} % on the test set: the network \
                 has probably been trained on them, so that its temperature and prediction sets are not to be trusted; \
                 calibrate on images that it has not seen, such as --validation test:0.2",
                self.source,
                100.0 * self.accuracy,
                100.0 * test_accuracy
            )
        })
    }
}

/// A network with its temperature and its prediction sets, on the test set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// What was fitted on the validation set.
    pub calibration: Calibration,
    /// Scores of the probabilities with the temperature.
    pub scores: Scores,
    /// The reliability diagram of the probabilities with the temperature.
    pub reliability: Vec<ReliabilityBin>,
    /// How well entropy and confidence with the temperature, and mutual information, tell OOD images from test images.
    pub out_of_distribution: Option<Detections>,
    /// The prediction sets, in the order of the calibration.
    pub sets: Vec<SetScores>,
}

/// What was said of each example, with the temperature: other probabilities, and other entropies of them. What the draws
/// disagree about stays as it is.
pub(super) fn tempered(
    examples: &Outcomes,
    probabilities: &mut [f32],
    classes: usize,
    temperature: Temperature,
) -> Result<Outcomes, MetricError> {
    temperature.apply(probabilities, classes)?;
    let rows = probabilities.chunks_exact(classes.max(1));
    let confidence = rows.zip(&examples.predicted);
    Ok(Outcomes {
        // The order of the classes is the same.
        predicted: examples.predicted.clone(),
        confidence: confidence
            .map(|(row, &class)| row[class as usize].min(1.0))
            .collect(),
        entropy: row_entropies(probabilities, classes),
        aleatoric_entropy: examples.aleatoric_entropy.clone(),
        mutual_information: examples.mutual_information.clone(),
    })
}
