//! Batch normalisation whose scale and shift may differ from row to row, with what usually follows it.

mod autodiff;
pub(super) mod backend;

use super::{error::OpError, route::Route, weights::check};
use backend::{NormBackend, NormInputs, NormOp, Statistics};
use burn::backend::Dispatch;
use burn::tensor::{
    DType, Device, Tensor, activation,
    module::{batch_norm as burn_batch_norm, batch_norm_train as burn_batch_norm_train},
};

/// What becomes of normalised values: `value * scale + shift (+ added)`, and perhaps a ReLU.
#[derive(Clone, Debug)]
pub struct AfterNorm<const D: usize> {
    /// `[1 or rows, channels]`: the same for all rows, or one for each.
    pub scale: Tensor<2>,
    /// Of the shape of `scale`.
    pub shift: Tensor<2>,
    /// Of the shape of x.
    pub added: Option<Tensor<D>>,
    /// Whether negative results become zero.
    pub relu: bool,
}

/// A batch that was normalised by its own statistics.
#[derive(Clone, Debug)]
pub struct Normalised<const D: usize> {
    /// Of the shape of x.
    pub y: Tensor<D>,
    /// `[channels]`, without gradient.
    pub mean: Tensor<1>,
    /// `[channels]`, divided by the number of values, without gradient.
    pub variance: Tensor<1>,
}

/// Normalises x `[rows, channels, ..]` by given statistics `[channels]`, which are constants.
/// Differentiable in x and in every tensor of `after`.
///
/// ```
/// use bayesadapter::ops::{AfterNorm, batch_norm};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let after = AfterNorm {
///     scale: Tensor::ones([1, 3], &device),
///     shift: Tensor::zeros([1, 3], &device),
///     added: None,
///     relu: true,
/// };
/// let x = Tensor::<4>::ones([2, 3, 8, 8], &device);
/// let (mean, variance) = (Tensor::zeros([3], &device), Tensor::ones([3], &device));
/// assert_eq!(batch_norm(x, after, mean, variance, 1e-5)?.dims(), [2, 3, 8, 8]);
/// # Ok::<(), bayesadapter::ops::OpError>(())
/// ```
pub fn batch_norm<const D: usize>(
    x: Tensor<D>,
    after: AfterNorm<D>,
    mean: Tensor<1>,
    variance: Tensor<1>,
    epsilon: f64,
) -> Result<Tensor<D>, OpError> {
    check_norm(&x, &after)?;
    let channels = [x.dims()[1]];
    check("the mean", &mean, &channels, &x.device())?;
    check("the variance", &variance, &channels, &x.device())?;
    if !normalises_in_one_op(&x.device()) {
        return Ok(reference::batch_norm(x, after, mean, variance, epsilon));
    }
    let statistics = Statistics {
        mean: mean.into_dispatch(),
        variance: variance.into_dispatch(),
    };
    Ok(normalise(x, after, statistics, epsilon, false))
}

/// Normalises x `[rows, channels, ..]` by its own statistics. Differentiable in x and in every tensor
/// of `after`.
pub fn batch_norm_train<const D: usize>(
    x: Tensor<D>,
    after: AfterNorm<D>,
    epsilon: f64,
) -> Result<Normalised<D>, OpError> {
    check_norm(&x, &after)?;
    if !normalises_in_one_op(&x.device()) {
        return Ok(reference::batch_norm_train(x, after, epsilon));
    }
    let Statistics { mean, variance } = Dispatch::batch_statistics(x.clone().into_dispatch());
    let statistics = Statistics {
        mean: mean.clone(),
        variance: variance.clone(),
    };
    Ok(Normalised {
        y: normalise(x, after, statistics, epsilon, true),
        mean: Tensor::from_dispatch(mean),
        variance: Tensor::from_dispatch(variance),
    })
}

/// Whether a normalisation with what follows it is one op on the device.
pub(crate) fn normalises_in_one_op(device: &Device) -> bool {
    matches!(Route::of(device), Route::Cpu)
}

