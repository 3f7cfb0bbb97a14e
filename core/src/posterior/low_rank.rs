//! Low-rank ensemble posterior (parameter-sharing ensemble): settings, initialisation, factors. Component `c` has the
//! weight `W * (l[c] r[c])`, element by element, and the posterior mean is `W`.

mod factors;
mod init;

pub use factors::Factors;
pub(super) use factors::repeated;

use super::{ConvertError, Prior, Select};
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
