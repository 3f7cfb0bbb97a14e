//! Matrix product with a weight per example.
//!
//! - Given weights: the rows of all examples of a slot meet their weight in one product.
//! - Gaussian: `x w_b = x mu + x (exp(psi) eps_b)`; the first part is one product for the batch.
//!
//! Low-rank products never come here: they are composed of products with the shared weight between two scalings.

use super::gaussian_matmul;
use super::product::{Matrix, Threads, product};
use super::runs::unwritten;
use super::source::Weight;
use crate::ops::backend::Wanted;
use bayesadapter_shaders::{BySlot, Matmul};
use rayon::prelude::*;
use std::borrow::Cow;

const COMPOSED: &str = "the public op composes low-rank products of shared ones";

/// y `[batch, rows, outputs]`.
pub(super) fn forward(m: &Matmul, weight: &Weight, slots: usize, x: &[f32]) -> Vec<f32> {
    let made = || unwritten(m.batch * m.rows * m.outputs);
    match weight {
        Weight::Given { weights, index, .. } => {
            let mut y = made();
            if let Some(slot) = only_slot(index) {
                let (x, weight) = (all(m, x, m.inputs), one(m, weights, slot));
                product(x, weight, &mut y, m.outputs, false, Threads::All);
                return y;
            }
            let by_slot = BySlot::new(index, slots);
            let parts = each_slot(m, &by_slot, &mut [], |rows, slot, _, threads| {
                let x = rows.gather(x, m.inputs);
                let x = Matrix::new(&x, [rows.count(), m.inputs]);
                let mut y = vec![0.0; rows.count() * m.outputs];
                product(x, one(m, weights, slot), &mut y, m.outputs, false, threads);
                y
            });
            for (rows, part) in parts {
                rows.scatter(&part, m.outputs, &mut y);
            }
            y
        }
        Weight::Gaussian { mu, std, key } => {
            let mut y = made();
            product(
                all(m, x, m.inputs),
                one(m, mu, 0),
                &mut y,
                m.outputs,
                false,
                Threads::All,
            );
            gaussian_matmul::add_noise(m, std, key, x, &mut y);
            y
        }
        Weight::LowRank(_) => unreachable!("{COMPOSED}"),
    }
}

/// `[dx, d parameters..]`; what is not wanted is empty.
pub(super) fn backward(
    m: &Matmul,
    weight: &Weight,
    slots: usize,
    grad: &[f32],
    x: &[f32],
    wanted: Wanted,
) -> Vec<Vec<f32>> {
    match weight {
        Weight::Given { weights, index, .. } => {
            if let Some(slot) = only_slot(index) {
                let len = m.inputs * m.outputs;
                let mut dw = match (wanted.parameters, weights.len() == len) {
                    (false, _) => Vec::new(),
                    (true, true) => unwritten(len),
                    (true, false) => vec![0.0; weights.len()],
                };
                let part = dw.get_mut(slot * len..).unwrap_or_default();
                let dx = shared_backward(m, one(m, weights, slot), grad, x, wanted.x, part);
                return vec![dx, dw];
            }
            given_backward(m, weights, &BySlot::new(index, slots), grad, x, wanted)
        }
        Weight::Gaussian { mu, std, key } => {
            let mut d_mu = unwritten(if wanted.parameters { mu.len() } else { 0 });
            let mut dx = shared_backward(m, one(m, mu, 0), grad, x, wanted.x, &mut d_mu);
            let d_psi = gaussian_matmul::add_noise_gradients(m, std, key, grad, x, &mut dx, wanted);
            vec![dx, d_mu, d_psi]
        }
        Weight::LowRank(_) => unreachable!("{COMPOSED}"),
    }
}

/// The slot of all examples, where they have one in common.
fn only_slot(index: &[u32]) -> Option<usize> {
    let first = *index.first()?;
    let same = index.iter().all(|&slot| slot == first);
    same.then_some(first as usize)
}

/// Gradients of a product with one weight: returns dx, empty if not wanted, and fills `dw` unless that
/// is empty.
fn shared_backward(
    m: &Matmul,
    weight: Matrix,
    grad: &[f32],
    x: &[f32],
    wanted_x: bool,
    dw: &mut [f32],
) -> Vec<f32> {
    let (x_all, grad_all) = (all(m, x, m.inputs), all(m, grad, m.outputs));
    let mut dx = unwritten(if wanted_x { x.len() } else { 0 });
    if wanted_x {
        let weight = weight.transposed();
        product(grad_all, weight, &mut dx, m.inputs, false, Threads::All);
    }
    if !dw.is_empty() {
        let x = x_all.transposed();
        product(x, grad_all, dw, m.outputs, false, Threads::All);
    }
    dx
}

