//! How frameworks name parameters and lay them out.

use crate::path::{Path, Step};
use crate::posterior::layer;
use serde::{Deserialize, Serialize};

/// Whose names and layouts a checkpoint uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Naming {
    /// Norms have `weight` and `bias`; the weight of a linear layer is `[out, in]`.
    Torch,
    /// Norms have `gamma` and `beta`; the weight of a linear layer is `[in, out]`.
    Burn,
}

/// What Burn calls a linear layer when it walks through a module.
const LINEAR: &str = "Struct:Linear";

/// PyTorch's name for the tensor, if its modules are called as the module's fields are.
pub(super) fn torch_name(path: &Path) -> String {
    let steps = path.steps().iter().filter(|step| !step.is_variant());
    let names: Vec<&str> = steps.map(torch_step).collect();
    names.join(".")
}

fn torch_step(step: &Step) -> &str {
    let is_norm = matches!(
        step.container.as_str(),
        "Struct:BatchNorm"
            | "Struct:LayerNorm"
            | "Struct:GroupNorm"
            | "Struct:InstanceNorm"
            | "Struct:RmsNorm"
    );
    match step.name.as_str() {
        "gamma" if is_norm => "weight",
        "beta" if is_norm => "bias",
        "alpha" if step.container == "Struct:PRelu" => "weight",
        name => name,
    }
}

/// Whether this is the weight of a linear layer, which PyTorch stores transposed.
pub(super) fn is_linear_weight(path: &Path) -> bool {
    path.steps()
        .last()
        .is_some_and(|step| step.container == LINEAR && step.name == "weight")
}

/// The path of the linear layer a parameter belongs to.
pub(super) fn linear_layer(path: &Path) -> Option<String> {
    let last = path.steps().last()?;
    (last.container == LINEAR).then(|| layer(&path.name()).to_owned())
}

/// Whether a tensor counts batches, which only matters to a momentum that nobody uses.
pub(super) fn is_counter(name: &str) -> bool {
    name == "num_batches_tracked" || name.ends_with(".num_batches_tracked")
}

/// A tensor's name without the steps that wrappers put inside it, wherever they stand (`torch.compile`
/// and sharded or recomputed training), and with torchvision's present names for the layers of DenseNets.
pub(super) fn own_name(name: &str) -> String {
    let is_own = |step: &&str| {
        !matches!(
            *step,
            "_orig_mod" | "_fsdp_wrapped_module" | "_checkpoint_wrapped_module"
        )
    };
    let steps: Vec<&str> = name.split('.').filter(is_own).collect();
    let mut own = String::with_capacity(name.len());
    for at in 0..steps.len() {
        if at > 0 && !is_old_dense_layer(&steps[..=at]) {
            own.push('.');
        }
        own.push_str(steps[at]);
    }
    own
}

/// Whether the last step belongs to the one before it: torchvision's published DenseNets have
/// `denselayer1.norm.1` where its networks have had `denselayer1.norm1` ever since.
fn is_old_dense_layer(steps: &[&str]) -> bool {
    let [.., layer, "norm" | "conv", "1" | "2"] = steps else {
        return false;
    };
    let number = layer.strip_prefix("denselayer");
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::own_name;

    #[test]
    fn names_lose_wrappers_and_old_steps() {
        for (name, own) in [
            ("_orig_mod.fc.weight", "fc.weight"),
            ("layer1._fsdp_wrapped_module.0.weight", "layer1.0.weight"),
            (
                "module.features.denseblock1.denselayer12.norm.1.running_mean",
                "module.features.denseblock1.denselayer12.norm1.running_mean",
            ),
            ("denselayer1.conv.2.weight", "denselayer1.conv2.weight"),
            // Other layers may well be lists.
            ("layer1.norm.1.weight", "layer1.norm.1.weight"),
            ("denselayer.norm.1.weight", "denselayer.norm.1.weight"),
            ("denselayer1.norm.3.weight", "denselayer1.norm.3.weight"),
            ("transition1.norm.weight", "transition1.norm.weight"),
            ("", ""),
        ] {
            assert_eq!(own_name(name), own);
        }
    }
}
