//! Batch normalisation of Flex tensors.

use super::norm::{Forward, Given, Planes};
use super::norm_backward::OfX;
use super::{contiguous, norm, norm_backward, shaped_like, slice, slice_mut, tensor};
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
        let [mut x, scale, shift, added] = [x, scale, shift, added].map(contiguous);
        let [mean, variance] = [statistics.mean, statistics.variance].map(contiguous);
        let forward = Forward {
            given: Given {
                planes: planes(&x),
                op,
                scale: slice(&scale),
                mean: slice(&mean),
                variance: slice(&variance),
            },
            shift: slice(&shift),
            added: slice(&added),
        };
        match x.is_unique() {
            true => {
                forward.change(slice_mut(&mut x));
                x
            }
            false => shaped_like(&x, forward.changed(slice(&x))),
        }
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
            scale: slice(&scale),
            mean: slice(&mean),
            variance: slice(&variance),
        };
        let mut grad = contiguous(grad);
        let y = y.as_ref().map(slice).unwrap_or_default();
        let sums = norm_backward::sums(&given, slice(&x), slice_mut(&mut grad), y);
        let of_x = OfX {
            given: &given,
            sums: &sums,
            x: slice(&x),
        };
        let nothing = || tensor(Vec::new(), vec![0]);
        let (dx, added) = match (wanted.x, wanted.added) {
            (true, true) => (shaped_like(&x, of_x.changed(slice(&grad))), grad),
            (true, false) => {
                of_x.change(slice_mut(&mut grad));
                (grad, nothing())
            }
            (false, true) => (nothing(), grad),
            (false, false) => (nothing(), nothing()),
        };
        NormInputs {
            x: dx,
            scale: shaped_like(&scale, sums.scale),
            shift: shaped_like(&scale, sums.shift),
            added,
        }
    }
}

fn planes(x: &FlexTensor) -> Planes {
    let shape: Vec<usize> = x.layout().shape().iter().copied().collect();
    Planes::of(&shape)
}
