//! Batch normalisation.

use super::{Affine, scaled};
use crate::pass::{self, Mode};
use burn::{
    config::Config,
    module::{Flag, Module, Param, RunningState},
    tensor::{
        Device, Tensor,
        module::{batch_norm, batch_norm_train},
    },
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
        }
    }
}

impl BatchNorm {
    /// `[batch, channels, ..]`, keeping the shape.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let by_batch = self.training.is_enabled()
            && match pass::active() {
                Some(pass) => pass.mode == Mode::Train,
                None => input.device().is_autodiff(),
            };
        match Affine::of(&self.gamma, Some(&self.beta), input.dims()[0]) {
            Affine::Shared(scale, shift) => {
                let shift = shift.unwrap_or_else(|| scale.zeros_like());
                self.normalised(input, scale, shift, by_batch)
            }
            Affine::Each(scale, shift) => {
                let device = input.device();
                let channels = [input.dims()[1]];
                let (ones, zeros) = (
                    Tensor::ones(channels, &device),
                    Tensor::zeros(channels, &device),
                );
                scaled(
                    self.normalised(input, ones, zeros, by_batch),
                    scale,
                    shift,
                    1,
                )
            }
        }
    }

    fn normalised<const D: usize>(
        &self,
        input: Tensor<D>,
        scale: Tensor<1>,
        shift: Tensor<1>,
        by_batch: bool,
    ) -> Tensor<D> {
        let device = input.device();
        if !by_batch {
            let mean = self.running_mean.value().to_device(&device);
            let variance = self.running_var.value().to_device(&device);
            return batch_norm(input, scale, shift, mean, variance, self.epsilon);
        }
        let batch = batch_norm_train(input, scale, shift, self.epsilon);
        self.update(&self.running_mean, batch.mean);
        self.update(&self.running_var, batch.variance);
        batch.output
    }

    fn update(&self, running: &RunningState<Tensor<1>>, of_batch: Tensor<1>) {
        let old = running.value_sync().to_device(&of_batch.device());
        let new = of_batch.detach().mul_scalar(self.momentum);
        running.update((old.mul_scalar(1.0 - self.momentum) + new).detach());
    }
}
