//! Learning rates and momentum.

use super::{Schedule, schedule::first_step};
use crate::posterior::{Bayes, Posterior};
use burn::{
    lr_scheduler::{LrScheduler, LrSchedulerRecord, module_lr_scheduler::ModuleLrScheduler},
    module::Module,
    optim::{ModuleOptimizer, SgdConfig, momentum::MomentumConfig},
};
use serde::{Deserialize, Serialize};

/// Stochastic gradient descent with momentum, and a learning rate with a schedule for each of two groups: the weights
/// that were there before (means, shared weights, point weights), and what a posterior adds to them (logarithms of
/// standard deviations, factors).
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
#[serde(from = "Stored")]
pub struct FineTuning {
    /// First learning rate of means, shared weights and point weights.
    pub lr: f64,
    /// How `lr` changes.
    pub schedule: Schedule,
    /// First learning rate of what a posterior adds: logarithms of standard deviations, and factors. Without it, what
    /// suits the posterior: 1e-3, or 1e-5 for standard deviations that follow the natural gradient.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variational_lr: Option<f64>,
    /// How `variational_lr` changes.
    pub variational_schedule: Schedule,
    /// Share of all steps in which both learning rates rise linearly to their first value; the schedules begin after
    /// it.
    pub warmup: f64,
    /// Momentum of the gradients.
    pub momentum: f64,
    /// Nesterov's form of momentum.
    pub nesterov: bool,
    /// Whether the logarithms of standard deviations follow the natural gradient, their gradient times `n / 2`, rather
    /// than the gradient.
    ///
    /// The gradient of the entropy is `-1 / n` whatever the weight, so that the plain gradient hardly moves them in a
    /// few epochs. Divided by their Fisher information it becomes the step that variational online Newton methods
    /// make of the precision, in its logarithm.
    pub natural_gradient: bool,
}

impl Default for FineTuning {
    fn default() -> Self {
        Self {
            lr: 1e-2,
            schedule: Schedule::cosine(),
            variational_lr: None,
            variational_schedule: Schedule::Cosine { end: 0.1 },
            warmup: 0.0,
            momentum: 0.9,
            nesterov: true,
            natural_gradient: true,
        }
    }
}

/// The settings in a run file: what is not given has its default. Those of version 0.1 are read as well.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Stored {
    lr: f64,
    schedule: Schedule,
    variational_lr: Option<f64>,
    variational_schedule: Schedule,
    warmup: f64,
    momentum: f64,
    nesterov: bool,
    natural_gradient: bool,
    mean_rate: Option<f64>,
    mean_drop: Option<f64>,
    spread_rate: Option<f64>,
    spread_drop: Option<f64>,
}

impl Default for Stored {
    fn default() -> Self {
        let FineTuning {
            lr,
            schedule,
            variational_lr,
            variational_schedule,
            warmup,
            momentum,
            nesterov,
            natural_gradient,
        } = FineTuning::default();
        Self {
            lr,
            schedule,
            variational_lr,
            variational_schedule,
            warmup,
            momentum,
            nesterov,
            natural_gradient,
            mean_rate: None,
            mean_drop: None,
            spread_rate: None,
            spread_drop: None,
        }
    }
}

impl From<Stored> for FineTuning {
    fn from(stored: Stored) -> Self {
        let old = [
            stored.mean_rate,
            stored.mean_drop,
            stored.spread_rate,
            stored.spread_drop,
        ];
        if old.iter().any(Option::is_some) {
            return Self::of_version_0_1(old, stored.momentum);
        }
        Self {
            lr: stored.lr,
            schedule: stored.schedule,
            variational_lr: stored.variational_lr,
            variational_schedule: stored.variational_schedule,
            warmup: stored.warmup,
            momentum: stored.momentum,
            nesterov: stored.nesterov,
            natural_gradient: stored.natural_gradient,
        }
    }
}

impl FineTuning {
    /// Learning rates and what they are multiplied with at each quarter, for means and spreads, with the defaults that
    /// they had.
    fn of_version_0_1(
        [mean_rate, mean_drop, spread_rate, spread_drop]: [Option<f64>; 4],
        momentum: f64,
    ) -> Self {
        let by_quarters = |drop: f64| match drop {
            1.0 => Schedule::Constant,
            drop => Schedule::step(drop),
        };
        Self {
            lr: mean_rate.unwrap_or(8e-4),
            schedule: by_quarters(mean_drop.unwrap_or(1.0)),
            variational_lr: Some(spread_rate.unwrap_or(0.1)),
            variational_schedule: by_quarters(spread_drop.unwrap_or(0.2)),
            warmup: 0.0,
            momentum,
            nesterov: true,
            natural_gradient: false,
        }
    }
}

