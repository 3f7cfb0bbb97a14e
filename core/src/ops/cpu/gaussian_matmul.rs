//! The noise part of a matrix product with Gaussian weights: `x (exp(psi) eps_b)` and its
//! gradients. A handful of weight rows is made at a time and used at once.

use super::gaussian_rows::{add_rows, gradient_rows};
use super::lanes::{Lanes, Task, dispatch};
use super::product::{Matrix, Threads, product};
use crate::ops::{backend::Wanted, noise::fill_normals};
use bayesadapter_shaders::{Matmul, NoiseKey};
use rayon::prelude::*;
use std::ops::Range;

/// Normals made at a time: with what they meet, they stay in the first-level cache.
const NOISE_AT_ONCE: usize = 2048;

/// From so many rows of x per example on, a library product beats row-by-row updates.
const MANY_ROWS: usize = 8;

/// Weight rows made at a time.
fn rows_at_once(m: &Matmul) -> usize {
    let elements = match m.rows {
        rows if rows < MANY_ROWS => NOISE_AT_ONCE,
        _ => 32 * NOISE_AT_ONCE,
    };
    (elements / m.outputs).clamp(1, m.inputs)
}

/// What all tasks share.
struct Noise<'a> {
    m: &'a Matmul,
    std: &'a [f32],
    key: &'a NoiseKey,
    x: &'a [f32],
}

impl Noise<'_> {
    /// Elements of some rows of the weight.
    #[inline(always)]
    fn elements(&self, rows: &Range<usize>) -> Range<usize> {
        rows.start * self.m.outputs..rows.end * self.m.outputs
    }

    /// `eps` of some rows of one example's weight.
    #[inline(always)]
    fn normals<'o>(
        &self,
        example: usize,
        rows: &Range<usize>,
        out: &'o mut Vec<f32>,
    ) -> &'o mut [f32] {
        let elements = self.elements(rows);
        out.resize(elements.len(), 0.0);
        fill_normals(self.key, example as u32, elements.start as u32, out);
        out
    }

    /// `exp(psi) * eps` of some rows of one example's weight.
    #[inline(always)]
    fn deviations<'o>(
        &self,
        example: usize,
        rows: &Range<usize>,
        out: &'o mut Vec<f32>,
    ) -> &'o [f32] {
        let out = self.normals(example, rows, out);
        for (out, std) in out.iter_mut().zip(&self.std[self.elements(rows)]) {
            *out *= std;
        }
        out
    }

    /// Rows of x (or of a gradient) of one example, `[rows, columns]`.
    #[inline(always)]
    fn example<'d>(&self, data: &'d [f32], example: usize, columns: usize) -> &'d [f32] {
        let len = self.m.rows * columns;
        &data[example * len..][..len]
    }
}

/// `y[b] += x[b] (std * eps_b)`, examples shared out over the threads.
pub(super) fn add_noise(m: &Matmul, std: &[f32], key: &NoiseKey, x: &[f32], y: &mut [f32]) {
    let noise = Noise { m, std, key, x };
    let share = m.batch.div_ceil(rayon::current_num_threads()).min(16);
    y.par_chunks_mut(share * m.rows * m.outputs)
        .enumerate()
        .for_each(|(chunk, y)| {
            dispatch(Add {
                noise: &noise,
                first: chunk * share,
                y,
            });
        });
}

struct Add<'a> {
    noise: &'a Noise<'a>,
    /// First example.
    first: usize,
    y: &'a mut [f32],
}

impl Task for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let m = self.noise.m;
        let mut room = Vec::new();
        for start in (0..m.inputs).step_by(rows_at_once(m)) {
            let rows = start..m.inputs.min(start + rows_at_once(m));
            let examples = self.y.chunks_exact_mut(m.rows * m.outputs);
            for (example, y) in (self.first..).zip(examples) {
                let x = self.noise.example(self.noise.x, example, m.inputs);
                if m.rows >= MANY_ROWS {
                    let deviations = self.noise.deviations(example, &rows, &mut room);
                    let x = Matrix::rows(&x[start..], [m.rows, rows.len()], m.inputs);
                    let deviations = Matrix::new(deviations, [rows.len(), m.outputs]);
                    product(x, deviations, y, m.outputs, true, Threads::One);
                    continue;
                }
                let eps = self.noise.normals(example, &rows, &mut room);
                let std = &self.noise.std[self.noise.elements(&rows)];
                for (t, y) in y.chunks_exact_mut(m.outputs).enumerate() {
                    add_rows::<L::Tile>(&x[t * m.inputs..][rows.clone()], eps, std, y);
                }
            }
        }
    }
}

