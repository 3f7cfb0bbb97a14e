//! Mean-field Gaussian posteriors: `w = mu + exp(psi) * eps`.

use super::{ConvertError, Prior, PriorMean, Select};
use crate::{
    ops::{DrawAxis, NoiseKey, sample_gaussian},
    pass::{self, Draw, Estimator, Pass},
};
use burn::{
    module::{Module, Param, Reparameterization},
    tensor::{Device, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};

/// How large the standard deviations of a Gaussian are at the start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialStd {
    /// This fraction of the root mean square of the parameter's values, which is what counts: noise that one layer
    /// does not notice destroys another with smaller weights.
    Relative(f32),
    /// Logarithms drawn uniformly from this range, the same for all layers, as in the paper.
    LogUniform([f32; 2]),
}

/// Least standard deviation of a [relative](InitialStd::Relative) start: parameters that are zero have no scale of
/// their own.
const LEAST_STD: f32 = 1e-4;

/// An independent Gaussian for every weight, its mean starting at the pre-trained value.
///
/// ```
/// use bayesadapter::posterior::{MeanField, Select};
///
/// let posterior = MeanField::fine_tune(50_000).with_lambda(2e-4).with_select(Select::LastLayer);
/// assert!((posterior.prior.variance() - 0.1).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanField {
    /// The prior, and with it the number of training examples.
    pub prior: Prior,
    /// The standard deviations at the start.
    #[serde(flatten, with = "stored")]
    pub initial_std: InitialStd,
    /// Which parameters get a posterior.
    pub select: Select,
    /// Random seed of all noise.
    pub seed: u64,
}

impl MeanField {
    /// Settings for fine-tuning on `examples` training examples, with `lambda = 1e-4` and standard deviations that
    /// start at a fifth of the weights of their layer.
    pub fn fine_tune(examples: usize) -> Self {
        Self {
            prior: Prior::new(examples, 1e-4),
            initial_std: InitialStd::Relative(0.2),
            select: Select::All,
            seed: 0,
        }
    }

    /// With the weight decay of the pre-training.
    pub fn with_lambda(mut self, lambda: f64) -> Self {
        self.prior.lambda = lambda;
        self
    }

    /// With other standard deviations at the start.
    pub fn with_initial_std(mut self, initial_std: InitialStd) -> Self {
        self.initial_std = initial_std;
        self
    }

    /// With the prior centred at the pre-trained weights (MOPED).
    pub fn with_pretrained_prior(mut self) -> Self {
        self.prior.mean = PriorMean::Pretrained;
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
        let (what, value, need) = match self.initial_std {
            InitialStd::Relative(fraction) => {
                if fraction > 0.0 && fraction <= 10.0 {
                    return self.prior.checked();
                }
                let need = "above 0 and at most 10, such as 0.2";
                ("initial_std", fraction.to_string(), need)
            }
            InitialStd::LogUniform([low, high]) => {
                if low.is_finite() && high.is_finite() && low <= high {
                    return self.prior.checked();
                }
                let need = "a range of finite numbers, such as [-6, -5]";
                ("initial_log_std", format!("[{low}, {high}]"), need)
            }
        };
        Err(ConvertError::Setting { what, value, need })
    }

    /// The state of parameter number `parameter`, whose value is `mean`.
    pub(super) fn attach<const D: usize>(&self, parameter: u32, mean: Tensor<D>) -> LogStd {
        let device = mean.device();
        let elements = mean.shape().num_elements();
        let psi = match self.initial_std {
            InitialStd::Relative(fraction) => relative_psi(mean.clone(), fraction),
            InitialStd::LogUniform(range) => self.uniform_psi(range, parameter, elements, &device),
        };
        let prior_mean = match self.prior.mean {
            PriorMean::Zero => None,
            PriorMean::Pretrained => {
                let mean = mean.reshape([elements]).detach();
                Some(Param::from_tensor(mean).set_require_grad(false))
            }
        };
        LogStd {
            psi: Param::from_tensor(psi),
            prior_mean,
            seed: self.seed,
            parameter,
        }
    }

    fn uniform_psi(
        &self,
        [low, high]: [f32; 2],
        parameter: u32,
        elements: usize,
        device: &Device,
    ) -> Tensor<1> {
        const INITIAL: u64 = 0x1b87_3593_cc9e_2d51;
        let key = NoiseKey {
            seed: self.seed ^ INITIAL,
            parameter,
            ..Default::default()
        };
        let psi: Vec<f32> = (0..elements as u32)
            .map(|element| low + (high - low) * key.uniform(0, element))
            .collect();
        Tensor::from_data(TensorData::new(psi, [elements]), device)
    }
}

/// `ln(fraction * rms)` of the values for each of them, made on their device.
fn relative_psi<const D: usize>(mean: Tensor<D>, fraction: f32) -> Tensor<1> {
    let elements = mean.shape().num_elements();
    let mean = mean.detach().reshape([elements]);
    let rms = (mean.clone() * mean).mean().sqrt();
    let psi = rms.mul_scalar(fraction).clamp_min(LEAST_STD).log();
    psi.repeat_dim(0, elements).detach()
}

