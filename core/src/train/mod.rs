//! What fine-tuning needs beside a forward pass: an optimiser and its rates.

use crate::posterior::Bayes;
use burn::{
    lr_scheduler::{
        LrSchedulerConfig,
        module_lr_scheduler::{ModuleLrScheduler, ModuleLrSchedulerConfig},
        step::StepLrSchedulerConfig,
    },
    module::Module,
    optim::{ModuleOptimizer, SgdConfig, momentum::MomentumConfig},
};
use serde::{Deserialize, Serialize};

/// Stochastic gradient descent with Nesterov momentum, as the paper's authors fine-tune.
///
/// ```
/// use bayesadapter::{nn::LinearConfig, posterior::{IntoBayes, MeanField}, train::FineTuning};
/// use burn::tensor::Device;
///
/// let bayes = LinearConfig::new(3, 2).init(&Device::flex()).into_bayes(MeanField::fine_tune(100))?;
/// let settings = FineTuning::default();
/// let (mut optimizer, mut rates) = (settings.optimizer(), settings.rates(&bayes, 400)?);
/// let rate = rates.step();
/// // .. backward pass, `bayes.with_complexity(gradients)?`, `optimizer.step(rate, bayes, gradients)`
/// # let _ = (&mut optimizer, rate);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FineTuning {
    /// Learning rate of means, shared weights and point weights, which are pre-trained: small, and the
    /// same throughout.
    pub mean_rate: f64,
    /// First learning rate of what is new: standard deviations and factors.
    pub spread_rate: f64,
    /// What `spread_rate` is multiplied with at a quarter, a half and three quarters of the steps.
    pub spread_drop: f64,
    /// Momentum of the gradients.
    pub momentum: f64,
}

impl Default for FineTuning {
    /// The paper's settings.
    fn default() -> Self {
        Self {
            mean_rate: 8e-4,
            spread_rate: 0.1,
            spread_drop: 0.2,
            momentum: 0.9,
        }
    }
}

/// Settings out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the learning rates cannot be used: {0}")]
pub struct RateError(String);

impl FineTuning {
    /// The optimiser. It has no weight decay: that is the complexity loss.
    pub fn optimizer(&self) -> ModuleOptimizer {
        let momentum = MomentumConfig::new()
            .with_momentum(self.momentum)
            .with_dampening(0.0)
            .with_nesterov(true);
        SgdConfig::new().with_momentum(Some(momentum)).init()
    }

    /// The learning rates of `steps` steps, for means and spreads apart.
    ///
    /// # Errors
    ///
    /// Rates that are not positive numbers.
    pub fn rates<M: Module>(
        &self,
        bayes: &Bayes<M>,
        steps: usize,
    ) -> Result<ModuleLrScheduler, RateError> {
        for (what, value) in [
            ("mean_rate", self.mean_rate),
            ("spread_rate", self.spread_rate),
            ("spread_drop", self.spread_drop),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(RateError(format!(
                    "{what} is {value}, and must be positive"
                )));
            }
        }
        let quarter = steps.div_ceil(4).max(1);
        let spreads =
            StepLrSchedulerConfig::new(self.spread_rate, quarter).with_gamma(self.spread_drop);
        ModuleLrSchedulerConfig::new(LrSchedulerConfig::Constant(self.mean_rate))
            .with_group(bayes.inventory().spreads(), spreads)
            .init()
            .map_err(RateError)
    }
}
