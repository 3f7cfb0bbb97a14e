//! Batch normalisation, a plane (one channel of one row) at a time. What is summed is summed plane by
//! plane and then over the rows in order, so that results do not depend on the number of threads.

use super::lanes::{LANES, Lanes, Task, dispatch};
use super::runs::changed_copy;
use crate::ops::norm::backend::NormOp;
use rayon::prelude::*;

/// x seen as `[rows, channels, plane]`.
#[derive(Clone, Copy)]
pub(super) struct Planes {
    pub rows: usize,
    pub channels: usize,
    pub plane: usize,
}

impl Planes {
    /// Of a shape `[rows, channels, ..]`.
    pub fn of(shape: &[usize]) -> Self {
        Self {
            rows: shape[0],
            channels: shape[1],
            plane: shape[2..].iter().product(),
        }
    }

    /// Planes per task: large enough to be worth handing over, and still in the first-level cache.
    pub fn at_once(&self) -> usize {
        const ELEMENTS: usize = 4096;
        (ELEMENTS / self.plane).max(1)
    }

    /// Elements per task.
    pub fn share(&self) -> usize {
        self.at_once() * self.plane
    }
}

/// `1 / sqrt(variance + epsilon)`
pub(super) fn inverse_std(variance: f32, op: &NormOp) -> f32 {
    (1.0 / (f64::from(variance) + op.epsilon).sqrt()) as f32
}

/// Sums over blocks this long are taken in f32, and those of the blocks in f64.
const BLOCK: usize = 512;

/// The sum of `term` over pairs of elements.
#[inline(always)]
pub(super) fn sum(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f64 {
    let blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK));
    let blocks = blocks.map(|(a, b)| {
        let mut lanes = [0.0f32; LANES];
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        for (a, b) in a.iter().zip(b) {
            for lane in 0..LANES {
                lanes[lane] += term(a[lane], b[lane]);
            }
        }
        for (lane, (a, b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
            *lane += term(*a, *b);
        }
        f64::from(lanes.iter().sum::<f32>())
    });
    blocks.sum()
}

/// Mean and biased variance of every channel.
pub(super) fn statistics(planes: Planes, x: &[f32]) -> [Vec<f32>; 2] {
    // Mean, and sum of squared deviations from it, of every plane.
    let mut moments = vec![[0.0f64; 2]; planes.rows * planes.channels];
    x.par_chunks(planes.share())
        .zip(moments.par_chunks_mut(planes.at_once()))
        .for_each(|(x, moments)| {
            let plane = planes.plane;
            dispatch(MomentsTask { x, plane, moments });
        });
    let (rows, plane) = (planes.rows as f64, planes.plane as f64);
    let of_channel = |channel: usize| {
        let moments = || moments[channel..].iter().step_by(planes.channels);
        let mean = moments().map(|[mean, _]| mean).sum::<f64>() / rows;
        let within: f64 = moments().map(|[_, squares]| squares).sum();
        let between: f64 = moments().map(|[m, _]| (m - mean) * (m - mean)).sum();
        (mean as f32, ((within / plane + between) / rows) as f32)
    };
    let (mean, variance) = (0..planes.channels).map(of_channel).unzip();
    [mean, variance]
}

struct MomentsTask<'a> {
    x: &'a [f32],
    plane: usize,
    moments: &'a mut [[f64; 2]],
}

impl Task for MomentsTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let count = self.plane as f64;
        for (x, moments) in self.x.chunks_exact(self.plane).zip(self.moments) {
            let mean = sum(x, x, |x, _| x) / count;
            let near = mean as f32;
            let squares = sum(x, x, |x, _| (x - near) * (x - near));
            // The squares are about a rounded mean.
            let off = mean - f64::from(near);
            *moments = [mean, squares - count * off * off];
        }
    }
}

/// What both passes know of the planes.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub planes: Planes,
    pub op: NormOp,
    /// `[1 or rows, channels]`
    pub scale: &'a [f32],
    pub mean: &'a [f32],
    pub variance: &'a [f32],
}

impl Given<'_> {
    /// Where the scale and shift of a plane are.
    pub fn affine(&self, plane: usize) -> usize {
        match self.scale.len() == self.planes.channels {
            true => plane % self.planes.channels,
            false => plane,
        }
    }
}

/// Turns x into y.
pub(super) struct Forward<'a> {
    pub given: Given<'a>,
    pub shift: &'a [f32],
    /// Of the shape of x, or empty.
    pub added: &'a [f32],
}

impl Forward<'_> {
    /// In place.
    pub fn change(&self, x: &mut [f32]) {
        x.par_chunks_mut(self.given.planes.share())
            .enumerate()
            .for_each(|(task, x)| self.change_share(task, x));
    }

    /// In a copy.
    pub fn changed(&self, x: &[f32]) -> Vec<f32> {
        changed_copy(x, self.given.planes.share(), |task, x| {
            self.change_share(task, x);
        })
    }

    fn change_share(&self, task: usize, values: &mut [f32]) {
        dispatch(ForwardTask {
            forward: self,
            first: task * self.given.planes.at_once(),
            values,
        });
    }
}

struct ForwardTask<'a> {
    forward: &'a Forward<'a>,
    first: usize,
    values: &'a mut [f32],
}

impl Task for ForwardTask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Forward {
            given,
            shift,
            added,
        } = self.forward;
        let len = given.planes.plane;
        for (index, values) in (self.first..).zip(self.values.chunks_exact_mut(len)) {
            let channel = index % given.planes.channels;
            let affine = given.affine(index);
            let mean = given.mean[channel];
            let factor = given.scale[affine] * inverse_std(given.variance[channel], &given.op);
            let shift = shift[affine];
            for value in values.iter_mut() {
                *value = (*value - mean) * factor + shift;
            }
            if let Some(added) = added.get(index * len..(index + 1) * len) {
                for (value, added) in values.iter_mut().zip(added) {
                    *value += added;
                }
            }
            if given.op.relu {
                // Not `max`, which would hide that a value is not a number.
                for value in values {
                    *value = if *value <= 0.0 { 0.0 } else { *value };
                }
            }
        }
    }
}
