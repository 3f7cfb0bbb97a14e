//! The posterior of one layer: how its weights are distributed, how sure they are, and how far they moved.

use super::{EvaluateError, KernelPosterior, LayerFactors, moments::Moments};
use crate::{
    metrics::Histogram,
    posterior::{Entry, Inventory},
    read,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bins of the histograms.
const BINS: usize = 60;

/// The posterior of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerPosterior {
    /// Path of the parameter in its network.
    pub path: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Means of its elements; of an ensemble, over the components.
    pub mean: Histogram,
    /// What the posterior adds; none where the elements are points.
    pub spread: Option<LayerSpread>,
    /// How far the means are from the start, if that is known.
    pub movement: Option<Movement>,
    /// Of a convolution.
    pub kernels: Option<KernelPosterior>,
    /// Of an ensemble.
    pub factors: Option<LayerFactors>,
}

/// How sure the elements of a parameter are; both as powers of ten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerSpread {
    /// Standard deviations.
    pub std: Histogram,
    /// Signal to noise: the size of the mean in standard deviations.
    pub signal_to_noise: Histogram,
}

/// How far the means of a parameter are from where they started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Movement {
    /// Length of the way, relative to the length of the start.
    pub share: f64,
    /// Way of each element.
    pub elements: Histogram,
}

impl LayerPosterior {
    /// Of the parameter with this path; `start` is the network before fine-tuning.
    ///
    /// ```
    /// use bayesadapter::{evaluate::LayerPosterior, nn::LinearConfig};
    /// use bayesadapter::posterior::{Inventory, IntoBayes, MeanField};
    /// use burn::tensor::{Device, read_sync};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let layer = LinearConfig::new(3, 2).init(&Device::flex());
    /// let start = Inventory::of(&layer);
    /// let bayes = layer.into_bayes(MeanField::fine_tune(100))?;
    /// let weight = read_sync(LayerPosterior::of_path(&bayes.inventory(), "weight", Some(&start)))?;
    /// assert_eq!(weight.mean.counts.iter().sum::<usize>(), 6);
    /// assert_eq!(weight.movement.map(|movement| movement.share), Some(0.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// No such parameter, and a device that fails.
    pub async fn of_path(
        inventory: &Inventory,
        path: &str,
        start: Option<&Inventory>,
    ) -> Result<Self, EvaluateError> {
        let Some(entry) = find(inventory, path) else {
            return Err(EvaluateError::NoLayer {
                path: path.to_owned(),
            });
        };
        let moments = Moments::of(entry).await?;
        let start = start.and_then(|start| find(start, path));
        let mean = read::values(entry.value.clone()).await?;
        let movement = movement(&mean, start).await?;
        let values = |values: &[f32]| Histogram::of(wide(values), BINS);
        let spread = moments.std.as_ref().map(|std| {
            let noise = std.iter().copied().map(f64::from);
            let signal = moments.mean.iter().copied().map(f64::from);
            let ratio = signal.zip(noise.clone());
            LayerSpread {
                std: Histogram::of(noise.map(f64::log10), BINS),
                signal_to_noise: Histogram::of(
                    ratio.map(|(signal, noise)| (signal.abs() / noise).log10()),
                    BINS,
                ),
            }
        });
        Ok(Self {
            path: entry.path.clone(),
            shape: entry.shape.clone(),
            mean: values(&moments.mean),
            spread,
            movement,
            factors: moments.factors.clone(),
            kernels: KernelPosterior::of_moments(entry, moments),
        })
    }
}

/// How far each parameter, of a posterior its mean or shared weight, is from where it started, relative to the start; by
/// path.
///
/// # Errors
///
/// A device that fails.
pub async fn movements(
    inventory: &Inventory,
    start: &Inventory,
) -> Result<BTreeMap<String, f64>, EvaluateError> {
    let mut found = BTreeMap::new();
    for entry in &inventory.entries {
        let mean = read::values(entry.value.clone()).await?;
        if let Some(movement) = movement(&mean, find(start, &entry.path)).await? {
            found.insert(entry.path.clone(), movement.share);
        }
    }
    Ok(found)
}

/// None without a start of the same size.
async fn movement(mean: &[f32], start: Option<&Entry>) -> Result<Option<Movement>, EvaluateError> {
    let Some(start) = start else {
        return Ok(None);
    };
    let start = read::values(start.value.clone()).await?;
    if start.len() != mean.len() {
        return Ok(None);
    }
    let ways = wide(mean).zip(wide(&start)).map(|(now, then)| now - then);
    let length = |squares: f64| squares.sqrt();
    let from = length(wide(&start).map(|value| value.powi(2)).sum());
    let way = length(ways.clone().map(|way| way.powi(2)).sum());
    Ok(Some(Movement {
        // A start at zero has no length to compare with.
        share: way / from.max(f64::MIN_POSITIVE.sqrt()),
        elements: Histogram::of(ways, BINS),
    }))
}

fn wide(values: &[f32]) -> impl Iterator<Item = f64> + Clone + '_ {
    values.iter().copied().map(f64::from)
}

fn find<'a>(inventory: &'a Inventory, path: &str) -> Option<&'a Entry> {
    inventory.entries.iter().find(|entry| entry.path == path)
}
