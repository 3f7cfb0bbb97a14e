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
    /// Range of the uniform distribution from which the logarithms of the standard deviations start.
    pub initial_log_std: [f32; 2],
    /// Which parameters get a posterior.
    pub select: Select,
    /// Start of all noise.
    pub seed: u64,
}

impl MeanField {
    /// The paper's settings for fine-tuning on `examples` training examples, with `lambda = 1e-4`.
    pub fn fine_tune(examples: usize) -> Self {
        Self {
            prior: Prior::new(examples, 1e-4),
            initial_log_std: [-6.0, -5.0],
            select: Select::All,
            seed: 0,
        }
    }

    /// With the weight decay of the pre-training.
    pub fn with_lambda(mut self, lambda: f64) -> Self {
        self.prior.lambda = lambda;
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
        let [low, high] = self.initial_log_std;
        if low.is_finite() && high.is_finite() && low <= high {
            return self.prior.checked();
        }
        Err(ConvertError::Setting {
            what: "initial_log_std",
            value: format!("[{low}, {high}]"),
            need: "a range of finite numbers, such as [-6, -5]",
        })
    }

    /// The state of parameter number `parameter`, whose value is `mean`.
    pub(super) fn attach<const D: usize>(&self, parameter: u32, mean: Tensor<D>) -> LogStd {
        let device = mean.device();
        let elements = mean.shape().num_elements();
        let psi = self.initial_psi(parameter, elements, &device);
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

    fn initial_psi(&self, parameter: u32, elements: usize, device: &Device) -> Tensor<1> {
        const INITIAL: u64 = 0x1b87_3593_cc9e_2d51;
        let key = NoiseKey {
            seed: self.seed ^ INITIAL,
            parameter,
            ..Default::default()
        };
        let [low, high] = self.initial_log_std;
        let psi: Vec<f32> = (0..elements as u32)
            .map(|element| low + (high - low) * key.uniform(0, element))
            .collect();
        Tensor::from_data(TensorData::new(psi, [elements]), device)
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
