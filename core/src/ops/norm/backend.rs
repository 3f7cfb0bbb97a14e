//! The backend extension of batch normalisation. Only the CPU device has kernels of its own.

use burn::backend::{Backend, ExtensionType, backend_extension, tensor::FloatTensor};

/// How a batch is normalised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormOp {
    /// Added to the variance.
    pub epsilon: f64,
    /// Whether the statistics are those of x itself, so that its gradient flows through them.
    pub by_batch: bool,
    /// Whether negative results become zero.
    pub relu: bool,
}

/// The differentiable inputs of [`NormBackend::normalise`], or their gradients.
#[derive(ExtensionType)]
pub struct NormInputs<B: Backend> {
    /// `[rows, channels, ..]`
    pub x: FloatTensor<B>,
    /// `[1 or rows, channels]`
    pub scale: FloatTensor<B>,
    /// Of the shape of `scale`.
    pub shift: FloatTensor<B>,
    /// Of the shape of x, or `[0]` for nothing.
    pub added: FloatTensor<B>,
}

/// Mean and biased variance of every channel, `[channels]`: constants to the tape.
#[derive(ExtensionType)]
pub struct Statistics<B: Backend> {
    pub mean: FloatTensor<B>,
    pub variance: FloatTensor<B>,
}

/// The forward ops. Callers have checked shapes and types; x is never empty.
#[backend_extension(Flex, Autodiff)]
pub trait NormBackend: Backend {
    /// Over all axes of x but that of the channels.
    fn batch_statistics(x: FloatTensor<Self>) -> Statistics<Self>;

    /// `(x - mean) / sqrt(variance + epsilon) * scale + shift + added`, and perhaps a ReLU.
    fn normalise(
        #[extension_type] inputs: NormInputs<Self>,
        #[extension_type] statistics: Statistics<Self>,
        op: NormOp,
    ) -> FloatTensor<Self>;
}

/// What the gradients are made of.
pub struct Saved<B: Backend> {
    pub x: FloatTensor<B>,
    pub scale: FloatTensor<B>,
    pub statistics: Statistics<B>,
    /// The result, if a ReLU made it.
    pub y: Option<FloatTensor<B>>,
}

/// Which gradients a backward pass is asked for. Those of scale and shift come at no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NormWanted {
    pub x: bool,
    pub added: bool,
}

/// The gradients of [`NormBackend::normalise`]: a trait apart, because they are not differentiated
/// themselves.
pub trait NormGradient: Backend {
    /// From the gradient of the result. A gradient that `wanted` does not ask for has the shape `[0]`.
    fn normalise_backward(
        grad: FloatTensor<Self>,
        saved: Saved<Self>,
        op: NormOp,
        wanted: NormWanted,
    ) -> NormInputs<Self>;
}
