//! The public ops: check, choose who computes, compute.

use super::{
    backend::{ExemplarBackend, ExemplarOp, Parameters},
    error::OpError,
    reference,
    route::Route,
    scale::Components,
    weights::{Conv2dWeights, MatmulWeights, Weights, check},
};
use bayesadapter_shaders::{Conv2d, Map, Matmul, Padding, Source};
use burn::backend::Dispatch;
use burn::tensor::Tensor;

/// Geometry of [`exemplar_conv2d`] beyond what the shapes tell. Pairs are `[vertical, horizontal]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvOptions {
    /// Steps between outputs.
    pub stride: [usize; 2],
    /// Steps between the elements of a kernel.
    pub dilation: [usize; 2],
    /// Zeros around the image.
    pub padding: Padding,
    /// Number of groups of channels; as many as channels for a depthwise convolution.
    pub groups: usize,
}

impl Default for ConvOptions {
    /// Stride 1, dilation 1, no padding, one group.
    fn default() -> Self {
        Self {
            stride: [1, 1],
            dilation: [1, 1],
            padding: Padding::default(),
            groups: 1,
        }
    }
}

/// `y[b, t, o] = sum_i x[b, t, i] * w_b[i, o] (+ bias[b, o])`: a matrix product with a weight per
/// example, which is never stored per example.
///
/// Shapes: x `[batch, rows, inputs]` (rows = 1 for a plain linear layer), one weight
/// `[inputs, outputs]`, bias `[batch, outputs]`, result `[batch, rows, outputs]`. Differentiable in x,
/// in every tensor of `weights` and in the bias.
///
/// ```
/// use bayesadapter::ops::{MatmulWeights, NoiseKey, exemplar_matmul};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let x = Tensor::ones([4, 1, 3], &device);
/// let weights = MatmulWeights::Gaussian {
///     mu: Tensor::zeros([3, 2], &device),
///     psi: Tensor::full([3, 2], -1.0, &device),
///     key: NoiseKey { seed: 7, ..Default::default() },
/// };
/// let y = exemplar_matmul(x, weights, None)?;
/// assert_eq!(y.dims(), [4, 1, 2]);
/// # Ok::<(), bayesadapter::ops::OpError>(())
/// ```
pub fn exemplar_matmul(
    x: Tensor<3>,
    weights: MatmulWeights,
    bias: Option<Tensor<2>>,
) -> Result<Tensor<3>, OpError> {
    let route = Route::of(&x.device());
    matmul(route, x, weights, bias)
}

pub(super) fn matmul(
    route: Route,
    x: Tensor<3>,
    weights: MatmulWeights,
    bias: Option<Tensor<2>>,
) -> Result<Tensor<3>, OpError> {
    let [batch, rows, inputs] = x.dims();
    let [_, outputs] = weights.weight_shape();
    let map = Matmul {
        batch,
        rows,
        inputs,
        outputs,
    };
    let map = Map::Matmul(map.checked()?);
    let bias = checked_bias(bias, batch, outputs, &x)?;
    let y = match (route, weights) {
        (Route::Cpu | Route::Wgsl { .. }, weights @ Weights::LowRank { .. }) => {
            low_rank_matmul(route, x, weights, map)?
        }
        (_, weights) => dispatch(route, x, weights, map, reference::matmul)?,
    };
    Ok(match bias {
        Some(bias) => y + bias.reshape([batch, 1, outputs]),
        None => y,
    })
}

/// A 2-D convolution with a kernel per example, which is never stored per example.
///
/// Shapes: x `[batch, channels_in, h, w]`, one weight
/// `[channels_out, channels_in / groups, kh, kw]`, bias `[batch, channels_out]`, result
/// `[batch, channels_out, oh, ow]`. Differentiable in x, in every tensor of `weights` and in the bias.
///
/// ```
/// use bayesadapter::ops::{Conv2dWeights, ConvOptions, Padding, exemplar_conv2d};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let x = Tensor::ones([2, 3, 8, 8], &device);
/// // Both images share the only kernel.
/// let weights = Conv2dWeights::Given {
///     weights: Tensor::ones([1, 4, 3, 3, 3], &device),
///     index: vec![0, 0],
/// };
/// let options = ConvOptions { padding: Padding::symmetric(1, 1), ..Default::default() };
/// let y = exemplar_conv2d(x, weights, None, options)?;
/// assert_eq!(y.dims(), [2, 4, 8, 8]);
/// # Ok::<(), bayesadapter::ops::OpError>(())
/// ```
pub fn exemplar_conv2d(
    x: Tensor<4>,
    weights: Conv2dWeights,
    bias: Option<Tensor<2>>,
    options: ConvOptions,
) -> Result<Tensor<4>, OpError> {
    let route = Route::of(&x.device());
    conv2d(route, x, weights, bias, options)
}

