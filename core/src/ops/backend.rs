//! The backend extension: what a device implements to serve the ops.

use bayesadapter_shaders::{DrawAxis, Map, NoiseKey, Source};
use burn::backend::{Backend, ExtensionType, backend_extension, tensor::FloatTensor};

/// A linear map with the source of its weights.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExemplarOp {
    pub map: Map,
    pub source: Source,
}

/// How a parameter is materialised.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SampleOp {
    /// Parameters `mu`, `psi`; element `e` of draw `j` is `mu[e] + exp(psi[e]) * eps(j, e)`.
    Gaussian {
        key: NoiseKey,
        axis: DrawAxis,
        draws: usize,
    },
    /// Parameters `W [out, in]` or `[in, out]`, `l`, `r`; draw `j` is component `index[j]`.
    /// `map` tells how `W` is laid out; its batch is the number of draws.
    LowRank { op: ExemplarOp },
}

/// The tensors of a weight source.
#[derive(ExtensionType)]
pub enum Parameters<B: Backend> {
    Given {
        weights: FloatTensor<B>,
    },
    Gaussian {
        mu: FloatTensor<B>,
        psi: FloatTensor<B>,
    },
    LowRank {
        shared: FloatTensor<B>,
        left: FloatTensor<B>,
        right: FloatTensor<B>,
    },
}

impl<B: Backend> Parameters<B> {
    /// In the order of the variant's fields, which is that of the gradients.
    pub fn into_vec(self) -> Vec<FloatTensor<B>> {
        match self {
            Self::Given { weights } => vec![weights],
            Self::Gaussian { mu, psi } => vec![mu, psi],
            Self::LowRank {
                shared,
                left,
                right,
            } => vec![shared, left, right],
        }
    }

    /// The reverse of [`into_vec`](Self::into_vec).
    pub fn from_vec(tensors: Vec<FloatTensor<B>>) -> Self {
        let mut tensors = tensors.into_iter();
        match (tensors.next(), tensors.next(), tensors.next()) {
            (Some(shared), Some(left), Some(right)) => Self::LowRank {
                shared,
                left,
                right,
            },
            (Some(mu), Some(psi), _) => Self::Gaussian { mu, psi },
            (Some(weights), _, _) => Self::Given { weights },
            _ => unreachable!("every source has a tensor"),
        }
    }
}

/// Which gradients a backward pass is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub x: bool,
    pub parameters: bool,
}

/// The forward ops. Callers have checked shapes, types, slots and limits, so an implementation
/// only computes; the batch is never empty.
#[backend_extension(Cube, Flex, Autodiff)]
pub trait ExemplarBackend: Backend {
    /// y, from x and the parameters of the source.
    fn exemplar(
        x: FloatTensor<Self>,
        #[extension_type] parameters: Parameters<Self>,
        op: ExemplarOp,
    ) -> FloatTensor<Self>;

    /// Materialised weights `[draws, ..weight shape]`.
    fn sample(#[extension_type] parameters: Parameters<Self>, op: SampleOp) -> FloatTensor<Self>;
}

/// The gradients of [`ExemplarBackend`]. A trait apart, because they are not differentiated
/// themselves: without an implementation for autodiff backends a second-order gradient does not
/// compile, where it would otherwise be silently wrong.
pub trait ExemplarGradient: Backend {
    /// `[dx, d parameters..]` from the gradient of y, in the order of the inputs. A gradient that
    /// `wanted` does not ask for may be a tensor of no elements.
    fn exemplar_backward(
        grad: FloatTensor<Self>,
        x: FloatTensor<Self>,
        parameters: Vec<FloatTensor<Self>>,
        op: ExemplarOp,
        wanted: Wanted,
    ) -> Vec<FloatTensor<Self>>;

    /// `[d parameters..]` from the gradient of the materialised weights.
    fn sample_backward(
        grad: FloatTensor<Self>,
        parameters: Vec<FloatTensor<Self>>,
        op: SampleOp,
    ) -> Vec<FloatTensor<Self>>;
}
