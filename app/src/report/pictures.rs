//! Images that a network is most and least sure of.

use bayesadapter::evaluate::{Evaluation, Measure};
use image::RgbImage;

/// An image with what was said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub image: RgbImage,
    /// The true class.
    pub label: String,
    /// The class that the network chose.
    pub predicted: String,
    pub right: bool,
    /// The probability of the chosen class.
    pub confidence: f32,
    /// By the measure of [`Pictures`].
    pub uncertainty: f64,
}

/// The images that a method is most and least sure of.
#[derive(Clone, Debug, PartialEq)]
pub struct Pictures {
    /// As in its [`Evaluation`].
    pub method: String,
    pub measure: Measure,
    /// From the surest on.
    pub most_certain: Vec<Picture>,
    /// From the least sure on.
    pub least_certain: Vec<Picture>,
}

impl Pictures {
    /// `count` of each. `image` makes the picture of a test example; those that it has none of are left out.
    pub fn of(
        evaluation: &Evaluation,
        count: usize,
        image: impl Fn(usize) -> Option<RgbImage>,
    ) -> Self {
        let uncertainty = evaluation.examples.uncertainty(evaluation.ranked_by);
        let picture = |at: usize| {
            let (label, predicted) = (evaluation.labels[at], evaluation.examples.predicted[at]);
            Some(Picture {
                image: image(at)?,
                label: evaluation.class_name(label),
                predicted: evaluation.class_name(predicted),
                right: label == predicted,
                confidence: evaluation.examples.confidence[at],
                uncertainty: uncertainty[at],
            })
        };
        let rising = evaluation.by_rising_uncertainty();
        let falling = evaluation.by_rising_uncertainty().rev();
        Self {
            method: evaluation.method.clone(),
            measure: evaluation.ranked_by,
            most_certain: rising.filter_map(picture).take(count).collect(),
            least_certain: falling.filter_map(picture).take(count).collect(),
        }
    }
}
