//! The posterior of a convolution's kernels, as a picture of it needs.

use super::EvaluateError;
use crate::posterior::{Entry, Inventory, Spread};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Mean and standard deviation of the kernels of a convolution, `[outputs, inputs, height, width]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelPosterior {
    /// Path of the parameter in its network.
    pub path: String,
    /// Outputs, inputs, height and width.
    pub shape: [usize; 4],
    /// Means; of an ensemble, over its components.
    pub mean: Vec<f32>,
    /// Standard deviations; of an ensemble, over its components; zero where there is no posterior.
    pub std: Vec<f32>,
}

impl KernelPosterior {
    /// Of the first convolution of a network, if it has one.
    ///
    /// ```
    /// use bayesadapter::{evaluate::KernelPosterior, models::Architecture};
    /// use bayesadapter::posterior::{IntoBayes, MeanField};
    /// use burn::tensor::{Device, read_sync};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let network = "digits-cnn".parse::<Architecture>()?.init(&Device::flex())?;
    /// let bayes = network.into_bayes(MeanField::fine_tune(1_797))?;
    /// let first = read_sync(KernelPosterior::of_first_convolution(&bayes.inventory()))?;
    /// let first = first.ok_or("no convolution")?;
    /// assert_eq!(first.mean.len(), first.shape.iter().product::<usize>());
    /// assert!(first.std.iter().all(|&std| std > 0.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A device that fails.
    pub async fn of_first_convolution(
        inventory: &Inventory,
    ) -> Result<Option<Self>, EvaluateError> {
        match kernels(inventory).next() {
            Some((entry, shape)) => Self::of(entry, shape).await.map(Some),
            None => Ok(None),
        }
    }

    /// Of the convolution whose weight has this path.
    ///
    /// # Errors
    ///
    /// No convolution there, and a device that fails.
    pub async fn of_path(inventory: &Inventory, path: &str) -> Result<Self, EvaluateError> {
        let found = kernels(inventory).find(|(entry, _)| entry.path == path);
        let Some((entry, shape)) = found else {
            let there: Vec<&str> = kernels(inventory)
                .map(|(entry, _)| entry.path.as_str())
                .collect();
            return Err(EvaluateError::NoKernel {
                path: path.to_owned(),
                there: there.join(", "),
            });
        };
        Self::of(entry, shape).await
    }

    async fn of(entry: &Entry, shape: [usize; 4]) -> Result<Self, EvaluateError> {
        let value = values(entry.value.clone()).await?;
        let (mean, std) = match &entry.spread {
            Spread::Point => {
                let none = vec![0.0; value.len()];
                (value, none)
            }
            Spread::MeanField { psi, .. } => {
                let psi = values(psi.clone()).await?;
                (value, psi.into_iter().map(f32::exp).collect())
            }
            Spread::LowRank { left, right, .. } => {
                let factors = Factors {
                    left: values(left.clone()).await?,
                    right: values(right.clone()).await?,
                    components: left.dims()[0],
                    rows: left.dims()[1],
                    rank: left.dims()[2],
                    outputs: shape[0],
                };
                factors.moments(&value)
            }
        };
        Ok(Self {
            path: entry.path.clone(),
            shape,
            mean,
            std,
        })
    }
}

/// Parameters of four dimensions: in a network for images, the kernels of convolutions.
fn kernels(inventory: &Inventory) -> impl Iterator<Item = (&Entry, [usize; 4])> {
    let entries = inventory.entries.iter();
    entries.filter_map(|entry| Some((entry, entry.shape.as_slice().try_into().ok()?)))
}

/// The factors of an ensemble on the host.
struct Factors {
    /// `[components, rows, rank]`
    left: Vec<f32>,
    /// `[components, rank, outputs]`
    right: Vec<f32>,
    components: usize,
    rows: usize,
    rank: usize,
    outputs: usize,
}

impl Factors {
    /// Mean and standard deviation of `shared`, `[outputs, inputs]`, times the factors of each component.
    fn moments(&self, shared: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let inputs = shared.len() / self.outputs;
        let moments = |(element, &shared): (usize, &f32)| {
            // A row of the left factors stands for successive inputs.
            let (output, row) = (element / inputs, element % inputs * self.rows / inputs);
            let factors = (0..self.components).map(|component| self.factor(component, row, output));
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

    fn factor(&self, component: usize, row: usize, output: usize) -> f64 {
        let left = &self.left[(component * self.rows + row) * self.rank..][..self.rank];
        let right = &self.right[component * self.rank * self.outputs..];
        let right = right.iter().skip(output).step_by(self.outputs);
        let products = left.iter().zip(right);
        products
            .map(|(&left, &right)| f64::from(left) * f64::from(right))
            .sum()
    }
}

async fn values<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, EvaluateError> {
    let failed = |error: &dyn std::fmt::Display| EvaluateError::Device(error.to_string());
    let data = tensor.into_data_async().await;
    let data = data.map_err(|error| failed(&error))?;
    data.try_into_vec().map_err(|error| failed(&error))
}
