//! Batch normalisation of Flex tensors.

use super::norm::{Given, Planes};
use super::{contiguous, gradient, norm, norm_backward, slice, tensor};
use crate::ops::norm::backend::{
    NormBackend, NormGradient, NormInputs, NormOp, NormWanted, Saved, Statistics,
};
use burn::backend::Flex;
use burn::backend::flex::FlexTensor;

impl NormBackend for Flex {
    fn batch_statistics(x: FlexTensor) -> Statistics<Self> {
        let x = contiguous(x);
        let planes = planes(&x);
        let [mean, variance] = norm::statistics(planes, slice(&x));
        Statistics {
            mean: tensor(mean, vec![planes.channels]),
            variance: tensor(variance, vec![planes.channels]),
        }
    }

    fn normalise(inputs: NormInputs<Self>, statistics: Statistics<Self>, op: NormOp) -> FlexTensor {
        let NormInputs {
            x,
            scale,
            shift,
            added,
        } = inputs;
        let [x, scale, shift, added] = [x, scale, shift, added].map(contiguous);
        let [mean, variance] = [statistics.mean, statistics.variance].map(contiguous);
        let given = Given {
            planes: planes(&x),
            op,
            x: slice(&x),
            scale: slice(&scale),
            mean: slice(&mean),
            variance: slice(&variance),
        };
        let y = norm::forward(&given, slice(&shift), slice(&added));
        tensor(y, x.layout().shape().iter().copied().collect())
    }
}

impl NormGradient for Flex {
    fn normalise_backward(
        grad: FlexTensor,
        saved: Saved<Self>,
        op: NormOp,
        wanted: NormWanted,
    ) -> NormInputs<Self> {
        let [x, scale] = [saved.x, saved.scale].map(contiguous);
        let [mean, variance] = [saved.statistics.mean, saved.statistics.variance].map(contiguous);
        let y = saved.y.map(contiguous);
        let given = Given {
            planes: planes(&x),
            op,
            x: slice(&x),
            scale: slice(&scale),
            mean: slice(&mean),
            variance: slice(&variance),
        };
        let mut grad = contiguous(grad);
        let sums = norm_backward::sums(
            &given,
            slice_mut(&mut grad),
            y.as_ref().map(slice).unwrap_or_default(),
        );
        let none = || tensor(Vec::new(), vec![0]);
        let (dx, added) = match wanted {
            NormWanted {
                x: true,
                added: true,
            } => {
                let mut dx = vec![0.0; given.x.len()];
                norm_backward::of_x(&given, &sums, Some(slice(&grad)), &mut dx);
                (gradient(dx, &x), grad)
            }
            NormWanted { x: true, .. } => {
                norm_backward::of_x(&given, &sums, None, slice_mut(&mut grad));
                (grad, none())
            }
            NormWanted { added: true, .. } => (none(), grad),
            _ => (none(), none()),
        };
        NormInputs {
            x: dx,
            scale: gradient(sums.scale, &scale),
            shift: gradient(sums.shift, &scale),
            added,
        }
    }
}

fn planes(x: &FlexTensor) -> Planes {
    let shape: Vec<usize> = x.layout().shape().iter().copied().collect();
    Planes::of(&shape)
}

/// The values of a contiguous f32 tensor, to be written in place; a copy of them, if another tensor
/// has them too.
fn slice_mut(tensor: &mut FlexTensor) -> &mut [f32] {
    match tensor.layout().contiguous_offsets() {
        Some((start, end)) => &mut tensor.storage_mut()[start..end],
        None => &mut [],
    }
}
