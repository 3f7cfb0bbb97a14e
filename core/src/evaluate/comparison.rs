//! Networks in the rows of a table, each as it is and with its temperature.

use super::{Detection, Detections, Evaluation, Measure, Scores};

/// A network in a comparison: as it is, or with its temperature.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonRow<'a> {
    /// What the network is called.
    pub method: &'a str,
    /// The temperature, where it is applied.
    pub temperature: Option<f64>,
    /// Draws that predictions average over; 0 for the network at its mean.
    pub draws: usize,
    /// The uncertainty that the network is told by: mutual information, or entropy where there are no draws.
    pub ranked_by: Measure,
    /// Its scores on the test set.
    pub scores: &'a Scores,
    /// How well its uncertainty tells OOD images from test images, where there were some.
    pub ood: Option<&'a Detections>,
}

impl Evaluation {
    /// The rows of this network in a comparison: without its temperature, and with it if one was fitted.
    ///
    /// ```
    /// # fn rows(evaluation: &bayesadapter::evaluate::Evaluation) {
    /// for row in evaluation.comparison_rows() {
    ///     println!("{}: NLL {:.4}", row.name(), row.scores.nll);
    /// }
    /// # }
    /// ```
    pub fn comparison_rows(&self) -> impl Iterator<Item = ComparisonRow<'_>> {
        let plain = ComparisonRow {
            method: &self.method,
            temperature: None,
            draws: self.draws,
            ranked_by: self.ranked_by,
            scores: &self.scores,
            ood: self.out_of_distribution.as_ref().map(|ood| &ood.detection),
        };
        let calibrated = self.calibrated.as_deref();
        let tempered = calibrated.map(|calibrated| ComparisonRow {
            temperature: Some(calibrated.calibration.temperature.value()),
            scores: &calibrated.scores,
            ood: calibrated.out_of_distribution.as_ref(),
            ..plain
        });
        [Some(plain), tempered].into_iter().flatten()
    }
}

impl ComparisonRow<'_> {
    /// The method, with `+ T` where its temperature is applied.
    pub fn name(&self) -> String {
        match self.temperature {
            Some(_) => format!("{} + T", self.method),
            None => self.method.to_owned(),
        }
    }

    /// How well OOD images are found by one measure of uncertainty.
    pub fn ood_by(&self, measure: Measure) -> Option<Detection> {
        self.ood?.by(measure)
    }

    /// How well wrong predictions are found by what the network is told by.
    pub fn errors_found(&self) -> Option<Detection> {
        self.scores.error_detection?.by(self.ranked_by)
    }
}