/// The learning rates of one step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Of means, shared weights and point weights.
    #[serde(alias = "mean")]
    pub lr: f64,
    /// Of logarithms of standard deviations, and factors.
    #[serde(alias = "spread")]
    pub variational_lr: f64,
}

/// Settings out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the learning rates cannot be used: {0}")]
pub struct RateError(String);

impl RateError {
    pub(super) fn new(problem: String) -> Self {
        Self(problem)
    }
}

impl FineTuning {
    /// The paper's settings for fine-tuning: pre-trained weights at a constant 1e-4, the rest from 1e-3 by a cosine to
    /// 1e-4, by the plain gradient.
    pub fn paper() -> Self {
        Self {
            lr: 1e-4,
            schedule: Schedule::Constant,
            variational_lr: Some(1e-3),
            natural_gradient: false,
            ..Self::default()
        }
    }

    /// The paper's settings for training from random weights on CIFAR-10: from 0.1, times 0.2 after 60, 120 and 160 of
    /// 200 epochs.
    pub fn from_scratch() -> Self {
        Self {
            lr: 0.1,
            schedule: Schedule::Step {
                gamma: 0.2,
                milestones: vec![0.3, 0.6, 0.8],
            },
            ..Self::default()
        }
    }

    /// The optimiser. It has no weight decay: that is the complexity loss.
    pub fn optimizer(&self) -> ModuleOptimizer {
        let momentum = MomentumConfig::new()
            .with_momentum(self.momentum)
            .with_dampening(0.0)
            .with_nesterov(self.nesterov);
        SgdConfig::new().with_momentum(Some(momentum)).init()
    }

    /// The learning rates of `steps` steps for Burn's optimisers, for the two groups apart.
    ///
    /// # Errors
    ///
    /// Settings out of range.
    pub fn rates<M: Module>(
        &self,
        bayes: &Bayes<M>,
        steps: usize,
    ) -> Result<ModuleLrScheduler, RateError> {
        self.checked()?;
        let scheduler = |variational| Scheduler {
            settings: self.clone(),
            posterior: bayes.posterior().clone(),
            variational,
            scale: match variational {
                true => self.variational_scale(bayes.posterior()),
                false => 1.0,
            },
            step: 0,
            steps,
        };
        Ok(ModuleLrScheduler::new(scheduler(false))
            .with_group(bayes.inventory().spreads(), scheduler(true)))
    }

    /// The first learning rate of what `posterior` adds.
    pub fn variational_lr_of(&self, posterior: &Posterior) -> f64 {
        self.variational_lr.unwrap_or(match posterior {
            Posterior::MeanField(_) if self.natural_gradient => 1e-5,
            _ => 1e-3,
        })
    }

    /// What the gradients of what `posterior` adds are multiplied with, beside their learning rate.
    pub(super) fn variational_scale(&self, posterior: &Posterior) -> f64 {
        match posterior {
            Posterior::MeanField(posterior) if self.natural_gradient => {
                posterior.prior.examples as f64 / 2.0
            }
            _ => 1.0,
        }
    }

    /// The learning rates of step `step` out of `steps` for a network with this posterior.
    pub fn rates_at(&self, posterior: &Posterior, step: usize, steps: usize) -> Rates {
        let (lr, variational_lr) = (self.lr, self.variational_lr_of(posterior));
        let rising = first_step(self.warmup, steps);
        if step < rising {
            let share = (step + 1) as f64 / rising as f64;
            return Rates {
                lr: lr * share,
                variational_lr: variational_lr * share,
            };
        }
        let (step, steps) = (step - rising, steps - rising);
        Rates {
            lr: self.schedule.lr_at(lr, step, steps),
            variational_lr: self.variational_schedule.lr_at(variational_lr, step, steps),
        }
    }

