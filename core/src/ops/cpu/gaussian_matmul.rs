//! The noise part of a matrix product with Gaussian weights: `x (exp(psi) eps_b)` and its
//! gradients. A handful of weight rows is made at a time and used at once.

use super::lanes::{LANES, Lanes, Task, dispatch};
use super::product::{Matrix, Threads, product};
use crate::ops::{backend::Wanted, noise::fill_normals};
use bayesadapter_shaders::{Matmul, NoiseKey};
use rayon::prelude::*;
use std::ops::Range;

/// Deviations made at a time: with what they meet, they stay in the first-level cache.
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
    /// `exp(psi) * eps` of some rows of one example's weight.
    #[inline(always)]
    fn deviations<'o>(
        &self,
        example: usize,
        rows: &Range<usize>,
        out: &'o mut Vec<f32>,
    ) -> &'o [f32] {
        let elements = rows.start * self.m.outputs..rows.end * self.m.outputs;
        out.resize(elements.len(), 0.0);
        fill_normals(self.key, example as u32, elements.start as u32, out);
        for (out, std) in out.iter_mut().zip(&self.std[elements]) {
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
                let deviations = self.noise.deviations(example, &rows, &mut room);
                let x = self.noise.example(self.noise.x, example, m.inputs);
                if m.rows >= MANY_ROWS {
                    let x = Matrix::rows(&x[start..], [m.rows, rows.len()], m.inputs);
                    let deviations = Matrix::new(deviations, [rows.len(), m.outputs]);
                    product(x, deviations, y, m.outputs, true, Threads::One);
                    continue;
                }
                for (i, deviations) in rows.clone().zip(deviations.chunks_exact(m.outputs)) {
                    for (t, y) in y.chunks_exact_mut(m.outputs).enumerate() {
                        add_scaled::<L>(x[t * m.inputs + i], deviations, y);
                    }
                }
            }
        }
    }
}

/// `dx[b] += grad[b] (std * eps_b)^T` where wanted; returns d psi, empty if not wanted. Weight rows
/// are shared out over the threads, so that each thread owns its part of d psi.
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
    let tasks: Vec<_> = (0..m.inputs)
        .step_by(share)
        .map(|start| {
            let rows = start..m.inputs.min(start + share);
            (rows, psi_parts.next().unwrap_or_default())
        })
        .collect();
    let parts: Vec<(Range<usize>, Vec<f32>)> = tasks
        .into_par_iter()
        .map(|(rows, d_psi)| {
            let task = Gradients {
                noise: &noise,
                grad,
                rows: rows.clone(),
                d_psi,
                wanted,
            };
            (rows, dispatch(task))
        })
        .collect();
    for (rows, part) in parts {
        let rows_of_dx = dx.chunks_exact_mut(m.inputs);
        for (dx, part) in rows_of_dx.zip(part.chunks_exact(rows.len())) {
            for (dx, part) in dx[rows.clone()].iter_mut().zip(part) {
                *dx += part;
            }
        }
    }
    d_psi
}

struct Gradients<'a> {
    noise: &'a Noise<'a>,
    grad: &'a [f32],
    /// Rows of the weight.
    rows: Range<usize>,
    d_psi: &'a mut [f32],
    wanted: Wanted,
}

/// Where the gradients of some weight rows go.
struct Sums<'a> {
    /// Part of dx, `[rows of x, weight rows of the task]`.
    dx: &'a mut [f32],
    pitch: usize,
    /// `[weight rows, outputs]`
    d_psi: &'a mut [f32],
}

impl Task for Gradients<'_> {
    /// dx of these rows, `[batch * rows, rows.len()]`.
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Vec<f32> {
        let m = self.noise.m;
        let pitch = self.rows.len();
        let mut dx = vec![0.0; m.batch * m.rows * pitch];
        let mut room = (Vec::new(), Vec::new());
        for start in self.rows.clone().step_by(rows_at_once(m)) {
            let rows = start..self.rows.end.min(start + rows_at_once(m));
            let offset = start - self.rows.start;
            for (example, dx) in dx.chunks_exact_mut(m.rows * pitch).enumerate() {
                let deviations = self.noise.deviations(example, &rows, &mut room.0);
                let x = self.noise.example(self.noise.x, example, m.inputs);
                let grad = self.noise.example(self.grad, example, m.outputs);
                let d_psi = match self.wanted.parameters {
                    true => &mut self.d_psi[offset * m.outputs..][..deviations.len()],
                    false => &mut [],
                };
                let sums = Sums {
                    dx: &mut dx[offset..],
                    pitch,
                    d_psi,
                };
                if m.rows >= MANY_ROWS {
                    by_products(m, &rows, x, grad, deviations, sums, &mut room.1);
                } else {
                    by_rows::<L>(m, &rows, x, grad, deviations, sums);
                }
            }
        }
        dx
    }
}