/// The start in a posterior file: `initial_log_std` as version 1 of the format has it, or `initial_std`.
mod stored {
    use super::InitialStd;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    struct Stored {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        initial_std: Option<f32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        initial_log_std: Option<[f32; 2]>,
    }

    pub fn serialize<S: Serializer>(start: &InitialStd, to: S) -> Result<S::Ok, S::Error> {
        let (initial_std, initial_log_std) = match *start {
            InitialStd::Relative(fraction) => (Some(fraction), None),
            InitialStd::LogUniform(range) => (None, Some(range)),
        };
        let stored = Stored {
            initial_std,
            initial_log_std,
        };
        stored.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<InitialStd, D::Error> {
        let stored = Stored::deserialize(from)?;
        match (stored.initial_std, stored.initial_log_std) {
            (Some(fraction), None) => Ok(InitialStd::Relative(fraction)),
            (None, Some(range)) => Ok(InitialStd::LogUniform(range)),
            _ => Err(D::Error::custom(
                "one of initial_std and initial_log_std is needed",
            )),
        }
    }
}

/// What a mean-field posterior attaches to a parameter, the parameter itself being the mean.
#[derive(Module, Debug)]
pub struct LogStd {
    /// Logarithms of the standard deviations, `[elements]`.
    pub psi: Param<Tensor<1>>,
    /// Mean of the prior where that is not zero, `[elements]`. Never trained.
    pub prior_mean: Option<Param<Tensor<1>>>,
    seed: u64,
    parameter: u32,
}

impl LogStd {
    /// Number of the parameter in its network, which names its noise.
    pub(crate) fn parameter(&self) -> u32 {
        self.parameter
    }

    /// `psi` in the shape of the parameter.
    pub(crate) fn psi_like<const D: usize>(&self, mean: &Tensor<D>) -> Tensor<D> {
        self.psi.val().reshape(mean.shape())
    }

    /// The noise of this parameter in a pass.
    pub(crate) fn key(&self, pass: &Pass) -> NoiseKey {
        pass.key(self.seed, self.parameter)
    }

    /// `count` weights, one per row of the first axis, flat: `[count, elements]`.
    pub(crate) fn samples<const D: usize>(
        &self,
        pass: &Pass,
        mean: Tensor<D>,
        axis: DrawAxis,
        count: usize,
    ) -> Tensor<2> {
        let (elements, device) = (mean.shape().num_elements(), mean.device());
        let mean = mean.reshape([elements]);
        let samples = sample_gaussian(mean, self.psi.val(), self.key(pass), axis, count);
        pass::or_zeros(samples, [count, elements], &device)
    }
}

impl Reparameterization for LogStd {
    const NAME: &'static str = "mean_field";

    /// One weight for all rows, whatever the pass asks for: a layer that knows of posteriors does not
    /// come here.
    fn apply<const D: usize>(&self, mean: Tensor<D>) -> Tensor<D> {
        let Some(pass) = pass::active() else {
            return mean;
        };
        if pass.draw == Draw::Mean {
            return mean;
        }
        pass::record(self.parameter, Estimator::Vanilla);
        let shape = mean.shape();
        let one = pass.with_first_example(0);
        self.samples(&one, mean, DrawAxis::Draw, 1).reshape(shape)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    fn psi(posterior: &MeanField, values: [f32; 4]) -> Vec<f32> {
        let mean = Tensor::<1>::from_floats(values, &Device::flex());
        let state = posterior.attach(0, mean);
        state.psi.val().into_data().try_to_vec().unwrap()
    }

    #[test]
    fn a_relative_start_is_a_fraction_of_the_root_mean_square() {
        let posterior = MeanField::fine_tune(10).with_initial_std(InitialStd::Relative(0.5));
        // The mean square of these is 30 / 4.
        let expected = (0.5 * 7.5f32.sqrt()).ln();
        for psi in psi(&posterior, [1.0, -2.0, 3.0, -4.0]) {
            assert!((psi - expected).abs() < 1e-6, "{psi} and {expected}");
        }
        // Zeros have no scale of their own.
        for psi in psi(&posterior, [0.0; 4]) {
            assert!((psi - LEAST_STD.ln()).abs() < 1e-5, "{psi}");
        }
    }

    #[test]
    fn both_starts_come_back_from_a_file() {
        let uniform = InitialStd::LogUniform([-6.0, -5.0]);
        for start in [InitialStd::Relative(0.17), uniform] {
            let posterior = MeanField::fine_tune(10).with_initial_std(start);
            let text = serde_json::to_string(&posterior).unwrap();
            let again: MeanField = serde_json::from_str(&text).unwrap();
            assert_eq!(again, posterior, "{text}");
        }
        let mut stored = serde_json::to_value(MeanField::fine_tune(10)).unwrap();
        let stored = stored.as_object_mut().unwrap();
        stored.remove("initial_std");
        stored.insert(
            "initial_log_std".to_owned(),
            serde_json::json!([-6.0, -5.0]),
        );
        let old: MeanField = serde_json::from_value(stored.clone().into()).unwrap();
        assert_eq!(
            old.initial_std, uniform,
            "as version 1 of the format has it"
        );
    }
}
