//! Turns a pre-trained neural network into a Bayesian one by a short fine-tuning.
//!
//! So far: the [`ops`] everything stands on, linear maps with a weight per example on GPU and CPU,
//! a [`selfcheck`] that compares devices, and a [`showcase`] of what the ops are good for.

pub mod metrics;
pub mod ops;
pub mod selfcheck;
pub mod showcase;

pub use bayesadapter_shaders as shaders;

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
