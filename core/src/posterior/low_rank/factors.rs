//! The factors that a low-rank ensemble attaches to a parameter: the components that rows see, and their weights.

use super::{EnsembleMean, LowRankEnsemble};
use crate::{
    ops::{OpError, sample_low_rank},
    pass::{self, Draw, Estimator, Pass},
    posterior::product::product,
};
use burn::{
    module::{Module, Param, Reparameterization},
    tensor::{Device, Tensor},
};

impl LowRankEnsemble {
    /// The state of parameter number `parameter` of the given shape, or nothing for a vector.
    pub(in crate::posterior) fn attach(
        &self,
        parameter: u32,
        shape: &[usize],
        device: &Device,
    ) -> Option<Factors> {
        let layout = self.layout(shape)?;
        let [left, right] = self.initial(parameter, &layout);
        Some(Factors {
            left: Param::from_tensor(Tensor::from_data(left, device)),
            right: Param::from_tensor(Tensor::from_data(right, device)),
            repeats: layout.repeats,
            mean: self.mean,
            seed: self.seed,
            parameter,
        })
    }
}

/// What an ensemble attaches to a parameter, the parameter itself being the shared weight.
///
/// A kernel `[o, i, ..]` is read as the matrix `[i * positions, o]`, a matrix as it is. In a transposed convolution
/// `o` are the channels that come in.
#[derive(Module, Debug)]
pub struct Factors {
    /// `[components, fan_in / repeats, rank]`
    pub left: Param<Tensor<3>>,
    /// `[components, rank, fan_out]`
    pub right: Param<Tensor<3>>,
    repeats: usize,
    #[module(skip)]
    mean: EnsembleMean,
    seed: u64,
    parameter: u32,
}

impl Factors {
    /// Number of the parameter in its network.
    pub(crate) fn parameter(&self) -> u32 {
        self.parameter
    }

    /// Number of networks.
    pub fn components(&self) -> usize {
        self.right.lazy_shape()[0]
    }

    /// `[components, fan_in, rank]`
    pub(crate) fn full_left(&self) -> Tensor<3> {
        repeated(self.left.val(), self.repeats)
    }

    /// The component that all rows see where they cannot be told apart. The mean is none: callers ask for it.
    pub(crate) fn shared_component(&self, pass: &Pass) -> u32 {
        let number = match pass.draw {
            Draw::Mean => 0,
            Draw::One(draw) | Draw::Several { first: draw, .. } => draw,
            Draw::Step { step, .. } => step,
        };
        number % self.components() as u32
    }

    /// The component of each of `rows` rows.
    pub(crate) fn index(&self, pass: &Pass, rows: usize) -> Vec<u32> {
        let components = self.components() as u32;
        match pass.draw {
            Draw::Mean
            | Draw::One(_)
            | Draw::Step {
                estimator: Estimator::Vanilla,
                ..
            } => vec![self.shared_component(pass); rows],
            Draw::Several { first, count } => {
                let each = rows / count as usize;
                let draw = |row: usize| first.wrapping_add((row / each) as u32);
                (0..rows).map(|row| draw(row) % components).collect()
            }
            Draw::Step { pairs, .. } => {
                // Without the parameter in the key: a row sees one network, not one per layer.
                let key = pass.key(self.seed, u32::MAX);
                let bits = |row: usize| key.bits(row as u32, 0)[0];
                let mut index: Vec<u32> = (0..rows).map(|row| bits(row) % components).collect();
                if components > 1 {
                    // The second copy of an image sees any of the components but that of the first.
                    let pairs = pairs as usize;
                    for row in rows.saturating_sub(pairs).max(pairs)..rows {
                        let other = bits(row) % (components - 1);
                        index[row] = other + u32::from(other >= index[row - pairs]);
                    }
                }
                index
            }
        }
    }

    /// The mean weight, or that of a component, in the shape of the parameter.
    pub(crate) fn weight<const D: usize>(
        &self,
        shared: Tensor<D>,
        component: Option<u32>,
    ) -> Tensor<D> {
        if component.is_none() && self.mean == EnsembleMean::SharedWeight {
            return shared;
        }
        let (shape, device) = (shared.dims(), shared.device());
        let [fan_in, fan_out] = [self.full_left().dims()[1], self.right.lazy_shape()[2]];
        let (left, right) = (self.full_left(), self.right.val());
        let sample = match component {
            None => mean_factor(left, right).map(|factor| {
                let factor = if D == 2 { factor } else { factor.transpose() };
                shared * factor.reshape(shape)
            }),
            Some(component) if D == 2 => {
                let shared = shared.reshape([fan_in, fan_out]);
                let sample = sample_low_rank::<2, 3>(shared, left, right, &[component]);
                sample.map(|weight| weight.reshape(shape))
            }
            Some(component) => {
                let shared = shared.reshape([fan_out, fan_in, 1, 1]);
                let sample = sample_low_rank::<4, 5>(shared, left, right, &[component]);
                sample.map(|weight| weight.reshape(shape))
            }
        };
        pass::or_zeros(sample, shape, &device)
    }
}

