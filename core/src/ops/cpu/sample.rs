//! Materialised draws on the CPU.

use super::exp::exp_all;
use super::source::LowRank;
use crate::ops::{backend::SampleOp, noise::fill_normals};
use bayesadapter_shaders::{DrawAxis, Map, NoiseKey, Source};
use rayon::prelude::*;

/// Elements that a thread makes at a time; whole blocks of noise.
const RUN: usize = 1 << 14;

/// Weights `[draws, ..]`.
pub(super) fn forward(parameters: &[&[f32]], op: &SampleOp) -> Vec<f32> {
    let len = parameters[0].len();
    let mut weights = vec![0.0; op.draws() * len];
    match op {
        SampleOp::Gaussian { key, axis, .. } => {
            let std = exp_all(parameters[1]);
            let (mu, std) = (parameters[0].par_chunks(RUN), std.par_chunks(RUN));
            let draws = weights.par_chunks_mut(len).enumerate();
            draws.for_each(|(draw, weight)| {
                let runs = weight.par_chunks_mut(RUN).zip(mu.clone()).zip(std.clone());
                runs.enumerate().for_each(|(run, ((weight, mu), std))| {
                    normals(key, *axis, draw, run, weight);
                    for ((weight, mu), std) in weight.iter_mut().zip(mu).zip(std) {
                        *weight = mu + std * *weight;
                    }
                });
            });
        }
        SampleOp::LowRank { op } => {
            let low_rank = low_rank(parameters, &op.source, &op.map);
            let columns = columns(&low_rank, &op.map);
            let draws = weights.par_chunks_mut(len).enumerate();
            draws.for_each(|(draw, weight)| {
                let layout = Layout::of(&low_rank, &op.map, draw);
                let rows = weight.par_chunks_mut(columns);
                let rows = rows.zip(parameters[0].par_chunks(columns)).enumerate();
                rows.for_each(|(row, (weight, shared))| {
                    for (column, (weight, shared)) in weight.iter_mut().zip(shared).enumerate() {
                        *weight = shared * layout.factor(row, column);
                    }
                });
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
            let [d_mu, d_psi] = &mut gradients[..] else {
                unreachable!("a Gaussian has two parameters");
            };
            let std = exp_all(parameters[1]);
            let runs = d_mu.par_chunks_mut(RUN).zip(d_psi.par_chunks_mut(RUN));
            let runs = runs.zip(std.par_chunks(RUN)).enumerate();
            runs.for_each_init(Vec::new, |eps, (run, ((d_mu, d_psi), std))| {
                eps.resize(d_mu.len(), 0.0);
                for (draw, grad) in grad.chunks_exact(len).enumerate() {
                    normals(key, *axis, draw, run, eps);
                    let grad = &grad[run * RUN..][..d_mu.len()];
                    for k in 0..grad.len() {
                        d_mu[k] += grad[k];
                        d_psi[k] += grad[k] * eps[k];
                    }
                }
                for (d_psi, std) in d_psi.iter_mut().zip(std) {
                    *d_psi *= std;
                }
            });
        }
        SampleOp::LowRank { op } => {
            let low_rank = low_rank(parameters, &op.source, &op.map);
            let columns = columns(&low_rank, &op.map);
            let [d_shared, d_left, d_right] = &mut gradients[..] else {
                unreachable!("a low-rank ensemble has three parameters");
            };
            for (draw, grad) in grad.chunks_exact(len).enumerate() {
                let layout = Layout::of(&low_rank, &op.map, draw);
                let rows = grad.chunks_exact(columns);
                let rows = rows.zip(parameters[0].chunks_exact(columns));
                let rows = rows.zip(d_shared.chunks_exact_mut(columns)).enumerate();
                for (row, ((grad, shared), d_shared)) in rows {
                    for column in 0..columns {
                        d_shared[column] += grad[column] * layout.factor(row, column);
                        let d_factor = grad[column] * shared[column];
                        for q in 0..low_rank.rank {
                            let (left, right) = layout.places(row, column, q);
                            d_left[left] += d_factor * low_rank.right[right];
                            d_right[right] += d_factor * low_rank.left[left];
                        }
                    }
                }
            }
        }
    }
    gradients
}

/// The normals of one run of one draw.
fn normals(key: &NoiseKey, axis: DrawAxis, draw: usize, run: usize, out: &mut [f32]) {
    let (key, example) = axis.slot(key, draw as u32);
    fill_normals(&key, example, (run * RUN) as u32, out);
}

/// Columns of the weight: inputs of a convolution, outputs of a matrix product.
fn columns(low_rank: &LowRank, map: &Map) -> usize {
    match map {
        Map::Conv2d(_) => low_rank.fan[0],
        Map::Matmul(_) => low_rank.fan[1],
    }
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
    fn places(&self, row: usize, column: usize, q: usize) -> (usize, usize) {
        let [fan_in, fan_out] = self.low_rank.fan;
        let rank = self.low_rank.rank;
        let (input, output) = match self.rows_are_outputs {
            true => (column, row),
            false => (row, column),
        };
        let left = (self.component * fan_in + input) * rank + q;
        let right = (self.component * rank + q) * fan_out + output;
        (left, right)
    }

    fn factor(&self, row: usize, column: usize) -> f32 {
        let terms = (0..self.low_rank.rank).map(|q| self.places(row, column, q));
        terms
            .map(|(left, right)| self.low_rank.left[left] * self.low_rank.right[right])
            .sum()
    }
}
