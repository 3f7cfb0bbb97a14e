//! Every parameter of a network in a few numbers.

use super::{Inventory, Spread};
use crate::{pass::PassError, read};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// A parameter in a few numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Path in the network.
    pub path: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Average of its elements: of means, shared weights or weights.
    pub mean: f64,
    /// Standard deviation of its elements.
    pub std: f64,
    /// How far its posterior spreads: of a Gaussian, the geometric mean of the standard deviations; of an ensemble,
    /// the standard deviation of the factors over the components, relative to the weight. None for points.
    pub spread: Option<f64>,
}

impl Inventory {
    /// Every parameter in a few numbers, in the order of the network.
    ///
    /// ```
    /// use bayesadapter::{nn::LinearConfig, posterior::{InitialStd, IntoBayes, MeanField}};
    /// use burn::tensor::{Device, read_sync};
    ///
    /// let layer = LinearConfig::new(3, 2).init(&Device::flex());
    /// let start = InitialStd::LogUniform([-6.0, -5.0]);
    /// let bayes = layer.into_bayes(MeanField::fine_tune(100).with_initial_std(start))?;
    /// let summaries = read_sync(bayes.inventory().summaries())?;
    /// let spread = summaries[0].spread.unwrap();
    /// assert!(spread > (-6f64).exp() && spread < (-5f64).exp());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A device that fails.
    pub async fn summaries(&self) -> Result<Vec<Summary>, PassError> {
        let mut summaries = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let spread = match &entry.spread {
                Spread::Point => None,
                Spread::MeanField { psi, .. } => {
                    let (mean, _) = moments(&read::values(psi.clone()).await?);
                    Some(mean.exp())
                }
                Spread::LowRank { left, right, .. } => {
                    let left = variance_over_components(left).await?;
                    Some((left + variance_over_components(right).await?).sqrt())
                }
            };
            let (mean, variance) = moments(&read::values(entry.value.clone()).await?);
            summaries.push(Summary {
                path: entry.path.clone(),
                shape: entry.shape.clone(),
                mean,
                std: variance.sqrt(),
                spread,
            });
        }
        Ok(summaries)
    }
}

/// The mean, over the elements of a factor, of their variance over the components.
async fn variance_over_components(factor: &Tensor<3>) -> Result<f64, PassError> {
    let [components, rows, columns] = factor.dims();
    let values = read::values(factor.clone()).await?;
    let elements = rows * columns;
    let variances = (0..elements).map(|element| {
        let of_element: Vec<f32> = (0..components)
            .map(|component| values[component * elements + element])
            .collect();
        moments(&of_element).1
    });
    Ok(variances.sum::<f64>() / elements.max(1) as f64)
}

/// Mean and variance.
fn moments(values: &[f32]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().copied().map(f64::from).sum::<f64>() / count;
    let squares = values
        .iter()
        .map(|&value| (f64::from(value) - mean).powi(2));
    (mean, squares.sum::<f64>() / count)
}
