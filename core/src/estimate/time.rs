//! Seconds of a training step, measured on small batches.

use super::{EstimateError, TrainingPlan};
use crate::{
    clock::Stopwatch,
    ops::{NoiseKey, fill_normals},
    pass::Pass,
    posterior::Bayes,
    predict::Classifier,
    train::FineTuning,
};
use burn::{
    module::{Module, ModuleDisplay},
    nn::loss::CrossEntropyLossConfig,
    optim::{GradientsParams, ModuleOptimizer},
    tensor::{Device, Int, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};

/// A step that takes so long tells enough of larger ones.
const ENOUGH_SECONDS: f64 = 0.2;

/// Each probe is so many times larger than the one before.
const GROWTH: usize = 4;

/// How long training takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    /// Forward pass, backward pass, complexity gradient and optimiser.
    pub seconds_per_step: f64,
    /// As many steps as the posterior's number of training examples needs. Loading of data is not in it.
    pub seconds_per_epoch: f64,
    /// What was measured: rows of a step, which are its examples and OOD images twice, and its seconds.
    pub measured: Vec<(usize, f64)>,
}

impl Time {
    /// Trains a copy of the network on noise, with batches of up to `most` examples and the OOD images beside them,
    /// whose rows cost as much as any other. On the device's first step of a size kernels are compiled, so every size
    /// runs twice.
    pub(super) async fn measure<const D: usize, M: Classifier<D> + ModuleDisplay>(
        bayes: &Bayes<M>,
        plan: &TrainingPlan<D>,
        most: usize,
        device: &Device,
        give_way: impl AsyncFn(),
    ) -> Result<Self, EstimateError> {
        let mut probe = Probe {
            // A clone would share its running statistics with the network.
            bayes: bayes.valid().train(),
            optimizer: FineTuning::default().optimizer(),
            plan,
            device,
        };
        let most = plan.ood_batch.rows(most);
        let mut measured = Vec::new();
        let mut rows = most.min(2);
        loop {
            let first = probe.step(rows).await?;
            give_way().await;
            let seconds = first.min(probe.step(rows).await?);
            give_way().await;
            measured.push((rows, seconds));
            if rows >= most || seconds > ENOUGH_SECONDS {
                break;
            }
            rows = rows.saturating_mul(GROWTH).min(most);
        }
        let batch = plan.batch[0];
        let seconds_per_step = extrapolated(&measured, plan.ood_batch.rows(batch));
        let steps = bayes.posterior().prior().examples.div_ceil(batch);
        Ok(Self {
            seconds_per_step,
            seconds_per_epoch: seconds_per_step * steps as f64,
            measured,
        })
    }
}

/// A line through the two largest measurements; through the origin if there is one only.
fn extrapolated(measured: &[(usize, f64)], rows: usize) -> f64 {
    let (before, last) = match measured {
        [] => return 0.0,
        [one] => ((0, 0.0), *one),
        [.., before, last] => (*before, *last),
    };
    let more = rows as f64 - last.0 as f64;
    let slope = (last.1 - before.1) / (last.0 - before.0) as f64;
    // Noise of the clock must not make larger batches cheaper.
    last.1 + slope.max(0.0) * more
}

struct Probe<'a, const D: usize, M: Module> {
    bayes: Bayes<M>,
    optimizer: ModuleOptimizer,
    plan: &'a TrainingPlan<D>,
    device: &'a Device,
}

impl<const D: usize, M: Classifier<D> + ModuleDisplay> Probe<'_, D, M> {
    /// Seconds of one step with so many rows.
    async fn step(&mut self, rows: usize) -> Result<f64, EstimateError> {
        let mut shape = self.plan.batch;
        shape[0] = rows;
        let mut values = vec![0.0; shape.iter().product()];
        fill_normals(&NoiseKey::default(), 0, 0, &mut values);
        let x = Tensor::<D>::from_data(TensorData::new(values, shape), self.device);
        let labels = Tensor::<1, Int>::zeros([rows], self.device);
        let clock = Stopwatch::start();
        let pass = Pass::train(self.plan.estimator, 0);
        let logits = self.bayes.run(pass, |network| network.logits(x))?;
        let loss = CrossEntropyLossConfig::new().init(self.device);
        let loss = loss.forward(logits, labels);
        let gradients = GradientsParams::from_grads(loss.backward(), &self.bayes);
        let gradients = self.bayes.with_complexity(gradients)?;
        let rate = FineTuning::default().lr;
        self.bayes = self.optimizer.step(rate, self.bayes.clone(), gradients);
        self.finished().await?;
        Ok(clock.seconds())
    }

    /// Waits for the device. It works in order, so that it has done all when it can tell a value that the
    /// optimiser made.
    async fn finished(&self) -> Result<(), EstimateError> {
        let inventory = self.bayes.inventory();
        let mut trained = inventory
            .entries
            .into_iter()
            .rev()
            .filter(|entry| entry.trained);
        let Some(last) = trained.next() else {
            return Ok(());
        };
        let value = last.value.slice(0..1).into_data_async().await;
        let failed = |error: &dyn std::fmt::Display| EstimateError::Device(error.to_string());
        value.map(drop).map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::extrapolated;

    #[test]
    fn steps_grow_on_a_line() {
        // .1 + .01 per example.
        let seconds = extrapolated(&[(2, 9.0), (8, 0.18), (32, 0.42)], 128);
        assert!((seconds - 1.38).abs() < 1e-12);
        let smaller = extrapolated(&[(8, 0.18), (32, 0.42)], 32);
        assert!((smaller - 0.42).abs() < 1e-12);
        assert_eq!(extrapolated(&[(2, 0.5)], 8), 2.0);
        assert_eq!(extrapolated(&[(2, 0.5), (8, 0.4)], 80), 0.4);
    }
}
