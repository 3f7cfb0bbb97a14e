//! Predictions with the temperature and the prediction sets that were fitted on a validation set.

use super::Calibration;
use crate::{
    metrics::{ConformalMethod, MetricError, Temperature},
    predict::Prediction,
};

/// A prediction with the temperature of its network, and the prediction sets of its images.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedPrediction {
    /// The prediction, with the temperature applied.
    pub prediction: Prediction,
    /// The temperature of its probabilities; 1 where none is applied.
    pub temperature: Temperature,
    /// The prediction sets of its images, if the network has a calibration.
    pub sets: Option<PredictionSets>,
}

/// The classes that each image of a prediction may be.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionSets {
    /// The share of images whose set holds their class, as asked for in calibration.
    pub coverage: f64,
    /// For each image the numbers of its classes, from the most probable on.
    pub classes: Vec<Vec<u32>>,
}

impl CalibratedPrediction {
    /// Makes the prediction sets by `method`, and applies the temperature unless `with_temperature` is false. In this
    /// order: the sets are calibrated on probabilities without the temperature. A network without a calibration has no
    /// sets, and a temperature of 1.
    ///
    /// # Errors
    ///
    /// Probabilities that are none.
    pub fn new(
        prediction: Prediction,
        calibration: Option<&Calibration>,
        method: ConformalMethod,
        with_temperature: bool,
    ) -> Result<Self, MetricError> {
        let conformal = calibration.and_then(|calibration| calibration.sets_by(method));
        let sets = conformal.map(|conformal| {
            // The fields of a prediction are public: there may be no classes at all.
            let rows = prediction.probabilities().chunks(prediction.classes.max(1));
            PredictionSets {
                coverage: conformal.coverage(),
                classes: rows.map(|row| conformal.set(row)).collect(),
            }
        });
        let temperature = match calibration {
            Some(calibration) if with_temperature => calibration.temperature,
            _ => Temperature::ONE,
        };
        Ok(Self {
            prediction: prediction.with_temperature(temperature)?,
            temperature,
            sets,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;
    use crate::metrics::{DrawProbabilities, Predictions, decompose};

    fn prediction() -> Prediction {
        let probabilities = [0.92, 0.08, 0.3, 0.7];
        Prediction {
            classes: 2,
            draws: vec![0],
            summary: decompose(&DrawProbabilities::new(&probabilities, 1, 2).unwrap()),
            draw_probabilities: None,
            features: None,
        }
    }

    #[test]
    fn prediction_sets_are_those_of_the_probabilities_without_the_temperature() {
        // 90 % confidence, of which one in four is wrong: a temperature of 2, and a threshold of 10 %.
        let probabilities = [0.9, 0.1].repeat(20);
        let labels: Vec<u32> = (0..20).map(|image| u32::from(image % 4 == 3)).collect();
        let validation = Predictions::new(&probabilities, 2, &labels).unwrap();
        let calibration = Calibration::fit(&validation, "20 images", 0.9).unwrap();
        let method = ConformalMethod::Threshold;
        let plain = prediction();
        for with_temperature in [true, false] {
            let calibrated = CalibratedPrediction::new(
                plain.clone(),
                Some(&calibration),
                method,
                with_temperature,
            );
            let calibrated = calibrated.unwrap();
            let sets = calibrated.sets.unwrap();
            // With the temperature, the first image would have a second class of more than 20 %.
            assert_eq!(sets.classes, [vec![0], vec![1, 0]]);
            assert_eq!(sets.coverage, 0.9);
            if with_temperature {
                assert!((calibrated.temperature.value() - 2.0).abs() < 1e-6);
                assert!(calibrated.prediction.probabilities()[1] > 0.2);
            } else {
                assert_eq!(calibrated.temperature, Temperature::ONE);
                assert_eq!(calibrated.prediction, plain);
            }
        }
    }

    #[test]
    fn a_network_without_a_calibration_keeps_its_probabilities() {
        let method = ConformalMethod::Threshold;
        let calibrated = CalibratedPrediction::new(prediction(), None, method, true).unwrap();
        assert_eq!(calibrated.prediction, prediction());
        assert_eq!(calibrated.temperature, Temperature::ONE);
        assert_eq!(calibrated.sets, None);
    }
}