pub(super) fn conv2d(
    route: Route,
    x: Tensor<4>,
    weights: Conv2dWeights,
    bias: Option<Tensor<2>>,
    options: ConvOptions,
) -> Result<Tensor<4>, OpError> {
    let [batch, channels_in, h, w] = x.dims();
    let [channels_out, _, kh, kw] = weights.weight_shape();
    let map = Conv2d {
        batch,
        channels_in,
        channels_out,
        image: [h, w],
        kernel: [kh, kw],
        stride: options.stride,
        dilation: options.dilation,
        padding: options.padding,
        groups: options.groups,
    };
    let map = Map::Conv2d(map.checked()?);
    let bias = checked_bias(bias, batch, channels_out, &x)?;
    let y = dispatch(route, x, weights, map, reference::conv2d)?;
    Ok(match bias {
        Some(bias) => y + bias.reshape([batch, channels_out, 1, 1]),
        None => y,
    })
}

/// `sum_q ((x * l_q) W) * r_q`: products with the shared matrix between two scalings, so that all
/// examples meet it at once, whatever their components. The tape keeps the scaled x and the product of every rank:
/// making them again would be a fourth product in a step of three.
fn low_rank_matmul(
    route: Route,
    x: Tensor<3>,
    weights: MatmulWeights,
    map: Map,
) -> Result<Tensor<3>, OpError> {
    let source = checked_source(&x, &weights, &map)?;
    route.check_exemplar(&ExemplarOp { map, source })?;
    let Weights::LowRank {
        shared,
        left,
        right,
        index,
    } = weights
    else {
        unreachable!("the caller matched on the source");
    };
    let rank = left.dims()[2];
    // Of one rank, all there is: the gradient of a part would be written into zeros.
    let of_rank = |factors: &Tensor<3>, axis: usize, q: usize| -> Tensor<2> {
        let factors = factors.clone();
        let factors = match rank {
            1 => factors,
            _ => factors.narrow(axis, q, 1),
        };
        factors.squeeze_dim(axis)
    };
    let index = Components::new(route, index, &x.device());
    let shared = MatmulWeights::Given {
        weights: shared.unsqueeze::<3>(),
        index: vec![0; map.batch()],
    };
    let mut y: Option<Tensor<3>> = None;
    for q in 0..rank {
        let scaled = index.scale(x.clone(), of_rank(&left, 2, q));
        let part = dispatch(route, scaled, shared.clone(), map, reference::matmul)?;
        let part = index.scale(part, of_rank(&right, 1, q));
        y = Some(match y {
            Some(y) => y + part,
            None => part,
        });
    }
    y.ok_or(OpError::Empty { what: "the rank" })
}

fn checked_bias<const X: usize>(
    bias: Option<Tensor<2>>,
    batch: usize,
    outputs: usize,
    x: &Tensor<X>,
) -> Result<Option<Tensor<2>>, OpError> {
    if let Some(bias) = &bias {
        check("bias", bias, &[batch, outputs], &x.device())?;
    }
    Ok(bias)
}

/// Checks everything, then computes: by the device's kernels, or by `reference`.
fn dispatch<const X: usize, const W: usize, const K: usize>(
    route: Route,
    x: Tensor<X>,
    weights: Weights<W, K>,
    map: Map,
    reference: fn(Tensor<X>, Tensor<K>, &Map) -> Tensor<X>,
) -> Result<Tensor<X>, OpError> {
    let source = checked_source(&x, &weights, &map)?;
    let op = ExemplarOp { map, source };
    match route {
        Route::Reference => {
            let per_example = reference::per_example(weights, &op.map);
            Ok(reference(x, per_example, &op.map))
        }
        route => {
            route.check_exemplar(&op)?;
            let parameters = weights.into_dispatch();
            Ok(Tensor::from_dispatch(Dispatch::exemplar(
                x.into_dispatch(),
                parameters,
                op,
            )))
        }
    }
}

/// Checks x and the weights against the map, and names the source.
fn checked_source<const X: usize, const W: usize, const K: usize>(
    x: &Tensor<X>,
    weights: &Weights<W, K>,
    map: &Map,
) -> Result<Source, OpError> {
    let device = x.device();
    check("x", x, &map.x_shape(), &device)?;
    if map.batch() == 0 {
        return Err(OpError::Empty { what: "the batch" });
    }
    weights.source(map, &device)
}

impl<const W: usize, const K: usize> Weights<W, K> {
    pub(super) fn into_dispatch(self) -> Parameters<Dispatch> {
        match self {
            Self::Given { weights, .. } => Parameters::Given {
                weights: weights.into_dispatch(),
            },
            Self::Gaussian { mu, psi, .. } => Parameters::Gaussian {
                mu: mu.into_dispatch(),
                psi: psi.into_dispatch(),
            },
            Self::LowRank {
                shared,
                left,
                right,
                ..
            } => Parameters::LowRank {
                shared: shared.into_dispatch(),
                left: left.into_dispatch(),
                right: right.into_dispatch(),
            },
        }
    }
}
