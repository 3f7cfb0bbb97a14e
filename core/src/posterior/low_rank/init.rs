//! The initial factors of a low-rank ensemble.

use super::{Layout, LowRankEnsemble};
use crate::ops::{NoiseKey, fill_normals};
use burn::tensor::TensorData;

impl LowRankEnsemble {
    /// The initial left factors `[components, rows, rank]` and right factors `[components, rank, columns]` of parameter
    /// number `parameter`.
    pub(super) fn initial(&self, parameter: u32, layout: &Layout) -> [TensorData; 2] {
        let (rows, columns) = (layout.left_rows(), layout.fan_out);
        let left = self.initial_factors(parameter, 0, rows);
        let right = self.initial_factors(parameter, 1, columns);
        [
            TensorData::new(left, [self.components, rows, self.rank]),
            TensorData::new(
                transposed(&right, columns, self.rank),
                [self.components, self.rank, columns],
            ),
        ]
    }

    /// Factors `[components, len, rank]` about `sqrt(1 / rank)`.
    fn initial_factors(&self, parameter: u32, side: u32, len: usize) -> Vec<f32> {
        const INITIAL: u64 = 0x9e3d_a5b1_27d4_eb2f;
        let (mean, std) = (self.initial_mean(), self.initial_factor_std());
        let per_component = len * self.rank;
        let mut factors = vec![0.0; self.components * per_component];
        for (component, factors) in factors.chunks_exact_mut(per_component).enumerate() {
            let key = NoiseKey {
                seed: self.seed ^ INITIAL,
                draw: side,
                parameter,
                first_example: component as u32,
            };
            fill_normals(&key, 0, 0, factors);
            for factor in factors {
                *factor = mean + std * *factor;
            }
        }
        factors
    }

    /// Mean of an entry of a factor at the start.
    fn initial_mean(&self) -> f32 {
        (1.0 / self.rank as f32).sqrt()
    }

    /// Standard deviation `v` of an entry of a factor at the start: an element of the product is a sum of `rank`
    /// products of two normals `N(sqrt(1 / rank), v^2)`, and has the variance `2 v^2 + rank v^4`.
    fn initial_factor_std(&self) -> f32 {
        let (rank, std) = (self.rank as f64, f64::from(self.initial_std));
        (((rank * std * std + 1.0).sqrt() - 1.0) / rank).sqrt() as f32
    }
}

/// `[.., len, rank]` as `[.., rank, len]`.
fn transposed(values: &[f32], len: usize, rank: usize) -> Vec<f32> {
    let of_component = |values: &[f32]| -> Vec<f32> {
        let at = |index: usize| values[index % len * rank + index / len];
        (0..len * rank).map(at).collect()
    };
    values.chunks(len * rank).flat_map(of_component).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance.
    fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let count = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / count;
        (
            mean,
            values.map(|value| (value - mean).powi(2)).sum::<f64>() / count,
        )
    }

    #[test]
    fn factors_of_every_rank_start_alike_and_their_product_has_the_standard_deviation_asked_for() {
        const LEN: usize = 64;
        for (rank, initial_std) in [(1, 0.2), (1, 0.1), (4, 0.2), (16, 0.5)] {
            let ensemble = LowRankEnsemble::fine_tune(10)
                .with_components(20)
                .with_rank(rank)
                .with_initial_std(initial_std);
            let [left, right] = [0, 1].map(|side| ensemble.initial_factors(3, side, LEN));
            let expected = f64::from(ensemble.initial_factor_std()).powi(2);
            for at in 0..rank {
                for side in [&left, &right] {
                    let of_rank = side.iter().skip(at).step_by(rank);
                    let (mean, variance) = moments(of_rank.map(|&factor| f64::from(factor)));
                    // Four standard errors of 1,280 normals.
                    let error = 4.0 * (expected / 1_280.0).sqrt();
                    let place = format!("rank {at} of {rank}");
                    assert!((mean - (1.0 / rank as f64).sqrt()).abs() < error, "{place}");
                    assert!((variance / expected - 1.0).abs() < 4.0 * (2.0f64 / 1_280.0).sqrt());
                }
            }
            let row = |side: &[f32], component: usize, at: usize| {
                side[(component * LEN + at) * rank..][..rank].to_vec()
            };
            let products: Vec<f64> = (0..20 * LEN * LEN)
                .map(|index| {
                    let (component, at) = (index / (LEN * LEN), index % (LEN * LEN));
                    let left = row(&left, component, at / LEN);
                    let right = row(&right, component, at % LEN);
                    let both = left.iter().zip(&right);
                    both.map(|(&l, &r)| f64::from(l) * f64::from(r)).sum()
                })
                .collect();
            let (mean, variance) = moments(products.iter().copied());
            assert!((mean - 1.0).abs() < 0.05, "{rank}: {mean}");
            let found = variance.sqrt() / f64::from(initial_std);
            assert!((found - 1.0).abs() < 0.05, "{rank}: {found}");
        }
    }

    #[test]
    fn components_share_no_noise() {
        let ensemble = LowRankEnsemble::fine_tune(10).with_components(4);
        let left = ensemble.initial_factors(0, 0, 500);
        let deviations: Vec<Vec<f64>> = left
            .chunks_exact(500)
            .map(|factors| {
                factors
                    .iter()
                    .map(|&factor| f64::from(factor) - 1.0)
                    .collect()
            })
            .collect();
        for (at, first) in deviations.iter().enumerate() {
            for second in &deviations[at + 1..] {
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let scale = (dot(first, first) * dot(second, second)).sqrt();
                // Also signs alone would be correlated if components shared them.
                assert!((dot(first, second) / scale).abs() < 4.0 / 500f64.sqrt());
            }
        }
    }
}
