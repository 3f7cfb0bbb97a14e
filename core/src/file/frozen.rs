//! Parameters that were frozen before the conversion, which a network that is built anew would convert.

use crate::{
    path::Path,
    posterior::{Bayes, Inventory, LeftAlone},
};
use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::Tensor,
};
use std::collections::HashSet;

/// Paths of the parameters that were left alone since they were frozen.
pub(super) fn paths<M: Module>(bayes: &Bayes<M>) -> Vec<String> {
    // Running statistics are left alone for the same reason, but stay as they are whatever thaws.
    let thawed = Inventory::of(&bayes.network().valid().unfreeze());
    let trained = thawed.entries.iter().filter(|entry| entry.trained);
    let trained: HashSet<&str> = trained.map(|entry| entry.path.as_str()).collect();
    let left_alone = bayes.account().left_alone.iter();
    left_alone
        .filter(|(path, why)| *why == LeftAlone::NotTrained && trained.contains(path.as_str()))
        .map(|(path, _)| path.clone())
        .collect()
}

/// Freezes the parameters with these paths.
pub(super) struct Freeze {
    path: Path,
    frozen: HashSet<String>,
}

impl Freeze {
    pub(super) fn new(paths: &[String]) -> Self {
        Self {
            path: Path::default(),
            frozen: paths.iter().cloned().collect(),
        }
    }
}

impl ModuleMapper for Freeze {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.leave();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        match self.frozen.contains(&self.path.name()) {
            true => param.set_require_grad(false),
            false => param,
        }
    }
}
