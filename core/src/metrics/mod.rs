//! How good predictions and their uncertainty are: accuracy, calibration, detection, selection.
//!
//! Plain functions over slices: probabilities and confidences come in as `f32`, sums are kept and
//! results returned in `f64`. Nothing here knows of tensors, devices or threads.
//!
//! | question | functions |
//! |---|---|
//! | how often right, how surprised | [`accuracy`], [`top_k_accuracy`], [`nll`], [`brier`] |
//! | is 80 % confidence right 80 % of the time | [`ece`], [`adaptive_ece`], [`classwise_ece`], [`reliability_bins`] |
//! | how to correct confidences | [`Temperature`] |
//! | which classes may it be, with 90 % certainty | [`Conformal`], [`ConformalMethod`], [`SetScores`] |
//! | does uncertainty rank mistakes | [`uncertainty_buckets`], [`risk_coverage`], [`aurc`] |
//! | what passes a confidence threshold | [`error_above_confidence`] |
//! | does uncertainty tell strangers apart | [`auroc`], [`aupr`], [`fpr_at_tpr`] |
//! | how many draws are enough | [`draw_curve`] |
//! | what kind of uncertainty | [`decompose`] |
//! | how are values distributed | [`Histogram`] |
//! | are two faces one person | [`verification_accuracy`] |
//!
//! # What holds everywhere
//! - Input is checked first, and what cannot be measured is a [`MetricError`] that names the value and
//!   its place: empty input, lengths that disagree, not-a-number. No result is NaN or infinite because
//!   of the input. A mean over nothing, such as the accuracy of an empty bin, is `None`.
//! - The predicted class is the most probable one; of equals, the one with the lower index.
//! - Unless a function says otherwise, the order of the examples does not matter: examples with equal
//!   scores share what happens to them. Sums are made in the order given, so the last digits may move.
//! - Work is O(n log n) in the examples and linear in the classes.

mod buckets;
mod calibration;
mod checks;
mod classification;
mod conformal;
mod detection;
mod draws;
mod error;
mod histogram;
mod order;
pub(crate) mod predictions;
mod selective;
mod temperature;
mod uncertainty;
mod verification;

pub use buckets::{MI_BUCKETS, UncertaintyBucket, uncertainty_buckets};
pub use calibration::{
    ECE_BINS, ReliabilityBin, adaptive_ece, adaptive_reliability_bins, classwise_ece, ece,
    reliability_bins,
};
pub use checks::MAX_PARTS;
pub use classification::{PROBABILITY_FLOOR, accuracy, brier, nll, top_k_accuracy};
pub use conformal::{Conformal, ConformalMethod, RAPS_LAMBDA, RapsPenalty, SetScores};
pub use detection::{TPR_95, aupr, auroc, fpr_at_tpr};
pub use draws::{DrawCurve, DrawScore, draw_curve};
pub use error::MetricError;
pub use histogram::Histogram;
pub use predictions::{DrawProbabilities, Predictions, SUM_TOLERANCE};
pub use selective::{
    ConfidencePoint, RiskCoverage, RiskCoveragePoint, aurc, error_above_confidence, risk_coverage,
};
pub use temperature::{TEMPERATURE_RANGE, Temperature};
pub use uncertainty::{Decomposition, decompose};
pub(crate) use uncertainty::{DrawSums, entropy};
pub use verification::{FoldAccuracy, Verification, verification_accuracy};
