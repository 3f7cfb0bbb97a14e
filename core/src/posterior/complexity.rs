//! The complexity loss `KL(q || prior) / n`, and its gradient, which is added after the backward pass
//! as weight decay is: no node of it is in the graph.

use super::{Entry, Inventory, Prior, Spread, low_rank::repeated, product::product};
use crate::{ops::OpError, pass::PassError, read};
use burn::{module::ParamId, optim::GradientsParams, tensor::Tensor};

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

/// Gradients of `lambda / 2C * sum_c |W * (l[c] r[c])|^2`.
///
/// The squared factor of a component is a sum over pairs `(p, q)` of ranks of
/// `(l_p l_q) (r_p r_q)`, so with those products as matrices `pairs_left [in, C r^2]` and
/// `pairs_right [C r^2, out]` everything is two matrix products, and no component is materialised.
struct LowRankTerms<'a> {
    entry: &'a Entry,
    left: &'a Tensor<3>,
    right: &'a Tensor<3>,
    repeats: usize,
    scale: f64,
}

impl<'a> LowRankTerms<'a> {
    fn new(entry: &'a Entry, left: &'a Tensor<3>, right: &'a Tensor<3>, lambda: f64) -> Self {
        let [components, rows, _] = left.dims();
        let fan_in = entry.value.dims()[0] / right.dims()[2];
        Self {
            entry,
            left,
            right,
            repeats: fan_in / rows,
            scale: lambda / components as f64,
        }
    }

    /// `[in, out]` from the layout of the parameter.
    fn matrix(&self, value: Tensor<1>) -> Tensor<2> {
        let fan_out = self.right.dims()[2];
        let fan_in = value.dims()[0] / fan_out;
        match self.entry.shape.len() {
            2 => value.reshape([fan_in, fan_out]),
            _ => value.reshape([fan_out, fan_in]).transpose(),
        }
    }

    /// The reverse of [`matrix`](Self::matrix).
    fn flat(&self, matrix: Tensor<2>) -> Tensor<1> {
        let [fan_in, fan_out] = matrix.dims();
        let matrix = match self.entry.shape.len() {
            2 => matrix,
            _ => matrix.transpose(),
        };
        matrix.reshape([fan_in * fan_out])
    }

    /// `l_p l_q`, `[in, C * r * r]`.
    fn pairs_left(&self) -> Tensor<2> {
        let left = repeated(self.left.clone(), self.repeats);
        let [components, fan_in, rank] = left.dims();
        let left = left.swap_dims(0, 1);
        let by_first = left.clone().reshape([fan_in, components, rank, 1]);
        let by_second = left.reshape([fan_in, components, 1, rank]);
        (by_first * by_second).reshape([fan_in, components * rank * rank])
    }

    /// `r_p r_q`, `[C * r * r, out]`.
    fn pairs_right(&self) -> Tensor<2> {
        let [components, rank, fan_out] = self.right.dims();
        let by_first = self.right.clone().reshape([components, rank, 1, fan_out]);
        let by_second = self.right.clone().reshape([components, 1, rank, fan_out]);
        (by_first * by_second).reshape([components * rank * rank, fan_out])
    }

    fn squared_weight(&self) -> Tensor<2> {
        self.matrix(self.entry.value.clone() * self.entry.value.clone())
    }

    fn shared(&self) -> Result<Tensor<1>, OpError> {
        let squares = product(self.pairs_left(), self.pairs_right())?;
        let weight = self.matrix(self.entry.value.clone());
        Ok(self.flat((weight * squares).mul_scalar(self.scale)))
    }

    /// `d l_p = sum_q l_q * (W^2 (r_p r_q)^T)`, flat.
    fn left(&self) -> Result<Tensor<1>, OpError> {
        let [components, rows, rank] = self.left.dims();
        let fan_in = rows * self.repeats;
        let products = product(self.squared_weight(), self.pairs_right().transpose())?
            .reshape([fan_in, components, rank, rank]);
        let left = repeated(self.left.clone(), self.repeats)
            .swap_dims(0, 1)
            .reshape([fan_in, components, 1, rank]);
        // [in, C, r], with the inputs that share a factor summed.
        let gradient = (products * left)
            .sum_dim(3)
            .reshape([rows, self.repeats, components * rank])
            .sum_dim(1)
            .reshape([rows, components, rank])
            .swap_dims(0, 1);
        Ok(gradient
            .mul_scalar(self.scale)
            .reshape([components * rows * rank]))
    }

    /// `d r_p = sum_q (l_p l_q)^T W^2 * r_q`, flat.
    fn right(&self) -> Result<Tensor<1>, OpError> {
        let [components, rank, fan_out] = self.right.dims();
        let products = product(self.pairs_left().transpose(), self.squared_weight())?
            .reshape([components, rank, rank, fan_out]);
        let right = self.right.clone().reshape([components, 1, rank, fan_out]);
        let gradient = (products * right).sum_dim(2);
        Ok(gradient
            .mul_scalar(self.scale)
            .reshape([components * rank * fan_out]))
    }
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
