//! Gradients of batch normalisation: one pass for the sums, and one for the gradient of x, which needs
//! them.

use super::lanes::{Lanes, Task, dispatch};
use super::norm::{Given, inverse_std, sum};
use rayon::prelude::*;

/// Gradients of scale and shift, and what the gradient of x needs of them.
pub(super) struct Sums {
    /// Of the shape of scale.
    pub scale: Vec<f32>,
    pub shift: Vec<f32>,
    /// Of every channel: what to subtract from the gradient of a normalised value, for itself and for
    /// each unit of the value, so that the batch's mean and variance stay; zeros for given statistics.
    balance: Vec<[f32; 2]>,
}

/// Takes the gradient of y. With a ReLU, turns it into that of the values before the ReLU; `y` is
/// then its result, and else empty.
pub(super) fn sums(given: &Given, grad: &mut [f32], y: &[f32]) -> Sums {
    let planes = given.planes;
    // Of every plane: the gradients of its shift and of its scale.
    let mut of_planes = vec![[0.0f64; 2]; planes.rows * planes.channels];
    grad.par_chunks_mut(planes.share())
        .zip(of_planes.par_chunks_mut(planes.at_once()))
        .enumerate()
        .for_each(|(task, (grad, sums))| {
            dispatch(SumsTask {
                given,
                y,
                first: task * planes.at_once(),
                grad,
                sums,
            });
        });
    let mut sums = Sums {
        scale: vec![0.0; given.scale.len()],
        shift: vec![0.0; given.scale.len()],
        balance: vec![[0.0; 2]; planes.channels],
    };
    let mut totals = vec![[0.0f64; 4]; planes.channels];
    for (index, &[shift, scale]) in of_planes.iter().enumerate() {
        let affine = given.affine(index);
        let factor = f64::from(given.scale[affine]);
        let total = &mut totals[index % planes.channels];
        for (total, term) in total
            .iter_mut()
            .zip([shift, scale, factor * shift, factor * scale])
        {
            *total += term;
        }
        // The last row has the total where all share one scale.
        let shared = given.scale.len() == planes.channels;
        let [shift, scale] = if shared {
            [total[0], total[1]]
        } else {
            [shift, scale]
        };
        (sums.shift[affine], sums.scale[affine]) = (shift as f32, scale as f32);
    }
    if given.op.by_batch {
        let count = (planes.rows * planes.plane) as f64;
        for (balance, total) in sums.balance.iter_mut().zip(totals) {
            *balance = [(total[2] / count) as f32, (total[3] / count) as f32];
        }
    }
    sums
}

struct SumsTask<'a> {
    given: &'a Given<'a>,
    y: &'a [f32],
    first: usize,
    grad: &'a mut [f32],
    sums: &'a mut [[f64; 2]],
}

impl Task for SumsTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let given = self.given;
        let len = given.planes.plane;
        let planes = self.grad.chunks_exact_mut(len).zip(self.sums);
        for (index, (grad, sums)) in (self.first..).zip(planes) {
            if given.op.relu {
                let y = &self.y[index * len..][..len];
                for (grad, y) in grad.iter_mut().zip(y) {
                    *grad = if *y <= 0.0 { 0.0 } else { *grad };
                }
            }
            let channel = index % given.planes.channels;
            let mean = given.mean[channel];
            let inverse = inverse_std(given.variance[channel], &given.op);
            let x = &given.x[index * len..][..len];
            let of_scale = sum(grad, x, |grad, x| grad * (x - mean));
            *sums = [sum(grad, x, |grad, _| grad), of_scale * f64::from(inverse)];
        }
    }
}

/// The gradient of x, from that of the values before the ReLU: `grad`, or what `dx` holds.
pub(super) fn of_x(given: &Given, sums: &Sums, grad: Option<&[f32]>, dx: &mut [f32]) {
    let planes = given.planes;
    let tasks = dx.par_chunks_mut(planes.share()).enumerate();
    tasks.for_each(|(task, dx)| {
        dispatch(OfXTask {
            given,
            sums,
            grad,
            first: task * planes.at_once(),
            dx,
        });
    });
}

struct OfXTask<'a> {
    given: &'a Given<'a>,
    sums: &'a Sums,
    grad: Option<&'a [f32]>,
    first: usize,
    dx: &'a mut [f32],
}

impl Task for OfXTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let given = self.given;
        let len = given.planes.plane;
        for (index, dx) in (self.first..).zip(self.dx.chunks_exact_mut(len)) {
            let channel = index % given.planes.channels;
            let mean = given.mean[channel];
            let inverse = inverse_std(given.variance[channel], &given.op);
            let factor = inverse * given.scale[given.affine(index)];
            let [constant, linear] = self.sums.balance[channel];
            let (constant, linear) = (inverse * constant, inverse * inverse * linear);
            let x = &given.x[index * len..][..len];
            let of = |grad: f32, x: f32| grad * factor - constant - (x - mean) * linear;
            match self.grad {
                Some(grad) => {
                    let grad = &grad[index * len..][..len];
                    for ((dx, grad), x) in dx.iter_mut().zip(grad).zip(x) {
                        *dx = of(*grad, *x);
                    }
                }
                None => {
                    for (dx, x) in dx.iter_mut().zip(x) {
                        *dx = of(*dx, *x);
                    }
                }
            }
        }
    }
}
