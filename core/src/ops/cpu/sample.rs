//! Materialised draws on the CPU.

use super::exp::exp_all;
use super::source::LowRank;
use crate::ops::{backend::SampleOp, noise::fill_normals};
use bayesadapter_shaders::{DrawAxis, Map, NoiseKey, Source};
use rayon::prelude::*;

/// Weights `[draws, ..]`.
pub(super) fn forward(parameters: &[&[f32]], op: &SampleOp) -> Vec<f32> {
    let len = parameters[0].len();
    let mut weights = vec![0.0; op.draws() * len];
    match op {
        SampleOp::Gaussian { key, axis, .. } => {
            let std = exp_all(parameters[1]);
            let draws = weights.par_chunks_mut(len).enumerate();
            draws.for_each(|(draw, weight)| {
                normals(key, *axis, draw, weight);
                for ((weight, mu), std) in weight.iter_mut().zip(parameters[0]).zip(&std) {
                    *weight = mu + std * *weight;
                }
            });
        }
        SampleOp::LowRank { op } => {
            let low_rank = low_rank(parameters, &op.source, &op.map);
            let draws = weights.par_chunks_mut(len).enumerate();
            draws.for_each(|(draw, weight)| {
                let layout = Layout::of(&low_rank, &op.map, draw);
                for (element, (weight, shared)) in weight.iter_mut().zip(parameters[0]).enumerate()
                {
                    *weight = shared * layout.factor(element);
                }
            });
        }
    }
    weights
}

/// `[d parameters..]` from the gradient of the weights.
pub(super) fn backward(grad: &[f32], parameters: &[&[f32]], op: &SampleOp) -> Vec<Vec<f32>> {
    let len = parameters[0].len();
    let mut gradients: Vec<Vec<f32>> = parameters.iter().map(|p| vec![0.0; p.len()]).collect();
    match op {
        SampleOp::Gaussian { key, axis, .. } => {
            let mut eps = vec![0.0; len];
            let [d_mu, d_psi] = &mut gradients[..] else {
                unreachable!("a Gaussian has two parameters");
            };
            for (draw, grad) in grad.chunks_exact(len).enumerate() {
                normals(key, *axis, draw, &mut eps);
                for k in 0..len {
                    d_mu[k] += grad[k];
                    d_psi[k] += grad[k] * eps[k];
                }
            }
            for (d_psi, std) in d_psi.iter_mut().zip(exp_all(parameters[1])) {
                *d_psi *= std;
            }
        }
        SampleOp::LowRank { op } => {
            let low_rank = low_rank(parameters, &op.source, &op.map);
            let [d_shared, d_left, d_right] = &mut gradients[..] else {
                unreachable!("a low-rank ensemble has three parameters");
            };
            for (draw, grad) in grad.chunks_exact(len).enumerate() {
                let layout = Layout::of(&low_rank, &op.map, draw);
                for (element, grad) in grad.iter().enumerate() {
                    d_shared[element] += grad * layout.factor(element);
                    let d_factor = grad * parameters[0][element];
                    for q in 0..low_rank.rank {
                        let (left, right) = layout.places(element, q);
                        d_left[left] += d_factor * low_rank.right[right];
                        d_right[right] += d_factor * low_rank.left[left];
                    }
                }
            }
        }
    }
    gradients
}

/// The normals of one draw.
fn normals(key: &NoiseKey, axis: DrawAxis, draw: usize, out: &mut [f32]) {
    let (key, example) = axis.slot(key, draw as u32);
    fill_normals(&key, example, 0, out);
}

fn low_rank<'a>(parameters: &[&'a [f32]], source: &'a Source, map: &Map) -> LowRank<'a> {
    match super::Weight::new(source, parameters, map) {
        super::Weight::LowRank(low_rank) => low_rank,
        _ => unreachable!("only low-rank sources are sampled this way"),
    }
}

/// How the elements of one component's weight meet its factors.
struct Layout<'a> {
    low_rank: &'a LowRank<'a>,
    component: usize,
    /// Whether rows of the weight are outputs (convolution) or inputs (matrix product).
    rows_are_outputs: bool,
}

impl<'a> Layout<'a> {
    fn of(low_rank: &'a LowRank<'a>, map: &Map, draw: usize) -> Self {
        Self {
            low_rank,
            component: low_rank.index[draw] as usize,
            rows_are_outputs: matches!(map, Map::Conv2d(_)),
        }
    }

    /// Places of the two factors of term `q` of an element.
    fn places(&self, element: usize, q: usize) -> (usize, usize) {
        let [fan_in, fan_out] = self.low_rank.fan;
        let rank = self.low_rank.rank;
        let (input, output) = match self.rows_are_outputs {
            true => (element % fan_in, element / fan_in),
            false => (element / fan_out, element % fan_out),
        };
        let left = (self.component * fan_in + input) * rank + q;
        let right = (self.component * rank + q) * fan_out + output;
        (left, right)
    }

    fn factor(&self, element: usize) -> f32 {
        let terms = (0..self.low_rank.rank).map(|q| self.places(element, q));
        terms
            .map(|(left, right)| self.low_rank.left[left] * self.low_rank.right[right])
            .sum()
    }
}
