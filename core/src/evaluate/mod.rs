//! Everything that is known of a network on test data, in one value that can be saved and shown.
//!
//! A [`Collector`] takes predictions batch by batch, since the probabilities of every draw for a large test
//! set do not fit in memory, and [`finish`](Collector::finish) turns them into an [`Evaluation`]. Reports,
//! the command line, the window and the page read that and compute nothing themselves.
//!
//! [`KernelPosterior`] is the picture of a posterior: mean and standard deviation of a layer's kernels.
//! [`LayerPosterior`] tells of any layer how its weights are distributed, how sure they are, and how far they moved.
//!
//! ```
//! use bayesadapter::{evaluate::Collector, models::Architecture, posterior::{IntoBayes, MeanField}};
//! use bayesadapter::{metrics::DrawCurve, predict::{Draws, PredictOptions}};
//! use burn::tensor::{Device, Tensor, read_sync};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::flex();
//! let network = "digits-cnn".parse::<Architecture>()?.init(&device)?;
//! let bayes = network.into_bayes(MeanField::fine_tune(1_797))?;
//! let options = PredictOptions::new(Draws::Fixed(4)).with_draws_kept();
//! let batches = (0..2).map(|_| Ok::<_, String>((Tensor::<4>::ones([3, 1, 8, 8], &device), vec![0, 1, 2])));
//!
//! let mut collector = Collector::new((0..10).map(|digit| digit.to_string()));
//! let progress = async |done: usize, _: Option<&DrawCurve>| assert!(done <= 6);
//! read_sync(collector.add_batches(&bayes, batches, &options, progress))?;
//! let evaluation = collector.finish("MFG")?;
//! assert_eq!(evaluation.scores.examples, 6);
//! assert_eq!(evaluation.curve.map(|curve| curve.ensemble.len()), Some(4));
//! # Ok(())
//! # }
//! ```

mod batches;
mod calibrated_prediction;
mod calibration;
mod collector;
mod comparison;
mod curve;
mod detection;
mod error;
mod evaluation;
mod kernels;
mod layer;
mod moments;
mod outcomes;

pub use calibrated_prediction::{CalibratedPrediction, PredictionSets};
pub use calibration::{COVERAGE, Calibrated, Calibration};
pub use collector::Collector;
pub use comparison::ComparisonRow;
pub use detection::{Detection, Detections};
pub use error::EvaluateError;
pub use evaluation::{Evaluation, ImageSet, OutOfDistribution, Scores};
pub use kernels::KernelPosterior;
pub use layer::{LayerPosterior, LayerSpread, Movement, movements};
pub use moments::LayerFactors;
pub use outcomes::{Measure, Outcomes};
