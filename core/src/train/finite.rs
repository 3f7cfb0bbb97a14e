//! Where numbers are infinite, or none at all.

use crate::{
    pass::PassError,
    path::Path,
    posterior::{Bayes, Inventory, Spread},
    read,
};
use burn::{
    module::{Module, ModuleVisitor, Param},
    optim::GradientsParams,
    tensor::Tensor,
};

/// Paths of the parameters that are not finite, or whose posteriors are not, in the order of the network. Waits for the
/// device.
pub(super) async fn bad_parameters(inventory: Inventory) -> Result<Vec<String>, PassError> {
    let mut probes = Probes::default();
    for entry in inventory.entries {
        match entry.spread {
            Spread::Point => {}
            Spread::MeanField { psi, .. } => probes.add(&entry.path, psi),
            Spread::LowRank { left, right, .. } => {
                probes.add(&entry.path, left);
                probes.add(&entry.path, right);
            }
        }
        probes.add(&entry.path, entry.value);
    }
    probes.bad().await
}

/// Paths of the parameters whose gradients are not finite, or those of their posteriors are not, in the order of the
/// network. Waits for the device.
pub(super) async fn bad_gradients<M: Module>(
    bayes: &Bayes<M>,
    gradients: &GradientsParams,
) -> Result<Vec<String>, PassError> {
    let mut walk = Walk {
        path: Path::default(),
        parameter: String::new(),
        gradients,
        probes: Probes::default(),
    };
    bayes.network().visit(&mut walk);
    walk.probes.bad().await
}

/// A number for each of many tensors, which are read all at once.
#[derive(Default)]
struct Probes {
    paths: Vec<String>,
    sums: Vec<Tensor<1>>,
}

impl Probes {
    fn add<const D: usize>(&mut self, path: &str, values: Tensor<D>) {
        self.paths.push(path.to_owned());
        // Zero, unless something is infinite or not a number.
        self.sums.push(values.mul_scalar(0.0).sum());
    }

    async fn bad(self) -> Result<Vec<String>, PassError> {
        if self.sums.is_empty() {
            return Ok(Vec::new());
        }
        let sums = read::values(Tensor::cat(self.sums, 0)).await?;
        let probed = self.paths.into_iter().zip(sums);
        let bad = probed.filter(|(_, sum)| !sum.is_finite());
        Ok(bad.map(|(path, _)| path).collect())
    }
}

struct Walk<'a> {
    path: Path,
    /// Path of the last parameter, to which what is attached to it belongs.
    parameter: String,
    gradients: &'a GradientsParams,
    probes: Probes,
}

impl ModuleVisitor for Walk<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.leave();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if !self.path.is_attached() {
            self.parameter = self.path.name();
        }
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            self.probes.add(&self.parameter, gradient);
        }
    }
}
