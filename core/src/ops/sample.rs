//! Materialised draws: the very weights that the fused ops would use.

use super::{
    backend::{ExemplarBackend, ExemplarOp, Parameters, SampleOp},
    error::OpError,
    reference,
    route::Route,
    weights::{Weights, check},
};
use bayesadapter_shaders::{Conv2d, DrawAxis, GeometryError, Map, Matmul, NoiseKey, Padding};
use burn::backend::Dispatch;
use burn::tensor::Tensor;

impl SampleOp {
    /// Number of materialised weights.
    pub fn draws(&self) -> usize {
        match self {
            Self::Gaussian { draws, .. } => *draws,
            Self::LowRank { op } => op.map.batch(),
        }
    }
}

/// `draws` weights `mu + exp(psi) * eps`, of shape `[draws, ..mu]`; `K` must be `D + 1`.
///
/// With [`DrawAxis::Example`] draw `j` is what the exemplar ops use for example `j`; with
/// [`DrawAxis::Draw`] it is draw `key.draw + j`, one network for all examples. Differentiable in `mu`
/// and `psi`.
///
/// ```
/// use bayesadapter::ops::{DrawAxis, NoiseKey, sample_gaussian};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let mu = Tensor::<1>::zeros([8], &device);
/// let psi = Tensor::<1>::zeros([8], &device);
/// let draws: Tensor<2> = sample_gaussian(mu, psi, NoiseKey::default(), DrawAxis::Draw, 20)?;
/// assert_eq!(draws.dims(), [20, 8]);
/// # Ok::<(), bayesadapter::ops::OpError>(())
/// ```
pub fn sample_gaussian<const D: usize, const K: usize>(
    mu: Tensor<D>,
    psi: Tensor<D>,
    key: NoiseKey,
    axis: DrawAxis,
    draws: usize,
) -> Result<Tensor<K>, OpError> {
    let route = Route::of(&mu.device());
    gaussian(route, mu, psi, key, axis, draws)
}

pub(super) fn gaussian<const D: usize, const K: usize>(
    route: Route,
    mu: Tensor<D>,
    psi: Tensor<D>,
    key: NoiseKey,
    axis: DrawAxis,
    draws: usize,
) -> Result<Tensor<K>, OpError> {
    const { assert!(K == D + 1, "draws have one axis more than the parameter") };
    let device = mu.device();
    let shape = mu.dims();
    check("mu", &mu, &shape, &device)?;
    check("psi", &psi, &shape, &device)?;
    let len = checked_len(&shape, draws)?;
    let op = SampleOp::Gaussian { key, axis, draws };
    match route {
        Route::Reference => Ok(reference::gaussian(mu, psi, &key, axis, draws)),
        route => {
            route.check_sample(&op, len)?;
            let parameters = Parameters::Gaussian {
                mu: mu.into_dispatch(),
                psi: psi.into_dispatch(),
            };
            Ok(Tensor::from_dispatch(Dispatch::sample(parameters, op)))
        }
    }
}

/// Components `index` of a low-rank ensemble, of shape `[index.len(), ..shared]`; `K` must be `D + 1`.
///
/// `shared` is a matrix `[in, out]` (`D = 2`) or convolution kernels `[o, i, kh, kw]` (`D = 4`) read as
/// `[i * kh * kw, o]`; `left` is `[components, in, rank]`, `right` is `[components, rank, out]`.
/// Differentiable in all three.
///
/// ```
/// use bayesadapter::ops::sample_low_rank;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let shared = Tensor::<2>::ones([3, 5], &device);
/// let left = Tensor::ones([4, 3, 1], &device);
/// let right = Tensor::ones([4, 1, 5], &device);
/// let weights: Tensor<3> = sample_low_rank(shared, left, right, &[0, 3])?;
/// assert_eq!(weights.dims(), [2, 3, 5]);
/// # Ok::<(), bayesadapter::ops::OpError>(())
/// ```
pub fn sample_low_rank<const D: usize, const K: usize>(
    shared: Tensor<D>,
    left: Tensor<3>,
    right: Tensor<3>,
    index: &[u32],
) -> Result<Tensor<K>, OpError> {
    let route = Route::of(&shared.device());
    low_rank(route, shared, left, right, index)
}

pub(super) fn low_rank<const D: usize, const K: usize>(
    route: Route,
    shared: Tensor<D>,
    left: Tensor<3>,
    right: Tensor<3>,
    index: &[u32],
) -> Result<Tensor<K>, OpError> {
    const {
        assert!(
            K == D + 1 && (D == 2 || D == 4),
            "a matrix or convolution kernels"
        )
    };
    let device = shared.device();
    let shape = shared.dims();
    let map = weight_map(&shape, index.len())?;
    let len = checked_len(&shape, index.len())?;
    let weights = Weights::<D, K>::LowRank {
        shared,
        left,
        right,
        index: index.to_vec(),
    };
    let source = weights.source(&map, &device)?;
    match route {
        Route::Reference => Ok(reference::per_example(weights, &map)),
        route => {
            let op = SampleOp::LowRank {
                op: ExemplarOp { map, source },
            };
            route.check_sample(&op, len)?;
            let parameters = weights.into_dispatch();
            Ok(Tensor::from_dispatch(Dispatch::sample(parameters, op)))
        }
    }
}

/// The smallest map with this weight and so many examples.
fn weight_map(shape: &[usize], batch: usize) -> Result<Map, GeometryError> {
    if let [inputs, outputs] = *shape {
        let map = Matmul {
            batch,
            rows: 1,
            inputs,
            outputs,
        };
        return Ok(Map::Matmul(map.checked()?));
    }
    let map = Conv2d {
        batch,
        channels_in: shape[1],
        channels_out: shape[0],
        image: [shape[2], shape[3]],
        kernel: [shape[2], shape[3]],
        stride: [1, 1],
        dilation: [1, 1],
        padding: Padding::default(),
        groups: 1,
    };
    Ok(Map::Conv2d(map.checked()?))
}

/// Number of elements of one draw, if there is anything to draw and an index can reach it.
fn checked_len(shape: &[usize], draws: usize) -> Result<usize, OpError> {
    let len: usize = shape.iter().product();
    if draws == 0 {
        return Err(OpError::Empty {
            what: "the list of draws",
        });
    }
    if len == 0 {
        return Err(OpError::Empty {
            what: "the parameter",
        });
    }
    match len.checked_mul(draws) {
        Some(all) if all <= bayesadapter_shaders::geometry::MAX_ELEMENTS => Ok(len),
        _ => Err(GeometryError::TooLarge {
            what: "the set of draws",
        }
        .into()),
    }
}
