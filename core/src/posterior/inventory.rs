//! Every parameter of a network with the posterior that it carries.

use super::{Factors, LogStd, convert::is_trained};
use crate::path::{Path, REPARAMETERIZATION};
use burn::{
    module::{Module, ModuleVisitor, Param, ParamGroup, ParamId, Reparameterization},
    tensor::Tensor,
};

/// A parameter of a network.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Path in the network.
    pub path: String,
    /// Burn's name for it, by which optimisers know it.
    pub id: ParamId,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Mean or shared weight or the weight itself, without autodiff, `[elements]`.
    pub value: Tensor<1>,
    /// Whether an optimiser may change it.
    pub trained: bool,
    /// What its posterior adds.
    pub spread: Spread,
}

/// What a posterior adds to a parameter; tensors are without autodiff.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "one per parameter of a network, not per element"
)]
pub enum Spread {
    /// Nothing: the parameter is a point.
    Point,
    /// A Gaussian.
    MeanField {
        /// Burn's name for `psi`.
        psi_id: ParamId,
        /// Logarithms of the standard deviations, `[elements]`.
        psi: Tensor<1>,
        /// Mean of the prior, if it is not zero, `[elements]`.
        prior_mean: Option<Tensor<1>>,
    },
    /// The factors of an ensemble.
    LowRank {
        /// Burn's name for the left factors.
        left_id: ParamId,
        /// `[components, rows, rank]`; a row stands for `fan_in / rows` successive inputs.
        left: Tensor<3>,
        /// Burn's name for the right factors.
        right_id: ParamId,
        /// `[components, rank, fan_out]`
        right: Tensor<3>,
    },
}

/// The parameters of a network, in its own order.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// One entry per parameter; what posteriors attach is part of the entry of their parameter.
    pub entries: Vec<Entry>,
}

impl Inventory {
    /// Walks through `module`.
    pub fn of<M: Module>(module: &M) -> Self {
        let mut walk = Walk::default();
        module.visit(&mut walk);
        Self {
            entries: walk.entries,
        }
    }

    /// The optimiser group of means, shared weights and point weights.
    pub fn means(&self) -> ParamGroup {
        ParamGroup::from_ids(self.entries.iter().map(|entry| entry.id).collect())
    }

    /// The optimiser group of what posteriors attach: logarithms of standard deviations, and factors.
    pub fn spreads(&self) -> ParamGroup {
        let ids = |entry: &Entry| match entry.spread {
            Spread::Point => vec![],
            Spread::MeanField { psi_id, .. } => vec![psi_id],
            Spread::LowRank {
                left_id, right_id, ..
            } => vec![left_id, right_id],
        };
        ParamGroup::from_ids(self.entries.iter().flat_map(ids).collect())
    }
}

#[derive(Default)]
struct Walk {
    path: Path,
    /// Name of the attached state that is being visited.
    attached: Option<String>,
    left: Option<(ParamId, Tensor<3>)>,
    entries: Vec<Entry>,
}

impl ModuleVisitor for Walk {
    fn enter_module(&mut self, name: &str, container: &str) {
        if container == REPARAMETERIZATION {
            self.attached = Some(name.to_owned());
        }
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, container: &str) {
        if container == REPARAMETERIZATION {
            self.attached = None;
        }
        self.path.leave();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        match &self.attached {
            Some(name) if name == LogStd::NAME => self.log_std(param),
            Some(name) if name == Factors::NAME => self.factors(param),
            // State of another kind of reparameterization, which is trained like any parameter.
            _ => self.parameter(param),
        }
    }
}

impl Walk {
    fn parameter<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.base();
        let elements = value.shape().num_elements();
        self.entries.push(Entry {
            path: self.path.name(),
            id: param.id,
            shape: value.dims().to_vec(),
            trained: is_trained(param),
            value: value.without_autodiff().reshape([elements]),
            spread: Spread::Point,
        });
    }

    fn log_std<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let Some(entry) = self.entries.last_mut() else {
            return;
        };
        let value = param.base().without_autodiff();
        let elements = value.shape().num_elements();
        let value = value.reshape([elements]);
        // The fields of `LogStd`, in their order.
        match &mut entry.spread {
            Spread::MeanField { prior_mean, .. } => *prior_mean = Some(value),
            spread => {
                *spread = Spread::MeanField {
                    psi_id: param.id,
                    psi: value,
                    prior_mean: None,
                }
            }
        }
    }

    fn factors<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let value = param.base().without_autodiff();
        let shape: [usize; 3] = std::array::from_fn(|axis| value.dims()[axis]);
        let value = value.reshape(shape);
        // The fields of `Factors`, in their order.
        let Some((left_id, left)) = self.left.take() else {
            self.left = Some((param.id, value));
            return;
        };
        if let Some(entry) = self.entries.last_mut() {
            entry.spread = Spread::LowRank {
                left_id,
                left,
                right_id: param.id,
                right: value,
            };
        }
    }
}
