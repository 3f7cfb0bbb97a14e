//! Matrix product with low-rank weights: `sum_q ((x * l_q) W) * r_q` and its gradients.
//!
//! The backward pass makes `(x * l_q) W` a second time, since only x is kept: that pays where W has
//! few outputs.

use super::product::{Matrix, Threads, product};
use super::runs::unwritten;
use super::source::LowRank;
use crate::ops::backend::Wanted;
use bayesadapter_shaders::Matmul;

/// Term `q` of the sum over ranks.
struct Term<'a> {
    m: &'a Matmul,
    low_rank: &'a LowRank<'a>,
    /// `[components, in]` and `[components, out]`, one component behind the other.
    left: Vec<f32>,
    right: Vec<f32>,
}

impl<'a> Term<'a> {
    fn new(m: &'a Matmul, low_rank: &'a LowRank<'a>, q: usize) -> Self {
        let rank = low_rank.rank;
        let left = low_rank.left.iter().skip(q).step_by(rank);
        let right = low_rank.right.chunks_exact(m.outputs);
        Self {
            m,
            low_rank,
            left: left.copied().collect(),
            right: right.skip(q).step_by(rank).flatten().copied().collect(),
        }
    }

    /// Place of every example's component in a matrix of `columns` per component.
    fn places(&self, columns: usize) -> impl Iterator<Item = usize> {
        let rows = self.m.rows;
        let index = self.low_rank.index.iter();
        index.flat_map(move |&slot| std::iter::repeat_n(slot as usize * columns, rows))
    }

    /// Every row of `data` times that of its component. Row by row, so that it is scaled while the
    /// first-level cache holds it.
    fn scaled(&self, data: &[f32], factors: &[f32], columns: usize) -> Vec<f32> {
        let mut out = Vec::with_capacity(data.len());
        for (row, place) in data.chunks_exact(columns).zip(self.places(columns)) {
            let start = out.len();
            out.extend_from_slice(row);
            scale(&mut out[start..], &factors[place..]);
        }
        out
    }

    /// The same in place.
    fn scale(&self, data: &mut [f32], factors: &[f32], columns: usize) {
        for (row, place) in data.chunks_exact_mut(columns).zip(self.places(columns)) {
            scale(row, &factors[place..]);
        }
    }

    /// `into[component] += a * b`, summed over the rows of each component.
    fn fold(&self, a: &[f32], b: &[f32], columns: usize, into: &mut [f32]) {
        let rows = a.chunks_exact(columns).zip(b.chunks_exact(columns));
        for ((a, b), place) in rows.zip(self.places(columns)) {
            let into = &mut into[place..place + columns];
            for ((sum, a), b) in into.iter_mut().zip(a).zip(b) {
                *sum += a * b;
            }
        }
    }

    fn shared(&self) -> Matrix<'a> {
        Matrix::new(self.low_rank.shared, [self.m.inputs, self.m.outputs])
    }

    /// `scaled_x W`
    fn forward(&self, scaled_x: &[f32]) -> Vec<f32> {
        let m = self.m;
        let x = Matrix::new(scaled_x, [m.batch * m.rows, m.inputs]);
        let mut y = unwritten(m.batch * m.rows * m.outputs);
        product(x, self.shared(), &mut y, m.outputs, false, Threads::All);
        y
    }
}

/// y `[batch, rows, outputs]`.
pub(super) fn forward(m: &Matmul, low_rank: &LowRank, x: &[f32]) -> Vec<f32> {
    let mut y = Vec::new();
    for q in 0..low_rank.rank {
        let term = Term::new(m, low_rank, q);
        let mut part = term.forward(&term.scaled(x, &term.left, m.inputs));
        term.scale(&mut part, &term.right, m.outputs);
        add(part, &mut y);
    }
    y
}

/// `[dx, d shared, d left, d right]`; what is not wanted is empty.
pub(super) fn backward(
    m: &Matmul,
    low_rank: &LowRank,
    grad: &[f32],
    x: &[f32],
    wanted: Wanted,
) -> Vec<Vec<f32>> {
    let mut dx = Vec::new();
    let parameters = [low_rank.shared, low_rank.left, low_rank.right];
    let mut gradients = parameters.map(|p| vec![0.0; if wanted.parameters { p.len() } else { 0 }]);
    for q in 0..low_rank.rank {
        let term = Term::new(m, low_rank, q);
        let scaled_grad = term.scaled(grad, &term.right, m.outputs);
        let grad_rows = Matrix::new(&scaled_grad, [m.batch * m.rows, m.outputs]);
        let mut part = unwritten(x.len());
        let weight = term.shared().transposed();
        product(grad_rows, weight, &mut part, m.inputs, false, Threads::All);
        if wanted.parameters {
            term.parameters(q, grad, grad_rows, x, &part, &mut gradients);
        }
        if wanted.x {
            term.scale(&mut part, &term.left, m.inputs);
            add(part, &mut dx);
        }
    }
    let [shared, left, right] = gradients;
    vec![dx, shared, left, right]
}

impl Term<'_> {
    /// Gradients of the shared weight, to which this term is added, and of its own factors. `part` is
    /// the gradient of the scaled x.
    fn parameters(
        &self,
        q: usize,
        grad: &[f32],
        scaled_grad: Matrix,
        x: &[f32],
        part: &[f32],
        [d_shared, d_left, d_right]: &mut [Vec<f32>; 3],
    ) {
        let (m, rank) = (self.m, self.low_rank.rank);
        let scaled_x = self.scaled(x, &self.left, m.inputs);
        let x_rows = Matrix::new(&scaled_x, [m.batch * m.rows, m.inputs]).transposed();
        product(
            x_rows,
            scaled_grad,
            d_shared,
            m.outputs,
            q > 0,
            Threads::All,
        );
        let mut sums = vec![0.0; self.left.len()];
        self.fold(part, x, m.inputs, &mut sums);
        for (d_left, sum) in d_left.iter_mut().skip(q).step_by(rank).zip(sums) {
            *d_left = sum;
        }
        let mut sums = vec![0.0; self.right.len()];
        self.fold(&self.forward(&scaled_x), grad, m.outputs, &mut sums);
        let rows = d_right.chunks_exact_mut(m.outputs).skip(q).step_by(rank);
        for (d_right, sums) in rows.zip(sums.chunks_exact(m.outputs)) {
            d_right.copy_from_slice(sums);
        }
    }
}

fn scale(values: &mut [f32], factors: &[f32]) {
    for (value, factor) in values.iter_mut().zip(factors) {
        *value *= factor;
    }
}

/// Adds to `into`, where there is anything yet.
fn add(values: Vec<f32>, into: &mut Vec<f32>) {
    if into.is_empty() {
        *into = values;
        return;
    }
    for (into, value) in into.iter_mut().zip(values) {
        *into += value;
    }
}
