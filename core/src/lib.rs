//! Turns a pre-trained neural network into a Bayesian one by a short fine-tuning, so that it knows what
//! it does not know.
//!
//! ```
//! use bayesadapter::models::Architecture;
//! use bayesadapter::{pass::{Estimator, Pass}, posterior::{IntoBayes, MeanField}, predict::Draws};
//! use burn::tensor::{Device, Tensor};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::flex().autodiff();
//! let network = "digits-cnn".parse::<Architecture>()?.init(&device)?; // or any Burn module
//! let bayes = network.into_bayes(MeanField::fine_tune(1_797))?;
//! let images = Tensor::ones([8, 1, 8, 8], &device);
//! // A weight of its own for every image. Then, as in any training: loss, backward, an optimiser's step.
//! let logits = bayes.run(Pass::train(Estimator::Exemplar, 0), |net| net.forward(images.clone()))?;
//! assert_eq!(logits.dims(), [8, 10]);
//! let prediction = bayes.predict(images, Draws::Fixed(20))?;
//! println!("class {}, MI {}", prediction.predicted_classes()[0], prediction.mutual_information()[0]);
//! # Ok(())
//! # }
//! ```
//!
//! - [`posterior`]: conversion of a network, with an account of what was converted and which estimators it has; draws
//!   and the mean as plain networks; the complexity loss.
//! - [`pass`]: what a forward pass does, said out loud: mode, draw, estimator.
//! - [`nn`]: Burn's layers, with estimators. Stock layers of Burn work too, with one draw per mini-batch.
//! - [`data`]: data sets in the layouts they are published in, and mini-batches made ahead.
//! - [`train`]: an optimiser and its rates for a loop of your own, as in `examples/plain_loop.rs`, and a loop that can
//!   be saved at any step; [`session`]: whole runs.
//! - [`checkpoint`] and [`file`]: pre-trained weights in, posteriors in and out.
//! - [`estimate`]: memory and time of a training step before it is made, and what to do if it does not fit.
//! - [`predict`] and [`metrics`]: probabilities with their uncertainty, and how good they are.
//! - [`evaluate`]: all that is known of a network on test data, in one value.
//! - [`adversarial`]: images that raise the loss of the posterior predictive.
//! - [`models`]: networks with the parameter names of their PyTorch sources.
//! - [`ops`]: what all of it stands on, linear maps with a weight per example on GPU and CPU.
#![warn(missing_docs)]

pub mod adversarial;
pub mod checkpoint;
mod clock;
pub mod data;
pub mod disk;
pub mod estimate;
mod estimators;
pub mod evaluate;
pub mod file;
pub mod metrics;
pub mod models;
pub mod nn;
pub mod ops;
pub mod pass;
mod path;
pub mod posterior;
pub mod predict;
mod read;
pub mod selfcheck;
pub mod session;
pub mod showcase;
pub mod train;

pub use bayesadapter_shaders as shaders;

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
