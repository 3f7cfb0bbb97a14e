//! Tensors of a checkpoint into the parameters of a module.

use super::account::{Applied, LoadAccount, WrongShape};
use super::matching::{self, Matched, Slot, Target};
use super::names::Naming;
use super::plan::Plan;
use super::{Checkpoint, CheckpointError, CheckpointProblem, StoredTensor};
use crate::path::Path;
use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Tensor, TensorData};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// From the path of a parameter to its name in a file.
#[derive(Clone)]
pub struct Rename(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl Rename {
    /// Names by a function of the path.
    pub fn by(name: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(name))
    }

    pub(super) fn name(&self, path: &str) -> String {
        (self.0)(path)
    }
}

impl fmt::Debug for Rename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rename(..)")
    }
}

/// How to load. The default finds prefixes and naming by itself, and refuses a checkpoint that does
/// not fit every parameter.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Turns the path of a parameter into its name in a PyTorch file, for a network whose fields are
    /// called otherwise. The path comes in PyTorch's words (`bn1.weight`, not `bn1.gamma`) and without
    /// the variants of enums.
    pub rename: Option<Rename>,
    /// Lets the last linear layer keep its fresh values where only the number of classes differs.
    pub replace_head: bool,
    /// Lets parameters keep their values for which the file has nothing.
    pub allow_missing: bool,
    /// What stands in front of the names, such as `ema.`, instead of what is found.
    pub prefix: Option<String>,
    /// Whose names and layouts the file uses, instead of what is found.
    pub naming: Option<Naming>,
}

/// Gives the tensors of a checkpoint to the parameters and running statistics of a module.
///
/// Names are matched after taking off whatever prefix gives most matches (`state_dict.`, `module.`, ..);
/// PyTorch's conventions (transposed linear weights, `weight` and `bias` of norms and PReLU) and Burn's
/// own are recognised. Values become f32 and go to the parameter's device; parameters keep their ids
/// and whether they require gradients.
///
/// # Errors
///
/// A missing or wrong-shaped parameter gives [`CheckpointProblem::Mismatch`] with the account. Nothing
/// has been changed then, not even in clones that share running statistics with the module. (After a
/// successful load such clones see the new statistics: Burn keeps one copy for all.)
///
/// ```
/// use bayesadapter::checkpoint::{Checkpoint, LoadOptions, load_into};
/// use burn::{nn::LinearConfig, tensor::Device};
///
/// # let header = br#"{"model.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;
/// # let mut file = (header.len() as u64).to_le_bytes().to_vec();
/// # file.extend(header);
/// # file.extend([1.0f32, -2.0].into_iter().flat_map(f32::to_le_bytes));
/// // A file with one tensor, `model.weight` of shape [1, 2], in PyTorch's [out, in] layout.
/// let checkpoint = Checkpoint::from_bytes(file)?;
/// let layer = LinearConfig::new(2, 1).with_bias(false).init(&Device::flex());
///
/// let (layer, account) = load_into(layer, &checkpoint, &LoadOptions::default())?;
///
/// assert_eq!(account.stripped, "model.");
/// assert_eq!(layer.weight.val().dims(), [2, 1]);
/// # Ok::<(), bayesadapter::checkpoint::CheckpointError>(())
/// ```
pub fn load_into<M: Module>(
    module: M,
    checkpoint: &Checkpoint,
    options: &LoadOptions,
) -> Result<(M, LoadAccount), CheckpointError> {
    let plan = Plan::of(&module, options.rename.as_ref());
    let prepared = prepare(&plan.targets, checkpoint, options);
    let (account, assigned) =
        prepared.map_err(|problem| CheckpointError::in_file(checkpoint.file(), problem))?;
    if plan.may_have_run {
        // Burn keeps the last update of running statistics aside and would put it over the loaded
        // ones; `valid` settles it. Skipped on fresh modules, whose parameters it would initialise.
        drop(module.valid());
    }
    let mut mapper = Mapper {
        path: Path::default(),
        assigned,
    };
    Ok((module.map(&mut mapper), account))
}