#[inline(always)]
fn by_rows<L: Lanes>(
    m: &Matmul,
    rows: &Range<usize>,
    x: &[f32],
    grad: &[f32],
    deviations: &[f32],
    sums: Sums,
) {
    for (t, grad) in grad.chunks_exact(m.outputs).enumerate() {
        let x = &x[t * m.inputs + rows.start..];
        let dx = &mut sums.dx[t * sums.pitch..];
        for (r, deviations) in deviations.chunks_exact(m.outputs).enumerate() {
            dx[r] = if sums.d_psi.is_empty() {
                dot::<L>(deviations, grad)
            } else {
                let d_psi = &mut sums.d_psi[r * m.outputs..][..m.outputs];
                dot_and_add_scaled::<L>(x[r], deviations, grad, d_psi)
            };
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
    let weight = Matrix::new(deviations, [rows.len(), m.outputs]);
    product(
        grad,
        weight.transposed(),
        sums.dx,
        sums.pitch,
        false,
        Threads::One,
    );
    if !sums.d_psi.is_empty() {
        room.resize(deviations.len(), 0.0);
        let x = Matrix::rows(&x[rows.start..], [m.rows, rows.len()], m.inputs);
        product(x.transposed(), grad, room, m.outputs, false, Threads::One);
        for (sum, (dw, deviation)) in sums.d_psi.iter_mut().zip(room.iter().zip(deviations)) {
            *sum += dw * deviation;
        }
    }
}

/// `into += scale * values`
#[inline(always)]
fn add_scaled<L: Lanes>(scale: f32, values: &[f32], into: &mut [f32]) {
    let (values, value_tail) = values.as_chunks::<LANES>();
    let (into, into_tail) = into.as_chunks_mut::<LANES>();
    let factor = L::splat(scale);
    for (into, values) in into.iter_mut().zip(values) {
        // SAFETY: both are arrays of eight f32.
        unsafe {
            let sum = L::load(values.as_ptr()).mul_add(factor, L::load(into.as_ptr()));
            sum.store(into.as_mut_ptr());
        }
    }
    for (into, value) in into_tail.iter_mut().zip(value_tail) {
        *into += scale * value;
    }
}

/// `sum a * b`
#[inline(always)]
fn dot<L: Lanes>(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_tail) = a.as_chunks::<LANES>();
    let (b, b_tail) = b.as_chunks::<LANES>();
    let mut sum = L::splat(0.0);
    for (a, b) in a.iter().zip(b) {
        // SAFETY: both are arrays of eight f32.
        sum = unsafe { L::load(a.as_ptr()).mul_add(L::load(b.as_ptr()), sum) };
    }
    let tail: f32 = a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum();
    sum.sum() + tail
}

/// `into += scale * a * b`, and returns `sum a * b`.
#[inline(always)]
fn dot_and_add_scaled<L: Lanes>(scale: f32, a: &[f32], b: &[f32], into: &mut [f32]) -> f32 {
    let (a, a_tail) = a.as_chunks::<LANES>();
    let (b, b_tail) = b.as_chunks::<LANES>();
    let (into, into_tail) = into.as_chunks_mut::<LANES>();
    let (factor, zero) = (L::splat(scale), L::splat(0.0));
    let mut sum = zero;
    for (into, (a, b)) in into.iter_mut().zip(a.iter().zip(b)) {
        // SAFETY: all are arrays of eight f32.
        unsafe {
            let (a, b) = (L::load(a.as_ptr()), L::load(b.as_ptr()));
            let product = a.mul_add(b, zero);
            sum = a.mul_add(b, sum);
            product
                .mul_add(factor, L::load(into.as_ptr()))
                .store(into.as_mut_ptr());
        }
    }
    let mut total = sum.sum();
    for (into, (a, b)) in into_tail.iter_mut().zip(a_tail.iter().zip(b_tail)) {
        total += a * b;
        *into += scale * a * b;
    }
    total
}