/// `dx[b] += grad[b] (std * eps_b)^T` where wanted; returns d psi, empty if not wanted. Weight rows
/// are shared out over the threads, so that each thread owns its rows of d psi and its columns of dx.
pub(super) fn add_noise_gradients(
    m: &Matmul,
    std: &[f32],
    key: &NoiseKey,
    grad: &[f32],
    x: &[f32],
    dx: &mut [f32],
    wanted: Wanted,
) -> Vec<f32> {
    let noise = Noise { m, std, key, x };
    let share = m.inputs.div_ceil(rayon::current_num_threads());
    let mut d_psi = vec![0.0; if wanted.parameters { std.len() } else { 0 }];
    let mut psi_parts = d_psi.chunks_mut(share * m.outputs);
    let mut tasks: Vec<_> = (0..m.inputs)
        .step_by(share)
        .map(|start| Gradients {
            noise: &noise,
            grad,
            rows: start..m.inputs.min(start + share),
            dx: Vec::new(),
            d_psi: psi_parts.next().unwrap_or_default(),
            wanted,
        })
        .collect();
    for row in dx.chunks_exact_mut(m.inputs) {
        for (task, columns) in tasks.iter_mut().zip(row.chunks_mut(share)) {
            task.dx.push(columns);
        }
    }
    tasks.into_par_iter().for_each(dispatch);
    d_psi
}

struct Gradients<'a> {
    noise: &'a Noise<'a>,
    grad: &'a [f32],
    /// Rows of the weight.
    rows: Range<usize>,
    /// The columns of these rows in every row of dx; none where dx is not wanted.
    dx: Vec<&'a mut [f32]>,
    d_psi: &'a mut [f32],
    wanted: Wanted,
}

/// Where the gradients of one example and some weight rows go.
struct Sums<'a> {
    /// `[rows of x, weight rows]`, or nothing where library products need not make it.
    dx: &'a mut [f32],
    /// `[weight rows, outputs]`
    d_psi: &'a mut [f32],
}

impl Task for Gradients<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let m = self.noise.m;
        let (mut eps_room, mut dx_room, mut dw_room) = (Vec::new(), Vec::new(), Vec::new());
        for start in self.rows.clone().step_by(rows_at_once(m)) {
            let rows = start..self.rows.end.min(start + rows_at_once(m));
            let offset = start - self.rows.start;
            let d_psi = match self.wanted.parameters {
                true => &mut self.d_psi[offset * m.outputs..][..rows.len() * m.outputs],
                false => &mut [],
            };
            // Row by row dx falls off the way to d psi.
            let makes_dx = self.wanted.x || m.rows < MANY_ROWS;
            dx_room.resize(if makes_dx { m.rows * rows.len() } else { 0 }, 0.0);
            for example in 0..m.batch {
                let x = self.noise.example(self.noise.x, example, m.inputs);
                let grad = self.noise.example(self.grad, example, m.outputs);
                let sums = Sums {
                    dx: &mut dx_room,
                    d_psi,
                };
                if m.rows >= MANY_ROWS {
                    let deviations = self.noise.deviations(example, &rows, &mut eps_room);
                    by_products(m, &rows, x, grad, deviations, sums, &mut dw_room);
                } else {
                    let eps = self.noise.normals(example, &rows, &mut eps_room);
                    self.noise.gradients::<L>(&rows, x, grad, eps, sums);
                }
                let rows_of_dx = self.dx.iter_mut().skip(example * m.rows);
                for (dx, part) in rows_of_dx.zip(dx_room.chunks_exact(rows.len())) {
                    for (dx, part) in dx[offset..].iter_mut().zip(part) {
                        *dx += part;
                    }
                }
            }
            if m.rows < MANY_ROWS {
                // Common to all examples, so it waits for their sum.
                let std = &self.noise.std[self.noise.elements(&rows)];
                for (d_psi, std) in d_psi.iter_mut().zip(std) {
                    *d_psi *= std;
                }
            }
        }
    }
}

impl Noise<'_> {
    /// `dx = grad (std * eps)^T` and `d_psi += (x^T grad) * eps`, row by row.
    #[inline(always)]
    fn gradients<L: Lanes>(
        &self,
        rows: &Range<usize>,
        x: &[f32],
        grad: &[f32],
        eps: &[f32],
        sums: Sums,
    ) {
        let m = self.m;
        let std = &self.std[self.elements(rows)];
        for (t, grad) in grad.chunks_exact(m.outputs).enumerate() {
            let x = &x[t * m.inputs..][rows.clone()];
            let dx = &mut sums.dx[t * rows.len()..][..rows.len()];
            gradient_rows::<L::Tile>(x, eps, std, grad, sums.d_psi, dx);
        }
    }
}

/// `dx = grad deviations^T` and `d_psi += (x^T grad) * deviations`, by library products.
fn by_products(
    m: &Matmul,
    rows: &Range<usize>,
    x: &[f32],
    grad: &[f32],
    deviations: &[f32],
    sums: Sums,
    room: &mut Vec<f32>,
) {
    let grad = Matrix::new(grad, [m.rows, m.outputs]);
    if !sums.dx.is_empty() {
        let weight = Matrix::new(deviations, [rows.len(), m.outputs]).transposed();
        product(grad, weight, sums.dx, rows.len(), false, Threads::One);
    }
    if !sums.d_psi.is_empty() {
        room.resize(deviations.len(), 0.0);
        let x = Matrix::rows(&x[rows.start..], [m.rows, rows.len()], m.inputs);
        product(x.transposed(), grad, room, m.outputs, false, Threads::One);
        for (sum, (dw, deviation)) in sums.d_psi.iter_mut().zip(room.iter().zip(deviations)) {
            *sum += dw * deviation;
        }
    }
}
