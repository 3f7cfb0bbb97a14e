//! The backend extension: what a device implements to serve the ops.

#[cfg(feature = "fusion")]
use super::fusion;
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
#[extension_type(fusion: cfg(feature = "fusion"))]
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

/// Gradients of the inputs of [`ExemplarBackend::exemplar`].
#[derive(ExtensionType)]
#[extension_type(fusion: cfg(feature = "fusion"))]
pub struct ExemplarGradients<B: Backend> {
    pub x: FloatTensor<B>,
    #[extension_type]
    pub parameters: Parameters<B>,
}

impl<B: Backend> ExemplarGradients<B> {
    /// x, then the parameters in the order of [`Parameters::into_vec`].
    pub fn into_vec(self) -> Vec<FloatTensor<B>> {
        let mut tensors = self.parameters.into_vec();
        tensors.insert(0, self.x);
        tensors
    }

    /// The reverse of [`into_vec`](Self::into_vec).
    pub fn from_vec(mut tensors: Vec<FloatTensor<B>>) -> Self {
        Self {
            x: tensors.remove(0),
            parameters: Parameters::from_vec(tensors),
        }
    }
}

/// The forward ops. Callers have checked shapes, types, slots and limits, so an implementation
/// only computes; the batch is never empty.
#[backend_extension(Cube, Flex, Autodiff, Fusion: cfg(feature = "fusion"))]
pub trait ExemplarBackend: Backend {
    /// y, from x and the parameters of the source.
    #[fusion(dtype = x, shape = op.map.y_shape().into())]
    fn exemplar(
        x: FloatTensor<Self>,
        #[extension_type] parameters: Parameters<Self>,
        op: ExemplarOp,
    ) -> FloatTensor<Self>;

    /// Materialised weights `[draws, ..weight shape]`.
    #[fusion(meta = fusion::draws)]
    fn sample(#[extension_type] parameters: Parameters<Self>, op: SampleOp) -> FloatTensor<Self>;
}

/// The gradients of [`ExemplarBackend`]. A trait apart, because they are not differentiated
/// themselves: without an implementation for autodiff backends a second-order gradient does not
/// compile, where it would otherwise be silently wrong. (`Dispatch` gets one, which refuses tracked
/// tensors, because the implementation for fusion comes from the same macro.)
#[backend_extension(Cube, Flex, Fusion: cfg(feature = "fusion"))]
pub trait ExemplarGradient: Backend {
    /// From the gradient of y. A gradient that `wanted` does not ask for has the shape `[0]`.
    #[fusion(meta = fusion::gradients)]
    fn exemplar_backward(
        grad: FloatTensor<Self>,
        x: FloatTensor<Self>,
        #[extension_type] parameters: Parameters<Self>,
        op: ExemplarOp,
        wanted: Wanted,
    ) -> ExemplarGradients<Self>;

    /// From the gradient of the materialised weights.
    #[fusion(meta = |_, parameters, _| parameters.clone())]
    fn sample_backward(
        grad: FloatTensor<Self>,
        #[extension_type] parameters: Parameters<Self>,
        op: SampleOp,
    ) -> Parameters<Self>;
}
