//! The flags of training.

use super::set;
use crate::cli::choices::EstimatorFlag;
use bayesadapter::{
    session::TrainingSettings,
    train::{RunningStatistics, Schedule},
};
use clap::Args;

/// How the network learns.
#[derive(Args, Clone, Default)]
pub struct TrainingFlags {
    /// Passes over the data [default: 12, or as many as make 400 steps of few images].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub epochs: Option<u32>,
    /// Images in a mini-batch [default: 128, or 32 for fewer than 4,096 training images]; fewer take less memory.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub batch: Option<usize>,
    /// Mini-batches per step [default: 1]; more for a large batch in little memory.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub accumulate: Option<usize>,
    /// The weight decay of the pre-training, which is the prior: keep its value [default: 1e-4].
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        help_heading = "Training"
    )]
    pub lambda: Option<f64>,
    /// How the likelihood is estimated [default: exemplar, whose gradients are the calmest].
    #[arg(long, value_enum, help_heading = "Training")]
    pub estimator: Option<EstimatorFlag>,
    /// Learning rate of the pre-trained weights [default: 1e-2; pretrain: 0.1].
    #[arg(
        long,
        alias = "mean-rate",
        value_name = "X",
        allow_negative_numbers = true,
        help_heading = "Training"
    )]
    pub lr: Option<f64>,
    /// Schedule of --lr: constant, step:0.2 (times 0.2 at each quarter), step:0.2@0.3,0.6,0.8, cosine, or cosine:0.1
    /// (down to a tenth) [default: cosine; pretrain: step:0.2@0.3,0.6,0.8].
    #[arg(long, value_name = "SCHEDULE", help_heading = "Training")]
    pub schedule: Option<Schedule>,
    /// Learning rate of what the posterior adds: factors, or logarithms of standard deviations [default: 1e-3,
    /// or 1e-5 for MFG by the natural gradient].
    #[arg(
        long,
        alias = "spread-rate",
        value_name = "X",
        allow_negative_numbers = true,
        help_heading = "Training"
    )]
    pub variational_lr: Option<f64>,
    /// Schedule of --variational-lr [default: cosine:0.1].
    #[arg(long, value_name = "SCHEDULE", help_heading = "Training")]
    pub variational_schedule: Option<Schedule>,
    /// Share of all steps in which the learning rates rise to their first values [default: 0].
    #[arg(long, value_name = "SHARE", help_heading = "Training")]
    pub warmup: Option<f64>,
    /// Momentum [default: 0.9].
    #[arg(long, value_name = "X", help_heading = "Training")]
    pub momentum: Option<f64>,
    /// Whether momentum has Nesterov's form [default: true].
    #[arg(long, value_name = "BOOL", help_heading = "Training")]
    pub nesterov: Option<bool>,
    /// Whether an MFG's standard deviations follow the natural gradient, which moves them within a few epochs; the
    /// plain gradient, as in the paper, hardly does [default: true].
    #[arg(long, value_name = "BOOL", help_heading = "Training")]
    pub natural_gradient: Option<bool>,
    /// Weight of the uncertainty regulariser on --ood-train images [default: 3].
    #[arg(long, value_name = "X", help_heading = "Training")]
    pub ood_alpha: Option<f64>,
    /// Mutual information, in nats, up to which the regulariser raises that of --ood-train images [default: 0.75].
    #[arg(long, value_name = "X", help_heading = "Training")]
    pub ood_gamma: Option<f64>,
    /// --ood-train images beside each mini-batch; each goes through the network twice [default: a quarter of --batch].
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub ood_batch: Option<usize>,
    /// Bound on the norm of the gradients [default: none]; 1 tames a run that diverges.
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        help_heading = "Training"
    )]
    pub clip_norm: Option<f64>,
    /// Leave running statistics of batch norm as they are [default: update them, as the paper does].
    #[arg(long, help_heading = "Training")]
    pub freeze_statistics: bool,
    /// Steps between saved states, so that little is lost when a run is killed [default: 100]; one is saved after each
    /// epoch too.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub checkpoint_steps: Option<usize>,
}

impl TrainingFlags {
    /// Puts what is given into the settings.
    pub fn apply(&self, settings: &mut TrainingSettings) {
        set(&mut settings.epochs, &self.epochs);
        set(&mut settings.batch, &self.batch);
        set(&mut settings.accumulate, &self.accumulate);
        set(&mut settings.lambda, &self.lambda);
        set(&mut settings.estimator, &self.estimator.map(Into::into));
        set(&mut settings.clip_norm, &self.clip_norm.map(Some));
        set(&mut settings.checkpoint_steps, &self.checkpoint_steps);
        set(&mut settings.ood_batch, &self.ood_batch.map(Some));
        if self.freeze_statistics {
            settings.running_statistics = RunningStatistics::Freeze;
        }
        let regularisation = &mut settings.regularisation;
        set(&mut regularisation.alpha, &self.ood_alpha);
        set(&mut regularisation.gamma, &self.ood_gamma);
        let rates = &mut settings.rates;
        set(&mut rates.lr, &self.lr);
        set(&mut rates.schedule, &self.schedule);
        set(&mut rates.variational_lr, &self.variational_lr.map(Some));
        set(&mut rates.variational_schedule, &self.variational_schedule);
        set(&mut rates.warmup, &self.warmup);
        set(&mut rates.momentum, &self.momentum);
        set(&mut rates.nesterov, &self.nesterov);
        set(&mut rates.natural_gradient, &self.natural_gradient);
    }
}