/// Mean of the components' factors `[components, fan_in, rank]` and `[components, rank, fan_out]`: `[fan_in, fan_out]`.
fn mean_factor(left: Tensor<3>, right: Tensor<3>) -> Result<Tensor<2>, OpError> {
    let [components, fan_in, rank] = left.dims();
    let fan_out = right.dims()[2];
    let left = left.swap_dims(0, 1).reshape([fan_in, components * rank]);
    let right = right.reshape([components * rank, fan_out]);
    Ok(product(left, right)?.div_scalar(components as f64))
}

/// Left factors with every row repeated.
pub(in crate::posterior) fn repeated(left: Tensor<3>, repeats: usize) -> Tensor<3> {
    if repeats == 1 {
        return left;
    }
    let [components, rows, rank] = left.dims();
    left.reshape([components, rows, 1, rank])
        .repeat_dim(2, repeats)
        .reshape([components, rows * repeats, rank])
}

impl Reparameterization for Factors {
    const NAME: &'static str = "low_rank";

    /// One weight for all rows, whatever the pass asks for: a layer that knows of posteriors does not
    /// come here.
    fn apply<const D: usize>(&self, shared: Tensor<D>) -> Tensor<D> {
        let component = match pass::active() {
            None => None,
            Some(pass) if pass.draw == Draw::Mean => None,
            Some(pass) => {
                pass::record(self.parameter, Estimator::Vanilla);
                Some(self.shared_component(&pass))
            }
        };
        self.weight(shared, component)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_file_that_does_not_say_is_that_of_its_components() {
        let mut stored = serde_json::to_value(LowRankEnsemble::fine_tune(10)).unwrap();
        stored.as_object_mut().unwrap().remove("mean");
        let old: LowRankEnsemble = serde_json::from_value(stored).unwrap();
        assert_eq!(old.mean, EnsembleMean::Average);
        let device = Device::flex();
        let shared = Tensor::<2>::from_floats([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], &device);
        for (ensemble, is_average) in [(old, true), (LowRankEnsemble::fine_tune(10), false)] {
            let factors = ensemble.attach(0, &[2, 3], &device).unwrap();
            let values = |weight: Tensor<2>| weight.into_data().try_to_vec::<f32>().unwrap();
            let mean = values(factors.weight(shared.clone(), None));
            let draws = (0..20).map(|draw| values(factors.weight(shared.clone(), Some(draw))));
            let mut average = vec![0.0; 6];
            for draw in draws {
                for (sum, value) in average.iter_mut().zip(draw) {
                    *sum += value / 20.0;
                }
            }
            let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
            assert_eq!(close(&mean, &average), is_average);
            assert_eq!(
                mean == values(shared.clone()),
                !is_average,
                "to the last bit"
            );
        }
    }

    #[test]
    fn two_copies_of_an_image_see_different_components() {
        const IMAGES: usize = 3;
        const PAIRS: usize = 8;
        const ROWS: usize = IMAGES + 2 * PAIRS;
        const STEPS: u32 = 2_000;
        for components in [1, 2, 3, 7] {
            let ensemble = LowRankEnsemble::fine_tune(10).with_components(components);
            let factors = ensemble.attach(0, &[2, 3], &Device::flex()).unwrap();
            let mut counts = vec![0u32; components * components];
            for step in 0..STEPS {
                let pass = Pass::train(Estimator::Exemplar, step);
                let plain = factors.index(&pass, ROWS);
                let index = factors.index(&pass.with_pairs(PAIRS as u32), ROWS);
                assert_eq!(index[..IMAGES + PAIRS], plain[..IMAGES + PAIRS]);
                let (first, second) = index[IMAGES..].split_at(PAIRS);
                for (&first, &second) in first.iter().zip(second) {
                    counts[first as usize * components + second as usize] += 1;
                }
            }
            if components == 1 {
                assert_eq!(counts, [STEPS * PAIRS as u32]);
                continue;
            }
            let different = (components * (components - 1)) as f64;
            let expected = f64::from(STEPS) * PAIRS as f64 / different;
            for (at, &count) in counts.iter().enumerate() {
                let (first, second) = (at / components, at % components);
                // Five standard deviations.
                let fits = match first == second {
                    true => count == 0,
                    false => (f64::from(count) - expected).abs() < 5.0 * expected.sqrt(),
                };
                assert!(fits, "{count} times {first} and {second} of {components}");
            }
        }
    }

    #[test]
    fn pairs_that_do_not_fit_into_the_rows_change_no_first_copy() {
        let ensemble = LowRankEnsemble::fine_tune(10).with_components(4);
        let factors = ensemble.attach(0, &[2, 3], &Device::flex()).unwrap();
        let pass = Pass::train(Estimator::Exemplar, 1);
        let plain = factors.index(&pass, 6);
        for pairs in [4, 6, 9] {
            let index = factors.index(&pass.with_pairs(pairs), 6);
            let first = (pairs as usize).min(6);
            assert_eq!(index[..first], plain[..first]);
        }
    }
}
