//! Gradients of batch normalisation: one pass for the sums, and one for the gradient of x, which needs
//! them.

use super::lanes::{Lanes, Task, dispatch};
use super::norm::{Given, inverse_std, sum};
use super::runs::changed_copy;
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
pub(super) fn sums(given: &Given, x: &[f32], grad: &mut [f32], y: &[f32]) -> Sums {
    let planes = given.planes;
    // Of every plane: the gradients of its shift and of its scale.
    let mut of_planes = vec![[0.0f64; 2]; planes.rows * planes.channels];
    grad.par_chunks_mut(planes.share())
        .zip(of_planes.par_chunks_mut(planes.at_once()))
        .enumerate()
        .for_each(|(task, (grad, sums))| {
            dispatch(SumsTask {
                given,
                x,
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
    x: &'a [f32],
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
            let x = &self.x[index * len..][..len];
            let of_scale = sum(grad, x, |grad, x| grad * (x - mean));
            *sums = [sum(grad, x, |grad, _| grad), of_scale * f64::from(inverse)];
        }
    }
}

/// Turns the gradient of the values before the ReLU into that of x.
pub(super) struct OfX<'a> {
    pub given: &'a Given<'a>,
    pub sums: &'a Sums,
    pub x: &'a [f32],
}

impl OfX<'_> {
    /// In place.
    pub fn change(&self, grad: &mut [f32]) {
        grad.par_chunks_mut(self.given.planes.share())
            .enumerate()
            .for_each(|(task, grad)| self.change_share(task, grad));
    }

    /// In a copy.
    pub fn changed(&self, grad: &[f32]) -> Vec<f32> {
        changed_copy(grad, self.given.planes.share(), |task, grad| {
            self.change_share(task, grad);
        })
    }

    fn change_share(&self, task: usize, values: &mut [f32]) {
        dispatch(OfXTask {
            of_x: self,
            first: task * self.given.planes.at_once(),
            values,
        });
    }
}

struct OfXTask<'a> {
    of_x: &'a OfX<'a>,
    first: usize,
    values: &'a mut [f32],
}

impl Task for OfXTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let OfX { given, sums, x } = self.of_x;
        let len = given.planes.plane;
        for (index, values) in (self.first..).zip(self.values.chunks_exact_mut(len)) {
            let channel = index % given.planes.channels;
            let mean = given.mean[channel];
            let inverse = inverse_std(given.variance[channel], &given.op);
            let factor = inverse * given.scale[given.affine(index)];
            let [constant, linear] = sums.balance[channel];
            let (constant, linear) = (inverse * constant, inverse * inverse * linear);
            for (value, x) in values.iter_mut().zip(&x[index * len..][..len]) {
                *value = *value * factor - constant - (x - mean) * linear;
            }
        }
    }
}