/// Which tensor each parameter gets, and how it has to be laid out.
type Assigned<'a> = BTreeMap<&'a str, (&'a StoredTensor, &'a Slot)>;

/// Everything that can fail: after it, the module only has to be filled.
fn prepare<'a>(
    targets: &'a [Target],
    checkpoint: &'a Checkpoint,
    options: &LoadOptions,
) -> Result<(LoadAccount, Assigned<'a>), CheckpointProblem> {
    let Matched {
        mut account,
        classes,
    } = matching::account(
        checkpoint,
        targets,
        options.prefix.as_deref(),
        options.naming,
    );
    if options.replace_head && classes.is_some() {
        account.replaced_head = std::mem::take(&mut account.wrong_shape);
    }
    let nothing = account.applied.is_empty() && !targets.is_empty();
    let lacks = !account.missing.is_empty() && !options.allow_missing;
    if nothing || lacks || !account.wrong_shape.is_empty() {
        let classes = classes.filter(|_| !account.wrong_shape.is_empty());
        let advice = advice(&account, classes);
        let account = Box::new(account);
        return Err(CheckpointProblem::Mismatch { account, advice });
    }
    let assigned = assign(targets, checkpoint, &account)?;
    Ok((account, assigned))
}

fn assign<'a>(
    targets: &'a [Target],
    checkpoint: &'a Checkpoint,
    account: &LoadAccount,
) -> Result<Assigned<'a>, CheckpointProblem> {
    let by_parameter: BTreeMap<&str, &Target> = targets
        .iter()
        .map(|target| (target.parameter.as_str(), target))
        .collect();
    let mut assigned = Assigned::new();
    for Applied { parameter, tensor } in &account.applied {
        let stored = checkpoint.get(tensor);
        let target = by_parameter.get(parameter.as_str());
        if let (Some(stored), Some(target)) = (stored, target) {
            if stored.dtype().bytes().is_none() {
                return Err(CheckpointProblem::NotNumbers {
                    tensor: tensor.clone(),
                    dtype: stored.dtype(),
                });
            }
            let slot = target.slot(account.naming);
            assigned.insert(&target.parameter, (stored, slot));
        }
    }
    Ok(assigned)
}

fn advice(account: &LoadAccount, classes: Option<[usize; 2]>) -> String {
    if let Some([wanted, found]) = classes {
        return format!(
            "it was trained for {found} classes and the network has {wanted}; set `replace_head` to start with a \
             fresh last layer"
        );
    }
    if let Some(WrongShape { tensor, .. }) = account.wrong_shape.first() {
        return format!("`{tensor}` has another shape; is it the same architecture?");
    }
    if account.applied.is_empty() {
        return "none of its names is a parameter's; is it the same architecture, or is a `rename` needed?".to_owned();
    }
    "parameters are missing; map their names with `rename`, or set `allow_missing` to leave them as they are".to_owned()
}

/// The values in the layout that the parameter records them in.
fn laid_out(values: Vec<f32>, slot: &Slot) -> TensorData {
    let &[rows, columns] = slot.shape.as_slice() else {
        return TensorData::new(values, slot.shape.clone());
    };
    if !slot.transpose {
        return TensorData::new(values, [rows, columns]);
    }
    let places = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column));
    let transposed: Vec<f32> = places.map(|place| values[place]).collect();
    TensorData::new(transposed, [columns, rows])
}

struct Mapper<'a> {
    path: Path,
    assigned: Assigned<'a>,
}

impl ModuleMapper for Mapper<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.leave();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some((stored, slot)) = self.assigned.get(self.path.name().as_str()) else {
            return param;
        };
        // One tensor at a time, so that a large network is not in memory once more.
        let Some(values) = stored.to_f32() else {
            return param;
        };
        let tensor = Tensor::from_data(laid_out(values, slot), &param.lazy_device());
        let id = param.id;
        param.transform_for_load(tensor, id)
    }
}
