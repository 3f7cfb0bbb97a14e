//! The backend extension of scaling. Only the CPU device has kernels of its own.

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};
use std::sync::Arc;

/// The forward op. Callers have checked shapes, types and slots; x is never empty.
#[backend_extension(Flex, Autodiff)]
pub trait ScaleBackend: Backend {
    /// `y[b, t, i] = x[b, t, i] * factors[index[b], i]`, of the shape of x.
    fn scale(
        x: FloatTensor<Self>,
        factors: FloatTensor<Self>,
        index: Arc<[u32]>,
    ) -> FloatTensor<Self>;
}

/// The gradients of [`ScaleBackend`]: a trait apart, because they are not differentiated themselves.
pub trait ScaleGradient: Backend {
    /// Of x and of the factors, from the gradient of y. That of the factors is asked for by giving `x`; else it has the
    /// shape `[0]`.
    fn scale_backward(
        grad: FloatTensor<Self>,
        x: Option<FloatTensor<Self>>,
        factors: FloatTensor<Self>,
        index: &[u32],
    ) -> [FloatTensor<Self>; 2];
}
