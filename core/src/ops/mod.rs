//! Linear maps with one weight per example, differentiable on every device.
//!
//! [`exemplar_matmul`] and [`exemplar_conv2d`] take their weights from one of three sources
//! ([`Weights`]): given ones with an index per example, a mean-field Gaussian whose noise is made on
//! the fly, or a low-rank ensemble. None of them stores a mini-batch of weights, forward or backward.
//! [`sample_gaussian`] and [`sample_low_rank`] materialise the same weights where that is wanted.
//! [`batch_norm`] and [`batch_norm_train`] take a scale and a shift per example.
//!
//! Gradients are of the first order, as all of Burn's: a gradient is a constant outside of the graph, so that a
//! loss made of gradients, such as a gradient penalty, moves no parameter.

mod autodiff;
mod backend;
mod cpu;
mod error;
mod exemplar;
#[cfg(feature = "fusion")]
mod fusion;
mod gpu;
mod noise;
mod norm;
pub mod reference;
mod route;
mod sample;
mod scale;
#[cfg(test)]
mod twins;
mod weights;

pub use bayesadapter_shaders::{DrawAxis, GeometryError, NoiseKey, Padding};
pub use error::OpError;
pub use exemplar::{ConvOptions, exemplar_conv2d, exemplar_matmul};
pub use gpu::{KernelVariant, UnknownKernels, kernels_from_environment, set_kernel_variant};
pub use noise::fill_normals;
pub(crate) use norm::normalises_in_one_op;
pub use norm::{AfterNorm, Normalised, batch_norm, batch_norm_train};
pub(crate) use route::Hardware;
pub use sample::{sample_gaussian, sample_low_rank};
pub use weights::{Conv2dWeights, MatmulWeights, Weights};
