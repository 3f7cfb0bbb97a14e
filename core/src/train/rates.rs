//! Learning rates and momentum.

use crate::posterior::Bayes;
use burn::{
    lr_scheduler::{
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
#[serde(default, deny_unknown_fields)]
pub struct FineTuning {
    /// First learning rate of means, shared weights and point weights. When they are pre-trained: small, and
    /// the same throughout.
    pub mean_rate: f64,
    /// What `mean_rate` is multiplied with at a quarter, a half and three quarters of the steps.
    pub mean_drop: f64,
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
            mean_drop: 1.0,
            spread_rate: 0.1,
            spread_drop: 0.2,
            momentum: 0.9,
        }
    }
}

/// The learning rates of one step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Of means, shared weights and point weights.
    pub mean: f64,
    /// Of standard deviations and factors.
    pub spread: f64,
}

/// Settings out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the learning rates cannot be used: {0}")]
pub struct RateError(String);

impl FineTuning {
    /// Settings for training from random weights: all rates start high and fall.
    pub fn from_scratch() -> Self {
        Self {
            mean_rate: 0.1,
            mean_drop: 0.2,
            ..Self::default()
        }
    }

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
        self.checked()?;
        let falling = |rate: f64, drop: f64| {
            StepLrSchedulerConfig::new(rate, quarter(steps)).with_gamma(drop)
        };
        let means = falling(self.mean_rate, self.mean_drop);
        let spreads = falling(self.spread_rate, self.spread_drop);
        ModuleLrSchedulerConfig::new(means.into())
            .with_group(bayes.inventory().spreads(), spreads)
            .init()
            .map_err(RateError)
    }

    /// The learning rates of step `step` out of `steps`.
    pub fn rates_at(&self, step: usize, steps: usize) -> Rates {
        let quarters = (step / quarter(steps)) as i32;
        Rates {
            mean: self.mean_rate * self.mean_drop.powi(quarters),
            spread: self.spread_rate * self.spread_drop.powi(quarters),
        }
    }

    /// # Errors
    ///
    /// Rates that are not positive numbers, and a momentum that never fades.
    pub fn checked(&self) -> Result<(), RateError> {
        for (what, value) in [
            ("mean_rate", self.mean_rate),
            ("mean_drop", self.mean_drop),
            ("spread_rate", self.spread_rate),
            ("spread_drop", self.spread_drop),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return Err(RateError(format!(
                    "{what} is {value}, and must be positive"
                )));
            }
        }
        if !(0.0..1.0).contains(&self.momentum) {
            return Err(RateError(format!(
                "momentum is {}, and must be at least 0 and below 1",
                self.momentum
            )));
        }
        Ok(())
    }
}

fn quarter(steps: usize) -> usize {
    steps.div_ceil(4).max(1)
}
