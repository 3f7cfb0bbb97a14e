//! Stochastic gradient descent with momentum, whose state has names.
//!
//! Burn's optimiser keeps its state under identities that are drawn anew in every process, and restores it on
//! the default device. A run that goes on bit for bit in another process, on the device that the user chose,
//! needs the state under the paths of the parameters.

use super::{FineTuning, Rates};
use crate::posterior::Bayes;
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param, ParamGroup},
    optim::GradientsParams,
    tensor::Tensor,
};
use std::collections::BTreeMap;

/// Velocities under the paths of their parameters, flat and without autodiff.
#[derive(Clone, Debug, Default)]
pub(super) struct Sgd {
    pub velocities: BTreeMap<String, Tensor<1>>,
}

impl Sgd {
    /// One step. `clip` bounds the norm of all gradients together.
    pub(super) fn step<M: Module>(
        &mut self,
        bayes: Bayes<M>,
        gradients: GradientsParams,
        rates: Rates,
        settings: &FineTuning,
        clip: Option<f64>,
    ) -> Bayes<M> {
        let scale = clip.and_then(|most| scale(&bayes, &gradients, most));
        let mut step = Step {
            path: Vec::new(),
            velocities: &mut self.velocities,
            spreads: bayes.inventory().spreads(),
            gradients,
            scale,
            lr: rates.lr,
            variational_lr: rates.variational_lr * settings.variational_scale(bayes.posterior()),
            momentum: settings.momentum,
            nesterov: settings.nesterov,
        };
        bayes.with_network_mapped(&mut step)
    }
}

struct Step<'a> {
    path: Vec<String>,
    velocities: &'a mut BTreeMap<String, Tensor<1>>,
    spreads: ParamGroup,
    gradients: GradientsParams,
    /// What all gradients are multiplied with, `[1]`.
    scale: Option<Tensor<1>>,
    lr: f64,
    variational_lr: f64,
    momentum: f64,
    nesterov: bool,
}

impl ModuleMapper for Step<'_> {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(gradient) = self.gradients.remove::<D>(param.id) else {
            return param;
        };
        let shape = gradient.dims();
        let elements = gradient.shape().num_elements();
        let mut gradient = gradient.reshape([elements]);
        if let Some(scale) = &self.scale {
            gradient = gradient * scale.clone();
        }
        let path = self.path.join(".");
        let velocity = match self.velocities.remove(&path) {
            Some(velocity) => velocity.mul_scalar(self.momentum) + gradient.clone(),
            None => gradient.clone(),
        };
        let update = match self.nesterov {
            true => velocity.clone().mul_scalar(self.momentum) + gradient,
            false => velocity.clone(),
        };
        self.velocities.insert(path, velocity);
        let rate = match self.spreads.matches(&param.id, None) {
            true => self.variational_lr,
            false => self.lr,
        };
        let update = update.mul_scalar(rate).reshape(shape);
        param.map(|value| {
            let updated = value.without_autodiff() - update;
            updated.autodiff().require_grad()
        })
    }
}

/// `min(1, most / norm)` of the norm of all gradients together, without reading it; nothing if there are none.
fn scale<M: Module>(bayes: &Bayes<M>, gradients: &GradientsParams, most: f64) -> Option<Tensor<1>> {
    struct Squares<'a> {
        gradients: &'a GradientsParams,
        sum: Option<Tensor<1>>,
    }
    impl ModuleVisitor for Squares<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if let Some(gradient) = self.gradients.get::<D>(param.id) {
                let squares = (gradient.clone() * gradient).sum();
                self.sum = Some(match self.sum.take() {
                    Some(sum) => sum + squares,
                    None => squares,
                });
            }
        }
    }
    let mut walk = Squares {
        gradients,
        sum: None,
    };
    bayes.network().visit(&mut walk);
    let norm = walk.sum?.sqrt();
    // A norm of zero gives infinity, which the bound makes one.
    Some(norm.recip().mul_scalar(most).clamp_max(1.0))
}
