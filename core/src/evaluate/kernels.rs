//! The posterior of a convolution's kernels, as a picture of it needs.

use super::{EvaluateError, moments::Moments};
use crate::{
    posterior::{Bayes, Entry, Inventory},
    predict::PredictError,
};
use burn::module::Module;
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

    /// Draw `k` of the convolution whose weight has this path: the drawn weight, without a deviation.
    ///
    /// # Errors
    ///
    /// As [`of_path`](Self::of_path).
    pub async fn of_draw<M: Module>(
        bayes: &Bayes<M>,
        path: &str,
        k: u32,
    ) -> Result<Self, EvaluateError> {
        let drawn = bayes.draw(k).map_err(PredictError::from)?;
        Self::of_path(&Inventory::of(&drawn), path).await
    }

    async fn of(entry: &Entry, shape: [usize; 4]) -> Result<Self, EvaluateError> {
        Ok(Self::new(entry, shape, Moments::of(entry).await?))
    }

    /// Of a parameter whose moments are known, if it has four dimensions.
    pub(super) fn of_moments(entry: &Entry, moments: Moments) -> Option<Self> {
        let shape = entry.shape.as_slice().try_into().ok()?;
        Some(Self::new(entry, shape, moments))
    }

    fn new(entry: &Entry, shape: [usize; 4], moments: Moments) -> Self {
        let none = || vec![0.0; moments.mean.len()];
        Self {
            path: entry.path.clone(),
            shape,
            std: moments.std.unwrap_or_else(none),
            mean: moments.mean,
        }
    }
}

/// Parameters of four dimensions: in a network for images, the kernels of convolutions.
fn kernels(inventory: &Inventory) -> impl Iterator<Item = (&Entry, [usize; 4])> {
    let entries = inventory.entries.iter();
    entries.filter_map(|entry| Some((entry, entry.shape.as_slice().try_into().ok()?)))
}
