//! The complexity loss `KL(q || prior) / n`, and its gradient, which is added after the backward pass
//! as weight decay is: no node of it is in the graph.

mod low_rank;

use super::{Inventory, Prior, Spread};
use crate::{ops::OpError, pass::PassError, read};
use burn::{module::ParamId, optim::GradientsParams, tensor::Tensor};
use low_rank::LowRankTerms;

/// Adds the gradient of the complexity loss to `gradients`. Parameters without a gradient took no part
/// in the pass, and stay without.
pub(super) fn add_gradients(
    inventory: &Inventory,
    prior: &Prior,
    gradients: &mut GradientsParams,
) -> Result<(), OpError> {
    for entry in inventory.entries.iter().filter(|entry| entry.trained) {
        let lambda = prior.lambda;
        let (id, rank) = (entry.id, entry.shape.len());
        match &entry.spread {
            Spread::Point => add(gradients, id, rank, || {
                Ok(entry.value.clone().mul_scalar(lambda))
            })?,
            Spread::MeanField {
                psi_id,
                psi,
                prior_mean,
            } => {
                add(gradients, id, rank, || {
                    Ok(from_prior_mean(&entry.value, prior_mean).mul_scalar(lambda))
                })?;
                add(gradients, *psi_id, 1, || {
                    let variance = psi.clone().mul_scalar(2.0).exp();
                    Ok(variance.mul_scalar(lambda) - 1.0 / prior.examples as f64)
                })?;
            }
            Spread::LowRank {
                left_id,
                left,
                right_id,
                right,
            } => {
                let terms = LowRankTerms::new(entry, left, right, lambda);
                add(gradients, id, rank, || terms.shared())?;
                add(gradients, *left_id, 3, || terms.left())?;
                add(gradients, *right_id, 3, || terms.right())?;
            }
        }
    }
    Ok(())
}

/// The complexity loss, up to the constants of the Gaussian entropy and prior that no parameter changes
/// for ensembles; exact for mean-field posteriors.
pub(super) async fn loss(inventory: &Inventory, prior: &Prior) -> Result<f64, PassError> {
    let (n, half_lambda) = (prior.examples as f64, prior.lambda / 2.0);
    let mut constant = 0.0;
    // Sums over tensors, and what they count; read from the device all at once.
    let (mut sums, mut weights) = (Vec::new(), Vec::new());
    let mut add = |weight: f64, values: Tensor<1>| {
        weights.push(weight);
        sums.push(values.sum());
    };
    for entry in inventory.entries.iter().filter(|entry| entry.trained) {
        match &entry.spread {
            Spread::Point => add(half_lambda, squares(entry.value.clone())),
            Spread::MeanField {
                psi, prior_mean, ..
            } => {
                add(
                    half_lambda,
                    squares(from_prior_mean(&entry.value, prior_mean)),
                );
                add(half_lambda, psi.clone().mul_scalar(2.0).exp());
                add(-1.0 / n, psi.clone());
                let log_prior_std = prior.variance().ln() / 2.0;
                constant -= psi.dims()[0] as f64 * (0.5 - log_prior_std) / n;
            }
            Spread::LowRank { left, right, .. } => {
                let terms = LowRankTerms::new(entry, left, right, prior.lambda);
                add(0.5, terms.shared()? * entry.value.clone());
            }
        }
    }
    if sums.is_empty() {
        return Ok(constant);
    }
    let sums = read::values(Tensor::cat(sums, 0)).await?;
    let weighted = weights.iter().zip(sums).map(|(w, sum)| w * f64::from(sum));
    Ok(constant + weighted.sum::<f64>())
}

fn from_prior_mean(mean: &Tensor<1>, prior_mean: &Option<Tensor<1>>) -> Tensor<1> {
    match prior_mean {
        Some(prior_mean) => mean.clone() - prior_mean.clone(),
        None => mean.clone(),
    }
}

fn squares(values: Tensor<1>) -> Tensor<1> {
    values.clone() * values
}

/// Adds a flat tensor to the gradient of a parameter of the given rank.
fn add(
    gradients: &mut GradientsParams,
    id: ParamId,
    rank: usize,
    addition: impl FnOnce() -> Result<Tensor<1>, OpError>,
) -> Result<(), OpError> {
    fn add_ranked<const D: usize>(
        gradients: &mut GradientsParams,
        id: ParamId,
        addition: impl FnOnce() -> Result<Tensor<1>, OpError>,
    ) -> Result<(), OpError> {
        if let Some(gradient) = gradients.remove::<D>(id) {
            let addition = addition()?.reshape(gradient.shape());
            gradients.register(id, gradient + addition);
        }
        Ok(())
    }
    match rank {
        1 => add_ranked::<1>(gradients, id, addition),
        2 => add_ranked::<2>(gradients, id, addition),
        3 => add_ranked::<3>(gradients, id, addition),
        4 => add_ranked::<4>(gradients, id, addition),
        5 => add_ranked::<5>(gradients, id, addition),
        _ => add_ranked::<6>(gradients, id, addition),
    }
}
