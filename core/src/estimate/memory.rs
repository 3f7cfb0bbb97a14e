//! Bytes of a training step, counted from the parameters and from what layers tell of themselves.

use super::{EstimateError, TrainingPlan};
use crate::{
    pass::{Estimator, Mode, Pass, Trace},
    posterior::{Bayes, Inventory, Spread, layer},
    predict::Classifier,
};
use burn::{
    module::{Module, ModuleDisplay},
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Serialize};

const FLOAT: u64 = size_of::<f32>() as u64;

/// Maps of the largest size that a backward pass holds beside those that were kept: gradients of what goes
/// into and comes out of a layer, and what its kernels need.
const WORKSPACE_MAPS: u64 = 3;

/// Bytes of a training step, by what they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Weights, what posteriors add to them, and running statistics.
    pub parameters: u64,
    /// A gradient for everything that is trained.
    pub gradients: u64,
    /// The optimiser's momentum, as much.
    pub optimizer: u64,
    /// What the backward pass needs of the forward pass; grows with the batch and the OOD images beside it.
    pub activations: u64,
    /// What the backward pass needs for itself; grows as much.
    pub workspace: u64,
}

impl Memory {
    /// All of it together.
    pub fn total(&self) -> u64 {
        let parts = [
            self.parameters,
            self.gradients,
            self.optimizer,
            self.activations,
            self.workspace,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// What decides about the memory of a step of any batch size.
#[derive(Clone, Debug)]
pub(super) struct Footprint {
    /// Bytes of all parameters.
    pub(super) parameters: u64,
    /// Those of them that are trained.
    pub(super) trained: u64,
    /// Those of them that posteriors added, outside of the last layer and in it.
    pub(super) spreads: [u64; 2],
    /// Bytes that an example leaves on the tape.
    pub(super) kept: u64,
    /// Bytes of the largest map of an example.
    pub(super) largest: u64,
    /// Weights that are trained in layers which tell nothing of themselves.
    pub(super) uncounted: Vec<String>,
}

impl Footprint {
    /// Runs one example through the network, evaluating so that running statistics stay as they are.
    pub(super) fn of<const D: usize, M: Classifier<D> + ModuleDisplay>(
        bayes: &Bayes<M>,
        plan: &TrainingPlan<D>,
        estimator: Estimator,
        device: &Device,
    ) -> Result<Self, EstimateError> {
        let mut shape = plan.batch;
        shape[0] = 1;
        let pass = Pass::train(estimator, 0).with_mode(Mode::Evaluate);
        let x = Tensor::<D>::ones(shape, &device.clone().without_autodiff());
        bayes.checked(&pass)?;
        let plain = bayes.valid();
        let forward = || plain.network().logits(x);
        let (logits, Trace { activations, .. }) = pass.trace(forward)?;
        if logits.dims()[0] != 1 || logits.dims()[1] == 0 {
            let found = logits.dims().to_vec();
            return Err(EstimateError::Logits { rows: 1, found });
        }
        let inventory = bayes.inventory();
        let uncounted = inventory.entries.iter().filter(|entry| {
            entry.trained && entry.shape.len() > 1 && !activations.weights.contains(&entry.id)
        });
        let uncounted = uncounted.map(|entry| entry.path.clone()).collect();
        let bytes = |elements: usize| elements as u64 * FLOAT;
        Ok(Self {
            kept: bytes(activations.kept),
            largest: bytes(activations.largest),
            uncounted,
            ..Self::of_parameters(&inventory)
        })
    }

    fn of_parameters(inventory: &Inventory) -> Self {
        let last = inventory.entries.iter().rev();
        let mut last = last.filter(|entry| entry.trained && entry.shape.len() > 1);
        let last = last.next().map(|entry| layer(&entry.path).to_owned());
        let mut found = Self {
            parameters: 0,
            trained: 0,
            spreads: [0; 2],
            kept: 0,
            largest: 0,
            uncounted: Vec::new(),
        };
        for entry in &inventory.entries {
            let (spread, constant) = match &entry.spread {
                Spread::Point => (0, 0),
                Spread::MeanField {
                    psi, prior_mean, ..
                } => (elements(psi), prior_mean.as_ref().map_or(0, elements)),
                Spread::LowRank { left, right, .. } => (elements(left) + elements(right), 0),
            };
            let value = elements(&entry.value);
            found.parameters += FLOAT * (value + spread + constant);
            found.trained += FLOAT * (spread + if entry.trained { value } else { 0 });
            let in_last = last.as_deref() == Some(layer(&entry.path));
            found.spreads[usize::from(in_last)] += FLOAT * spread;
        }
        found
    }

    /// The memory of a step with so many rows: its examples, and OOD images twice.
    pub(super) fn memory(&self, rows: usize) -> Memory {
        let rows = rows as u64;
        Memory {
            parameters: self.parameters,
            gradients: self.trained,
            optimizer: self.trained,
            activations: self.kept.saturating_mul(rows),
            workspace: self
                .largest
                .saturating_mul(WORKSPACE_MAPS)
                .saturating_mul(rows),
        }
    }

    /// The same network with other posteriors, whose trained parameters take so many bytes fewer.
    pub(super) fn without(&self, bytes: u64) -> Self {
        Self {
            parameters: self.parameters.saturating_sub(bytes),
            trained: self.trained.saturating_sub(bytes),
            ..self.clone()
        }
    }
}

fn elements<const D: usize>(tensor: &Tensor<D>) -> u64 {
    tensor.shape().num_elements() as u64
}
