//! Parameter-sharing ensembles: component `c` has the weight `W * (l[c] r[c])`, element by element, and the posterior
//! mean is `W`.

use super::{ConvertError, Prior, Select, product::product};
use crate::{
    ops::{NoiseKey, OpError, fill_normals, sample_low_rank},
    pass::{self, Draw, Estimator, Pass},
};
use burn::{
    module::{Module, Param, Reparameterization},
    tensor::{Device, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};

/// How the left factors of a convolution are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LowRankForm {
    /// A factor for every input channel and kernel position, as in the paper.
    #[default]
    Patches,
    /// A factor for every input channel: fewer parameters.
    Channels,
}

/// What the mean network of an ensemble is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnsembleMean {
    /// The shared weight alone: at the start the pre-trained network to the last bit, whatever the factors are.
    #[default]
    SharedWeight,
    /// The mean over the components, as posterior files of format version 1 have it.
    Average,
}

impl EnsembleMean {
    /// That of a file which does not say.
    fn of_version_1() -> Self {
        Self::Average
    }
}

/// An ensemble of `components` networks that share all weights up to factors of rank `rank`.
///
/// Every entry of both factors starts as an independent normal with mean `sqrt(1 / rank)`, in every rank, so that an
/// element of their product has mean 1 and standard deviation [`initial_std`](Self::initial_std). Biases and
/// normalisation parameters are shared as they are.
///
/// ```
/// use bayesadapter::posterior::LowRankEnsemble;
///
/// let posterior = LowRankEnsemble::fine_tune(50_000).with_components(10);
/// assert_eq!((posterior.components, posterior.rank), (10, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LowRankEnsemble {
    /// The prior, and with it the number of training examples. Its mean is zero.
    pub prior: Prior,
    /// Number of networks.
    pub components: usize,
    /// Rank of the factors.
    pub rank: usize,
    /// Layout of the left factors.
    pub form: LowRankForm,
    /// Standard deviation of an element of the product of the factors at the start: how far the components are from
    /// the shared weight, as a fraction of it.
    pub initial_std: f32,
    /// What the mean network is.
    #[serde(default = "EnsembleMean::of_version_1")]
    pub mean: EnsembleMean,
    /// Which parameters get a posterior.
    pub select: Select,
    /// Random seed of all noise.
    pub seed: u64,
}

impl LowRankEnsemble {
    /// The paper's settings for fine-tuning on `examples` training examples: 20 components of rank 1 with an initial
    /// standard deviation of 0.2, and `lambda = 1e-4`.
    pub fn fine_tune(examples: usize) -> Self {
        Self {
            prior: Prior::new(examples, 1e-4),
            components: 20,
            rank: 1,
            form: LowRankForm::Patches,
            initial_std: 0.2,
            mean: EnsembleMean::SharedWeight,
            select: Select::All,
            seed: 0,
        }
    }

    /// With the weight decay of the pre-training.
    pub fn with_lambda(mut self, lambda: f64) -> Self {
        self.prior.lambda = lambda;
        self
    }

    /// With another number of networks.
    pub fn with_components(mut self, components: usize) -> Self {
        self.components = components;
        self
    }

    /// With factors of another rank.
    pub fn with_rank(mut self, rank: usize) -> Self {
        self.rank = rank;
        self
    }

    /// With components that start closer to the shared weight, or further from it.
    pub fn with_initial_std(mut self, initial_std: f32) -> Self {
        self.initial_std = initial_std;
        self
    }

    /// With another layout of the left factors.
    pub fn with_form(mut self, form: LowRankForm) -> Self {
        self.form = form;
        self
    }

    /// With a posterior on some of the parameters only.
    pub fn with_select(mut self, select: Select) -> Self {
        self.select = select;
        self
    }

    /// With other noise.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    pub(super) fn checked(&self) -> Result<(), ConvertError> {
        let wrong = |what, value: String, need| Err(ConvertError::Setting { what, value, need });
        if self.components == 0 {
            return wrong("components", "0".to_owned(), "at least 1");
        }
        if self.rank == 0 {
            return wrong("rank", "0".to_owned(), "at least 1");
        }
        let factors = self.components.checked_mul(self.rank);
        if factors.is_none_or(|factors| u32::try_from(factors).is_err()) {
            let value = format!("{} x {}", self.components, self.rank);
            let need = "below 4,294,967,296, up to which noise counts them";
            return wrong("components x rank", value, need);
        }
        if !(0.0..=1.0).contains(&self.initial_std) {
            let value = self.initial_std.to_string();
            return wrong("initial_std", value, "between 0 and 1, such as 0.2");
        }
        if self.rank > 1 && self.initial_std == 0.0 {
            let need =
                "positive with a rank above 1, such as 0.2: ranks that start alike stay alike";
            return wrong("initial_std", "0".to_owned(), need);
        }
        if self.prior.mean != super::PriorMean::Zero {
            return wrong(
                "the mean of the prior",
                "the pre-trained weights".to_owned(),
                "zero for an ensemble; use `MeanField` for a prior at the pre-trained weights",
            );
        }
        self.prior.checked()
    }

    /// How a parameter of this shape is read as a matrix; vectors are not.
    pub(super) fn layout(&self, shape: &[usize]) -> Option<Layout> {
        let (fan_in, fan_out, positions) = match *shape {
            [inputs, outputs] => (inputs, outputs, 1),
            [outputs, inputs, ref kernel @ ..] if !kernel.is_empty() => {
                let positions = kernel.iter().product();
                (inputs * positions, outputs, positions)
            }
            _ => return None,
        };
        let repeats = match self.form {
            LowRankForm::Patches => 1,
            LowRankForm::Channels => positions,
        };
        Some(Layout {
            fan_in,
            fan_out,
            repeats,
        })
    }

    /// The state of parameter number `parameter` of the given shape, or nothing for a vector.
    pub(super) fn attach(
        &self,
        parameter: u32,
        shape: &[usize],
        device: &Device,
    ) -> Option<Factors> {
        let layout = self.layout(shape)?;
        let (rows, columns) = (layout.left_rows(), layout.fan_out);
        let left = self.initial_factors(parameter, 0, rows);
        let right = self.initial_factors(parameter, 1, columns);
        let left = TensorData::new(left, [self.components, rows, self.rank]);
        let right = TensorData::new(
            transposed(&right, columns, self.rank),
            [self.components, self.rank, columns],
        );
        Some(Factors {
            left: Param::from_tensor(Tensor::from_data(left, device)),
            right: Param::from_tensor(Tensor::from_data(right, device)),
            repeats: layout.repeats,
            mean: self.mean,
            seed: self.seed,
            parameter,
        })
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

/// A parameter read as a matrix.
pub(super) struct Layout {
    fan_in: usize,
    pub fan_out: usize,
    /// How often each left factor stands in a patch.
    repeats: usize,
}

impl Layout {
    /// Rows of the left factors.
    pub fn left_rows(&self) -> usize {
        self.fan_in / self.repeats
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
            Draw::Step { .. } => {
                // Without the parameter in the key: a row sees one network, not one per layer.
                let key = pass.key(self.seed, u32::MAX);
                let of_row = |row: usize| key.bits(row as u32, 0)[0] % components;
                (0..rows).map(of_row).collect()
            }
        }
    }

    /// The mean weight, or component `index`, in the shape of the parameter.
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
pub(super) fn repeated(left: Tensor<3>, repeats: usize) -> Tensor<3> {
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
