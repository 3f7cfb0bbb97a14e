//! Parameter-sharing ensembles: component `c` has the weight `W * (l[c] r[c])`, element by element.

use super::{ConvertError, Prior, Select, product::product};
use crate::{
    ops::{NoiseKey, OpError, sample_low_rank},
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

/// An ensemble of `components` networks that share all weights up to factors of rank `rank`.
///
/// Biases and normalisation parameters are shared as they are.
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
    /// Standard deviation of the initial factors about those whose product is one. They are rounded to small powers
    /// of two, and with a rank above 1 must not all become zero.
    pub initial_std: f32,
    /// Which parameters get a posterior.
    pub select: Select,
    /// Start of all noise.
    pub seed: u64,
}

impl LowRankEnsemble {
    /// The paper's settings for fine-tuning on `examples` training examples: 20 components of rank 1,
    /// with `lambda = 1e-4`.
    pub fn fine_tune(examples: usize) -> Self {
        Self {
            prior: Prior::new(examples, 1e-4),
            components: 20,
            rank: 1,
            form: LowRankForm::Patches,
            initial_std: 0.05,
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
            return wrong("initial_std", value, "between 0 and 1, such as 0.05");
        }
        if self.rank > 1 && self.initial_std < self.quantum() {
            let value = self.initial_std.to_string();
            let need =
                "larger with a rank above 1, such as 0.05: factors that start at zero never learn";
            return wrong("initial_std", value, need);
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
            seed: self.seed,
            parameter,
        })
    }

    /// Factors `[components, len, rank]` about 1 in the first rank and about 0 in the others.
    ///
    /// The deviations of four successive components are `(a, b)`, `(a, -b)`, `(-a, b)`, `(-a, -b)`, of
    /// two left over `(a, 0)`, `(-a, 0)`, and of one left over nothing in the first rank and `(a, 0)` in
    /// the others, in multiples of a small power of two. The products then average to exactly one, so that the mean of the ensemble is the
    /// pre-trained network to the last bit.
    fn initial_factors(&self, parameter: u32, side: u32, len: usize) -> Vec<f32> {
        const INITIAL: u64 = 0x9e3d_a5b1_27d4_eb2f;
        let quantum = self.quantum();
        let mut factors = Vec::with_capacity(self.components * len * self.rank);
        for component in 0..self.components {
            let group = component / 4;
            let key = NoiseKey {
                seed: self.seed ^ INITIAL,
                draw: side,
                parameter,
                first_example: group as u32,
            };
            let sign = sign(component % 4, self.components - 4 * group, side);
            for element in 0..len * self.rank {
                let normal = key.normal(0, element as u32).clamp(-4.0, 4.0);
                let deviation = (normal * self.initial_std / quantum).round() * quantum;
                factors.push(match element % self.rank {
                    0 => 1.0 + sign * deviation,
                    // Where both sides were zero, no gradient would ever reach either.
                    _ if sign == 0.0 && side == 0 => deviation,
                    _ => sign * deviation,
                });
            }
        }
        factors
    }

    /// What initial deviations are multiples of.
    fn quantum(&self) -> f32 {
        // Products have twice these bits behind the point; with those of a sum over the components
        // they must fit the 24 bits of a float.
        let bits = ((23 - self.components.ilog2().min(11)) / 2).min(9);
        0.5f32.powi(bits as i32)
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

/// Sign of the deviation of the `place`-th of up to four components, on the left (0) or right (1) side.
fn sign(place: usize, left_over: usize, side: u32) -> f32 {
    let signs = match (left_over, side) {
        (0..=1, _) => [0.0; 4],
        (2..=3, 0) => [1.0, -1.0, 0.0, 0.0],
        (2..=3, _) => [0.0; 4],
        (_, 0) => [1.0, 1.0, -1.0, -1.0],
        (_, _) => [1.0, -1.0, 1.0, -1.0],
    };
    signs[place]
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
mod tests {
    use super::*;

    /// A rank whose two factors are both zero has no gradient, and would stay so.
    #[test]
    fn every_rank_of_every_component_can_learn() {
        for components in 1..=9 {
            let ensemble = LowRankEnsemble::fine_tune(10)
                .with_components(components)
                .with_rank(3);
            let [left, right] = [0, 1].map(|side| ensemble.initial_factors(0, side, 8));
            for component in 0..components {
                for rank in 0..3 {
                    let any = |side: &[f32]| {
                        let of_rank = side[component * 24..][..24].iter().skip(rank).step_by(3);
                        of_rank.copied().any(|factor| factor != 0.0)
                    };
                    assert!(
                        any(&left) || any(&right),
                        "{component} of {components}, {rank}"
                    );
                }
            }
        }
    }
}
