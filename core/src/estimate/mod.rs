//! Memory and time of a training step before it is made, and what to do if it does not fit.
//!
//! Memory is counted: parameters from the network, activations from one example that goes through it, whose
//! layers tell what they keep. Time is measured, on small batches of noise, and extends to the batch in a
//! straight line; the network and its running statistics stay as they are. OOD images beside a mini-batch count as two
//! examples each.
//!
//! Layers of [`nn`](crate::nn) tell what they keep; others do not, and are named by
//! [`Advice::Uncounted`]. Against the measured peak of whole steps on the CPU the sum is right within a factor
//! of 1.2 for residual networks and of 1.5 for the other families of [`models`](crate::models): leave room.
//! Devices that neither the CPU kernels nor the WGSL ones serve make a weight for every example, which is not
//! counted.

mod advice;
mod budget;
mod error;
mod host;
mod memory;
mod ood;
mod time;

pub use advice::Advice;
pub use error::EstimateError;
pub(crate) use host::available as available_memory;
pub use memory::Memory;
pub use ood::OodBatch;
pub use time::Time;

use crate::{ops::Hardware, pass::Estimator, posterior::Bayes, predict::Classifier};
use advice::{Situation, exemplar_is_cheaper, mebibytes};
use budget::Budget;
use burn::{
    module::{Module, ModuleDisplay},
    tensor::Device,
};
use memory::Footprint;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A training step that is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainingPlan<const D: usize> {
    /// Shape of a mini-batch, `[examples, ..]`.
    pub batch: [usize; D],
    /// How the expected log-likelihood is estimated.
    pub estimator: Estimator,
    /// OOD images beside each mini-batch.
    pub ood_batch: OodBatch,
    /// Bytes that training may take, the network included. By default what the host has left, within the bounds
    /// of a container or service, for the CPU and for adapters that are one, on Linux; other systems and GPUs do not
    /// tell.
    pub memory_bytes: Option<u64>,
}

impl<const D: usize> TrainingPlan<D> {
    /// A plan for the memory that there is, without OOD images.
    pub fn new(batch: [usize; D], estimator: Estimator) -> Self {
        Self {
            batch,
            estimator,
            ood_batch: OodBatch::None,
            memory_bytes: None,
        }
    }

    /// With OOD images beside each mini-batch.
    pub fn with_ood_batch(self, ood_batch: OodBatch) -> Self {
        Self { ood_batch, ..self }
    }

    /// With so many bytes instead.
    pub fn with_memory_bytes(self, bytes: u64) -> Self {
        Self {
            memory_bytes: Some(bytes),
            ..self
        }
    }
}

/// What a training step takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Examples of a step.
    pub batch: usize,
    /// OOD images beside them, each of which is there twice.
    #[serde(default)]
    pub ood_batch: usize,
    /// The estimator.
    pub estimator: Estimator,
    /// Bytes of a step.
    pub memory: Memory,
    /// Bytes that there are, if that is known.
    pub memory_limit: Option<u64>,
    /// Bytes of the largest map.
    pub largest_tensor: u64,
    /// Bytes that one tensor may take, if the device bounds it.
    pub tensor_limit: Option<u64>,
    /// Seconds; none if a single example would not fit.
    pub time: Option<Time>,
    /// What to do; empty if all is well, or if nobody tells how much memory there is: see [`fits`](Self::fits).
    pub advice: Vec<Advice>,
}

impl Estimate {
    /// Whether the step fits into memory; `None` if nobody tells how much there is.
    pub fn fits(&self) -> Option<bool> {
        let budget = Budget {
            bytes: self.memory_limit,
            tensor: self.tensor_limit,
        };
        budget.fits(self.memory.total(), self.largest_tensor)
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            memory, estimator, ..
        } = self;
        let ood = match self.ood_batch {
            0 => String::new(),
            images => format!(" with {images} OOD images"),
        };
        writeln!(
            f,
            "{estimator} estimator, batch of {}{ood}: {} (parameters {}, gradients {}, optimiser {}, activations {}, \
             workspace {})",
            self.batch,
            mebibytes(memory.total()),
            mebibytes(memory.parameters),
            mebibytes(memory.gradients),
            mebibytes(memory.optimizer),
            mebibytes(memory.activations),
            mebibytes(memory.workspace),
        )?;
        match self.memory_limit {
            Some(limit) => writeln!(f, "there are {}", mebibytes(limit))?,
            None => writeln!(f, "how much memory there is, is not known")?,
        }
        if let Some(time) = &self.time {
            writeln!(
                f,
                "{:.3} s per step, {:.0} s per epoch",
                time.seconds_per_step, time.seconds_per_epoch
            )?;
        }
        for advice in &self.advice {
            writeln!(f, "{advice}")?;
        }
        Ok(())
    }
}

