//! Kernels of BayesAdapter: WGSL sources with their plain-Rust twins, and the shapes, weight
//! sources and keyed noise that both are written against.
//!
//! This crate knows no tensor library, no GPU API, no files and no threads.

#![warn(missing_docs)]

#[doc(hidden)]
pub mod cases;
pub mod geometry;
pub mod kernels;
pub mod noise;
pub mod source;
pub mod twin;

pub use geometry::{Conv2d, GeometryError, Map, Matmul, Padding};
pub use noise::NoiseKey;
pub use source::{BySlot, DrawAxis, Source};
