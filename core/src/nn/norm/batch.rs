//! Batch normalisation.

use super::super::PerExample;
use crate::{
    estimators::{Rows, each_row},
    ops::{AfterNorm, OpError, batch_norm, batch_norm_train, normalises_in_one_op},
    pass::{self, Mode},
};
use burn::{
    config::Config,
    module::{Flag, Module, Param, RunningState},
    tensor::{Device, Tensor},
};

/// Configuration of a [`BatchNorm`] layer, with the fields of Burn's.
#[derive(Config, Debug)]
pub struct BatchNormConfig {
    /// Number of channels.
    pub num_features: usize,
    /// Added to the variance.
    #[config(default = 1e-5)]
    pub epsilon: f64,
    /// Weight of a batch in the running statistics.
    #[config(default = 0.1)]
    pub momentum: f64,
}

/// Normalises by the statistics of the batch in passes of [`Mode::Train`], which also update the running
/// ones, and by the running statistics in other passes; outside of a pass as Burn's layer does.
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// Scale, `[channels]`.
    pub gamma: Param<Tensor<1>>,
    /// Shift, `[channels]`.
    pub beta: Param<Tensor<1>>,
    /// Cleared by `freeze`: the layer then uses and keeps its running statistics.
    pub training: Param<Flag>,
    /// `[channels]`
    pub running_mean: RunningState<Tensor<1>>,
    /// `[channels]`
    pub running_var: RunningState<Tensor<1>>,
    /// Weight of a batch in the running statistics.
    pub momentum: f64,
    /// Added to the variance.
    pub epsilon: f64,
    /// Tells these layers from Burn's.
    pub per_example: PerExample,
}

impl BatchNormConfig {
    /// A new layer.
    ///
    /// # Panics
    ///
    /// As Burn's, if a number is out of range.
    pub fn init(&self, device: &Device) -> BatchNorm {
        let layer = burn::nn::BatchNormConfig::new(self.num_features)
            .with_epsilon(self.epsilon)
            .with_momentum(self.momentum)
            .init(device);
        BatchNorm {
            gamma: layer.gamma,
            beta: layer.beta,
            training: layer.training,
            running_mean: layer.running_mean,
            running_var: layer.running_var,
            momentum: layer.momentum,
            epsilon: layer.epsilon,
            per_example: PerExample,
        }
    }
}

impl BatchNorm {
    /// `[batch, channels, ..]`, keeping the shape.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        self.then(input, None, false)
    }

    /// `relu(self.forward(input))`, in one pass over memory where the device can.
    pub fn forward_relu<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        self.then(input, None, true)
    }

    /// `relu(self.forward(input) + shortcut)`, in one pass over memory where the device can.
    pub fn forward_add_relu<const D: usize>(
        &self,
        input: Tensor<D>,
        shortcut: Tensor<D>,
    ) -> Tensor<D> {
        self.then(input, Some(shortcut), true)
    }

    fn then<const D: usize>(
        &self,
        input: Tensor<D>,
        added: Option<Tensor<D>>,
        relu: bool,
    ) -> Tensor<D> {
        // Statistics of stand-ins would be kept.
        if pass::has_failed() {
            return input;
        }
        let (shape, device) = (input.dims(), input.device());
        let rows = shape[0];
        let rows_of = (each_row(&self.gamma, rows), each_row(&self.beta, rows));
        let own_scale = !matches!(rows_of, (Rows::Shared(_), Rows::Shared(_)));
        let (scale, shift) = match rows_of {
            (Rows::Shared(scale), Rows::Shared(shift)) => (scale.unsqueeze(), shift.unsqueeze()),
            (scale, shift) => (scale.each(rows), shift.each(rows)),
        };
        let maps = maps_kept(&device, relu, own_scale);
        pass::record_norm(rows * shape[1], maps);
        let after = AfterNorm {
            scale,
            shift,
            added,
            relu,
        };
        let normalised = match self.by_batch(&input) {
            true => self.by_its_statistics(input, after),
            false => {
                // `value` may lack the last training step.
                let mean = self.running_mean.value_sync().to_device(&device);
                let variance = self.running_var.value_sync().to_device(&device);
                batch_norm(input, after, mean, variance, self.epsilon)
            }
        };
        pass::or_zeros(normalised, shape, &device)
    }

    fn by_batch<const D: usize>(&self, input: &Tensor<D>) -> bool {
        self.training.is_enabled()
            && match pass::active() {
                Some(pass) => pass.mode == Mode::Train,
                None => input.device().is_autodiff(),
            }
    }

    fn by_its_statistics<const D: usize>(
        &self,
        input: Tensor<D>,
        after: AfterNorm<D>,
    ) -> Result<Tensor<D>, OpError> {
        let values = input.shape().num_elements() / input.dims()[1].max(1);
        let batch = batch_norm_train(input, after, self.epsilon)?;
        self.update(&self.running_mean, batch.mean);
        self.update(
            &self.running_var,
            batch.variance.mul_scalar(unbiased(values)),
        );
        Ok(batch.y)
    }

    fn update(&self, running: &RunningState<Tensor<1>>, of_batch: Tensor<1>) {
        let old = running.value_sync().to_device(&of_batch.device());
        let new = of_batch.detach().mul_scalar(self.momentum);
        running.update((old.mul_scalar(1.0 - self.momentum) + new).detach());
    }
}

/// What makes the variance of so many values an unbiased estimate, as PyTorch keeps it. Of a single value there is none.
fn unbiased(values: usize) -> f64 {
    match values {
        0 | 1 => 1.0,
        values => values as f64 / (values - 1) as f64,
    }
}

/// Maps that the tape keeps of a normalisation, beside its input and what the next layer keeps. In one op, only a
/// result that an activation function outside of it looks at; in several, also what was there before a scale per row.
fn maps_kept(device: &Device, relu: bool, own_scale: bool) -> usize {
    match (normalises_in_one_op(device), own_scale) {
        (true, _) => usize::from(!relu),
        (false, own_scale) => 1 + usize::from(own_scale),
    }
}
