//! Mean and standard deviation of every element of a parameter under its posterior.

use super::EvaluateError;
use crate::{
    posterior::{Entry, Spread},
    read,
};
use serde::{Deserialize, Serialize};

/// Of every element, in the order of the parameter.
pub(super) struct Moments {
    pub mean: Vec<f32>,
    /// None where there is no posterior.
    pub std: Option<Vec<f32>>,
    /// Of an ensemble.
    pub factors: Option<LayerFactors>,
}

impl Moments {
    pub(super) async fn of(entry: &Entry) -> Result<Self, EvaluateError> {
        let value = read::values(entry.value.clone()).await?;
        Ok(match &entry.spread {
            Spread::Point => Self {
                mean: value,
                std: None,
                factors: None,
            },
            Spread::MeanField { psi, .. } => {
                let psi = read::values(psi.clone()).await?;
                Self {
                    mean: value,
                    std: Some(psi.into_iter().map(f32::exp).collect()),
                    factors: None,
                }
            }
            Spread::LowRank { left, right, .. } => {
                let factors = LayerFactors {
                    components: left.dims()[0],
                    rank: left.dims()[2],
                    left: read::values(left.clone()).await?,
                    right: read::values(right.clone()).await?,
                };
                let (mean, std) = factors.moments(&value, &entry.shape);
                Self {
                    mean,
                    std: Some(std),
                    factors: Some(factors),
                }
            }
        })
    }
}

/// The factors of a parameter of an ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerFactors {
    /// Networks of the ensemble.
    pub components: usize,
    /// Rank of the factors.
    pub rank: usize,
    /// Factors of the inputs, `[components, inputs, rank]`.
    pub left: Vec<f32>,
    /// Factors of the outputs, `[components, rank, outputs]`.
    pub right: Vec<f32>,
}

impl LayerFactors {
    /// Mean and standard deviation over the components of `shared` times their factors.
    fn moments(&self, shared: &[f32], shape: &[usize]) -> (Vec<f32>, Vec<f32>) {
        let per_component = self.components * self.rank;
        let (rows, outputs) = (
            self.left.len() / per_component,
            self.right.len() / per_component,
        );
        let inputs = shared.len() / outputs;
        let moments = |(element, &shared): (usize, &f32)| {
            // A matrix has its inputs first, a kernel its outputs.
            let (input, output) = match shape.len() {
                2 => (element / outputs, element % outputs),
                _ => (element % inputs, element / inputs),
            };
            // A row of the left factors stands for successive inputs.
            let row = input * rows / inputs;
            let factors = (0..self.components).map(|component| {
                let left = &self.left[(component * rows + row) * self.rank..][..self.rank];
                let right = &self.right[component * self.rank * outputs..];
                let right = right.iter().skip(output).step_by(outputs);
                let products = left.iter().zip(right);
                products
                    .map(|(&left, &right)| f64::from(left) * f64::from(right))
                    .sum::<f64>()
            });
            let count = self.components as f64;
            let mean = factors.clone().sum::<f64>() / count;
            let variance = factors.map(|factor| (factor - mean).powi(2)).sum::<f64>() / count;
            let shared = f64::from(shared);
            (
                (shared * mean) as f32,
                (shared.abs() * variance.sqrt()) as f32,
            )
        };
        shared.iter().enumerate().map(moments).unzip()
    }
}