fn check_norm<const D: usize>(x: &Tensor<D>, after: &AfterNorm<D>) -> Result<(), OpError> {
    const { assert!(D >= 2, "rows and channels are needed") };
    let (shape, device) = (x.dims(), x.device());
    let [rows, channels] = [shape[0], shape[1]];
    if shape.contains(&0) {
        return Err(OpError::Empty { what: "the batch" });
    }
    check("x", x, &shape, &device)?;
    let affine = match after.scale.dims()[0] {
        1 => [1, channels],
        _ => [rows, channels],
    };
    check("scale", &after.scale, &affine, &device)?;
    check("shift", &after.shift, &affine, &device)?;
    match &after.added {
        Some(added) => check("what is added", added, &shape, &device),
        None => Ok(()),
    }
}

/// On a device with kernels.
fn normalise<const D: usize>(
    x: Tensor<D>,
    after: AfterNorm<D>,
    statistics: Statistics<Dispatch>,
    epsilon: f64,
    by_batch: bool,
) -> Tensor<D> {
    let added = match after.added {
        Some(added) => added.into_dispatch(),
        None => Tensor::<1>::empty([0], (&x.device(), DType::F32)).into_dispatch(),
    };
    let inputs = NormInputs {
        x: x.into_dispatch(),
        scale: after.scale.into_dispatch(),
        shift: after.shift.into_dispatch(),
        added,
    };
    let op = NormOp {
        epsilon,
        by_batch,
        relu: after.relu,
    };
    Tensor::from_dispatch(Dispatch::normalise(inputs, statistics, op))
}

/// In ordinary tensor operations, for any device and as the yardstick of the kernels. The arguments
/// are not checked.
pub mod reference {
    use super::*;

    /// [`batch_norm`](super::batch_norm).
    pub fn batch_norm<const D: usize>(
        x: Tensor<D>,
        after: AfterNorm<D>,
        mean: Tensor<1>,
        variance: Tensor<1>,
        epsilon: f64,
    ) -> Tensor<D> {
        let (shared, rest) = split(after);
        let [scale, shift] = shared;
        finish(
            burn_batch_norm(x, scale, shift, mean, variance, epsilon),
            rest,
        )
    }

    /// [`batch_norm_train`](super::batch_norm_train).
    pub fn batch_norm_train<const D: usize>(
        x: Tensor<D>,
        after: AfterNorm<D>,
        epsilon: f64,
    ) -> Normalised<D> {
        let (shared, rest) = split(after);
        let [scale, shift] = shared;
        let batch = burn_batch_norm_train(x, scale, shift, epsilon);
        Normalised {
            y: finish(batch.output, rest),
            mean: batch.mean.detach(),
            variance: batch.variance.detach(),
        }
    }

    struct Rest<const D: usize> {
        each: Option<[Tensor<2>; 2]>,
        added: Option<Tensor<D>>,
        relu: bool,
    }

    /// The scale and shift that Burn's op applies, which knows only shared ones, and what is left to do.
    fn split<const D: usize>(after: AfterNorm<D>) -> ([Tensor<1>; 2], Rest<D>) {
        let AfterNorm {
            scale,
            shift,
            added,
            relu,
        } = after;
        let [rows, channels] = scale.dims();
        let (shared, each) = match rows {
            1 => ([scale.reshape([channels]), shift.reshape([channels])], None),
            _ => {
                let device = scale.device();
                let ones = Tensor::ones([channels], &device);
                let zeros = Tensor::zeros([channels], &device);
                ([ones, zeros], Some([scale, shift]))
            }
        };
        (shared, Rest { each, added, relu })
    }

    fn finish<const D: usize>(y: Tensor<D>, rest: Rest<D>) -> Tensor<D> {
        let mut y = y;
        if let Some([scale, shift]) = rest.each {
            let mut shape = [1; D];
            shape[..2].copy_from_slice(&scale.dims());
            y = y * scale.reshape(shape) + shift.reshape(shape);
        }
        if let Some(added) = rest.added {
            y = y + added;
        }
        match rest.relu {
            true => activation::relu(y),
            false => y,
        }
    }
}