    /// # Errors
    ///
    /// Learning rates that are not positive, schedules that lead nowhere, a warm-up as long as the run, and a momentum
    /// that never fades.
    pub fn checked(&self) -> Result<(), RateError> {
        let variational_lr = self.variational_lr.map(|lr| ("variational_lr", lr));
        for (what, value) in [Some(("lr", self.lr)), variational_lr]
            .into_iter()
            .flatten()
        {
            if !(value.is_finite() && value > 0.0) {
                return Err(RateError(format!(
                    "{what} is {value}, and must be positive"
                )));
            }
        }
        self.schedule.checked()?;
        self.variational_schedule.checked()?;
        for (what, value) in [("momentum", self.momentum), ("warmup", self.warmup)] {
            if !(0.0..1.0).contains(&value) {
                return Err(RateError(format!(
                    "{what} is {value}, and must be at least 0 and below 1"
                )));
            }
        }
        Ok(())
    }
}

/// The learning rate of one group, step by step.
#[derive(Clone)]
struct Scheduler {
    settings: FineTuning,
    posterior: Posterior,
    variational: bool,
    scale: f64,
    step: usize,
    steps: usize,
}

impl LrScheduler for Scheduler {
    fn step(&mut self) -> f64 {
        let last = self.steps.saturating_sub(1);
        let step = self.step.min(last);
        let rates = self.settings.rates_at(&self.posterior, step, self.steps);
        self.step += 1;
        self.scale
            * match self.variational {
                true => rates.variational_lr,
                false => rates.lr,
            }
    }

    fn to_record(&self) -> LrSchedulerRecord {
        LrSchedulerRecord::new().with_scalar(STEP, self.step as u64)
    }

    fn load_record(&mut self, record: LrSchedulerRecord) {
        if let Some(step) = record.scalar::<u64>(STEP) {
            self.step = step as usize;
        }
    }
}

/// Key of the number of steps in a record.
const STEP: &str = "step";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;
    use crate::posterior::{LowRankEnsemble, MeanField};

    #[test]
    fn learning_rates_rise_and_then_follow_their_schedules() {
        let settings = FineTuning {
            lr: 0.8,
            schedule: Schedule::step(0.5),
            variational_lr: Some(0.4),
            variational_schedule: Schedule::Cosine { end: 0.5 },
            warmup: 0.2,
            ..FineTuning::default()
        };
        let posterior = LowRankEnsemble::fine_tune(10).into();
        let rates: Vec<Rates> = (0..10)
            .map(|step| settings.rates_at(&posterior, step, 10))
            .collect();
        let lr: Vec<f64> = rates.iter().map(|rates| rates.lr).collect();
        assert_eq!(lr, [0.4, 0.8, 0.8, 0.8, 0.4, 0.4, 0.2, 0.2, 0.1, 0.1]);
        assert_eq!(rates[1].variational_lr, 0.4);
        // Half of the eight steps after the warm-up: the middle between the first value and its half.
        assert!((rates[6].variational_lr - 0.3).abs() < 1e-15);
    }

    #[test]
    fn gaussians_follow_the_natural_gradient_and_ensembles_do_not() {
        let settings = FineTuning::default();
        let gaussian: Posterior = MeanField::fine_tune(500).into();
        let ensemble: Posterior = LowRankEnsemble::fine_tune(500).into();
        assert_eq!(settings.variational_scale(&gaussian), 250.0);
        assert_eq!(settings.variational_scale(&ensemble), 1.0);
        assert_eq!(FineTuning::paper().variational_scale(&gaussian), 1.0);
        assert_eq!(settings.variational_lr_of(&gaussian), 1e-5);
        assert_eq!(settings.variational_lr_of(&ensemble), 1e-3);
    }

    #[test]
    fn run_files_of_version_0_1_keep_their_meaning() {
        let old = "mean_rate = 8e-4\nmean_drop = 1.0\nspread_rate = 0.1\nspread_drop = 0.2\nmomentum = 0.9";
        let settings: FineTuning = toml::from_str(old).unwrap();
        assert_eq!(
            (settings.lr, &settings.schedule),
            (8e-4, &Schedule::Constant)
        );
        assert_eq!(settings.variational_lr, Some(0.1));
        assert_eq!(settings.variational_schedule, Schedule::step(0.2));
        assert!(settings.nesterov && !settings.natural_gradient);
        let text = toml::to_string(&settings).unwrap();
        assert_eq!(toml::from_str::<FineTuning>(&text).unwrap(), settings);
        assert!(toml::from_str::<FineTuning>("learning = 1").is_err());
        // Written by hand: what is left out is what it was.
        let part: FineTuning = toml::from_str("spread_rate = 1.0").unwrap();
        assert_eq!((part.lr, part.variational_lr), (8e-4, Some(1.0)));
        assert!(!part.natural_gradient);
    }
}