impl<M: Module> Bayes<M> {
    /// What a training step as planned would take on the device where the network is. Makes a few small
    /// steps on a copy of it.
    ///
    /// ```
    /// use bayesadapter::estimate::{Advice, TrainingPlan};
    /// use bayesadapter::{models::Architecture, pass::Estimator, posterior::{IntoBayes, MeanField}};
    /// use burn::tensor::Device;
    ///
    /// let network = "digits-cnn".parse::<Architecture>()?.init(&Device::flex())?;
    /// let bayes = network.into_bayes(MeanField::fine_tune(1_797))?;
    /// let plan = TrainingPlan::new([64, 1, 8, 8], Estimator::Exemplar);
    /// let estimate = bayes.estimate(&plan)?;
    /// println!("{estimate}");
    ///
    /// let all = estimate.memory.total();
    /// let tight = bayes.estimate(&plan.with_memory_bytes(all - 1))?;
    /// assert_eq!(tight.fits(), Some(false));
    /// assert_eq!(tight.advice[0], Advice::SmallerBatch { batch: 32 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An empty batch, a shape that the network does not take, an estimator that the posterior does not
    /// have, and a device that fails.
    #[cfg(not(target_family = "wasm"))]
    pub fn estimate<const D: usize>(
        &self,
        plan: &TrainingPlan<D>,
    ) -> Result<Estimate, EstimateError>
    where
        M: Classifier<D> + ModuleDisplay,
    {
        pollster::block_on(self.estimate_async(plan))
    }

    /// As `estimate`, for places that must not block: a browser's page.
    ///
    /// # Errors
    ///
    /// As `estimate`.
    pub async fn estimate_async<const D: usize>(
        &self,
        plan: &TrainingPlan<D>,
    ) -> Result<Estimate, EstimateError>
    where
        M: Classifier<D> + ModuleDisplay,
    {
        self.estimate_giving_way(plan, async || {}).await
    }

    /// As [`estimate_async`](Self::estimate_async), for places where others wait for the thread too: `give_way` is
    /// awaited after every step that is measured.
    ///
    /// # Errors
    ///
    /// As `estimate`.
    pub async fn estimate_giving_way<const D: usize>(
        &self,
        plan: &TrainingPlan<D>,
        give_way: impl AsyncFn(),
    ) -> Result<Estimate, EstimateError>
    where
        M: Classifier<D> + ModuleDisplay,
    {
        if plan.batch.contains(&0) {
            return Err(EstimateError::EmptyBatch(plan.batch.to_vec()));
        }
        let (batch, device) = (plan.batch[0], self.device());
        let hardware = Hardware::of(&device);
        let footprint = Footprint::of(self, plan, plan.estimator, &device)?;
        let exemplar = match exemplar_is_cheaper(plan.estimator) {
            true => Some(Footprint::of(self, plan, Estimator::Exemplar, &device)?),
            false => None,
        };
        let situation = Situation {
            footprint: &footprint,
            exemplar,
            posterior: self.posterior(),
            budget: Budget::new(plan.memory_bytes, hardware, footprint.parameters),
            batch,
            ood_batch: plan.ood_batch,
        };
        let mut advice = situation.advice();
        if hardware.software_adapter {
            advice.push(Advice::Cpu);
        }
        if !footprint.uncounted.is_empty() {
            let weights = footprint.uncounted.clone();
            advice.push(Advice::Uncounted { weights });
        }
        let fits = situation.fits(&footprint, batch) != Some(false);
        let time = match if fits {
            Some(batch)
        } else {
            situation.smaller_batch()
        } {
            Some(most) => {
                let device = device.autodiff();
                Some(Time::measure(self, plan, most, &device, give_way).await?)
            }
            None => None,
        };
        Ok(Estimate {
            batch,
            ood_batch: plan.ood_batch.images(batch),
            estimator: plan.estimator,
            memory: situation.memory(&footprint, batch),
            memory_limit: situation.budget.bytes,
            largest_tensor: situation.largest(&footprint, batch),
            tensor_limit: situation.budget.tensor,
            time,
            advice,
        })
    }

    fn device(&self) -> Device {
        let mut devices = self.network().devices();
        match devices.len() {
            0 => Device::flex(),
            _ => devices.swap_remove(0),
        }
    }
}
