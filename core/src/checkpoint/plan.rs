//! What a module's parameters are called, and what they need.

use super::load::Rename;
use super::matching::{Slot, Target};
use super::names::{is_linear_weight, linear_layer, torch_name};
use crate::path::Path;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;

/// The float parameters of a module, in its own order. No lazy parameter is initialised.
pub(super) struct Plan {
    pub(super) targets: Vec<Target>,
    /// Whether a forward pass may already have run.
    pub(super) may_have_run: bool,
}

impl Plan {
    /// `rename` turns a module's path, in PyTorch's words, into the name in the file.
    pub(super) fn of<M: Module>(module: &M, rename: Option<&Rename>) -> Self {
        let mut visitor = Visitor {
            path: Path::default(),
            rename,
            plan: Self {
                targets: Vec::new(),
                may_have_run: false,
            },
        };
        module.visit(&mut visitor);
        visitor.plan
    }
}

struct Visitor<'a> {
    path: Path,
    rename: Option<&'a Rename>,
    plan: Plan,
}

impl ModuleVisitor for Visitor<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.leave();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let path = &self.path;
        let is_weight = is_linear_weight(path);
        let turns = is_weight && turns_on_load(param);
        let mut value_shape = param.lazy_shape().to_vec();
        // Until then, a parameter that is transposed on loading reports the shape of its record.
        if turns && !param.is_initialized() {
            value_shape.reverse();
        }
        let reversed = || value_shape.iter().rev().copied().collect::<Vec<_>>();
        let torch = Slot {
            name: match self.rename {
                Some(rename) => rename.name(&torch_name(path)),
                None => torch_name(path),
            },
            shape: if is_weight {
                reversed()
            } else {
                value_shape.clone()
            },
            transpose: is_weight && !turns,
            class_axis: 0,
        };
        let burn = Slot {
            name: path.name(),
            shape: if turns { reversed() } else { value_shape },
            transpose: false,
            class_axis: if turns { 0 } else { D - 1 },
        };
        // Running statistics always have a value.
        let is_statistic = path
            .steps()
            .last()
            .is_some_and(|step| step.name.starts_with("running_"));
        self.plan.may_have_run |= param.is_initialized() && !is_statistic;
        self.plan.targets.push(Target {
            parameter: burn.name.clone(),
            torch,
            burn,
            linear_layer: linear_layer(path),
            is_attached: path.is_attached(),
        });
    }
}

/// Whether the parameter transposes what it is given, as the weight of a linear layer in column layout
/// does. Burn does not say, so a matrix of one row is sent through; nothing is initialised by it.
fn turns_on_load<const D: usize>(param: &Param<Tensor<D>>) -> bool {
    let mut shape = [1; D];
    shape[D - 1] = 2;
    let probe = Tensor::<D>::zeros(shape, &param.lazy_device());
    let loaded = param.clone().transform_for_load(probe, param.id);
    D == 2 && loaded.shape().to_vec() != shape
}
