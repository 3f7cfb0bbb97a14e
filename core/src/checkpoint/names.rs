//! How frameworks name parameters and lay them out.

use serde::Serialize;

/// Whose names and layouts a checkpoint uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Naming {
    /// Norms have `weight` and `bias`; the weight of a linear layer is `[out, in]`.
    Torch,
    /// Norms have `gamma` and `beta`; the weight of a linear layer is `[in, out]`.
    Burn,
}

/// What Burn calls a linear layer when it walks through a module.
const LINEAR: &str = "Struct:Linear";
/// What it calls state attached to a parameter.
const REPARAMETERIZATION: &str = "Reparameterization";
/// The variant of an enum is a step of Burn's paths, and unknown to PyTorch.
const ENUM: &str = "Enum:";

/// One step on the way to a parameter.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) name: String,
    /// What the step is taken in, such as `Struct:Linear` or `Vec`.
    pub(super) container: String,
}

/// The module's own path, which is also Burn's name for the tensor.
pub(super) fn burn_name(path: &[Step]) -> String {
    let names: Vec<&str> = path.iter().map(|step| step.name.as_str()).collect();
    names.join(".")
}

/// PyTorch's name for the tensor, if its modules are called as the module's fields are.
pub(super) fn torch_name(path: &[Step]) -> String {
    let steps = path.iter().filter(|step| !step.container.starts_with(ENUM));
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
pub(super) fn is_linear_weight(path: &[Step]) -> bool {
    path.last()
        .is_some_and(|step| step.container == LINEAR && step.name == "weight")
}

/// The path of the linear layer a parameter belongs to.
pub(super) fn linear_layer(path: &[Step]) -> Option<String> {
    let (last, above) = path.split_last()?;
    (last.container == LINEAR).then(|| burn_name(above))
}

/// Whether a parameter is state that was attached to another, such as a spread. Checkpoints of plain
/// networks have none.
pub(super) fn is_attached(path: &[Step]) -> bool {
    path.iter().any(|step| step.container == REPARAMETERIZATION)
}

/// Whether a tensor counts batches, which only matters to a momentum that nobody uses.
pub(super) fn is_counter(name: &str) -> bool {
    name == "num_batches_tracked" || name.ends_with(".num_batches_tracked")
}

/// A tensor's name without the steps that wrappers put inside it, wherever they stand: `torch.compile`
/// and sharded or recomputed training.
pub(super) fn without_wrappers(name: &str) -> String {
    let is_own = |step: &&str| {
        !matches!(
            *step,
            "_orig_mod" | "_fsdp_wrapped_module" | "_checkpoint_wrapped_module"
        )
    };
    let steps: Vec<&str> = name.split('.').filter(is_own).collect();
    steps.join(".")
}