/// All examples' rows as one matrix.
fn all<'a>(m: &Matmul, data: &'a [f32], columns: usize) -> Matrix<'a> {
    Matrix::new(data, [m.batch * m.rows, columns])
}

/// The weight of one slot.
fn one<'a>(m: &Matmul, weights: &'a [f32], slot: usize) -> Matrix<'a> {
    let len = m.inputs * m.outputs;
    Matrix::new(&weights[slot * len..][..len], [m.inputs, m.outputs])
}

/// The examples of one slot.
struct Rows<'a> {
    examples: &'a [u32],
    /// Rows of one example.
    rows: usize,
}

impl Rows<'_> {
    fn count(&self) -> usize {
        self.examples.len() * self.rows
    }

    /// The examples' rows behind one another; borrowed where they lie so already.
    fn gather<'d>(&self, data: &'d [f32], columns: usize) -> Cow<'d, [f32]> {
        let len = self.rows * columns;
        let (first, last) = (self.examples[0], self.examples[self.examples.len() - 1]);
        if (last - first) as usize == self.examples.len() - 1 {
            return data[first as usize * len..][..self.examples.len() * len].into();
        }
        let slices = self
            .examples
            .iter()
            .map(|&b| &data[b as usize * len..][..len]);
        slices.collect::<Vec<_>>().concat().into()
    }

    /// The reverse of [`gather`](Self::gather).
    fn scatter(&self, data: &[f32], columns: usize, into: &mut [f32]) {
        let len = self.rows * columns;
        for (&example, data) in self.examples.iter().zip(data.chunks_exact(len)) {
            into[example as usize * len..][..len].copy_from_slice(data);
        }
    }
}

/// Runs `work` for every slot that has examples, with that slot's part of `per_slot` (or nothing, if
/// that is empty): the slots side by side where they keep all threads busy, else one after the other
/// with all threads on each.
fn each_slot<'a>(
    m: &Matmul,
    by_slot: &'a BySlot,
    per_slot: &mut [f32],
    work: impl Fn(&Rows<'a>, usize, &mut [f32], Threads) -> Vec<f32> + Sync,
) -> Vec<(Rows<'a>, Vec<f32>)> {
    let slots = by_slot.starts.len() - 1;
    let mut parts = per_slot.chunks_mut(m.inputs * m.outputs);
    let used: Vec<(usize, &mut [f32])> = (0..slots)
        .map(|slot| (slot, parts.next().unwrap_or_default()))
        .filter(|(slot, _)| !by_slot.slot(*slot).is_empty())
        .collect();
    let run = |(slot, part): (usize, &mut [f32]), threads| {
        let rows = Rows {
            examples: by_slot.slot(slot),
            rows: m.rows,
        };
        let out = work(&rows, slot, part, threads);
        (rows, out)
    };
    if used.len() >= rayon::current_num_threads() {
        let slots = used.into_par_iter();
        slots.map(|slot| run(slot, Threads::One)).collect()
    } else {
        let slots = used.into_iter();
        slots.map(|slot| run(slot, Threads::All)).collect()
    }
}

fn given_backward(
    m: &Matmul,
    weights: &[f32],
    by_slot: &BySlot,
    grad: &[f32],
    x: &[f32],
    wanted: Wanted,
) -> Vec<Vec<f32>> {
    let mut dx = vec![0.0; if wanted.x { x.len() } else { 0 }];
    let mut dw = vec![0.0; if wanted.parameters { weights.len() } else { 0 }];
    let parts = each_slot(m, by_slot, &mut dw, |rows, slot, dw, threads| {
        let grad = rows.gather(grad, m.outputs);
        let grad = Matrix::new(&grad, [rows.count(), m.outputs]);
        if wanted.parameters {
            let x = rows.gather(x, m.inputs);
            let x = Matrix::new(&x, [rows.count(), m.inputs]);
            product(x.transposed(), grad, dw, m.outputs, false, threads);
        }
        let mut dx = Vec::new();
        if wanted.x {
            dx.resize(rows.count() * m.inputs, 0.0);
            let weight = one(m, weights, slot).transposed();
            product(grad, weight, &mut dx, m.inputs, false, threads);
        }
        dx
    });
    if wanted.x {
        for (rows, part) in parts {
            rows.scatter(&part, m.inputs, &mut dx);
        }
    }
    vec![dx, dw]
}
