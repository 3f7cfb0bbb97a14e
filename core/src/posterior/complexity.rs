//! The complexity loss `KL(q || prior) / n`, and its gradient, which is added after the backward pass
//! as weight decay is: no node of it is in the graph.

mod low_rank;

use super::{Inventory, Prior, Spread};
use crate::{ops::OpError, pass::PassError, read};
use burn::{module::ParamId, optim::GradientsParams, tensor::Tensor};
use low_rank::LowRankTerms;
use serde::{Deserialize, Serialize};

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

/// The complexity loss `KL(q || prior) / n` of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Complexity {
    /// Of all parameters.
    pub total: f64,
    /// Of matrices and convolution kernels alone, without biases and normalisation: what the paper reports as `-L_c`.
    pub matrices: f64,
}

/// The complexity loss, up to the constants of the Gaussian entropy and prior that no parameter changes
/// for ensembles; exact for mean-field posteriors.
pub(super) async fn loss(inventory: &Inventory, prior: &Prior) -> Result<Complexity, PassError> {
    let (n, half_lambda) = (prior.examples as f64, prior.lambda / 2.0);
    let mut loss = Complexity::default();
    // Sums over tensors, what they count, and whether they are of a matrix; read from the device all at once.
    let (mut sums, mut weights) = (Vec::new(), Vec::new());
    for entry in inventory.entries.iter().filter(|entry| entry.trained) {
        let is_matrix = entry.shape.len() >= 2;
        let mut add = |weight: f64, values: Tensor<1>| {
            weights.push((weight, is_matrix));
            sums.push(values.sum());
        };
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
                loss.add(
                    -(psi.dims()[0] as f64) * (0.5 - log_prior_std) / n,
                    is_matrix,
                );
            }
            Spread::LowRank { left, right, .. } => {
                let terms = LowRankTerms::new(entry, left, right, prior.lambda);
                add(0.5, terms.shared()? * entry.value.clone());
            }
        }
    }
    if sums.is_empty() {
        return Ok(loss);
    }
    let sums = read::values(Tensor::cat(sums, 0)).await?;
    for ((weight, is_matrix), sum) in weights.into_iter().zip(sums) {
        loss.add(weight * f64::from(sum), is_matrix);
    }
    Ok(loss)
}

impl Complexity {
    fn add(&mut self, part: f64, is_matrix: bool) {
        self.total += part;
        if is_matrix {
            self.matrices += part;
        }
    }
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
