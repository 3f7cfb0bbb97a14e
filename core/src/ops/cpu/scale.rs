//! Scaling of rows by factors of their component, and its gradients in one pass over memory.

use super::runs::{FEW, changed_copy};
use super::{contiguous, shaped_like, slice, slice_mut, tensor};
use crate::ops::scale::backend::{ScaleBackend, ScaleGradient};
use burn::backend::Flex;
use burn::backend::flex::FlexTensor;
use rayon::prelude::*;
use std::sync::Arc;

impl ScaleBackend for Flex {
    fn scale(x: FlexTensor, factors: FlexTensor, index: Arc<[u32]>) -> FlexTensor {
        let [mut x, factors] = [x, factors].map(contiguous);
        let factors = Factors::new(&factors, &index);
        match x.is_unique() {
            true => {
                factors.scale(slice_mut(&mut x));
                x
            }
            false => shaped_like(&x, factors.scaled(slice(&x))),
        }
    }
}

impl ScaleGradient for Flex {
    fn scale_backward(
        grad: FlexTensor,
        x: Option<FlexTensor>,
        factors: FlexTensor,
        index: &[u32],
    ) -> [FlexTensor; 2] {
        let [mut grad, factors] = [grad, factors].map(contiguous);
        let of = Factors::new(&factors, index);
        let d_factors = match x.map(contiguous) {
            Some(x) => shaped_like(&factors, of.gradients(slice_mut(&mut grad), slice(&x))),
            None => {
                of.scale(slice_mut(&mut grad));
                tensor(Vec::new(), vec![0])
            }
        };
        [grad, d_factors]
    }
}

/// Factors `[components, columns]` of examples.
struct Factors<'a> {
    values: &'a [f32],
    columns: usize,
    /// Component of each example.
    index: &'a [u32],
}

/// The rows of one example: their gradient, and what was scaled.
type Example<'a> = (&'a mut [f32], &'a [f32]);

impl<'a> Factors<'a> {
    fn new(factors: &'a FlexTensor, index: &'a [u32]) -> Self {
        Self {
            values: slice(factors),
            columns: factors.layout().shape()[1],
            index,
        }
    }

    /// Rows of one example, of so many elements in all.
    fn rows(&self, elements: usize) -> usize {
        elements / self.columns / self.index.len()
    }

    fn scale(&self, values: &mut [f32]) {
        let rows = self.rows(values.len());
        match values.len() > FEW {
            true => values
                .par_chunks_exact_mut(self.columns)
                .enumerate()
                .for_each(|(row, values)| self.scale_row(row / rows, values)),
            false => values
                .chunks_exact_mut(self.columns)
                .enumerate()
                .for_each(|(row, values)| self.scale_row(row / rows, values)),
        }
    }

    /// The same in a copy.
    fn scaled(&self, values: &[f32]) -> Vec<f32> {
        let rows = self.rows(values.len());
        changed_copy(values, self.columns, |row, values| {
            self.scale_row(row / rows, values);
        })
    }

    fn scale_row(&self, example: usize, row: &mut [f32]) {
        let place = self.index[example] as usize * self.columns;
        let factors = &self.values[place..][..self.columns];
        for (value, factor) in row.iter_mut().zip(factors) {
            *value *= factor;
        }
    }

    /// Turns the gradient of the scaled x into that of x, and returns that of the factors. The examples of a
    /// component are added up in their order, whatever the number of threads.
    fn gradients(&self, grad: &mut [f32], x: &[f32]) -> Vec<f32> {
        let elements = grad.len();
        let share = self.rows(elements) * self.columns;
        let mut sums = vec![0.0; self.values.len()];
        let mut components: Vec<_> = sums
            .chunks_exact_mut(self.columns)
            .zip(self.values.chunks_exact(self.columns))
            .map(|(sums, factors)| (sums, factors, Vec::<Example>::new()))
            .collect();
        let examples = grad.chunks_exact_mut(share).zip(x.chunks_exact(share));
        for (example, &component) in examples.zip(self.index) {
            components[component as usize].2.push(example);
        }
        let gradients = |(sums, factors, examples): (&mut [f32], &[f32], Vec<Example>)| {
            for (grad, x) in examples {
                let rows = grad.chunks_exact_mut(self.columns);
                for (grad, x) in rows.zip(x.chunks_exact(self.columns)) {
                    row_gradients(grad, x, factors, sums);
                }
            }
        };
        match elements > FEW {
            true => components.into_par_iter().for_each(gradients),
            false => components.into_iter().for_each(gradients),
        }
        sums
    }
}

/// Adds what one row tells of the factors to `sums`, and scales its gradient.
fn row_gradients(grad: &mut [f32], x: &[f32], factors: &[f32], sums: &mut [f32]) {
    let inputs = x.iter().zip(factors);
    for ((grad, sum), (x, factor)) in grad.iter_mut().zip(sums).zip(inputs) {
        *sum += *grad * x;
        *grad *= factor;
    }
}
